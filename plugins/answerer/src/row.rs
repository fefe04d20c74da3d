//! One row as a sentence.

use crate::column::{Column, Part};
use crate::label::capital;

/// Columns of one row that are told.
const COLUMNS: usize = 6;

/// What the row is about: its period or its name. A currency or a state names no row: where there is nothing better, its key
/// stands for it. Absent when it has only numbers.
pub fn head(columns: &[Column]) -> Option<usize> {
    let names = |column: &Column| matches!(column.part, Part::Period(_) | Part::Name);
    let named = columns.iter().position(|column| names(column) && !says_a_quality(column));
    let other = columns.iter().position(|column| column.part == Part::Other);
    named.or(other).or_else(|| columns.iter().position(names))
}

/// Whether many rows share what a column says of each.
fn says_a_quality(column: &Column) -> bool {
    const QUALITIES: [&str; 9] =
        ["currency", "status", "state", "type", "kind", "unit", "method", "channel", "priority"];
    column.part == Part::Name && column.label.rsplit(' ').next().is_some_and(|last| QUALITIES.contains(&last))
}

/// A row as `Name (what is said of it)`, or as `Label: value` for each where nothing names it.
pub fn told(columns: &[Column], row: &[Option<String>]) -> String {
    let value = |index: usize| row.get(index).and_then(Option::as_deref);
    let Some(head) = head(columns) else { return listed(columns, row) };
    let mut taken = vec![head];
    // A key alone says nothing of what it is the key.
    let key = |column: &Column| column.part == Part::Other && column.label.ends_with(" id");
    let mut name = match columns.get(head) {
        Some(column) if key(column) => capital(&column.told(value(head))),
        Some(column) => column.said(value(head)),
        None => String::new(),
    };
    if let Some(last) = last_name(columns, head) {
        taken.push(last);
        name = [value(head), value(last)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    }
    let rest: Vec<String> = columns
        .iter()
        .enumerate()
        .filter(|(index, _)| !taken.contains(index))
        .take(COLUMNS - 1)
        .map(|(index, column)| column.told(value(index)))
        .collect();
    let more = if columns.len() - taken.len() > rest.len() { ", more in the table" } else { "" };
    if rest.is_empty() { name } else { format!("{name} ({}{more})", rest.join(", ")) }
}

/// `Bills: 12; revenue: 1,234.50`.
fn listed(columns: &[Column], row: &[Option<String>]) -> String {
    let pairs: Vec<String> = columns
        .iter()
        .zip(row)
        .take(COLUMNS)
        .map(|(column, value)| {
            let said = column.said(value.as_deref());
            if column.label.is_empty() { said } else { format!("{}: {said}", column.label) }
        })
        .collect();
    let more = if columns.len() > COLUMNS { "; more in the table" } else { "" };
    capital(&format!("{}{more}", pairs.join("; ")))
}

/// The column of last names beside one of first names.
pub fn last_name(columns: &[Column], head: usize) -> Option<usize> {
    let first = columns.get(head).is_some_and(|column| column.label.ends_with("first name"));
    let next = head + 1;
    (first && columns.get(next).is_some_and(|column| column.label.ends_with("last name"))).then_some(next)
}
