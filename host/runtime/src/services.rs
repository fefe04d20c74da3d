//! What the host does for components: one method for each imported function, implemented by the pipeline.
//!
//! The methods are synchronous because what they do is quick: they read what is already in memory. Their time is not
//! charged to the component's compute budget, but it counts towards the wall limit, and an instance holds its place in
//! the pool meanwhile. They run on the small stack of the call's fiber; what needs a deep stack brings its own.

use std::sync::Arc;

use crate::bounds::{self, cut};
use crate::contract::bindings::airlock::plugin as imports;
use crate::contract::catalog::{Join, TableDetail, TableSummary};
use crate::contract::log::Level;
use crate::contract::retrieval::{ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use crate::contract::sql::{Facts, Node, Rejection};
use crate::contract::types::{Attribute, TableRef};
use crate::store::State;

/// Most relations that `catalog.tables` gives.
const TABLES: usize = 5_000;
/// Most hops of `catalog.join-path`.
const HOPS: u32 = 6;
/// Most hits of a `retrieval` function.
const HITS: u32 = 50;
/// Bytes of a query that are read.
const QUERY: usize = 4_096;
/// Most nodes of `sql.outline`.
const NODES: usize = 10_000;

/// Answers to what components ask the host.
pub trait Services: Send + Sync {
    /// All relations of the domain, by schema and name.
    fn tables(&self) -> Vec<TableSummary>;
    /// One relation.
    fn describe(&self, table: &TableRef) -> Option<TableDetail>;
    /// The shortest chain of joins; empty when there is none. `max_hops` is at most 6.
    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join>;
    /// Version of the connected server, such as 150018.
    fn server_version(&self) -> u32;

    /// Relations near the query. Here and below `k` is at most 50.
    fn find_tables(&self, query: &str, k: u32) -> Vec<TableHit>;
    /// Columns near the query.
    fn find_columns(&self, query: &str, k: u32) -> Vec<ColumnHit>;
    /// Indexed values that match words of the query.
    fn find_values(&self, query: &str, k: u32) -> Vec<ValueHit>;
    /// Verified examples near the query.
    fn find_examples(&self, query: &str, k: u32) -> Vec<Example>;
    /// Lessons near the query.
    fn find_lessons(&self, query: &str, k: u32) -> Vec<Lesson>;
    /// Glossary terms that match the query.
    fn find_terms(&self, query: &str, k: u32) -> Vec<Term>;
    /// Passages of documents near the query.
    fn find_passages(&self, query: &str, k: u32) -> Vec<Passage>;

    /// The gate's verdict on a text.
    fn check(&self, text: &str) -> Result<Facts, Rejection>;
    /// The nodes of a text, parents before children.
    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection>;

    /// One log line of the component, cut to its limit, without control characters.
    fn log(&self, level: Level, message: &str, fields: &[(String, String)]);
}

/// Services of a host that has nothing: no relation, no knowledge, no gate. For tests, and for trying a component.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoServices;

impl NoServices {
    /// As the argument of a call.
    #[must_use]
    pub fn shared() -> Arc<dyn Services> {
        Arc::new(Self)
    }

    fn no_gate() -> Rejection {
        Rejection {
            code: "no-gate".to_owned(),
            message: "no gate is connected here".to_owned(),
            hint: None,
            position: None,
        }
    }
}

impl Services for NoServices {
    fn tables(&self) -> Vec<TableSummary> {
        Vec::new()
    }
    fn describe(&self, _: &TableRef) -> Option<TableDetail> {
        None
    }
    fn join_path(&self, _: &TableRef, _: &TableRef, _: u32) -> Vec<Join> {
        Vec::new()
    }
    fn server_version(&self) -> u32 {
        0
    }
    fn find_tables(&self, _: &str, _: u32) -> Vec<TableHit> {
        Vec::new()
    }
    fn find_columns(&self, _: &str, _: u32) -> Vec<ColumnHit> {
        Vec::new()
    }
    fn find_values(&self, _: &str, _: u32) -> Vec<ValueHit> {
        Vec::new()
    }
    fn find_examples(&self, _: &str, _: u32) -> Vec<Example> {
        Vec::new()
    }
    fn find_lessons(&self, _: &str, _: u32) -> Vec<Lesson> {
        Vec::new()
    }
    fn find_terms(&self, _: &str, _: u32) -> Vec<Term> {
        Vec::new()
    }
    fn find_passages(&self, _: &str, _: u32) -> Vec<Passage> {
        Vec::new()
    }
    fn check(&self, _: &str) -> Result<Facts, Rejection> {
        Err(Self::no_gate())
    }
    fn outline(&self, _: &str) -> Result<Vec<Node>, Rejection> {
        Err(Self::no_gate())
    }
    fn log(&self, _: Level, _: &str, _: &[(String, String)]) {}
}

fn at_most<T>(mut list: Vec<T>, most: usize) -> Vec<T> {
    list.truncate(most);
    list
}

impl State {
    fn hits<T>(
        &mut self,
        query: &str,
        k: u32,
        find: impl FnOnce(&dyn Services, &str, u32) -> Vec<T>,
    ) -> wasmtime::Result<Vec<T>> {
        let k = k.min(HITS);
        let found = self.look_up(|services| find(services, cut(query, QUERY), k))?;
        Ok(at_most(found, k as usize))
    }
}

impl imports::types::Host for State {}
impl imports::model::Host for State {}
impl imports::work::Host for State {}

impl imports::catalog::Host for State {
    fn tables(&mut self) -> wasmtime::Result<Vec<TableSummary>> {
        Ok(at_most(self.look_up(|services| services.tables())?, TABLES))
    }

    fn describe(&mut self, table: TableRef) -> wasmtime::Result<Option<TableDetail>> {
        self.look_up(|services| services.describe(&table))
    }

    fn join_path(&mut self, from: TableRef, to: TableRef, max_hops: u32) -> wasmtime::Result<Vec<Join>> {
        let hops = max_hops.min(HOPS);
        Ok(at_most(self.look_up(|services| services.join_path(&from, &to, hops))?, hops as usize))
    }

    fn server_version(&mut self) -> wasmtime::Result<u32> {
        self.look_up(|services| services.server_version())
    }
}

impl imports::retrieval::Host for State {
    fn tables(&mut self, query: String, k: u32) -> wasmtime::Result<Vec<TableHit>> {
        self.hits(&query, k, |services, query, k| services.find_tables(query, k))
    }

    fn columns(&mut self, query: String, k: u32) -> wasmtime::Result<Vec<ColumnHit>> {
        self.hits(&query, k, |services, query, k| services.find_columns(query, k))
    }

    fn values(&mut self, query: String, k: u32) -> wasmtime::Result<Vec<ValueHit>> {
        self.hits(&query, k, |services, query, k| services.find_values(query, k))
    }

    fn examples(&mut self, query: String, k: u32) -> wasmtime::Result<Vec<Example>> {
        self.hits(&query, k, |services, query, k| services.find_examples(query, k))
    }

    fn lessons(&mut self, query: String, k: u32) -> wasmtime::Result<Vec<Lesson>> {
        self.hits(&query, k, |services, query, k| services.find_lessons(query, k))
    }

    fn glossary(&mut self, query: String, k: u32) -> wasmtime::Result<Vec<Term>> {
        self.hits(&query, k, |services, query, k| services.find_terms(query, k))
    }

    fn passages(&mut self, query: String, k: u32) -> wasmtime::Result<Vec<Passage>> {
        self.hits(&query, k, |services, query, k| services.find_passages(query, k))
    }
}

impl imports::sql::Host for State {
    fn check(&mut self, text: String) -> wasmtime::Result<Result<Facts, Rejection>> {
        match too_long(&text) {
            Some(rejection) => Ok(Err(rejection)),
            None => self.look_up(|services| services.check(&text)),
        }
    }

    fn outline(&mut self, text: String) -> wasmtime::Result<Result<Vec<Node>, Rejection>> {
        match too_long(&text) {
            Some(rejection) => Ok(Err(rejection)),
            None => Ok(self.look_up(|services| services.outline(&text))?.map(|nodes| at_most(nodes, NODES))),
        }
    }
}

/// A text too long for the gate is refused before it is parsed.
fn too_long(text: &str) -> Option<Rejection> {
    (text.len() > bounds::SQL).then(|| Rejection {
        code: "too-large".to_owned(),
        message: format!("the text has {} bytes, at most {} are read", text.len(), bounds::SQL),
        hint: None,
        position: None,
    })
}

impl imports::log::Host for State {
    fn write(&mut self, level: Level, message: String, fields: Vec<Attribute>) -> wasmtime::Result<()> {
        self.log_line(level, &message, &fields);
        Ok(())
    }
}
