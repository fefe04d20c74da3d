//! Fifteen hundred tables of forty columns: the index is built, the right table is still the first, and the times are printed
//! (never asserted: a busy machine is no defect).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test needs and does not find ends it"
)]

mod support;

use std::sync::Arc;
use std::time::Instant;

use airlock_knowledge::{Knowledge, Pack};
use airlock_types::catalogue::{Column, Relation, RelationKind, TypeFamily};
use airlock_types::{Catalogue, TableRef};

const THINGS: [&str; 25] = [
    "order", "invoice", "payment", "shipment", "product", "customer", "employee", "supplier", "contract",
    "asset", "ticket", "visit", "claim", "policy", "account", "journal", "budget", "project", "task",
    "sensor", "alarm", "route", "vehicle", "parcel", "store",
];
const KINDS: [&str; 20] = [
    "header", "line", "history", "status", "type", "group", "note", "archive", "forecast", "target",
    "region", "audit", "summary", "daily", "monthly", "price", "cost", "tax", "link", "snapshot",
];
const AREAS: [&str; 3] = ["retail", "wholesale", "export"];

fn column(name: String) -> Column {
    Column {
        name,
        sql_type: "text".into(),
        type_name: TableRef::new("pg_catalog", "text"),
        is_array: false,
        family: TypeFamily::Text,
        nullable: true,
        generated: false,
        comment: None,
        enum_labels: Vec::new(),
    }
}

fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue { search_path: vec!["public".into()], ..Catalogue::default() };
    for (area, thing, kind) in AREAS.iter().flat_map(|area| {
        THINGS.iter().flat_map(move |thing| KINDS.iter().map(move |kind| (area, thing, kind)))
    }) {
        let name = format!("{area}_{thing}_{kind}");
        let mut columns = vec![column(format!("{thing}_id"))];
        columns.extend((0..39).map(|number| {
            column(format!("{}_{}", THINGS[number % 25], KINDS[(number * 7 + thing.len()) % 20]))
        }));
        catalogue.insert(Relation {
            table: TableRef::new("public", name),
            kind: RelationKind::Table,
            comment: None,
            row_estimate: None,
            columns,
            primary_key: vec![format!("{thing}_id")],
            unique_keys: Vec::new(),
            foreign_keys: Vec::new(),
            row_security: false,
        });
    }
    catalogue
}

#[test]
fn the_right_table_of_fifteen_hundred_is_the_first() {
    let domain = b"format = 1\ntitle = \"T\"\nsource = \"s\"\nschemas = [\"public\"]".to_vec();
    let pack = Pack::from_files("d", [("domain.toml", domain)]).unwrap();
    let began = Instant::now();
    let knowledge = Knowledge::new(&pack, Arc::new(catalogue()), Vec::new()).unwrap();
    println!("{} tables: built in {:?}", knowledge.views().len(), began.elapsed());
    assert_eq!(knowledge.views().len(), 1_500);
    for (question, want) in [
        ("What were the targets of wholesale contracts?", "wholesale_contract_target"),
        ("Show the export vehicle tax", "export_vehicle_tax"),
        ("alarms in the retail alarm archive", "retail_alarm_archive"),
    ] {
        let began = Instant::now();
        let hits = knowledge.tables(question, 20);
        let tables = began.elapsed();
        let columns = knowledge.columns(question, 50).len();
        println!("{question}: tables {tables:?}, {columns} columns {:?}", began.elapsed() - tables);
        assert_eq!(hits.first().map(|hit| hit.table.name.as_str()), Some(want), "{question}");
    }
}
