//! Swaps and the way back.

use std::path::PathBuf;
use std::time::Instant;

use airlock_pipeline::Served;
use airlock_pipeline::shadow::can_be_shadowed;
use airlock_runtime::{Component, DomainScope, Stage};
use jiff::Timestamp;
use tokio::sync::mpsc::Sender;

use super::protocol::{CaseGraded, Cases, Reply, RolledBack, Swapped};
use super::verify::{self, Unverified};
use super::{Desk, Journal};
use crate::plugins::{Candidate, Entry, Event, Refusal, difference};

/// What is wanted of a swap.
pub(super) struct Swap {
    pub(super) stage: Stage,
    pub(super) scope: DomainScope,
    pub(super) file: PathBuf,
    pub(super) verify: Option<Cases>,
    pub(super) force: bool,
    pub(super) shadow: Option<u32>,
}

/// Most runs of a candidate beside what serves.
pub const RUNS: u32 = 100_000;

fn refused(why: impl Into<String>) -> Reply {
    Reply::Refused { why: why.into(), verified: None }
}

impl Desk {
    /// Everything that can be wrong is found before anything changes.
    pub(super) async fn swap(&self, swap: Swap, by: String, told: Sender<CaseGraded>) -> Reply {
        let Swap { stage, scope, .. } = &swap;
        if let DomainScope::Only(domain) = scope
            && let Err(error) = self.host.domain(Some(domain))
        {
            return refused(error.to_string());
        }
        let candidate = match self.candidate(&swap).await {
            Ok(candidate) => candidate,
            Err(reply) => return reply,
        };
        let (component, set) = (&candidate.component, self.host.registry().current());
        let trial = match set.with(*stage, scope, component) {
            Ok(trial) => trial,
            Err(error) => return refused(error.to_string()),
        };
        if set.serving(*stage, scope).is_some_and(|now| now.digest() == component.digest()) {
            return refused(format!(
                "`{}` ({}) serves already",
                component.name(),
                component.digest().short()
            ));
        }
        if let Some(runs) = swap.shadow {
            return self.shadow(&swap, &candidate, runs);
        }
        let verified = match &swap.verify {
            None => None,
            Some(cases) => {
                match verify::replay(&self.host, scope, cases, &set, trial, component.digest(), told).await {
                    Ok(verified) => Some(verified),
                    Err(Unverified::Refused(why)) => return refused(why),
                    Err(Unverified::Infrastructure(why)) => return Reply::Failed { why },
                }
            }
        };
        let worse = verified.as_ref().is_some_and(|verified| !verified.regressions.is_empty());
        let _copies = self.copying.lock().await;
        if !worse || swap.force {
            // Before the lock that a way back takes: that does not wait for a slow disk.
            if let Err(error) = self.keep(&candidate).await {
                return Reply::Failed {
                    why: format!("the component cannot be kept, so nothing was changed: {error}"),
                };
            }
        }
        // Taken only now: a way back never waits for golden cases.
        let one = self.changing.lock().await;
        let current = self.host.registry().current();
        let from = current.serving(*stage, scope).cloned();
        let digest = |component: &Component| component.digest();
        if from.as_ref().map(digest) != set.serving(*stage, scope).map(digest) {
            return refused(
                "what serves was changed meanwhile; look at `airlock plugin history` and try again",
            );
        }
        // A domain without a component of its own was served by that of all.
        let before = from.as_ref().or_else(|| current.serving(*stage, &DomainScope::Any));
        let (served, to) = (before.map(Served::from), Served::from(component));
        if let Some(verified) = verified.as_ref().filter(|_| worse && !swap.force) {
            let event = Event::Refused { from: served, to, verified: verified.clone() };
            Journal(self.history.clone()).write(&entry(*stage, scope, by, event));
            let why = format!(
                "{} of {} golden cases that are right now would not be; nothing was changed (`--force` swaps all the same)",
                verified.regressions.len(),
                verified.cases
            );
            return Reply::Refused { why, verified: Some(verified.clone()) };
        }
        let grant = difference(before.map(Component::grant), component.grant());
        let change = Swapped {
            stage: *stage,
            domains: scope.clone(),
            from: served,
            to,
            grant,
            verified,
            forced: worse && swap.force,
        };
        if let Err(error) = self.record(&change, by) {
            return Reply::Failed { why: format!("the swap cannot be kept, so it was not made: {error}") };
        }
        if let Err(error) = self.host.swap(*stage, scope, component) {
            return refused(error.to_string());
        }
        drop(one);
        let history = self.history.clone();
        // A bug in there would leave files behind; the swap is made.
        let _ = tokio::task::spawn_blocking(move || super::prune(&history)).await;
        Reply::Swapped(change)
    }

