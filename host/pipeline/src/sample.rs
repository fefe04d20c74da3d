//! A few rows of a table for somebody who is about to write SQL: of the columns whose values the domain permits to be shown,
//! through the same gate and rules as any SQL.

use airlock_knowledge::exposure::SAMPLE_CHARACTERS;
use airlock_knowledge::pack::RowsToModel;
use airlock_knowledge::{ColumnClass, TableView};
use airlock_types::ask::ResultColumn;
use airlock_types::query::QueryRequest;
use airlock_types::text::shorten;
use airlock_types::{ColumnRef, DomainName, TableRef, cell};
use serde_json::Value;
use thiserror::Error;

use crate::asker::Asker;
use crate::domain::Domain;
use crate::host::{AskError, Host};
use crate::query::QueryError;

/// A few rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// What was run.
    pub sql: String,
    /// Columns of `rows`.
    pub columns: Vec<ResultColumn>,
    /// Rows; a long value is cut.
    pub rows: Vec<Vec<Value>>,
    /// Whether the table has more.
    pub truncated: bool,
    /// Columns whose values are not shown, and why.
    pub withheld: Vec<(String, &'static str)>,
}

/// Why there is no sample.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// It cannot be begun.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// No such table.
    #[error("there is no table `{0}` in this domain")]
    UnknownTable(TableRef),
    /// Nothing of it may be shown.
    #[error(
        "no value of `{0}` may be shown: the domain permits none of its columns. Ask `describe_table` for its columns, or \
         have the owner of the domain permit samples ([egress] in domain.toml)"
    )]
    NothingPermitted(TableRef),
    /// The text did not run.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Why the values of a column are not shown; `None` when they are.
fn withheld(domain: &Domain, column: &ColumnRef) -> Option<&'static str> {
    let exposure = domain.knowledge().exposure();
    if exposure.row_security(column) {
        return Some("rows of this table are hidden by a policy");
    }
    if exposure.is_closed(&column.table) {
        return Some(
            "a column whose class the pack names is gone, and it may be in this table by another name",
        );
    }
    match exposure.class(column) {
        ColumnClass::Personal => Some("it tells something about a person"),
        ColumnClass::Secret => Some("it is secret"),
        ColumnClass::Amount => Some("it is an amount of money"),
        ColumnClass::Plain => {
            let rows_permitted = domain.knowledge().settings().egress.rows_to_model == RowsToModel::Head;
            (!rows_permitted && !exposure.may_sample(column))
                .then_some("the domain did not permit its values")
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The statement for the columns that may be shown; `None` when there are none.
fn statement(view: &TableView, shown: &[&str], rows: u32) -> Option<String> {
    if shown.is_empty() {
        return None;
    }
    let columns: Vec<String> = shown.iter().map(|name| quoted(name)).collect();
    let table = format!("{}.{}", quoted(&view.table.schema), quoted(&view.table.name));
    // One more tells whether there are more; the wanted number is held by the run.
    Some(format!("SELECT {} FROM {table} LIMIT {}", columns.join(", "), rows.saturating_add(1)))
}

/// A value as a sample shows it.
fn cut(value: Value) -> Value {
    match cell::text(&value) {
        Some(text) if text.chars().count() > SAMPLE_CHARACTERS => shorten(&text, SAMPLE_CHARACTERS).into(),
        _ => value,
    }
}

impl Host {
    /// A few rows of a table. It is not a question anybody asked, so nothing is learned from it.
    ///
    /// # Errors
    /// When there is no such table, none of its columns may be shown, or the statement does not run.
    pub async fn sample(
        &self,
        domain: Option<&DomainName>,
        table: &TableRef,
        rows: u32,
        asker: &Asker,
    ) -> Result<Sample, SampleError> {
        let domain = self.served(domain)?.fresh().await;
        let _place = self.place()?;
        let unknown = || SampleError::UnknownTable(table.clone());
        let view = domain.knowledge().view(table).ok_or_else(unknown)?;
        let (mut shown, mut hidden) = (Vec::new(), Vec::new());
        for column in &view.columns {
            let reference = ColumnRef { table: table.clone(), column: column.name.clone() };
            match withheld(&domain, &reference) {
                None => shown.push(column.name.as_str()),
                Some(why) => hidden.push((column.name.clone(), why)),
            }
        }
        let sql =
            statement(view, &shown, rows).ok_or_else(|| SampleError::NothingPermitted(table.clone()))?;
        let approved =
            domain.gate().check(&sql).map_err(|rejection| QueryError::from((&rejection, sql.as_str())))?;
        let request = QueryRequest { sql, domain: Some(domain.name().clone()), max_rows: Some(rows) };
        let (result, _, _) = self.run_own(&domain, &approved, &request, asker).await?;
        let cells = |row: Vec<Value>| row.into_iter().map(cut).collect();
        Ok(Sample {
            sql: request.sql,
            columns: result.columns,
            rows: result.rows.into_iter().map(cells).collect(),
            truncated: result.truncated,
            withheld: hidden,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_value_is_cut_and_a_short_one_is_left() {
        for (value, want) in [
            (json!(null), json!(null)),
            (json!(5), json!(5)),
            (json!("short"), json!("short")),
            (json!(true), json!(true)),
        ] {
            assert_eq!(cut(value), want);
        }
        let long = cut(json!("x".repeat(100)));
        assert!(long.as_str().unwrap().chars().count() <= SAMPLE_CHARACTERS + 1, "{long}");
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
