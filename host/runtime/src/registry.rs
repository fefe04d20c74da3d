//! The registry: which component serves which stage of which domain now, what served before, and the way back.
//!
//! An ask takes one [`StageSet`] when it begins and keeps it to its end, so a swap never changes a running ask.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use airlock_types::DomainName;
use arc_swap::ArcSwap;
use thiserror::Error;

use crate::grants::{DomainScope, Stage};
use crate::load::Component;

/// Components that a rollback can bring back, for each stage and scope.
const HISTORY: usize = 16;

/// A stage of all domains or of one.
type Slot = (Stage, DomainScope);

/// Which component serves which stage, at one moment.
#[derive(Debug, Clone, Default)]
pub struct StageSet {
    slots: BTreeMap<Slot, Component>,
    generation: u64,
}

impl StageSet {
    /// The component for this stage of this domain: the domain's own, or else the one for all domains.
    #[must_use]
    pub fn component(&self, stage: Stage, domain: &DomainName) -> Option<&Component> {
        self.slots
            .get(&(stage, DomainScope::Only(domain.clone())))
            .or_else(|| self.slots.get(&(stage, DomainScope::Any)))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Stage, &DomainScope, &Component)> {
        self.slots.iter().map(|((stage, scope), component)| (*stage, scope, component))
    }

    /// Grows by one with each change.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

/// A change of the registry is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SwapError {
    /// The component's grant does not say so.
    #[error(
        "the grant of `{component}` does not name stage `{stage}` for domain `{scope}`; add it there first"
    )]
    NotGranted {
        /// The component.
        component: String,
        /// The stage.
        stage: Stage,
        /// The domains.
        scope: DomainScope,
    },
    /// There is nothing to go back to.
    #[error("nothing served stage `{stage}` of domain `{scope}` before")]
    NoHistory {
        /// The stage.
        stage: Stage,
        /// The domains.
        scope: DomainScope,
    },
}

/// Holds the present [`StageSet`] and what was there before.
#[derive(Debug, Default)]
pub struct Registry {
    current: ArcSwap<StageSet>,
    /// What served before, oldest first. Also serialises changes.
    history: Mutex<BTreeMap<Slot, Vec<Component>>>,
}

impl Registry {
    /// A registry in which nothing serves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What serves now. Take it once for each ask.
    #[must_use]
    pub fn current(&self) -> Arc<StageSet> {
        self.current.load_full()
    }

    /// Puts a component in service for every stage and domain of its grant.
    pub fn install(&self, component: &Component) {
        let grant = component.grant();
        let slots =
            grant.stages.iter().flat_map(|stage| grant.domains.iter().map(|scope| (*stage, scope.clone())));
        let Ok(()) = self.change(|history, set| {
            for slot in slots {
                replace(history, set, slot, component.clone());
            }
            Ok::<(), Infallible>(())
        });
    }

    /// Puts a component in service for one stage. Returns the one that served before.
    ///
    /// # Errors
    /// When its grant does not name this stage for these domains.
    pub fn swap(
        &self,
        stage: Stage,
        scope: &DomainScope,
        component: &Component,
    ) -> Result<Option<Component>, SwapError> {
        let grant = component.grant();
        let granted = grant.stages.contains(&stage)
            && (grant.domains.contains(scope) || grant.domains.contains(&DomainScope::Any));
        if !granted {
            let component = component.name().to_owned();
            return Err(SwapError::NotGranted { component, stage, scope: scope.clone() });
        }
        self.change(|history, set| Ok(replace(history, set, (stage, scope.clone()), component.clone())))
    }

    /// Brings back what served this stage before. Returns what is in service now.
    ///
    /// # Errors
    /// When nothing did.
    pub fn rollback(&self, stage: Stage, scope: &DomainScope) -> Result<Component, SwapError> {
        let slot = (stage, scope.clone());
        self.change(|history, set| {
            let Some(previous) = history.get_mut(&slot).and_then(Vec::pop) else {
                return Err(SwapError::NoHistory { stage, scope: scope.clone() });
            };
            set.slots.insert(slot, previous.clone());
            Ok(previous)
        })
    }

    /// What served this stage before, newest first.
    #[must_use]
    pub fn history(&self, stage: Stage, scope: &DomainScope) -> Vec<Component> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history
            .get(&(stage, scope.clone()))
            .map(|list| list.iter().rev().cloned().collect())
            .unwrap_or_default()
    }

    /// Makes the next set and puts it in place in one step; an edit that fails must have changed no history.
    fn change<R, E>(
        &self,
        edit: impl FnOnce(&mut BTreeMap<Slot, Vec<Component>>, &mut StageSet) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = StageSet::clone(&self.current.load());
        next.generation += 1;
        let result = edit(&mut history, &mut next)?;
        self.current.store(Arc::new(next));
        Ok(result)
    }
}

fn replace(
    history: &mut BTreeMap<Slot, Vec<Component>>,
    set: &mut StageSet,
    slot: Slot,
    component: Component,
) -> Option<Component> {
    let before = set.slots.insert(slot.clone(), component);
    if let Some(before) = &before {
        let list = history.entry(slot).or_default();
        if list.len() == HISTORY {
            list.remove(0);
        }
        list.push(before.clone());
    }
    before
}
