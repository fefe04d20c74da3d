//! Letting what is old go, and forgetting what somebody wants forgotten.

use std::sync::Arc;

use airlock_types::AskId;
use tokio_postgres::Client;

use super::error::StoreError;
use super::id::ItemId;
use super::pool::Pool;
use super::rows::words;

/// One host at a time lets what is old go.
const LOCK: i64 = 0x6169_726c_6f63_6b03;

/// Rows that go in one statement, so that no lock is held for long.
const BATCH: i32 = 5_000;

words! {
    /// What grows old. Decisions and uses never do.
    Aged {
        /// Logged asks.
        Asks = "asks",
        /// What was sent to models after the answers of asks, or beside them.
        Sent = "sent",
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
        retained(&lease, what, until).await.map_err(|error| lease.error(&error))
    }

    /// Lets all of this go, in this order. Of several hosts one does it at a time: none when another is at it.
    ///
    /// # Errors
    /// When the store is away; what went before that stays gone.
    pub async fn sweep(
        &self,
        ages: &[(Aged, jiff::Timestamp)],
    ) -> Result<Option<Vec<(Aged, i64)>>, StoreError> {
        // A connection of its own: the lock goes with it, whatever happens.
        let line = self.pool.line().await?;
        let failed = |error: tokio_postgres::Error| StoreError::of(self.pool.duty, &error);
        let held =
            line.client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await.map_err(failed)?;
        if !held.get::<_, bool>(0) {
            return Ok(None);
        }
        let mut gone = Vec::with_capacity(ages.len());
        for (what, until) in ages {
            gone.push((*what, retained(&line.client, *what, *until).await.map_err(failed)?));
        }
        Ok(Some(gone))
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

/// Lets rows go, a bounded number in each statement.
async fn retained(client: &Client, what: Aged, until: jiff::Timestamp) -> Result<i64, tokio_postgres::Error> {
    let until = super::rows::system(until);
    let mut gone = 0;
    loop {
        let row =
            client.query_one("SELECT airlock.retain($1, $2, $3)", &[&what.as_str(), &until, &BATCH]).await?;
        let went: i64 = row.get(0);
        gone += went;
        if went < i64::from(BATCH) {
            return Ok(gone);
        }
    }
}
