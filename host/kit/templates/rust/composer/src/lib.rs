//! A composer: SQL without a model, where the question was answered before. Anything else it refuses.

use airlock_plugin_sdk::contract::generator::{Draft, GenerateInput, GenerateStep, Refusal};
use airlock_plugin_sdk::{Exchange, Generator, Host, StageError, failure, words};

/// The composer.
pub struct Plugin;

impl Generator for Plugin {
    fn run(
        host: &impl Host,
        input: GenerateInput,
        _exchanges: Vec<Exchange>,
    ) -> Result<GenerateStep, StageError> {
        let asked = words::content_words(&input.question);
        let known = host.near_examples(&input.question, 5).into_iter().find(|example| {
            // The same words, or it is another question.
            !asked.is_empty()
                && words::content_words(&example.question) == asked
                && !failure::offered_before(&example.sql, &input.attempts)
        });
        Ok(match known {
            Some(example) => GenerateStep::Done(Draft {
                sql: example.sql,
                reasoning: format!("a verified example asks the same: {}", example.question),
                confidence: 0.9,
                assumptions: Vec::new(),
                used: vec![example.id],
                attributes: Vec::new(),
            }),
            None => GenerateStep::Refuse(Refusal {
                reason: "Nobody has verified an answer to this question yet.".into(),
                missing: Vec::new(),
            }),
        })
    }
}

airlock_plugin_sdk::export!(generator: Plugin);

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::contract::linker::Selection;
    use airlock_plugin_sdk::contract::planner::Plan;
    use airlock_plugin_sdk::harness::{Recorded, clock, drive};

    use super::*;

    fn composed(question: &str) -> GenerateStep {
        let host = Recorded::new().example("How many loans are out?", "SELECT count(*) FROM loans");
        let input = GenerateInput {
            question: question.into(),
            clock: clock("2026-07-15"),
            plan: Plan {
                intent: "data".into(),
                steps: Vec::new(),
                keywords: Vec::new(),
                measures: Vec::new(),
                filters: Vec::new(),
                time: Vec::new(),
                grouping: Vec::new(),
                order: Vec::new(),
                limit: None,
                assumptions: Vec::new(),
                attributes: Vec::new(),
            },
            selection: Selection { tables: Vec::new(), joins: Vec::new(), attributes: Vec::new() },
            context: Vec::new(),
            attempts: Vec::new(),
            instructions: None,
            prior: None,
            row_cap: 200,
            model_available: false,
            attributes: Vec::new(),
        };
        drive([], |exchanges| Plugin::run(&host, input.clone(), exchanges)).end.unwrap()
    }

    #[test]
    fn what_was_verified_is_used_and_nothing_else() {
        let GenerateStep::Done(draft) = composed("how many loans are out") else { panic!("no draft") };
        assert_eq!(draft.sql, "SELECT count(*) FROM loans");
        assert!(matches!(composed("How many loans are lost?"), GenerateStep::Refuse(_)));
    }
}
