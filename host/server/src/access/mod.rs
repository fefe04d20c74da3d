//! Who may do what: scopes, callers, what a caller may touch, the keys that make somebody a caller, and what the
//! log says of whoever is refused.

mod caller;
mod holder;
mod refusal;
mod ring;
mod scope;
mod token;

pub use caller::{Caller, Denied};
pub use holder::{Holder, identity};
pub use refusal::{NOBODY, Refusals, Visit, network};
pub use ring::{Away, Credential, Ring};
pub use scope::Scope;
pub use token::Token;
