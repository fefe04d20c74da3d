//! A planner: the question to what is to be counted or listed. It knows little and says so; it writes no SQL.

use airlock_plugin_sdk::contract::planner::{Measure, Plan, PlanInput, PlanStep, Unanswerable};
use airlock_plugin_sdk::{Exchange, Host, Planner, StageError, words};

/// The planner.
pub struct Plugin;

impl Planner for Plugin {
    fn run(_host: &impl Host, input: PlanInput, _exchanges: Vec<Exchange>) -> Result<PlanStep, StageError> {
        let mut keywords = words::content_words(&input.question);
        keywords.truncate(20);
        let Some(target) = keywords.first().cloned() else {
            let reason = "The question names nothing that could be looked up.".to_owned();
            return Ok(PlanStep::Unanswerable(Unanswerable { reason }));
        };
        let asked = input.question.to_lowercase();
        let function = if asked.contains("how many") { "count" } else { "list" };
        Ok(PlanStep::Done(Plan {
            intent: "data".into(),
            steps: vec![format!("{function} {target}")],
            measures: vec![Measure { function: function.into(), target, distinct: false }],
            keywords,
            filters: Vec::new(),
            time: Vec::new(),
            grouping: Vec::new(),
            order: Vec::new(),
            limit: None,
            assumptions: Vec::new(),
            attributes: Vec::new(),
        }))
    }
}

airlock_plugin_sdk::export!(planner: Plugin);

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::{Recorded, clock, drive};

    use super::*;

    fn planned(question: &str) -> PlanStep {
        let input = PlanInput {
            question: question.into(),
            clock: clock("2026-07-15"),
            prior: None,
            choice: None,
            model_available: false,
            attributes: Vec::new(),
        };
        drive([], |exchanges| Plugin::run(&Recorded::new(), input.clone(), exchanges)).end.unwrap()
    }

    #[test]
    fn how_many_is_a_count() {
        for (question, want) in [("How many loans are out?", "count"), ("Show the loans", "list")] {
            let PlanStep::Done(plan) = planned(question) else { panic!("{question}") };
            assert_eq!((plan.measures[0].function.as_str(), plan.measures[0].target.as_str()), (want, "loan"));
        }
        assert!(matches!(planned("?"), PlanStep::Unanswerable(_)));
    }
}
