//! Letting what is old go, and forgetting what somebody wants forgotten.

use std::sync::Arc;

use airlock_types::AskId;

use super::error::StoreError;
use super::id::ItemId;
use super::pool::Pool;
use super::rows::words;

/// Rows that go in one statement, so that no lock is held for long.
const BATCH: i32 = 5_000;

words! {
    /// What grows old. Decisions and uses never do.
    Aged {
        /// Logged asks.
        Asks = "asks",
        /// Signals.
        Signals = "signals",
        /// Verdicts.
        Feedback = "feedback",
        /// Candidates that were put away as duplicates.
        Duplicates = "duplicates",
        /// Sessions that have ended.
        Sessions = "sessions",
        /// Conversations nobody went on with.
        Conversations = "conversations",
    }
}

/// Lets what is old go. It reads nothing: it calls two functions.
#[derive(Clone)]
pub struct Janitor {
    pool: Arc<Pool>,
}

impl Janitor {
    pub(super) const fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    /// Lets rows from before `until` go. The number that went.
    ///
    /// # Errors
    /// When the store is away; what went before that stays gone.
    pub async fn retain(&self, what: Aged, until: jiff::Timestamp) -> Result<i64, StoreError> {
        let lease = self.pool.lease().await?;
        let until = super::rows::system(until);
        let mut gone = 0;
        loop {
            let row =
                lease.query_one("SELECT airlock.retain($1, $2, $3)", &[&what.as_str(), &until, &BATCH]).await;
            let went: i64 = row.map_err(|error| lease.error(&error))?.get(0);
            gone += went;
            if went < i64::from(BATCH) {
                return Ok(gone);
            }
        }
    }

    /// Takes an ask out of the log, the signals, the feedback and the conversations. The number of rows that went.
    ///
    /// # Errors
    /// When the store is away.
    pub async fn forget_ask(&self, ask: AskId) -> Result<i64, StoreError> {
        let lease = self.pool.lease().await?;
        let row = lease.query_one("SELECT airlock.forget_ask($1)", &[&ItemId::from(ask)]).await;
        Ok(row.map_err(|error| lease.error(&error))?.get(0))
    }
}
