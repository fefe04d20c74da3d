//! Chat providers behind one trait: roles, keys, retries, deadlines, replies cleaned; and embedders behind another.
//!
//! A stage asks by role (`fast`, `reasoning`, `review`); the configuration maps a role to a model of a provider. This
//! room knows nothing of stages, domains or SQL beyond finding a statement in a reply. A provider of the kind `recorded` plays
//! replies that were kept before. Keys live in [`Key`], which no log,
//! error or `Debug` can print.

pub mod config;
pub mod embed;
mod error;
mod key;
mod meter;
mod models;
pub mod price;
mod provider;
mod recorded;
pub mod reply;

pub use config::{ConfigError, ModelsConfig, ProviderConfig, ProviderKind, RoleConfig};
pub use embed::{EmbedError, Embedder, EmbedderConfig, EmbedderHealth, EmbeddingCache, FileCache};
pub use error::ModelError;
pub use key::Key;
pub use meter::Usage;
pub use models::{Call, Models, Reply, Role, Shape};
pub use recorded::Exchanged;
