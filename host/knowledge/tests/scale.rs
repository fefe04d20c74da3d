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
use support::wide;

#[test]
fn the_right_table_of_fifteen_hundred_is_the_first() {
    let domain = b"format = 1\ntitle = \"T\"\nsource = \"s\"\nschemas = [\"public\"]".to_vec();
    let pack = Pack::from_files("d", [("domain.toml", domain)]).unwrap();
    let began = Instant::now();
    let knowledge = Knowledge::new(&pack, Arc::new(wide::catalogue()), Vec::new()).unwrap();
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
