//! Recorded look-ups: what a stage asked the host and what it was told, to be told again.
//!
//! A stage is a pure function of its input, the exchanges with the model and its look-ups. With these three on record a
//! finished ask can be replayed, and a stage tested, without a database, a model or an index.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::contract::catalog::{Join, TableDetail, TableSummary};
use crate::contract::log::Level;
use crate::contract::retrieval::{ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use crate::contract::sql::{Facts, Node, Rejection};
use crate::contract::types::TableRef;
use crate::services::{NoServices, Services};

/// What was asked. `k` and `max_hops` are as the host capped them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "function", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each case is a function of `Services`, each field its argument")]
pub enum Asked {
    Tables,
    Describe { table: TableRef },
    JoinPath { from: TableRef, to: TableRef, max_hops: u32 },
    ServerVersion,
    FindTables { query: String, k: u32 },
    FindColumns { query: String, k: u32 },
    FindValues { query: String, k: u32 },
    FindExamples { query: String, k: u32 },
    FindLessons { query: String, k: u32 },
    FindTerms { query: String, k: u32 },
    FindPassages { query: String, k: u32 },
    Check { text: String },
    Outline { text: String },
}

/// What was told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each case is the result of a function of `Services`")]
#[allow(clippy::large_enum_variant, reason = "few at a time, and a box would be in every reader's way")]
pub enum Told {
    Tables(Vec<TableSummary>),
    Describe(Option<TableDetail>),
    JoinPath(Vec<Join>),
    ServerVersion(u32),
    FindTables(Vec<TableHit>),
    FindColumns(Vec<ColumnHit>),
    FindValues(Vec<ValueHit>),
    FindExamples(Vec<Example>),
    FindLessons(Vec<Lesson>),
    FindTerms(Vec<Term>),
    FindPassages(Vec<Passage>),
    Check(Result<Facts, Rejection>),
    Outline(Result<Vec<Node>, Rejection>),
}

/// One look-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookUp {
    /// What was asked.
    pub asked: Asked,
    /// What was told.
    pub told: Told,
}

/// Passes look-ups on and keeps them.
pub struct Recorder {
    inner: Arc<dyn Services>,
    kept: Mutex<Vec<LookUp>>,
}

impl Recorder {
    /// Records what `inner` is asked.
    #[must_use]
    pub fn new(inner: Arc<dyn Services>) -> Self {
        Self { inner, kept: Mutex::default() }
    }

    /// The look-ups so far, in their order.
    #[must_use]
    pub fn look_ups(&self) -> Vec<LookUp> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, asked: Asked, told: Told) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(LookUp { asked, told });
    }
}

/// Tells what was recorded. What was never asked is answered as by [`NoServices`], and counted.
#[derive(Debug, Default)]
pub struct Recorded {
    look_ups: Vec<LookUp>,
    misses: Mutex<Vec<Asked>>,
}

impl Recorded {
    /// Tells these again.
    #[must_use]
    pub fn new(look_ups: Vec<LookUp>) -> Self {
        Self { look_ups, misses: Mutex::default() }
    }

