//! The golden-case runner: questions whose right answer is known, asked of a given set of components and graded.
//!
//! One runner serves every use: replaying cases before a swap, and evaluation. Graded asks take no place of the asks in
//! flight, are remembered by nobody, and count towards no quarantine. Grading needs no judge: what the ask ran and what
//! is right are both run again under a cap of their own and compared as rows (see [`ROWS`]).

mod cell;
mod compare;

use std::collections::BTreeSet;
use std::sync::Arc;

use airlock_database::{ResultSet, RunOptions};
use airlock_gate::{Gate, canonical};
use airlock_knowledge::pack::{GoldenCase, GoldenOutcome};
use airlock_knowledge::records::Example;
use airlock_runtime::{CallErrorKind, StageSet};
use airlock_types::{Answer, AnswerKind, AskRequest, Failure, Mode, Outcome};
use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::fault::{Fault, Finished};
use crate::host::Host;
use compare::{Comparison, compare};

/// Rows of either side that are compared; a comparison with more is undecided.
pub const ROWS: u32 = 100_000;

/// How a case came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// As it must.
    Right,
    /// Not as it must.
    Wrong {
        /// In a sentence.
        why: String,
    },
    /// The case itself cannot be graded.
    Undecided {
        /// In a sentence.
        why: String,
    },
    /// Something that is nobody's answer was down: the database, a model, the host itself.
    Infrastructure {
        /// In a sentence.
        why: String,
    },
}

impl Verdict {
    /// Whether it is [`Verdict::Right`].
    #[must_use]
    pub fn is_right(&self) -> bool {
        matches!(self, Self::Right)
    }

    /// The reason; none for what is right.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Right => None,
            Self::Wrong { why } | Self::Undecided { why } | Self::Infrastructure { why } => Some(why),
        }
    }

    fn wrong(why: impl Into<String>) -> Self {
        Self::Wrong { why: why.into() }
    }

    fn undecided(why: impl Into<String>) -> Self {
        Self::Undecided { why: why.into() }
    }
}

/// A graded case.
#[derive(Debug, Serialize)]
pub struct Graded {
    /// Identity of the case.
    pub id: String,
    /// How it came out.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The record of the ask; absent when it could not be begun.
    pub answer: Option<Answer>,
}

/// Runs golden cases of one domain.
pub struct Runner<'a> {
    host: &'a Host,
    domain: &'a Arc<Domain>,
    gate: Gate,
    mode: Mode,
}

impl<'a> Runner<'a> {
    /// A runner for a domain in service.
    #[must_use]
    pub fn new(host: &'a Host, domain: &'a Arc<Domain>) -> Self {
        Self { host, domain, gate: domain.gate_with_cap(ROWS), mode: Mode::Agent }
    }

    /// Asks in this mode.
    #[must_use]
    pub fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Grades cases one after the other, and tells each as it is done.
    pub async fn run(
        &self,
        cases: &[GoldenCase],
        stages: &Arc<StageSet>,
        mut each: impl FnMut(&Graded),
    ) -> Vec<Graded> {
        let mut all = Vec::with_capacity(cases.len());
        for case in cases {
            let graded = self.grade(case, stages).await;
            each(&graded);
            all.push(graded);
        }
        all
    }

    /// Asks the question of one case and grades how it ended.
    pub async fn grade(&self, case: &GoldenCase, stages: &Arc<StageSet>) -> Graded {
        let request = AskRequest {
            domain: Some(self.domain.name().clone()),
            mode: self.mode,
            now: case.now.clone(),
            ..AskRequest::new(case.question.clone())
        };
        let domain = Arc::new(self.domain.withholding(Withheld::of(case)));
        let id = case.id.value.clone();
        match self.host.ask_apart(&request, &domain, stages).await {
            Ok(finished) => {
                let verdict = self.judge(case, &finished).await;
                Graded { id, verdict, answer: Some(finished.answer) }
            }
            Err(error) => Graded { id, verdict: Verdict::undecided(error.to_string()), answer: None },
        }
    }

