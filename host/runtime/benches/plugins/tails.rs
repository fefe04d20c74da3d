//! Medians and 99th percentiles of single calls, which criterion does not print, and their ratios.
//!
//! Everything takes turns in short rounds, so that what else the machine does falls on all alike. The 5th percentile is
//! what a call takes that nothing disturbed.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use airlock_runtime::{
    CallErrorKind, Component, DomainScope, Grant, Import, Limit, NoServices, Registry, Runtime, Stage,
};
use airlock_types::ContentHash;

use crate::extism::Extism;
use crate::support::{honest, load, planner, question, runtime};
use crate::{executor, native};

const ROUNDS: usize = 60;
const CALLS: usize = 100;

/// Durations of single calls.
#[derive(Default)]
pub struct Sample(pub Vec<Duration>);

impl Sample {
    pub fn take<T>(&mut self, calls: usize, mut call: impl FnMut() -> T) {
        for _ in 0..calls {
            let started = Instant::now();
            black_box(call());
            self.0.push(started.elapsed());
        }
    }

    /// The value that this share of the calls did not pass, in microseconds.
    pub fn at(&mut self, share: f64) -> f64 {
        self.0.sort_unstable();
        let index = (self.0.len() as f64 * share) as usize;
        self.0[index.min(self.0.len() - 1)].as_secs_f64() * 1e6
    }

    /// Prints a line; gives the median.
    pub fn print(&mut self, name: &str) -> f64 {
        let [fast, median, tail] = [0.05, 0.5, 0.99].map(|share| self.at(share));
        println!("{name:<52} {fast:>10.1} {median:>10.1} {tail:>10.1} {:>7}", self.0.len());
        median
    }
}

pub fn head(what: &str) {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\n{what}, microseconds; {cores} cores, load {load}");
    println!("{:<52} {:>10} {:>10} {:>10} {:>7}", "", "p5", "median", "p99", "calls");
}

/// A file that the environment names a folder of; nothing, said aloud, when it is not there.
fn file(variable: &str, name: &str) -> Option<PathBuf> {
    let file = std::env::var_os(variable).map(|folder| Path::new(&folder).join(name));
    let file = file.filter(|file| file.is_file());
    if file.is_none() {
        println!("SKIPPED: {name}, because {variable} names no folder with it");
    }
    file
}

/// Loads with room for an engine of another language.
fn roomy(runtime: &Runtime, file: &Path, stage: Stage) -> Component {
    let bytes = std::fs::read(file).unwrap();
    let mut grant = Grant::of_nothing("measured", ContentHash::of(&bytes));
    grant.stages.insert(stage);
    grant.domains.insert(DomainScope::Any);
    grant.imports = Import::ALL.iter().copied().collect();
    grant.limits.memory_mib = Some(256);
    grant.limits.instances = Some(64);
    runtime.load(&bytes, &grant).unwrap_or_else(|error| panic!("{error}"))
}

pub fn print() {
    let executor = executor();
    let home = tempfile::tempdir().unwrap();
    let runtime = runtime(|config| config.cache_dir = Some(home.path().join("compiled")));
    let guest = load(&runtime, &honest());
    let (services, input) = (NoServices::shared(), question());
    let call = |guest: &Component| executor.block_on(runtime.plan(guest, services.clone(), &input, &[]));
    let mut extism = Extism::start(&serde_json::to_string(&input).unwrap());
    let built = file("AIRLOCK_BENCH_COMPONENTS", "planner.wasm");
    let built = built.map(|file| roomy(&runtime, &file, Stage::Planner));
    let [mut ours, mut here, mut fresh, mut kept, mut real] = std::array::from_fn(|_| Sample::default());
    for _ in 0..ROUNDS {
        ours.take(CALLS, || call(&guest).unwrap());
        here.take(CALLS, || native(&input));
        if let Some(built) = &built {
            real.take(CALLS, || call(built).unwrap());
        }
        if let Some(extism) = &mut extism {
            fresh.0.extend(extism.fresh(CALLS));
            kept.0.extend(extism.kept(CALLS));
        }
    }
    head("A call: store, instance, typed call, drop, every limit on");
    let mine = ours.print("a small stage");
    let natively = here.print("the same function natively");
    if let Some(extism) = &extism {
        let theirs = fresh.print(&format!("the same job, Extism {}, a fresh plugin", extism.version));
        let warm = kept.print("the same job, Extism, a plugin that is kept");
        println!("ratio to Extism: {:.2} fresh, {:.2} kept", mine / theirs, mine / warm);
    }
    println!("ratio to native: {:.0}", mine / natively.max(0.01));
    if built.is_some() {
        real.print("the built-in planner, Rust with the SDK");
    }

    head("A domain's adapter: entities of a question");
    for (language, folder, name) in [
        ("Rust", "AIRLOCK_BENCH_COMPONENTS", "equipment-fleet.wasm"),
        ("Python", "AIRLOCK_BENCH_LANGUAGES", "equipment-fleet-python.wasm"),
        ("JavaScript", "AIRLOCK_BENCH_LANGUAGES", "equipment-fleet-javascript.wasm"),
    ] {
        let Some(file) = file(folder, name) else { continue };
        let component = roomy(&runtime, &file, Stage::Domain);
        let text = "What was the downtime of sn 412 in 2024?";
        let mut sample = Sample::default();
        let call =
            || executor.block_on(runtime.canonicalize(&component, services.clone(), text, &input.clock));
        sample.take(5, || call().unwrap());
        sample.0.clear();
        sample.take(300, || call().unwrap());
        sample.print(language);
        let mut loads = Sample::default();
        loads.take(20, || assert!(roomy(&runtime, &file, Stage::Domain).from_cache()));
        loads.print(&format!("{language}: load from the cache"));
    }

    head("Ends and swaps");
    let runaway = load(&runtime, &planner("", "(loop $again (br $again)) (unreachable)"));
    let mut over = Sample::default();
    for _ in 0..10 {
        let called = executor.block_on(runtime.plan_metered(&runaway, services.clone(), &input, &[]));
        let kind = called.result.unwrap_err().kind;
        assert!(matches!(*kind, CallErrorKind::Limit(hit) if hit.limit == Limit::Compute));
        over.0.push(called.spent.wall.saturating_sub(runtime.config().limits.compute));
    }
    over.print("a runaway, from its deadline to its end");
    let registry = Registry::new();
    let other = load(&runtime, &planner("", &format!("(nop) {}", crate::support::HONEST)));
    registry.install(&guest);
    let mut back = Sample::default();
    for _ in 0..1_000 {
        registry.swap(Stage::Planner, &DomainScope::Any, &other).unwrap();
        back.take(1, || registry.rollback(Stage::Planner, &DomainScope::Any).unwrap());
    }
    back.print("a rollback, of the registry alone");
}
