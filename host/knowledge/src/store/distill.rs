//! Handing in candidates: through the one function that the role may call, which says what became of each.

use std::sync::Arc;

use airlock_types::DomainName;
use serde_json::Value;

use super::content::Content;
use super::error::StoreError;
use super::id::ItemId;
use super::pool::Pool;
use super::promote::CandidateState;
use super::rows::Origin;

/// Hands in candidates. It cannot read any, and cannot write what is curated.
#[derive(Clone)]
pub struct Distill {
    pool: Arc<Pool>,
}

/// What is proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCandidate {
    /// Its identity; handing it in again under the same one adds nothing.
    pub id: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// What it says.
    pub content: Content,
    /// Where it came from.
    pub origin: Origin,
    /// Whether it waits for evidence before anybody decides.
    pub needs_evidence: bool,
    /// What speaks for it, as JSON.
    pub evidence: Value,
    /// Who or what made it, for the history.
    pub made_by: String,
    /// The vector of its text, where there is an embedder: what is nearer than `near` to a candidate that is there already is
    /// not kept a second time.
    pub vector: Option<Vector>,
}

impl NewCandidate {
    /// A candidate that is proposed with this evidence.
    #[must_use]
    pub fn new(domain: DomainName, content: Content, origin: Origin, made_by: &str) -> Self {
        Self {
            id: ItemId::now(),
            domain,
            content,
            origin,
            needs_evidence: false,
            evidence: Value::Object(serde_json::Map::new()),
            made_by: made_by.chars().take(200).collect(),
            vector: None,
        }
    }
}

/// A text as a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// The model that made it.
    pub model: String,
    /// The vector.
    pub values: Vec<f32>,
    /// Cosine from which two texts are the same.
    pub near: f64,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ingested {
    /// It is kept.
    Stored,
    /// The same is there already, in whatever state; it was counted.
    Known,
    /// Nearly the same is there already; it was counted.
    Near,
    /// Too many wait for a decision in this domain: it was not kept.
    Full,
}

impl Distill {
    pub(super) const fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    /// Hands in a candidate.
    ///
    /// # Errors
    /// When it cannot be kept ([`StoreError::Content`] names the field), or the store is away; then it may be handed in again.
    pub async fn ingest(&self, new: &NewCandidate) -> Result<Ingested, StoreError> {
        new.content.check()?;
        let lease = self.pool.lease().await?;
        let state = if new.needs_evidence { CandidateState::NeedsEvidence } else { CandidateState::Proposed };
        let vector = new.vector.as_ref();
        let query = "SELECT airlock.ingest($1, $2, $3, $4, $5::text::jsonb, $6, $7, $8, $9::text::jsonb, $10, $11, $12, $13)";
        let row = lease
            .query_one(
                query,
                &[
                    &new.id,
                    &new.domain.as_str(),
                    &new.content.kind().as_str(),
                    &state.as_str(),
                    &new.content.to_json(),
                    &new.content.hash().to_string(),
                    &new.content.canonical().map(|hash| hash.to_string()),
                    &new.origin.as_str(),
                    &new.evidence.to_string(),
                    &new.made_by,
                    &vector.map(|vector| vector.model.as_str()),
                    &vector.map(|vector| vector.values.as_slice()),
                    &vector.map(|vector| vector.near),
                ],
            )
            .await
            .map_err(|error| lease.error(&error))?;
        match row.get(0) {
            "stored" => Ok(Ingested::Stored),
            "known" => Ok(Ingested::Known),
            "near" => Ok(Ingested::Near),
            "full" => Ok(Ingested::Full),
            other => Err(StoreError::Row(format!("ingest said `{other}`"))),
        }
    }
}
