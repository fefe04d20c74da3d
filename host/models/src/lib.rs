//! Chat providers behind one trait: roles, keys, retries, deadlines, replies cleaned; embedders behind another; and a reranker.
//!
//! A stage asks by role (`fast`, `reasoning`, `review`); the configuration maps a role to a model of a provider. This
//! room knows nothing of stages, domains or SQL beyond finding a statement in a reply. A provider of the kind `recorded` plays
//! replies that were kept before. Keys live in [`Key`], which no log,
//! error or `Debug` can print.

pub mod config;
pub mod embed;
mod error;
mod key;
#[cfg(feature = "local-embedder")]
mod local;
mod meter;
mod models;
pub mod price;
mod provider;
mod pulse;
mod recorded;
pub mod reply;
pub mod rerank;

pub use config::{ConfigError, ModelsConfig, ProviderConfig, ProviderKind, RoleConfig};
pub use embed::{EmbedError, Embedder, EmbedderConfig, EmbeddingCache, FileCache};
pub use error::ModelError;
pub use key::Key;
pub use meter::Usage;
pub use models::{Call, Models, Reply, Role, Shape};
pub use pulse::Condition;
pub use recorded::Exchanged;
pub use rerank::{RerankConfig, RerankError, Reranker};
