//! The golden-case runner: questions whose right answer is known, asked of a given set of components and graded.
//!
//! One runner serves every use: replaying cases before a swap, and evaluation. Graded asks take no place of the asks in
//! flight, are remembered by nobody, and count towards no quarantine. Grading needs no judge: what the ask ran and what
//! is right are both run again under a cap of their own and compared as rows (see [`ROWS`]).

mod cell;
mod compare;
mod order;
mod presentation;
mod verdict;
mod withheld;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use airlock_database::{ResultSet, RunOptions};
use airlock_gate::Gate;
use airlock_knowledge::pack::{GoldenCase, GoldenOutcome};
use airlock_runtime::StageSet;
use airlock_types::ask::AnswerKind;
use airlock_types::{AskRequest, Failure, Mode, Outcome};

use crate::domain::Domain;
use crate::fault::Finished;
use crate::host::{AskError, Host};
use crate::observer::Grade;
use crate::timeline::Recorder;

pub(crate) use compare::{Comparison, compare};
pub use verdict::{Ended, Graded, Verdict};
pub(crate) use withheld::Withheld;

/// Rows of either side that are compared; a comparison with more is undecided.
pub const ROWS: u32 = 100_000;

/// Results of right texts that are kept while a case is graded in several modes.
const KEPT: usize = 16;
/// Rows of a result that is worth keeping.
const KEPT_ROWS: usize = 5_000;

/// A verdict on an ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// How the case came out.
    pub verdict: Verdict,
    /// How the first attempt would have, when there were several.
    pub first: Option<Verdict>,
    /// In what a wrong answer may differ alone, when it looks right otherwise.
    pub presentation: Option<String>,
}

/// Why a right text cannot serve to grade by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It is the text's own fault.
    Text(String),
    /// Something was down.
    Infrastructure(String),
}

/// Runs golden cases of one domain.
pub struct Runner<'a> {
    host: &'a Host,
    domain: &'a Arc<Domain>,
    gate: Gate,
    known: Mutex<HashMap<(String, bool), Arc<Right>>>,
    observed: bool,
}

/// What a right text gives.
struct Right {
    result: ResultSet,
    /// Where an order is asked for: for each row the number of its block, within which rows may change places.
    blocks: Option<Vec<u32>>,
}

impl Right {
    /// Compares with it what a text gave. Rows that tie may change places where the text orders them at all.
    fn compare(&self, sql: &str, got: &ResultSet) -> Comparison {
        let blocks = self.blocks.as_ref().map(|blocks| {
            if order::is_ordered(sql) {
                Cow::Borrowed(blocks)
            } else {
                Cow::Owned(order::exact(blocks.len()))
            }
        });
        compare(got, &self.result, blocks.as_ref().map(|blocks| blocks.as_slice()))
    }
}

impl<'a> Runner<'a> {
    /// A runner for a domain in service.
    #[must_use]
    pub fn new(host: &'a Host, domain: &'a Arc<Domain>) -> Self {
        Self { host, domain, gate: domain.gate_with_cap(ROWS), known: Mutex::default(), observed: false }
    }

    /// The same, whose asks are seen by those who observe the host, with their grades.
    #[must_use]
    pub fn observed(self) -> Self {
        Self { observed: true, ..self }
    }

    /// Asks the question of one case and grades how it ended.
    pub async fn grade(&self, case: &GoldenCase, stages: &Arc<StageSet>) -> Graded {
        self.grade_in(Mode::Agent, case, stages).await
    }

    /// The same in a mode.
    pub async fn grade_in(&self, mode: Mode, case: &GoldenCase, stages: &Arc<StageSet>) -> Graded {
        let request = AskRequest {
            domain: Some(self.domain.name().clone()),
            mode,
            now: case.now.clone(),
            ..AskRequest::new(case.question.clone())
        };
        let domain = Arc::new(self.domain.withholding(Withheld::of(case)));
        let timeline = if self.observed { self.host.recorder() } else { Recorder::idle() };
        let asked = self.host.ask_apart(&request, &domain, stages, timeline).await;
        self.graded(mode, case, asked).await
    }

