//! What a component costs: a call with every limit on, beside the same function natively and the same job through Extism;
//! a runaway's end, a swap back, loading, honest calls beside hostile ones, and memory over many calls.
//!
//! `cargo xtask bench-plugins` runs it and says where the components and Extism are. What is missing is skipped aloud.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark that cannot run should say so and stop"
)]

mod beside;
mod endurance;
mod extism;
mod tails;

#[path = "../../tests/support/mod.rs"]
mod support;

use std::hint::black_box;

use airlock_runtime::NoServices;
use airlock_runtime::contract::planner::{PlanInput, PlanStep, Unanswerable};
use criterion::Criterion;
use support::{honest, load, question, runtime};

/// The job of the guests that are compared, as the host would do it itself.
fn native(input: &PlanInput) -> PlanStep {
    // As it comes to the guest: a copy of its own.
    let input = black_box(input.clone());
    PlanStep::Unanswerable(Unanswerable {
        reason: if input.question.is_empty() { String::new() } else { "no rows".to_owned() },
    })
}

fn executor() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("an executor")
}

fn criterion(criterion: &mut Criterion) {
    let executor = executor();
    let home = tempfile::tempdir().expect("a folder");
    let runtime = runtime(|config| config.cache_dir = Some(home.path().join("compiled")));
    let bytes = honest();
    let guest = load(&runtime, &bytes);
    let (services, input) = (NoServices::shared(), question());
    criterion.bench_function("store, instance, call, drop", |bencher| {
        bencher
            .iter(|| executor.block_on(runtime.plan(&guest, services.clone(), &input, &[])).expect("a step"));
    });
    criterion.bench_function("the same natively", |bencher| bencher.iter(|| native(&input)));
    criterion.bench_function("load from the cache", |bencher| {
        bencher.iter(|| assert!(load(&runtime, &bytes).from_cache()));
    });
}

fn main() {
    if let Some(calls) = std::env::var("AIRLOCK_BENCH_CALLS").ok().and_then(|calls| calls.parse().ok()) {
        return endurance::print(calls);
    }
    tails::print();
    beside::print();
    let mut bench = Criterion::default().configure_from_args();
    criterion(&mut bench);
    bench.final_summary();
}
