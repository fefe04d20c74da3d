//! The gate and the envelope against corpora that nobody tuned them to: a laboratory, a judge, a score, a page.

mod judge;
mod laboratory;
mod page;
mod pressure;
mod rows;
mod score;

pub use judge::{Judge, Judged};
pub use laboratory::{Laboratory, Place};
pub use page::page;
pub use pressure::{Peak, Pressure};
pub use rows::{Own, difference, own_rows};
pub use score::{Score, Tally, score};
