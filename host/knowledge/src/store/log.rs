//! Appending to the log. The role may insert and nothing else: it cannot even read what it wrote.

use std::sync::Arc;

use airlock_types::{AskId, DomainName};

use super::error::StoreError;
use super::id::ItemId;
use super::pool::{Lease, Pool};
use super::rows::words;

/// Appends asks, signals, feedback and uses.
#[derive(Clone)]
pub struct Log {
    pub(super) pool: Arc<Pool>,
}

words! {
    /// What a signal came from.
    SignalTool {
        /// A question.
        Ask = "ask",
        /// A person's own SQL.
        Query = "query",
        /// SQL that was only checked.
        DryRun = "dry_run",
    }
}

/// One use of airlock, for mining.
#[derive(Debug, Clone)]
pub struct Signal<'a> {
    /// The domain.
    pub domain: &'a DomainName,
    /// What was used.
    pub tool: SignalTool,
    /// The ask, if it was one.
    pub ask: Option<AskId>,
    /// The question.
    pub question: Option<&'a str>,
    /// The SQL.
    pub sql: Option<&'a str>,
    /// Relations it reads.
    pub tables: &'a [String],
    /// How it ended.
    pub outcome: &'a str,
    /// What failed on the way.
    pub error_types: &'a [String],
}

words! {
    /// What somebody thinks of an answer.
    FeedbackVerdict {
        /// It is right.
        Right = "right",
        /// It is wrong.
        Wrong = "wrong",
        /// It is wrong, and this SQL would be right.
        Corrected = "corrected",
    }
}

/// Somebody's verdict on an answer. It is recorded and does nothing else.
#[derive(Debug, Clone)]
pub struct Feedback<'a> {
    /// The domain.
    pub domain: &'a DomainName,
    /// The ask.
    pub ask: AskId,
    /// The verdict.
    pub verdict: FeedbackVerdict,
    /// SQL that would be right.
    pub corrected_sql: Option<&'a str>,
    /// In their words.
    pub note: Option<&'a str>,
    /// Who, where that is known.
    pub who: Option<&'a str>,
    /// Where it was given.
    pub surface: &'a str,
}

words! {
    /// What happened to an item that took part in an ask.
    UseEvent {
        /// It entered a context or a component's hands.
        Recalled = "recalled",
        /// The ask turned out right.
        Succeeded = "succeeded",
        /// The ask turned out wrong.
        Failed = "failed",
    }
}

/// A curated item took part in an ask, or it is known how that went.
#[derive(Debug, Clone)]
pub struct Use<'a> {
    /// The domain.
    pub domain: &'a DomainName,
    /// The item.
    pub item: ItemId,
    /// The ask.
    pub ask: Option<AskId>,
    /// What happened.
    pub event: UseEvent,
}

impl Log {
    pub(super) const fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    /// Appends a signal.
    ///
    /// # Errors
    /// When the store is away.
    pub async fn signal(&self, signal: &Signal<'_>) -> Result<(), StoreError> {
        let lease = self.pool.lease().await?;
        let query =
            "INSERT INTO airlock.signals (id, domain, tool, ask, question, sql, tables, outcome, error_types)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let ask = signal.ask.map(ItemId::from);
        let given = (signal.domain.as_str(), signal.tool.as_str());
        let appended = lease
            .execute(
                query,
                &[
                    &ItemId::now(),
                    &given.0,
                    &given.1,
                    &ask,
                    &signal.question,
                    &signal.sql,
                    &signal.tables,
                    &signal.outcome,
                    &signal.error_types,
                ],
            )
            .await;
        once(&lease, appended)
    }

    /// Appends a verdict.
    ///
    /// # Errors
    /// When the store is away, or a text is longer than it may be.
    pub async fn feedback(&self, feedback: &Feedback<'_>) -> Result<ItemId, StoreError> {
        let id = ItemId::now();
        let lease = self.pool.lease().await?;
        let query =
            "INSERT INTO airlock.feedback (id, domain, ask, verdict, corrected_sql, note, who, surface)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let given = (feedback.domain.as_str(), ItemId::from(feedback.ask), feedback.verdict.as_str());
        let appended = lease
            .execute(
                query,
                &[
                    &id,
                    &given.0,
                    &given.1,
                    &given.2,
                    &feedback.corrected_sql,
                    &feedback.note,
                    &feedback.who,
                    &feedback.surface,
                ],
            )
            .await;
        once(&lease, appended).map(|()| id)
    }

    /// Appends uses, all or none.
    ///
    /// # Errors
    /// When the store is away.
    pub async fn uses(&self, uses: &[Use<'_>]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        let ids: Vec<ItemId> = uses.iter().map(|_| ItemId::now()).collect();
        let domains: Vec<&str> = uses.iter().map(|each| each.domain.as_str()).collect();
        let items: Vec<ItemId> = uses.iter().map(|each| each.item).collect();
        let asks: Vec<Option<ItemId>> = uses.iter().map(|each| each.ask.map(ItemId::from)).collect();
        let events: Vec<&str> = uses.iter().map(|each| each.event.as_str()).collect();
        let lease = self.pool.lease().await?;
        let query = "INSERT INTO airlock.uses (id, domain, item, ask, event)
            SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[])";
        let appended = lease.execute(query, &[&ids, &domains, &items, &asks, &events]).await;
        once(&lease, appended)
    }
}

/// A row that is there already was appended before the connection was lost.
fn once(lease: &Lease, appended: Result<u64, tokio_postgres::Error>) -> Result<(), StoreError> {
    match appended {
        Ok(_) => Ok(()),
        Err(error) if error.code().is_some_and(|code| code.code() == "23505") => Ok(()),
        Err(error) => Err(lease.error(&error)),
    }
}
