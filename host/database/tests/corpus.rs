//! The gate's corpora through the door: what is valid gives the rows PostgreSQL gives, and what no gate can tell from an
//! honest query is held inside the limits. Skipped, loudly, where the corpora are not beside the workspace.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_database::{RunOptions, Scope, Source, SourceConfig};
use airlock_gate::{Gate, Policy};
use serde_json::Value;
use support::{Postgres, eventually};

fn corpora() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    let found = std::env::var_os("AIRLOCK_CORPORA").map_or(beside, PathBuf::from).join("gate");
    if found.is_dir() {
        return Some(found);
    }
    eprintln!("SKIPPED: no corpora at {}; set AIRLOCK_CORPORA", found.display());
    None
}

fn lines(path: PathBuf) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A server with the corpora's schema, and a role that reads it.
fn server(corpora: &Path) -> Postgres {
    let server = Postgres::start();
    // One of the statements names its database.
    server.psql(
        "CREATE DATABASE gate; ALTER DATABASE gate SET search_path = shop, public; CREATE ROLE gate_ro LOGIN",
    );
    server.try_psql("gate", &fs::read_to_string(corpora.join("valid_schema.sql")).unwrap()).unwrap();
    let grants = "GRANT USAGE ON SCHEMA shop TO gate_ro;
         GRANT SELECT ON ALL TABLES IN SCHEMA shop, public TO gate_ro; ANALYZE";
    server.try_psql("gate", grants).unwrap();
    server
}

/// How many rows PostgreSQL gives. A final semicolon, with or without a comment behind it, cannot stand in a subquery.
fn count(server: &Postgres, sql: &str) -> usize {
    let shorter = sql.rsplit_once(';').map_or(sql, |(before, _)| before);
    let counted = [sql, shorter].iter().find_map(|inner| {
        let sql = format!("SET search_path = shop, public; SELECT count(*) FROM ({inner}\n) q");
        server.try_psql("gate", &sql).ok()
    });
    counted.unwrap_or_else(|| panic!("{sql}")).parse().unwrap()
}

fn url(server: &Postgres) -> String {
    format!("host={} user=gate_ro dbname=gate", server.socket().display())
}

fn options() -> RunOptions {
    RunOptions { search_path: vec!["shop".into(), "public".into()], ..RunOptions::default() }
}

#[tokio::test]
async fn valid_statements_give_the_rows_postgresql_gives() {
    let Some(corpora) = corpora() else { return };
    let server = server(&corpora);
    let source = Source::connect(SourceConfig::new(url(&server))).await.unwrap();
    let catalogue = source.catalogue(&Scope::schemas(["shop", "public"])).await.unwrap();
    let gate = Gate::new(Arc::new(catalogue), Policy::default());
    let mut wrong = Vec::new();
    let mut ran = 0;
    for line in lines(corpora.join("valid.jsonl")) {
        let (id, sql) = (line["id"].as_str().unwrap(), line["sql"].as_str().unwrap());
        // What the gate refuses is the gate's own score.
        let Ok(approved) = gate.check(sql) else { continue };
        ran += 1;
        match source.run(&approved, &options()).await {
            Err(failure) => wrong.push(format!("{id} {sql}: {failure:?}")),
            Ok(result) => {
                let want = count(&server, sql);
                if result.rows.len() != want.min(200) || result.truncated != (want > 200) {
                    wrong.push(format!("{id} {sql}: {} rows, PostgreSQL gives {want}", result.rows.len()));
                }
            }
        }
    }
    assert!(ran > 0, "the gate approves some of them");
    assert!(wrong.is_empty(), "{} of {ran}: {wrong:#?}", wrong.len());
}

#[tokio::test]
async fn what_must_be_contained_is_contained() {
    let Some(corpora) = corpora() else { return };
    let server = server(&corpora);
    let config = SourceConfig { grace: Duration::from_secs(10), ..SourceConfig::new(url(&server)) };
    let source = Source::connect(config).await.unwrap();
    let catalogue = source.catalogue(&Scope::schemas(["shop", "public"])).await.unwrap();
    let gate = Gate::new(Arc::new(catalogue), Policy::default());
    let values: Vec<String> = server
        .try_psql("gate", "SELECT name FROM shop.customers UNION SELECT email FROM shop.customers")
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    for line in lines(corpora.join("attacks.jsonl")) {
        // The others are refused with the trap objects in place: the gate's own score.
        if !line["accept_if"].as_str().is_some_and(|text| text.starts_with("contained")) {
            continue;
        }
        let (id, sql) = (line["id"].as_str().unwrap(), line["sql"].as_str().unwrap());
        let Ok(approved) = gate.check(sql) else { continue };
        // The hog has a second; an honest statement has the time that a busy machine takes.
        let held = RunOptions { deadline: Some(Instant::now() + Duration::from_secs(1)), ..options() };
        match source.run(&approved, &held).await {
            Ok(result) => assert!(result.rows.len() <= 200, "{id}"),
            Err(failure) => {
                let said = format!("{failure:?}");
                let told = values.iter().find(|value| value.len() > 2 && said.contains(value.as_str()));
                assert_eq!(told, None, "{id} {sql}: {said}");
            }
        }
        // Others are served, once the server has proven that it answers.
        let one = gate.check("SELECT 1").unwrap();
        eventually(&format!("others are served after {id} {sql}"), async || {
            source.run(&one, &options()).await.is_ok()
        })
        .await;
    }
}
