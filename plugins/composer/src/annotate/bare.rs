//! Values that are spelled like binding words: `out` where a state of loans is `out`.

use airlock_plugin_sdk::question::grammar::Reading;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::TokenKind;

use super::values::Known;
use super::{Candidate, Mention, Target};
use crate::schema::Schema;

/// Words that may stand between `are` and a state.
const BETWEEN: &[&str] = &["still", "now", "currently", "presently", "all", "not", "already", "there"];
/// Words that lead to a noun: what stands between is an adjective.
const LEADS: &[&str] = &["many", "all", "the", "which", "what", "list", "show", "of", "only", "every"];

/// Binding words that stand where a state does, and are one of a table that the question names.
pub(super) fn bare(reading: &Reading, schema: &Schema, values: &[Known]) -> Vec<Mention> {
    let tokens = &reading.tokens;
    let named = |table: usize, at: usize| {
        let stem = tokens.get(at).filter(|token| token.kind == TokenKind::Word).map(|token| &token.stem);
        let detail = schema.table(table);
        stem.zip(detail).is_some_and(|(stem, detail)| {
            detail.names.iter().any(|name| name.last() == Some(stem)) || detail.reference.name == *stem
        })
    };
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Word || !stems::is_function_word(&token.lower) {
            continue;
        }
        let candidates: Vec<Candidate> = values
            .iter()
            .filter(|known| known.lower.as_slice() == [token.lower.as_str()])
            .filter(|known| (0..tokens.len()).any(|place| named(known.table, place)))
            .filter(|known| {
                let follows = at.checked_sub(1).is_some_and(|before| named(known.table, before));
                stands(reading, at)
                    || (follows && matches!(token.lower.as_str(), "out" | "up") && ends(reading, at))
                    || leads(reading, at, |place| named(known.table, place))
            })
            .map(|known| Candidate::new(Target::Value(known.table, known.column, known.value.clone()), 0.95))
            .collect();
        if !candidates.is_empty() {
            found.push(Mention { first: at, end: at + 1, words: 1, also: Vec::new(), candidates });
        }
    }
    found
}

/// A word that says a state, `are out`, of which nothing is known.
pub fn unsaid(reading: &Reading, mentions: &[Mention]) -> Option<String> {
    const STATES: &[&str] = &["out", "in", "on", "up"];
    let inside = |at: usize| {
        mentions
            .iter()
            .any(|mention| (mention.first..mention.end).contains(&at) || mention.also.contains(&at))
    };
    reading.tokens.iter().enumerate().find_map(|(at, token)| {
        let last = reading.tokens.get(at + 1).is_none_or(|next| next.kind == TokenKind::Mark);
        // A rule that is called `still out` is said by its first word.
        let ruled = at.checked_sub(1).is_some_and(|before| {
            inside(before)
                && reading.tokens.get(before).is_some_and(|token| BETWEEN.contains(&token.lower.as_str()))
        });
        let known = inside(at) || ruled;
        // `do we have out`.
        let held = matches!(token.lower.as_str(), "out" | "up")
            && at
                .checked_sub(1)
                .and_then(|before| reading.tokens.get(before))
                .is_some_and(|before| stems::is_function_word(&before.lower));
        let state = STATES.contains(&token.lower.as_str()) && (stands(reading, at) || held);
        let state = state && last && !known;
        state.then(|| token.lower.clone())
    })
}

/// `How many loans are out?`, `loans that are still out today`; not `are in May`.
fn stands(reading: &Reading, at: usize) -> bool {
    let before = reading.tokens.get(..at).unwrap_or_default();
    let verb = before.iter().rev().find(|token| !BETWEEN.contains(&token.lower.as_str()));
    let is = verb.is_some_and(|token| {
        matches!(token.lower.as_str(), "is" | "are" | "was" | "were" | "be" | "been" | "being")
    });
    let timed = reading.moments.iter().any(|moment| (moment.first..moment.end).contains(&at));
    is && ends(reading, at) && !timed
}

/// What follows says nothing of the word.
fn ends(reading: &Reading, at: usize) -> bool {
    reading.tokens.get(at + 1).is_none_or(|next| {
        next.kind == TokenKind::Mark
            || BETWEEN.contains(&next.lower.as_str())
            || (stems::is_function_word(&next.lower)
                && !matches!(
                    next.lower.as_str(),
                    "the" | "a" | "an" | "of" | "this" | "these" | "those" | "our" | "all" | "any" | "each"
                ))
            || reading.moments.iter().any(|moment| moment.first == at + 1 && next.is("today"))
    })
}

/// `the out loans`.
fn leads(reading: &Reading, at: usize, named: impl Fn(usize) -> bool) -> bool {
    let before = at.checked_sub(1).and_then(|before| reading.tokens.get(before));
    named(at + 1)
        && before
            .is_none_or(|before| before.kind == TokenKind::Word && LEADS.contains(&before.lower.as_str()))
        && !reading.moments.iter().any(|moment| (moment.first..moment.end).contains(&at))
}
