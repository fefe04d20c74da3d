//! Values that the question spells.

use std::collections::BTreeSet;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::question::grammar::Reading;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::{TokenKind, folded};

use crate::schema::{Family, Schema};

/// A value that the question spells in full.
pub(super) struct Known {
    pub(super) table: usize,
    pub(super) column: usize,
    pub(super) value: String,
    /// Its words in lower case, without accents.
    pub(super) lower: Vec<String>,
}

pub(super) fn values(host: &impl Host, question: &str, schema: &Schema) -> Vec<Known> {
    let mut found: Vec<Known> = Vec::new();
    let mut add = |table: usize, column: usize, value: &str| {
        let lower: Vec<String> = value_words(value);
        let known =
            found.iter().any(|known| (known.table, known.column) == (table, column) && known.value == value);
        if !lower.is_empty() && !known {
            found.push(Known { table, column, value: value.to_owned(), lower });
        }
    };
    // `successful` may be the state `success`.
    let derived: Vec<String> = airlock_plugin_sdk::question::tokens::tokenize(question)
        .into_iter()
        .filter_map(|token| token.lower.strip_suffix("ful").map(str::to_owned))
        .filter(|word| word.len() >= 4)
        .take(4)
        .collect();
    let more = if derived.is_empty() { Vec::new() } else { host.near_values(&derived.join(" "), 20) };
    // An index may pass over binding words of a question; alone they are looked up.
    let alone = ["out", "in", "on", "off", "up"].into_iter().filter(|word| {
        let tokens = airlock_plugin_sdk::question::tokens::tokenize(question);
        tokens.iter().any(|token| token.lower == *word)
    });
    let alone: Vec<_> = alone.flat_map(|word| host.near_values(word, 10)).collect();
    for hit in host.near_values(question, 50).into_iter().chain(more).chain(alone) {
        if let Some(table) = schema.position(&hit.column.table)
            && let Some(column) = schema.table(table).and_then(|table| table.column(&hit.column.column))
        {
            add(table, column, &hit.value);
        }
    }
    for (at, table) in schema.tables.iter().enumerate() {
        for (column, detail) in table.columns.iter().enumerate() {
            for value in &detail.values {
                if detail.family == Family::Text {
                    add(at, column, value);
                }
            }
        }
    }
    found
}

/// Stems of the tables whose values the question spells: who says `Plumbing` speaks of categories.
pub(super) fn spoken(reading: &Reading, schema: &Schema, values: &[Known]) -> BTreeSet<String> {
    let said = |word: &String| reading.tokens.iter().any(|token| folded(&token.stem) == stems::stem(word));
    let binding = |known: &Known| known.lower.iter().all(|word| stems::is_function_word(word));
    let known = values.iter().filter(|known| !binding(known) && known.lower.iter().all(said));
    known
        .filter_map(|known| schema.table(known.table))
        .flat_map(|table| table.names.iter().flatten().cloned())
        .collect()
}

fn value_words(value: &str) -> Vec<String> {
    let tokens = airlock_plugin_sdk::question::tokens::tokenize(value);
    // A state may be called `out`, and nothing else.
    let alone = tokens.len() == 1;
    tokens
        .into_iter()
        .filter(|token| token.kind != TokenKind::Mark && (alone || !stems::is_function_word(&token.lower)))
        .flat_map(|token| folded(&token.lower).split('_').map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| !word.is_empty())
        .collect()
}
