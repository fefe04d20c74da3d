//! What the host would look up: recorded answers of the SDK's own harness, so that an author's unit tests and these cases are
//! told the same.

use std::sync::{Arc, Mutex, PoisonError};

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::types::TableRef as SdkTable;
use airlock_plugin_sdk::harness::{Recorded, table};
use airlock_runtime::Services;
use airlock_runtime::contract::catalog::{Join, TableDetail, TableSummary};
use airlock_runtime::contract::log::Level;
use airlock_runtime::contract::retrieval::{ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use airlock_runtime::contract::sql::{Facts, Node, Rejection};
use airlock_runtime::contract::types::TableRef;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The small library that cases are about when nothing else is recorded: branches, members, books and loans.
#[must_use]
pub fn library() -> Recorded {
    Recorded::new()
        .table(table("branches").columns(&[("branch_id", "bigint"), ("branch_name", "text")]))
        .table(table("members").columns(&[
            ("member_id", "bigint"),
            ("full_name", "text"),
            ("branch_id", "bigint"),
        ]))
        .table(table("books").columns(&[("book_id", "bigint"), ("title", "text"), ("price", "numeric(8,2)")]))
        .table(
            table("loans")
                .columns(&[
                    ("loan_id", "bigint"),
                    ("book_id", "bigint"),
                    ("member_id", "bigint"),
                    ("loaned_on", "date"),
                    ("status", "text"),
                ])
                .synonyms(&["borrowings"]),
        )
        .join("loans.book_id", "books.book_id")
        .join("loans.member_id", "members.member_id")
        .join("members.branch_id", "branches.branch_id")
        .values("loans.status", &["OUT", "RETURNED", "LOST"])
        .values("branches.branch_name", &["Harbour", "Mill Lane"])
        .metric("lending", &["loan count"], "loans", "count(*)", "loans.status <> 'LOST'")
}

/// Recorded answers as the services of a call.
pub struct Library(Mutex<Recorded>);

impl Library {
    /// The services that answer so.
    #[must_use]
    pub fn of(recorded: Recorded) -> Arc<dyn Services> {
        Arc::new(Self(Mutex::new(recorded)))
    }

    /// The harness answers in the SDK's types, the runtime asks in the host's: both are made from one contract.
    fn ask<A: Serialize, B: DeserializeOwned + Default>(&self, what: impl FnOnce(&Recorded) -> A) -> B {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        same(&what(&recorded)).unwrap_or_default()
    }

    fn judge<A: Serialize, B: DeserializeOwned + Default>(
        &self,
        what: impl FnOnce(&Recorded) -> Result<A, airlock_plugin_sdk::contract::sql::Rejection>,
    ) -> Result<B, Rejection> {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match what(&recorded) {
            Ok(answer) => Ok(same(&answer).unwrap_or_default()),
            Err(said) => Err(Rejection {
                code: said.code,
                message: said.message,
                hint: said.hint,
                position: said.position,
            }),
        }
    }
}

/// A value of one side as the other's.
fn same<A: Serialize, B: DeserializeOwned>(value: &A) -> Option<B> {
    serde_json::to_value(value).and_then(serde_json::from_value).ok()
}

fn sdk(table: &TableRef) -> SdkTable {
    SdkTable { schema: table.schema.clone(), name: table.name.clone() }
}

impl Services for Library {
    fn tables(&self) -> Vec<TableSummary> {
        self.ask(Recorded::tables)
    }
    fn describe(&self, table: &TableRef) -> Option<TableDetail> {
        self.ask(|host| host.describe(&sdk(table)))
    }
    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
        self.ask(|host| host.join_path(&sdk(from), &sdk(to), max_hops))
    }
    fn server_version(&self) -> u32 {
        self.ask(Recorded::server_version)
    }
    fn find_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
        self.ask(|host| host.near_tables(query, k))
    }
    fn find_columns(&self, query: &str, k: u32) -> Vec<ColumnHit> {
        self.ask(|host| host.near_columns(query, k))
    }
    fn find_values(&self, query: &str, k: u32) -> Vec<ValueHit> {
        self.ask(|host| host.near_values(query, k))
    }
    fn find_examples(&self, query: &str, k: u32) -> Vec<Example> {
        self.ask(|host| host.near_examples(query, k))
    }
    fn find_lessons(&self, query: &str, k: u32) -> Vec<Lesson> {
        self.ask(|host| host.near_lessons(query, k))
    }
    fn find_terms(&self, query: &str, k: u32) -> Vec<Term> {
        self.ask(|host| host.near_terms(query, k))
    }
    fn find_passages(&self, query: &str, k: u32) -> Vec<Passage> {
        self.ask(|host| host.near_passages(query, k))
    }
    fn check(&self, text: &str) -> Result<Facts, Rejection> {
        // A verdict has no default, and an empty one is what the harness gives for a text nobody recorded.
        self.judge(|host| host.check(text)).map(|Verdict(facts)| facts)
    }
    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
        self.judge(|host| host.outline(text))
    }
    fn log(&self, _: Level, _: &str, _: &[(String, String)]) {}
}

#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Verdict(Facts);

impl Default for Verdict {
    fn default() -> Self {
        Self(Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_read_each_other() {
        let host = Library::of(library());
        assert_eq!(host.tables().len(), 4);
        let loans = host.find_tables("how many borrowings", 5)[0].table.clone();
        assert_eq!(loans.name, "loans");
        let detail = host.describe(&loans).unwrap();
        assert_eq!((detail.columns.len(), detail.joins.len()), (5, 2));
        let branches = TableRef { schema: loans.schema.clone(), name: "branches".to_owned() };
        assert_eq!(host.join_path(&loans, &branches, 4).len(), 2);
        assert_eq!(host.find_values("at Harbour", 5)[0].value, "Harbour");
        assert_eq!(host.find_terms("our lending", 5)[0].name, "lending");
        assert_eq!(host.server_version(), 150_000);
        assert!(host.check("SELECT 1").unwrap().tables.is_empty());
    }
}
