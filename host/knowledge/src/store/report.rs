//! Reading the log: how it is going, what people say, what was decided.

use std::sync::Arc;

use airlock_types::{AskId, ContentHash, DomainName};

use super::error::StoreError;
use super::id::ItemId;
use super::log::FeedbackVerdict;
use super::pool::Pool;
use super::promote::Mode;
use super::rows::{get, moment, optional, word};

/// Rows of a page at most.
const PAGE: i64 = 1_000;

/// Reads the log and the decisions.
#[derive(Clone)]
pub struct Report {
    pub(super) pool: Arc<Pool>,
}

/// A line of the history.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DecisionRow {
    /// Its identity.
    pub id: ItemId,
    /// When.
    pub at: jiff::Timestamp,
    /// The domain.
    pub domain: DomainName,
    /// `example`, `lesson`, `golden`, `pack`.
    pub kind: String,
    /// The candidate it was about.
    pub candidate: Option<ItemId>,
    /// The curated item it was about, or made.
    pub curated: Option<ItemId>,
    /// What was decided.
    pub verdict: String,
    /// Hash of the content.
    pub hash: ContentHash,
    /// Hash of the content before an edit.
    pub hash_before: Option<ContentHash>,
    /// How.
    pub mode: Mode,
    /// Who.
    pub who: String,
    /// Why.
    pub why: String,
    /// On what evidence.
    pub evidence: serde_json::Value,
}

/// A verdict on an answer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FeedbackRow {
    /// Its identity.
    pub id: ItemId,
    /// When.
    pub at: jiff::Timestamp,
    /// The domain.
    pub domain: DomainName,
    /// The ask.
    pub ask: ItemId,
    /// The verdict.
    pub verdict: FeedbackVerdict,
    /// SQL that would be right.
    pub corrected_sql: Option<String>,
    /// In their words.
    pub note: Option<String>,
    /// Who.
    pub who: Option<String>,
    /// The question, while the ask is kept.
    pub question: Option<String>,
    /// The SQL that was judged, while the ask is kept.
    pub sql: Option<String>,
}

/// A finished ask, as far as a verdict on it needs it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct AskedRow {
    /// The ask.
    pub id: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// The question.
    pub question: String,
    /// The SQL behind the answer.
    pub sql: Option<String>,
    /// How it ended.
    pub outcome: String,
    /// Lessons that took part.
    pub lessons: Vec<String>,
    /// Examples that took part.
    pub examples: Vec<String>,
    /// Whether it was answered to somebody in particular.
    pub under_identity: bool,
}

/// A request that left for a model because of an ask and is not in its record.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SentRow {
    /// When.
    pub at: jiff::Timestamp,
    /// What for.
    pub purpose: String,
    /// The role that was asked for.
    pub role: String,
    /// The model.
    pub model: String,
    /// SHA-256 of its whole text.
    pub hash: ContentHash,
    /// Characters of it.
    pub characters: i64,
}

/// A use of airlock.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SignalRow {
    /// Its identity.
    pub id: ItemId,
    /// When.
    pub at: jiff::Timestamp,
    /// What was used.
    pub tool: super::SignalTool,
    /// The ask.
    pub ask: Option<ItemId>,
    /// The question.
    pub question: Option<String>,
    /// The SQL.
    pub sql: Option<String>,
    /// Relations it reads.
    pub tables: Vec<String>,
    /// How it ended.
    pub outcome: String,
    /// What failed on the way.
    pub error_types: Vec<String>,
}

/// How an item fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct UseCounts {
    /// The item.
    pub item: ItemId,
    /// Asks it took part in.
    pub hits: i64,
    /// Those that turned out right.
    pub succeeded: i64,
    /// Those that turned out wrong.
    pub failed: i64,
    /// The last time.
    pub last: Option<jiff::Timestamp>,
}