    /// Puts a text where a draft would be, lets repair do what it can without a model, and grades what comes of it.
    pub async fn mend(&self, case: &GoldenCase, sql: &str) -> Graded {
        let request = AskRequest {
            domain: Some(self.domain.name().clone()),
            now: case.now.clone(),
            ..AskRequest::new(case.question.clone())
        };
        let mended = self.host.mend_apart(&request, self.domain, sql).await;
        self.graded(Mode::Agent, case, mended).await
    }

    async fn graded(&self, mode: Mode, case: &GoldenCase, ended: Result<Finished, AskError>) -> Graded {
        let id = case.id.value.clone();
        match ended {
            Ok(mut finished) => {
                let ended = Ended::of(&finished);
                let judged = self.judge(case, &ended).await;
                let grade = Grade { case: id.clone(), judged: judged.clone() };
                self.host.observed(&mut finished, mode, None, Some(grade));
                let Judged { verdict, first, presentation } = judged;
                Graded { id, verdict, first, presentation, ended: Some(ended), answer: Some(finished.answer) }
            }
            Err(error) => Graded {
                id,
                verdict: Verdict::undecided(error.to_string()),
                first: None,
                presentation: None,
                ended: None,
                answer: None,
            },
        }
    }

    /// Grades an ending, of now or of before.
    pub async fn judge(&self, case: &GoldenCase, ended: &Ended) -> Judged {
        let (verdict, presentation) = self.verdict(case, ended).await;
        let first = match &ended.first_sql {
            Some(sql) if case.outcome == GoldenOutcome::Answered => Some(match &ended.first_failed {
                Some(why) => Verdict::wrong(format!("the first attempt did not run: {why}")),
                None => self.rows(case, sql).await.0,
            }),
            // A text was offered where there was nothing to answer.
            Some(_) => Some(Verdict::wrong("the first attempt was a text")),
            None => None,
        };
        Judged { verdict, first, presentation }
    }

    async fn verdict(&self, case: &GoldenCase, ended: &Ended) -> (Verdict, Option<String>) {
        if let Some(why) = &ended.infrastructure {
            return (Verdict::Infrastructure { why: why.clone() }, None);
        }
        let want = match case.outcome {
            GoldenOutcome::Answered => Outcome::Answered,
            GoldenOutcome::Clarification => Outcome::Clarification,
            GoldenOutcome::Refused => Outcome::Refused,
        };
        let verdict = match ended.outcome {
            Outcome::Failed => Verdict::wrong(ended.reason.clone().unwrap_or_default()),
            outcome if outcome != want => {
                let reason = ended.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                Verdict::wrong(format!(
                    "it ended as {} instead of {}{reason}",
                    outcome.as_str(),
                    want.as_str()
                ))
            }
            Outcome::Answered if ended.kind == AnswerKind::Knowledge => {
                Verdict::wrong("it was answered from knowledge instead of rows")
            }
            Outcome::Answered => {
                return match &ended.sql {
                    Some(sql) => self.rows(case, sql).await,
                    None => (Verdict::wrong("the answer has no SQL"), None),
                };
            }
            _ => Verdict::Right,
        };
        (verdict, None)
    }

    /// Compares what a text gives with what any of the right texts gives; of a wrong one also what it may differ in alone.
    async fn rows(&self, case: &GoldenCase, sql: &str) -> (Verdict, Option<String>) {
        let got = match self.result(sql).await {
            Ok(got) => got,
            Err(Unfit::Infrastructure(why)) => return (Verdict::Infrastructure { why }, None),
            Err(Unfit::Text(why)) => {
                return (Verdict::undecided(format!("the answer's SQL does not run again: {why}")), None);
            }
        };
        let (mut different, mut undecided, mut suspected) = (None, None, None);
        for gold in case.sql.iter().chain(&case.accepted_sql) {
            match self.right(&gold.value, case.ordered).await {
                Ok(gold) => match gold.compare(sql, &got) {
                    Comparison::Same => return (Verdict::Right, None),
                    Comparison::Different(why) => {
                        suspected = suspected.or(presentation::suspect(&got, &gold.result, case.ordered));
                        different.get_or_insert(why);
                    }
                    Comparison::Undecided(why) => undecided = Some(why),
                },
                Err(Unfit::Infrastructure(why)) => return (Verdict::Infrastructure { why }, None),
                Err(Unfit::Text(why)) => {
                    undecided = Some(format!("the case's own SQL does not run: {why}"));
                }
            }
        }
        match (undecided, different) {
            (Some(why), _) => (Verdict::Undecided { why }, None),
            (None, Some(why)) => (Verdict::Wrong { why }, suspected.map(str::to_owned)),
            (None, None) => (Verdict::undecided("the case has no SQL"), None),
        }
    }