    /// Reads and compiles on a thread that may block.
    async fn candidate(&self, swap: &Swap) -> Result<Candidate, Reply> {
        let (runtime, reviewed) = (self.host.runtime().clone(), self.reviewed.clone());
        let (file, stage, scope) = (swap.file.clone(), swap.stage, swap.scope.clone());
        let set = self.host.registry().current();
        let loaded = tokio::task::spawn_blocking(move || {
            let serving = set.serving(stage, &scope).or_else(|| set.serving(stage, &DomainScope::Any));
            Candidate::load(&runtime, &reviewed, &file, stage, &scope, serving)
        });
        match loaded.await {
            Ok(Ok(candidate)) => Ok(candidate),
            Ok(Err(Refusal(why))) => Err(refused(why)),
            Err(error) => Err(Reply::Failed { why: format!("a bug in the host: {error}") }),
        }
    }

    /// A copy for the host's next start.
    async fn keep(&self, candidate: &Candidate) -> std::io::Result<()> {
        let (history, digest) = (self.history.clone(), candidate.component.digest());
        let (bytes, signature) = (candidate.bytes.clone(), candidate.signature.clone());
        let kept = tokio::task::spawn_blocking(move || history.keep(digest, &bytes, signature.as_deref()));
        kept.await.map_err(std::io::Error::other)?
    }

    fn shadow(&self, swap: &Swap, candidate: &Candidate, runs: u32) -> Reply {
        if !can_be_shadowed(swap.stage) {
            return refused(format!(
                "the stage `{}` cannot be shadowed: replay golden cases instead",
                swap.stage
            ));
        }
        if !(1..=RUNS).contains(&runs) {
            return refused(format!("--shadow: from 1 to {RUNS} runs"));
        }
        self.host.shadows().begin(swap.stage, &swap.scope, &candidate.component, runs);
        Reply::Shadowing { candidate: Served::from(&candidate.component), runs }
    }

    /// On disk before it is made: a host that dies now comes back with the new one.
    fn record(&self, change: &Swapped, by: String) -> std::io::Result<()> {
        if change.forced {
            tracing::warn!(
                stage = %change.stage, domains = %change.domains, component = change.to.component, by,
                "a component goes into service by force although golden cases got worse"
            );
        } else {
            tracing::info!(
                stage = %change.stage, domains = %change.domains, component = change.to.component, by,
                "a component goes into service"
            );
        }
        let Swapped { stage, domains, from, to, grant, verified, forced } = change.clone();
        self.history.append(&entry(stage, &domains, by, Event::Swapped { from, to, grant, verified, forced }))
    }

    /// The way back is not held up by a disk that is full.
    pub(super) async fn rollback(&self, stage: Stage, scope: &DomainScope, by: String) -> Reply {
        let began = Instant::now();
        let _one = self.changing.lock().await;
        let from = self.host.registry().current().serving(stage, scope).map(Served::from);
        let to = match self.host.rollback(stage, scope) {
            Ok(to) => to.as_ref().map(Served::from),
            Err(error) => return refused(error.to_string()),
        };
        // A domain that has none of its own any more is served by that of all; the history tells of its own alone.
        let serves = || self.host.registry().current().serving(stage, &DomainScope::Any).map(Served::from);
        let shown = to.clone().or_else(serves);
        let took = began.elapsed();
        tracing::warn!(%stage, domains = %scope, by, ?took, "an operator went back to what served before");
        let event = Event::RolledBack { from: from.clone(), to };
        let unwritten = Journal(self.history.clone()).write(&entry(stage, scope, by, event));
        Reply::RolledBack(RolledBack { stage, domains: scope.clone(), from, to: shown, unwritten })
    }
}

fn entry(stage: Stage, scope: &DomainScope, by: String, event: Event) -> Entry {
    Entry { at: Timestamp::now(), stage, domains: scope.clone(), by, event }
}
