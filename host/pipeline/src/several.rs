//! Several drafts for one question, chosen by agreement: what more drafts come to the same rows by is more likely right.
//!
//! Only where the domain asks for it and a model writes. Every draft is checked, reviewed and run under the same caps as
//! any text; what is chosen goes on as the first attempt, and the others are no attempts: nobody offered them as the answer.

use airlock_database::ResultSet;
use airlock_gate::Approved;
use airlock_runtime::contract::generator::{Draft, GenerateInput};
use airlock_types::Mode;

use crate::adapter::Reviewed;
use crate::ask::{Ask, State};
use crate::convert;
use crate::drive::Generated;
use crate::failed::canonical_of;
use crate::fault::Fault;
use crate::golden::{Comparison, compare};
use crate::progress::Progress;
use crate::took::Took;

/// A text that was drafted, and how many drafts were that text.
struct Candidate {
    draft: Draft,
    canonical: String,
    votes: u32,
}

/// A candidate that ran.
struct Ran {
    candidate: Candidate,
    approved: Approved,
    findings: Vec<String>,
    result: ResultSet,
    took: Took,
}

impl Ask<'_> {
    /// Whether the next draft is to be one of several: the first of an ask, where a model writes and the domain wants it.
    pub(crate) fn wants_several(&self) -> bool {
        self.domain.candidates() > 1
            && self.request.mode == Mode::Agent
            && self.history.is_empty()
            && self.desk.has_model()
    }

    /// Asks for the further drafts and goes on with the one that most agree with.
    pub(crate) async fn several(&mut self, input: GenerateInput, first: Draft) -> Result<State, Fault> {
        let wanted = self.domain.candidates();
        let candidates = self.further(input, first, wanted).await;
        let drafts: u32 = candidates.iter().map(|candidate| candidate.votes).sum();
        let mut candidates = candidates.into_iter();
        let Some(first) = candidates.next() else { return Ok(self.offer(Vec::new(), String::new())) };
        let others: Vec<Candidate> = candidates.collect();
        if others.is_empty() {
            let Draft { sql, mut assumptions, used, .. } = first.draft;
            if drafts > 1 {
                assumptions.push(format!("All {drafts} drafts were the same query."));
            }
            self.used.extend(used);
            return Ok(self.offer(assumptions, sql));
        }
        let fallback = first.draft.clone();
        let mut ran = Vec::new();
        for candidate in std::iter::once(first).chain(others) {
            ran.extend(self.try_out(candidate).await?);
        }
        let Some((chosen, agreeing)) = agreed(ran) else {
            // None of them runs: the first one fails in the open, and repair reads why.
            self.used.extend(fallback.used);
            return Ok(self.offer(fallback.assumptions, fallback.sql));
        };
        let Ran { candidate, approved, findings, result, took } = chosen;
        let told = format!("{drafts} drafts were written; {agreeing} of them came to this result.");
        if agreeing * 2 > drafts {
            self.assumptions.push(told);
        } else {
            self.warnings
                .push(format!("{told} Another reading of the question is as likely: check the query."));
        }
        self.assume(candidate.draft.assumptions);
        self.used.extend(candidate.draft.used);
        self.desk.reporter.tell(Progress::Drafted {
            attempt: self.attempt() + 1,
            origin: "generator".to_owned(),
            sql: approved.text().to_owned(),
        });
        self.desk.books.draft("generator", approved.text());
        self.desk.books.allowed();
        self.findings = findings;
        self.drafted(approved.text().to_owned());
        Ok(State::Inspect { approved, origin: "generator", result, took })
    }

    /// Goes on with a text as with any draft.
    fn offer(&mut self, assumptions: Vec<String>, sql: String) -> State {
        self.assume(assumptions);
        State::Check { sql, origin: "generator" }
    }

    /// The different texts among the first draft and up to `wanted` in all. A draft that does not come is done without.
    async fn further(&mut self, input: GenerateInput, first: Draft, wanted: u32) -> Vec<Candidate> {
        let mut candidates = vec![Candidate { canonical: canonical_of(&first.sql), draft: first, votes: 1 }];
        for variant in 1..wanted {
            self.desk.variant = variant;
            let drafted = self.desk.drive(input.clone()).await;
            match drafted {
                Ok(Generated::Draft(draft)) => {
                    let canonical = canonical_of(&draft.sql);
                    match candidates.iter_mut().find(|known| known.canonical == canonical) {
                        Some(known) => known.votes += 1,
                        None => candidates.push(Candidate { draft, canonical, votes: 1 }),
                    }
                }
                Ok(Generated::Refused(_) | Generated::Nothing(_)) => {}
                // What there is must do: the budget is spent, or the model has gone.
                Err(fault) => {
                    tracing::warn!(%fault, variant, "a further draft did not come");
                    break;
                }
            }
        }
        self.desk.variant = 0;
        // The first draft is there: that the model went away meanwhile does not make this an answer without it.
        self.desk.down = None;
        candidates
    }

    /// Checks, reviews and runs a candidate; nothing when it fails at that.
    async fn try_out(&mut self, candidate: Candidate) -> Result<Option<Ran>, Fault> {
        let Ok(approved) = self.domain.gate().check(&candidate.draft.sql) else { return Ok(None) };
        let findings = match self.desk.review(&approved, &convert::clock(&self.clock)).await? {
            Reviewed::Allowed(findings) => findings,
            Reviewed::Blocked(_) => return Ok(None),
        };
        let timed = self.run_approved(&approved, true).await;
        let took = Took::of(&timed);
        Ok(timed.result.ok().map(|result| Ran { candidate, approved, findings, result, took }))
    }
}

/// The candidate whose result most drafts came to, and how many; the earliest among equals.
fn agreed(ran: Vec<Ran>) -> Option<(Ran, u32)> {
    let counts: Vec<u32> = ran
        .iter()
        .map(|one| {
            let same = ran.iter().filter(|other| same(&one.result, &other.result));
            same.map(|other| other.candidate.votes).sum()
        })
        .collect();
    let most = counts.iter().copied().max()?;
    ran.into_iter().zip(counts).find(|(_, count)| *count == most)
}

/// Whether two results say the same. One with a further column says it too.
fn same(one: &ResultSet, other: &ResultSet) -> bool {
    (one.rows == other.rows && one.truncated == other.truncated)
        || matches!(compare(one, other, None), Comparison::Same)
        || matches!(compare(other, one, None), Comparison::Same)
}
