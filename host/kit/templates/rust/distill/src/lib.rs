//! A distiller: one lesson where a query failed, its repair answered, and somebody said that the answer is right. Else nothing.

use airlock_plugin_sdk::contract::distill::{DistillInput, DistillStep, LessonCandidate};
use airlock_plugin_sdk::prompt::cut;
use airlock_plugin_sdk::{Distiller, Exchange, Host, StageError};

/// The distiller.
pub struct Plugin;

impl Distiller for Plugin {
    fn run(_host: &impl Host, input: DistillInput, _exchanges: Vec<Exchange>) -> Result<DistillStep, StageError> {
        Ok(DistillStep::Done(lesson(&input).into_iter().collect()))
    }
}

airlock_plugin_sdk::export!(distill: Plugin);

fn lesson(input: &DistillInput) -> Option<LessonCandidate> {
    // A lesson is drawn from what is known to be right, or from nothing.
    let vouched = input.evidence.iter().any(|line| line == "feedback: right");
    if input.outcome != "answered" || !vouched {
        return None;
    }
    let failed = input.attempts.iter().find_map(|attempt| attempt.failure.as_ref())?;
    if failed.error_type != "unknown_column" {
        return None;
    }
    let mut text = format!("A query failed with: {}. {}", failed.message, failed.hint.as_deref().unwrap_or_default());
    cut(&mut text, 1_000);
    Some(LessonCandidate {
        kind: "fail-fix".into(),
        text: text.trim().to_owned(),
        trigger: failed.error_type.clone(),
        tags: vec!["columns".into()],
        attributes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::{Recorded, clock, drive};
    use airlock_plugin_sdk::{Attempt, Failure};

    use super::*;

    fn learned(evidence: &[&str]) -> usize {
        let failure = Failure {
            error_type: "unknown_column".into(),
            message: "column name does not exist".into(),
            hint: Some("Perhaps full_name.".into()),
            sqlstate: Some("42703".into()),
            position: None,
            repairable: true,
            sql: "SELECT name FROM members".into(),
        };
        let input = DistillInput {
            question: "Who are the members?".into(),
            clock: clock("2026-07-15"),
            outcome: "answered".into(),
            sql: Some("SELECT full_name FROM members".into()),
            answer: None,
            attempts: vec![Attempt {
                sql: failure.sql.clone(),
                origin: "generator".into(),
                failure: Some(failure),
                row_count: None,
                duration_ms: 1,
            }],
            evidence: evidence.iter().map(|&line| line.to_owned()).collect(),
            model_available: false,
            attributes: Vec::new(),
        };
        let step = drive([], |exchanges| Plugin::run(&Recorded::new(), input.clone(), exchanges)).end.unwrap();
        let DistillStep::Done(lessons) = step else { panic!("it asks") };
        lessons.len()
    }

    #[test]
    fn only_what_was_right_teaches() {
        assert_eq!(learned(&["feedback: right"]), 1);
        assert_eq!(learned(&[]), 0);
    }
}
