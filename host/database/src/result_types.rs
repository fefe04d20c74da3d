//! What the columns of a result are: names as `format_type` prints them, and how their values are written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::encode::Encoding;
use crate::error::DatabaseError;
use crate::exchange::{Begin, Limits, exchange};
use crate::settings::{Settings, text_array};
use crate::wire::{Field, Step, Wire, cells};

/// A type with its modifier.
type Key = (u32, i32);

/// A type of a result column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultType {
    pub(crate) name: String,
    pub(crate) encoding: Encoding,
}

/// Types seen before. A type keeps its number for its life, and numbers are not given twice.
#[derive(Default)]
pub(crate) struct ResultTypes(Mutex<HashMap<Key, Arc<ResultType>>>);

/// Types remembered; a database has some hundreds.
const REMEMBERED: usize = 20_000;

/// For each type its name and, for a true array, the base type and the delimiter of its elements. A domain over a domain
/// is followed to its end; an array of records is a pseudo-type to PostgreSQL, and an array to everybody else.
const LOOK_UP: &str = "\
SELECT w.oid, w.modifier, pg_catalog.format_type(w.oid, w.modifier), e.typdelim, (
         WITH RECURSIVE base AS (
           SELECT e.oid, e.typtype, e.typbasetype
           UNION ALL
           SELECT b.oid, b.typtype, b.typbasetype
             FROM base JOIN pg_catalog.pg_type b ON b.oid = base.typbasetype WHERE base.typtype = 'd')
         SELECT base.oid FROM base WHERE base.typtype <> 'd')
  FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) AS w(oid, modifier)
  LEFT JOIN pg_catalog.pg_type t ON t.oid = w.oid
  LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typlen = -1
        AND (t.typcategory = 'A' OR t.oid = 'pg_catalog._record'::pg_catalog.regtype)";

impl ResultTypes {
    /// The types of these columns, asking the server about those never seen.
    pub(crate) async fn of(
        &self,
        wire: &mut Wire,
        fields: &[Field],
        settings: &Settings,
        limits: Limits,
    ) -> Result<Vec<Arc<ResultType>>, DatabaseError> {
        let keys: Vec<Key> = fields.iter().map(|field| (field.type_oid, field.type_modifier)).collect();
        let unknown: Vec<Key> = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter().copied().filter(|key| !known.contains_key(key)).collect()
        };
        if !unknown.is_empty() {
            let found = look_up(wire, &unknown, settings, limits).await?;
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() + found.len() > REMEMBERED {
                known.clear();
            }
            known.extend(found);
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = || Arc::new(ResultType { name: "unknown".to_owned(), encoding: Encoding::Text });
        Ok(keys.iter().map(|key| known.get(key).cloned().unwrap_or_else(text)).collect())
    }
}

async fn look_up(
    wire: &mut Wire,
    keys: &[Key],
    settings: &Settings,
    limits: Limits,
) -> Result<Vec<(Key, Arc<ResultType>)>, DatabaseError> {
    let oids = text_array(keys.iter().map(|(oid, _)| oid.to_string()));
    let modifiers = text_array(keys.iter().map(|(_, modifier)| modifier.to_string()));
    let parameters = [Some(oids.as_str()), Some(modifiers.as_str())];
    let steps = [Step::new(LOOK_UP, &parameters)];
    let results = exchange(wire, Begin::Reading, settings, &steps, limits).await?;
    let mut found = Vec::new();
    for row in results.iter().flat_map(|result| &result.rows) {
        let row = cells(row).collect::<Result<Vec<_>, _>>()?;
        let [Some(oid), Some(modifier), name, delimiter, element] = row.as_slice() else { continue };
        let (Ok(oid), Ok(modifier)) = (oid.parse(), modifier.parse()) else { continue };
        let element = element.and_then(|oid| oid.parse().ok()).map(Encoding::of_scalar);
        let encoding = match (element, delimiter.and_then(|text| text.chars().next())) {
            (Some(element), Some(delimiter)) => Encoding::Array { element: Box::new(element), delimiter },
            _ => Encoding::of_scalar(oid),
        };
        let name = name.unwrap_or("unknown").to_owned();
        found.push(((oid, modifier), Arc::new(ResultType { name, encoding })));
    }
    Ok(found)
}
