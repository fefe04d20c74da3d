//! Playing a stage against recorded replies, as the host's loop would.

use crate::contract::answerer::AnswerStep;
use crate::contract::distill::DistillStep;
use crate::contract::generator::GenerateStep;
use crate::contract::linker::LinkStep;
use crate::contract::model::{Exchange, ModelFailure, ModelOutcome, ModelReply, ModelRequest};
use crate::contract::planner::PlanStep;
use crate::contract::repair::RepairStep;
use crate::contract::types::{CivilTime, Clock, StageError, Turn};
use crate::time::Date;

/// A step of any stage: it either asks or ends.
pub trait Step {
    /// The request, if it asks.
    fn asks(&self) -> Option<&ModelRequest>;
}

macro_rules! step {
    ($($step:ident),+) => {
        $(impl Step for $step {
            fn asks(&self) -> Option<&ModelRequest> {
                match self {
                    $step::Ask(request) => Some(request),
                    _ => None,
                }
            }
        })+
    };
}
step!(PlanStep, LinkStep, GenerateStep, RepairStep, AnswerStep, DistillStep);

/// What happened in a play.
#[derive(Debug)]
pub struct Played<S> {
    /// Every request the stage made, in order, answered or not.
    pub requests: Vec<ModelRequest>,
    /// The last step. It is an ask when the replies ran out.
    pub end: Result<S, StageError>,
}

/// Runs a stage step by step, answering its requests with `replies` in order.
///
/// # Panics
/// When a step that gets the same exchanges twice does not return the same twice: stages are pure functions.
pub fn drive<S, F>(replies: impl IntoIterator<Item = ModelOutcome>, mut step: F) -> Played<S>
where
    S: Step + std::fmt::Debug,
    F: FnMut(Vec<Exchange>) -> Result<S, StageError>,
{
    let mut replies = replies.into_iter();
    let mut exchanges = Vec::new();
    let mut requests = Vec::new();
    loop {
        let end = step(exchanges.clone());
        let again = step(exchanges.clone());
        assert_eq!(format!("{end:?}"), format!("{again:?}"), "a stage must be a pure function of its input");
        let Some(request) = end.as_ref().ok().and_then(Step::asks).cloned() else {
            return Played { requests, end };
        };
        requests.push(request.clone());
        let Some(outcome) = replies.next() else {
            return Played { requests, end };
        };
        exchanges.push(Exchange { request, outcome });
    }
}

/// A reply in prose or JSON.
#[must_use]
pub fn reply(text: &str) -> ModelOutcome {
    ModelOutcome::Reply(ModelReply {
        text: text.into(),
        sql: None,
        truncated: false,
        input_tokens: 100,
        output_tokens: 20,
    })
}

/// A reply in which the host found a statement.
#[must_use]
pub fn sql_reply(text: &str, sql: &str) -> ModelOutcome {
    ModelOutcome::Reply(ModelReply {
        text: text.into(),
        sql: Some(sql.into()),
        truncated: false,
        input_tokens: 100,
        output_tokens: 20,
    })
}

/// A request that got no reply: `budget`, `not-granted`, `refused` or `empty`.
#[must_use]
pub fn failed(kind: &str, message: &str) -> ModelOutcome {
    ModelOutcome::Failed(ModelFailure { kind: kind.into(), message: message.into() })
}

/// A clock at ten in the morning of a day like `2026-07-15`, in UTC, with a fiscal year from January.
///
/// # Panics
/// When the day does not exist.
#[must_use]
#[allow(clippy::expect_used, clippy::cast_possible_truncation, reason = "a test's own constant")]
pub fn clock(day: &str) -> Clock {
    let date = Date::parse(day).expect("a day as YYYY-MM-DD");
    Clock {
        now: format!("{date}T10:00:00Z"),
        time_zone: "UTC".into(),
        local: CivilTime {
            year: date.year() as i16,
            month: date.month(),
            day: date.day(),
            hour: 10,
            minute: 0,
            second: 0,
            weekday: date.weekday(),
        },
        fiscal_year_start: 1,
    }
}

/// The turn before a follow-up.
#[must_use]
pub fn input_turn(question: &str, sql: &str) -> Turn {
    Turn { question: question.into(), sql: Some(sql.into()), answer: None }
}
