//! The stage on a small shop.

use std::sync::Arc;

use airlock_gate::{Gate, Policy};
use airlock_plugin_sdk::contract::catalog::{Join, TableDetail, TableSummary};
use airlock_plugin_sdk::contract::log::Level;
use airlock_plugin_sdk::contract::retrieval::{
    ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit,
};
use airlock_plugin_sdk::contract::sql::{ComparedLiteral, Facts, Node, Rejection};
use airlock_plugin_sdk::harness::{Recorded, clock, drive, table};
use airlock_plugin_sdk::{Attribute, ColumnRef, TableRef};
use airlock_types::Catalogue;
use airlock_types::catalogue::{Column, Relation, TypeFamily};

use super::*;

/// A small shop whose gate is the real one.
pub(crate) struct Shop {
    known: Recorded,
    gate: Gate,
}

impl Shop {
    pub(crate) fn new() -> Self {
        const TABLES: [(&str, &[(&str, &str)]); 2] = [
            ("employees", &[("emp_id", "bigint"), ("role", "text"), ("pay", "numeric")]),
            ("bills", &[("bill_id", "bigint"), ("emp_id", "bigint"), ("total_amt", "numeric")]),
        ];
        let mut known = Recorded::new();
        let mut catalogue = Catalogue { search_path: vec!["public".to_owned()], ..Catalogue::default() };
        for (name, columns) in TABLES {
            let key = columns.first().map_or("", |(name, _)| name);
            known = known.table(table(name).columns(columns).primary_key(&[key]));
            catalogue.insert(relation(name, columns));
        }
        let known = known.join("bills.emp_id", "employees.emp_id").values("employees.role", &["CASHIER"]);
        Self { known, gate: Gate::new(Arc::new(catalogue), Policy::default()) }
    }
}

fn relation(name: &str, columns: &[(&str, &str)]) -> Relation {
    let column = |(name, sql_type): &(&str, &str)| {
        let (family, type_name) = match *sql_type {
            "bigint" => (TypeFamily::Number, "int8"),
            "numeric" => (TypeFamily::Number, "numeric"),
            _ => (TypeFamily::Text, "text"),
        };
        Column {
            name: (*name).to_owned(),
            sql_type: (*sql_type).to_owned(),
            type_name: airlock_types::TableRef::new("pg_catalog", type_name),
            is_array: false,
            family,
            nullable: true,
            generated: false,
            comment: None,
            enum_labels: Vec::new(),
        }
    };
    Relation::table(airlock_types::TableRef::new("public", name), columns.iter().map(column).collect())
}

fn rejected(rejection: airlock_gate::Rejection) -> Rejection {
    let code = rejection.code.as_str().to_owned();
    Rejection { code, message: rejection.message, hint: None, position: None }
}

impl Host for Shop {
    fn tables(&self) -> Vec<TableSummary> {
        self.known.tables()
    }

    fn describe(&self, table: &TableRef) -> Option<TableDetail> {
        self.known.describe(table)
    }

    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
        self.known.join_path(from, to, max_hops)
    }

    fn server_version(&self) -> u32 {
        self.known.server_version()
    }

    fn near_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
        self.known.near_tables(query, k)
    }

    fn near_columns(&self, query: &str, k: u32) -> Vec<ColumnHit> {
        self.known.near_columns(query, k)
    }

    fn near_values(&self, query: &str, k: u32) -> Vec<ValueHit> {
        self.known.near_values(query, k)
    }

    fn near_examples(&self, query: &str, k: u32) -> Vec<Example> {
        self.known.near_examples(query, k)
    }

    fn near_lessons(&self, query: &str, k: u32) -> Vec<Lesson> {
        self.known.near_lessons(query, k)
    }

    fn near_terms(&self, query: &str, k: u32) -> Vec<Term> {
        self.known.near_terms(query, k)
    }

    fn near_passages(&self, query: &str, k: u32) -> Vec<Passage> {
        self.known.near_passages(query, k)
    }

    fn check(&self, text: &str) -> Result<Facts, Rejection> {
        let approved = self.gate.check(text).map_err(rejected)?;
        let facts = approved.facts();
        let table = |table: &airlock_types::TableRef| TableRef {
            schema: table.schema.clone(),
            name: table.name.clone(),
        };
        let column = |column: &airlock_types::ColumnRef| ColumnRef {
            table: table(&column.table),
            column: column.column.clone(),
        };
        let literal = |literal: &airlock_gate::ComparedLiteral| ComparedLiteral {
            column: column(&literal.column),
            operator: literal.operator.clone(),
            literal: literal.literal.clone(),
            start: u32::try_from(literal.span.start).unwrap(),
            end: u32::try_from(literal.span.end).unwrap(),
        };
        Ok(Facts {
            tables: facts.tables.iter().map(table).collect(),
            columns: facts.columns.iter().map(column).collect(),
            functions: facts.functions.clone(),
            literals: facts.literals.iter().map(literal).collect(),
        })
    }

    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
        let nodes = airlock_gate::outline(text).map_err(rejected)?;
        let node = |node: airlock_gate::Node| Node {
            kind: node.kind.as_str().to_owned(),
            start: node.start,
            end: node.end,
            parent: node.parent,
            name: node.name,
        };
        Ok(nodes.into_iter().map(node).collect())
    }

    fn log(&self, level: Level, message: &str, fields: &[Attribute]) {
        self.known.log(level, message, fields);
    }
}

