//! The vectors that were kept when candidates were handed in.

use airlock_types::DomainName;

use super::Promote;
use crate::store::content::Content;
use crate::store::error::StoreError;
use crate::store::recall::content;
use crate::store::rows::get;

/// Vectors that are read at most.
const MOST: i64 = 20_000;

impl Promote {
    /// The vectors that a model made of a domain's candidates and of what is curated, the newest first: 20,000
    /// at most.
    ///
    /// # Errors
    /// When the store does not answer, or a row is not what its hash says.
    pub async fn vectors(
        &self,
        domain: &DomainName,
        model: &str,
    ) -> Result<Vec<(Content, Vec<f32>)>, StoreError> {
        let lease = self.pool().lease().await?;
        let query = "SELECT item.kind, item.content::text, item.hash, e.vector FROM airlock.embeddings e
            JOIN (SELECT domain, kind, content, hash FROM airlock.candidates
                  UNION SELECT domain, kind, content, hash FROM airlock.curated) AS item
              ON item.domain = e.domain AND item.hash = e.hash
            WHERE e.domain = $1 AND e.model = $2 ORDER BY e.made_at DESC LIMIT $3";
        let rows = lease.query(query, &[&domain.as_str(), &model, &MOST]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter().map(|row| Ok((content(row)?.0, get(row, "vector")?))).collect()
    }
}
