//! Who may do what: scopes, callers, what a caller may touch, and the keys that make somebody a caller.

mod caller;
mod holder;
mod ring;
mod scope;
mod token;

pub use caller::{Caller, Denied};
pub use holder::{Holder, identity};
pub use ring::{Away, Credential, Ring};
pub use scope::Scope;
pub use token::Token;
