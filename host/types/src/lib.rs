//! Words every room shares: ids, hashes, text hygiene, the catalogue's shape, failures, the ask and its answer.
//!
//! Nothing here does I/O, knows a database driver or a component runtime. Each type is parsed once, at the edge, and
//! passed on as itself.

pub mod ask;
pub mod catalogue;
pub mod cell;
pub mod clock;
pub mod failure;
pub mod ids;
pub mod object;
pub mod query;
pub mod strict;
pub mod text;

pub use ask::{Answer, AnswerKind, AskRequest, FieldError, HistoryEntry, Mode, Outcome, RawAskRequest};
pub use catalogue::Catalogue;
pub use clock::Clock;
pub use failure::{ErrorType, Failure};
pub use ids::{AskId, ColumnRef, ContentHash, DomainName, TableRef};
pub use object::Object;
pub use strict::Strict;
pub use text::Question;
