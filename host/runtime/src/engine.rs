//! The engine and its runtime: configuration, the pool of instances, the ticker, the places for calls.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::Semaphore;
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    WasmBacktraceDetails, WasmFeatures,
};

use crate::cache::Cache;
use crate::contract::bindings::Host_;
use crate::errors::RuntimeError;
use crate::limits::Limits;
use crate::signature::SignaturePolicy;
use crate::store::State;

/// How often a computing guest lets others run, and the grain of the compute budget.
pub const TICK: Duration = Duration::from_millis(5);

/// Bytes of stack that host functions have beside the guest's own.
const HOST_STACK: usize = 1 << 20;

/// Core instances that the pool has room for, for each call: a number only, so a Python guest's worth of them is no waste.
const INSTANCES: usize = 64;

impl RuntimeConfig {
    /// Core instances that the pool has room for in each call, whatever a grant says.
    pub(crate) fn pooled_instances(&self) -> usize {
        self.limits.instances.max(INSTANCES)
    }
}

/// Instances made while loading, beside the calls.
const SPARE_PLACES: u32 = 4;

/// How a runtime is made.
#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// Calls that may run at once; the pool has room for as many.
    pub max_calls: u32,
    /// How long a call waits for a place before it fails as exhausted.
    pub queue_wait: Duration,
    /// What each call may use.
    pub limits: Limits,
    /// Bytes of stack of the guest's own code.
    pub wasm_stack: usize,
    /// Bytes of a component's file.
    pub max_component_bytes: usize,
    /// Where compiled code is kept between starts; a folder that only this host may read and write. `None`: nowhere.
    pub cache_dir: Option<PathBuf>,
    /// Whose signed statements a component needs to be loaded.
    pub signatures: SignaturePolicy,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        Self {
            max_calls: 32,
            queue_wait: Duration::from_secs(5),
            limits: Limits::default(),
            wasm_stack: 512 << 10,
            max_component_bytes: 64 << 20,
            cache_dir: None,
            signatures: SignaturePolicy::default(),
        }
    }
}

/// Loads components and calls them. Cheap to clone; clones share the engine, the pool and the places for calls.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
    /// Taken in the order of arrival.
    pub(crate) places: Semaphore,
    pub(crate) config: RuntimeConfig,
    pub(crate) cache: Option<Cache>,
    pooled: bool,
}

/// How busy the pool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Places for calls.
    pub places: u32,
    /// Calls that run now.
    pub running: u32,
    /// Whether instances come from the preallocated pool; `false` when the machine had no address space for it.
    pub pooled: bool,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("pool", &self.pool_use()).finish_non_exhaustive()
    }
}

impl Runtime {
    /// A runtime with an engine, a pool and a ticker of its own.
    ///
    /// # Errors
    /// When the machine cannot run the engine, or the cache's folder is not safe to use.
    pub fn new(config: RuntimeConfig) -> Result<Self, RuntimeError> {
        let (engine, pooled) = start_engine(&config)?;
        start_ticker(&engine)?;
        let mut linker = Linker::new(&engine);
        Host_::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state).map_err(engine_error)?;
        let cache = config.cache_dir.as_deref().map(|dir| Cache::open(dir, &engine)).transpose()?;
        let places = Semaphore::new(config.max_calls as usize);
        Ok(Self { shared: Arc::new(Shared { engine, linker, places, config, cache, pooled }) })
    }

    /// How it was made.
    #[must_use]
    pub fn config(&self) -> &RuntimeConfig {
        &self.shared.config
    }

    /// How busy the pool is, for metrics.
    #[must_use]
    pub fn pool_use(&self) -> PoolUse {
        let places = self.shared.config.max_calls;
        let free = u32::try_from(self.shared.places.available_permits()).unwrap_or(places);
        PoolUse { places, running: places.saturating_sub(free), pooled: self.shared.pooled }
    }
}

// Used as `map_err(engine_error)`.
#[allow(clippy::needless_pass_by_value, reason = "the shape `map_err` wants")]
fn engine_error(error: wasmtime::Error) -> RuntimeError {
    RuntimeError::Engine(format!("{error:#}"))
}

/// A pooling engine, or, where the address space does not allow one, an engine that allocates on demand, loudly.
fn start_engine(config: &RuntimeConfig) -> Result<(Engine, bool), RuntimeError> {
    match Engine::new(&engine_config(config, true)) {
        Ok(engine) => Ok((engine, true)),
        Err(error) => {
            tracing::warn!(
                error = format!("{error:#}"),
                max_calls = config.max_calls,
                "no address space for a pool of instances: each call allocates its own, which is slower; \
                 lift the limit on virtual memory (`ulimit -v`) or lower `max_calls`"
            );
            let engine = Engine::new(&engine_config(config, false)).map_err(engine_error)?;
            Ok((engine, false))
        }
    }
}

fn engine_config(config: &RuntimeConfig, pooled: bool) -> Config {
    let mut engine = Config::new();
    engine
        .concurrency_support(false)
        .epoch_interruption(true)
        .cranelift_nan_canonicalization(true)
        .cranelift_opt_level(OptLevel::Speed)
        .max_wasm_stack(config.wasm_stack)
        .async_stack_size(config.wasm_stack + HOST_STACK)
        .wasm_backtrace_details(WasmBacktraceDetails::Enable);
    // What no toolchain we know needs is surface for an attacker.
    for feature in [
        WasmFeatures::THREADS,
        WasmFeatures::SHARED_EVERYTHING_THREADS,
        WasmFeatures::RELAXED_SIMD,
        WasmFeatures::MEMORY64,
        WasmFeatures::MULTI_MEMORY,
        WasmFeatures::TAIL_CALL,
        WasmFeatures::EXCEPTIONS,
        WasmFeatures::GC,
        WasmFeatures::FUNCTION_REFERENCES,
        WasmFeatures::STACK_SWITCHING,
        WasmFeatures::CUSTOM_PAGE_SIZES,
        WasmFeatures::WIDE_ARITHMETIC,
    ] {
        engine.wasm_features(feature, false);
    }
    if pooled {
        engine.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(config)));
    }
    engine
}

fn pool(config: &RuntimeConfig) -> PoolingAllocationConfig {
    let places = config.max_calls.saturating_add(SPARE_PLACES);
    let limits = &config.limits;
    let times = |each: usize| places.saturating_mul(u32::try_from(each).unwrap_or(u32::MAX));
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(places)
        .total_core_instances(times(config.pooled_instances()))
        .total_memories(times(limits.memories))
        .total_tables(times(limits.tables))
        .total_stacks(places)
        .max_tables_per_module(u32::try_from(limits.tables).unwrap_or(u32::MAX))
        // Address space only. Above the limits of a call, so that what does not fit is told by `load` and by the call's
        // own guard, in their words and numbers.
        .table_elements(limits.table_elements.saturating_mul(10))
        .max_unused_warm_slots(places)
        // Touched pages are zeroed instead of given back and faulted in again. The kernel says which were touched where
        // it can (Linux 6.7), so that a call pays for what it used; elsewhere this much is zeroed each time.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(256 << 10)
        .table_keep_resident(16 << 10)
        .async_stack_keep_resident(32 << 10);
    pool
}

/// One thread for one engine, never one for each call. It ends when the engine does.
fn start_ticker(engine: &Engine) -> Result<(), RuntimeError> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new()
        .name("airlock-ticker".to_owned())
        .spawn(tick)
        .map(drop)
        .map_err(RuntimeError::Ticker)
}
