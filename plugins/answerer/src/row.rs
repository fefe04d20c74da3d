//! One row as a sentence.

use crate::column::{Column, Part};
use crate::label::capital;

/// Columns of one row that are told.
const COLUMNS: usize = 6;

/// What the row is about: its period or its name. Absent when it has only numbers.
pub fn head(columns: &[Column]) -> Option<usize> {
    let named = columns.iter().position(|column| matches!(column.part, Part::Period(_) | Part::Name));
    named.or_else(|| columns.iter().position(|column| column.part == Part::Other))
}

/// A row as `Name (what is said of it)`, or as `Label: value` for each where nothing names it.
pub fn told(columns: &[Column], row: &[Option<String>]) -> String {
    let value = |index: usize| row.get(index).and_then(Option::as_deref);
    let Some(head) = head(columns) else { return listed(columns, row) };
    let mut taken = vec![head];
    let mut name = columns.get(head).map(|column| column.said(value(head))).unwrap_or_default();
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
