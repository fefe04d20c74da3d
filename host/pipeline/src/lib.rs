//! The ask: one state machine from a question to an honest ending.
//!
//! This room wires the middle ones together (runtime, database, knowledge, models); it decides order and endings, and
//! nothing else. What a stage wants is in [`ask`], what a model may see is in [`context`], what a component may look up is
//! in [`services`]. It holds no credential and runs no text but what the gate approved.

mod adapter;
pub mod ask;
mod budget;
pub mod checks;
pub mod context;
mod convert;
pub mod domain;
mod drive;
pub mod host;
mod inspect;
pub mod progress;
mod record;
pub mod services;

pub use ask::{ATTEMPTS, Fault, Finished};
pub use checks::Checked;
pub use domain::{Domain, DomainError};
pub use host::{AskError, ContextError, Host, HostOptions};
pub use progress::Progress;
