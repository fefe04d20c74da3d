//! A host that is asked each thing once: the search composes the same question many times.

use std::cell::RefCell;
use std::collections::BTreeMap;

use airlock_plugin_sdk::contract::catalog::{Join, TableDetail, TableSummary};
use airlock_plugin_sdk::contract::log::Level;
use airlock_plugin_sdk::contract::retrieval::{
    ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit,
};
use airlock_plugin_sdk::contract::sql::{Facts, Node, Rejection};
use airlock_plugin_sdk::{Attribute, Host, TableRef};

type Known<K, V> = RefCell<BTreeMap<K, V>>;

/// The host, and what it said.
pub struct Remembered<'a, H: Host> {
    host: &'a H,
    tables: RefCell<Option<Vec<TableSummary>>>,
    details: Known<(String, String), Option<TableDetail>>,
    values: Known<(String, u32), Vec<ValueHit>>,
    lessons: Known<(String, u32), Vec<Lesson>>,
    terms: Known<(String, u32), Vec<Term>>,
    columns: Known<(String, u32), Vec<ColumnHit>>,
    facts: Known<String, Result<Facts, Rejection>>,
}

impl<'a, H: Host> Remembered<'a, H> {
    /// Nothing is remembered yet.
    pub fn new(host: &'a H) -> Self {
        Self {
            host,
            tables: RefCell::default(),
            details: Known::default(),
            values: Known::default(),
            lessons: Known::default(),
            terms: Known::default(),
            columns: Known::default(),
            facts: Known::default(),
        }
    }
}

fn once<K: Ord + Clone, V: Clone>(known: &Known<K, V>, key: K, ask: impl FnOnce() -> V) -> V {
    if let Some(value) = known.borrow().get(&key) {
        return value.clone();
    }
    let value = ask();
    known.borrow_mut().insert(key, value.clone());
    value
}

impl<H: Host> Host for Remembered<'_, H> {
    fn tables(&self) -> Vec<TableSummary> {
        self.tables.borrow_mut().get_or_insert_with(|| self.host.tables()).clone()
    }

    fn describe(&self, table: &TableRef) -> Option<TableDetail> {
        once(&self.details, (table.schema.clone(), table.name.clone()), || self.host.describe(table))
    }

    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
        self.host.join_path(from, to, max_hops)
    }

    fn server_version(&self) -> u32 {
        self.host.server_version()
    }

    fn near_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
        self.host.near_tables(query, k)
    }

    fn near_columns(&self, query: &str, k: u32) -> Vec<ColumnHit> {
        once(&self.columns, (query.to_owned(), k), || self.host.near_columns(query, k))
    }

    fn near_values(&self, query: &str, k: u32) -> Vec<ValueHit> {
        once(&self.values, (query.to_owned(), k), || self.host.near_values(query, k))
    }

    fn near_examples(&self, query: &str, k: u32) -> Vec<Example> {
        self.host.near_examples(query, k)
    }

    fn near_lessons(&self, query: &str, k: u32) -> Vec<Lesson> {
        once(&self.lessons, (query.to_owned(), k), || self.host.near_lessons(query, k))
    }

    fn near_terms(&self, query: &str, k: u32) -> Vec<Term> {
        once(&self.terms, (query.to_owned(), k), || self.host.near_terms(query, k))
    }

    fn near_passages(&self, query: &str, k: u32) -> Vec<Passage> {
        self.host.near_passages(query, k)
    }

    fn check(&self, text: &str) -> Result<Facts, Rejection> {
        once(&self.facts, text.to_owned(), || self.host.check(text))
    }

    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
        self.host.outline(text)
    }

    fn log(&self, level: Level, message: &str, fields: &[Attribute]) {
        self.host.log(level, message, fields);
    }
}
