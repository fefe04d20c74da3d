//! Components as an operator sees them: grants, candidates, what served when, and how that comes back at a start.

mod candidate;
mod grants;
mod history;
mod kept;
mod ledger;
mod listed;
mod restore;
mod signature;

pub use candidate::{Candidate, Refusal};
pub use grants::{Reviewed, difference};
pub use history::{Entry, Event, History, read};
pub use kept::kept;
pub use ledger::Ledger;
pub use listed::Listed;
pub use restore::restore;
pub use signature::{beside, signature_of};
