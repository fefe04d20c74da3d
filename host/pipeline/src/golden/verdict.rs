//! How a case came out, and what is kept of an ask so that it can be graded again.

use airlock_runtime::CallErrorKind;
use airlock_types::ask::{AnswerKind, HistoryEntry};
use airlock_types::{Answer, ErrorType, Outcome};
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, Finished};

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

    pub(super) fn wrong(why: impl Into<String>) -> Self {
        Self::Wrong { why: why.into() }
    }

    pub(super) fn undecided(why: impl Into<String>) -> Self {
        Self::Undecided { why: why.into() }
    }
}

/// How an ask ended, as far as it is graded: enough to grade it again without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// Rows or knowledge.
    pub kind: AnswerKind,
    /// Why, for every ending but `answered`; of a component's failure what an operator is told.
    pub reason: Option<String>,
    /// The SQL behind the answer.
    pub sql: Option<String>,
    /// The text of the first attempt, when it was not the last.
    pub first_sql: Option<String>,
    /// Why that text gave no rows in the ask, when it gave none.
    #[serde(default)]
    pub first_failed: Option<String>,
    /// What was down, when something was that is nobody's answer.
    pub infrastructure: Option<String>,
}

impl Ended {
    pub(super) fn of(finished: &Finished) -> Self {
        let answer = &finished.answer;
        // Who grades is an operator, and is told what an asker is not.
        let reason = match &finished.fault {
            Some(Fault::Component(error)) => error.to_string().lines().next().map(str::to_owned),
            _ => answer.reason.clone(),
        };
        let down = answer.outcome == Outcome::Failed
            && finished.fault.as_ref().is_some_and(|fault| !is_components(fault));
        // What answers in place of a model that is down says nothing about the model.
        let infrastructure = if down { reason.clone() } else { answer.degraded.clone() };
        Self {
            outcome: answer.outcome,
            kind: answer.kind,
            reason,
            sql: answer.sql.clone(),
            first_sql: first(answer).map(|first| first.sql.clone()),
            first_failed: first(answer).and_then(unrun),
            infrastructure,
        }
    }
}

fn first(answer: &Answer) -> Option<&HistoryEntry> {
    answer.history.first().filter(|_| answer.history.len() > 1)
}

/// Why an attempt gave no rows; none of one that ran, and found nothing perhaps.
fn unrun(entry: &HistoryEntry) -> Option<String> {
    entry.error_type.filter(|kind| *kind != ErrorType::EmptyResult)?;
    Some(entry.message.clone().unwrap_or_default())
}

/// Whether what was at fault is one of the components being graded.
fn is_components(fault: &Fault) -> bool {
    match fault {
        Fault::Component(error) => !matches!(*error.kind, CallErrorKind::PoolExhausted { .. }),
        Fault::NoComponent(_) | Fault::Quarantined(_) => true,
        Fault::Model(_) | Fault::Database(_) | Fault::Deadline => false,
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
    /// How the first attempt would have come out, when there were several.
    pub first: Option<Verdict>,
    /// In what a wrong answer may differ alone, when it looks right otherwise.
    pub presentation: Option<String>,
    /// How it ended; absent when the ask could not be begun.
    pub ended: Option<Ended>,
    /// The record of the ask; absent when there was none.
    pub answer: Option<Answer>,
}
