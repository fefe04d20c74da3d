//! Quarantine: a component that fails by its own fault in several asks gives way to what served before.
//!
//! One fault is counted for each ask that it ended. A fault that a later ask cannot bring about again (the host was
//! busy, a stage said itself that it cannot) is none: see [`CallError::is_components_fault`].

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use airlock_runtime::{CallError, Component, DomainScope, Instead, Registry, Stage, StageSet};
use airlock_types::ContentHash;
use airlock_types::text::shorten;
use serde::{Deserialize, Serialize};

use crate::swap::Witness;

/// Characters of a reason that are kept.
const REASON: usize = 1_000;

/// What becomes of a stage whose component is quarantined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailurePolicy {
    /// What served before serves again.
    #[default]
    Previous,
    /// What was loaded first when the host started serves again.
    BuiltIn,
    /// Asks that need the stage fail until an operator swaps the component.
    Fail,
}

/// When a component is quarantined, and what then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinePolicy {
    /// Asks that must fail by its fault.
    pub asks: usize,
    /// Within this time.
    pub within: Duration,
    /// Stages that differ from [`FailurePolicy::Previous`].
    pub on_failure: BTreeMap<Stage, FailurePolicy>,
}

impl Default for QuarantinePolicy {
    fn default() -> Self {
        Self { asks: 3, within: Duration::from_secs(600), on_failure: BTreeMap::new() }
    }
}

/// A component, for a record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Served {
    /// Its name.
    pub component: String,
    /// SHA-256 of its bytes.
    pub digest: ContentHash,
}

impl From<&Component> for Served {
    fn from(component: &Component) -> Self {
        Self { component: component.name().to_owned(), digest: component.digest() }
    }
}

/// What became of the stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "consequence", rename_all = "snake_case")]
pub enum Consequence {
    /// Another component serves.
    BroughtBack {
        /// The other one.
        serves: Served,
    },
    /// The component is no longer called, and asks that need the stage fail.
    StageFails,
    /// There is nothing to bring back: the component goes on serving.
    NothingElse,
}

/// A component in quarantine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// The stage.
    pub stage: Stage,
    /// The domains it served.
    pub domains: DomainScope,
    /// The component.
    #[serde(flatten)]
    pub component: Served,
    /// Asks that failed by its fault.
    pub asks: usize,
    /// The last fault, as an operator reads it.
    pub reason: String,
    /// What became of the stage.
    #[serde(flatten)]
    pub consequence: Consequence,
}

type Slot = (Stage, DomainScope);

#[derive(Default)]
struct State {
    /// When each component failed, oldest first.
    faults: HashMap<(Stage, ContentHash), VecDeque<Instant>>,
    /// By slot, until an operator changes what serves there.
    quarantined: BTreeMap<Slot, Quarantined>,
}

/// Counts faults and acts on them.
pub struct Quarantine {
    policy: QuarantinePolicy,
    /// What was loaded when the host started.
    first: Arc<StageSet>,
    state: Mutex<State>,
    pub(crate) witness: OnceLock<Arc<dyn Witness>>,
}

impl Quarantine {
    pub(crate) fn new(policy: QuarantinePolicy, first: Arc<StageSet>) -> Self {
        Self { policy, first, state: Mutex::default(), witness: OnceLock::new() }
    }

    /// Components in quarantine that no operator has replaced yet.
    #[must_use]
    pub fn list(&self) -> Vec<Quarantined> {
        self.lock().quarantined.values().cloned().collect()
    }

    /// Takes up a quarantine of an earlier run of the host.
    pub fn restore(&self, quarantined: Quarantined) {
        let slot = (quarantined.stage, quarantined.domains.clone());
        self.lock().quarantined.insert(slot, quarantined);
    }

