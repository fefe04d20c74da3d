//! Looking at candidates and at what is curated: filtered, ordered, a page at a time.

use airlock_types::DomainName;
use tokio_postgres::types::ToSql;

use super::{
    CANDIDATES, CURATED, Candidate, CandidateState, Curation, CurationState, Promote, candidate, curation,
};
use crate::store::error::StoreError;
use crate::store::id::ItemId;
use crate::store::rows::{Kind, Origin, get, word};

/// Rows of a page at most.
const PAGE: i64 = 1_000;

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// What was made first, first.
    #[default]
    OldestFirst,
    /// What was made last, first.
    NewestFirst,
}

/// What is wanted; what is `None` does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter<State> {
    /// Of this domain.
    pub domain: Option<DomainName>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// In this state.
    pub state: Option<State>,
    /// From there.
    pub origin: Option<Origin>,
    /// The order.
    pub order: Order,
    /// Rows of the page, at most 1,000.
    pub limit: i64,
    /// The last item of the page before.
    pub after: Option<ItemId>,
}

impl<State> Default for Filter<State> {
    fn default() -> Self {
        Self {
            domain: None,
            kind: None,
            state: None,
            origin: None,
            order: Order::default(),
            limit: 100,
            after: None,
        }
    }
}

/// How many items of a kind are in a state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct KindCount {
    /// The domain.
    pub domain: DomainName,
    /// The kind.
    pub kind: Kind,
    /// `candidate` or `curated`.
    pub shelf: String,
    /// The state's word.
    pub state: String,
    /// Where they came from.
    pub origin: Origin,
    /// How many.
    pub count: i64,
}

impl Promote {
    /// Candidates.
    ///
    /// # Errors
    /// When the store does not answer, or a row is not what its hash says.
    pub async fn candidates(&self, filter: &Filter<CandidateState>) -> Result<Vec<Candidate>, StoreError> {
        self.rows(CANDIDATES, filter, filter.state.map(CandidateState::as_str))
            .await?
            .iter()
            .map(candidate)
            .collect()
    }

    /// What is curated, in whatever state.
    ///
    /// # Errors
    /// As [`Promote::candidates`].
    pub async fn curations(&self, filter: &Filter<CurationState>) -> Result<Vec<Curation>, StoreError> {
        self.rows(CURATED, filter, filter.state.map(CurationState::as_str))
            .await?
            .iter()
            .map(curation)
            .collect()
    }

    async fn rows<State>(
        &self,
        select: &str,
        filter: &Filter<State>,
        state: Option<&str>,
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let (compare, order) = match filter.order {
            Order::OldestFirst => (">", "ASC"),
            Order::NewestFirst => ("<", "DESC"),
        };
        let domain = filter.domain.as_ref().map(DomainName::as_str);
        let (kind, origin) = (filter.kind.map(Kind::as_str), filter.origin.map(Origin::as_str));
        let limit = filter.limit.clamp(1, PAGE);
        // Identities are ordered by time, so a page goes on after the last one seen whatever was added meanwhile.
        let query = format!(
            "{select} WHERE ($1::text IS NULL OR domain = $1) AND ($2::text IS NULL OR kind = $2)
               AND ($3::text IS NULL OR state = $3) AND ($4::text IS NULL OR source = $4)
               AND ($5::uuid IS NULL OR id {compare} $5) ORDER BY id {order} LIMIT $6"
        );
        let given: [&(dyn ToSql + Sync); 6] = [&domain, &kind, &state, &origin, &filter.after, &limit];
        let lease = self.pool.lease().await?;
        lease.query(&query, &given).await.map_err(|error| lease.error(&error))
    }

    /// One candidate.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when this domain has none of that identity.
    pub async fn candidate(&self, domain: &DomainName, id: ItemId) -> Result<Candidate, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!("{CANDIDATES} WHERE domain = $1 AND id = $2");
        let row =
            lease.query_opt(&query, &[&domain.as_str(), &id]).await.map_err(|error| lease.error(&error))?;
        candidate(&row.ok_or(StoreError::NotFound { what: "candidate", id })?)
    }

    /// One curated item.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when this domain has none of that identity.
    pub async fn curated(&self, domain: &DomainName, id: ItemId) -> Result<Curation, StoreError> {
        let lease = self.pool.lease().await?;
        let query = format!("{CURATED} WHERE domain = $1 AND id = $2");
        let row =
            lease.query_opt(&query, &[&domain.as_str(), &id]).await.map_err(|error| lease.error(&error))?;
        curation(&row.ok_or(StoreError::NotFound { what: "curated item", id })?)
    }

    /// How many items there are, by domain, kind, state and origin: a snapshot in one statement.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn counts(&self, domain: Option<&DomainName>) -> Result<Vec<KindCount>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = "SELECT domain, kind, shelf, state, source, count(*) FROM (
                SELECT domain, kind, 'candidate' AS shelf, state, source FROM airlock.candidates
                UNION ALL SELECT domain, kind, 'curated', state, source FROM airlock.curated
            ) AS items WHERE $1::text IS NULL OR domain = $1 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5";
        let rows = lease.query(query, &[&domain.map(DomainName::as_str)]).await;
        let rows = rows.map_err(|error| lease.error(&error))?;
        rows.iter()
            .map(|row| {
                Ok(KindCount {
                    domain: word(row, "domain")?,
                    kind: word(row, "kind")?,
                    shelf: get(row, "shelf")?,
                    state: get(row, "state")?,
                    origin: word(row, "source")?,
                    count: get(row, "count")?,
                })
            })
            .collect()
    }
}
