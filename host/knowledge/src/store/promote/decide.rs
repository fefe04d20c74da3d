//! Decisions, each a transaction that names the hash of what was looked at.

use airlock_types::text::{Place, find_hidden, shorten};
use airlock_types::{ContentHash, DomainName};
use tokio_postgres::Transaction;

use super::{
    CANDIDATES, CURATED, Candidate, CandidateState, Curation, CurationState, Decided, Decision, NewCurated,
    Promote, candidate, curation,
};
use crate::store::content::{Content, ContentError};
use crate::store::duty::Duty;
use crate::store::error::StoreError;
use crate::store::id::ItemId;
use crate::store::rows::Kind;

/// Characters of a reason.
const WHY: usize = 2_000;

/// A line of the history.
struct Entry<'a> {
    domain: &'a DomainName,
    kind: Kind,
    candidate: Option<ItemId>,
    curated: Option<ItemId>,
    verdict: &'static str,
    hash: ContentHash,
    before: Option<ContentHash>,
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    StoreError::of(Duty::Promote, &error)
}

impl Promote {
    /// Makes a candidate curated: in service everywhere as soon as this returns here.
    ///
    /// # Errors
    /// [`StoreError::Changed`] when `seen` is not the hash it has, [`StoreError::Decided`] when it was decided on, else as
    /// [`StoreError`] says. Nothing is changed then.
    pub async fn promote(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        let mut lease = self.pool.lease().await?;
        let work = self.begin(&mut lease).await?;
        let candidate = undecided(&work, domain, id, seen).await?;
        // What was set back keeps the row it had, so that its uses and its history stay with it.
        let known = "SELECT id FROM airlock.curated WHERE candidate = $1 FOR UPDATE";
        let known: Option<ItemId> =
            work.query_opt(known, &[&id]).await.map_err(failed)?.map(|row| row.get(0));
        let curated = match known {
            Some(curated) => {
                write(&work, curated, CurationState::Active, &candidate.content).await?;
                curated
            }
            None => {
                let new = NewCurated {
                    domain: domain.clone(),
                    content: candidate.content,
                    origin: candidate.origin,
                };
                insert(&work, &new, Some(id)).await?
            }
        };
        let state = "UPDATE airlock.candidates SET state = 'promoted', curated = $2, changed_at = clock_timestamp() WHERE id = $1";
        work.execute(state, &[&id, &curated]).await.map_err(failed)?;
        let (candidate, kind) = (Some(id), candidate.kind);
        let entry = Entry {
            domain,
            kind,
            candidate,
            curated: Some(curated),
            verdict: "promote",
            hash: seen,
            before: None,
        };
        finish(work, entry, by).await
    }

    /// Refuses a candidate. It stays, so that it is not proposed again.
    ///
    /// # Errors
    /// As [`Promote::promote`].
    pub async fn reject(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        self.put_away(domain, id, seen, CandidateState::Rejected, None, by).await
    }

    /// Puts a candidate away because it is nearly the same as a curated item.
    ///
    /// # Errors
    /// As [`Promote::promote`].
    pub async fn duplicate(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        of: ItemId,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        self.put_away(domain, id, seen, CandidateState::Duplicate, Some(of), by).await
    }

    async fn put_away(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        state: CandidateState,
        curated: Option<ItemId>,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        let mut lease = self.pool.lease().await?;
        let work = self.begin(&mut lease).await?;
        let kind = undecided(&work, domain, id, seen).await?.kind;
        set_state(&work, id, state).await?;
        let verdict = if state == CandidateState::Duplicate { "duplicate" } else { "reject" };
        finish(
            work,
            Entry { domain, kind, candidate: Some(id), curated, verdict, hash: seen, before: None },
            by,
        )
        .await
    }

