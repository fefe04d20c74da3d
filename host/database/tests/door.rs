//! A checked text from the gate to the rows.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use airlock_database::{RunOptions, Scope, Source, SourceConfig};
use airlock_gate::{Gate, Policy};
use airlock_types::ErrorType;
use serde_json::json;
use support::Postgres;

#[tokio::test]
async fn a_checked_text_runs_and_its_cap_holds() {
    let server = Postgres::start();
    server.psql(
        "CREATE ROLE reader LOGIN; CREATE TABLE bills(id int, status text); GRANT SELECT ON bills TO reader;
         INSERT INTO bills SELECT i, 'PAID' FROM generate_series(1, 500) i",
    );
    let source = Source::connect(SourceConfig::new(server.url("reader"))).await.unwrap();
    let catalogue = Arc::new(source.catalogue(&Scope::schemas(["public"])).await.unwrap());
    let gate = Gate::new(catalogue, Policy::default());
    let run = async |sql: &str, max_rows: Option<u32>| {
        let options = RunOptions { max_rows, ..RunOptions::default() };
        let result = source.run(&gate.check(sql).unwrap(), &options).await;
        result.map(|result| (result.rows.len(), result.truncated))
    };
    for (sql, max_rows, want) in [
        ("SELECT id FROM bills", None, (200, true)),
        ("SELECT id FROM bills ORDER BY id", Some(10), (10, true)),
        ("SELECT id FROM bills LIMIT 7", None, (7, false)),
        ("SELECT id FROM bills LIMIT 7", Some(7), (7, false)),
        ("SELECT id FROM bills LIMIT 7", Some(3), (3, true)),
        ("SELECT id FROM bills ORDER BY id FETCH FIRST 5000 ROWS ONLY", None, (200, true)),
        ("SELECT id FROM bills LIMIT (SELECT 5000)", None, (200, true)),
        ("SELECT id FROM bills LIMIT ALL", None, (200, true)),
        (
            "(SELECT id FROM bills LIMIT 2) UNION ALL (SELECT id FROM bills LIMIT 3) ORDER BY 1",
            None,
            (5, false),
        ),
        ("SELECT count(*) FROM bills", Some(0), (0, true)),
        ("SELECT id FROM bills WHERE id < 0", None, (0, false)),
    ] {
        assert_eq!(run(sql, max_rows).await, Ok(want), "{sql}");
    }
    let approved = gate.check("SELECT count(*) AS n, 'a;b' AS note FROM bills -- all of them").unwrap();
    assert_eq!(
        source.run(&approved, &RunOptions::default()).await.unwrap().rows,
        [[json!(500), json!("a;b")]]
    );

    // Dropped between check and run.
    let approved = gate.check("SELECT 1 AS one, status FROM bills").unwrap();
    server.psql("DROP TABLE bills");
    let failure = source.run(&approved, &RunOptions::default()).await.unwrap_err();
    assert_eq!((failure.error_type, failure.position), (ErrorType::UnknownTable, Some(30)));
    assert_eq!(failure.sql, "SELECT 1 AS one, status FROM bills");
}
