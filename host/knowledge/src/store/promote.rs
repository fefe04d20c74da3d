//! The promotion gate's handle: candidates are read and decided on here, and what is curated is written here and nowhere else.
//!
//! Every decision is one transaction: the state of the candidate, the curated item and the line of the history are written
//! together or not at all. All of them take one lock, so that two curators, two hosts or a pass and a person follow each
//! other. Who loses the connection at the commit looks again: the decision was made wholly or not at all.

mod decide;
mod disputed;
mod fared;
mod list;
mod vectors;

use std::sync::Arc;

use airlock_types::{ContentHash, DomainName};
use serde_json::Value;
use tokio_postgres::{Row, Transaction};

use super::content::Content;
use super::dial::Line;
use super::error::StoreError;
use super::id::ItemId;
use super::pool::{Lease, Pool};
use super::recall::content;
use super::rows::{Kind, Origin, domain, get, moment, word, words};

pub use list::{Filter, KindCount, Order};

words! {
    /// Where a candidate stands.
    CandidateState {
        /// It waits for a decision.
        Proposed = "proposed",
        /// It waits for evidence.
        NeedsEvidence = "needs_evidence",
        /// Nearly the same is curated.
        Duplicate = "duplicate",
        /// It was refused, and is kept so that it is not proposed again.
        Rejected = "rejected",
        /// It is curated.
        Promoted = "promoted",
    }
}

impl CandidateState {
    /// Whether nobody has decided on it yet.
    #[must_use]
    pub const fn waits(self) -> bool {
        matches!(self, Self::Proposed | Self::NeedsEvidence)
    }
}

words! {
    /// Where a curated item stands. Only what is active is recalled.
    CurationState {
        /// In service.
        Active = "active",
        /// Out of service because it did not help; it can come back.
        Stale = "stale",
        /// Out of service because what it names is gone, or another says it better.
        Superseded = "superseded",
        /// Set back: somebody took the decision back.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// How a decision came about.
    Mode {
        /// A person decided.
        Person = "person",
        /// A model reviewed it.
        Model = "model",
        /// Golden cases were replayed with and without it.
        Replay = "replay",
        /// By rule, at a person's command.
        Auto = "auto",
        /// It stopped helping.
        Decay = "decay",
        /// The schema changed.
        Schema = "schema",
        /// A pack was loaded.
        Pack = "pack",
        /// A check of the gate: shape, an adapter's veto, a near-duplicate.
        Gate = "gate",
    }
}

/// Who decides, how and why. Kept for ever beside the hash of what was decided on.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// How it came about.
    pub mode: Mode,
    /// Who: a key's name, a user, a schedule.
    pub who: String,
    /// Why, in a sentence.
    pub why: String,
    /// What it rests on, as JSON: the table of a replay, a model's reply.
    pub evidence: Value,
}

impl Decision {
    /// A decision without more evidence than its reason.
    #[must_use]
    pub fn new(mode: Mode, who: &str, why: &str) -> Self {
        let evidence = Value::Object(serde_json::Map::new());
        Self { mode, who: who.to_owned(), why: why.to_owned(), evidence }
    }
}

/// A candidate as it is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Its identity.
    pub id: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub state: CandidateState,
    /// What it says.
    pub content: Content,
    /// Hash of what it says; a decision names it.
    pub hash: ContentHash,
    /// Where it came from.
    pub origin: Origin,
    /// What speaks for it.
    pub evidence: Value,
    /// When it was handed in first.
    pub made_at: jiff::Timestamp,
    /// Who or what made it.
    pub made_by: String,
    /// When its state or content changed last.
    pub changed_at: jiff::Timestamp,
    /// How often it was handed in.
    pub seen: i32,
    /// The curated item it became.
    pub curated: Option<ItemId>,
}

/// A curated item. Only the store makes one.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Curation {
    /// Its identity.
    pub id: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// Where it stands.
    pub state: CurationState,
    /// What it says.
    pub content: Content,
    /// Hash of what it says.
    pub hash: ContentHash,
    /// Where it came from.
    pub origin: Origin,
    /// The candidate it was.
    pub candidate: Option<ItemId>,
    /// When it was curated.
    pub made_at: jiff::Timestamp,
    /// When its state or content changed last.
    pub changed_at: jiff::Timestamp,
}

impl Curation {
    /// What would be in service if a content were curated; no row is behind it.
    #[must_use]
    pub fn supposed(id: ItemId, domain: &DomainName, content: &Content) -> Self {
        let now = jiff::Timestamp::now();
        Self {
            id,
            domain: domain.clone(),
            state: CurationState::Active,
            hash: content.hash(),
            content: content.clone(),
            origin: Origin::Person,
            candidate: None,
            made_at: now,
            changed_at: now,
        }
    }
}

/// What is curated without having been a candidate: a person wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCurated {
    /// The domain.
    pub domain: DomainName,
    /// What it says.
    pub content: Content,
    /// Where it came from.
    pub origin: Origin,
}

