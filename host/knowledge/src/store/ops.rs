//! Keys, sessions and conversations. A key or a session is known by its hash: the store never holds what opens it.

use std::sync::Arc;

use airlock_types::{AskId, ContentHash, DomainName};
use tokio_postgres::Row;

use super::error::StoreError;
use super::id::ItemId;
use super::pool::Pool;
use super::rows::{get, moment, optional_moment, word};

/// Keys, sessions, conversations.
#[derive(Clone)]
pub struct Ops {
    pool: Arc<Pool>,
}

/// A key to be kept.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// Its name, for people.
    pub name: &'a str,
    /// Hash of the key itself.
    pub hash: ContentHash,
    /// What it may do.
    pub scopes: &'a [String],
    /// Where; everywhere when empty.
    pub domains: &'a [DomainName],
    /// Who made it.
    pub made_by: &'a str,
    /// When it ends.
    pub expires_at: Option<jiff::Timestamp>,
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct KeyRow {
    /// Its identity.
    pub id: ItemId,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<String>,
    /// Where; everywhere when empty.
    pub domains: Vec<String>,
    /// When it was made.
    pub made_at: jiff::Timestamp,
    /// By whom.
    pub made_by: String,
    /// When it ends.
    pub expires_at: Option<jiff::Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<jiff::Timestamp>,
}

/// A session of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Hash of the session's secret.
    pub hash: ContentHash,
    /// The key it was opened with.
    pub key: Option<ItemId>,
    /// Hash of what its forms must carry.
    pub csrf_hash: ContentHash,
    /// When it ends.
    pub expires_at: jiff::Timestamp,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Conversation {
    /// Its identity.
    pub id: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// Whose it is.
    pub owner: Option<String>,
}

/// A turn of a conversation: what a follow-up refers to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Turn {
    /// The ask.
    pub ask: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// The question.
    pub question: String,
    /// The SQL behind the answer.
    pub sql: Option<String>,
    /// The sentence.
    pub answer: Option<String>,
}

fn key(row: &Row) -> Result<KeyRow, StoreError> {
    Ok(KeyRow {
        id: get(row, "id")?,
        name: get(row, "name")?,
        scopes: get(row, "scopes")?,
        domains: get(row, "domains")?,
        made_at: moment(row, "made_at")?,
        made_by: get(row, "made_by")?,
        expires_at: optional_moment(row, "expires_at")?,
        revoked_at: optional_moment(row, "revoked_at")?,
    })
}

const KEYS: &str =
    "SELECT id, name, scopes, domains, made_at, made_by, expires_at, revoked_at FROM airlock.api_keys";

impl Ops {
    pub(super) const fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    /// Keeps a key.
    ///
    /// # Errors
    /// When the store does not answer, or the name is empty or too long.
    pub async fn add_key(&self, new: &NewKey<'_>) -> Result<ItemId, StoreError> {
        let id = ItemId::now();
        let lease = self.pool.lease().await?;
        let query = "INSERT INTO airlock.api_keys (id, name, hash, scopes, domains, made_by, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let domains: Vec<&str> = new.domains.iter().map(DomainName::as_str).collect();
        let expires = new.expires_at.map(super::rows::system);
        let hash = new.hash.to_string();
        lease
            .execute(query, &[&id, &new.name, &hash, &new.scopes, &domains, &new.made_by, &expires])
            .await
            .map_err(|error| lease.error(&error))?;
        Ok(id)
    }

