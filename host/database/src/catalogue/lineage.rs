//! What columns of views show, and which tables have each other's rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use airlock_gate::Part;
use airlock_types::catalogue::{Relation, ShownColumn};
use airlock_types::{Catalogue, ColumnRef, TableRef};
use postgres_protocol::message::backend::DataRowBody;

use super::Record;
use super::names::Types;
use super::relations::{column, listed};
use crate::error::DatabaseError;

/// `viewed`: the listed views, and all that they read, however many views are in between.
macro_rules! viewed {
    () => {
        ", viewed AS (
  SELECT l.oid AS relation FROM listed l WHERE l.relkind IN ('v', 'm')
   UNION
  SELECT d.refobjid
    FROM viewed r
    JOIN pg_catalog.pg_rewrite w ON w.ev_class = r.relation
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
                               AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass)
"
    };
}

/// The views among them with their definitions.
pub(super) const DEFINITIONS: &str = concat!(
    listed!(),
    viewed!(),
    "SELECT n.nspname, c.relname, pg_catalog.pg_get_viewdef(c.oid)
  FROM viewed r JOIN pg_catalog.pg_class c ON c.oid = r.relation JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('v', 'm')
 ORDER BY n.nspname, c.relname"
);

/// What each of these views reads: a column, or a relation without saying of which columns.
pub(super) const READ: &str = concat!(
    listed!(),
    viewed!(),
    "SELECT DISTINCT vn.nspname, v.relname, n.nspname, c.relname, a.attname
  FROM viewed r
  JOIN pg_catalog.pg_class v ON v.oid = r.relation
  JOIN pg_catalog.pg_namespace vn ON vn.oid = v.relnamespace
  JOIN pg_catalog.pg_rewrite w ON w.ev_class = r.relation
  JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
                             AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid <> w.ev_class
  JOIN pg_catalog.pg_class c ON c.oid = d.refobjid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
 ORDER BY 1, 2, 3, 4, 5"
);

/// The columns of these views and of all that they read.
pub(super) const COLUMNS: &str = concat!(
    listed!(),
    viewed!(),
    "SELECT c.oid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.atttypid, a.attnotnull,
       a.attgenerated <> '', pg_catalog.col_description(a.attrelid, a.attnum), n.nspname, c.relname
  FROM viewed r
  JOIN pg_catalog.pg_class c ON c.oid = r.relation
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
 WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY n.nspname, c.relname, a.attnum"
);

/// Listed tables that inherit from listed ones, partitions included.
pub(super) const INHERITANCE: &str = concat!(
    listed!(),
    "SELECT p.nspname, p.relname, c.nspname, c.relname
  FROM pg_catalog.pg_inherits i JOIN listed p ON p.oid = i.inhparent JOIN listed c ON c.oid = i.inhrelid
 ORDER BY 1, 2, 3, 4"
);

/// What a view reads.
#[derive(Default)]
struct Reads {
    columns: BTreeSet<ColumnRef>,
    relations: BTreeSet<TableRef>,
}

