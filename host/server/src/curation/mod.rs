//! Stored knowledge as people look at it and decide on it: the same from the command line and over HTTP.
//!
//! Surfaces say who asks and show what came out; what is found, what may be decided and what is refused is settled here.

mod decide;
mod look;
mod shelf;

pub use decide::{Action, NotDecided, Wanted, author, decide};
pub use look::{Item, Listing, Shelf, find, list};
pub use shelf::{Kept, PutBack, put_back, write_down};
