//! Snapshots of domains in the store: names and types of their tables when they were loaded.

use airlock_types::{ContentHash, DomainName};

use super::content::ContentError;
use super::duty::Duty;
use super::error::StoreError;
use super::promote::Promote;
use super::recall::Recall;
use super::rows::{domain, get, moment, word};
use crate::drift::Snapshot;

/// A snapshot, and when it was taken by whom.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TakenSnapshot {
    /// The domain.
    pub domain: DomainName,
    /// Names and types.
    pub snapshot: Snapshot,
    /// Hash of the pack that was loaded then.
    pub pack: ContentHash,
    /// When.
    pub taken_at: jiff::Timestamp,
    /// By whom.
    pub taken_by: String,
}

impl Recall {
    /// The snapshots of all domains. One that this build cannot read is told in the log and is as good as none.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn snapshots(&self) -> Result<Vec<TakenSnapshot>, StoreError> {
        let lease = self.pool().lease().await?;
        let query = "SELECT domain, content::text AS content, pack_hash, taken_at, taken_by FROM airlock.snapshots ORDER BY domain";
        let rows = lease.query(query, &[]).await.map_err(|error| lease.error(&error))?;
        let mut snapshots = Vec::with_capacity(rows.len());
        for row in &rows {
            let (domain, content): (_, String) = (domain(row)?, get(row, "content")?);
            match serde_json::from_str(&content) {
                Ok(snapshot) => snapshots.push(TakenSnapshot {
                    domain,
                    snapshot,
                    pack: word(row, "pack_hash")?,
                    taken_at: moment(row, "taken_at")?,
                    taken_by: get(row, "taken_by")?,
                }),
                Err(error) => {
                    tracing::warn!(%domain, %error, "a snapshot is of another version or damaged");
                }
            }
        }
        Ok(snapshots)
    }
}

impl Promote {
    /// Takes a snapshot in the place of the one there was.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn take_snapshot(
        &self,
        domain: &DomainName,
        snapshot: &Snapshot,
        pack: ContentHash,
        by: &str,
    ) -> Result<(), StoreError> {
        let by = by.trim();
        if by.is_empty() || by.chars().count() > 200 {
            let reason = "it is taken by somebody, of at most 200 characters".to_owned();
            return Err(ContentError::Wrong { field: "by", reason }.into());
        }
        let lease = self.pool().lease().await?;
        let statement = "INSERT INTO airlock.snapshots (domain, content, pack_hash, taken_by) VALUES ($1, $2::text::jsonb, $3, $4)
            ON CONFLICT (domain) DO UPDATE SET content = excluded.content, pack_hash = excluded.pack_hash,
                taken_at = clock_timestamp(), taken_by = excluded.taken_by";
        let content = serde_json::to_string(snapshot).unwrap_or_default();
        let pack = pack.to_string();
        lease
            .execute(statement, &[&domain.as_str(), &content, &pack, &by])
            .await
            .map_err(|error| StoreError::of(Duty::Promote, &error))?;
        Ok(())
    }
}
