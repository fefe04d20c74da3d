//! The state machine of one ask: plan, link, draft, check, review, run, inspect, answer or repair, and five endings.

mod running;

use std::sync::Arc;
use std::time::Instant;

use airlock_database::ResultSet;
use airlock_gate::Approved;
use airlock_runtime::contract::answerer::{AnswerInput, ResultColumn};
use airlock_runtime::contract::generator::{Draft, GenerateInput};
use airlock_runtime::contract::linker::{LinkInput, Selection};
use airlock_runtime::contract::planner::{Plan, PlanInput};
use airlock_runtime::contract::repair::{ProbeFinding, RepairInput};
use airlock_runtime::contract::types::{Attempt, Turn};
use airlock_types::ask::HistoryEntry;
use airlock_types::{AskId, AskRequest, Clock, ErrorType, Failure, Mode, TableRef};

use crate::adapter::Reviewed;
use crate::blank::{no_plan, no_selection};
use crate::context;
use crate::convert;
use crate::domain::Domain;
use crate::drive::{Composing, Desk, Generated, Linked, Planned, Repaired};
use crate::failed::canonical_of;
use crate::fault::{Fault, Finished};
use crate::inspect::{self, Inspection, Looked};
use crate::losses::{Ran, Standing};
use crate::progress::Progress;
use crate::record::Ending;
use crate::spelling;
use crate::timeline::Doing;
use crate::took::Took;

/// Texts that may be offered as the answer to one question.
pub const ATTEMPTS: u32 = 3;
/// Tables a first selection may hold.
const WIDTH: u32 = 5;
/// Most tables repair may widen to.
const WIDEST: u32 = 15;
/// Rows the answerer sees.
const HEAD: usize = 20;
/// Beside the answer to a question for another moment, where the text goes by today all the same.
const OTHER_CLOCK: &str = "The query asks PostgreSQL what day it is: it was answered for today, not for the moment that the \
                           question was asked for.";
/// Characters of a question that its refusal repeats.
const REPEATED: usize = 120;

