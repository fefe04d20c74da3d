//! A generator: asks a model for one SQL statement, once, and refuses when there is none.

use airlock_plugin_sdk::contract::generator::{Draft, GenerateInput, GenerateStep, Refusal};
use airlock_plugin_sdk::prompt::Prompt;
use airlock_plugin_sdk::{Exchange, Generator, Host, ModelRequest, ReplyShape, StageError, failure, reply};

/// Bytes of a prompt; the contract allows 32 KiB.
const PROMPT: usize = 32 << 10;
const INSTRUCTIONS: &str = "Write one PostgreSQL query that answers the question. Use only the tables and columns of the context.";

/// The generator.
pub struct Plugin;

impl Generator for Plugin {
    fn run(
        _host: &impl Host,
        input: GenerateInput,
        exchanges: Vec<Exchange>,
    ) -> Result<GenerateStep, StageError> {
        if !input.model_available {
            return Err(StageError::Unsupported("this generator writes SQL with a model".into()));
        }
        match reply::last(&exchanges) {
            None => Ok(GenerateStep::Ask(request(&input))),
            Some(Err(why)) => Ok(refuse(&format!("The model wrote no query: {}.", why.kind))),
            Some(Ok(said)) => Ok(match said.sql.as_deref().map(str::trim) {
                None | Some("") => refuse("The model's reply has no query in it."),
                Some(_) if said.truncated => refuse("The model's query was cut off."),
                // Offered once more it would cost an attempt and fail as before.
                Some(sql) if failure::offered_before(sql, &input.attempts) => {
                    refuse("The model repeats a query that failed.")
                }
                Some(sql) => GenerateStep::Done(Draft {
                    sql: sql.to_owned(),
                    reasoning: "written by a model from the context".into(),
                    confidence: 0.5,
                    assumptions: Vec::new(),
                    used: Vec::new(),
                    attributes: Vec::new(),
                }),
            }),
        }
    }
}

airlock_plugin_sdk::export!(generator: Plugin);

fn refuse(reason: &str) -> GenerateStep {
    GenerateStep::Refuse(Refusal { reason: reason.to_owned(), missing: Vec::new() })
}

fn request(input: &GenerateInput) -> ModelRequest {
    let mut prompt = Prompt::new()
        .data("question", &input.question)
        .data("plan", &input.plan.steps.join("\n"))
        .data_if("do differently", input.instructions.as_deref());
    if let Some(failed) = input.attempts.last().and_then(|attempt| attempt.failure.as_ref()) {
        prompt = prompt.data("the last query failed", &failure::in_words(failed));
    }
    ModelRequest {
        role: "reasoning".into(),
        purpose: "write-sql".into(),
        instructions: INSTRUCTIONS.into(),
        // Everything that the host has; the host renders it and keeps it in its budget.
        context: input.context.iter().map(|block| block.handle).take(20).collect(),
        prompt: prompt.finish(PROMPT),
        reply: ReplyShape::Sql,
        max_output_tokens: None,
        attributes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::ModelOutcome;
    use airlock_plugin_sdk::contract::linker::Selection;
    use airlock_plugin_sdk::contract::planner::Plan;
    use airlock_plugin_sdk::harness::{Recorded, clock, drive, failed, reply, sql_reply};

    use super::*;

    fn input() -> GenerateInput {
        GenerateInput {
            question: "How many loans are out?".into(),
            clock: clock("2026-07-15"),
            plan: Plan {
                intent: "data".into(),
                steps: vec!["count loans".into()],
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
            model_available: true,
            attributes: Vec::new(),
        }
    }

    fn drafted(said: ModelOutcome) -> GenerateStep {
        drive([said], |exchanges| Plugin::run(&Recorded::new(), input(), exchanges)).end.unwrap()
    }

    #[test]
    fn a_query_is_a_draft_and_anything_else_is_refused() {
        let GenerateStep::Done(draft) = drafted(sql_reply("SELECT 1", "SELECT 1")) else { panic!("no draft") };
        assert_eq!(draft.sql, "SELECT 1");
        for said in [reply("I cannot."), failed("refused", "no")] {
            assert!(matches!(drafted(said), GenerateStep::Refuse(_)));
        }
    }
}