impl Report {
    pub(super) const fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    /// What a replay of an ask needs, as JSON, while the ask is kept: none when there is no such ask, `null` when it was not
    /// recorded.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn record(&self, ask: AskId) -> Result<Option<serde_json::Value>, StoreError> {
        let query = "SELECT coalesce(record::text, 'null') AS record FROM airlock.asks WHERE id = $1";
        let lease = self.pool.lease().await?;
        let row = lease.query_opt(query, &[&ItemId::from(ask)]).await.map_err(|error| lease.error(&error))?;
        let Some(row) = row else { return Ok(None) };
        let record: &str = get(&row, "record")?;
        serde_json::from_str(record).map(Some).map_err(|error| super::rows::unreadable("record", error))
    }

    /// One finished ask, while it is kept.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn asked(&self, ask: AskId) -> Result<Option<AskedRow>, StoreError> {
        let query = "SELECT id, domain, question, final_sql, outcome, lessons, examples, under_identity
            FROM airlock.asks WHERE id = $1";
        let lease = self.pool.lease().await?;
        let row = lease.query_opt(query, &[&ItemId::from(ask)]).await.map_err(|error| lease.error(&error))?;
        row.map(|row| {
            Ok(AskedRow {
                id: get(&row, "id")?,
                domain: word(&row, "domain")?,
                question: get(&row, "question")?,
                sql: get(&row, "final_sql")?,
                outcome: get(&row, "outcome")?,
                lessons: get(&row, "lessons")?,
                examples: get(&row, "examples")?,
                under_identity: get(&row, "under_identity")?,
            })
        })
        .transpose()
    }

    /// What left for models because of an ask and is not in its record, the first request first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn sent(&self, ask: AskId) -> Result<Vec<SentRow>, StoreError> {
        let query = "SELECT at, purpose, role, model, hash, characters FROM airlock.sent WHERE ask = $1
            ORDER BY at, id LIMIT $2";
        let lease = self.pool.lease().await?;
        let rows =
            lease.query(query, &[&ItemId::from(ask), &PAGE]).await.map_err(|error| lease.error(&error))?;
        let read = |row: &tokio_postgres::Row| {
            Ok(SentRow {
                at: moment(row, "at")?,
                purpose: get(row, "purpose")?,
                role: get(row, "role")?,
                model: get(row, "model")?,
                hash: word(row, "hash")?,
                characters: get(row, "characters")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// The history of a domain, or of one item of it, the last decision first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn decisions(
        &self,
        domain: &DomainName,
        item: Option<ItemId>,
        limit: i64,
    ) -> Result<Vec<DecisionRow>, StoreError> {
        let query = "SELECT id, at, domain, kind, candidate, curated, verdict, hash, hash_before, mode, who, why, evidence::text
            FROM airlock.decisions WHERE domain = $1 AND ($2::uuid IS NULL OR candidate = $2 OR curated = $2)
            ORDER BY at DESC, id DESC LIMIT $3";
        let lease = self.pool.lease().await?;
        let rows = lease.query(query, &[&domain.as_str(), &item, &limit.clamp(1, PAGE)]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter()
            .map(|row| {
                Ok(DecisionRow {
                    id: get(row, "id")?,
                    at: moment(row, "at")?,
                    domain: word(row, "domain")?,
                    kind: get(row, "kind")?,
                    candidate: get(row, "candidate")?,
                    curated: get(row, "curated")?,
                    verdict: get(row, "verdict")?,
                    hash: word(row, "hash")?,
                    hash_before: optional(row, "hash_before")?,
                    mode: word(row, "mode")?,
                    who: get(row, "who")?,
                    why: get(row, "why")?,
                    evidence: serde_json::from_str(get(row, "evidence")?)
                        .map_err(|error| super::rows::unreadable("evidence", error))?,
                })
            })
            .collect()
    }

    /// Verdicts of a domain since a moment, the last first, with what they are about. Those on asks that were answered to
    /// somebody in particular are left out: nothing is learned from these.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn feedback(
        &self,
        domain: &DomainName,
        since: jiff::Timestamp,
        limit: i64,
    ) -> Result<Vec<FeedbackRow>, StoreError> {
        let query = "SELECT f.id, f.at, f.domain, f.ask, f.verdict, f.corrected_sql, f.note, f.who, a.question, a.final_sql
            FROM airlock.feedback f LEFT JOIN airlock.asks a ON a.id = f.ask AND a.domain = f.domain
            WHERE f.domain = $1 AND f.at >= $2 AND NOT coalesce(a.under_identity, false)
            ORDER BY f.at DESC LIMIT $3";
        let lease = self.pool.lease().await?;
        let since = super::rows::system(since);
        let rows = lease.query(query, &[&domain.as_str(), &since, &limit.clamp(1, PAGE)]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter()
            .map(|row| {
                Ok(FeedbackRow {
                    id: get(row, "id")?,
                    at: moment(row, "at")?,
                    domain: word(row, "domain")?,
                    ask: get(row, "ask")?,
                    verdict: word(row, "verdict")?,
                    corrected_sql: get(row, "corrected_sql")?,
                    note: get(row, "note")?,
                    who: get(row, "who")?,
                    question: get(row, "question")?,
                    sql: get(row, "final_sql")?,
                })
            })
            .collect()
    }

    /// Signals of a domain after one that was read before, the oldest first: what mining reads, a page at a time.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn signals(
        &self,
        domain: &DomainName,
        after: Option<ItemId>,
        limit: i64,
    ) -> Result<Vec<SignalRow>, StoreError> {
        let query =
            "SELECT id, at, tool, ask, question, sql, tables, outcome, error_types FROM airlock.signals
            WHERE domain = $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3";
        let lease = self.pool.lease().await?;
        let rows = lease.query(query, &[&domain.as_str(), &after, &limit.clamp(1, PAGE)]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter()
            .map(|row| {
                Ok(SignalRow {
                    id: get(row, "id")?,
                    at: moment(row, "at")?,
                    tool: word(row, "tool")?,
                    ask: get(row, "ask")?,
                    question: get(row, "question")?,
                    sql: get(row, "sql")?,
                    tables: get(row, "tables")?,
                    outcome: get(row, "outcome")?,
                    error_types: get(row, "error_types")?,
                })
            })
            .collect()
    }

    /// How the items of a domain fared, those most used first; only these, where some are named. An ask counts once, by the
    /// last that is known of it.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn uses(
        &self,
        domain: &DomainName,
        items: Option<&[ItemId]>,
        limit: i64,
    ) -> Result<Vec<UseCounts>, StoreError> {
        let query = "WITH each AS (
                SELECT item, coalesce(ask, id) AS ask, max(at) FILTER (WHERE event = 'recalled') AS last,
                    (array_agg(event ORDER BY at DESC, id DESC) FILTER (WHERE event <> 'recalled'))[1] AS verdict
                FROM airlock.uses WHERE domain = $1 AND ($2::uuid[] IS NULL OR item = ANY ($2)) GROUP BY 1, 2)
            SELECT item, count(*) AS hits, count(*) FILTER (WHERE verdict = 'succeeded') AS succeeded,
                count(*) FILTER (WHERE verdict = 'failed') AS failed, max(last) AS last
            FROM each GROUP BY item ORDER BY hits DESC, item LIMIT $3";
        let lease = self.pool.lease().await?;
        let rows = lease.query(query, &[&domain.as_str(), &items, &limit.clamp(1, 100_000)]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter()
            .map(|row| {
                Ok(UseCounts {
                    item: get(row, "item")?,
                    hits: get(row, "hits")?,
                    succeeded: get(row, "succeeded")?,
                    failed: get(row, "failed")?,
                    last: super::rows::optional_moment(row, "last")?,
                })
            })
            .collect()
    }
}
