//! What is refused before anything of it runs, and in which words.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use std::collections::BTreeSet;

use airlock_runtime::{CallErrorKind, Import, Limit, LoadErrorKind, Stage};
use airlock_types::ContentHash;
use support::{HONEST, grant, honest, load, planner, runtime, try_load};

/// A component that imports one function and exports nothing.
fn importing(name: &str) -> Vec<u8> {
    wat::parse_str(format!(r#"(component (import "{name}" (instance (export "f" (func)))))"#)).unwrap()
}

/// A component that exports a planner whose `run` takes and gives nothing.
fn exporting(name: &str) -> Vec<u8> {
    wat::parse_str(format!(
        r#"(component
            (core module $m (func (export "run")))
            (core instance $i (instantiate $m))
            (func $run (canon lift (core func $i "run")))
            (instance $planner (export "run" (func $run)))
            (export "{name}" (instance $planner)))"#
    ))
    .unwrap()
}

#[test]
fn what_is_not_a_component_is_named() {
    let runtime = runtime(|config| config.max_component_bytes = 100_000);
    let module = wat::parse_str("(module)").unwrap();
    let compiled = wasmtime::Engine::default().precompile_component(&honest()).unwrap();
    for (bytes, want) in [
        (Vec::new(), LoadErrorKind::NotAComponent { found: "empty" }),
        (b"(component)".to_vec(), LoadErrorKind::NotAComponent { found: "not WebAssembly" }),
        (module, LoadErrorKind::NotAComponent { found: "a core module" }),
        (vec![0; 100_001], LoadErrorKind::TooLarge { size: 100_001, allowed: 100_000 }),
    ] {
        assert_eq!(try_load(&runtime, &bytes).unwrap_err(), want);
    }
    assert!(compiled.len() <= 100_000, "{}", compiled.len());
    assert_eq!(try_load(&runtime, &compiled).unwrap_err(), LoadErrorKind::Precompiled);
    let mut cut = honest();
    cut.truncate(cut.len() / 2);
    assert!(matches!(try_load(&runtime, &cut).unwrap_err(), LoadErrorKind::Compile(_)));
}

#[test]
fn a_grant_is_for_these_very_bytes() {
    let runtime = runtime(|_| {});
    let bytes = honest();
    let mut other = grant(&bytes, Import::ALL);
    other.digest = ContentHash::of("another version");
    let error = runtime.load(&bytes, &other).unwrap_err();
    let found = ContentHash::of(&bytes);
    assert_eq!(error.kind, LoadErrorKind::Digest { granted: other.digest, found });
    assert!(error.to_string().contains(&found.to_string()));
}

#[test]
fn imports_beyond_the_grant_are_refused_by_name() {
    let runtime = runtime(|_| {});
    let body = format!(
        "(drop (call $server_version)) \
         (call $log (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)) {HONEST}"
    );
    let bytes = planner("", &body);
    let error = runtime.load(&bytes, &grant(&bytes, &[Import::Log])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "component `guest` is not loaded: it wants the imports `catalog`, its grant has `log`; add them to `imports` \
         of the grant if it may have them"
    );
    let used = load(&runtime, &bytes).imports().clone();
    assert_eq!(used, BTreeSet::from([Import::Catalog, Import::Log]));
}

#[test]
fn foreign_imports_are_refused_by_kind() {
    let runtime = runtime(|_| {});
    for (name, want) in [
        (
            "wasi:sockets/tcp@0.2.0",
            "it wants `wasi:sockets/tcp@0.2.0`, and components get no system interface",
        ),
        (
            "evil:net/socket",
            "it wants `evil:net/socket`, which this host does not have; this host offers `airlock",
        ),
        (
            "airlock:plugin/secrets@0.1.0",
            "it wants `airlock:plugin/secrets@0.1.0`, which this host does not have",
        ),
        (
            "airlock:plugin/catalog@0.2.0",
            "it wants `airlock:plugin/catalog@0.2.0`, this host offers airlock:plugin@0.1.0; rebuild it with \
             airlock-plugin-sdk 0.1.0",
        ),
    ] {
        let message = try_load(&runtime, &importing(name)).unwrap_err().to_string();
        assert!(message.starts_with(want), "{message}");
    }
}

#[test]
fn exports_must_be_the_contract() {
    let runtime = runtime(|_| {});
    assert_eq!(
        try_load(&runtime, &exporting("acme:tools/planner@0.1.0")).unwrap_err(),
        LoadErrorKind::MissingStage {
            stage: Stage::Planner,
            exports: vec!["acme:tools/planner@0.1.0".to_owned()]
        }
    );
    assert_eq!(
        try_load(&runtime, &exporting("airlock:plugin/planner@0.2.0")).unwrap_err(),
        LoadErrorKind::ContractVersion { wants: vec!["airlock:plugin/planner@0.2.0".to_owned()] }
    );
    let shape = try_load(&runtime, &exporting("airlock:plugin/planner@0.1.0")).unwrap_err();
    assert!(matches!(shape, LoadErrorKind::Shape(_)), "{shape}");
    // A grant for a stage the component does not have.
    let bytes = honest();
    let mut wide = grant(&bytes, Import::ALL);
    wide.stages.insert(Stage::Repair);
    let error = runtime.load(&bytes, &wide).unwrap_err();
    assert!(matches!(error.kind, LoadErrorKind::MissingStage { stage: Stage::Repair, .. }), "{error}");
}

#[test]
fn what_cannot_fit_is_told_with_numbers() {
    let runtime = runtime(|config| config.limits.memory = 1 << 20);
    let bytes = planner("(table 20000 funcref)", HONEST);
    assert_eq!(
        try_load(&runtime, &bytes).unwrap_err(),
        LoadErrorKind::DoesNotFit { what: "table elements", needs: 20_000, allowed: 10_000 }
    );
    let big =
        wat::parse_str("(component (core module $m (memory 17)) (core instance (instantiate $m)))").unwrap();
    let mut nothing = grant(&big, &[]);
    nothing.stages.clear();
    assert_eq!(
        runtime.load(&big, &nothing).unwrap_err().kind,
        LoadErrorKind::DoesNotFit { what: "bytes of memory", needs: 17 * 65_536, allowed: 1 << 20 }
    );
}

#[test]
fn a_large_component_gets_room_by_its_grant_and_no_other_does() {
    let runtime = runtime(|_| {});
    let many = |instances: usize, pages: usize| {
        let modules = "(core instance (instantiate $m))".repeat(instances - 1);
        let text = format!(
            "(component (core module $m) (core module $big (memory {pages})) {modules} (core instance (instantiate $big)))"
        );
        wat::parse_str(text).unwrap()
    };
    // As an engine of another language is: 40 core instances, 100 MiB.
    let bytes = many(40, 1_600);
    let granted = |instances: Option<u16>, memory_mib: Option<u16>| {
        let mut grant = grant(&bytes, &[]);
        grant.stages.clear();
        grant.limits.instances = instances;
        grant.limits.memory_mib = memory_mib;
        runtime.load(&bytes, &grant).map_err(|error| error.kind)
    };
    assert_eq!(
        granted(None, None).unwrap_err(),
        LoadErrorKind::DoesNotFit { what: "bytes of memory", needs: 1_600 << 16, allowed: 64 << 20 }
    );
    match granted(Some(39), Some(128)).unwrap_err() {
        LoadErrorKind::DoesNotStart(kind) => {
            assert!(matches!(*kind, CallErrorKind::Limit(hit) if hit.limit == Limit::Instances), "{kind}");
        }
        other => panic!("{other}"),
    }
    assert_eq!(granted(Some(40), Some(128)).unwrap().limits().instances, 40);
    assert_eq!(
        granted(Some(65), Some(128)).unwrap_err(),
        LoadErrorKind::DoesNotFit { what: "core instances", needs: 65, allowed: 64 }
    );
    assert_eq!(load(&runtime, &honest()).limits(), &runtime.config().limits, "small ones have what they had");
}

#[test]
fn what_does_not_start_is_found_at_load() {
    let runtime = runtime(|config| config.limits.compute = std::time::Duration::from_millis(100));
    let trapping = planner("(func $begin (unreachable)) (start $begin)", HONEST);
    match try_load(&runtime, &trapping).unwrap_err() {
        LoadErrorKind::DoesNotStart(kind) => assert!(matches!(*kind, CallErrorKind::Trap(_)), "{kind}"),
        other => panic!("{other}"),
    }
    let endless = planner("(func $begin (loop $again (br $again))) (start $begin)", HONEST);
    let many: String = (0..9).map(|_| "(core instance (instantiate $m))").collect();
    let many = wat::parse_str(format!("(component (core module $m) {many})")).unwrap();
    for (bytes, limit) in [(endless, Limit::Compute), (many, Limit::Instances)] {
        let mut grant = grant(&bytes, Import::ALL);
        if limit == Limit::Instances {
            grant.stages.clear();
        }
        match runtime.load(&bytes, &grant).unwrap_err().kind {
            LoadErrorKind::DoesNotStart(kind) => {
                assert!(matches!(*kind, CallErrorKind::Limit(hit) if hit.limit == limit), "{kind}");
            }
            other => panic!("{other}"),
        }
    }
}
