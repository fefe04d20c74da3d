//! The door: the only way SQL from outside reaches a database is as an approved text.

use airlock_gate::{Approved, RowLimit};
use airlock_types::Failure;

use crate::run::{ResultSet, RunOptions, Statement, Timed};
use crate::source::Source;

impl<'a> Statement<'a> {
    fn of(approved: &'a Approved, options: &RunOptions) -> Self {
        let rows = options.max_rows.map_or(approved.cap(), |wanted| wanted.min(approved.cap()));
        let portal_rows = match approved.limit() {
            // A row limit of the protocol keeps parallel workers away, so a text that stops by itself gets none.
            RowLimit::Within => 0,
            RowLimit::Portal => rows.saturating_add(1),
        };
        Self { text: approved.text(), sql: approved.statement(), rows, portal_rows }
    }
}

impl Source {
    /// Runs a checked text in a read-only transaction that is rolled back. Dropping the future cancels the statement on
    /// the server.
    ///
    /// # Errors
    /// A [`Failure`] of the text as it was written; values of rows are cut out of its message.
    pub async fn run(&self, approved: &Approved, options: &RunOptions) -> Result<ResultSet, Failure> {
        self.run_timed(approved, options).await.result
    }

    /// The same, with how long a connection was waited for and how long the server was at work, failed or not.
    pub async fn run_timed(&self, approved: &Approved, options: &RunOptions) -> Timed {
        self.run_statement(&Statement::of(approved, options), options).await
    }
}
