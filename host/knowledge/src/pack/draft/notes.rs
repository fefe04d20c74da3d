//! `notes.toml` of a draft: what the comments say, what was guessed and why, and what a person is asked to write.

use std::fmt::Write as _;

use airlock_types::catalogue::{Column, Relation, RelationKind, TypeFamily};
use airlock_types::text::shorten;

use super::text::{grouped, key, prose, quoted, remarks, visible};
use super::{Detail, Source, TO_WRITE, speakable};
use crate::class::ColumnClass;
use crate::index::words::name_parts;
use crate::joins::is_key;
use crate::pack::limits;

/// Characters of a comment where there are too many tables for whole ones.
const SHORT_PURPOSE: usize = 160;
/// Labels of an enum shown.
const LABELS: usize = 12;
/// Columns named where one cannot be chosen.
const CHOICES: usize = 6;

pub(super) fn file(source: &Source<'_>) -> String {
    let mut out = format!(
        "# What tables and columns are for. Purposes are the comments of the database; where there is none, `{TO_WRITE}` stands.\n\
         # A word on what a table is not for is often worth more:   not_for = \"...\"\n\
         # Words people use for it:                                 synonyms = [\"...\"]\n\
         # A table that is dead:                                    in_use = false\n\
         # Classes are guesses by name, type and comment: values of personal, secret and amount columns are never sampled and\n\
         # never indexed. Set class = \"plain\" where a guess is wrong, or the right class where one is missing.\n"
    );
    if source.detail < Detail::Full {
        out.push_str("# There are too many tables to list the columns of each here.\n");
    }
    if source.detail == Detail::Least {
        out.push_str("# Nor the classes that were guessed; they hold all the same.\n");
    }
    for relation in &source.relations {
        table(source, relation, &mut out);
    }
    out
}

fn table(source: &Source<'_>, relation: &Relation, out: &mut String) {
    let name = key(&source.table(&relation.table).to_string());
    let _ = writeln!(out, "\n# {}", about(relation));
    if source.detail == Detail::Full {
        out.push_str(&remarks(relation.columns.iter().map(|column| described(source, relation, column))));
    }
    let _ = writeln!(out, "[tables.{name}]");
    let limit = if source.detail == Detail::Least { SHORT_PURPOSE } else { limits::NOTE };
    let purpose = prose(relation.comment.as_deref().unwrap_or_default(), limit);
    if purpose.is_empty() {
        let _ = writeln!(out, "# {TO_WRITE} what one row is, and what the table is for.\n# purpose = \"\"");
    } else {
        let _ = writeln!(out, "purpose = {}", quoted(&purpose));
    }
    choice(out, "time_column", "dates a row", times(relation));
    choice(out, "label_column", "names a row to a person", labels(relation));
    let classes: Vec<(&Column, ColumnClass, &str)> = relation
        .columns
        .iter()
        .filter(|column| source.detail > Detail::Least && speakable(&column.name))
        .map(|column| {
            let (class, why) = ColumnClass::guess_with_reason(relation, column);
            (column, class, why)
        })
        .filter(|(_, class, _)| *class != ColumnClass::Plain)
        .collect();
    if !classes.is_empty() {
        let _ = writeln!(out, "[tables.{name}.columns]");
    }
    for (column, class, why) in classes {
        let _ = writeln!(
            out,
            "{} = {{ class = \"{}\" }}   # guessed by {why}",
            key(&column.name),
            class.as_str()
        );
    }
}

fn about(relation: &Relation) -> String {
    let rows = match (relation.kind, relation.row_estimate) {
        (_, Some(rows)) => format!("about {} rows", grouped(rows)),
        (RelationKind::View | RelationKind::ForeignTable, None) => "rows unknown".to_owned(),
        (_, None) => "rows unknown: empty, or never analysed".to_owned(),
    };
    let key = match relation.primary_key.as_slice() {
        [] => "no primary key".to_owned(),
        key => format!("key {}", key.iter().map(|column| visible(column)).collect::<Vec<_>>().join(", ")),
    };
    let hidden =
        if relation.row_security { "; row security: never sampled, never indexed by value" } else { "" };
    let name = visible(&relation.table.to_string());
    format!("{name}: {}, {rows}, {key}{hidden}", relation.kind.as_str().replace('-', " "))
}

