//! Which finished ask proposes an example: all conditions, each by name.

use airlock_gate::canonical;
use airlock_knowledge::store::ExampleContent;
use airlock_types::ask::AnswerKind;
use airlock_types::{Answer, AskRequest, Outcome};
use thiserror::Error;

use super::is_agent;
use crate::domain::{Domain, Guarded};

/// Why an ask proposes no example.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unfit {
    /// It did not end in rows.
    #[error("it was not answered by SQL")]
    NotAnswered,
    /// Something failed on the way, or stood in for what was down.
    #[error("it did not go well at the first attempt")]
    Retried,
    /// It was asked back, or an option was chosen.
    #[error("it needed a clarification")]
    Clarified,
    /// Its meaning hangs on another ask.
    #[error("it follows another ask")]
    FollowUp,
    /// It was a measurement.
    #[error("it was asked in the baseline mode")]
    Baseline,
    /// It touches what nobody may learn.
    #[error(transparent)]
    Guarded(#[from] Guarded),
    /// The domain changed meanwhile.
    #[error("the gate refuses its SQL now: {0}")]
    Refused(String),
    /// The pack has it.
    #[error("the pack has an example with the same SQL")]
    Known,
}

/// The example that an ask proposes. Whether the store has its equal, in whatever state, the store says.
///
/// # Errors
/// [`Unfit`], the first condition that does not hold.
pub(super) fn example(
    answer: &Answer,
    request: &AskRequest,
    domain: &Domain,
) -> Result<ExampleContent, Unfit> {
    let sql = fits(answer, request)?;
    let approved = domain.gate().check(sql).map_err(|rejection| Unfit::Refused(rejection.message))?;
    if let Some(guarded) = domain.guarded(approved.facts()) {
        return Err(guarded.into());
    }
    if canonical(sql).is_ok_and(|sql| domain.has_example_sql(&sql)) {
        return Err(Unfit::Known);
    }
    let question = answer.question.as_str().to_owned();
    Ok(ExampleContent { question, sql: sql.to_owned(), scope: Vec::new() })
}

/// The SQL of an ask that went as an example must, as far as its record says.
fn fits<'a>(answer: &'a Answer, request: &AskRequest) -> Result<&'a str, Unfit> {
    let sql = match &answer.sql {
        Some(sql) if answer.outcome == Outcome::Answered && answer.kind == AnswerKind::Data => sql,
        _ => return Err(Unfit::NotAnswered),
    };
    if !is_agent(request.mode) {
        return Err(Unfit::Baseline);
    }
    if request.follow_up_of.is_some() {
        return Err(Unfit::FollowUp);
    }
    if request.choice.is_some() || answer.options.is_some() {
        return Err(Unfit::Clarified);
    }
    let failed = answer.history.iter().any(|entry| entry.error_type.is_some());
    if answer.attempts != 1 || failed || answer.degraded.is_some() {
        return Err(Unfit::Retried);
    }
    Ok(sql)
}

#[cfg(test)]
mod tests {
    use airlock_types::{AskId, Mode, Question};
    use serde_json::json;

    use super::*;

    fn answer(change: impl FnOnce(&mut serde_json::Value)) -> Answer {
        let mut value = json!({
            "ask_id": AskId::now(), "question": "How many bills?", "domain": "shop", "outcome": "answered",
            "reason": null, "kind": "data", "answer": "12", "sql": "SELECT count(*) FROM bills", "columns": [],
            "rows": [], "row_count": 1, "truncated": false, "assumptions": [], "warnings": [], "tables_used": [],
            "attempts": 1, "history": [], "refused": false, "gave_up": false, "lessons": [], "examples": [],
            "components": [], "context": [], "tokens": {"input": 0, "output": 0}, "cost": null, "latency_ms": 1,
            "trace_id": "t"
        });
        change(&mut value);
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn every_condition_must_hold() {
        let plain = AskRequest::new(Question::parse("How many bills?").unwrap());
        let follows = AskRequest { follow_up_of: Some(AskId::now()), ..plain.clone() };
        let chosen = AskRequest { choice: Some("net".to_owned()), ..plain.clone() };
        let baseline = AskRequest { mode: Mode::Baseline, ..plain.clone() };
        let failed = json!([{"sql": "SELECT 1", "origin": "composer", "error_type": "unknown_column",
            "message": null, "hint": null, "sqlstate": null, "duration_ms": 0, "row_count": null}]);
        for (answer, request, want) in [
            (answer(|_| {}), &plain, None),
            (answer(|a| a["row_count"] = json!(0)), &plain, None),
            (answer(|a| a["outcome"] = json!("refused")), &plain, Some(Unfit::NotAnswered)),
            (answer(|a| a["outcome"] = json!("clarification")), &plain, Some(Unfit::NotAnswered)),
            (answer(|a| a["kind"] = json!("knowledge")), &plain, Some(Unfit::NotAnswered)),
            (answer(|a| a["sql"] = json!(null)), &plain, Some(Unfit::NotAnswered)),
            (answer(|a| a["attempts"] = json!(2)), &plain, Some(Unfit::Retried)),
            (answer(|a| a["history"] = failed.clone()), &plain, Some(Unfit::Retried)),
            (answer(|a| a["degraded"] = json!("the model is down")), &plain, Some(Unfit::Retried)),
            (answer(|_| {}), &follows, Some(Unfit::FollowUp)),
            (answer(|_| {}), &chosen, Some(Unfit::Clarified)),
            (answer(|_| {}), &baseline, Some(Unfit::Baseline)),
        ] {
            assert_eq!(fits(&answer, request).err(), want);
        }
    }
}