    /// Takes a decision on a candidate back: it waits again. If it was promoted, the curated item leaves service.
    ///
    /// # Errors
    /// As [`Promote::promote`]; [`StoreError::Decided`] when there is no decision to take back.
    pub async fn set_back(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        let mut lease = self.pool.lease().await?;
        let work = self.begin(&mut lease).await?;
        let candidate = locked_candidate(&work, domain, id, seen).await?;
        if candidate.state == CandidateState::Proposed {
            return Err(StoreError::Decided { id, state: candidate.state.to_string() });
        }
        set_state(&work, id, CandidateState::Proposed).await?;
        if let Some(curated) = candidate.curated {
            move_to(&work, curated, CurationState::Withdrawn).await?;
        }
        let (kind, curated) = (candidate.kind, candidate.curated);
        finish(
            work,
            Entry {
                domain,
                kind,
                candidate: Some(id),
                curated,
                verdict: "set_back",
                hash: seen,
                before: None,
            },
            by,
        )
        .await
    }

    /// Curates what a person wrote. The same content a second time is [`StoreError::Decided`].
    ///
    /// # Errors
    /// When it cannot be kept, or the store is away.
    pub async fn add(&self, new: NewCurated, by: &Decision) -> Result<Decided, StoreError> {
        new.content.check()?;
        let hash = new.content.hash();
        let mut lease = self.pool.lease().await?;
        let work = self.begin(&mut lease).await?;
        // Another question may have the same SQL, and a person may say so.
        let known = "SELECT id FROM airlock.curated WHERE domain = $1 AND kind = $2 AND state <> 'withdrawn' AND (hash = $3
                OR canonical = $4 AND (kind <> 'example' OR lower(content ->> 'question') = lower($5::text::jsonb ->> 'question')))
            ORDER BY made_at LIMIT 1";
        let given = (new.domain.as_str(), new.content.kind().as_str(), hash.to_string());
        let (canonical, json) = (new.content.canonical().map(|hash| hash.to_string()), new.content.to_json());
        let known = work.query_opt(known, &[&given.0, &given.1, &given.2, &canonical, &json]).await;
        if let Some(row) = known.map_err(failed)? {
            return Err(StoreError::Decided {
                id: row.get(0),
                state: "curated with this content".to_owned(),
            });
        }
        let curated = insert(&work, &new, None).await?;
        let (domain, kind) = (&new.domain, new.content.kind());
        finish(
            work,
            Entry {
                domain,
                kind,
                candidate: None,
                curated: Some(curated),
                verdict: "add",
                hash,
                before: None,
            },
            by,
        )
        .await
    }

    /// Changes what a candidate says. It waits for a decision again.
    ///
    /// # Errors
    /// As [`Promote::promote`]; the new content must be of the same kind.
    pub async fn edit_candidate(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        content: &Content,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        content.check()?;
        let mut lease = self.pool.lease().await?;
        let work = self.begin(&mut lease).await?;
        let kind = same_kind(undecided(&work, domain, id, seen).await?.kind, content)?;
        let hash = content.hash();
        let change = "UPDATE airlock.candidates SET content = $2::text::jsonb, hash = $3, canonical = $4, changed_at = clock_timestamp()
            WHERE id = $1";
        let canonical = content.canonical().map(|hash| hash.to_string());
        work.execute(change, &[&id, &content.to_json(), &hash.to_string(), &canonical])
            .await
            .map_err(failed)?;
        let entry = Entry {
            domain,
            kind,
            candidate: Some(id),
            curated: None,
            verdict: "edit",
            hash,
            before: Some(seen),
        };
        finish(work, entry, by).await
    }

    /// Changes what a curated item says. Its state stays.
    ///
    /// # Errors
    /// As [`Promote::promote`]; the new content must be of the same kind.
    pub async fn edit(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        content: &Content,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        content.check()?;
        let mut lease = self.pool.lease().await?;
        let work = self.begin(&mut lease).await?;
        let item = locked(&work, domain, id, seen).await?;
        let kind = same_kind(item.content.kind(), content)?;
        write(&work, id, item.state, content).await?;
        let (candidate, hash) = (item.candidate, content.hash());
        finish(
            work,
            Entry { domain, kind, candidate, curated: Some(id), verdict: "edit", hash, before: Some(seen) },
            by,
        )
        .await
    }

    /// Takes a curated item out of service because it does not help. It can be restored.
    ///
    /// # Errors
    /// As [`Promote::promote`].
    pub async fn demote(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        self.shift(domain, id, seen, (&[CurationState::Active], CurationState::Stale, "demote"), by).await
    }

    /// Takes a curated item out of service because what it names is gone, or another says it better.
    ///
    /// # Errors
    /// As [`Promote::promote`].
    pub async fn supersede(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        let from = [CurationState::Active, CurationState::Stale];
        self.shift(domain, id, seen, (&from, CurationState::Superseded, "supersede"), by).await
    }

    /// Takes out of service what a person added. What was a candidate is set back instead.
    ///
    /// # Errors
    /// As [`Promote::promote`].
    pub async fn withdraw(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        let from = [CurationState::Active, CurationState::Stale, CurationState::Superseded];
        self.shift(domain, id, seen, (&from, CurationState::Withdrawn, "withdraw"), by).await
    }

    /// Puts a curated item back in service.
    ///
    /// # Errors
    /// As [`Promote::promote`]. One whose candidate was set back is decided on there.
    pub async fn restore(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        let from = [CurationState::Stale, CurationState::Superseded, CurationState::Withdrawn];
        self.shift(domain, id, seen, (&from, CurationState::Active, "restore"), by).await
    }

    async fn shift(
        &self,
        domain: &DomainName,
        id: ItemId,
        seen: ContentHash,
        (from, to, verdict): (&[CurationState], CurationState, &'static str),
        by: &Decision,
    ) -> Result<Decided, StoreError> {
        let mut lease = self.pool.lease().await?;
        let work = self.begin(&mut lease).await?;
        let item = locked(&work, domain, id, seen).await?;
        // A candidate and what it became change together, or the two would tell different stories.
        let of_candidate = item.candidate.is_some()
            && (item.state == CurationState::Withdrawn || to == CurationState::Withdrawn);
        if !from.contains(&item.state) || of_candidate {
            let state = match of_candidate {
                true => format!("{}, and was a candidate: decide on that", item.state),
                false => item.state.to_string(),
            };
            return Err(StoreError::Decided { id, state });
        }
        move_to(&work, id, to).await?;
        let (kind, candidate) = (item.content.kind(), item.candidate);
        finish(
            work,
            Entry { domain, kind, candidate, curated: Some(id), verdict, hash: seen, before: None },
            by,
        )
        .await
    }
}

