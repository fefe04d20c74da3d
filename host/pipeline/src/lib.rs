//! The ask: one state machine from a question to an honest ending.
//!
//! This room wires the middle ones together (runtime, database, knowledge, models); it decides order and endings, and
//! nothing else. What a stage wants is in [`ask`], what a model may see is in [`context`], what a component may look up is
//! in [`services`]. It holds no credential and runs no text but what the gate approved.

mod adapter;
pub mod ask;
mod asker;
mod budget;
pub mod checks;
pub mod context;
mod convert;
pub mod domain;
mod drive;
mod embedding;
pub mod fault;
pub mod golden;
pub mod host;
mod inspect;
pub mod learning;
mod link;
pub mod progress;
pub mod quarantine;
mod recall;
mod record;
mod refresh;
pub mod services;
pub mod shadow;
mod swap;
mod values;

pub use ask::ATTEMPTS;
pub use asker::{Asker, Surface};
pub use checks::Checked;
pub use domain::{Domain, DomainError};
pub use embedding::{Embedding, EmbeddingError};
pub use fault::{Fault, Finished};
pub use host::{AskError, ContextError, Host, HostOptions};
pub use learning::{Learning, LearningOptions};
pub use link::Linking;
pub use progress::Progress;
pub use quarantine::{FailurePolicy, QuarantinePolicy, Quarantined, Served};
pub use recall::Following;
pub use shadow::ShadowReport;
pub use swap::Witness;
pub use values::FollowingValues;
