//! Reading what is curated. The one handle an ask is given.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use airlock_types::{ContentHash, DomainName};
use tokio::time::timeout;

use super::content::Content;
use super::duty::Duty;
use super::error::StoreError;
use super::id::ItemId;
use super::packs::{self, LoadedPack, PackFileRow};
use super::pool::Pool;
use super::promote::{Curation, curation};
use super::rows::{get, word};

/// How long an ask waits to hear whether anything changed. A store that is slower than this is away.
const PATIENCE: Duration = Duration::from_millis(800);
/// Changes that are followed one by one; after more, everything is read again.
const FOLLOWED: i64 = 2_000;
/// Items read in one statement.
const BATCH: i64 = 5_000;

/// Reads what is curated, the packs and the numbers of changes.
#[derive(Clone)]
pub struct Recall {
    pool: Arc<Pool>,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Too much to tell: read all of it.
    All,
    /// These items, and whether the pack did.
    Items {
        /// Curated items that were added, changed or taken out of service.
        items: BTreeSet<ItemId>,
        /// Whether another pack was loaded.
        pack: bool,
    },
}

impl Recall {
    pub(super) const fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    /// The number of the last change of the store: one read of one row. What was read at this number is current as long as
    /// it stays.
    ///
    /// # Errors
    /// When the store does not answer within a moment.
    pub async fn number(&self) -> Result<i64, StoreError> {
        let asked = async {
            let lease = self.pool.lease().await?;
            let row = lease.query_one("SELECT last_change FROM airlock.store", &[]).await;
            row.map(|row| row.get(0)).map_err(|error| lease.error(&error))
        };
        let late = |_| StoreError::Away {
            duty: Duty::Recall,
            reason: format!("no answer within {} ms", PATIENCE.as_millis()),
        };
        timeout(PATIENCE, asked).await.map_err(late)?
    }

    /// What changed in a domain after `since`, up to `until`.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn changes(&self, domain: &DomainName, since: i64, until: i64) -> Result<Change, StoreError> {
        let lease = self.pool.lease().await?;
        let query = "SELECT kind, item FROM airlock.changes
            WHERE domain = $1 AND number > $2 AND number <= $3 ORDER BY number LIMIT $4";
        let rows = lease.query(query, &[&domain.as_str(), &since, &until, &(FOLLOWED + 1)]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        if i64::try_from(rows.len()).unwrap_or(i64::MAX) > FOLLOWED {
            return Ok(Change::All);
        }
        let (mut items, mut pack) = (BTreeSet::new(), false);
        for row in &rows {
            match get::<&str>(row, "kind")? {
                "pack" => pack = true,
                _ => items.extend(get::<Option<ItemId>>(row, "item")?),
            }
        }
        Ok(Change::Items { items, pack })
    }

    /// Curated items by their identity, whatever their state. What is not there, or is of another domain, is left out.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn items(
        &self,
        domain: &DomainName,
        ids: &BTreeSet<ItemId>,
    ) -> Result<Vec<Curation>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let lease = self.pool.lease().await?;
        let ids: Vec<ItemId> = ids.iter().copied().collect();
        let query = format!("{} WHERE domain = $1 AND id = ANY ($2)", super::promote::CURATED);
        let rows =
            lease.query(&query, &[&domain.as_str(), &ids]).await.map_err(|error| lease.error(&error))?;
        Ok(rows.iter().filter_map(readable).collect())
    }

    /// All items of a domain in service, in one state of the store, and the number of its last change.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn active(&self, domain: &DomainName) -> Result<(i64, Vec<Curation>), StoreError> {
        let mut lease = self.pool.lease().await?;
        let duty = lease.duty;
        let failed = |error: tokio_postgres::Error| StoreError::of(duty, &error);
        let transaction = lease
            .build_transaction()
            .isolation_level(tokio_postgres::IsolationLevel::RepeatableRead)
            .read_only(true)
            .start()
            .await
            .map_err(failed)?;
        let row =
            transaction.query_one("SELECT last_change FROM airlock.store", &[]).await.map_err(failed)?;
        let number = row.get(0);
        let query = format!(
            "{} WHERE domain = $1 AND state = 'active' AND id > $2 ORDER BY id LIMIT $3",
            super::promote::CURATED
        );
        let (mut items, mut after) = (Vec::new(), ItemId::first());
        loop {
            let rows =
                transaction.query(&query, &[&domain.as_str(), &after, &BATCH]).await.map_err(failed)?;
            let Some(last) = rows.last() else { break };
            after = get(last, "id")?;
            items.extend(rows.iter().filter_map(readable));
            if i64::try_from(rows.len()).unwrap_or(i64::MAX) < BATCH {
                break;
            }
        }
        transaction.commit().await.map_err(failed)?;
        Ok((number, items))
    }

    /// The pack of a domain that was loaded last.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn current_pack(&self, domain: &DomainName) -> Result<Option<LoadedPack>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!("{} WHERE domain = $1 AND is_current", packs::PACKS);
        let row = lease.query_opt(&query, &[&domain.as_str()]).await.map_err(|error| lease.error(&error))?;
        row.as_ref().map(packs::loaded).transpose()
    }

    /// Every current pack, by domain.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn current_packs(&self) -> Result<Vec<LoadedPack>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!("{} WHERE is_current ORDER BY domain", packs::PACKS);
        let rows = lease.query(&query, &[]).await.map_err(|error| lease.error(&error))?;
        rows.iter().map(packs::loaded).collect()
    }

    /// The files of a loaded pack. Those that make a demo's database have no content.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn pack_files(
        &self,
        domain: &DomainName,
        hash: ContentHash,
    ) -> Result<Vec<PackFileRow>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = "SELECT path, file_hash, content FROM airlock.pack_files WHERE domain = $1 AND hash = $2 ORDER BY path";
        let rows = lease.query(query, &[&domain.as_str(), &hash.to_string()]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter()
            .map(|row| {
                Ok(PackFileRow {
                    path: get(row, "path")?,
                    hash: word(row, "file_hash")?,
                    content: get(row, "content")?,
                })
            })
            .collect()
    }

    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

/// A row as the item it is. One that is not what its hash says is left out and told: it must not enter a context, and
/// must not keep the others from it.
fn readable(row: &tokio_postgres::Row) -> Option<Curation> {
    match curation(row) {
        Ok(item) => Some(item),
        Err(error) => {
            let id = get::<ItemId>(row, "id").map(|id| id.to_string()).unwrap_or_default();
            tracing::error!(id, %error, "a curated item is not what its hash says and is not recalled");
            None
        }
    }
}

/// What a row says, if it is what its hash says.
pub(super) fn content(row: &tokio_postgres::Row) -> Result<(Content, ContentHash), StoreError> {
    let kind = word(row, "kind")?;
    let json: String = get(row, "content")?;
    let content =
        Content::from_json(kind, &json).map_err(|error| super::rows::unreadable("content", error))?;
    let hash: ContentHash = super::rows::hash(row)?;
    if content.hash() != hash {
        return Err(StoreError::Row(format!(
            "its content has the hash {}, recorded is {hash}",
            content.hash()
        )));
    }
    Ok((content, hash))
}
