//! `joins.toml`: how tables join where no foreign key says so.

use serde::Serialize;

use super::limits;
use super::reference::{ColumnName, TableName};
use super::report::{Findings, Located};
use super::section::Section;
use super::settings::column;
use super::tree::Node;

/// A join that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ManualJoin {
    /// One side.
    pub from: Located<JoinSide>,
    /// The other side, column for column.
    pub to: Located<JoinSide>,
    /// Each row of `from` has one partner in `to` at most, though no key of the catalogue says so.
    pub to_is_key: bool,
    /// What is to be known about it.
    pub note: Option<String>,
}

/// One side of a join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JoinSide {
    /// The table.
    pub table: TableName,
    /// Its columns, at least one.
    pub columns: Vec<String>,
}

/// Reads `joins.toml`.
pub(crate) fn read(node: Node, findings: &Findings) -> Vec<ManualJoin> {
    let Some(mut root) = Section::of(node, "", findings) else { return Vec::new() };
    let joins = root.sections("join", limits::JOINS).into_iter().filter_map(read_join).collect();
    root.finish();
    joins
}

fn read_join(mut section: Section<'_>) -> Option<ManualJoin> {
    let from = read_side(&mut section, "from", "\"payments.bill_id\"");
    let to = read_side(&mut section, "to", "\"bills.bill_id\"");
    let to_is_key = section.flag("to_is_key").unwrap_or_default();
    let note = section.text("note", limits::NOTE);
    if let (Some(from), Some(to)) = (&from, &to) {
        let (left, right) = (from.value.columns.len(), to.value.columns.len());
        if left != right {
            section.report(
                &to.spot,
                format!("`from` has {left} columns and `to` has {right}"),
                "pair them: as many on both sides, in the same order",
            );
        } else if from.value == to.value {
            section.report(&to.spot, "the join's sides are the same", "name the other side under `to`");
        }
    }
    section.finish();
    let (from, to) = (from?, to?);
    (from.value.columns.len() == to.value.columns.len() && from.value != to.value).then(|| ManualJoin {
        from,
        to,
        to_is_key,
        note: note.map(|text| text.value),
    })
}

fn read_side(section: &mut Section<'_>, key: &'static str, example: &str) -> Option<Located<JoinSide>> {
    let names = section.names(key, limits::REFERENCE, limits::JOIN_COLUMNS);
    section.need(names.first(), key, example)?;
    let count = names.len();
    let columns: Vec<Located<ColumnName>> =
        names.into_iter().filter_map(|text| column(section, key, text)).collect();
    let first = columns.first()?;
    let (table, spot) = (first.value.table.clone(), first.spot.clone());
    if let Some(other) = columns.iter().find(|column| column.value.table != table) {
        let what = format!("`{key}` names columns of `{table}` and of `{}`", other.value.table);
        section.report(&other.spot, what, "one side of a join is columns of one table");
        return None;
    }
    // A column that did not parse was reported; without it the pairing would be wrong.
    (columns.len() == count).then(|| Located {
        value: JoinSide { table, columns: columns.into_iter().map(|column| column.value.column).collect() },
        spot,
    })
}