fn same_kind(kind: Kind, content: &Content) -> Result<Kind, StoreError> {
    if content.kind() == kind {
        return Ok(kind);
    }
    let reason = format!("it is of kind {kind} and cannot become {}", content.kind());
    Err(ContentError::Wrong { field: "content", reason }.into())
}

/// A candidate, locked and as it was seen.
async fn locked_candidate(
    work: &Transaction<'_>,
    domain: &DomainName,
    id: ItemId,
    seen: ContentHash,
) -> Result<Candidate, StoreError> {
    let query = format!("{CANDIDATES} WHERE domain = $1 AND id = $2 FOR UPDATE");
    let row = work.query_opt(&query, &[&domain.as_str(), &id]).await.map_err(failed)?;
    let found = candidate(&row.ok_or(StoreError::NotFound { what: "candidate", id })?)?;
    if found.hash != seen {
        return Err(StoreError::Changed { id, seen, now: found.hash, content: Box::new(found.content) });
    }
    Ok(found)
}

/// The same, and nobody decided on it.
async fn undecided(
    work: &Transaction<'_>,
    domain: &DomainName,
    id: ItemId,
    seen: ContentHash,
) -> Result<Candidate, StoreError> {
    let found = locked_candidate(work, domain, id, seen).await?;
    if found.state.waits() {
        Ok(found)
    } else {
        Err(StoreError::Decided { id, state: found.state.to_string() })
    }
}

