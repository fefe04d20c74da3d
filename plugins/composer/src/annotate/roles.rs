//! People told by what they did, as a key's note has it: `the person who made out the bill` where the key's note says
//! `Who made out the bill.`

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::grammar::Reading;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::TokenKind;

use super::{Candidate, Mention, Target};
use crate::schema::Schema;

/// Nouns that say no more than that someone is meant.
const SOMEONE: &[&str] = &["person", "people", "one", "man", "woman", "someone", "guy", "member"];

/// The tables that keys point to, where a clause says what the note of the key says.
pub(super) fn roles(reading: &Reading, schema: &Schema) -> Vec<Mention> {
    let tokens = &reading.tokens;
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let mut found = Vec::new();
    for who in 1..tokens.len() {
        let named = schema.tables.iter().any(|table| {
            table
                .names
                .iter()
                .any(|name| tokens.get(who - 1).is_some_and(|token| name.as_slice() == [token.stem.clone()]))
        });
        if word(who) != "who" || !(SOMEONE.contains(&word(who - 1)) || named) {
            continue;
        }
        let mut said = BTreeSet::new();
        for (end, token) in tokens.iter().enumerate().skip(who + 1).take(8) {
            if token.kind == TokenKind::Mark {
                break;
            }
            if stems::is_function_word(&token.lower) {
                continue;
            }
            said.insert(token.stem.clone());
            let keys = schema.tables.iter().flat_map(|table| {
                table.edges.iter().filter_map(|edge| match edge.from.as_slice() {
                    [only] => table.columns.get(*only).map(|column| (edge.to, &column.who)),
                    _ => None,
                })
            });
            let mut tables: Vec<usize> =
                keys.filter(|(_, note)| !note.is_empty() && **note == said).map(|(to, _)| to).collect();
            tables.sort_unstable();
            tables.dedup();
            if let [only] = tables.as_slice() {
                let candidates = vec![Candidate::new(Target::Table(*only), 1.1)];
                found.push(Mention {
                    first: who - 1,
                    end: end + 1,
                    words: said.len() + 1,
                    also: Vec::new(),
                    candidates,
                });
            }
        }
    }
    found
}