    async fn judge(&self, case: &GoldenCase, finished: &Finished) -> Verdict {
        let answer = &finished.answer;
        let want = match case.outcome {
            GoldenOutcome::Answered => Outcome::Answered,
            GoldenOutcome::Clarification => Outcome::Clarification,
            GoldenOutcome::Refused => Outcome::Refused,
        };
        match answer.outcome {
            Outcome::Failed => {
                // Who grades is an operator, and is told what an asker is not.
                let why = match &finished.fault {
                    Some(Fault::Component(error)) => {
                        error.to_string().lines().next().unwrap_or_default().to_owned()
                    }
                    _ => answer.reason.clone().unwrap_or_default(),
                };
                if finished.fault.as_ref().is_none_or(is_components) {
                    Verdict::Wrong { why }
                } else {
                    Verdict::Infrastructure { why }
                }
            }
            outcome if outcome != want => {
                let reason = answer.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                Verdict::wrong(format!(
                    "it ended as {} instead of {}{reason}",
                    outcome.as_str(),
                    want.as_str()
                ))
            }
            Outcome::Answered if answer.kind == AnswerKind::Knowledge => {
                Verdict::wrong("it was answered from knowledge instead of rows")
            }
            Outcome::Answered => self.rows(case, answer).await,
            _ => Verdict::Right,
        }
    }

    /// Compares what the answer's SQL gives with what any of the right texts gives.
    async fn rows(&self, case: &GoldenCase, answer: &Answer) -> Verdict {
        let Some(sql) = &answer.sql else { return Verdict::wrong("the answer has no SQL") };
        let got = match self.result(sql).await {
            Ok(got) => got,
            Err(Unrun::Infrastructure(why)) => return Verdict::Infrastructure { why },
            Err(Unrun::Text(why)) => {
                return Verdict::undecided(format!("the answer's SQL does not run again: {why}"));
            }
        };
        let (mut different, mut undecided) = (None, None);
        for gold in case.sql.iter().chain(&case.accepted_sql) {
            match self.result(&gold.value).await {
                Ok(gold) => match compare(&got, &gold, case.ordered) {
                    Comparison::Same => return Verdict::Right,
                    Comparison::Different(why) => {
                        different.get_or_insert(why);
                    }
                    Comparison::Undecided(why) => undecided = Some(why),
                },
                Err(Unrun::Infrastructure(why)) => return Verdict::Infrastructure { why },
                Err(Unrun::Text(why)) => undecided = Some(format!("the case's own SQL does not run: {why}")),
            }
        }
        match (undecided, different) {
            (Some(why), _) => Verdict::Undecided { why },
            (None, Some(why)) => Verdict::Wrong { why },
            (None, None) => Verdict::undecided("the case has no SQL"),
        }
    }

    async fn result(&self, sql: &str) -> Result<ResultSet, Unrun> {
        let approved = self.gate.check(sql).map_err(|rejection| Unrun::Text(rejection.message))?;
        let options = RunOptions {
            time_zone: self.domain.calendar().0.to_owned(),
            search_path: self.domain.catalogue().search_path.clone(),
            ..RunOptions::default()
        };
        self.domain.source().run(&approved, &options).await.map_err(
            |Failure { error_type, message, .. }| {
                if error_type.is_infrastructure() {
                    Unrun::Infrastructure(message)
                } else {
                    Unrun::Text(message)
                }
            },
        )
    }
}

/// Why a text gave no rows to compare.
enum Unrun {
    Infrastructure(String),
    Text(String),
}

/// Whether what was at fault is one of the components being graded.
fn is_components(fault: &Fault) -> bool {
    match fault {
        Fault::Component(error) => !matches!(*error.kind, CallErrorKind::PoolExhausted { .. }),
        Fault::Endless { .. } | Fault::NoComponent(_) | Fault::Quarantined(_) => true,
        Fault::Model(_) | Fault::Database(_) | Fault::Deadline => false,
    }
}

/// What would give a case away while it is graded: the example made from it, and its equals.
#[derive(Debug)]
pub(crate) struct Withheld {
    id: String,
    question: String,
    /// Canonical right texts.
    texts: BTreeSet<String>,
}

impl Withheld {
    fn of(case: &GoldenCase) -> Self {
        let texts = case.sql.iter().chain(&case.accepted_sql);
        Self {
            id: case.id.value.clone(),
            question: case.question.as_str().to_lowercase(),
            texts: texts.filter_map(|sql| canonical(&sql.value).ok()).collect(),
        }
    }

    pub(crate) fn holds(&self, example: &Example) -> bool {
        example.id == self.id
            || example.question.to_lowercase() == self.question
            || canonical(&example.sql).is_ok_and(|text| self.texts.contains(&text))
    }

    /// Examples to look for beyond those wanted, in place of those that are withheld.
    pub(crate) const fn spare(&self) -> usize {
        8
    }
}
