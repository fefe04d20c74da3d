//! What one call costs: store, instance, typed call, drop, with every limit on.
//!
//! `AIRLOCK_BENCH_PLANNER` names a planner's component to measure; without it a minimal one written by hand is.

#[path = "../tests/support/mod.rs"]
mod support;

use airlock_runtime::NoServices;
use criterion::{Criterion, criterion_group, criterion_main};
use support::{honest, load, question, runtime};

fn call(criterion: &mut Criterion) {
    let bytes = match std::env::var_os("AIRLOCK_BENCH_PLANNER") {
        Some(path) => std::fs::read(path).expect("the component named by AIRLOCK_BENCH_PLANNER"),
        None => honest(),
    };
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("an executor");
    let runtime = runtime(|_| {});
    let guest = load(&runtime, &bytes);
    let (services, input) = (NoServices::shared(), question());
    criterion.bench_function("call", |bencher| {
        bencher
            .iter(|| executor.block_on(runtime.plan(&guest, services.clone(), &input, &[])).expect("a step"));
    });
}

criterion_group!(benches, call);
criterion_main!(benches);