/// Adds to a catalogue what its columns show.
pub(super) fn read(
    catalogue: &mut Catalogue,
    definitions: &[DataRowBody],
    reads: &[DataRowBody],
    columns: &[DataRowBody],
    inheritance: &[DataRowBody],
    types: &Types,
) -> Result<(), DatabaseError> {
    let mut known: HashMap<TableRef, Vec<String>> = HashMap::new();
    let mut behind: BTreeMap<TableRef, Relation> = BTreeMap::new();
    for row in columns {
        let record = Record::read(row)?;
        let (table, column) = (record.table(8, 9), column(&record, types));
        known.entry(table.clone()).or_default().push(column.name.clone());
        let is_listed =
            catalogue.relation(&table).is_some_and(|listed| listed.column(&column.name).is_some());
        if !is_listed {
            behind
                .entry(table.clone())
                .or_insert_with(|| Relation::table(table, Vec::new()))
                .columns
                .push(column);
        }
    }
    let mut of_views: HashMap<TableRef, Reads> = HashMap::new();
    for row in reads {
        let record = Record::read(row)?;
        let (table, reads) = (record.table(2, 3), of_views.entry(record.table(0, 1)).or_default());
        match record.optional(4) {
            Some(column) => reads.columns.insert(ColumnRef { table, column }),
            None => reads.relations.insert(table),
        };
    }
    let mut shows: BTreeMap<ColumnRef, BTreeSet<ColumnRef>> = BTreeMap::new();
    for row in definitions {
        let record = Record::read(row)?;
        let (view, definition) = (record.table(0, 1), record.text(2));
        let reads = of_views.remove(&view).unwrap_or_default();
        let shown = airlock_gate::lineage(&definition).unwrap_or_default();
        for name in known.get(&view).into_iter().flatten() {
            let mut named = shown.iter().filter(|shown| shown.name == *name);
            let parts = match (named.next(), named.next()) {
                (Some(one), None) => one.of.as_deref(),
                _ => None,
            };
            let of = parts.and_then(|parts| made_from(parts, &known));
            let of = of.unwrap_or_else(|| reads.everything(&definition, &known));
            shows.insert(ColumnRef { table: view.clone(), column: name.clone() }, of);
        }
    }
    for row in inheritance {
        let record = Record::read(row)?;
        let tables = (record.table(0, 1), record.table(2, 3));
        let (Some(parent), Some(child)) = (catalogue.relation(&tables.0), catalogue.relation(&tables.1))
        else {
            continue;
        };
        for column in parent.columns.iter().filter(|column| child.column(&column.name).is_some()) {
            // The rows of the child are the parent's too: what is said of a column of one holds of the other's.
            let (one, other) = (parent.column_ref(&column.name), child.column_ref(&column.name));
            shows.entry(one.clone()).or_default().insert(other.clone());
            shows.entry(other).or_default().insert(one);
        }
    }
    let shown = shows.into_iter().filter(|(_, of)| !of.is_empty());
    catalogue.shows =
        shown.map(|(column, of)| ShownColumn { column, of: of.into_iter().collect() }).collect();
    catalogue.behind = behind.into_values().collect();
    Ok(())
}

fn all(table: &TableRef, known: &HashMap<TableRef, Vec<String>>) -> impl Iterator<Item = ColumnRef> {
    let columns = known.get(table).into_iter().flatten();
    columns.map(|column| ColumnRef { table: table.clone(), column: column.clone() })
}

/// The columns that an output column is made from; `None` when a name in the definition is not found.
fn made_from(parts: &[Part], known: &HashMap<TableRef, Vec<String>>) -> Option<BTreeSet<ColumnRef>> {
    let is_known =
        |column: &&ColumnRef| known.get(&column.table).is_some_and(|names| names.contains(&column.column));
    let mut of = BTreeSet::new();
    for part in parts {
        let found: Vec<ColumnRef> = match part {
            Part::Column(column) => Some(column).filter(is_known).cloned().into_iter().collect(),
            Part::Either(columns) => columns.iter().filter(is_known).cloned().collect(),
            Part::Row(table) => all(table, known).collect(),
        };
        if found.is_empty() {
            return None;
        }
        of.extend(found);
    }
    Some(of)
}

impl Reads {
    /// Every column that the view may show. A whole row is written with a star, and which columns it has is not recorded.
    fn everything(&self, definition: &str, known: &HashMap<TableRef, Vec<String>>) -> BTreeSet<ColumnRef> {
        let mut of = self.columns.clone();
        if definition.contains(".*") {
            // Of a relation of which a column is recorded the relation is not.
            let tables = self.columns.iter().map(|column| &column.table).chain(&self.relations);
            of.extend(tables.flat_map(|table| all(table, known)));
        }
        of
    }
}
