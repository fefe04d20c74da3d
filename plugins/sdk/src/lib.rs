//! The guest crate: bindings of the contract, prompt and reply helpers, a native test harness.
//!
//! A stage is a type that implements one of the traits in [`stage`] and one line that exports it:
//!
//! ```
//! use airlock_plugin_sdk::contract::distill::{DistillInput, DistillStep};
//! use airlock_plugin_sdk::{Distiller, Exchange, Host, StageError};
//!
//! pub struct Silent;
//!
//! impl Distiller for Silent {
//!     fn run(_host: &impl Host, _input: DistillInput, _exchanges: Vec<Exchange>) -> Result<DistillStep, StageError> {
//!         Ok(DistillStep::Done(Vec::new()))
//!     }
//! }
//!
//! airlock_plugin_sdk::export!(distill: Silent);
//! # fn main() {}
//! ```
//!
//! On `wasm32` that line makes the component's exports; on any other target it makes nothing, and the same code runs
//! in ordinary unit tests against [`harness::Recorded`].

#[doc(hidden)]
pub mod bindings;
pub mod contract;
pub mod entity;
pub mod explained;
mod export;
pub mod failure;
pub mod fit;
mod guest;
#[cfg(not(target_arch = "wasm32"))]
pub mod harness;
mod host;
mod joins;
pub mod prompt;
pub mod question;
pub mod reply;
pub mod stage;
pub mod taught;
pub mod time;
pub mod words;

pub use contract::log::Level;
pub use contract::model::{
    BlockInfo, Exchange, ModelFailure, ModelOutcome, ModelReply, ModelRequest, ReplyShape,
};
pub use contract::types::{
    Assumption, Attempt, Attribute, CivilTime, Clock, ColumnRef, Failure, StageError, TableRef, TimeRange,
    Turn,
};
pub use fit::Fit;
pub use guest::{Imports, report_panics};
pub use host::Host;
pub use stage::{Answerer, Distiller, DomainAdapter, Generator, Linker, Planner, Repairer};