/// A column in a remark: its type, what it refers to, its labels.
fn described(source: &Source<'_>, relation: &Relation, column: &Column) -> String {
    let mut out = format!("{} {}", visible(&column.name), visible(&column.sql_type));
    if !column.enum_labels.is_empty() {
        let shown: Vec<String> =
            column.enum_labels.iter().take(LABELS).map(|label| format!("'{}'", prose(label, 40))).collect();
        let more = if column.enum_labels.len() > LABELS { ", ..." } else { "" };
        let _ = write!(out, " ({}{more})", shown.join(", "));
    }
    if column.generated {
        out.push_str(" generated");
    }
    let keys = relation.foreign_keys.iter().filter(|key| key.columns.contains(&column.name));
    for key in keys {
        let _ = write!(out, " -> {}", visible(&source.table(&key.references).to_string()));
    }
    out
}

/// One column where it is clear, several where a person must choose.
fn choice(out: &mut String, setting: &str, what: &str, found: Vec<&Column>) {
    match found.as_slice() {
        [] => {}
        [only] => {
            let _ = writeln!(out, "{setting} = {}   # guessed: the column that {what}", quoted(&only.name));
        }
        several => {
            let names: Vec<String> =
                several.iter().take(CHOICES).map(|column| quoted(&column.name)).collect();
            let _ = writeln!(
                out,
                "# {TO_WRITE} which column {what}: one of {}.\n# {setting} = \"\"",
                shorten(&names.join(", "), 400)
            );
        }
    }
}

/// Parts of names of columns that tell when a row was touched, or what it waits for, and not when what it is about happened.
#[rustfmt::skip]
const NOT_THE_DAY: &[&str] = &[
    "updated", "modified", "changed", "deleted", "archived", "loaded", "synced", "imported", "inserted", "expiry", "expires", "expired", "due",
    "valid", "until", "end", "ended", "closed", "cancelled", "canceled", "last", "next", "promised", "expected", "planned",
];
/// Parts of names of columns that tell when a row was made.
const MADE: &[&str] = &["created", "entered", "registered", "made", "add", "added"];

/// Columns that may date a row; one when it is clear.
fn times(relation: &Relation) -> Vec<&Column> {
    let dated: Vec<&Column> = relation
        .columns
        .iter()
        .filter(|column| {
            matches!(column.family, TypeFamily::Date | TypeFamily::Timestamp) && !column.is_array
        })
        .filter(|column| {
            speakable(&column.name) && ColumnClass::guess(relation, column) == ColumnClass::Plain
        })
        .collect();
    let has = |column: &Column, words: &[&str]| {
        name_parts(&column.name).iter().any(|part| words.contains(&part.folded.as_str()))
    };
    let happened: Vec<&Column> = dated.iter().copied().filter(|column| !has(column, NOT_THE_DAY)).collect();
    let told: Vec<&Column> = happened.iter().copied().filter(|column| !has(column, MADE)).collect();
    [told, happened, dated].into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Columns that may name a row; one when it is clear.
fn labels(relation: &Relation) -> Vec<&Column> {
    let referring =
        |column: &Column| relation.foreign_keys.iter().any(|key| key.columns.contains(&column.name));
    let named: Vec<&Column> = relation
        .columns
        .iter()
        .filter(|column| {
            column.family == TypeFamily::Text && column.enum_labels.is_empty() && speakable(&column.name)
        })
        .filter(|column| ColumnClass::guess(relation, column) != ColumnClass::Secret && !referring(column))
        .filter(|column| {
            name_parts(&column.name)
                .last()
                .is_some_and(|last| ["name", "nm", "title", "label"].contains(&last.folded.as_str()))
        })
        .collect();
    let table: Vec<String> = name_parts(&relation.table.name).into_iter().map(|part| part.stem).collect();
    // `name` and `product_name` of products name the row; `brand_name` names something else.
    let own: Vec<&Column> = named
        .iter()
        .copied()
        .filter(|column| {
            let parts = name_parts(&column.name);
            parts.iter().rev().skip(1).all(|part| table.contains(&part.stem))
        })
        .collect();
    match (own.as_slice(), named.as_slice()) {
        ([_], _) => own,
        ([], [only]) if is_key(relation, std::slice::from_ref(&only.name)) => named,
        _ => named,
    }
}
