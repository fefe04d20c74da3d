//! Values of columns that a domain opened: for the value index and for samples shown to a model.
//!
//! Fixed SQL with quoted names. A relation with row security, or one that shows rows of such a relation, is never asked: what
//! it shows depends on who asks.

use airlock_types::ColumnRef;

use crate::catalogue::shows;
use crate::error::DatabaseError;
use crate::exchange::Begin;
use crate::settings::identifier;
use crate::source::Source;
use crate::wire::{Step, cells};

/// Most values of one column.
pub const VALUE_LIMIT: u32 = 50_000;

/// Longest value that is worth finding by its text, in characters.
pub const VALUE_LENGTH: u32 = 200;

/// Characters of a sample.
pub const SAMPLE_LENGTH: u32 = 40;

/// Rows a sample is taken from.
const SAMPLED_ROWS: u32 = 1_000;

/// One row when the relation exists and may be read: whether row security stands before any row it shows.
const GUARDED: &str = concat!(
    "WITH RECURSIVE reads AS (
  SELECT c.oid
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
     AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'airlock')
   UNION
  SELECT s.shown FROM reads r JOIN ",
    shows!(),
    " s ON s.relation = r.oid)
SELECT pg_catalog.bool_or(c.relrowsecurity)
  FROM reads r JOIN pg_catalog.pg_class c ON c.oid = r.oid
HAVING count(*) > 0"
);

impl Source {
    /// The distinct values of a column, in the order of their bytes, at most `limit` of them; longer ones are left out.
    ///
    /// # Errors
    /// [`DatabaseError::RowSecurity`], [`DatabaseError::UnknownRelation`], or what the server said.
    pub async fn distinct_values(
        &self,
        column: &ColumnRef,
        limit: u32,
    ) -> Result<Vec<String>, DatabaseError> {
        self.refuse_row_security(column).await?;
        let (name, table) = quoted(column);
        let sql = format!(
            "SELECT v FROM (SELECT DISTINCT {name}::pg_catalog.text AS v FROM {table} WHERE {name} IS NOT NULL) AS all_values \
             WHERE pg_catalog.length(v) <= {VALUE_LENGTH} ORDER BY v COLLATE \"C\" LIMIT {}",
            limit.min(VALUE_LIMIT)
        );
        self.first_column(&sql).await
    }

    /// A few values of a column from the first rows at hand, each cut to [`SAMPLE_LENGTH`] characters.
    ///
    /// # Errors
    /// As [`Source::distinct_values`].
    pub async fn samples(&self, column: &ColumnRef, limit: u32) -> Result<Vec<String>, DatabaseError> {
        self.refuse_row_security(column).await?;
        let (name, table) = quoted(column);
        let sql = format!(
            "SELECT DISTINCT pg_catalog.\"left\"(v, {SAMPLE_LENGTH}) COLLATE \"C\" AS sample \
             FROM (SELECT {name}::pg_catalog.text AS v FROM {table} WHERE {name} IS NOT NULL LIMIT {SAMPLED_ROWS}) AS first_rows \
             ORDER BY sample LIMIT {}",
            limit.min(SAMPLED_ROWS)
        );
        self.first_column(&sql).await
    }

    async fn refuse_row_security(&self, column: &ColumnRef) -> Result<(), DatabaseError> {
        let parameters = [Some(column.table.schema.as_str()), Some(column.table.name.as_str())];
        let steps = [Step::new(GUARDED, &parameters)];
        let results = self.fixed(Begin::Reading, &self.fixed_settings(), &steps).await?;
        let answer = match results.first().and_then(|result| result.rows.first()) {
            Some(row) => cells(row).next().transpose()?.flatten(),
            None => None,
        };
        match answer {
            Some("f") => Ok(()),
            Some(_) => Err(DatabaseError::RowSecurity(column.table.clone())),
            None => Err(DatabaseError::UnknownRelation(column.table.clone())),
        }
    }

    async fn first_column(&self, sql: &str) -> Result<Vec<String>, DatabaseError> {
        let results = self.fixed(Begin::Reading, &self.fixed_settings(), &[Step::new(sql, &[])]).await?;
        let mut values = Vec::new();
        for row in results.iter().flat_map(|result| &result.rows) {
            values.extend(cells(row).next().transpose()?.flatten().map(str::to_owned));
        }
        Ok(values)
    }
}

fn quoted(column: &ColumnRef) -> (String, String) {
    let table = format!("{}.{}", identifier(&column.table.schema), identifier(&column.table.name));
    (identifier(&column.column), table)
}
