//! One pass of the gate over a domain's candidates. Only one is under way in the whole store.

use airlock_types::DomainName;
use serde::Serialize;

use super::{Decider, Gate, Ruled, Verdict};
use crate::store::{
    Candidate, CandidateState, Decided, Decision, Filter, ItemId, Kind, Pass, Promote, StoreError,
};

/// Candidates read at once.
const PAGE: i64 = 200;

/// How a pass is made.
#[derive(Debug, Clone)]
pub struct PassOptions {
    /// Rule on everything and write nothing.
    pub dry_run: bool,
    /// Who began it, for the history.
    pub who: String,
    /// Candidates that are ruled on at most.
    pub limit: usize,
}

/// How a pass went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PassSummary {
    /// Candidates ruled on.
    pub candidates: usize,
    /// That became curated.
    pub promoted: usize,
    /// That were refused.
    pub rejected: usize,
    /// That are nearly the same as what is curated.
    pub duplicates: usize,
    /// That were left where they are.
    pub skipped: usize,
    /// That somebody else decided on, or changed, meanwhile.
    pub overtaken: usize,
}

/// Rules on the candidates of a domain that wait, the oldest first, and carries each ruling out at once. What was done
/// when a pass ends early stays, each decision whole; the next pass goes on with the rest.
///
/// # Errors
/// [`StoreError::PassRunning`] when another one is under way; as [`StoreError`] says.
pub async fn run(
    promote: &Promote,
    domain: &DomainName,
    gate: &mut Gate<'_>,
    options: &PassOptions,
    mut told: impl FnMut(&Candidate, &Ruled),
) -> Result<PassSummary, StoreError> {
    let held = promote.pass().await?;
    let passed = through(promote, domain, gate, options, &held, &mut told).await;
    held.end().await;
    passed
}

async fn through(
    promote: &Promote,
    domain: &DomainName,
    gate: &mut Gate<'_>,
    options: &PassOptions,
    held: &Pass,
    told: &mut impl FnMut(&Candidate, &Ruled),
) -> Result<PassSummary, StoreError> {
    let mut summary = PassSummary::default();
    for state in [CandidateState::Proposed, CandidateState::NeedsEvidence] {
        let mut after: Option<ItemId> = None;
        loop {
            let (domain, state, limit) = (Some(domain.clone()), Some(state), PAGE);
            let filter = Filter { domain, state, limit, after, ..Filter::default() };
            let page = promote.candidates(&filter).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let disputed = promote.disputed(&page).await?;
            // A golden case grades the others: a person alone promotes one.
            for candidate in page.iter().filter(|candidate| candidate.kind != Kind::Golden) {
                if summary.candidates >= options.limit {
                    return Ok(summary);
                }
                if !held.is_held() {
                    let reason = "the connection that holds the pass was lost: begin again".to_owned();
                    return Err(StoreError::Away { duty: crate::store::Duty::Promote, reason });
                }
                let ruled = gate.rule(candidate, disputed.contains(&candidate.id)).await;
                told(candidate, &ruled);
                one(promote, gate, candidate, &ruled, options, &mut summary).await?;
            }
        }
    }
    Ok(summary)
}

async fn one(
    promote: &Promote,
    gate: &mut Gate<'_>,
    candidate: &Candidate,
    ruled: &Ruled,
    options: &PassOptions,
    summary: &mut PassSummary,
) -> Result<(), StoreError> {
    summary.candidates += 1;
    let curated = match carry_out(promote, candidate, ruled, options).await {
        Ok(decided) => decided.and_then(|decided| decided.curated).unwrap_or(candidate.id),
        Err(error) if error.is_conflict() => {
            summary.overtaken += 1;
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    match &ruled.verdict {
        Verdict::Promote => {
            summary.promoted += 1;
            gate.near.add(curated, &candidate.content).await;
            if let (Decider::Replay(replay), Some(replayed)) = (&gate.decider, &ruled.replayed) {
                replay.promoted(curated, &candidate.content, replayed);
            }
        }
        Verdict::Reject => summary.rejected += 1,
        Verdict::Duplicate(_) => summary.duplicates += 1,
        Verdict::Skip => summary.skipped += 1,
    }
    Ok(())
}

async fn carry_out(
    promote: &Promote,
    candidate: &Candidate,
    ruled: &Ruled,
    options: &PassOptions,
) -> Result<Option<Decided>, StoreError> {
    if options.dry_run {
        return Ok(None);
    }
    let Candidate { id, domain, hash, .. } = candidate;
    let evidence = ruled.evidence.clone();
    let by = Decision { evidence, ..Decision::new(ruled.mode, &options.who, &ruled.why) };
    match ruled.verdict {
        Verdict::Promote => promote.promote(domain, *id, *hash, &by).await.map(Some),
        Verdict::Reject => promote.reject(domain, *id, *hash, &by).await.map(Some),
        Verdict::Duplicate(of) => promote.duplicate(domain, *id, *hash, of, &by).await.map(Some),
        Verdict::Skip => Ok(None),
    }
}
