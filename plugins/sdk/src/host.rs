//! What a stage may ask of the host, as one trait over the contract's imports.

use crate::contract::catalog::{Join, TableDetail, TableSummary};
use crate::contract::log::Level;
use crate::contract::retrieval::{ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use crate::contract::sql::{Facts, Node, Rejection};
use crate::contract::types::{Attribute, TableRef};

/// The imports of the contract. In a component they are [`Imports`](crate::Imports), in a test
/// [`harness::Recorded`](crate::harness::Recorded).
///
/// Stages take `&impl Host` and not `&dyn Host`: with static dispatch an import that a stage never calls does not
/// end up in its component, and so need not be granted.
pub trait Host {
    /// All relations of the domain.
    fn tables(&self) -> Vec<TableSummary>;
    /// One relation in full.
    fn describe(&self, table: &TableRef) -> Option<TableDetail>;
    /// The shortest chain of joins between two relations, at most `max_hops` long; empty when there is none.
    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join>;
    /// Version of the connected server, such as 150018.
    fn server_version(&self) -> u32;

    /// Relations near a query.
    fn near_tables(&self, query: &str, k: u32) -> Vec<TableHit>;
    /// Columns near a query.
    fn near_columns(&self, query: &str, k: u32) -> Vec<ColumnHit>;
    /// Values of indexed columns that match words of a query.
    fn near_values(&self, query: &str, k: u32) -> Vec<ValueHit>;
    /// Verified questions near a query, with their SQL.
    fn near_examples(&self, query: &str, k: u32) -> Vec<Example>;
    /// Lessons near a query.
    fn near_lessons(&self, query: &str, k: u32) -> Vec<Lesson>;
    /// Glossary terms that match words of a query.
    fn near_terms(&self, query: &str, k: u32) -> Vec<Term>;
    /// Passages of the domain's documents near a query.
    fn near_passages(&self, query: &str, k: u32) -> Vec<Passage>;

    /// The gate's verdict on a text. Nothing runs.
    fn check(&self, text: &str) -> Result<Facts, Rejection>;
    /// The nodes of a text, parents before children.
    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection>;

    /// One structured log line.
    fn log(&self, level: Level, message: &str, fields: &[Attribute]);
}
