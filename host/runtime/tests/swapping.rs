//! What serves which stage: swaps, the way back, and what a running ask sees.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use airlock_runtime::{Component, DomainScope, Import, Registry, Runtime, Stage, SwapError};
use airlock_types::DomainName;
use support::{HONEST, grant, planner, runtime};

fn version(runtime: &Runtime, number: usize, scope: &DomainScope) -> Component {
    let bytes = planner("", &format!("{} {HONEST}", "(nop) ".repeat(number)));
    let mut grant = grant(&bytes, Import::ALL);
    grant.domains = [scope.clone()].into();
    runtime.load(&bytes, &grant).unwrap()
}

fn domain(name: &str) -> DomainName {
    name.parse().unwrap()
}

#[test]
fn a_swap_leaves_running_asks_alone_and_can_be_taken_back() {
    let runtime = runtime(|_| {});
    let (any, shop) = (DomainScope::Any, domain("hardware-shop"));
    let [one, two] = [1, 2].map(|number| version(&runtime, number, &any));
    let registry = Registry::new();
    assert!(registry.current().component(Stage::Planner, &shop).is_none());
    registry.install(&one);
    let ask = registry.current();
    assert_eq!(registry.swap(Stage::Planner, &any, &two).unwrap().unwrap().digest(), one.digest());
    assert_eq!(ask.component(Stage::Planner, &shop).unwrap().digest(), one.digest());
    assert_eq!(registry.current().component(Stage::Planner, &shop).unwrap().digest(), two.digest());
    assert_eq!(registry.history(Stage::Planner, &any).len(), 1);
    assert_eq!(registry.rollback(Stage::Planner, &any).unwrap().digest(), one.digest());
    assert_eq!(registry.current().component(Stage::Planner, &shop).unwrap().digest(), one.digest());
    let before = registry.current().generation();
    let none = registry.rollback(Stage::Planner, &any).unwrap_err();
    assert_eq!(none, SwapError::NoHistory { stage: Stage::Planner, scope: any });
    assert_eq!(registry.current().generation(), before, "a refused change changes nothing");
}

#[test]
fn a_domains_own_component_goes_first_and_stays_within_its_grant() {
    let runtime = runtime(|_| {});
    let (shop, fleet) = (domain("hardware-shop"), domain("equipment-fleet"));
    let only_shop = DomainScope::Only(shop.clone());
    let general = version(&runtime, 1, &DomainScope::Any);
    let own = version(&runtime, 2, &only_shop);
    let registry = Registry::new();
    registry.install(&general);
    registry.install(&own);
    let now = registry.current();
    assert_eq!(now.component(Stage::Planner, &shop).unwrap().digest(), own.digest());
    assert_eq!(now.component(Stage::Planner, &fleet).unwrap().digest(), general.digest());
    for (stage, scope) in [
        (Stage::Planner, DomainScope::Any),
        (Stage::Planner, DomainScope::Only(fleet)),
        (Stage::Repair, only_shop),
    ] {
        assert!(
            matches!(registry.swap(stage, &scope, &own), Err(SwapError::NotGranted { .. })),
            "{stage} {scope}"
        );
    }
    assert_eq!(registry.current().generation(), now.generation());
}
