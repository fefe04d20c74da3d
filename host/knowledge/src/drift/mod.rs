//! Drift: what became of the tables and columns that people wrote about, by names and types alone.
//!
//! A snapshot is taken when a domain is loaded. Later the catalogue is held against it: what went, was renamed, or holds
//! less than it did is drift, because notes, examples and lessons rest on it. What was added or widened breaks nothing and
//! is none: an alert that fires on harmless changes is soon ignored.

mod marks;
mod widening;

use std::collections::{BTreeMap, BTreeSet};

use airlock_types::catalogue::{Column, Relation};
use airlock_types::{Catalogue, ContentHash, TableRef};
use serde::{Deserialize, Serialize};

pub use marks::{Marked, Marks, names, reads};
pub use widening::{Fit, fit};

/// Names and types of a domain's tables at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    tables: Vec<Table>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Table {
    table: TableRef,
    columns: Vec<ColumnType>,
}

/// Name and type of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnType {
    /// Its name.
    pub name: String,
    /// As `format_type` prints it.
    pub sql_type: String,
    /// Schema and name of its type; for an array the element's.
    pub type_name: TableRef,
    /// Whether it is an array of that type.
    pub is_array: bool,
}

impl From<&Column> for ColumnType {
    fn from(column: &Column) -> Self {
        Self {
            name: column.name.clone(),
            sql_type: column.sql_type.clone(),
            type_name: column.type_name.clone(),
            is_array: column.is_array,
        }
    }
}

/// What happened to a table or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The table is not there any more.
    TableGone,
    /// The column is not there any more.
    ColumnGone,
    /// The type holds less than it did: digits, characters, precision.
    Narrowed,
    /// The type is another one.
    Retyped,
}

impl ChangeKind {
    /// The word on every surface, such as `column-gone`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TableGone => "table-gone",
            Self::ColumnGone => "column-gone",
            Self::Narrowed => "narrowed",
            Self::Retyped => "retyped",
        }
    }
}

/// One change that is drift.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The table.
    pub table: TableRef,
    /// The column; none when it is about the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What happened.
    pub kind: ChangeKind,
    /// The type it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The type it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// What it may be called now: the one new thing of the same shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let column = self.column.as_deref().unwrap_or_default();
        let types = (self.was.as_deref().unwrap_or("another"), self.now.as_deref().unwrap_or("another"));
        match self.kind {
            ChangeKind::TableGone => write!(f, "the table {} is gone", self.table)?,
            ChangeKind::ColumnGone => write!(f, "the column {}.{column} is gone", self.table)?,
            ChangeKind::Narrowed => {
                write!(f, "{}.{column} holds less than it did: {} became {}", self.table, types.0, types.1)?;
            }
            ChangeKind::Retyped => {
                write!(f, "{}.{column} is of another type: {} became {}", self.table, types.0, types.1)?;
            }
        }
        match &self.renamed {
            Some(name) => write!(f, " (perhaps it is called {name} now)"),
            None => Ok(()),
        }
    }
}

impl Snapshot {
    /// The catalogue of now.
    #[must_use]
    pub fn of(catalogue: &Catalogue) -> Self {
        let table = |relation: &Relation| Table {
            table: relation.table.clone(),
            columns: relation.columns.iter().map(ColumnType::from).collect(),
        };
        let mut tables: Vec<Table> = catalogue.iter().map(table).collect();
        tables.sort_by(|a, b| a.table.cmp(&b.table));
        Self { tables }
    }

    /// How many tables it has.
    #[must_use]
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Hash over all of it, to tell two apart.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(serde_json::to_string(self).unwrap_or_default())
    }

    /// Every drift of the catalogue of now against this.
    #[must_use]
    pub fn drift(&self, catalogue: &Catalogue) -> Vec<Change> {
        let known: BTreeSet<&TableRef> = self.tables.iter().map(|table| &table.table).collect();
        let new: Vec<&Relation> =
            catalogue.iter().filter(|relation| !known.contains(&relation.table)).collect();
        self.tables.iter().flat_map(|table| changes(table, catalogue, &new)).collect()
    }

    /// The drift of one table.
    #[must_use]
    pub fn drift_of(&self, table: &TableRef, catalogue: &Catalogue) -> Vec<Change> {
        match self.tables.binary_search_by(|candidate| candidate.table.cmp(table)) {
            Ok(at) => self.tables.get(at).map_or_else(Vec::new, |table| changes(table, catalogue, &[])),
            Err(_) => Vec::new(),
        }
    }
}