/// A curated item, locked and as it was seen.
async fn locked(
    work: &Transaction<'_>,
    domain: &DomainName,
    id: ItemId,
    seen: ContentHash,
) -> Result<Curation, StoreError> {
    let query = format!("{CURATED} WHERE domain = $1 AND id = $2 FOR UPDATE");
    let row = work.query_opt(&query, &[&domain.as_str(), &id]).await.map_err(failed)?;
    let found = curation(&row.ok_or(StoreError::NotFound { what: "curated item", id })?)?;
    if found.hash != seen {
        return Err(StoreError::Changed { id, seen, now: found.hash, content: Box::new(found.content) });
    }
    Ok(found)
}

async fn set_state(work: &Transaction<'_>, id: ItemId, state: CandidateState) -> Result<(), StoreError> {
    let query = "UPDATE airlock.candidates SET state = $2, curated = NULL, changed_at = clock_timestamp() WHERE id = $1";
    work.execute(query, &[&id, &state.as_str()]).await.map(|_| ()).map_err(failed)
}

async fn move_to(work: &Transaction<'_>, id: ItemId, state: CurationState) -> Result<(), StoreError> {
    let query = "UPDATE airlock.curated SET state = $2, changed_at = clock_timestamp() WHERE id = $1";
    work.execute(query, &[&id, &state.as_str()]).await.map(|_| ()).map_err(failed)
}

async fn write(
    work: &Transaction<'_>,
    id: ItemId,
    state: CurationState,
    content: &Content,
) -> Result<(), StoreError> {
    let query = "UPDATE airlock.curated SET state = $2, content = $3::text::jsonb, hash = $4, canonical = $5,
        changed_at = clock_timestamp() WHERE id = $1";
    let canonical = content.canonical().map(|hash| hash.to_string());
    let given = (state.as_str(), content.to_json(), content.hash().to_string());
    work.execute(query, &[&id, &given.0, &given.1, &given.2, &canonical]).await.map(|_| ()).map_err(failed)
}

async fn insert(
    work: &Transaction<'_>,
    new: &NewCurated,
    candidate: Option<ItemId>,
) -> Result<ItemId, StoreError> {
    let id = ItemId::now();
    let query =
        "INSERT INTO airlock.curated (id, domain, kind, state, content, hash, canonical, source, candidate)
        VALUES ($1, $2, $3, 'active', $4::text::jsonb, $5, $6, $7, $8)";
    let canonical = new.content.canonical().map(|hash| hash.to_string());
    let (kind, origin) = (new.content.kind().as_str(), new.origin.as_str());
    let (json, hash) = (new.content.to_json(), new.content.hash().to_string());
    work.execute(query, &[&id, &new.domain.as_str(), &kind, &json, &hash, &canonical, &origin, &candidate])
        .await
        .map_err(failed)?;
    Ok(id)
}

/// Writes the line of the history and commits.
async fn finish(work: Transaction<'_>, entry: Entry<'_>, by: &Decision) -> Result<Decided, StoreError> {
    let who = by.who.trim();
    let wrong = |field, reason: &str| Err(ContentError::Wrong { field, reason: reason.to_owned() }.into());
    if who.is_empty() || who.chars().count() > 200 {
        return wrong("who", "a decision has an author, of at most 200 characters");
    }
    if find_hidden(who, Place::Prose).or_else(|| find_hidden(&by.why, Place::Prose)).is_some() {
        return wrong("why", "it holds a hidden character: type it again without");
    }
    let decision = ItemId::now();
    let query = "INSERT INTO airlock.decisions (id, domain, kind, candidate, curated, verdict, hash, hash_before, mode, who, why, evidence)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text::jsonb)";
    let Entry { domain, kind, candidate, curated, verdict, hash, before } = entry;
    let given = (domain.as_str(), kind.as_str(), hash.to_string(), before.map(|hash| hash.to_string()));
    let (mode, why, evidence) = (by.mode.as_str(), shorten(&by.why, WHY - 1), by.evidence.to_string());
    work.execute(
        query,
        &[
            &decision, &given.0, &given.1, &candidate, &curated, &verdict, &given.2, &given.3, &mode, &who,
            &why, &evidence,
        ],
    )
    .await
    .map_err(failed)?;
    work.commit().await.map_err(failed)?;
    Ok(Decided { decision, candidate, curated })
}
