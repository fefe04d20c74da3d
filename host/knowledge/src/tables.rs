//! The merged view of a table: what the catalogue says, what people say, and the samples that may be shown.

use std::collections::{BTreeMap, HashMap};

use airlock_types::catalogue::{Column, Relation, RelationKind, TypeFamily};
use airlock_types::text::{Place, find_hidden, shorten};
use airlock_types::{Catalogue, ColumnRef, TableRef};
use serde::Serialize;

use crate::class::ColumnClass;
use crate::exposure::{Exposure, SAMPLE_CHARACTERS, SAMPLES};
use crate::pack::{BoundPack, BoundTableNote, Covers, limits};

/// A table as the domain knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableView {
    /// The table.
    pub table: TableRef,
    /// What kind of relation it is.
    pub kind: RelationKind,
    /// The planner's estimate.
    pub row_estimate: Option<u64>,
    /// What it is for: the note, else the comment, else empty.
    pub description: String,
    /// What it must not be used for; may be empty.
    pub not_for: String,
    /// False: dead, never chosen.
    pub in_use: bool,
    /// Words people use for it.
    pub synonyms: Vec<String>,
    /// Columns in their order.
    pub columns: Vec<ColumnView>,
    /// Primary key, in its order.
    pub primary_key: Vec<String>,
    /// The column whose value dates a row.
    pub time_column: Option<String>,
    /// The column that names a row to a person.
    pub label_column: Option<String>,
    /// The range of time its rows are from.
    pub covers: Option<Covers>,
}

/// A column as the domain knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnView {
    /// Its name.
    pub name: String,
    /// As `format_type` prints it.
    pub sql_type: String,
    /// What its values are, roughly.
    pub family: TypeFamily,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The note, else the comment, else empty.
    pub description: String,
    /// Who may see its values.
    pub class: ColumnClass,
    /// Labels of an enum type.
    pub enum_labels: Vec<String>,
    /// Values that may be shown, each of at most 40 characters.
    pub samples: Vec<String>,
    /// Words people use for it.
    pub synonyms: Vec<String>,
}

impl TableView {
    /// The column with exactly this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnView> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// The views of all tables, by schema and name.
pub(crate) fn views(
    catalogue: &Catalogue,
    bound: &BoundPack,
    values: &[(ColumnRef, Vec<String>)],
) -> Vec<TableView> {
    let values: HashMap<&ColumnRef, &[String]> =
        values.iter().map(|(column, values)| (column, values.as_slice())).collect();
    let unnoted = BoundTableNote { in_use: true, ..BoundTableNote::default() };
    let views: BTreeMap<&TableRef, TableView> = catalogue
        .iter()
        .map(|relation| {
            let note = bound.notes.get(&relation.table).unwrap_or(&unnoted);
            (&relation.table, view(relation, note, &bound.exposure, &values))
        })
        .collect();
    views.into_values().collect()
}

fn view(
    relation: &Relation,
    note: &BoundTableNote,
    exposure: &Exposure,
    values: &HashMap<&ColumnRef, &[String]>,
) -> TableView {
    let columns = relation.columns.iter().map(|column| {
        let reference = relation.column_ref(&column.name);
        let values = values.get(&reference).copied().unwrap_or_default();
        let samples = if exposure.may_sample(&reference) { samples(values) } else { Vec::new() };
        column_view(column, note, exposure.class(&reference), samples)
    });
    TableView {
        table: relation.table.clone(),
        kind: relation.kind,
        row_estimate: relation.row_estimate,
        description: said(note.purpose.as_deref(), relation.comment.as_deref()),
        not_for: note.not_for.clone().unwrap_or_default(),
        in_use: note.in_use,
        synonyms: note.synonyms.clone(),
        columns: columns.collect(),
        primary_key: relation.primary_key.clone(),
        time_column: note.time_column.clone(),
        label_column: note.label_column.clone(),
        covers: note.covers.clone(),
    }
}

fn column_view(
    column: &Column,
    note: &BoundTableNote,
    class: ColumnClass,
    samples: Vec<String>,
) -> ColumnView {
    let note = note.columns.get(&column.name);
    ColumnView {
        name: column.name.clone(),
        sql_type: column.sql_type.clone(),
        family: column.family,
        nullable: column.nullable,
        description: said(note.and_then(|note| note.note.as_deref()), column.comment.as_deref()),
        class,
        enum_labels: labels(&column.enum_labels),
        samples,
        synonyms: note.map(|note| note.synonyms.clone()).unwrap_or_default(),
    }
}

/// The note, else the comment. A comment is written by whoever owns the table: one with hidden characters is not passed on,
/// a long one is cut.
fn said(note: Option<&str>, comment: Option<&str>) -> String {
    let comment = comment.filter(|comment| find_hidden(comment, Place::Prose).is_none());
    shorten(note.or(comment).unwrap_or_default(), limits::NOTE)
}

/// Labels of an enum that can be read by whoever sees them.
fn labels(labels: &[String]) -> Vec<String> {
    labels.iter().filter(|label| find_hidden(label, Place::Prose).is_none()).cloned().collect()
}

/// A few values, cut to length; what has hidden characters is left out.
fn samples(values: &[String]) -> Vec<String> {
    values
        .iter()
        .filter(|value| !value.trim().is_empty() && find_hidden(value, Place::Prose).is_none())
        .take(SAMPLES)
        // The mark of the cut counts too.
        .map(|value| {
            if value.chars().count() > SAMPLE_CHARACTERS {
                shorten(value, SAMPLE_CHARACTERS - 1)
            } else {
                value.clone()
            }
        })
        .collect()
}
