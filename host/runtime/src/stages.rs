//! The exported functions of each stage, behind one shape that the call path can run.

use std::collections::BTreeSet;
use std::future::Future;

use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::bounds::Bounded;
use crate::contract::bindings::exports::airlock::plugin as exported;
use crate::contract::distill::LessonCandidate;
use crate::contract::domain::{Candidate, Canonical, Finding, Opinion};
use crate::contract::model::Exchange;
use crate::contract::sql::Facts;
use crate::contract::types::{Clock, StageError};
use crate::grants::Stage;
use crate::store::State;

/// Where a component's exported functions are, found once at load.
#[derive(Clone, Default)]
pub(crate) struct Exports {
    planner: Option<exported::planner::GuestIndices>,
    linker: Option<exported::linker::GuestIndices>,
    generator: Option<exported::generator::GuestIndices>,
    repair: Option<exported::repair::GuestIndices>,
    answerer: Option<exported::answerer::GuestIndices>,
    distill: Option<exported::distill::GuestIndices>,
    domain: Option<exported::domain::GuestIndices>,
}

macro_rules! exports {
    ($($stage:ident),*) => {
        impl Exports {
            /// Finds the functions of these stages.
            pub(crate) fn find(pre: &InstancePre<State>, stages: &BTreeSet<Stage>) -> wasmtime::Result<Self> {
                let mut found = Self::default();
                for stage in stages {
                    match stage.interface() {
                        $(stringify!($stage) => {
                            found.$stage = Some(exported::$stage::GuestIndices::new(pre)?);
                        })*
                        other => wasmtime::bail!("no interface `{other}`"),
                    }
                }
                Ok(found)
            }

            /// Compares the types of all functions found with the contract's.
            pub(crate) fn check_types(&self, store: &mut Store<State>, instance: &Instance) -> wasmtime::Result<()> {
                $(if let Some(indices) = &self.$stage {
                    indices.load(&mut *store, instance)?;
                })*
                Ok(())
            }
        }
    };
}
exports!(planner, linker, generator, repair, answerer, distill, domain);

/// One exported function with its arguments.
pub(crate) trait Entry: Send {
    /// What it returns when it does its work.
    type Output: Bounded + Send;

    /// The stages whose components export it.
    const STAGES: &'static [Stage];

    /// What it is about: the seed of a component's entropy, and the time on its clock.
    fn moment(&self) -> Moment<'_>;

    /// Calls it.
    fn invoke(
        self,
        store: &mut Store<State>,
        instance: &Instance,
        exports: &Exports,
    ) -> impl Future<Output = wasmtime::Result<Result<Self::Output, StageError>>> + Send;
}

/// The ask as an inert system interface knows it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moment<'a> {
    /// The instant of the ask, where the function is told it.
    pub(crate) now: Option<&'a str>,
    /// The words it is about.
    pub(crate) words: &'a str,
}

fn not_found() -> wasmtime::Error {
    wasmtime::format_err!("the functions of this stage were not looked up at load")
}

/// One step of a stage.
pub(crate) struct Step<'a, Input> {
    pub(crate) input: &'a Input,
    pub(crate) exchanges: &'a [Exchange],
}

macro_rules! step_entry {
    ($stage:ident, $input:ident, $output:ident, $stages:expr) => {
        impl Entry for Step<'_, exported::$stage::$input> {
            type Output = exported::$stage::$output;
            const STAGES: &'static [Stage] = $stages;

            fn moment(&self) -> Moment<'_> {
                Moment { now: Some(&self.input.clock.now), words: &self.input.question }
            }

            async fn invoke(
                self,
                store: &mut Store<State>,
                instance: &Instance,
                exports: &Exports,
            ) -> wasmtime::Result<Result<Self::Output, StageError>> {
                let indices = exports.$stage.as_ref().ok_or_else(not_found)?;
                let guest = indices.load(&mut *store, instance)?;
                guest.call_run(store, self.input, self.exchanges).await
            }
        }
    };
}
step_entry!(planner, PlanInput, PlanStep, &[Stage::Planner]);
step_entry!(linker, LinkInput, LinkStep, &[Stage::Linker]);
step_entry!(generator, GenerateInput, GenerateStep, &[Stage::Generator, Stage::Composer]);
step_entry!(repair, RepairInput, RepairStep, &[Stage::Repair]);
step_entry!(answerer, AnswerInput, AnswerStep, &[Stage::Answerer]);
step_entry!(distill, DistillInput, DistillStep, &[Stage::Distill]);

/// Entities named in a question.
pub(crate) struct Canonicalize<'a>(pub(crate) &'a str, pub(crate) &'a Clock);
/// Findings on a text the gate approved.
pub(crate) struct Review<'a>(pub(crate) &'a str, pub(crate) &'a Facts, pub(crate) &'a Clock);
/// An opinion on a candidate.
pub(crate) struct Judge<'a>(pub(crate) &'a Candidate);
/// Lesson candidates of the adapter's author.
pub(crate) struct SeedLessons;

macro_rules! domain_entry {
    ($entry:ty, $call:ident($($argument:tt),*), $output:ty, $this:ident => $moment:expr) => {
        impl Entry for $entry {
            type Output = $output;
            const STAGES: &'static [Stage] = &[Stage::Domain];

            fn moment(&self) -> Moment<'_> {
                let $this = self;
                $moment
            }

            async fn invoke(
                self,
                store: &mut Store<State>,
                instance: &Instance,
                exports: &Exports,
            ) -> wasmtime::Result<Result<Self::Output, StageError>> {
                let indices = exports.domain.as_ref().ok_or_else(not_found)?;
                let guest = indices.load(&mut *store, instance)?;
                guest.$call(store, $(self.$argument),*).await
            }
        }
    };
}
domain_entry!(Canonicalize<'_>, call_canonicalize(0, 1), Vec<Canonical>,
    this => Moment { now: Some(&this.1.now), words: this.0 });
domain_entry!(Review<'_>, call_review(0, 1, 2), Vec<Finding>,
    this => Moment { now: Some(&this.2.now), words: this.0 });
domain_entry!(Judge<'_>, call_judge(0), Opinion, this => Moment { now: None, words: &this.0.text });
domain_entry!(SeedLessons, call_seed_lessons(), Vec<LessonCandidate>, _this => Moment::default());