    /// Whether a component must not be called for this stage.
    pub(crate) fn bars(&self, stage: Stage, digest: ContentHash) -> bool {
        self.lock().quarantined.values().any(|entry| {
            entry.stage == stage
                && entry.component.digest == digest
                && entry.consequence == Consequence::StageFails
        })
    }

    /// An operator changed what serves here: whoever serves now begins with no faults.
    pub(crate) fn release(&self, stage: Stage, scope: &DomainScope, now: Option<&Component>) {
        let mut state = self.lock();
        state.quarantined.remove(&(stage, scope.clone()));
        if let Some(component) = now {
            state.faults.remove(&(stage, component.digest()));
        }
    }

    /// Counts a fault that ended an ask.
    pub(crate) fn observe(&self, registry: &Registry, error: &CallError) {
        if !error.is_components_fault() {
            return;
        }
        let Some(asks) = self.count(error.stage, error.digest) else { return };
        let now = registry.current();
        let scopes: Vec<DomainScope> = now
            .iter()
            .filter(|(stage, _, component)| *stage == error.stage && component.digest() == error.digest)
            .map(|(_, scope, _)| scope.clone())
            .collect();
        for scope in scopes {
            let Some(consequence) = self.act(registry, error, &scope) else { continue };
            let quarantined = Quarantined {
                stage: error.stage,
                domains: scope.clone(),
                component: Served { component: error.component.clone(), digest: error.digest },
                asks,
                reason: shorten(&error.kind.to_string(), REASON),
                consequence,
            };
            let slot = (error.stage, scope);
            let known = self.lock().quarantined.insert(slot, quarantined.clone());
            // A component that cannot be replaced goes on failing; that is told once.
            if known.is_some_and(|known| known.component == quarantined.component) {
                continue;
            }
            tell(&quarantined);
            if let Some(witness) = self.witness.get() {
                witness.quarantined(&quarantined);
            }
        }
    }

    /// Counts a fault; gives the number of asks once there were enough of them, and begins anew.
    fn count(&self, stage: Stage, digest: ContentHash) -> Option<usize> {
        let now = Instant::now();
        let mut state = self.lock();
        let times = state.faults.entry((stage, digest)).or_default();
        while times.front().is_some_and(|time| now.duration_since(*time) > self.policy.within) {
            times.pop_front();
        }
        times.push_back(now);
        let enough = times.len() >= self.policy.asks;
        enough.then(|| std::mem::take(times).len())
    }

    /// Takes the component out of one slot, as the policy says; `None` when it does not serve there any more.
    fn act(&self, registry: &Registry, error: &CallError, scope: &DomainScope) -> Option<Consequence> {
        let instead = match self.policy.on_failure.get(&error.stage).copied().unwrap_or_default() {
            FailurePolicy::Fail => return Some(Consequence::StageFails),
            FailurePolicy::Previous => Instead::Previous,
            FailurePolicy::BuiltIn => match self.first.serving(error.stage, scope) {
                Some(first) => Instead::This(first),
                None => Instead::Previous,
            },
        };
        match registry.withdraw(error.stage, scope, error.digest, instead) {
            Ok(None) => None,
            Ok(Some(component)) => Some(Consequence::BroughtBack { serves: Served::from(&component) }),
            Err(_) => Some(Consequence::NothingElse),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell(quarantined: &Quarantined) {
    let Quarantined { stage, domains, component, asks, reason, consequence } = quarantined;
    let then = match consequence {
        Consequence::BroughtBack { serves } => {
            format!("`{}` ({}) serves again", serves.component, serves.digest.short())
        }
        Consequence::StageFails => "asks that need this stage fail until it is swapped".to_owned(),
        Consequence::NothingElse => {
            "there is nothing to bring back, so it goes on serving: swap it".to_owned()
        }
    };
    tracing::error!(
        %stage, %domains, component = component.component, digest = %component.digest, asks, reason,
        "QUARANTINE: a component failed repeatedly; {then}"
    );
}

#[cfg(test)]
pub(crate) mod tests;
