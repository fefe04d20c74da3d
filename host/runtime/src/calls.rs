//! Calls: one path from a typed input to a checked output or a typed error, the same for every stage.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::SemaphorePermit;
use tokio::time::timeout;
use wasmtime::{FrameInfo, PoolConcurrencyLimitError, Trap, WasmBacktrace};

use crate::bounds::{Untrusted, line};
use crate::contract::answerer::{AnswerInput, AnswerStep};
use crate::contract::distill::{DistillInput, DistillStep, LessonCandidate};
use crate::contract::domain::{Candidate, Canonical, Finding, Opinion};
use crate::contract::generator::{GenerateInput, GenerateStep};
use crate::contract::linker::{LinkInput, LinkStep};
use crate::contract::model::Exchange;
use crate::contract::planner::{PlanInput, PlanStep};
use crate::contract::repair::{RepairInput, RepairStep};
use crate::contract::sql::Facts;
use crate::contract::types::Clock;
use crate::engine::{Runtime, RuntimeConfig};
use crate::errors::{CallError, CallErrorKind, TrapReport};
use crate::grants::Stage;
use crate::limits::{Limit, LimitHit, Spent};
use crate::load::Component;
use crate::meter::Meter;
use crate::services::Services;
use crate::stages::{Canonicalize, Entry, Judge, Review, SeedLessons, Step};
use crate::store::{self, Sharing, State};
use crate::wasi::{Denied, Exit, Inert};

/// Frames of a trap that are reported, and bytes of each.
const FRAMES: usize = 20;
const FRAME_BYTES: usize = 256;

/// A call's end: its result, or why there is none, and what it used either way.
#[derive(Debug)]
pub struct Called<T> {
    /// What the component returned, checked.
    pub result: Result<T, CallError>,
    /// What the call used.
    pub spent: Spent,
}

macro_rules! step_calls {
    ($($(#[$doc:meta])* $name:ident / $metered:ident: $input:ty => $output:ty;)*) => {
        impl Runtime {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// When the component gave no result that keeps the contract.
            pub async fn $name(
                &self,
                component: &Component,
                services: Arc<dyn Services>,
                input: &$input,
                exchanges: &[Exchange],
            ) -> Result<$output, CallError> {
                self.$metered(component, services, input, exchanges).await.result
            }

            /// The same, with what the call used.
            pub async fn $metered(
                &self,
                component: &Component,
                services: Arc<dyn Services>,
                input: &$input,
                exchanges: &[Exchange],
            ) -> Called<$output> {
                self.call(component, services, Step { input, exchanges }).await
            }
        )*}
    };
}

step_calls! {
    /// One step of a planner.
    plan / plan_metered: PlanInput => PlanStep;
    /// One step of a linker.
    link / link_metered: LinkInput => LinkStep;
    /// One step of a generator or composer.
    generate / generate_metered: GenerateInput => GenerateStep;
    /// One step of a repair strategy.
    repair / repair_metered: RepairInput => RepairStep;
    /// One step of an answerer.
    answer / answer_metered: AnswerInput => AnswerStep;
    /// One step of a distiller.
    distill / distill_metered: DistillInput => DistillStep;
}

impl Runtime {
    /// Entities that a question names, by a domain's adapter.
    ///
    /// # Errors
    /// When the component gave no result that keeps the contract. The same below.
    pub async fn canonicalize(
        &self,
        component: &Component,
        services: Arc<dyn Services>,
        question: &str,
        clock: &Clock,
    ) -> Result<Vec<Canonical>, CallError> {
        self.call(component, services, Canonicalize(question, clock)).await.result
    }

    /// Findings of a domain's adapter on a text the gate approved.
    ///
    /// # Errors
    /// As [`Runtime::canonicalize`].
    pub async fn review(
        &self,
        component: &Component,
        services: Arc<dyn Services>,
        text: &str,
        facts: &Facts,
        clock: &Clock,
    ) -> Result<Vec<Finding>, CallError> {
        self.call(component, services, Review(text, facts, clock)).await.result
    }

    /// A domain adapter's opinion on a candidate.
    ///
    /// # Errors
    /// As [`Runtime::canonicalize`].
    pub async fn judge(
        &self,
        component: &Component,
        services: Arc<dyn Services>,
        candidate: &Candidate,
    ) -> Result<Opinion, CallError> {
        self.call(component, services, Judge(candidate)).await.result
    }

    /// Lesson candidates that a domain adapter's author offers.
    ///
    /// # Errors
    /// As [`Runtime::canonicalize`].
    pub async fn seed_lessons(
        &self,
        component: &Component,
        services: Arc<dyn Services>,
    ) -> Result<Vec<LessonCandidate>, CallError> {
        self.call(component, services, SeedLessons).await.result
    }

    /// The path of every call: a place, a fresh store, an instance, the function, the bounds.
    async fn call<E: Entry>(
        &self,
        component: &Component,
        services: Arc<dyn Services>,
        entry: E,
    ) -> Called<E::Output> {
        let began = Instant::now();
        let mut spent = Spent::default();
        let (stage, result) = match served(component, E::STAGES) {
            Err(stage) => (stage, Err(CallErrorKind::NotServed)),
            Ok(stage) => match self.place().await {
                Err(kind) => {
                    spent.waited = began.elapsed();
                    (stage, Err(kind))
                }
                Ok(_place) => {
                    let waited = began.elapsed();
                    let result = self.run(component, services, entry, &mut spent).await;
                    spent.waited = waited;
                    (stage, result)
                }
            },
        };
        let result = result.map_err(|kind| CallError {
            component: component.name().to_owned(),
            digest: component.digest(),
            stage,
            kind: Box::new(kind),
        });
        report(component, stage, &result, &spent);
        Called { result, spent }
    }

    /// A place among the calls that may run at once, in the order of arrival.
    async fn place(&self) -> Result<SemaphorePermit<'_>, CallErrorKind> {
        let config = &self.shared.config;
        match timeout(config.queue_wait, self.shared.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            // The semaphore is never closed, so this is the time-out.
            Ok(Err(_)) | Err(_) => Err(exhausted(config, config.queue_wait)),
        }
    }

    async fn run<E: Entry>(
        &self,
        component: &Component,
        services: Arc<dyn Services>,
        entry: E,
        spent: &mut Spent,
    ) -> Result<E::Output, CallErrorKind> {
        let shared = &self.shared;
        let limits = &component.inner.limits;
        let began = Instant::now();
        let wasi = component.grant().wasi.map(|_| Inert::new(component.digest(), entry.moment(), limits));
        let mut store = store::fresh(&shared.engine, services, limits, Sharing::Yield, wasi);
        let meter = store.data().meter();
        let ended = {
            let guest = async {
                let instance = component.inner.pre.instantiate_async(&mut store).await?;
                entry.invoke(&mut store, &instance, &component.inner.exports).await
            };
            timeout(limits.wall, metered(&meter, guest)).await
        };
        store.data_mut().flush_printed();
        *spent = Spent { wall: began.elapsed(), ..store.data().spent() };
        match ended {
            Err(_) => Err(CallErrorKind::Limit(LimitHit::time(Limit::Wall, limits.wall, spent.wall))),
            Ok(Err(error)) => Err(diagnose(&error, store.data(), &shared.config)),
            Ok(Ok(Err(refusal))) => Err(CallErrorKind::Stage(Untrusted::new(refusal).check()?)),
            Ok(Ok(Ok(output))) => Ok(Untrusted::new(output).check()?),
        }
    }
}

