//! Retrieval by keywords: what is near to a question, how near, and which words say so.
//!
//! The scoring is BM25F, written here. The `bm25` crate was weighed and not taken: it scores one field a document, so that
//! a word in a table's name and a word in the note of one of its forty columns would count the same; it cannot give a
//! word of a question several weighted forms (`qty` for `quantity`), and it does not say which words matched, which is
//! what people are shown. What is left of it is a formula of three lines. The English stemmer is `rust-stemmers`:
//! Snowball's own generated code, finished rather than abandoned.

pub mod abbreviations;
mod affixes;
pub mod bm25f;
mod cohesion;
mod compounds;
pub(crate) mod documents;
pub(crate) mod fusion;
mod kindred;
pub mod passages;
pub mod query;
pub(crate) mod tables;
pub mod values;
pub mod vectors;
mod ways;
mod weights;
pub mod words;
