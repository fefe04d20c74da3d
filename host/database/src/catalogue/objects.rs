//! Functions, operators and casts outside `pg_catalog`: what the gate must know to tell them from PostgreSQL's own.

use airlock_types::catalogue::{CastObject, FunctionObject, OperatorObject, ReturnedColumn, Returns};
use airlock_types::{ContentHash, TableRef};
use postgres_protocol::message::backend::DataRowBody;

use super::Record;
use crate::error::DatabaseError;

/// An aggregate has no definition that `pg_get_functiondef` could print, and an extension's functions are judged by their
/// extension. Of what is returned an array is told by its element's type; `OUT` arguments are four texts each.
pub(super) const FUNCTIONS: &str = "\
SELECT n.nspname, p.proname, p.prokind, x.extname,
       (SELECT pg_catalog.json_agg(pg_catalog.format_type(a.type, NULL) ORDER BY a.place)
          FROM pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) WITH ORDINALITY AS a(type, place)),
       CASE WHEN p.prokind <> 'a' AND x.oid IS NULL THEN pg_catalog.pg_get_functiondef(p.oid) END,
       rn.nspname, r.typname, r.oid <> p.prorettype,
       (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(
                 coalesce(p.proargnames[a.place], ''), on_.nspname, o.typname, CASE WHEN o.oid <> a.type THEN 't' ELSE 'f' END)
                 ORDER BY a.place)
          FROM ROWS FROM (pg_catalog.unnest(p.proallargtypes), pg_catalog.unnest(p.proargmodes))
                 WITH ORDINALITY AS a(type, mode, place)
          JOIN pg_catalog.pg_type ot ON ot.oid = a.type
          JOIN pg_catalog.pg_type o
            ON o.oid = CASE WHEN ot.typcategory = 'A' AND ot.typlen = -1 THEN ot.typelem ELSE ot.oid END
          JOIN pg_catalog.pg_namespace on_ ON on_.oid = o.typnamespace
         WHERE a.mode IN ('o', 'b', 't'))
  FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_type rt ON rt.oid = p.prorettype
  JOIN pg_catalog.pg_type r
    ON r.oid = CASE WHEN rt.typcategory = 'A' AND rt.typlen = -1 THEN rt.typelem ELSE rt.oid END
  JOIN pg_catalog.pg_namespace rn ON rn.oid = r.typnamespace
  LEFT JOIN pg_catalog.pg_depend d
         ON d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
  LEFT JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid
 WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'airlock')
 ORDER BY n.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid)";

pub(super) const OPERATORS: &str = "\
SELECT n.nspname, o.oprname,
       CASE WHEN o.oprleft <> 0 THEN pg_catalog.format_type(o.oprleft, NULL) END,
       CASE WHEN o.oprright <> 0 THEN pg_catalog.format_type(o.oprright, NULL) END, x.extname
  FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
  LEFT JOIN pg_catalog.pg_depend d
         ON d.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND d.objid = o.oid AND d.deptype = 'e'
  LEFT JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid
 WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'airlock')
 ORDER BY n.nspname, o.oprname, 3, 4";

pub(super) const CASTS: &str = "\
SELECT sn.nspname, s.typname, tn.nspname, t.typname, k.castcontext, fn.nspname, x.extname
  FROM pg_catalog.pg_cast k
  JOIN pg_catalog.pg_type s ON s.oid = k.castsource JOIN pg_catalog.pg_namespace sn ON sn.oid = s.typnamespace
  JOIN pg_catalog.pg_type t ON t.oid = k.casttarget JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
  LEFT JOIN pg_catalog.pg_proc f ON f.oid = k.castfunc LEFT JOIN pg_catalog.pg_namespace fn ON fn.oid = f.pronamespace
  LEFT JOIN pg_catalog.pg_depend d
         ON d.classid = 'pg_catalog.pg_cast'::pg_catalog.regclass AND d.objid = k.oid AND d.deptype = 'e'
  LEFT JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid
 WHERE sn.nspname <> 'pg_catalog' OR tn.nspname <> 'pg_catalog' OR fn.nspname <> 'pg_catalog'
 ORDER BY 1, 2, 3, 4";

/// Each with the schema of its objects, where the reader may use that and it is not PostgreSQL's own.
pub(super) const EXTENSIONS: &str = "\
SELECT x.extname, n.nspname
  FROM pg_catalog.pg_extension x
  LEFT JOIN pg_catalog.pg_namespace n
         ON n.oid = x.extnamespace AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'airlock')
        AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
 ORDER BY x.extname";

pub(super) fn functions(rows: &[DataRowBody]) -> Result<Vec<FunctionObject>, DatabaseError> {
    rows.iter()
        .map(|row| {
            let record = Record::read(row)?;
            Ok(FunctionObject {
                schema: record.text(0),
                name: record.text(1),
                kind: record.letter(2),
                extension: record.optional(3),
                arguments: record.texts(4),
                body: record.get(5).map(ContentHash::of),
                returns: Some(Returns {
                    type_name: record.table(6, 7),
                    is_array: record.flag(8),
                    columns: returned_columns(record.get(9)),
                }),
            })
        })
        .collect()
}

/// `OUT` arguments, each as its name, schema and name of its type, and whether it is an array.
fn returned_columns(json: Option<&str>) -> Vec<ReturnedColumn> {
    let columns: Vec<[String; 4]> = json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    columns
        .into_iter()
        .map(|[name, schema, of, array]| ReturnedColumn {
            name,
            type_name: TableRef::new(schema, of),
            is_array: array == "t",
        })
        .collect()
}

pub(super) fn operators(rows: &[DataRowBody]) -> Result<Vec<OperatorObject>, DatabaseError> {
    rows.iter()
        .map(|row| {
            let record = Record::read(row)?;
            Ok(OperatorObject {
                schema: record.text(0),
                name: record.text(1),
                left: record.optional(2),
                right: record.optional(3),
                extension: record.optional(4),
            })
        })
        .collect()
}

pub(super) fn casts(rows: &[DataRowBody]) -> Result<Vec<CastObject>, DatabaseError> {
    rows.iter()
        .map(|row| {
            let record = Record::read(row)?;
            Ok(CastObject {
                source: record.table(0, 1),
                target: record.table(2, 3),
                context: record.letter(4),
                function_schema: record.optional(5),
                extension: record.optional(6),
            })
        })
        .collect()
}
