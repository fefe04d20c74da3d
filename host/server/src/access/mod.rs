//! Who may do what: scopes, callers, and what a caller may touch.

mod caller;
mod scope;

pub use caller::{Caller, Denied};
pub use scope::Scope;
