//! The built-in generator stage: asks a model for one SQL statement, and says so when it cannot be written.

mod prompt;
mod reading;

use airlock_plugin_sdk::contract::generator::{Draft, GenerateInput, GenerateStep, Refusal};
use airlock_plugin_sdk::{Exchange, Generator, Host, ModelFailure, StageError, failure, reply};

use prompt::Again;
use reading::Reading;

/// Writes SQL with a model of role `reasoning`.
///
/// One request is the rule. A reply that is prose, cut short, or a query that failed before is answered with one
/// request more that says what was wrong with it; after that the stage takes what it has, or
/// gives a draft without a text, with which the ask ends as given up.
pub struct ModelGenerator;

impl Generator for ModelGenerator {
    fn run(
        _host: &impl Host,
        input: GenerateInput,
        exchanges: Vec<Exchange>,
    ) -> Result<GenerateStep, StageError> {
        if input.question.trim().is_empty() {
            return Err(StageError::BadInput("question is empty".into()));
        }
        if !input.model_available {
            return Err(StageError::Unsupported(
                "the generator writes SQL with a model, and none is available".into(),
            ));
        }
        let said = match reply::last(&exchanges) {
            None => return Ok(GenerateStep::Ask(prompt::first(&input))),
            Some(Ok(said)) => said,
            Some(Err(why)) => return no_reply(why),
        };
        let asked_again = exchanges.len() > 1;
        let again = match reading::read(said) {
            Reading::Cannot { reason, missing } => {
                return Ok(GenerateStep::Refuse(Refusal { reason, missing }));
            }
            Reading::Cut => Again::Cut,
            Reading::Prose => Again::Prose,
            Reading::Statement { sql, reasoning, assumptions } => {
                // Offering it once more would spend an attempt on what is known to fail. When the model insists, the
                // host has the last word: it refuses a duplicate without running it.
                if asked_again || !failure::offered_before(&sql, &input.attempts) {
                    let confidence = confidence(&input);
                    return Ok(GenerateStep::Done(Draft {
                        reasoning: reasoning.unwrap_or_else(|| input.plan.steps.join(" ")),
                        sql,
                        confidence,
                        assumptions,
                        used: Vec::new(),
                        attributes: Vec::new(),
                    }));
                }
                Again::Repeated
            }
        };
        if asked_again {
            return Ok(nothing(again.given_up()));
        }
        Ok(GenerateStep::Ask(prompt::again(&input, again, &said.text)))
    }
}

airlock_plugin_sdk::export!(generator: ModelGenerator);

/// A draft without a text: nothing is said about whether the data has the answer, so this is no refusal.
fn nothing(why: &str) -> GenerateStep {
    GenerateStep::Done(Draft {
        sql: String::new(),
        reasoning: why.into(),
        confidence: 0.0,
        assumptions: Vec::new(),
        used: Vec::new(),
        attributes: Vec::new(),
    })
}

/// A provider that declines is a refusal, and one that says nothing gave nothing; a spent budget or a missing grant is for the
/// operator.
fn no_reply(why: &ModelFailure) -> Result<GenerateStep, StageError> {
    match why.kind.as_str() {
        "empty" => Ok(nothing("The model answered with nothing at all.")),
        "refused" => Ok(GenerateStep::Refuse(Refusal {
            reason: "The model declined to write a query for this question.".into(),
            missing: Vec::new(),
        })),
        kind => Err(StageError::Internal(format!(
            "no draft, because the model gave no reply ({kind}): {}",
            why.message
        ))),
    }
}

/// A rough figure for the record: half, more with verified examples at hand, less after each failure.
fn confidence(input: &GenerateInput) -> f64 {
    let examples = input.context.iter().any(|block| block.kind == "examples");
    let failures = input.attempts.len() as f64;
    (0.6 + if examples { 0.1 } else { 0.0 } - 0.15 * failures).max(0.1)
}

#[cfg(test)]
mod tests;