    /// Whether a right text runs; with another, whether both give the same.
    ///
    /// # Errors
    /// [`Unfit`], in a sentence.
    pub async fn fit(&self, sql: &str, check: Option<&str>, ordered: bool) -> Result<(), Unfit> {
        let right = self.right(sql, ordered).await?;
        let Some(check) = check else { return Ok(()) };
        let unfit = |why: String| Unfit::Text(format!("its check {why}"));
        let checked = match self.result(check).await {
            Err(Unfit::Text(why)) => return Err(unfit(format!("does not run: {why}"))),
            other => other?,
        };
        match right.compare(check, &checked) {
            Comparison::Same => Ok(()),
            Comparison::Different(why) => Err(unfit(format!("gives another result: {why}"))),
            Comparison::Undecided(why) => Err(unfit(format!("cannot be compared with it: {why}"))),
        }
    }

    /// What a right text gives, remembered for the other modes of the same case.
    async fn right(&self, sql: &str, ordered: bool) -> Result<Arc<Right>, Unfit> {
        let key = (sql.to_owned(), ordered);
        if let Some(known) = self.known().get(&key) {
            return Ok(Arc::clone(known));
        }
        let result = self.result(sql).await?;
        let right =
            Arc::new(if ordered { self.tied(sql, result).await? } else { Right { result, blocks: None } });
        let mut known = self.known();
        if known.len() >= KEPT {
            known.clear();
        }
        if right.result.rows.len() <= KEPT_ROWS {
            known.insert(key, Arc::clone(&right));
        }
        Ok(right)
    }

    /// A right result with the blocks of rows that its own ORDER BY does not tell apart. A key that is no output column is
    /// had by running the text again with it; where that cannot be done, no row may change its place.
    async fn tied(&self, sql: &str, result: ResultSet) -> Result<Right, Unfit> {
        let Some(keys) = order::keys(sql, &result.columns) else {
            let blocks = Some(order::exact(result.rows.len()));
            return Ok(Right { result, blocks });
        };
        let Some(shown) = keys.shown(sql) else {
            let blocks = Some(keys.blocks(&result, None));
            return Ok(Right { result, blocks });
        };
        match self.result(&shown).await {
            Ok(shown) => {
                let (again, expressions) = keys.split(shown);
                if again.columns.len() == result.columns.len()
                    && compare(&again, &result, None) == Comparison::Same
                {
                    let blocks = Some(keys.blocks(&again, Some(&expressions)));
                    return Ok(Right { result: again, blocks });
                }
            }
            Err(Unfit::Text(_)) => {}
            Err(infrastructure) => return Err(infrastructure),
        }
        let blocks = Some(order::exact(result.rows.len()));
        Ok(Right { result, blocks })
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<(String, bool), Arc<Right>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn result(&self, sql: &str) -> Result<ResultSet, Unfit> {
        let approved = self.gate.check(sql).map_err(|rejection| Unfit::Text(rejection.message))?;
        let options = RunOptions {
            time_zone: self.domain.calendar().0.to_owned(),
            search_path: self.domain.catalogue().search_path.clone(),
            ..RunOptions::default()
        };
        self.domain.source().run(&approved, &options).await.map_err(
            |Failure { error_type, message, .. }| {
                if error_type.is_infrastructure() {
                    Unfit::Infrastructure(message)
                } else {
                    Unfit::Text(message)
                }
            },
        )
    }
}
