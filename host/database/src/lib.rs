//! The database envelope: a checked text runs read-only, bounded and cancellable; the catalogue, probes and samples come
//! from the room's own fixed SQL.
//!
//! - Nothing that came from outside runs but an [`airlock_gate::Approved`]: [`Source::run`] takes no text.
//! - Every transaction ends in `ROLLBACK`; the crate holds no statement that would keep a change.
//! - Passwords and values of rows do not reach a message: see [`connection_string`] and the `redact` module.
//! - What each type of PostgreSQL becomes in JSON stands in one table: see [`encode`].

pub mod catalogue;
pub mod checks;
mod client;
pub mod connection_string;
mod dial;
mod door;
pub mod encode;
pub mod error;
mod exact_json;
mod exchange;
mod orphans;
mod pool;
pub mod probes;
mod redact;
mod result_types;
mod run;
mod settings;
mod source;
pub mod sqlstate;
mod tls;
mod wire;

pub use catalogue::Scope;
pub use checks::{Check, CheckOutcome};
pub use connection_string::ConnectionString;
pub use error::DatabaseError;
pub use pool::Connections;
pub use run::{Identity, IdentityError, ResultSet, RunOptions, Timed};
pub use source::{Source, SourceConfig};
pub use wire::ServerError;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