    /// The key with this hash, if it is there and may be used now.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn key(&self, hash: ContentHash) -> Result<Option<KeyRow>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!(
            "{KEYS} WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())"
        );
        let row = lease.query_opt(&query, &[&hash.to_string()]).await.map_err(|error| lease.error(&error))?;
        row.as_ref().map(key).transpose()
    }

    /// Every key, those taken back included.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!("{KEYS} ORDER BY id LIMIT 10000");
        let rows = lease.query(&query, &[]).await.map_err(|error| lease.error(&error))?;
        rows.iter().map(key).collect()
    }

    /// Takes a key back, and ends the sessions that were opened with it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such key, or it was taken back before.
    pub async fn revoke_key(&self, id: ItemId) -> Result<(), StoreError> {
        let mut lease = self.pool.lease().await?;
        let duty = lease.duty;
        let failed = |error: tokio_postgres::Error| StoreError::of(duty, &error);
        let work = lease.transaction().await.map_err(failed)?;
        let revoke =
            "UPDATE airlock.api_keys SET revoked_at = clock_timestamp() WHERE id = $1 AND revoked_at IS NULL";
        if work.execute(revoke, &[&id]).await.map_err(failed)? == 0 {
            return Err(StoreError::NotFound { what: "key in force", id });
        }
        work.execute("DELETE FROM airlock.sessions WHERE key = $1", &[&id]).await.map_err(failed)?;
        work.commit().await.map_err(failed)
    }

    /// Opens a session.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn open_session(&self, session: &SessionRow) -> Result<(), StoreError> {
        let lease = self.pool.lease().await?;
        let query = "INSERT INTO airlock.sessions (hash, key, csrf_hash, expires_at) VALUES ($1, $2, $3, $4)";
        let given = (
            session.hash.to_string(),
            session.csrf_hash.to_string(),
            super::rows::system(session.expires_at),
        );
        let opened = lease.execute(query, &[&given.0, &session.key, &given.1, &given.2]).await;
        opened.map(|_| ()).map_err(|error| lease.error(&error))
    }

    /// The session with this hash, if it has not ended.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn session(&self, hash: ContentHash) -> Result<Option<SessionRow>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = "SELECT hash, key, csrf_hash, expires_at FROM airlock.sessions
            WHERE hash = $1 AND expires_at > clock_timestamp()";
        let row = lease.query_opt(query, &[&hash.to_string()]).await.map_err(|error| lease.error(&error))?;
        row.map(|row| {
            Ok(SessionRow {
                hash: word(&row, "hash")?,
                key: get(&row, "key")?,
                csrf_hash: word(&row, "csrf_hash")?,
                expires_at: moment(&row, "expires_at")?,
            })
        })
        .transpose()
    }

    /// Ends a session.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn end_session(&self, hash: ContentHash) -> Result<(), StoreError> {
        let lease = self.pool.lease().await?;
        let ended = lease.execute("DELETE FROM airlock.sessions WHERE hash = $1", &[&hash.to_string()]).await;
        ended.map(|_| ()).map_err(|error| lease.error(&error))
    }

    /// Begins a conversation.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn begin_conversation(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let lease = self.pool.lease().await?;
        let query = "INSERT INTO airlock.conversations (id, domain, owner) VALUES ($1, $2, $3)";
        let given = (conversation.id, conversation.domain.as_str(), &conversation.owner);
        let begun = lease.execute(query, &[&given.0, &given.1, given.2]).await;
        begun.map(|_| ()).map_err(|error| lease.error(&error))
    }

    /// Adds a turn to a conversation of the same domain and owner.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it is not there or somebody else's.
    pub async fn add_turn(&self, of: &Conversation, turn: &Turn) -> Result<(), StoreError> {
        let lease = self.pool.lease().await?;
        let query = "WITH of AS (
                UPDATE airlock.conversations SET changed_at = clock_timestamp()
                WHERE id = $1 AND domain = $2 AND owner IS NOT DISTINCT FROM $3 RETURNING id)
            INSERT INTO airlock.turns (ask, conversation, domain, question, sql, answer) SELECT $4, id, $2, $5, $6, $7 FROM of";
        let domain = of.domain.as_str();
        let added = lease
            .execute(query, &[&of.id, &domain, &of.owner, &turn.ask, &turn.question, &turn.sql, &turn.answer])
            .await
            .map_err(|error| lease.error(&error))?;
        if added == 0 {
            Err(StoreError::NotFound { what: "conversation of yours", id: of.id })
        } else {
            Ok(())
        }
    }

    /// A turn that a follow-up refers to, of its own domain and owner only.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn turn(
        &self,
        domain: &DomainName,
        owner: Option<&str>,
        ask: AskId,
    ) -> Result<Option<Turn>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = "SELECT t.ask, t.domain, t.question, t.sql, t.answer FROM airlock.turns t
            JOIN airlock.conversations c ON c.id = t.conversation
            WHERE t.ask = $1 AND c.domain = $2 AND c.owner IS NOT DISTINCT FROM $3";
        let row = lease.query_opt(query, &[&ItemId::from(ask), &domain.as_str(), &owner]).await;
        let row = row.map_err(|error| lease.error(&error))?;
        row.map(|row| {
            Ok(Turn {
                ask: get(&row, "ask")?,
                domain: word(&row, "domain")?,
                question: get(&row, "question")?,
                sql: get(&row, "sql")?,
                answer: get(&row, "answer")?,
            })
        })
        .transpose()
    }
}
