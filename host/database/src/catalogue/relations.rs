//! Relations, their columns and keys.

use std::collections::{BTreeMap, HashMap};

use airlock_types::catalogue::{Column, ForeignKey, Relation, RelationKind};
use airlock_types::{Catalogue, TableRef};
use postgres_protocol::message::backend::DataRowBody;

use super::Record;
use super::names::Types;
use crate::error::DatabaseError;

/// The relations a scope lists: `$1` schemas (all when empty), `$2` and `$3` the schemas and names of `only`.
macro_rules! listed {
    () => {
        "WITH RECURSIVE listed AS MATERIALIZED (
  SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples, c.relpages, c.relrowsecurity,
         pg_catalog.has_table_privilege(c.oid, 'SELECT') AS whole
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f')
     AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'airlock')
     AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
     AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
     AND ($1::pg_catalog.text[] = '{}' OR n.nspname = ANY ($1::pg_catalog.text[]))
     AND CASE WHEN $2::pg_catalog.text[] = '{}' THEN
           NOT c.relispartition OR NOT EXISTS (
             SELECT FROM pg_catalog.pg_class p JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace
              WHERE p.oid = pg_catalog.pg_partition_root(c.oid)
                AND pg_catalog.has_schema_privilege(pn.oid, 'USAGE')
                AND pg_catalog.has_any_column_privilege(p.oid, 'SELECT')
                AND ($1::pg_catalog.text[] = '{}' OR pn.nspname = ANY ($1::pg_catalog.text[])))
         ELSE (n.nspname::pg_catalog.text, c.relname::pg_catalog.text) IN (
             SELECT * FROM ROWS FROM (pg_catalog.unnest($2::pg_catalog.text[]), pg_catalog.unnest($3::pg_catalog.text[])) AS o)
         END)
"
    };
}
pub(super) use listed;

/// What a relation shows rows of: a view of what its rules read, a parent of its partitions and of what inherits from it.
macro_rules! shows {
    () => {
        "(SELECT w.ev_class AS relation, d.refobjid AS shown
       FROM pg_catalog.pg_rewrite w
       JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
                                  AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      UNION ALL
     SELECT i.inhparent, i.inhrelid FROM pg_catalog.pg_inherits i)"
    };
}
pub(crate) use shows;

/// A relation has row security when anything has of which it shows rows. Of a parent's policies alone PostgreSQL asks where the
/// parent is read, and yet the rows of a child with policies of its own are not for everybody.
pub(super) const RELATIONS: &str = concat!(
    listed!(),
    ", reads AS (
  SELECT l.oid AS view, l.oid AS relation FROM listed l
   UNION
  SELECT r.view, s.shown FROM reads r JOIN ",
    shows!(),
    " s ON s.relation = r.relation)
SELECT l.oid, l.nspname, l.relname, l.relkind, pg_catalog.obj_description(l.oid, 'pg_class'),
       CASE WHEN l.relkind = 'v' OR l.reltuples < 0 OR (l.reltuples = 0 AND l.relpages = 0 AND l.relkind <> 'p') THEN NULL
            WHEN l.relkind = 'p' THEN (
              SELECT sum(greatest(leaf.reltuples, 0))::pg_catalog.int8
                FROM pg_catalog.pg_partition_tree(l.oid) t JOIN pg_catalog.pg_class leaf ON leaf.oid = t.relid
               WHERE t.isleaf HAVING bool_or(leaf.relpages > 0))
            ELSE l.reltuples::pg_catalog.int8 END,
       EXISTS (SELECT FROM reads r JOIN pg_catalog.pg_class c ON c.oid = r.relation
                WHERE r.view = l.oid AND c.relrowsecurity)
  FROM listed l
 ORDER BY l.relname, pg_catalog.array_position($1::pg_catalog.text[], l.nspname::pg_catalog.text), l.nspname"
);

