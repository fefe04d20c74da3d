//! The gate and the envelope against corpora that nobody tuned them to: a score, and a page that shows it.

mod page;
mod rows;
mod score;

pub use page::page;
pub use score::{Score, Tally, score};
