//! The registry: which component serves which stage of which domain now, what served before, and the way back.
//!
//! An ask takes one [`StageSet`] when it begins and keeps it to its end, so a swap never changes a running ask.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use airlock_types::{ContentHash, DomainName};
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

    /// What serves this stage for exactly this scope.
    #[must_use]
    pub fn serving(&self, stage: Stage, scope: &DomainScope) -> Option<&Component> {
        self.slots.get(&(stage, scope.clone()))
    }

    /// The same set with another component for one stage: what a swap would make, without making it.
    ///
    /// # Errors
    /// When the component's grant does not name this stage for these domains.
    pub fn with(&self, stage: Stage, scope: &DomainScope, component: &Component) -> Result<Self, SwapError> {
        check_grant(stage, scope, component)?;
        let mut next = self.clone();
        next.slots.insert((stage, scope.clone()), component.clone());
        Ok(next)
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
    #[error("there is nothing to go back to: nothing served stage `{stage}` of domain `{scope}` before")]
    NoHistory {
        /// The stage.
        stage: Stage,
        /// The domains.
        scope: DomainScope,
    },
}

/// What a withdrawn component gives way to.
#[derive(Debug, Clone, Copy)]
pub enum Instead<'a> {
    /// What served before it.
    Previous,
    /// This one; what served between the two is forgotten.
    This(&'a Component),
}

/// What served a slot before, oldest first. `None`: a domain had no component of its own.
type History = BTreeMap<Slot, Vec<Option<Component>>>;

/// Holds the present [`StageSet`] and what was there before.
#[derive(Debug, Default)]
pub struct Registry {
    current: ArcSwap<StageSet>,
    /// Also serialises changes.
    history: Mutex<History>,
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

    /// Puts a component in service for every stage and domain of its grant, before anything is asked. Of several for one
    /// slot the last one serves; the others never did, so nobody goes back to them.
    pub fn install(&self, component: &Component) {
        let grant = component.grant();
        let slots =
            grant.stages.iter().flat_map(|stage| grant.domains.iter().map(|scope| (*stage, scope.clone())));
        let Ok(()) = self.change(|_, set| {
            set.slots.extend(slots.map(|slot| (slot, component.clone())));
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
        check_grant(stage, scope, component)?;
        self.change(|history, set| {
            let slot = (stage, scope.clone());
            // A domain that had nothing of its own can go back to that.
            if *scope != DomainScope::Any && !set.slots.contains_key(&slot) {
                history.entry(slot.clone()).or_default().push(None);
            }
            Ok(replace(history, set, slot, component.clone()))
        })
    }

    /// Brings back what served this stage before. Returns what serves now: nothing, when a domain had nothing of its own
    /// and there is none for all domains.
    ///
    /// # Errors
    /// When nothing did.
    pub fn rollback(&self, stage: Stage, scope: &DomainScope) -> Result<Option<Component>, SwapError> {
        let slot = (stage, scope.clone());
        self.change(|history, set| {
            let Some(previous) = history.get_mut(&slot).and_then(Vec::pop) else {
                return Err(SwapError::NoHistory { stage, scope: scope.clone() });
            };
            Ok(put(set, slot, previous))
        })
    }

    /// Takes a component out of service for a stage, if it still serves there, and forgets it, so that no rollback brings
    /// it back. Returns what serves instead, or `None` when it did not serve there any more.
    ///
    /// # Errors
    /// When there is nothing that could serve instead; then the component stays.
    pub fn withdraw(
        &self,
        stage: Stage,
        scope: &DomainScope,
        digest: ContentHash,
        instead: Instead<'_>,
    ) -> Result<Option<Component>, SwapError> {
        let slot = (stage, scope.clone());
        let nothing = || SwapError::NoHistory { stage, scope: scope.clone() };
        if self.current().serving(stage, scope).is_none_or(|component| component.digest() != digest) {
            return Ok(None);
        }
        self.change(|history, set| {
            // Looked at again: whoever changed the slot meanwhile knew better.
            if set.slots.get(&slot).is_none_or(|component| component.digest() != digest) {
                return Ok(None);
            }
            let mut left = history.get(&slot).cloned().unwrap_or_default();
            let previous = match instead {
                Instead::This(component) if component.digest() == digest => return Err(nothing()),
                Instead::This(component) => {
                    left.clear();
                    Some(component.clone())
                }
                Instead::Previous => {
                    left.retain(|before| before.as_ref().is_none_or(|before| before.digest() != digest));
                    left.pop().ok_or_else(nothing)?
                }
            };
            let for_all = set.slots.get(&(stage, DomainScope::Any));
            if previous.is_none() && for_all.is_none_or(|component| component.digest() == digest) {
                return Err(nothing());
            }
            history.insert(slot.clone(), left);
            Ok(put(set, slot, previous))
        })
    }

    /// What served this stage before, newest first.
    #[must_use]
    pub fn history(&self, stage: Stage, scope: &DomainScope) -> Vec<Component> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history
            .get(&(stage, scope.clone()))
            .map(|list| list.iter().rev().flatten().cloned().collect())
            .unwrap_or_default()
    }

    /// Makes the next set and puts it in place in one step; an edit that fails must have changed no history.
    fn change<R, E>(&self, edit: impl FnOnce(&mut History, &mut StageSet) -> Result<R, E>) -> Result<R, E> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = StageSet::clone(&self.current.load());
        next.generation += 1;
        let result = edit(&mut history, &mut next)?;
        self.current.store(Arc::new(next));
        Ok(result)
    }
}

fn check_grant(stage: Stage, scope: &DomainScope, component: &Component) -> Result<(), SwapError> {
    let grant = component.grant();
    let granted = grant.stages.contains(&stage)
        && (grant.domains.contains(scope) || grant.domains.contains(&DomainScope::Any));
    if granted {
        return Ok(());
    }
    Err(SwapError::NotGranted { component: component.name().to_owned(), stage, scope: scope.clone() })
}

/// Puts what served before into its slot, and tells what serves now.
fn put(set: &mut StageSet, slot: Slot, before: Option<Component>) -> Option<Component> {
    if let Some(component) = before {
        set.slots.insert(slot, component.clone());
        return Some(component);
    }
    set.slots.remove(&slot);
    set.slots.get(&(slot.0, DomainScope::Any)).cloned()
}

fn replace(history: &mut History, set: &mut StageSet, slot: Slot, component: Component) -> Option<Component> {
    let before = set.slots.insert(slot.clone(), component);
    if let Some(before) = &before {
        let list = history.entry(slot).or_default();
        if list.len() == HISTORY {
            list.remove(0);
        }
        list.push(Some(before.clone()));
    }
    before
}
