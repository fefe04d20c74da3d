//! The contract in Rust: one set of types for every stage, made from the WIT files.
//!
//! Components target one world a stage; the host binds all of them at once, so that the plan one component makes is
//! the very type another one reads. What is re-exported below is data, each item documented in `wit/`, each with
//! `serde` so that a recorded exchange can be replayed. How the functions are reached stays inside this crate.

/// The version of the contract this host offers, as in `airlock:plugin/planner@0.1.0`.
pub const VERSION: &str = "0.1.0";

/// The package every interface of the contract is in.
pub const PACKAGE: &str = "airlock:plugin";

#[allow(
    missing_docs,
    unused_qualifications,
    reason = "generated from the WIT files, which document each item"
)]
pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: "
            package airlock:host;
            world host {
                include airlock:plugin/host-imports@0.1.0;
                export airlock:plugin/planner@0.1.0;
                export airlock:plugin/linker@0.1.0;
                export airlock:plugin/generator@0.1.0;
                export airlock:plugin/repair@0.1.0;
                export airlock:plugin/answerer@0.1.0;
                export airlock:plugin/distill@0.1.0;
                export airlock:plugin/domain@0.1.0;
            }
        ",
        world: "airlock:host/host",
        imports: { default: trappable },
        exports: { default: async },
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    });
}

/// Words every stage shares.
pub mod types {
    pub use super::bindings::airlock::plugin::types::{
        Assumption, Attempt, Attribute, CivilTime, Clock, ColumnRef, Failure, StageError, TableRef,
        TimeRange, Turn,
    };
}

/// Asking a model.
pub mod model {
    pub use super::bindings::airlock::plugin::model::{
        BlockInfo, Exchange, Handle, ModelFailure, ModelOutcome, ModelReply, ModelRequest, ReplyShape,
    };
}

/// What one stage makes and another one reads.
pub mod work {
    pub use super::bindings::airlock::plugin::work::{
        Filter, Group, LessonCandidate, Measure, Order, Plan, ProbeFinding, SelectedTable, Selection,
    };
}

/// The schema of the data source.
pub mod catalog {
    pub use super::bindings::airlock::plugin::catalog::{ColumnInfo, Join, TableDetail, TableSummary};
}

/// What the domain knows.
pub mod retrieval {
    pub use super::bindings::airlock::plugin::retrieval::{
        ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit,
    };
}

/// The gate's eyes.
pub mod sql {
    pub use super::bindings::airlock::plugin::sql::{ComparedLiteral, Facts, Node, Rejection};
}

/// Log lines.
pub mod log {
    pub use super::bindings::airlock::plugin::log::Level;
}

/// Question to plan.
pub mod planner {
    pub use super::bindings::exports::airlock::plugin::planner::{
        Clarification, Filter, Group, Measure, Order, Plan, PlanInput, PlanStep, Unanswerable,
    };
}

/// Plan to tables and columns.
pub mod linker {
    pub use super::bindings::exports::airlock::plugin::linker::{
        LinkInput, LinkStep, NoMatch, SelectedTable, Selection,
    };
}

/// Selection to an SQL draft.
pub mod generator {
    pub use super::bindings::exports::airlock::plugin::generator::{
        Draft, GenerateInput, GenerateStep, Refusal,
    };
}

/// A failed attempt to the next thing to try.
pub mod repair {
    pub use super::bindings::exports::airlock::plugin::repair::{
        ProbeFinding, Regenerate, RepairInput, RepairStep, Rewrite, Stop, Widen,
    };
}

/// Result to the sentence a person reads.
pub mod answerer {
    pub use super::bindings::exports::airlock::plugin::answerer::{
        Answer, AnswerInput, AnswerStep, ResultColumn,
    };
}

/// A finished exchange to lesson candidates.
pub mod distill {
    pub use super::bindings::exports::airlock::plugin::distill::{
        DistillInput, DistillStep, LessonCandidate,
    };
}

/// The rules of a domain that need code.
pub mod domain {
    pub use super::bindings::exports::airlock::plugin::domain::{
        Candidate, Canonical, Finding, Opinion, Severity,
    };
}
