//! The columns of a chosen table that matter to a question, where it has many.

use std::collections::BTreeSet;

use airlock_plugin_sdk::contract::catalog::{ColumnInfo, Join, TableDetail};
use airlock_plugin_sdk::question::stems;

use crate::score::{Candidate, Word, split};

/// Columns up to which a table is taken whole.
const WHOLE: usize = 20;
/// Columns that date a row, of those that no word asks for.
const DATED: usize = 2;

/// The columns of a chosen table: its keys, what dates and names its rows, and what words and values of the question speak
/// for, in the table's order. Empty, which means all of them, when there are few, or when nothing tells them apart.
pub fn of(candidate: &Candidate, words: &[Word], joins: &[Join]) -> Vec<String> {
    let detail = &candidate.detail;
    if detail.columns.len() <= WHOLE {
        return Vec::new();
    }
    let asked = |column: &&ColumnInfo| candidate.columns.contains(&column.name) || is_named(column, words);
    let asked: BTreeSet<&str> =
        detail.columns.iter().filter(asked).map(|column| column.name.as_str()).collect();
    if asked.is_empty() && candidate.bridge.is_none() {
        return Vec::new();
    }
    let keys = keys(detail, joins);
    let mut dated = 0;
    let kept = detail.columns.iter().filter(|column| {
        let wanted = asked.contains(column.name.as_str()) || keys.contains(column.name.as_str());
        if !wanted && matches!(column.family.as_str(), "date" | "timestamp") && dated < DATED {
            dated += 1;
            return true;
        }
        wanted
    });
    kept.map(|column| column.name.clone()).collect()
}

fn keys<'a>(detail: &'a TableDetail, joins: &'a [Join]) -> BTreeSet<&'a str> {
    let table = &detail.summary.table;
    let mut keys: BTreeSet<&str> = detail.primary_key.iter().map(String::as_str).collect();
    keys.extend(detail.time_column.as_deref());
    keys.extend(detail.label_column.as_deref());
    for join in joins {
        for (side, columns) in [(&join.from, &join.from_columns), (&join.to, &join.to_columns)] {
            if side == table {
                keys.extend(columns.iter().map(String::as_str));
            }
        }
    }
    keys
}

fn is_named(column: &ColumnInfo, words: &[Word]) -> bool {
    let name = split(&column.name);
    let synonyms = || column.synonyms.iter().flat_map(|synonym| stems::content_stems(synonym));
    words.iter().any(|word| name.contains(&word.stem))
        || synonyms().any(|stem| words.iter().any(|word| word.stem == stem))
}
