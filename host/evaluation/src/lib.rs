//! Evaluation: questions with known answers asked in bulk, graded by what they return, and told with how sure that is.
//!
//! [`prepare`] reads and tries every question before any is asked; [`begin`] makes a
//! [`Folder`] for a run, [`run`] asks, [`go_on`] opens a run that was stopped; [`regrade`] grades the same endings by today's
//! rules, without a model; [`Summary`] counts, [`Comparison`] pairs two runs, [`report`] writes the pages. One question is
//! asked and graded by the pipeline's golden-case runner. This room has no connection of its own and no server.

mod compare;
mod error;
mod faults;
mod folder;
mod questions;
mod record;
pub mod report;
mod run;
mod statistics;
mod summary;
#[cfg(test)]
mod testing;

pub use compare::{Comparison, Flip, ModeComparison};
pub use error::EvaluationError;
pub use faults::{ClassCount, Fault, FaultReport, Harmed, Mended, run as break_and_mend};
pub use folder::{Folder, Manifest, QuestionsFrom};
pub use questions::{Asked, Prepared, Wanted, prepare};
pub use record::{Kind, Record};
pub use run::{RunOptions, Step, begin, go_on, regrade, run};
pub use statistics::{Paired, Share, Times};
pub use summary::{Group, ModeSummary, Summary};
