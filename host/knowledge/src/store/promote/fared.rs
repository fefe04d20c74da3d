//! How what is in service fared: counted from the uses that asks and verdicts appended.

use airlock_types::DomainName;

use super::{Curation, Promote, curation};
use crate::promotion::decay::{Fared, LEAST};
use crate::store::error::StoreError;
use crate::store::rows::get;

/// Items of one look at most.
const MOST: i64 = 10_000;

impl Promote {
    /// Examples and lessons in service of which enough asks are known to have ended, with how they fared, those that went
    /// worst first.
    ///
    /// # Errors
    /// When the store does not answer, or a row is not what its hash says.
    pub async fn fared(&self, domain: &DomainName) -> Result<Vec<(Curation, Fared)>, StoreError> {
        // The last event of an ask that is no recall is its verdict.
        let query = "WITH each AS (
                SELECT u.item, coalesce(u.ask, u.id) AS ask,
                    (array_agg(u.event ORDER BY u.at DESC, u.id DESC) FILTER (WHERE u.event <> 'recalled'))[1] AS verdict
                FROM airlock.uses u JOIN airlock.curated c ON c.id = u.item
                WHERE c.domain = $1 AND c.state = 'active' AND c.kind IN ('example', 'lesson') AND u.at > c.changed_at
                GROUP BY 1, 2
            ), fared AS (
                SELECT item, count(*) AS hits, count(verdict) AS verified,
                    count(*) FILTER (WHERE verdict = 'succeeded') AS succeeded
                FROM each GROUP BY 1 HAVING count(verdict) >= $2
            )
            SELECT c.id, c.domain, c.kind, c.state, c.content::text, c.hash, c.canonical, c.source, c.candidate, c.made_at,
                c.changed_at, f.hits, f.verified, f.succeeded
            FROM fared f JOIN airlock.curated c ON c.id = f.item
            ORDER BY f.succeeded::float8 / f.verified, c.id LIMIT $3";
        let lease = self.pool().lease().await?;
        let rows = lease.query(query, &[&domain.as_str(), &LEAST, &MOST]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter()
            .map(|row| {
                let fared = Fared {
                    hits: get(row, "hits")?,
                    verified: get(row, "verified")?,
                    succeeded: get(row, "succeeded")?,
                };
                Ok((curation(row)?, fared))
            })
            .collect()
    }
}
