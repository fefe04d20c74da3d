//! The built-in answerer stage: a result becomes the sentence a person reads.
//!
//! A template can always say it. Where a model is there it may say it better, but of what it says only those sentences are used
//! (`sentences`) that pass each of these. A template that borrows words of the question is held to the same.
//!
//! - all of it is prose of at most 2,000 characters: it neither begins like a statement nor holds a `SELECT … FROM`, and it has
//!   no fence, braces, JSON, tag, link, address or Markdown beyond plain text (`prose`);
//! - each number in it can be traced to the rows, to arithmetic on those that it names (`arithmetic`), or to the query (`trace`),
//!   and each time to a row or to the days that the query keeps to (`times`, `query`);
//! - each name in it is one of the rows or the query (`names`);
//! - what it counts, compares, ranks, denies, sums up or says of a change is borne out by the rows, and each of its other words
//!   says nothing or comes from somewhere (`claims`). Words of the question count where the query bears them out (`given`);
//! - about one number it says what the query counts, just that and all of it (`scope`, `counted`);
//! - no number of a row stands beside the name of another (`pairs`), or of another column;
//! - what is left says what the rows say: at least one value of the rows appears in it, numbers in digits, exact or rounded as the
//!   trace allows, texts as they are but for case (`ground`).
//!
//! Otherwise the template stands. An explanation of a term is held to the first of these, and each number in it must be in the
//! glossary, the documents or the question.

mod arithmetic;
mod claims;
mod column;
mod counted;
mod dates;
mod decimal;
mod empty;
mod given;
mod ground;
mod knowledge;
mod label;
mod list;
mod names;
mod pairs;
mod period;
mod phrase;
mod prose;
mod query;
mod question;
mod refs;
mod row;
mod sentences;
mod series;
mod single;
mod table;
mod times;
mod trace;
mod vocabulary;

use airlock_plugin_sdk::contract::answerer::{Answer, AnswerInput, AnswerStep};
use airlock_plugin_sdk::{Answerer, Exchange, Host, Level, StageError, reply};

use crate::given::Given;

/// The contract's limit for an answer, in characters.
const LIMIT: usize = 2_000;

/// Answers by template, or with a model of role `fast` and a check of what it said.
pub struct TracedAnswerer;

impl Answerer for TracedAnswerer {
    fn run(host: &impl Host, input: AnswerInput, exchanges: Vec<Exchange>) -> Result<AnswerStep, StageError> {
        if input.rows.iter().any(|row| row.len() != input.columns.len()) {
            return Err(StageError::BadInput("rows has a row that is not as long as columns".into()));
        }
        match input.kind.as_str() {
            "data" => Ok(data(host, &input, &exchanges)),
            "knowledge" => Ok(knowledge::answer(host, &input, &exchanges)),
            other => Err(StageError::BadInput(format!(
                "kind is `{other}`, and only `data` and `knowledge` are known"
            ))),
        }
    }
}

airlock_plugin_sdk::export!(answerer: TracedAnswerer);

fn data(host: &impl Host, input: &AnswerInput, exchanges: &[Exchange]) -> AnswerStep {
    let given = Given::of(host, input);
    if let Some(text) = empty::sentence(&given) {
        return done(text);
    }
    // Without rows to show there is nothing a model could say that the template does not.
    if !input.model_available || input.rows.is_empty() {
        return done(table::sentence(&given));
    }
    match reply::last(exchanges) {
        None => AnswerStep::Ask(phrase::request(input)),
        Some(Ok(said)) => match phrase::checked(&given, said) {
            Ok((text, left_out)) => {
                for why in left_out {
                    host.log(Level::Info, &format!("a sentence of the model is left out: {why}"), &[]);
                }
                done(text)
            }
            Err(why) => {
                host.log(Level::Info, &format!("the model's sentence is not used: {why}"), &[]);
                done(table::sentence(&given))
            }
        },
        Some(Err(_)) => done(table::sentence(&given)),
    }
}

fn done(text: String) -> AnswerStep {
    AnswerStep::Done(Answer { text: text.chars().take(LIMIT).collect(), attributes: Vec::new() })
}

#[cfg(test)]
mod tests;
