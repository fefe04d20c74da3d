//! The ask: one state machine from a question to an honest ending.
//!
//! This room wires the middle ones together (runtime, database, knowledge, models); it decides order and endings, and
//! nothing else. What a stage wants is in [`ask`], what a model may see is in [`context`], what a component may look up is
//! in [`services`]. It holds no credential and runs no text but what the gate approved.

pub mod account;
mod adapter;
pub mod ask;
mod asker;
mod blank;
mod budget;
pub mod checks;
pub mod context;
mod conversation;
mod convert;
pub mod domain;
mod drift;
mod drive;
mod embedding;
mod failed;
pub mod fault;
mod freshness;
pub mod golden;
pub mod host;
mod inspect;
mod journal;
pub mod learning;
mod link;
mod load;
mod losses;
mod observer;
pub mod progress;
pub mod quarantine;
mod query;
mod recall;
mod record;
mod refresh;
mod rerank;
mod rerun;
mod sample;
pub mod services;
mod several;
pub mod shadow;
mod spelling;
mod swap;
pub mod timeline;
mod took;
mod trace_parent;
mod values;

pub use ask::ATTEMPTS;
pub use asker::{Asker, Surface};
pub use checks::{Checked, KeyRole};
pub use domain::{Domain, DomainError, Guarded};
pub use drift::DomainDrift;
pub use embedding::{Embedding, EmbeddingError};
pub use fault::{Fault, Finished};
pub use freshness::Freshness;
pub use host::{AskError, ContextError, Host, HostOptions, Shown};
pub use journal::{Journal, JournalOptions, JournalState};
pub use learning::{Learning, LearningOptions};
pub use link::Linking;
pub use load::Load;
pub use observer::{Grade, Observed, Observer};
pub use progress::Progress;
pub use quarantine::{FailurePolicy, QuarantinePolicy, Quarantined, Served};
pub use query::QueryError;
pub use recall::Following;
pub use rerank::Reranked;
pub use rerun::{Difference, Rerun, RerunError};
pub use sample::{Sample, SampleError};
pub use shadow::ShadowReport;
pub use swap::Witness;
pub use timeline::Timeline;
pub use trace_parent::{TraceParent, TraceParentError};
pub use values::FollowingValues;