pub(super) const COLUMNS: &str = concat!(
    listed!(),
    "SELECT l.oid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.atttypid, a.attnotnull,
       a.attgenerated <> '', pg_catalog.col_description(a.attrelid, a.attnum)
  FROM listed l JOIN pg_catalog.pg_attribute a ON a.attrelid = l.oid
 WHERE a.attnum > 0 AND NOT a.attisdropped
   AND (l.whole OR pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'))
 ORDER BY l.oid, a.attnum"
);

/// Primary and unique keys: constraints and bare unique indexes alike, whole columns only, without a condition.
pub(super) const KEYS: &str = concat!(
    listed!(),
    "SELECT l.oid, i.indisprimary,
       (SELECT pg_catalog.json_agg(k.attnum::pg_catalog.text ORDER BY k.place)
          FROM pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k(attnum, place)
         WHERE k.place <= i.indnkeyatts)
  FROM listed l JOIN pg_catalog.pg_index i ON i.indrelid = l.oid
 WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
 ORDER BY l.oid, i.indexrelid"
);

/// Foreign keys between listed relations.
pub(super) const FOREIGN_KEYS: &str = concat!(
    listed!(),
    "SELECT l.oid, f.oid, pg_catalog.to_json(k.conkey::pg_catalog.text[]), pg_catalog.to_json(k.confkey::pg_catalog.text[])
  FROM listed l
  JOIN pg_catalog.pg_constraint k ON k.conrelid = l.oid AND k.contype = 'f'
  JOIN listed f ON f.oid = k.confrelid
 ORDER BY l.oid, k.conname"
);

/// Relations that are not listed and have the name of one that is, or, having a row type, of a type. Indexes, sequences
/// and composite types have names in the same space, and the reader needs no grant to stumble over one.
pub(super) const NAMESAKES: &str = concat!(
    listed!(),
    "SELECT n.nspname, c.relname, c.reltype <> 0 AND c.relkind <> 'c'
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.oid NOT IN (SELECT l.oid FROM listed l)
   AND (c.relname IN (SELECT l.relname FROM listed l)
        OR c.reltype <> 0 AND c.relkind <> 'c' AND c.relname IN (
             SELECT t.typname FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_class r ON r.oid = t.typrelid
              WHERE t.typnamespace <> 'pg_catalog'::pg_catalog.regnamespace AND (r.oid IS NULL OR r.relkind = 'c')))
 ORDER BY c.relname, n.nspname"
);

/// The namesakes that an unqualified name finds before the listed relation, or before the type.
pub(super) fn shadowing(
    namesakes: &[DataRowBody],
    catalogue: &Catalogue,
) -> Result<Vec<TableRef>, DatabaseError> {
    let rank = |schema: &str| catalogue.search_path.iter().position(|entry| entry == schema);
    let mut found = Vec::new();
    for row in namesakes {
        let record = Record::read(row)?;
        let namesake = record.table(0, 1);
        let before = |other: &TableRef| {
            namesake.schema == "pg_catalog"
                || rank(&namesake.schema)
                    .is_some_and(|here| rank(&other.schema).is_some_and(|rank| here < rank))
        };
        // A row type hides a type of its name as a relation hides a relation.
        let mut types = catalogue.types.iter().filter(|of| record.flag(2) && of.name.name == namesake.name);
        if catalogue.resolve(&namesake.name).is_some_and(|listed| before(&listed.table))
            || types.any(|of| before(&of.name))
        {
            found.push(namesake);
        }
    }
    Ok(found)
}

/// Builds the relations.
pub(super) fn read(
    relations: &[DataRowBody],
    columns: &[DataRowBody],
    keys: &[DataRowBody],
    foreign_keys: &[DataRowBody],
    types: &Types,
) -> Result<BTreeMap<String, Vec<Relation>>, DatabaseError> {
    let mut order = Vec::with_capacity(relations.len());
    let mut by_oid: HashMap<u32, Relation> = HashMap::with_capacity(relations.len());
    for row in relations {
        let record = Record::read(row)?;
        let kind = match record.letter(3) {
            'v' => RelationKind::View,
            'm' => RelationKind::MaterializedView,
            'p' => RelationKind::PartitionedTable,
            'f' => RelationKind::ForeignTable,
            _ => RelationKind::Table,
        };
        order.push(record.number(0));
        by_oid.insert(
            record.number(0),
            Relation {
                table: record.table(1, 2),
                kind,
                comment: record.optional(4),
                row_estimate: record.get(5).and_then(|rows| rows.parse().ok()),
                columns: Vec::new(),
                primary_key: Vec::new(),
                unique_keys: Vec::new(),
                foreign_keys: Vec::new(),
                row_security: record.flag(6),
            },
        );
    }
    // Keys speak of columns by number; a key with a column that is not listed is not listed either.
    let mut names: HashMap<(u32, String), String> = HashMap::new();
    for row in columns {
        let record = Record::read(row)?;
        let Some(relation) = by_oid.get_mut(&record.number(0)) else { continue };
        let column = column(&record, types);
        names.insert((record.number(0), record.text(1)), column.name.clone());
        relation.columns.push(column);
    }
    let named = |oid: u32, numbers: Vec<String>| -> Option<Vec<String>> {
        numbers.into_iter().map(|number| names.get(&(oid, number)).cloned()).collect()
    };
    for row in keys {
        let record = Record::read(row)?;
        let oid = record.number(0);
        let (Some(relation), Some(key)) = (by_oid.get_mut(&oid), named(oid, record.texts(2))) else {
            continue;
        };
        if record.flag(1) {
            relation.primary_key = key;
        } else if !key.is_empty() && !relation.unique_keys.contains(&key) {
            relation.unique_keys.push(key);
        }
    }
    for row in foreign_keys {
        let record = Record::read(row)?;
        let (here, there) = (record.number(0), record.number(1));
        let references: Option<TableRef> = by_oid.get(&there).map(|relation| relation.table.clone());
        let columns = (named(here, record.texts(2)), named(there, record.texts(3)));
        let (Some(relation), Some(references), (Some(columns), Some(referenced_columns))) =
            (by_oid.get_mut(&here), references, columns)
        else {
            continue;
        };
        let key = ForeignKey { columns, references, referenced_columns };
        if !relation.foreign_keys.contains(&key) {
            relation.foreign_keys.push(key);
        }
    }
    let mut by_name: BTreeMap<String, Vec<Relation>> = BTreeMap::new();
    for relation in order.iter().filter_map(|oid| by_oid.remove(oid)) {
        by_name.entry(relation.table.name.clone()).or_default().push(relation);
    }
    Ok(by_name)
}

pub(super) fn column(record: &Record<'_>, types: &Types) -> Column {
    let described = types.column(record.number(4));
    Column {
        name: record.text(2),
        sql_type: record.text(3),
        type_name: described.name,
        is_array: described.is_array,
        family: described.family,
        nullable: !record.flag(5),
        generated: record.flag(6),
        comment: record.optional(7),
        enum_labels: described.enum_labels,
    }
}
