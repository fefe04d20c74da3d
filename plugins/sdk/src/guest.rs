//! The host as a component sees it, and what a panic leaves behind.

use crate::Host;
use crate::contract::catalog::{self, Join, TableDetail, TableSummary};
use crate::contract::log::{self, Level};
use crate::contract::retrieval::{self, ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use crate::contract::sql::{self, Facts, Node, Rejection};
use crate::contract::types::{Attribute, TableRef};

/// The real imports. Only a component has them: a call on any other target panics.
#[derive(Debug, Clone, Copy, Default)]
pub struct Imports;

impl Host for Imports {
    fn tables(&self) -> Vec<TableSummary> {
        catalog::tables()
    }

    fn describe(&self, table: &TableRef) -> Option<TableDetail> {
        catalog::describe(table)
    }

    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
        catalog::join_path(from, to, max_hops)
    }

    fn server_version(&self) -> u32 {
        catalog::server_version()
    }

    fn near_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
        retrieval::tables(query, k)
    }

    fn near_columns(&self, query: &str, k: u32) -> Vec<ColumnHit> {
        retrieval::columns(query, k)
    }

    fn near_values(&self, query: &str, k: u32) -> Vec<ValueHit> {
        retrieval::values(query, k)
    }

    fn near_examples(&self, query: &str, k: u32) -> Vec<Example> {
        retrieval::examples(query, k)
    }

    fn near_lessons(&self, query: &str, k: u32) -> Vec<Lesson> {
        retrieval::lessons(query, k)
    }

    fn near_terms(&self, query: &str, k: u32) -> Vec<Term> {
        retrieval::glossary(query, k)
    }

    fn near_passages(&self, query: &str, k: u32) -> Vec<Passage> {
        retrieval::passages(query, k)
    }

    fn check(&self, text: &str) -> Result<Facts, Rejection> {
        sql::check(text)
    }

    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
        sql::outline(text)
    }

    fn log(&self, level: Level, message: &str, fields: &[Attribute]) {
        log::write(level, message, fields);
    }
}

/// Sends a panic's message and place through the `log` import before the instance traps; without it an operator
/// would read "unreachable" and nothing else. The `export!` macro calls this first thing in each export.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        log::write(Level::Error, &format!("panic: {panic}"), &[]);
    }));
}