    /// What was asked that is not on record: where a replay left its record.
    #[must_use]
    pub fn misses(&self) -> Vec<Asked> {
        self.misses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn find(&self, asked: Asked) -> Option<Told> {
        let found =
            self.look_ups.iter().find(|look_up| look_up.asked == asked).map(|look_up| look_up.told.clone());
        if found.is_none() {
            self.misses.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        }
        found
    }
}

macro_rules! recorded {
    ($($method:ident($($argument:ident: $type:ty => $owned:expr),*) -> $result:ty, $case:ident;)*) => {
        impl Services for Recorder {
            $(fn $method(&self, $($argument: $type),*) -> $result {
                let told = self.inner.$method($($argument),*);
                self.keep(recorded!(@asked $case $($argument $owned)*), Told::$case(told.clone()));
                told
            })*

            fn log(&self, level: Level, message: &str, fields: &[(String, String)]) {
                self.inner.log(level, message, fields);
            }
        }

        impl Services for Recorded {
            $(fn $method(&self, $($argument: $type),*) -> $result {
                match self.find(recorded!(@asked $case $($argument $owned)*)) {
                    Some(Told::$case(told)) => told,
                    _ => NoServices.$method($($argument),*),
                }
            })*

            fn log(&self, _: Level, _: &str, _: &[(String, String)]) {}
        }
    };
    (@asked $case:ident) => { Asked::$case };
    (@asked $case:ident $($argument:ident $owned:expr)+) => { Asked::$case { $($argument: $owned),+ } };
}

recorded! {
    tables() -> Vec<TableSummary>, Tables;
    describe(table: &TableRef => table.clone()) -> Option<TableDetail>, Describe;
    join_path(from: &TableRef => from.clone(), to: &TableRef => to.clone(), max_hops: u32 => max_hops) -> Vec<Join>, JoinPath;
    server_version() -> u32, ServerVersion;
    find_tables(query: &str => query.to_owned(), k: u32 => k) -> Vec<TableHit>, FindTables;
    find_columns(query: &str => query.to_owned(), k: u32 => k) -> Vec<ColumnHit>, FindColumns;
    find_values(query: &str => query.to_owned(), k: u32 => k) -> Vec<ValueHit>, FindValues;
    find_examples(query: &str => query.to_owned(), k: u32 => k) -> Vec<Example>, FindExamples;
    find_lessons(query: &str => query.to_owned(), k: u32 => k) -> Vec<Lesson>, FindLessons;
    find_terms(query: &str => query.to_owned(), k: u32 => k) -> Vec<Term>, FindTerms;
    find_passages(query: &str => query.to_owned(), k: u32 => k) -> Vec<Passage>, FindPassages;
    check(text: &str => text.to_owned()) -> Result<Facts, Rejection>, Check;
    outline(text: &str => text.to_owned()) -> Result<Vec<Node>, Rejection>, Outline;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shop;

    impl Shop {
        fn table() -> TableRef {
            TableRef { schema: "public".to_owned(), name: "bills".to_owned() }
        }
    }

    macro_rules! nothing {
        ($($method:ident($($type:ty),*) -> $result:ty;)*) => {
            $(fn $method(&self, $(_: $type),*) -> $result { Default::default() })*
        };
    }

    impl Services for Shop {
        fn server_version(&self) -> u32 {
            150_018
        }
        fn find_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
            vec![TableHit { table: Self::table(), score: f64::from(k), matched: vec![query.to_owned()] }]
        }
        fn check(&self, text: &str) -> Result<Facts, Rejection> {
            NoServices.check(text)
        }
        fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
            NoServices.outline(text)
        }
        nothing! {
            tables() -> Vec<TableSummary>;
            describe(&TableRef) -> Option<TableDetail>;
            join_path(&TableRef, &TableRef, u32) -> Vec<Join>;
            find_columns(&str, u32) -> Vec<ColumnHit>;
            find_values(&str, u32) -> Vec<ValueHit>;
            find_examples(&str, u32) -> Vec<Example>;
            find_lessons(&str, u32) -> Vec<Lesson>;
            find_terms(&str, u32) -> Vec<Term>;
            find_passages(&str, u32) -> Vec<Passage>;
            log(Level, &str, &[(String, String)]) -> ();
        }
    }

    fn ask_all(services: &dyn Services) -> (u32, Vec<TableHit>, Vec<TableHit>, Option<TableDetail>, bool) {
        (
            services.server_version(),
            services.find_tables("bills", 5),
            services.find_tables("bills", 7),
            services.describe(&Shop::table()),
            services.check("SELECT 1").is_err(),
        )
    }

    #[test]
    fn a_replay_through_json_is_told_the_same() {
        let recorder = Recorder::new(Arc::new(Shop));
        let first = ask_all(&recorder);
        let json = serde_json::to_string(&recorder.look_ups()).unwrap();
        let replay = Recorded::new(serde_json::from_str(&json).unwrap());
        assert_eq!(ask_all(&replay), first);
        assert_eq!(replay.misses(), []);
    }

    #[test]
    fn what_is_not_on_record_is_nothing_and_noticed() {
        let replay = Recorded::new(Vec::new());
        assert_eq!(replay.find_tables("bills", 5), []);
        assert_eq!(replay.misses(), [Asked::FindTables { query: "bills".to_owned(), k: 5 }]);
    }
}
