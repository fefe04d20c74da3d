//! Roles, grants and demo data: the only room that ever sees an administrator's credential.
//!
//! - [`PrivatePostgres`]: a server of airlock's own, on a socket nobody else can open.
//! - [`roles`]: what each role may do, as statements that are shown before they run, and trials that prove it.
//! - [`fitness`]: whether a credential is small enough to serve with.
//! - [`source`]: the same for a server that is somebody else's.
//! - [`store`]: database, schema and roles of the store.
//! - [`demo`]: a pack's database on the private server.

pub mod demo;
mod error;
pub mod fitness;
mod private;
pub mod roles;
mod secret;
pub mod source;
mod sql;
pub mod store;

pub use error::SetupError;
pub use private::{Durability, PrivateConfig, PrivatePostgres, default_data_dir};
pub use secret::Secret;
