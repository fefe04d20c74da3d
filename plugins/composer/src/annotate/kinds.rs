//! What kind of word a run is beside its neighbours: counted, related, negated, of one family with a value.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::grammar::{Aggregate, Op, Reading};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::TokenKind;

use super::scores::same_set;
use super::values::Known;
use crate::schema::{Column, Schema};

/// `successful` for the status `success`: one word of the same family, where a column tells states apart.
pub(super) fn akin(schema: &Schema, known: &Known, run: &[String]) -> bool {
    let ([value], [word]) = (known.lower.as_slice(), run) else { return false };
    let state = is_state(schema, known.table, known.column);
    let stem = stems::stem(value);
    state && stem.len() >= 5 && (stems::kin(&stem, word) || word.strip_suffix("ful") == Some(stem.as_str()))
}

/// True for a unit of time.
pub(super) fn is_step(words: &[String]) -> bool {
    matches!(words, [only] if matches!(only.as_str(), "year" | "month" | "day" | "week" | "quarter" | "date" | "period"))
}

/// True for a participle that relates its noun to nothing else: `cars sold in May`, `sold cars`, and not `students enrolled
/// in each department`.
pub(super) fn alone(reading: &Reading, at: usize, taken: &BTreeSet<usize>) -> bool {
    let next = (at + 1..reading.tokens.len())
        .find(|place| reading.tokens.get(*place).is_some_and(|token| !stems::is_function_word(&token.lower)));
    match next {
        None => true,
        Some(next) => {
            let mark = reading.tokens.get(next).is_some_and(|token| token.kind == TokenKind::Mark);
            mark || taken.contains(&next) || next == at + 1
        }
    }
}

/// True when a run is all that a key says besides whose key it is.
pub(super) fn qualifies(schema: &Schema, column: &Column, to: usize, run: &[String]) -> bool {
    let target: Vec<&String> =
        schema.table(to).map(|table| table.names.iter().flatten().collect()).unwrap_or_default();
    column.names.iter().take(column.own).any(|name| {
        let rest: Vec<String> =
            name.iter().filter(|stem| stem.as_str() != "id" && !target.contains(stem)).cloned().collect();
        !rest.is_empty() && same_set(&rest, run)
    })
}

/// True when a run is what `how many` or `number of` counts.
pub(super) fn counted(reading: &Reading, first: usize) -> bool {
    let before = reading.chunks.iter().rev().find(|chunk| chunk.end <= first && chunk.op != Op::Link);
    before.is_some_and(|chunk| chunk.op == Op::Aggregate(Aggregate::Count))
}

/// `current employees` for `current staff`: words that one table is called by are the same word.
pub(super) fn called(name: &[String], run: &[String], schema: &Schema) -> bool {
    let same = |a: &String, b: &String| {
        a == b
            || schema.tables.iter().any(|table| {
                let named = |word: &String| table.names.iter().any(|name| name.as_slice() == [word.clone()]);
                named(a) && named(b)
            })
    };
    name.len() == run.len()
        && name.len() > 1
        && name.iter().all(|stem| run.iter().any(|other| same(stem, other)))
        && run.iter().all(|stem| name.iter().any(|other| same(stem, other)))
}

/// True for a column that tells states or kinds apart.
pub fn is_state(schema: &Schema, table: usize, column: usize) -> bool {
    schema.column(table, column).is_some_and(|column| {
        let mut own = column.names.iter().take(column.own).flatten();
        own.any(|stem| {
            matches!(stem.as_str(), "statu" | "status" | "state" | "type" | "kind" | "stage" | "outcom")
        })
    })
}
