//! What all names of a place begin with and none is told apart by: `sb` of `sbcustomer`, `cust` of `sbcustname`.

use std::collections::BTreeMap;

use airlock_types::TableRef;

use crate::tables::TableView;

/// Least names that must share a beginning before it is one.
const NAMES: usize = 3;
/// Shortest beginning.
const SHORTEST: usize = 2;
/// What must be left of a table's name.
const REST: usize = 3;

/// The shared beginnings of a domain's names.
#[derive(Debug, Default)]
pub(crate) struct Affixes {
    schemas: BTreeMap<String, String>,
}

impl Affixes {
    pub(crate) fn of(views: &[TableView]) -> Self {
        let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for view in views.iter().filter(|view| view.in_use) {
            names.entry(&view.table.schema).or_default().push(&view.table.name);
        }
        let schemas = names
            .into_iter()
            .filter_map(|(schema, names)| {
                let shared = shared(&names).filter(|shared| {
                    names.iter().all(|name| name.chars().count() >= shared.chars().count() + REST)
                })?;
                Some((schema.to_owned(), shared.to_owned()))
            })
            .collect();
        Self { schemas }
    }

    /// A table's name without what its schema's names begin with.
    pub(crate) fn table<'a>(&self, table: &'a TableRef) -> &'a str {
        self.schemas
            .get(&table.schema)
            .and_then(|shared| table.name.strip_prefix(shared))
            .unwrap_or(&table.name)
    }

    /// The beginning to take off the names of a table's columns.
    pub(crate) fn columns(&self, view: &TableView) -> String {
        let names: Vec<&str> = view.columns.iter().map(|column| column.name.as_str()).collect();
        if let Some(shared) = shared(&names) {
            return shared.to_owned();
        }
        let schema = self.schemas.get(&view.table.schema).map_or("", String::as_str);
        if names.iter().all(|name| name.starts_with(schema)) { schema.to_owned() } else { String::new() }
    }
}

/// What all of several names begin with.
fn shared<'a>(names: &[&'a str]) -> Option<&'a str> {
    if names.len() < NAMES {
        return None;
    }
    let (first, last) = (names.iter().min()?, names.iter().max()?);
    let end = first
        .char_indices()
        .zip(last.chars())
        .find(|((_, a), b)| a != b)
        .map_or(first.len().min(last.len()), |((at, _), _)| at);
    first.get(..end).filter(|shared| shared.chars().count() >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_share_a_beginning_or_none() {
        for (names, want) in [
            (&["sbcustomer", "sbticker", "sbprice"][..], Some("sb")),
            (&["tbl_a", "tbl_b", "tbl_c"], Some("tbl_")),
            (&["orders", "customers", "items"], None),
            (&["sba", "sbb"], None),
            (&["é1", "é2", "é3"], None),
        ] {
            assert_eq!(shared(names), want, "{names:?}");
        }
    }
}