/// The texts of the lessons that a correction teaches in the shop.
fn taught(question: &str, sql: &str) -> Vec<String> {
    let told = DistillInput {
        question: question.into(),
        ..input(&["told"], Some(sql), &[("verdict", "corrected")])
    };
    let Ok(DistillStep::Done(lessons)) = Distill::run(&Shop::new(), told, Vec::new()) else { panic!() };
    lessons.into_iter().map(|lesson| lesson.text).collect()
}

#[test]
fn a_lesson_keeps_all_that_the_correction_restricts() {
    let condition = taught(
        "How many handsome employees are there?",
        "SELECT count(*) AS n FROM employees e WHERE e.pay > 3000",
    );
    assert!(condition.contains(&"Here `handsome` means `employees.pay > 3000`.".to_owned()), "{condition:?}");
    for (question, sql) in [
        (
            "How many busy employees are CASHIER?",
            "SELECT count(*) AS n FROM employees e WHERE e.role = 'CASHIER' AND \
             (SELECT count(*) FROM bills b WHERE b.emp_id = e.emp_id) > 100",
        ),
        (
            "How many busy employees are there?",
            "SELECT count(*) FROM employees e WHERE EXISTS (SELECT 1 FROM bills b WHERE b.emp_id = e.emp_id)",
        ),
        ("How many busy employees are there?", "SELECT count(*) FROM employees e WHERE e.pay IS NOT NULL"),
        (
            "How many dormant employees are there?",
            "SELECT count(*) FROM employees e WHERE NOT EXISTS (SELECT 1 FROM bills b WHERE b.emp_id = e.emp_id)",
        ),
        (
            "How many busy employees are there?",
            "SELECT count(*) FROM employees e WHERE e.pay IS DISTINCT FROM 0",
        ),
    ] {
        assert_eq!(taught(question, sql), Vec::<String>::new(), "{sql}");
    }
}

fn input(evidence: &[&str], sql: Option<&str>, attributes: &[(&str, &str)]) -> DistillInput {
    let attribute = |(key, value): &(&str, &str)| Attribute { key: (*key).into(), value: (*value).into() };
    DistillInput {
        question: "How many bills were raised?".into(),
        clock: clock("2026-07-15"),
        outcome: "answered".into(),
        sql: sql.map(str::to_owned),
        answer: None,
        attempts: Vec::new(),
        evidence: evidence.iter().map(|text| (*text).to_owned()).collect(),
        model_available: true,
        attributes: attributes.iter().map(attribute).collect(),
    }
}

#[test]
fn without_positive_evidence_there_is_no_lesson_and_no_model_is_asked() {
    let host = Recorded::new();
    for input in [
        input(&[], Some("SELECT count(*) FROM bills"), &[]),
        input(
            &[],
            Some("SELECT count(*) FROM bills"),
            &[("verdict", "corrected"), ("note", "TSC = total sales")],
        ),
        input(&["too little"], Some("SELECT count(*) FROM bills"), &[]),
    ] {
        let played = drive([], |exchanges| Distill::run(&host, input.clone(), exchanges));
        assert_eq!(played.end, Ok(DistillStep::Done(Vec::new())));
        assert!(played.requests.is_empty());
    }
}

#[test]
fn a_note_beside_a_correction_is_kept_in_its_words() {
    let host = Recorded::new();
    let input = input(&["corrected"], None, &[("verdict", "corrected"), ("note", "TSC = total sales count")]);
    let Ok(DistillStep::Done(lessons)) = Distill::run(&host, input, Vec::new()) else { panic!() };
    assert_eq!(lessons.len(), 1);
    assert_eq!((lessons[0].text.as_str(), lessons[0].trigger.as_str()), ("TSC = total sales count.", "TSC"));
}
