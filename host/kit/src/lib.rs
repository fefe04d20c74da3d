//! Templates, compiler and encoder for authors of components: from a name to a project, from a project to a component.
//!
//! Nothing here runs a component or knows a host: that is the rooms' work. `xtask` builds the components of this repository
//! with the same encoder and the same compilers.

pub mod compile;
pub mod component;
mod embedded;
mod error;
pub mod project;
pub mod stages;
pub mod template;
pub mod toolchain;

pub use error::KitError;

/// Version of the SDK that projects are made with.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
