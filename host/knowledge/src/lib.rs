//! What airlock knows about a domain: the pack that people wrote, merged with the catalogue, found by the words of a
//! question.
//!
//! [`Pack::read`] reads a pack's files and reports everything that is wrong with them at once; [`Pack::bind`] holds its
//! names and its SQL against the catalogue and the gate; [`Knowledge::new`] makes the merged view and its index. This room
//! reads files and memory: it has no connection, and what it wants of a data source (distinct values of the columns that
//! [`Exposure`] permits) is handed to it.

pub mod class;
pub mod curated;
pub mod degrade;
pub mod drift;
pub mod exposure;
mod guess;
pub mod index;
pub mod joins;
pub mod knowledge;
pub mod near;
pub mod pack;
pub mod promotion;
pub mod records;
pub mod store;
pub mod tables;
#[cfg(test)]
pub(crate) mod testing;

pub use class::ColumnClass;
pub use curated::Curated;
pub use degrade::{Degrade, DegradeError};
pub use exposure::Exposure;
pub use index::values::ValueHit;
pub use index::vectors::{Text, VectorError, Vectors};
pub use joins::{Join, JoinOrigin};
pub use knowledge::Knowledge;
pub use near::Nearby;
pub use pack::{Pack, PackReport, Problem};
pub use records::{ColumnHit, ExampleHit, LessonHit, PassageHit, TableHit, TermHit};
pub use tables::{ColumnView, TableView};
