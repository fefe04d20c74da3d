//! Quarantine over real components: what each policy does, and what counts.

use std::path::Path;

use airlock_runtime::contract::types::StageError;
use airlock_runtime::{CallErrorKind, Grant, ModelRole, Runtime, RuntimeConfig, TrapReport};
use airlock_types::DomainName;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::*;

/// Planners that differ in their digest and nothing else.
pub(crate) fn planners<const N: usize>() -> [Component; N] {
    let runtime = Runtime::new(RuntimeConfig { max_calls: 1, ..RuntimeConfig::default() }).unwrap();
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")).unwrap();
    let world = resolve.select_world(&[package], Some("planner-stage")).unwrap();
    std::array::from_fn(|number| {
        let text = format!(
            r#"(module (memory (export "memory") 1)
                (func (export "airlock:plugin/planner@0.1.0#run") (param i32) (result i32) {} unreachable)
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64)))"#,
            "nop ".repeat(number)
        );
        let mut module = wat::parse_str(text).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
        let bytes = ComponentEncoder::default().module(&module).unwrap().encode().unwrap();
        let mut grant = Grant::of_nothing(format!("planner-{number}"), ContentHash::of(&bytes));
        grant.stages.insert(Stage::Planner);
        grant.domains.insert(DomainScope::Any);
        grant.model_roles.insert(ModelRole::Fast);
        runtime.load(&bytes, &grant).unwrap()
    })
}

fn fault(component: &Component) -> CallError {
    CallError {
        component: component.name().to_owned(),
        digest: component.digest(),
        stage: Stage::Planner,
        kind: Box::new(CallErrorKind::Trap(TrapReport::default())),
    }
}

fn quarantine(registry: &Registry, policy: FailurePolicy) -> Quarantine {
    let on_failure = [(Stage::Planner, policy)].into();
    Quarantine::new(QuarantinePolicy { on_failure, ..QuarantinePolicy::default() }, registry.current())
}

fn serves(registry: &Registry) -> String {
    registry.current().serving(Stage::Planner, &DomainScope::Any).unwrap().name().to_owned()
}

#[test]
fn each_policy_does_what_it_says() {
    let [first, second, third] = planners();
    for (policy, now, barred) in [
        (FailurePolicy::Previous, "planner-1", false),
        (FailurePolicy::BuiltIn, "planner-0", false),
        (FailurePolicy::Fail, "planner-2", true),
    ] {
        let registry = Registry::new();
        registry.install(&first);
        let quarantine = quarantine(&registry, policy);
        for component in [&second, &third] {
            registry.swap(Stage::Planner, &DomainScope::Any, component).unwrap();
        }
        for asks in 1..=3 {
            assert_eq!(serves(&registry), "planner-2", "{policy:?} after {} asks", asks - 1);
            quarantine.observe(&registry, &fault(&third));
        }
        assert_eq!(serves(&registry), now, "{policy:?}");
        assert_eq!(quarantine.bars(Stage::Planner, third.digest()), barred, "{policy:?}");
        let list = quarantine.list();
        assert_eq!((list.len(), list[0].asks, list[0].component.component.as_str()), (1, 3, "planner-2"));
        // Asks that began before go on failing on the old one; that is no fault of the one that serves now.
        for _ in 0..3 {
            quarantine.observe(&registry, &fault(&third));
        }
        assert_eq!(serves(&registry), now, "{policy:?}");
        quarantine.release(Stage::Planner, &DomainScope::Any, None);
        assert!(quarantine.list().is_empty() && !quarantine.bars(Stage::Planner, third.digest()));
    }
}

#[test]
fn the_only_component_stays_and_is_told_of_once() {
    struct Counter(Mutex<usize>);
    impl Witness for Counter {
        fn quarantined(&self, _: &Quarantined) {
            *self.0.lock().unwrap() += 1;
        }
        fn shadowed(&self, _: &crate::shadow::ShadowReport) {}
    }
    let [only] = planners();
    let registry = Registry::new();
    registry.install(&only);
    for policy in [FailurePolicy::Previous, FailurePolicy::BuiltIn] {
        let quarantine = quarantine(&registry, policy);
        let counter = Arc::new(Counter(Mutex::default()));
        let witness: Arc<dyn Witness> = Arc::<Counter>::clone(&counter);
        assert!(quarantine.witness.set(witness).is_ok());
        for _ in 0..7 {
            quarantine.observe(&registry, &fault(&only));
        }
        assert_eq!(serves(&registry), "planner-0");
        assert_eq!(quarantine.list()[0].consequence, Consequence::NothingElse);
        assert_eq!(*counter.0.lock().unwrap(), 1);
    }
}

#[test]
fn only_faults_of_the_component_within_the_window_count() {
    let [first, second] = planners();
    let shop: DomainName = "shop".parse().unwrap();
    let registry = Registry::new();
    registry.install(&first);
    registry.swap(Stage::Planner, &DomainScope::Only(shop), &second).unwrap();
    let own = || registry.current().iter().count();
    let blameless = CallError {
        kind: Box::new(CallErrorKind::Stage(StageError::Internal("no".to_owned()))),
        ..fault(&second)
    };
    let strict = Quarantine::new(QuarantinePolicy::default(), registry.current());
    for _ in 0..5 {
        strict.observe(&registry, &blameless);
    }
    let short = QuarantinePolicy { within: Duration::ZERO, ..QuarantinePolicy::default() };
    let forgetful = Quarantine::new(short, registry.current());
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(1));
        forgetful.observe(&registry, &fault(&second));
    }
    assert!(strict.list().is_empty() && forgetful.list().is_empty());
    assert_eq!(own(), 2);
    // The domain's own goes; what serves all domains serves it again.
    for _ in 0..3 {
        strict.observe(&registry, &fault(&second));
    }
    assert_eq!(own(), 1);
    let brought_back = Consequence::BroughtBack { serves: Served::from(&first) };
    assert_eq!(strict.list()[0].consequence, brought_back);
}
