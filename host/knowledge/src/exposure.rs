//! What of a column's values may be seen: the one place that decides it, for samples and for the value index alike.

use std::collections::{BTreeMap, BTreeSet};

use airlock_types::catalogue::{Column, Relation, TypeFamily};
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
    /// Guessed of the column itself, or given by hand.
    class: ColumnClass,
    /// Whether people gave it: what it shows says nothing any more.
    by_hand: bool,
    /// The strictest class of what it shows.
    shown: ColumnClass,
    row_security: bool,
    samples_wanted: bool,
    values_wanted: bool,
}

impl Entry {
    /// Values of a column are for the eyes of a model only when nobody's rows hide behind a policy and its class is plain.
    fn open(self) -> bool {
        self.class() == ColumnClass::Plain && !self.row_security
    }

    fn class(self) -> ColumnClass {
        if self.by_hand { self.class } else { self.class.max(self.shown) }
    }
}

impl Exposure {
    /// Guesses the class of every column.
    #[must_use]
    pub fn guess(catalogue: &Catalogue) -> Self {
        let entry = |relation: &Relation, column: &Column| Entry {
            class: ColumnClass::guess(relation, column),
            by_hand: false,
            shown: ColumnClass::Plain,
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
        let mut guessed = Self { tables, closed: BTreeSet::new() };
        guessed.follow(catalogue);
        guessed
    }

    /// Gives each column that shows others the strictest class of theirs: a name does not change what is seen under it. Where
    /// people gave a class, that is the class, and what shows the column goes by it. To be done again when classes are given.
    pub(crate) fn follow(&mut self, catalogue: &Catalogue) {
        let shows: BTreeMap<&ColumnRef, &[ColumnRef]> =
            catalogue.shows.iter().map(|shown| (&shown.column, shown.of.as_slice())).collect();
        let mut behind: BTreeMap<ColumnRef, (&Relation, &Column)> = BTreeMap::new();
        for relation in &catalogue.behind {
            let columns = relation.columns.iter();
            behind.extend(columns.map(|column| (relation.column_ref(&column.name), (relation, column))));
        }
        let column = |column: &ColumnRef| {
            let listed =
                catalogue.relation(&column.table).and_then(|relation| relation.column(&column.column));
            listed.or_else(|| behind.get(column).map(|(_, column)| *column))
        };
        let is_boolean = |one: &ColumnRef| column(one).is_some_and(|one| one.family == TypeFamily::Boolean);
        let mut found = Vec::new();
        for (start, of) in &shows {
            let mut strictest = ColumnClass::Plain;
            let mut seen: BTreeSet<&ColumnRef> = BTreeSet::from([*start]);
            let mut next: Vec<&ColumnRef> = of.iter().collect();
            while let Some(one) = next.pop() {
                // A truth value tells little of what it was made from.
                if !seen.insert(one) || is_boolean(start) && !is_boolean(one) {
                    continue;
                }
                let entry = self.entry(one);
                let guessed =
                    || behind.get(one).map(|(relation, column)| ColumnClass::guess(relation, column));
                let class = entry.map(|entry| entry.class).or_else(guessed).unwrap_or_default();
                strictest = strictest.max(class);
                if !entry.is_some_and(|entry| entry.by_hand) {
                    next.extend(shows.get(one).copied().into_iter().flatten());
                }
            }
            found.push(((*start).clone(), strictest));
        }
        for (column, class) in found {
            self.change(&column, |entry| entry.shown = class);
        }
    }

    /// Closes every table that shows a column of a closed one.
    pub(crate) fn close_what_shows(&mut self, catalogue: &Catalogue) {
        if self.closed.is_empty() {
            return;
        }
        loop {
            let showing = catalogue.shows.iter().filter(|shown| !self.closed.contains(&shown.column.table));
            let showing = showing.filter(|shown| shown.of.iter().any(|of| self.closed.contains(&of.table)));
            let tables: BTreeSet<TableRef> = showing.map(|shown| shown.column.table.clone()).collect();
            if tables.is_empty() {
                return;
            }
            self.closed.extend(tables);
        }
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
        self.change(column, |entry| (entry.class, entry.by_hand) = (class, true));
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
        self.entry(column).map_or(ColumnClass::Secret, Entry::class)
    }

    /// Whether the class of a column is that of what it shows, and not its own.
    #[must_use]
    pub fn is_shown_class(&self, column: &ColumnRef) -> bool {
        self.entry(column).is_some_and(|entry| entry.class() != entry.class)
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

    /// Whether a value of it may be told that nobody opted in for: a label of its enum type, which is schema, or the stored
    /// spelling of a value that a query named. A class does not change with where a value is written.
    #[must_use]
    pub fn may_tell(&self, column: &ColumnRef) -> bool {
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
    use airlock_types::catalogue::ShownColumn;

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
        assert!(!exposure.may_tell(&column("t", "status")));
    }

    #[test]
    fn what_shows_a_column_has_its_class_under_whatever_name() {
        let mut catalogue = Catalogue::default();
        for (table, columns) in [
            ("t", vec![testing::column("full_name", "text"), testing::column("city", "text")]),
            (
                "v",
                vec![
                    testing::column("label", "text"),
                    testing::column("town", "text"),
                    testing::column("known", "boolean"),
                ],
            ),
            ("w", vec![testing::column("what", "text")]),
            ("u", vec![testing::column("code", "text")]),
            ("parent", vec![testing::column("lbl", "text")]),
            ("child", vec![testing::column("lbl", "text")]),
        ] {
            catalogue.insert(testing::relation(table, columns));
        }
        let column = |table: &str, column: &str| ColumnRef {
            table: TableRef::new("public", table),
            column: column.into(),
        };
        catalogue.behind.push(testing::relation("unlisted", vec![testing::column("pwd_hash", "text")]));
        for (shown, of) in [
            (("v", "label"), vec![("t", "full_name"), ("t", "city")]),
            (("v", "town"), vec![("t", "city")]),
            (("v", "known"), vec![("t", "full_name")]),
            (("w", "what"), vec![("v", "label")]),
            (("u", "code"), vec![("unlisted", "pwd_hash")]),
            (("parent", "lbl"), vec![("child", "lbl")]),
            (("child", "lbl"), vec![("parent", "lbl")]),
        ] {
            let of = of.into_iter().map(|(table, name)| column(table, name)).collect();
            catalogue.shows.push(ShownColumn { column: column(shown.0, shown.1), of });
        }
        let mut exposure = Exposure::guess(&catalogue);
        let told = |exposure: &Exposure| {
            ["v.label", "v.town", "v.known", "w.what", "u.code", "parent.lbl", "child.lbl"].map(|name| {
                let (table, name) = name.split_once('.').unwrap();
                exposure.class(&column(table, name))
            })
        };
        use ColumnClass::{Amount, Personal, Plain, Secret};
        assert_eq!(told(&exposure), [Personal, Plain, Plain, Personal, Secret, Plain, Plain]);
        assert!(
            exposure.is_shown_class(&column("v", "label"))
                && !exposure.is_shown_class(&column("t", "full_name"))
        );
        for wanted in ["label", "town"] {
            exposure.want_values(&column("v", wanted));
        }
        assert_eq!(exposure.columns_to_read(), [column("v", "town")]);

        // A class that people gave is followed, and ends where people gave another.
        exposure.set_class(&column("v", "label"), Plain);
        exposure.set_class(&column("t", "city"), Amount);
        exposure.set_class(&column("parent", "lbl"), Personal);
        exposure.follow(&catalogue);
        assert_eq!(told(&exposure), [Plain, Amount, Plain, Plain, Secret, Personal, Personal]);

        exposure.close(&TableRef::new("public", "t"));
        exposure.close_what_shows(&catalogue);
        let closed: Vec<&str> = exposure.closed().map(|table| table.name.as_str()).collect();
        assert_eq!(closed, ["t", "v", "w"]);
    }
}
