//! What a question says before anyone knows the schema: tokens, moments, and the words that ask for an operation.

pub mod grammar;
pub mod moments;
pub mod names;
mod phrases;
pub mod sought;
pub mod stems;
pub mod tokens;
