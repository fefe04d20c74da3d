//! Named checks of a data source: each claim of the envelope is tried, not assumed. `doctor` and health serve them.

mod reader;
mod server;

use airlock_types::Catalogue;
use serde::Serialize;

use crate::error::DatabaseError;
use crate::exchange::{Begin, Rows};
use crate::settings::Settings;
use crate::source::Source;
use crate::wire::{Step, cells};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// What must hold holds.
    Passed,
    /// It does not; `remedy` says what to do.
    Failed,
    /// It could not be tried here; `found` says why.
    Skipped,
}

/// One claim and how trying it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable name, such as `reader-cannot-write`.
    pub name: &'static str,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// What was tried.
    pub tried: String,
    /// What came of it.
    pub found: String,
    /// What to do when it failed.
    pub remedy: Option<String>,
}

/// What came of trying a claim.
enum Finding {
    Holds(String),
    Broken { found: String, remedy: String },
    CannotTry(String),
}

impl Check {
    fn new(name: &'static str, tried: impl Into<String>, finding: Result<Finding, DatabaseError>) -> Self {
        let (outcome, found, remedy) = match finding {
            Ok(Finding::Holds(found)) => (CheckOutcome::Passed, found, None),
            Ok(Finding::Broken { found, remedy }) => (CheckOutcome::Failed, found, Some(remedy)),
            Ok(Finding::CannotTry(why)) => (CheckOutcome::Skipped, why, None),
            Err(error) => {
                let remedy = "see to the connection first, then run the checks again".to_owned();
                (CheckOutcome::Failed, error.to_string(), Some(remedy))
            }
        };
        Self { name, outcome, tried: tried.into(), found, remedy }
    }
}

impl Source {
    /// Tries every claim about the server and the reader, for the relations of this catalogue.
    pub async fn checks(&self, catalogue: &Catalogue) -> Vec<Check> {
        vec![
            Check::new("server-is-postgresql", "the server's version", server::is_postgresql(self).await),
            Check::new("server-version", "its number is from 13 to 18", server::version(self).await),
            Check::new(
                "standard-conforming-strings",
                "a backslash in a literal is a backslash",
                server::strings(self).await,
            ),
            Check::new(
                "timeouts-hold",
                "a statement that sleeps past its timeout",
                server::timeouts(self).await,
            ),
            Check::new(
                "read-only-holds",
                "a temporary table in a read-only transaction",
                server::read_only(self).await,
            ),
            Check::new(
                "settings-end-with-transaction",
                "a setting made in one transaction, read in the next",
                server::reset(self).await,
            ),
            Check::new(
                "reader-is-small",
                "attributes, memberships and ownership of the reader",
                reader::is_small(self, catalogue).await,
            ),
            Check::new(
                "reader-cannot-write",
                "INSERT, UPDATE and DELETE of no row in a read-write transaction",
                reader::cannot_write(self, catalogue).await,
            ),
            Check::new(
                "reader-cannot-create",
                "a new table in each schema",
                reader::cannot_create(self, catalogue).await,
            ),
            Check::new(
                "row-security-applies",
                "whether row policies hold for the reader",
                reader::row_security(self, catalogue).await,
            ),
        ]
    }

    /// Runs one statement of a check.
    async fn check_statement(
        &self,
        begin: Begin,
        settings: &Settings,
        sql: &str,
    ) -> Result<Rows, DatabaseError> {
        let mut results = self.fixed(begin, settings, &[Step::new(sql, &[])]).await?;
        Ok(results.pop().unwrap_or_default())
    }
}

/// The first cell of a result.
fn first_cell(rows: &Rows) -> Result<String, DatabaseError> {
    let Some(row) = rows.rows.first() else { return Ok(String::new()) };
    Ok(cells(row).next().transpose()?.flatten().unwrap_or_default().to_owned())
}

/// The first column of a result.
fn first_column(rows: &Rows) -> Result<Vec<String>, DatabaseError> {
    rows.rows
        .iter()
        .map(|row| Ok(cells(row).next().transpose()?.flatten().unwrap_or_default().to_owned()))
        .collect()
}
