//! Keys and sessions (conversations are in `turns.rs`). A key or a session is known by its hash: the store never holds what opens it.

use std::collections::BTreeMap;
use std::sync::Arc;

use airlock_types::{ContentHash, DomainName};
use tokio_postgres::Row;

use super::error::StoreError;
use super::id::ItemId;
use super::pool::Pool;
use super::rows::{get, moment, optional, optional_moment, unreadable, word};

/// Keys, sessions, conversations.
#[derive(Clone)]
pub struct Ops {
    pub(super) pool: Arc<Pool>,
}

/// Who the holder of a key is to the data source, for row policies. What a name may be is the data source's to say.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeyIdentity {
    /// Named settings of each transaction, such as `app.user_id`.
    pub settings: BTreeMap<String, String>,
    /// The role of each transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl std::str::FromStr for KeyIdentity {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
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
    /// Who its holder is to the data source.
    pub identity: Option<&'a KeyIdentity>,
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
    /// Who its holder is to the data source.
    pub identity: Option<KeyIdentity>,
}

/// A session of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Hash of the session's secret.
    pub hash: ContentHash,
    /// The key it was opened with.
    pub key: ItemId,
    /// Hash of what its forms must carry.
    pub csrf_hash: ContentHash,
    /// When it ends.
    pub expires_at: jiff::Timestamp,
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
        identity: optional(row, "identity")?,
    })
}

const KEYS: &str =
    "SELECT k.id, k.name, k.scopes, k.domains, k.made_at, k.made_by, k.expires_at, k.revoked_at,
    k.identity::text AS identity FROM airlock.api_keys k";
const IN_FORCE: &str = "k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())";
/// Sessions of one key. The one that began first gives way.
const SESSIONS: i64 = 64;

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
        let query =
            "INSERT INTO airlock.api_keys (id, name, hash, scopes, domains, made_by, expires_at, identity)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb)";
        let domains: Vec<&str> = new.domains.iter().map(DomainName::as_str).collect();
        let expires = new.expires_at.map(super::rows::system);
        let hash = new.hash.to_string();
        let identity = new.identity.map(serde_json::to_string).transpose();
        let identity = identity.map_err(|error| unreadable("identity", error))?;
        lease
            .execute(
                query,
                &[&id, &new.name, &hash, &new.scopes, &domains, &new.made_by, &expires, &identity],
            )
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
        let query = format!("{KEYS} WHERE k.hash = $1 AND {IN_FORCE}");
        let row = lease.query_opt(&query, &[&hash.to_string()]).await.map_err(|error| lease.error(&error))?;
        row.as_ref().map(key).transpose()
    }

    /// The key that a secret is or was good for, by itself or by a session: in force or not.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn known(&self, hash: ContentHash) -> Result<Option<KeyRow>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!(
            "{KEYS} WHERE k.hash = $1 OR k.id = (SELECT s.key FROM airlock.sessions s WHERE s.hash = $1)"
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
        let query = format!("{KEYS} ORDER BY k.id LIMIT 10000");
        let rows = lease.query(&query, &[]).await.map_err(|error| lease.error(&error))?;
        rows.iter().map(key).collect()
    }

    /// Whether there is a key that may be used now.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn has_key(&self) -> Result<bool, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!("SELECT EXISTS (SELECT FROM airlock.api_keys k WHERE {IN_FORCE}) AS found");
        let row = lease.query_one(&query, &[]).await.map_err(|error| lease.error(&error))?;
        get(&row, "found")
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

    /// Opens a session. Of those of one key only so many are kept.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn open_session(&self, session: &SessionRow) -> Result<(), StoreError> {
        let lease = self.pool.lease().await?;
        let query = "WITH gone AS (DELETE FROM airlock.sessions WHERE hash IN
                (SELECT hash FROM airlock.sessions WHERE key = $2 ORDER BY made_at DESC OFFSET $5))
            INSERT INTO airlock.sessions (hash, key, csrf_hash, expires_at) VALUES ($1, $2, $3, $4)";
        let given = (
            session.hash.to_string(),
            session.csrf_hash.to_string(),
            super::rows::system(session.expires_at),
        );
        let opened =
            lease.execute(query, &[&given.0, &session.key, &given.1, &given.2, &(SESSIONS - 1)]).await;
        opened.map(|_| ()).map_err(|error| lease.error(&error))
    }

    /// The session with this hash and its key, if it has not ended and the key may be used now.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn session(&self, hash: ContentHash) -> Result<Option<(SessionRow, KeyRow)>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!(
            "WITH k AS ({KEYS} WHERE {IN_FORCE})
            SELECT k.*, s.hash, s.csrf_hash, s.expires_at AS session_ends
            FROM airlock.sessions s JOIN k ON k.id = s.key WHERE s.hash = $1 AND s.expires_at > clock_timestamp()"
        );
        let row = lease.query_opt(&query, &[&hash.to_string()]).await.map_err(|error| lease.error(&error))?;
        row.map(|row| {
            let key = key(&row)?;
            let session = SessionRow {
                hash: word(&row, "hash")?,
                key: key.id,
                csrf_hash: word(&row, "csrf_hash")?,
                expires_at: moment(&row, "session_ends")?,
            };
            Ok((session, key))
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
}
