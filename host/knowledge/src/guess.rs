//! Joins guessed from names and types, for schemas that declare no foreign keys. A guess is never verified, and where two
//! tables could be meant there is none.

use std::collections::{BTreeMap, HashSet};

use airlock_types::catalogue::{Column, Relation, RelationKind, TypeFamily};
use airlock_types::{Catalogue, ColumnRef, TableRef};

use crate::index::abbreviations::expansions;
use crate::index::words::{Word, name_parts, words};
use crate::joins::Join;
use crate::pack::BoundJoin;

/// Parts of table names that say what kind of table it is and not what its rows are.
const TABLE_AFFIXES: &[&str] = &[
    "tbl", "table", "t", "tb", "dim", "fact", "fct", "vw", "v", "view", "master", "mst", "mstr", "lkp",
    "lookup", "ref",
];

/// Names of keys that say nothing about whose key they are.
const BARE_KEYS: &[&str] =
    &["id", "code", "cd", "no", "num", "number", "key", "name", "uuid", "guid", "seq", "type", "year"];

/// A key of one column and the table it belongs to.
struct Key<'a> {
    relation: &'a Relation,
    column: &'a Column,
}

/// Joins that names and types suggest for columns that no known join begins at.
pub(crate) fn guess_joins(catalogue: &Catalogue, known: &[Join]) -> Vec<BoundJoin> {
    let taken: HashSet<ColumnRef> = known
        .iter()
        .flat_map(|join| {
            join.from_columns
                .iter()
                .map(|column| ColumnRef { table: join.from.clone(), column: column.clone() })
        })
        .collect();
    let keys = Keys::of(catalogue);
    let mut joins = Vec::new();
    for relation in catalogue.iter() {
        for column in &relation.columns {
            if taken.contains(&relation.column_ref(&column.name)) {
                continue;
            }
            if let Some(key) = keys.meant_by(relation, column) {
                joins.push(BoundJoin {
                    from: relation.table.clone(),
                    from_columns: vec![column.name.clone()],
                    to: key.relation.table.clone(),
                    to_columns: vec![key.column.name.clone()],
                    to_is_key: true,
                    note: None,
                });
            }
        }
    }
    joins
}

/// Keys by their own name and by the name of their table.
struct Keys<'a> {
    keys: Vec<Key<'a>>,
    by_name: BTreeMap<String, Vec<usize>>,
    by_table: BTreeMap<String, Vec<usize>>,
}

/// The column that tells the rows of a relation apart: its primary key, if that is one column. The key of a partitioned table
/// must hold what it is partitioned by, mostly a time; what is left without that is the key that people mean.
fn key_of(relation: &Relation) -> Option<&Column> {
    let mut key = relation.primary_key.iter().filter_map(|name| relation.column(name));
    if relation.kind != RelationKind::PartitionedTable {
        return key.next().filter(|_| relation.primary_key.len() == 1);
    }
    let is_time = |column: &&Column| matches!(column.family, TypeFamily::Date | TypeFamily::Timestamp);
    let mut rest = key.by_ref().filter(|column| !is_time(column));
    rest.next().filter(|_| rest.next().is_none())
}

impl<'a> Keys<'a> {
    fn of(catalogue: &'a Catalogue) -> Self {
        let mut found = Self { keys: Vec::new(), by_name: BTreeMap::new(), by_table: BTreeMap::new() };
        for relation in catalogue.iter() {
            let Some(column) = key_of(relation) else { continue };
            let index = found.keys.len();
            found.keys.push(Key { relation, column });
            found.by_name.entry(column.name.to_lowercase()).or_default().push(index);
            for stem in table_stems(&relation.table) {
                found.by_table.entry(stem).or_default().push(index);
            }
        }
        found
    }