/// Where an ask stands. Each state holds what the next one needs and nothing else.
pub(crate) enum State {
    Plan,
    Explain,
    Link { width: u32, failure: Option<Failure>, instructions: Option<String> },
    Draft { instructions: Option<String> },
    Check { sql: String, origin: &'static str },
    Review { approved: Approved, origin: &'static str },
    Run { approved: Approved, origin: &'static str },
    Inspect { approved: Approved, origin: &'static str, result: ResultSet, took: Took },
    Repair { failure: Failure, probe: Option<ProbeFinding> },
    Answer { approved: Approved, result: ResultSet, looked: Looked },
    End(Ending),
}

/// One ask under way.
pub(crate) struct Ask<'a> {
    pub id: AskId,
    pub request: &'a AskRequest,
    pub domain: &'a Arc<Domain>,
    pub clock: Clock,
    pub prior: Option<Turn>,
    pub desk: Desk<'a>,
    pub begun: Instant,
    pub history: Vec<HistoryEntry>,
    pub assumptions: Vec<String>,
    pub warnings: Vec<String>,
    /// Warnings of the domain's adapter about the text that was last allowed to run.
    pub findings: Vec<String>,
    pub used: Vec<String>,
    pub plan: Plan,
    pub selection: Selection,
    pub width: u32,
    /// Texts of the drafts so far.
    drafts: Vec<String>,
    /// Positions of failures, by attempt: components get them, the record does not need them.
    pub(crate) positions: Vec<Option<u32>>,
    pub(crate) duplicates: u32,
    /// Values that texts of this ask compare with and that were looked for, with the spellings that the data has.
    pub(crate) looked_for: Vec<ProbeFinding>,
    /// Those that the text to be repaired misspells.
    pub(crate) misspelt: Vec<ProbeFinding>,
    /// What is answered when the text that repair offers in its place is no better.
    pub(crate) standing: Option<Standing>,
}

impl<'a> Ask<'a> {
    pub(crate) fn new(
        request: &'a AskRequest,
        domain: &'a Arc<Domain>,
        clock: Clock,
        prior: Option<Turn>,
        desk: Desk<'a>,
    ) -> Self {
        Self {
            id: AskId::now(),
            request,
            domain,
            clock,
            prior,
            desk,
            begun: Instant::now(),
            history: Vec::new(),
            assumptions: Vec::new(),
            warnings: Vec::new(),
            findings: Vec::new(),
            used: Vec::new(),
            plan: no_plan(),
            selection: no_selection(),
            width: WIDTH,
            drafts: Vec::new(),
            positions: Vec::new(),
            duplicates: 0,
            looked_for: Vec::new(),
            misspelt: Vec::new(),
            standing: None,
        }
    }

    /// Runs the machine to its end.
    pub(crate) async fn run(self) -> Finished {
        self.run_from(State::Plan).await
    }

    /// The same from a text that somebody wrote already: what is measured is what becomes of it.
    pub(crate) async fn run_text(self, sql: String) -> Finished {
        self.run_from(State::Check { sql, origin: "generator" }).await
    }

    async fn run_from(mut self, mut state: State) -> Finished {
        let ending = loop {
            let over = self.desk.budget.is_over();
            let next = match state {
                // An answer, or what was at fault, is as true when the time is over. That nothing more could be tried is not.
                State::End(Ending::GaveUp(_)) if over => break Ending::Failed(Fault::Deadline),
                State::End(ending) => break ending,
                _ if over => break Ending::Failed(Fault::Deadline),
                State::Plan => self.plan().await,
                State::Explain => self.explain().await,
                State::Link { width, failure, instructions } => self.link(width, failure, instructions).await,
                State::Draft { instructions } => self.draft(instructions).await,
                State::Check { sql, origin } => Ok(self.check(sql, origin)),
                State::Review { approved, origin } => self.review(approved, origin).await,
                State::Run { approved, origin } => self.execute(approved, origin).await,
                State::Inspect { approved, origin, result, took } => {
                    self.inspect(approved, origin, result, took).await
                }
                State::Repair { failure, probe } => self.repair(failure, probe).await,
                State::Answer { approved, result, looked } => self.answer(approved, result, looked).await,
            };
            state = next.unwrap_or_else(|fault| self.fault(fault));
        };
        self.finish(ending)
    }

    /// Goes on as if no model were configured.
    pub(crate) fn without_model(&mut self) {
        self.desk.model = false;
    }

    /// Plans and links, and gives the blocks that a draft would be written from; none when the question ends before.
    pub(crate) async fn context(mut self) -> Result<Vec<context::Block>, Fault> {
        let mut state = State::Plan;
        loop {
            state = match state {
                State::Plan => self.plan().await?,
                State::Link { width, failure, instructions } => {
                    self.link(width, failure, instructions).await?
                }
                _ => return Ok(self.desk.blocks),
            };
        }
    }

    /// What is asked: an option that was chosen is a whole question and stands for the one that was unclear.
    fn asked(&self) -> &str {
        let choice = self.request.choice.as_deref().filter(|choice| !choice.trim().is_empty());
        choice.unwrap_or(self.request.question.as_str())
    }

    fn question(&self) -> String {
        self.asked().to_owned()
    }

    async fn plan(&mut self) -> Result<State, Fault> {
        let clock = convert::clock(&self.clock);
        let asked = self.question();
        self.desk.canonicalize(self.domain, &asked, &clock).await?;
        let input = PlanInput {
            question: self.request.question.as_str().to_owned(),
            clock,
            prior: self.prior.clone(),
            choice: self.request.choice.clone(),
            model_available: true,
            attributes: self.desk.entities.attributes(),
        };
        Ok(match self.desk.drive(input).await? {
            Planned::Unanswerable(refusal) => State::End(Ending::Refused(refusal.reason)),
            Planned::Unclear(unclear) => {
                State::End(Ending::Clarification { question: unclear.question, options: unclear.options })
            }
            Planned::Plan(plan) => {
                self.assumptions.clone_from(&plan.assumptions);
                let about_meaning = plan.intent == "knowledge";
                self.plan = plan;
                if about_meaning {
                    self.desk.blocks = context::knowledge(self.domain, self.asked());
                    self.desk.books.context(&self.desk.blocks);
                    if !self.desk.blocks.is_empty() {
                        return Ok(State::Explain);
                    }
                    // What something means is in no row; a model may still know which rows are meant.
                    if !self.desk.has_model() {
                        return Ok(State::End(Ending::Refused(unexplained(&self.question()))));
                    }
                }
                State::Link { width: WIDTH, failure: None, instructions: None }
            }
        })
    }

    /// A question about meaning: glossary and documents answer it, no row does.
    async fn explain(&mut self) -> Result<State, Fault> {
        let input = AnswerInput {
            question: self.question(),
            clock: convert::clock(&self.clock),
            kind: "knowledge".to_owned(),
            sql: None,
            columns: Vec::new(),
            rows: Vec::new(),
            row_count: 0,
            truncated: false,
            probe: None,
            assumptions: Vec::new(),
            context: context::infos(&self.desk.blocks),
            model_available: true,
            attributes: self.desk.entities.attributes(),
        };
        let sentence = self.desk.drive(input).await?;
        Ok(State::End(Ending::Explained { sentence }))
    }

    async fn link(
        &mut self,
        width: u32,
        failure: Option<Failure>,
        instructions: Option<String>,
    ) -> Result<State, Fault> {
        self.width = width;
        let input = LinkInput {
            question: self.question(),
            clock: convert::clock(&self.clock),
            plan: self.plan.clone(),
            width,
            failure: failure.as_ref().map(convert::failure),
            model_available: true,
            attributes: self.desk.entities.attributes(),
        };
        Ok(match self.desk.drive(input).await? {
            // A word that the linker does not know may be one that a model does.
            Linked::Nothing(_) if self.desk.has_model() => {
                self.linked(self.domain.nearest(self.asked(), width), instructions)
            }
            Linked::Nothing(nothing) => {
                self.explained().unwrap_or(State::End(Ending::Refused(nothing.reason)))
            }
            Linked::Selection(mut selection) => {
                // A component's word is no proof: what the catalogue does not list is dropped.
                selection.tables.retain(|table| self.domain.knows(&table.table));
                selection.tables.truncate(usize::try_from(width).unwrap_or(usize::MAX));
                if selection.tables.is_empty() {
                    return Ok(State::End(Ending::Refused(
                        "No table of this domain fits the question.".to_owned(),
                    )));
                }
                self.linked(selection, instructions)
            }
        })
    }

    /// Takes a selection and gathers the context for it.
    fn linked(&mut self, selection: Selection, instructions: Option<String>) -> State {
        let tables =
            selection.tables.iter().map(|t| format!("{}.{}", t.table.schema, t.table.name)).collect();
        self.desk.reporter.tell(Progress::Linked { tables });
        self.desk.blocks = context::assemble(self.domain, self.asked(), &selection);
        let selected: Vec<TableRef> =
            selection.tables.iter().map(|t| TableRef::new(&t.table.schema, &t.table.name)).collect();
        self.desk.blocks.extend(self.desk.host.drift_block(self.domain, &selected));
        self.desk.blocks.extend(self.desk.entities.block());
        self.desk.books.context(&self.desk.blocks);
        self.selection = selection;
        State::Draft { instructions }
    }

    async fn draft(&mut self, instructions: Option<String>) -> Result<State, Fault> {
        let input = GenerateInput {
            question: self.question(),
            clock: convert::clock(&self.clock),
            plan: self.plan.clone(),
            selection: self.selection.clone(),
            context: context::infos(&self.desk.blocks),
            attempts: self.attempts(),
            instructions,
            prior: self.prior.clone(),
            row_cap: self.domain.row_cap(),
            model_available: true,
            attributes: self.desk.entities.attributes(),
        };
        let (generated, origin) = if self.desk.has_model() {
            match self.desk.drive(input.clone()).await {
                Ok(generated) => (generated, "generator"),
                // The generator cannot do without a model; the composer can.
                Err(_) if self.desk.down.is_some() => {
                    (self.desk.drive(Composing::of(&input)).await?, "composer")
                }
                Err(fault) => return Err(fault),
            }
        } else {
            (self.desk.drive(Composing::of(&input)).await?, "composer")
        };
        Ok(match generated {
            Generated::Refused(refusal) => match self.explained() {
                Some(explained) => explained,
                None => self.undrafted(refusal.reason, Ending::Refused),
            },
            // That is no word on whether the data has the answer.
            Generated::Nothing(why) => self.undrafted(why, Ending::GaveUp),
            Generated::Draft(draft) if origin == "generator" && self.wants_several() => {
                return self.several(input, draft).await;
            }
            Generated::Draft(Draft { sql, assumptions, used, .. }) => {
                self.assume(assumptions);
                self.used.extend(used);
                State::Check { sql, origin }
            }
        })
    }

    /// What the glossary or a document has to say where the data has no answer, if the planner found that they cover the
    /// question.
    fn explained(&mut self) -> Option<State> {
        if !self.plan.attributes.iter().any(|attribute| attribute.key == "explained") {
            return None;
        }
        let blocks = context::knowledge(self.domain, self.asked());
        if blocks.is_empty() {
            return None;
        }
        self.desk.blocks = blocks;
        self.desk.books.context(&self.desk.blocks);
        Some(State::Explain)
    }

    fn undrafted(&mut self, why: String, ends: fn(String) -> Ending) -> State {
        let (ending, warning) = Ending::undrafted(self.desk.down.take(), why, ends);
        self.warnings.extend(warning);
        State::End(ending)
    }

    /// Books what a draft assumes, each once.
    pub(crate) fn assume(&mut self, assumptions: Vec<String>) {
        for assumption in assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
    }

    /// Books a text as one that was drafted.
    pub(crate) fn drafted(&mut self, sql: String) {
        self.duplicates = 0;
        self.drafts.push(sql);
    }

    /// Whether a text was drafted before, as PostgreSQL would print it. Most asks have one draft, which is not read again for
    /// that.
    fn is_drafted(&self, sql: &str) -> bool {
        !self.drafts.is_empty() && {
            let same = canonical_of(sql);
            self.drafts.iter().any(|before| canonical_of(before) == same)
        }
    }

    fn check(&mut self, sql: String, origin: &'static str) -> State {
        let attempt = self.attempt() + 1;
        self.desk.books.draft(origin, &sql);
        self.desk.reporter.tell(Progress::Drafted { attempt, origin: origin.to_owned(), sql: sql.clone() });
        let mark = self.desk.timeline.open(|| Doing::Gate { attempt: Some(attempt), rejected: None });
        let verdict = self.domain.gate().check(&sql);
        self.desk.timeline.checked(mark, &verdict);
        if self.is_drafted(&sql) {
            self.duplicates += 1;
            let failure = Failure::new(ErrorType::DuplicateDraft, self.tried_before(&sql), sql);
            return self.failed(origin, failure, Took::default(), None, None);
        }
        self.drafted(sql.clone());
        match verdict {
            Ok(approved) => State::Review { approved, origin },
            Err(rejection) => self.failed(origin, rejection.to_failure(&sql), Took::default(), None, None),
        }
    }

    /// The domain's own rules, heard on what the gate approved and before it runs.
    async fn review(&mut self, approved: Approved, origin: &'static str) -> Result<State, Fault> {
        Ok(match self.desk.review(&approved, &convert::clock(&self.clock)).await? {
            Reviewed::Blocked(failure) => self.failed(origin, failure, Took::default(), None, None),
            Reviewed::Allowed(warnings) => {
                self.findings = warnings;
                if self.request.now.is_some() && approved.facts().reads_clock {
                    self.findings.push(OTHER_CLOCK.to_owned());
                }
                self.desk.books.allowed();
                State::Run { approved, origin }
            }
        })
    }

    async fn execute(&mut self, approved: Approved, origin: &'static str) -> Result<State, Fault> {
        self.desk.reporter.tell(Progress::Running { attempt: self.attempt() + 1 });
        let timed = self.run_approved(&approved, false).await;
        let took = Took::of(&timed);
        match timed.result {
            Ok(result) => Ok(State::Inspect { approved, origin, result, took }),
            Err(failure) if failure.error_type.is_infrastructure() => Err(Fault::Database(failure)),
            Err(failure) => Ok(self.failed(origin, failure, took, None, None)),
        }
    }

    async fn inspect(
        &mut self,
        approved: Approved,
        origin: &'static str,
        result: ResultSet,
        took: Took,
    ) -> Result<State, Fault> {
        let row_count = u64::try_from(result.rows.len()).unwrap_or(u64::MAX);
        let attempt = self.attempt() + 1;
        self.desk.reporter.tell(Progress::Rows { attempt, row_count });
        if let Some(standing) = self.standing.take()
            && inspect::is_empty(&result)
        {
            let failure = Failure::new(
                ErrorType::EmptyResult,
                "It finds nothing: the text before it stands.",
                approved.text(),
            );
            self.book(origin, &failure, took, Some(row_count));
            // Where both find nothing, nothing was lost.
            return Ok(if standing.says_nothing() { self.restored(standing) } else { self.stand(standing) });
        }
        let ran = Ran { approved: &approved, origin, result: &result, took };
        let looked = match inspect::inspect(self, &approved, &result, took).await? {
            Inspection::Fine(absent) => match self.partly(&ran, &absent) {
                Some(next) => return Ok(next),
                None => {
                    self.warnings.extend(absent.iter().map(spelling::warning));
                    Looked::default()
                }
            },
            Inspection::Empty(looked) => looked,
            Inspection::Lossy(looked) => match self.lossy(&ran, &looked) {
                Some(next) => return Ok(next),
                None => looked,
            },
            // Where no other text follows, a text that ran and found nothing is the answer, and says why.
            Inspection::Misspelt(findings) if self.request.mode == Mode::Baseline || attempt >= ATTEMPTS => {
                Looked { finding: findings.into_iter().next(), notes: Vec::new() }
            }
            Inspection::Misspelt(findings) => {
                let failure = spelling::misspelt(&findings, approved.text());
                let first = findings.first().cloned();
                self.misspelt = findings;
                return Ok(self.failed(origin, failure, took, Some(row_count), first));
            }
        };
        self.note_attempt(approved.text(), origin, took, Some(row_count), None);
        self.warn_of_losses(&approved, inspect::is_empty(&result));
        Ok(State::Answer { approved, result, looked })
    }

    async fn repair(&mut self, failure: Failure, probe: Option<ProbeFinding>) -> Result<State, Fault> {
        let mut attributes = self.desk.entities.attributes();
        attributes.extend(self.standing.iter().flat_map(Standing::attributes));
        attributes.extend(self.misspelt.drain(..).map(|finding| spelling::attribute(&finding)));
        let input = RepairInput {
            question: self.question(),
            clock: convert::clock(&self.clock),
            plan: self.plan.clone(),
            selection: self.selection.clone(),
            attempts: self.attempts(),
            failure: convert::failure(&failure),
            probe,
            context: context::infos(&self.desk.blocks),
            remaining: ATTEMPTS.saturating_sub(self.attempt()),
            width: self.width,
            // What a model wrote anew may be right by chance where an empty result was the truth.
            model_available: self.standing.is_none(),
            attributes,
        };
        let repaired = self.desk.drive(input).await?;
        let tell = |action, detail: &str| {
            self.desk.timeline.note(|| Doing::Repair { action });
            self.desk.reporter.tell(Progress::Repair { action, detail: detail.to_owned() });
        };
        Ok(match repaired {
            Repaired::Rewrite(rewrite) => {
                tell("rewrite", &rewrite.change);
                // The asker reads what was made of the first text, and why.
                let told = format!("{} {}", rewrite.change.trim(), rewrite.reason.trim());
                if !self.assumptions.contains(&told) {
                    self.assumptions.push(told);
                }
                State::Check { sql: rewrite.sql, origin: "repair" }
            }
            // Only an edit of it takes the place of a text that may be right.
            _ if let Some(standing) = self.standing.take() => self.stand(standing),
            Repaired::Regenerate(again) => {
                tell("regenerate", &again.instructions);
                State::Draft { instructions: Some(again.instructions) }
            }
            Repaired::Widen(widen) => {
                tell("widen", &widen.instructions);
                let width = widen.width.clamp(self.width, WIDEST);
                State::Link { width, failure: Some(failure), instructions: Some(widen.instructions) }
            }
            Repaired::Stop(stop) => {
                tell("stop", &stop.reason);
                State::End(Ending::GaveUp(stop.reason))
            }
        })
    }

    async fn answer(
        &mut self,
        approved: Approved,
        result: ResultSet,
        looked: Looked,
    ) -> Result<State, Fault> {
        let mut attributes = self.desk.entities.attributes();
        attributes.extend(looked.notes);
        let input = AnswerInput {
            question: self.question(),
            clock: convert::clock(&self.clock),
            kind: "data".to_owned(),
            sql: Some(approved.text().to_owned()),
            columns: result
                .columns
                .iter()
                .map(|column| ResultColumn { name: column.name.clone(), sql_type: column.sql_type.clone() })
                .collect(),
            rows: result.rows.iter().take(HEAD).map(|row| row.iter().map(inspect::cell).collect()).collect(),
            row_count: u64::try_from(result.rows.len()).unwrap_or(u64::MAX),
            truncated: result.truncated,
            probe: looked.finding,
            assumptions: self.assumptions.clone(),
            context: Vec::new(),
            model_available: self.domain.rows_may_reach_model(&approved),
            attributes,
        };
        let sentence = self.desk.drive(input).await?;
        Ok(State::End(Ending::Answered { sentence, approved, result }))
    }

    /// Texts offered so far.
    pub(crate) fn attempt(&self) -> u32 {
        u32::try_from(self.history.len()).unwrap_or(u32::MAX)
    }

    fn attempts(&self) -> Vec<Attempt> {
        self.history
            .iter()
            .zip(&self.positions)
            .map(|(entry, position)| convert::attempt(entry, *position))
            .collect()
    }
}

/// Why a question about meaning is not answered without a model.
fn unexplained(question: &str) -> String {
    let asked: String = question.chars().take(REPEATED).collect();
    format!(
        "Neither the glossary nor the documents of this domain say what this asks the meaning of: {asked}"
    )
}
