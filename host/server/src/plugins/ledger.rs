//! What follows from a history: which components were in service on top of those that came with the host.

use std::collections::{BTreeMap, BTreeSet};

use airlock_pipeline::quarantine::Consequence;
use airlock_pipeline::{Quarantined, Served};
use airlock_runtime::{DomainScope, Stage};
use airlock_types::ContentHash;

use super::history::{Entry, Event};

type Slot = (Stage, DomainScope);

/// Components of one stage that are brought back: as many as a rollback can reach.
pub const DEPTH: usize = 17;

/// What a history comes to.
#[derive(Debug, Default, PartialEq)]
pub struct Ledger {
    /// Components above the one that came with the host, the one in service last.
    pub stacks: BTreeMap<Slot, Vec<Served>>,
    /// Quarantines that no operator answered yet.
    pub quarantined: BTreeMap<Slot, Quarantined>,
}

impl Ledger {
    /// Reads a history, oldest first.
    pub fn of(entries: &[Entry]) -> Self {
        let mut ledger = Self::default();
        for Entry { stage, domains, event, .. } in entries {
            let slot = (*stage, domains.clone());
            let stack = ledger.stacks.entry(slot.clone()).or_default();
            match event {
                Event::Swapped { to, .. } => {
                    stack.push(to.clone());
                    ledger.quarantined.remove(&slot);
                }
                Event::RolledBack { to, .. } => {
                    stack.pop();
                    go_back(stack, to.as_ref());
                    ledger.quarantined.remove(&slot);
                }
                Event::Quarantined { quarantined } => {
                    if let Consequence::BroughtBack { serves } = &quarantined.consequence {
                        stack.retain(|served| *served != quarantined.component);
                        go_back(stack, Some(serves));
                    }
                    ledger.quarantined.insert(slot, quarantined.clone());
                }
                Event::Refused { .. } | Event::Shadowed { .. } => {}
            }
        }
        ledger.stacks.retain(|_, stack| !stack.is_empty());
        ledger
    }

    /// The components that serve or that a way back leads to.
    pub fn needed(&self) -> BTreeSet<ContentHash> {
        let reachable =
            |stack: &Vec<Served>| stack.iter().rev().take(DEPTH).map(|it| it.digest).collect::<Vec<_>>();
        self.stacks.values().flat_map(reachable).collect()
    }
}

/// Down to what the entry says has served since; what is not in the stack came with the host.
fn go_back(stack: &mut Vec<Served>, to: Option<&Served>) {
    while stack.last().is_some_and(|top| Some(top) != to) {
        stack.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(name: &str) -> Served {
        Served { component: name.to_owned(), digest: ContentHash::of(name) }
    }

    fn swapped(to: &str) -> Event {
        Event::Swapped { from: None, to: served(to), grant: Vec::new(), verified: None, forced: false }
    }

    fn back(to: &str) -> Event {
        Event::RolledBack { from: None, to: Some(served(to)) }
    }

    fn quarantined(component: &str, consequence: Consequence) -> Event {
        Event::Quarantined {
            quarantined: Quarantined {
                stage: Stage::Repair,
                domains: DomainScope::Any,
                component: served(component),
                asks: 3,
                reason: "it trapped".to_owned(),
                consequence,
            },
        }
    }

    #[test]
    fn the_stack_follows_from_the_events() {
        let again = |name: &str| Consequence::BroughtBack { serves: served(name) };
        for (events, want, held) in [
            (vec![swapped("b")], &["b"][..], false),
            (vec![swapped("b"), swapped("c")], &["b", "c"], false),
            (vec![swapped("b"), swapped("c"), back("b")], &["b"], false),
            (vec![swapped("b"), back("built-in")], &[], false),
            (vec![swapped("b"), swapped("c"), back("built-in")], &[], false),
            (vec![swapped("b"), swapped("c"), swapped("b"), back("c")], &["b", "c"], false),
            (vec![swapped("b"), swapped("c"), quarantined("c", again("b"))], &["b"], true),
            (vec![swapped("b"), swapped("c"), swapped("b"), quarantined("b", again("c"))], &["c"], true),
            (vec![swapped("b"), quarantined("b", again("built-in")), swapped("c")], &["c"], false),
            (vec![swapped("b"), quarantined("b", Consequence::StageFails)], &["b"], true),
        ] {
            let entries: Vec<Entry> = events
                .into_iter()
                .map(|event| Entry {
                    at: "2026-07-01T10:00:00Z".parse().unwrap(),
                    stage: Stage::Repair,
                    domains: DomainScope::Any,
                    by: "host".to_owned(),
                    event,
                })
                .collect();
            let ledger = Ledger::of(&entries);
            let stack = ledger.stacks.get(&(Stage::Repair, DomainScope::Any)).cloned().unwrap_or_default();
            assert_eq!(stack, want.iter().map(|name| served(name)).collect::<Vec<_>>(), "{entries:?}");
            assert_eq!(!ledger.quarantined.is_empty(), held, "{entries:?}");
        }
    }
}