    /// The key a column refers to, when its name leaves no doubt.
    fn meant_by(&self, relation: &Relation, column: &Column) -> Option<&Key<'a>> {
        let parts = name_parts(&column.name);
        let named = column.name.to_lowercase();
        let by_name = self.by_name.get(&named).filter(|_| !BARE_KEYS.contains(&named.as_str()));
        let by_table: HashSet<usize> = owner_stems(&parts)
            .iter()
            .filter_map(|stem| self.by_table.get(stem))
            .flatten()
            .filter(|index| self.keys.get(**index).is_some_and(|key| same_kind_of_key(key, &parts, &named)))
            .copied()
            .collect();
        let own_key = matches!(relation.primary_key.as_slice(), [name] if *name == column.name);
        let mut best: Vec<(u8, usize)> = Vec::new();
        let candidates: HashSet<usize> = by_name.into_iter().flatten().chain(&by_table).copied().collect();
        for index in candidates {
            let Some(key) = self.keys.get(index) else { continue };
            let itself = key.relation.table == relation.table;
            if itself || !same_type(key.column, column) {
                continue;
            }
            let table_says = by_table.contains(&index);
            let name_says = key.column.name.to_lowercase() == named && !BARE_KEYS.contains(&named.as_str());
            // Two tables with the same key may be one thing in two parts, or an archive of each other.
            if own_key && !table_says {
                continue;
            }
            let near = u8::from(key.relation.table.schema == relation.table.schema);
            best.push((u8::from(table_says) * 4 + u8::from(name_says) * 2 + near, index));
        }
        best.sort_by(|a, b| b.cmp(a));
        match best.as_slice() {
            [(_, only)] => self.keys.get(*only),
            [(first, index), (second, _), ..] if first > second => self.keys.get(*index),
            _ => None,
        }
    }
}

/// `customer_id` refers to a key called `id` or `customer_id`, and `customer_code` to one called `code`, not to each other's.
fn same_kind_of_key(key: &Key<'_>, parts: &[Word], named: &str) -> bool {
    let key_parts = name_parts(&key.column.name);
    match (key_parts.last(), parts.last()) {
        (Some(key_last), Some(last)) => {
            key_last.folded == last.folded || key.column.name.to_lowercase() == named
        }
        _ => false,
    }
}

fn same_type(left: &Column, right: &Column) -> bool {
    const INTEGERS: [&str; 3] = ["int2", "int4", "int8"];
    const TEXTS: [&str; 3] = ["text", "varchar", "bpchar"];
    let both = |kind: [&str; 3]| {
        kind.contains(&left.type_name.name.as_str()) && kind.contains(&right.type_name.name.as_str())
    };
    !left.is_array && !right.is_array && (left.type_name == right.type_name || both(INTEGERS) || both(TEXTS))
}

/// What a table's name says its rows are: its stems, with and without the parts that name a kind of table.
fn table_stems(table: &TableRef) -> Vec<String> {
    let parts = name_parts(&table.name);
    let bare: Vec<&Word> =
        parts.iter().filter(|part| !TABLE_AFFIXES.contains(&part.folded.as_str())).collect();
    let mut stems = vec![joined(parts.iter())];
    stems.push(joined(bare.iter().copied()));
    stems.push(long_form(bare.into_iter()));
    stems.sort();
    stems.dedup();
    stems.retain(|stem| !stem.is_empty());
    stems
}

/// Whose key a column is, by its name without the last part: every tail of it, as written and with abbreviations
/// written out. `billing_cust_id`: `bill custom`, `cust`, `customer`.
fn owner_stems(parts: &[Word]) -> Vec<String> {
    let Some((_, owner)) = parts.split_last() else { return Vec::new() };
    let mut stems = Vec::new();
    for start in 0..owner.len() {
        let tail = owner.get(start..).unwrap_or_default();
        stems.push(joined(tail.iter()));
        stems.push(long_form(tail.iter()));
    }
    stems.dedup();
    stems
}

fn joined<'w>(parts: impl Iterator<Item = &'w Word>) -> String {
    let stems: Vec<&str> = parts.map(|part| part.stem.as_str()).collect();
    stems.join(" ")
}

fn long_form<'w>(parts: impl Iterator<Item = &'w Word>) -> String {
    let stems: Vec<String> = parts
        .map(|part| match expansions(&part.folded).first() {
            Some(long) => joined(words(long).iter()),
            None => part.stem.clone(),
        })
        .collect();
    stems.join(" ")
}
