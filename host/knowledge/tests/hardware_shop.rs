//! The demo's pack reads without a problem, fits its own schema, and is found by the words people use.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test needs and does not find ends it"
)]

mod support;

use std::fs;
use std::sync::Arc;

use airlock_knowledge::{Curated, JoinOrigin, Knowledge, Pack};
use airlock_types::{ColumnRef, TableRef};

fn knowledge() -> Knowledge {
    let folder = support::workspace("domains/hardware-shop");
    let pack = Pack::read(&folder).unwrap_or_else(|report| panic!("{report}"));
    let schema = fs::read_to_string(folder.join("db/schema.sql")).unwrap();
    let catalogue = Arc::new(support::catalogue(&schema));
    let bound = pack.bind(&catalogue).unwrap_or_else(|report| panic!("{report}"));
    let values = bound
        .exposure
        .columns_to_read()
        .into_iter()
        .map(|column| {
            let values: &[&str] = match column.column.as_str() {
                "status" => &["PAID", "PARTIAL", "CANCELLED"],
                "prod_name" => &["Teflon Tape 12mm", "Claw Hammer 500g", "PVC Pipe 1 inch"],
                _ => &[],
            };
            (column, values.iter().map(|value| (*value).to_owned()).collect())
        })
        .collect();
    let curated = Curated::of_pack(&pack, &bound);
    Knowledge::from_bound(&pack, bound, catalogue, values, curated)
}

fn table(name: &str) -> TableRef {
    TableRef::new("public", name)
}

#[test]
fn the_tables_a_question_needs_come_first() {
    let knowledge = knowledge();
    for (question, width, want) in [
        ("How many bills were raised in July 2026?", 2, &["bills"][..]),
        ("How many customers do we have?", 1, &["customers"]),
        ("Which five products sold the most units in 2026?", 4, &["products", "bill_items"]),
        ("Which supplier did we receive the most stock from, by cost?", 3, &["suppliers", "stock_entries"]),
        ("How much teflon tape did we sell?", 3, &["products"]),
    ] {
        let hits = knowledge.tables(question, width);
        for name in want {
            assert!(hits.iter().any(|hit| hit.table == table(name)), "{question}: no {name} in {hits:#?}");
        }
        assert!(hits.iter().all(|hit| !hit.matched.is_empty()));
    }
}

#[test]
fn dead_tables_are_never_found_and_no_way_through() {
    let knowledge = knowledge();
    let dead = table("tbl_prod_master_old");
    assert!(!knowledge.view(&dead).unwrap().in_use);
    assert!(knowledge.tables("product master old", 50).iter().all(|hit| hit.table != dead));
    assert!(knowledge.columns("product master old code", 50).iter().all(|hit| hit.column.table != dead));
}

#[test]
fn a_term_is_one_record_for_each_of_its_metrics() {
    let knowledge = knowledge();
    let hits = knowledge.glossary("What was our total revenue in 2023?", 5);
    let named: Vec<(&str, Option<&str>)> = hits
        .iter()
        .filter(|hit| hit.named)
        .map(|hit| (hit.term.name.as_str(), hit.term.table.as_ref().map(|table| table.name.as_str())))
        .collect();
    assert_eq!(named.get(..2), Some(&[("revenue", Some("bills")), ("revenue", Some("bill_archive"))][..]));
}

#[test]
fn values_keep_their_column_and_amounts_keep_to_themselves() {
    let knowledge = knowledge();
    let hits = knowledge.values("How much teflon tape was on cancelled bills?", 5);
    let found: Vec<(&str, &str)> =
        hits.iter().map(|hit| (hit.column.column.as_str(), hit.value.as_str())).collect();
    assert!(
        found.contains(&("prod_name", "Teflon Tape 12mm")) && found.contains(&("status", "CANCELLED")),
        "{found:?}"
    );
    let salary = ColumnRef { table: table("employees"), column: "salary".into() };
    assert!(!knowledge.exposure().may_sample(&salary));
}

#[test]
fn joins_say_where_they_come_from() {
    let knowledge = knowledge();
    let path = knowledge.join_path(&table("bill_items"), &table("categories"), 6);
    let hops: Vec<(&str, &str)> =
        path.iter().map(|join| (join.from.name.as_str(), join.to.name.as_str())).collect();
    assert_eq!(hops, [("bill_items", "products"), ("products", "categories")]);
    assert!(path.iter().all(|join| join.many_to_one && join.verified()));
    let manual = knowledge.joins_of(&table("bill_archive")).filter(|join| join.origin == JoinOrigin::Manual);
    assert!(manual.count() >= 1);
}

#[test]
fn golden_cases_are_examples_and_documents_are_passages() {
    let knowledge = knowledge();
    let example = knowledge.examples("How many bills were raised in May 2026?", 1).remove(0);
    assert!(example.example.sql.contains("count(*)"), "{example:?}");
    let passage = knowledge.passages("Do cancelled bills count as revenue?", 3).remove(0);
    assert!(passage.source.starts_with("docs/"), "{passage:?}");
}
