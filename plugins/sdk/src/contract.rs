//! The contract's interfaces as Rust modules, under the names they have in `wit/`.

pub use crate::bindings::answerer::exports::airlock::plugin::answerer;
pub use crate::bindings::distill::exports::airlock::plugin::distill;
pub use crate::bindings::domain::exports::airlock::plugin::domain;
pub use crate::bindings::generator::exports::airlock::plugin::generator;
pub use crate::bindings::imports::airlock::plugin::{catalog, log, model, retrieval, sql, types, work};
pub use crate::bindings::linker::exports::airlock::plugin::linker;
pub use crate::bindings::planner::exports::airlock::plugin::planner;
pub use crate::bindings::repair::exports::airlock::plugin::repair;
