//! A verified example asked again: the same question up to case, punctuation and word forms.

use airlock_plugin_sdk::Clock;
use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::retrieval::Example;
use airlock_plugin_sdk::question::moments;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::{TokenKind, tokenize};

/// An example that asks the very question.
pub fn equal(host: &impl Host, question: &str, clock: &Clock) -> Option<Example> {
    let asked = normal(question);
    // Words such as `last month` mean another time each day; their SQL is not to be taken over.
    let tokens = tokenize(question);
    let moving = moments::find(&tokens, clock).iter().any(|found| {
        let words: Vec<&str> = tokens
            .get(found.first..found.end)
            .unwrap_or_default()
            .iter()
            .map(|token| token.lower.as_str())
            .collect();
        !words.iter().any(|word| word.len() == 4 && word.chars().all(|c| c.is_ascii_digit()))
    });
    if asked.is_empty() || moving {
        return None;
    }
    host.near_examples(question, 8).into_iter().find(|example| normal(&example.question) == asked)
}

/// Content words and numbers in order, as stems; a word of asking or of politeness does not tell questions apart.
fn normal(question: &str) -> Vec<String> {
    tokenize(question)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Mark)
        .filter(|token| {
            token.kind == TokenKind::Quoted
                || !matches!(
                    token.lower.as_str(),
                    "please"
                        | "the"
                        | "a"
                        | "an"
                        | "our"
                        | "we"
                        | "do"
                        | "did"
                        | "me"
                        | "is"
                        | "are"
                        | "was"
                        | "were"
                )
        })
        .map(|token| if token.kind == TokenKind::Quoted { token.text } else { stems::stem(&token.lower) })
        .collect()
}