fn changes(table: &Table, catalogue: &Catalogue, new: &[&Relation]) -> Vec<Change> {
    let change =
        |kind| Change { table: table.table.clone(), column: None, kind, was: None, now: None, renamed: None };
    let Some(relation) = catalogue.relation(&table.table) else {
        let mut same = new.iter().filter(|relation| same_shape(table, relation));
        let renamed = same.next().filter(|_| same.next().is_none()).map(|found| found.table.to_string());
        return vec![Change { renamed, ..change(ChangeKind::TableGone) }];
    };
    let known: BTreeMap<&str, &ColumnType> =
        table.columns.iter().map(|column| (column.name.as_str(), column)).collect();
    let new: Vec<ColumnType> = relation
        .columns
        .iter()
        .filter(|column| !known.contains_key(column.name.as_str()))
        .map(ColumnType::from)
        .collect();
    let mut found = Vec::new();
    for was in &table.columns {
        let about = Change {
            column: Some(was.name.clone()),
            was: Some(was.sql_type.clone()),
            ..change(ChangeKind::ColumnGone)
        };
        let Some(now) = relation.column(&was.name).map(ColumnType::from) else {
            let mut same = new.iter().filter(|column| fit(was, column) != Fit::Other);
            let renamed = same.next().filter(|_| same.next().is_none()).map(|column| column.name.clone());
            found.push(Change { renamed, ..about });
            continue;
        };
        let kind = match fit(was, &now) {
            Fit::Same | Fit::Wider => continue,
            Fit::Narrower => ChangeKind::Narrowed,
            Fit::Other => ChangeKind::Retyped,
        };
        found.push(Change { kind, now: Some(now.sql_type), ..about });
    }
    found
}

/// Whether a relation has the very columns of a table.
fn same_shape(table: &Table, relation: &Relation) -> bool {
    let names = |columns: &mut dyn Iterator<Item = (String, String)>| columns.collect::<BTreeSet<_>>();
    let was = names(&mut table.columns.iter().map(|column| (column.name.clone(), column.sql_type.clone())));
    let now =
        names(&mut relation.columns.iter().map(|column| (column.name.clone(), column.sql_type.clone())));
    !was.is_empty() && was == now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn catalogue(tables: &[(&str, &[(&str, &str)])]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (name, columns) in tables {
            let columns = columns.iter().map(|(name, kind)| testing::column(name, kind)).collect();
            catalogue.insert(testing::relation(name, columns));
        }
        catalogue
    }

    #[test]
    fn what_went_or_was_renamed_is_drift_and_what_was_added_is_not() {
        let before =
            catalogue(&[("orders", &[("id", "integer"), ("total", "numeric(10,2)"), ("note", "text")])]);
        let snapshot = Snapshot::of(&before);
        for (after, want) in [
            (vec![("orders", vec![("id", "integer"), ("total", "numeric(10,2)"), ("note", "text")])], vec![]),
            // Columns and tables that are new.
            (
                vec![
                    (
                        "orders",
                        vec![("x", "text"), ("id", "bigint"), ("total", "numeric(10,2)"), ("note", "text")],
                    ),
                    ("more", vec![("id", "integer")]),
                ],
                vec![],
            ),
            (
                vec![("orders", vec![("id", "integer"), ("amount", "numeric(10,2)"), ("note", "text")])],
                vec!["the column public.orders.total is gone (perhaps it is called amount now)"],
            ),
            // Two that could be it are none.
            (
                vec![(
                    "orders",
                    vec![("id", "integer"), ("a", "numeric(10,2)"), ("b", "numeric(10,2)"), ("note", "text")],
                )],
                vec!["the column public.orders.total is gone"],
            ),
            (
                vec![("sales", vec![("id", "integer"), ("total", "numeric(10,2)"), ("note", "text")])],
                vec!["the table public.orders is gone (perhaps it is called public.sales now)"],
            ),
            (vec![("sales", vec![("id", "integer")])], vec!["the table public.orders is gone"]),
            (
                vec![("orders", vec![("id", "text"), ("total", "numeric(8,2)"), ("note", "text")])],
                vec![
                    "public.orders.id is of another type: integer became text",
                    "public.orders.total holds less than it did: numeric(10,2) became numeric(8,2)",
                ],
            ),
        ] {
            let after: Vec<(&str, &[(&str, &str)])> =
                after.iter().map(|(name, columns)| (*name, columns.as_slice())).collect();
            let after = catalogue(&after);
            let told: Vec<String> = snapshot.drift(&after).iter().map(ToString::to_string).collect();
            assert_eq!(told, want);
            let table = TableRef::new("public", "orders");
            assert_eq!(snapshot.drift_of(&table, &after).len(), want.len());
        }
        // It comes back, and so does the peace.
        assert!(snapshot.drift(&before).is_empty());
    }

    #[test]
    fn a_snapshot_survives_being_written_down() {
        let snapshot = Snapshot::of(&catalogue(&[("b", &[("id", "integer")]), ("a", &[("id", "text")])]));
        let read: Snapshot = serde_json::from_str(&serde_json::to_string(&snapshot).unwrap()).unwrap();
        assert_eq!(read, snapshot);
        assert_eq!(read.hash(), snapshot.hash());
        assert_eq!(read.tables(), 2);
    }
}