/// As which of these stages the component serves, or which one it would have to.
fn served(component: &Component, stages: &'static [Stage]) -> Result<Stage, Stage> {
    let mut missing = Stage::Domain;
    for stage in stages.iter().rev() {
        if component.stages().contains(stage) {
            return Ok(*stage);
        }
        missing = *stage;
    }
    Err(missing)
}

/// Polls the guest with its clock running.
async fn metered<F: Future>(meter: &Meter, guest: F) -> F::Output {
    let mut guest = pin!(guest);
    poll_fn(|context| {
        meter.resume();
        let polled = guest.as_mut().poll(context);
        meter.pause();
        polled
    })
    .await
}

fn exhausted(config: &RuntimeConfig, waited: Duration) -> CallErrorKind {
    CallErrorKind::PoolExhausted { places: config.max_calls as usize, waited }
}

/// What an error of the engine means.
pub(crate) fn diagnose(error: &wasmtime::Error, state: &State, config: &RuntimeConfig) -> CallErrorKind {
    let limits = state.limits();
    if let Some(hit) = error.downcast_ref::<LimitHit>() {
        return CallErrorKind::Limit(*hit);
    }
    if let Some(Denied(function)) = error.downcast_ref::<Denied>() {
        return CallErrorKind::Denied { function: function.clone() };
    }
    if let Some(Exit(code)) = error.downcast_ref::<Exit>() {
        return CallErrorKind::Exit { code: *code };
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        // Places are fewer than what the pool holds, so only components with changed limits come here.
        return exhausted(config, Duration::ZERO);
    }
    let at = |limit, allowed| CallErrorKind::Limit(LimitHit::count(limit, allowed, allowed));
    if error.downcast_ref::<Trap>() == Some(&Trap::StackOverflow) {
        return at(Limit::Stack, config.wasm_stack);
    }
    // These three have no type of their own; tests hold the engine to its words.
    let root = error.root_cause().to_string();
    for (words, limit, allowed) in [
        ("fuel allocated for hostcalls has been exhausted", Limit::Output, limits.output_bytes),
        ("store handle limit exceeded", Limit::Handles, limits.handles),
        ("resource limit exceeded", Limit::Instances, limits.instances),
    ] {
        if root.contains(words) {
            return at(limit, allowed);
        }
    }
    CallErrorKind::Trap(TrapReport {
        reason: line(&root, FRAME_BYTES),
        panic_message: state.panic_message().map(str::to_owned),
        frames: error.downcast_ref::<WasmBacktrace>().map(frames).unwrap_or_default(),
    })
}

fn frames(trace: &WasmBacktrace) -> Vec<String> {
    let shown = |frame: &FrameInfo| {
        let mut symbols = frame.symbols().iter();
        let place = symbols.find_map(|symbol| Some(format!(" ({}:{})", symbol.file()?, symbol.line()?)));
        // `{:#}` leaves out the hash that makes a mangled name unique.
        let name = frame.func_name().map_or_else(
            || format!("function {}", frame.func_index()),
            |name| format!("{:#}", rustc_demangle::demangle(name)),
        );
        line(&format!("{name}{}", place.unwrap_or_default()), FRAME_BYTES)
    };
    trace.frames().iter().take(FRAMES).map(shown).collect()
}

fn report<T>(component: &Component, stage: Stage, result: &Result<T, CallError>, spent: &Spent) {
    if spent.log_dropped > 0 {
        tracing::warn!(
            component = component.name(),
            %stage,
            dropped = spent.log_dropped,
            "a component logged more lines than it may; the rest was dropped"
        );
    }
    match result {
        Ok(_) => tracing::debug!(component = component.name(), %stage, ?spent, "called"),
        Err(error) => tracing::warn!(component = component.name(), %stage, ?spent, %error, "call failed"),
    }
}
