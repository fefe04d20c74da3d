//! The component runtime: load, grant, limit, call. The one place that makes a wasmtime store.
//!
//! The way of a component: its bytes and a reviewed [`Grant`] go into [`Runtime::load`], which refuses what wants more
//! than it is granted before anything of it runs. The [`Registry`] says which component serves which stage of which
//! domain. Each call gets a fresh store and instance, all [`Limits`], and the [`Services`] the pipeline passes; what it
//! returns is held to the rules of the contract before anyone sees it.
//!
//! What is not here: this room knows no database, no gate, no model and no domain. It opens no file but grants and
//! the compiled-code cache, and nothing of a component's life outlasts its call.

pub mod bounds;
mod cache;
mod calls;
pub mod contract;
mod engine;
mod errors;
mod grants;
mod limits;
mod load;
mod meter;
mod outputs;
mod recording;
mod registry;
mod services;
pub mod signature;
mod stages;
mod store;
mod wasi;

pub use calls::Called;
pub use engine::{PoolUse, Runtime, RuntimeConfig, TICK};
pub use errors::{CallError, CallErrorKind, LoadError, LoadErrorKind, RuntimeError, TrapReport};
pub use grants::{DomainScope, Grant, Grants, GrantsError, Import, ModelRole, Stage, Wasi};
pub use limits::{Limit, LimitChanges, LimitHit, Limits, Spent};
pub use load::Component;
pub use recording::{Asked, LookUp, Recorded, Recorder, Told};
pub use registry::{Instead, Registry, StageSet, SwapError};
pub use services::{NoServices, Services};
pub use signature::SignaturePolicy;
