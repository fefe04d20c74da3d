//! How often retrieval alone puts every table of the right answer among the first few, on questions nobody here wrote. The
//! floors are below what is reached, so that a change that makes linking worse is seen; nothing is tuned to the names.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test needs and does not find ends it"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use airlock_knowledge::{ColumnClass, Knowledge, Pack};
use airlock_types::catalogue::{Column, TypeFamily};
use airlock_types::{Catalogue, ColumnRef, TableRef};

struct Case {
    database: String,
    question: String,
    tables: Vec<String>,
}

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("AIRLOCK_CORPORA")
        .map_or_else(|| support::workspace("../shared/corpora"), PathBuf::from)
        .join("eval");
    folder.is_dir().then_some(folder)
}

fn cases(folder: &std::path::Path) -> Vec<Case> {
    let text = fs::read_to_string(folder.join("questions.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|case| case["answerable"] == true)
        .map(|case| {
            let sql = case["gold_sql"].as_str().unwrap();
            let parsed = pg_query::parse(sql, pg_query::ParserOptions::default()).unwrap();
            let mut tables = parsed.select_tables();
            tables.sort();
            tables.dedup();
            Case {
                database: case["db"].as_str().unwrap().to_owned(),
                question: case["question"].as_str().unwrap().to_owned(),
                tables,
            }
        })
        .collect()
}

/// The database's tables in a schema called like it.
fn load(catalogue: &mut Catalogue, values: &mut Values, folder: &std::path::Path, name: &str) {
    let ddl = fs::read_to_string(folder.join(format!("db/{name}.sql"))).unwrap();
    let described = descriptions(folder, name);
    let loaded = support::catalogue(&ddl);
    for ((table, column), texts) in support::inserted(&ddl, &loaded) {
        let column = ColumnRef { table: TableRef::new(name, table), column };
        values.push((column, texts.into_iter().collect()));
    }
    for mut relation in loaded.iter().cloned() {
        for column in &mut relation.columns {
            let key = (relation.table.name.to_lowercase(), column.name.to_lowercase());
            column.comment = described.get(&key).cloned().or(column.comment.take());
        }
        relation.table.schema = name.to_owned();
        for key in &mut relation.foreign_keys {
            key.references.schema = name.to_owned();
        }
        catalogue.insert(relation);
    }
}

/// Distinct values by column.
type Values = Vec<(ColumnRef, Vec<String>)>;

/// What the corpus says about columns.
fn descriptions(folder: &std::path::Path, name: &str) -> BTreeMap<(String, String), String> {
    let Ok(text) = fs::read_to_string(folder.join(format!("db/{name}.meta.json"))) else {
        return BTreeMap::new();
    };
    let meta: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tables = meta["table_metadata"].as_object().unwrap();
    let described = tables.iter().flat_map(|(table, columns)| {
        columns.as_array().unwrap().iter().map(|column| {
            let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
            ((table.to_lowercase(), text("column_name").to_lowercase()), text("column_description"))
        })
    });
    described.filter(|(_, text)| !text.is_empty()).collect()
}

/// A pack that opts in every text column whose class is plain, as somebody would who wants names of things to be found.
fn knowledge(catalogue: Catalogue, values: Values) -> Knowledge {
    let mut schemas: Vec<&str> = catalogue.iter().map(|relation| relation.table.schema.as_str()).collect();
    schemas.sort();
    schemas.dedup();
    let texts = catalogue.iter().flat_map(|relation| {
        let plain = |column: &&Column| {
            column.family == TypeFamily::Text && ColumnClass::guess(relation, column) == ColumnClass::Plain
        };
        relation.columns.iter().filter(plain).map(|column| relation.column_ref(&column.name).to_string())
    });
    let listed: Vec<String> = texts.collect();
    let domain = format!(
        "format = 1\ntitle = \"T\"\nsource = \"s\"\nschemas = {schemas:?}\n[egress]\nvalues = {listed:?}"
    );
    let pack = Pack::from_files("d", [("domain.toml", domain.into_bytes())]).unwrap();
    Knowledge::new(&pack, Arc::new(catalogue), values).unwrap()
}

/// Share of cases whose tables are all among the first `width`; what was missed, for the log.
fn recall(knowledge: &Knowledge, cases: &[&Case], width: usize) -> (f64, Vec<String>) {
    let mut missed = Vec::new();
    for case in cases {
        let hits: Vec<TableRef> =
            knowledge.tables(&case.question, width).into_iter().map(|hit| hit.table).collect();
        let found = |name: &String| {
            let name = name.rsplit('.').next().unwrap_or(name);
            hits.iter().any(|table| table.schema == case.database && table.name.eq_ignore_ascii_case(name))
        };
        if !case.tables.iter().all(found) {
            let got: Vec<&str> = hits.iter().map(|table| table.name.as_str()).collect();
            missed.push(format!("{}: {} wants {:?} got {got:?}", case.database, case.question, case.tables));
        }
    }
    (1.0 - missed.len() as f64 / cases.len().max(1) as f64, missed)
}

#[test]
fn every_table_of_the_right_answer_is_among_the_first_few() {
    let Some(folder) = corpus() else {
        eprintln!("SKIPPED: no corpora; set AIRLOCK_CORPORA to their folder");
        return;
    };
    let cases = cases(&folder);
    let mut by_database: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in &cases {
        by_database.entry(&case.database).or_default().push(case);
    }
    let mut all = Catalogue { server_version: 150_000, ..Catalogue::default() };
    let mut all_values = Values::new();
    let (mut alone_5, mut alone_9) = (0.0, 0.0);
    for (name, cases_of) in &by_database {
        let mut one = Catalogue { server_version: 150_000, ..Catalogue::default() };
        let mut values = Values::new();
        load(&mut one, &mut values, &folder, name);
        load(&mut all, &mut all_values, &folder, name);
        let tables = one.len();
        let knowledge = knowledge(one, values);
        let share = cases_of.len() as f64 / cases.len() as f64;
        let ((five, missed), (nine, _)) = (recall(&knowledge, cases_of, 5), recall(&knowledge, cases_of, 9));
        println!(
            "{name:16} {tables:3} tables {:3} questions: width 5 {five:.3}, width 9 {nine:.3}",
            cases_of.len()
        );
        for miss in missed {
            println!("    {miss}");
        }
        alone_5 += five * share;
        alone_9 += nine * share;
    }
    let tables = all.len();
    let knowledge = knowledge(all, all_values);
    let every: Vec<&Case> = cases.iter().collect();
    let ((five, missed), (nine, _)) = (recall(&knowledge, &every, 5), recall(&knowledge, &every, 9));
    println!("each alone: width 5 {alone_5:.3}, width 9 {alone_9:.3}");
    println!("together, {tables} tables: width 5 {five:.3}, width 9 {nine:.3}");
    for miss in missed {
        println!("    {miss}");
    }
    assert!(alone_5 >= 0.90 && alone_9 >= 0.93, "each alone: {alone_5:.3} {alone_9:.3}");
    assert!(five >= 0.78 && nine >= 0.88, "together: {five:.3} {nine:.3}");
}
