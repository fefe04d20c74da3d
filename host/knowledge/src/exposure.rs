//! What of a column's values may be seen: the one place that decides it, for samples and for the value index alike.

use std::collections::{BTreeMap, BTreeSet};

use airlock_types::catalogue::{Column, Relation};
use airlock_types::{Catalogue, ColumnRef, TableRef};

use crate::class::ColumnClass;

/// Most characters of a value that is shown as a sample.
pub const SAMPLE_CHARACTERS: usize = 40;
/// Most samples of one column.
pub const SAMPLES: usize = 8;
/// Most characters of a value that is indexed; longer ones are no names of things.
pub const VALUE_CHARACTERS: usize = 200;
/// Most values of one column that are indexed.
pub const VALUES: usize = 5_000;

/// Class and permissions of every column of a domain. A column it does not know has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposure {
    tables: BTreeMap<TableRef, BTreeMap<String, Entry>>,
    /// Tables that may hold a column whose class was lost with its name.
    closed: BTreeSet<TableRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    class: ColumnClass,
    row_security: bool,
    samples_wanted: bool,
    values_wanted: bool,
}

impl Entry {
    /// Values of a column are for the eyes of a model only when nobody's rows hide behind a policy and its class is plain.
    fn open(self) -> bool {
        self.class == ColumnClass::Plain && !self.row_security
    }
}

impl Exposure {
    /// Guesses the class of every column.
    #[must_use]
    pub fn guess(catalogue: &Catalogue) -> Self {
        let entry = |relation: &Relation, column: &Column| Entry {
            class: ColumnClass::guess(relation, column),
            row_security: relation.row_security,
            samples_wanted: false,
            values_wanted: false,
        };
        let tables = catalogue
            .iter()
            .map(|relation| {
                let columns = relation
                    .columns
                    .iter()
                    .map(|column| (column.name.clone(), entry(relation, column)))
                    .collect();
                (relation.table.clone(), columns)
            })
            .collect();
        Self { tables, closed: BTreeSet::new() }
    }

    fn entry(&self, column: &ColumnRef) -> Option<Entry> {
        self.tables.get(&column.table)?.get(&column.column).copied()
    }

    fn change(&mut self, column: &ColumnRef, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) =
            self.tables.get_mut(&column.table).and_then(|table| table.get_mut(&column.column))
        {
            change(entry);
        }
    }

    pub(crate) fn set_class(&mut self, column: &ColumnRef, class: ColumnClass) {
        self.change(column, |entry| entry.class = class);
    }

    pub(crate) fn want_samples(&mut self, column: &ColumnRef) {
        self.change(column, |entry| entry.samples_wanted = true);
    }

    pub(crate) fn want_values(&mut self, column: &ColumnRef) {
        self.change(column, |entry| entry.values_wanted = true);
    }

    /// Closes a table: no value of it is seen, whatever the classes of its columns are.
    pub(crate) fn close(&mut self, table: &TableRef) {
        self.closed.insert(table.clone());
    }

    /// Whether a table may hold a column whose class was lost with its name, so that no value of it may be seen.
    #[must_use]
    pub fn is_closed(&self, table: &TableRef) -> bool {
        self.closed.contains(table)
    }

    /// The tables that are closed, by schema and name.
    pub fn closed(&self) -> impl Iterator<Item = &TableRef> {
        self.closed.iter()
    }

    /// What is known of a column whose values may be seen by whoever wants them.
    fn open(&self, column: &ColumnRef) -> Option<Entry> {
        self.entry(column).filter(|entry| entry.open() && !self.is_closed(&column.table))
    }

    /// The class of a column; an unknown one counts as secret.
    #[must_use]
    pub fn class(&self, column: &ColumnRef) -> ColumnClass {
        self.entry(column).map_or(ColumnClass::Secret, |entry| entry.class)
    }

    /// Whether the column's relation hides rows by a policy.
    #[must_use]
    pub fn row_security(&self, column: &ColumnRef) -> bool {
        self.entry(column).is_none_or(|entry| entry.row_security)
    }

    /// Whether a few of its values may be shown: the domain opted in, the class is plain and not in doubt, no row security.
    #[must_use]
    pub fn may_sample(&self, column: &ColumnRef) -> bool {
        self.open(column).is_some_and(|entry| entry.samples_wanted)
    }

    /// Whether its distinct values may be indexed: the domain opted in, the class is plain and not in doubt, no row security.
    #[must_use]
    pub fn may_index_values(&self, column: &ColumnRef) -> bool {
        self.open(column).is_some_and(|entry| entry.values_wanted)
    }

    /// Whether the labels of its enum type may be found by: they are schema and need no opting in, but a class does not
    /// change with where a value is written.
    #[must_use]
    pub fn may_index_labels(&self, column: &ColumnRef) -> bool {
        self.open(column).is_some()
    }

    /// Columns whose distinct values the host is to read, for samples, the index or both.
    #[must_use]
    pub fn columns_to_read(&self) -> Vec<ColumnRef> {
        let columns = self.tables.iter().flat_map(|(table, columns)| {
            columns.keys().map(|column| ColumnRef { table: table.clone(), column: column.clone() })
        });
        columns.filter(|column| self.may_sample(column) || self.may_index_values(column)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn values_are_seen_only_when_wanted_plain_and_without_row_security() {
        let mut catalogue = Catalogue::default();
        catalogue.insert(testing::relation(
            "t",
            vec![testing::column("status", "text"), testing::column("email", "text")],
        ));
        let mut hidden = testing::relation("h", vec![testing::column("status", "text")]);
        hidden.row_security = true;
        catalogue.insert(hidden);
        let mut exposure = Exposure::guess(&catalogue);
        let column = |table: &str, column: &str| ColumnRef {
            table: TableRef::new("public", table),
            column: column.into(),
        };
        assert!(!exposure.may_sample(&column("t", "status")), "nobody asked for it");
        for (table, name, want) in
            [("t", "status", true), ("t", "email", false), ("h", "status", false), ("t", "unknown", false)]
        {
            let column = column(table, name);
            exposure.want_samples(&column);
            exposure.want_values(&column);
            assert_eq!(exposure.may_sample(&column), want, "{column}");
            assert_eq!(exposure.may_index_values(&column), want, "{column}");
        }
        exposure.set_class(&column("t", "email"), ColumnClass::Plain);
        assert_eq!(exposure.columns_to_read(), [column("t", "email"), column("t", "status")]);
        exposure.close(&TableRef::new("public", "t"));
        assert!(exposure.columns_to_read().is_empty(), "a closed table gives nothing, wanted or not");
        assert!(!exposure.may_index_labels(&column("t", "status")));
    }
}
