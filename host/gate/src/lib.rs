//! The SQL gate: text in, [`Approved`] or [`Rejection`] out. Pure: no I/O, no async, no clock.
//!
//! The verdict is about the very text that will run. PostgreSQL's own grammar reads it, a walk over the tree denies what
//! it does not know, every name is resolved against the catalogue, and a second parser may object. Nothing is ever printed
//! back from a tree and executed: the one change the gate makes, a row limit, is an edit of bytes, and the edited text is
//! what the grammar reads.
//!
//! ```
//! use std::sync::Arc;
//! use airlock_gate::{Gate, Policy};
//! use airlock_types::Catalogue;
//!
//! let gate = Gate::new(Arc::new(Catalogue::default()), Policy::default());
//! let approved = gate.check("SELECT 1 + 1 AS two").unwrap();
//! assert_eq!(approved.statement(), "SELECT 1 + 1 AS two LIMIT 201");
//!
//! let rejection = gate.check("SELECT pg_sleep(10)").unwrap_err();
//! assert_eq!(rejection.code.as_str(), "forbidden-function");
//! assert_eq!(rejection.position, Some(8));
//! ```

mod approved;
mod edits;
mod extensions;
mod facts;
mod functions;
mod gate;
mod lineage;
mod outline;
mod parse;
mod policy;
mod rejection;
mod scan;
mod scope;
mod second_opinion;
mod stack;
mod vocabulary;
mod walk;

pub use approved::{Approved, RowLimit};
pub use extensions::is_vetted as is_vetted_extension;
pub use facts::{ComparedLiteral, Facts, Folding, Letters, Loss, LossKind};
pub use gate::{Gate, canonical, lineage, outline, without_comments, without_literals};
pub use lineage::{Part, Shown};
pub use outline::{Node, NodeKind};
pub use policy::{AllowedFunction, Limits, Policy};
pub use rejection::{Rejection, RejectionCode};
