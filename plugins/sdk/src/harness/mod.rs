//! A host for unit tests: recorded answers, recorded replies, no WebAssembly and no database.

mod catalogue;
mod host;
mod play;

pub use catalogue::{Recorded, TableDraft, column, table, table_ref};
pub use play::{Played, Step, clock, drive, failed, input_turn, reply, sql_reply};
