//! The built-in repair stage: what PostgreSQL said becomes an edit where it can, and words for a model where it cannot.
//!
//! An edit is offered only when it follows from the failure and the catalogue, when the gate approves the text it
//! makes, and when that text was not tried before. It changes no more than the failure calls for: where two tables,
//! columns or spellings could be meant, the choice is left to a model, and without one to nobody.

mod block;
mod case;
mod edit;
mod misspelt;
mod near;
mod strategies;
mod tokens;

use airlock_plugin_sdk::contract::repair::{
    ProbeFinding, Regenerate, RepairInput, RepairStep, Rewrite, Stop, Widen,
};
use airlock_plugin_sdk::contract::sql::Rejection;
use airlock_plugin_sdk::failure::{in_words, offered_before, same_text};
use airlock_plugin_sdk::{Exchange, Failure, Host, Repairer, StageError};

use case::Case;
use strategies::{Strategy, advised, scope_in_words, strategy};
use tokens::Tokens;

/// Edits made on the way to one rewrite: a text with several mistakes costs one attempt and not one for each.
const EDITS: usize = 8;
/// The width that linking is widened to.
const WIDEST: u32 = 9;
/// A longer text is not edited: no edit of ours makes it right, and reading it costs.
const LONGEST: usize = 64 * 1024;

/// Edits first, then a model.
pub struct EditThenAsk;

impl Repairer for EditThenAsk {
    fn run(
        host: &impl Host,
        input: RepairInput,
        _exchanges: Vec<Exchange>,
    ) -> Result<RepairStep, StageError> {
        let failure = &input.failure;
        if failure.sql.trim().is_empty() {
            return Err(StageError::BadInput("failure.sql is empty".into()));
        }
        let Some(strategy) = strategy(&failure.error_type).filter(|_| failure.repairable) else {
            return Ok(stop(format!(
                "Nothing is known that would repair this failure ({}).",
                failure.error_type
            )));
        };
        if input.remaining == 0 {
            return Ok(stop("No attempt is left.".into()));
        }
        if let Some(rewrite) = rewrite(host, &input) {
            return Ok(RepairStep::Rewrite(rewrite));
        }
        if input.model_available && worth_asking(&input) {
            return Ok(ask(host, &input, strategy));
        }
        Ok(stop(without_remedy(&input)))
    }
}

airlock_plugin_sdk::export!(repair: EditThenAsk);

/// The text with the failure repaired by edits, when every one is sure and the gate approves the whole.
fn rewrite(host: &impl Host, input: &RepairInput) -> Option<Rewrite> {
    let mut failure = input.failure.clone();
    let mut changes: Vec<String> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for _ in 0..EDITS {
        if failure.sql.len() > LONGEST {
            return None;
        }
        let strategy = strategy(&failure.error_type)?;
        let (sql, change, reason) = step(host, input, &failure, strategy)?;
        changes.push(change);
        reasons.push(reason);
        match host.check(&sql) {
            Ok(_) => return Some(Rewrite { sql, change: changes.join(" "), reason: reasons.join(" ") }),
            Err(rejection) => {
                let next = refused(rejection, sql);
                // The same complaint again means that the edit did not help.
                if next.error_type == failure.error_type && next.message == failure.message {
                    return None;
                }
                failure = next;
            }
        }
    }
    None
}

/// The first edit that makes a readable text which was not tried before.
fn step(
    host: &impl Host,
    input: &RepairInput,
    failure: &Failure,
    strategy: &Strategy,
) -> Option<(String, String, String)> {
    let case = Case::new(host, input, failure);
    strategy.edits.propose(&case).find_map(|proposal| {
        let sql = edit::apply(&failure.sql, proposal.edits)?;
        let fresh = !offered_before(&sql, &input.attempts) && !same_text(&sql, &input.failure.sql);
        // A join that became `a.x = a.x` joins nothing any more.
        let joined = Tokens::of(&sql).compared_within(true) <= case.tokens.compared_within(true);
        (fresh && joined && host.outline(&sql).is_ok()).then_some((sql, proposal.change, proposal.reason))
    })
}

/// What the gate says about a text on the way, as a failure of its own.
fn refused(rejection: Rejection, sql: String) -> Failure {
    // The gate's code for a relation is the one that is not the failure's own word.
    let error_type = match rejection.code.as_str() {
        "unknown-relation" => "unknown_table".to_owned(),
        code => code.replace('-', "_"),
    };
    Failure {
        error_type,
        message: rejection.message,
        hint: rejection.hint,
        sqlstate: None,
        position: rejection.position,
        repairable: true,
        sql,
    }
}

/// A model is asked about an empty result only where the data has the text in another spelling.
fn worth_asking(input: &RepairInput) -> bool {
    input.failure.error_type != "empty_result"
        || misspelt::findings(input).iter().any(|finding| !finding.spellings.is_empty())
}

/// What a model is told to do differently, after linking again where that may be what is missing.
fn ask(host: &impl Host, input: &RepairInput, strategy: &Strategy) -> RepairStep {
    let case = Case::new(host, input, &input.failure);
    let scope = scope_in_words(&case, strategy.tell);
    let advice = advised(strategy, input.failure.sqlstate.as_deref());
    let parts = [advice.to_owned(), in_words(&input.failure), scope];
    let instructions = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    if strategy.widen && input.width < WIDEST {
        RepairStep::Widen(Widen { width: WIDEST, instructions })
    } else {
        RepairStep::Regenerate(Regenerate { instructions })
    }
}

fn without_remedy(input: &RepairInput) -> String {
    let failure = &input.failure;
    let several = |finding: &ProbeFinding| finding.spellings.len() > 1;
    if failure.error_type == "empty_result" && misspelt::findings(input).iter().any(several) {
        return format!("{} Which one is meant is not known.", failure.message.trim());
    }
    if failure.error_type == "empty_result" {
        return "The query ran and found nothing, and no other spelling of what it looks for is in the data."
            .into();
    }
    format!(
        "No edit follows from the failure ({}: {}), and no model is there to write the query again.",
        failure.error_type,
        failure.message.trim().trim_end_matches('.')
    )
}

fn stop(reason: String) -> RepairStep {
    RepairStep::Stop(Stop { reason })
}

#[cfg(test)]
mod tests;
