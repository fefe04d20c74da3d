//! What one call costs: store, instance, typed call, drop, with every limit on.
//!
//! `AIRLOCK_BENCH_PLANNER` names a planner's component to measure; without it a minimal one written by hand is.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run should say so and stop")]

#[path = "../tests/support/mod.rs"]
mod support;

use airlock_runtime::NoServices;
use criterion::{Criterion, criterion_group, criterion_main};
use support::{honest, load, question, runtime};

fn component() -> Vec<u8> {
    match std::env::var_os("AIRLOCK_BENCH_PLANNER") {
        Some(path) => std::fs::read(path).expect("the component named by AIRLOCK_BENCH_PLANNER"),
        None => honest(),
    }
}

fn call(criterion: &mut Criterion) {
    let bytes = component();
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("an executor");
    let runtime = runtime(|_| {});
    let guest = load(&runtime, &bytes);
    let (services, input) = (NoServices::shared(), question());
    criterion.bench_function("call", |bencher| {
        bencher
            .iter(|| executor.block_on(runtime.plan(&guest, services.clone(), &input, &[])).expect("a step"));
    });
}

/// What a start costs for each component whose compiled code is kept.
fn load_from_cache(criterion: &mut Criterion) {
    let home = tempfile::tempdir().expect("a folder");
    let bytes = component();
    let runtime = runtime(|config| config.cache_dir = Some(home.path().join("compiled")));
    load(&runtime, &bytes);
    criterion.bench_function("load from cache", |bencher| {
        bencher.iter(|| assert!(load(&runtime, &bytes).from_cache()));
    });
}

criterion_group!(benches, call, load_from_cache);
criterion_main!(benches);