/// What a decision did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided {
    /// The line of the history.
    pub decision: ItemId,
    /// The candidate, where there is one.
    pub candidate: Option<ItemId>,
    /// The curated item, where there is one.
    pub curated: Option<ItemId>,
}

pub(super) const CANDIDATES: &str =
    "SELECT id, domain, kind, state, content::text, hash, canonical, source, evidence::text, made_at,
    made_by, changed_at, seen, curated FROM airlock.candidates";
pub(super) const CURATED: &str =
    "SELECT id, domain, kind, state, content::text, hash, canonical, source, candidate, made_at, changed_at
    FROM airlock.curated";

/// Every decision waits for the one before it.
const WRITERS: &str = "SELECT pg_advisory_xact_lock(7302, 0)";
/// One host runs a schedule, in the whole store.
const SCHEDULE: &str = "SELECT pg_try_advisory_lock(7304, 0)";
/// One pass at a time, in the whole store.
const PASS: &str = "SELECT pg_try_advisory_lock(7303, 0)";
const PASS_ENDS: &str = "SELECT pg_advisory_unlock(7303, 0)";

/// Reads candidates, decides on them, writes what is curated.
#[derive(Clone)]
pub struct Promote {
    pool: Arc<Pool>,
}

/// The one promotion pass under way. Others may begin when it is dropped, or its host is gone.
pub struct Pass {
    line: Line,
}

/// The turn of one host to run a schedule, until it is dropped.
pub struct OneHost {
    _line: Line,
}

impl Pass {
    /// Whether the pass is still the only one: its connection may have been lost.
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.line.client.is_closed()
    }

    /// Lets others begin at once: a connection that is only dropped ends a moment later.
    pub async fn end(self) {
        // A connection that was lost holds nothing any more.
        let _ = self.line.client.query_one(PASS_ENDS, &[]).await;
    }
}

impl Promote {
    pub(super) const fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    pub(super) const fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Begins a promotion pass.
    ///
    /// # Errors
    /// [`StoreError::PassRunning`] when there is one, here or on another host.
    pub async fn pass(&self) -> Result<Pass, StoreError> {
        let line = self.pool.line().await?;
        let row = line.client.query_one(PASS, &[]).await;
        let row = row.map_err(|error| StoreError::of(self.pool.duty, &error))?;
        if row.get(0) { Ok(Pass { line }) } else { Err(StoreError::PassRunning) }
    }

    /// Takes the turn to run a schedule; `None` when another host has it.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn scheduled(&self) -> Result<Option<OneHost>, StoreError> {
        let line = self.pool.line().await?;
        let row = line.client.query_one(SCHEDULE, &[]).await;
        let row = row.map_err(|error| StoreError::of(self.pool.duty, &error))?;
        Ok(row.get::<_, bool>(0).then_some(OneHost { _line: line }))
    }

    /// Begins a transaction that writes. Only one is under way in the store.
    pub(super) async fn begin<'a>(&self, lease: &'a mut Lease) -> Result<Transaction<'a>, StoreError> {
        let duty = lease.duty;
        let failed = |error: tokio_postgres::Error| StoreError::of(duty, &error);
        let transaction = lease.transaction().await.map_err(failed)?;
        transaction.execute(WRITERS, &[]).await.map_err(failed)?;
        Ok(transaction)
    }
}

pub(super) fn candidate(row: &Row) -> Result<Candidate, StoreError> {
    let (content, hash) = content(row)?;
    let evidence: String = get(row, "evidence")?;
    Ok(Candidate {
        id: get(row, "id")?,
        domain: domain(row)?,
        kind: word(row, "kind")?,
        state: word(row, "state")?,
        content,
        hash,
        origin: word(row, "source")?,
        evidence: serde_json::from_str(&evidence)
            .map_err(|error| super::rows::unreadable("evidence", error))?,
        made_at: moment(row, "made_at")?,
        made_by: get(row, "made_by")?,
        changed_at: moment(row, "changed_at")?,
        seen: get(row, "seen")?,
        curated: get(row, "curated")?,
    })
}

pub(super) fn curation(row: &Row) -> Result<Curation, StoreError> {
    let (content, hash) = content(row)?;
    Ok(Curation {
        id: get(row, "id")?,
        domain: domain(row)?,
        state: word(row, "state")?,
        content,
        hash,
        origin: word(row, "source")?,
        candidate: get(row, "candidate")?,
        made_at: moment(row, "made_at")?,
        changed_at: moment(row, "changed_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_decided_on_waits_no_more() {
        use CandidateState::{Duplicate, NeedsEvidence, Promoted, Proposed, Rejected};
        for (state, waits) in [
            (Proposed, true),
            (NeedsEvidence, true),
            (Duplicate, false),
            (Rejected, false),
            (Promoted, false),
        ] {
            assert_eq!(state.waits(), waits, "{state}");
        }
    }
}
