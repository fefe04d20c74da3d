//! What serves which stage: swaps, the way back, and what a running ask sees.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use airlock_runtime::{Component, DomainScope, Import, Instead, Registry, Runtime, Stage, SwapError};
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
    assert_eq!(registry.rollback(Stage::Planner, &any).unwrap().unwrap().digest(), one.digest());
    assert_eq!(registry.current().component(Stage::Planner, &shop).unwrap().digest(), one.digest());
    let before = registry.current().generation();
    let none = registry.rollback(Stage::Planner, &any).unwrap_err();
    assert_eq!(none, SwapError::NoHistory { stage: Stage::Planner, scope: any });
    assert_eq!(registry.current().generation(), before, "a refused change changes nothing");
}

#[test]
fn what_was_only_loaded_never_served_and_is_not_gone_back_to() {
    let runtime = runtime(|_| {});
    let (any, shop) = (DomainScope::Any, domain("hardware-shop"));
    let [spare, serving, swapped] = [1, 2, 3].map(|number| version(&runtime, number, &any));
    let registry = Registry::new();
    registry.install(&spare);
    registry.install(&serving);
    assert_eq!(registry.current().component(Stage::Planner, &shop).unwrap().digest(), serving.digest());
    assert!(registry.history(Stage::Planner, &any).is_empty());
    let nothing = SwapError::NoHistory { stage: Stage::Planner, scope: any.clone() };
    assert_eq!(registry.rollback(Stage::Planner, &any).unwrap_err(), nothing);
    registry.swap(Stage::Planner, &any, &swapped).unwrap();
    assert_eq!(registry.rollback(Stage::Planner, &any).unwrap().unwrap().digest(), serving.digest());
    assert_eq!(registry.rollback(Stage::Planner, &any).unwrap_err(), nothing);
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

#[test]
fn a_domain_goes_back_to_what_serves_all() {
    let runtime = runtime(|_| {});
    let shop = domain("hardware-shop");
    let only_shop = DomainScope::Only(shop.clone());
    let [general, own] = [1, 2].map(|number| version(&runtime, number, &DomainScope::Any));
    let registry = Registry::new();
    registry.install(&general);
    let trial = registry.current().with(Stage::Planner, &only_shop, &own).unwrap();
    assert_eq!(trial.component(Stage::Planner, &shop).unwrap().digest(), own.digest());
    assert!(registry.current().serving(Stage::Planner, &only_shop).is_none(), "a trial changes nothing");
    registry.swap(Stage::Planner, &only_shop, &own).unwrap();
    let back = registry.rollback(Stage::Planner, &only_shop).unwrap();
    assert_eq!(back.unwrap().digest(), general.digest());
    assert!(registry.current().serving(Stage::Planner, &only_shop).is_none());
    assert!(registry.rollback(Stage::Planner, &only_shop).is_err());
}

#[test]
fn a_withdrawn_component_gives_way_and_does_not_come_back() {
    let runtime = runtime(|_| {});
    let any = DomainScope::Any;
    let [one, two, three] = [1, 2, 3].map(|number| version(&runtime, number, &any));
    let registry = Registry::new();
    registry.install(&one);
    let swap = |component| registry.swap(Stage::Planner, &any, component).unwrap();
    let withdraw =
        |component: &Component, instead| registry.withdraw(Stage::Planner, &any, component.digest(), instead);
    swap(&two);
    swap(&three);
    swap(&two);
    assert!(withdraw(&three, Instead::Previous).unwrap().is_none(), "it does not serve");
    assert_eq!(withdraw(&two, Instead::Previous).unwrap().unwrap().digest(), three.digest());
    assert_eq!(registry.history(Stage::Planner, &any).len(), 1, "the other time of `two` is forgotten too");
    swap(&two);
    assert_eq!(withdraw(&two, Instead::This(&one)).unwrap().unwrap().digest(), one.digest());
    assert!(registry.history(Stage::Planner, &any).is_empty());
    for instead in [Instead::Previous, Instead::This(&one)] {
        assert!(withdraw(&one, instead).is_err(), "nothing could serve instead");
        assert_eq!(registry.current().serving(Stage::Planner, &any).unwrap().digest(), one.digest());
    }
}
