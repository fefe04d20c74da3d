//! Through PgBouncer in transaction mode: no state of a session is relied on. Skipped, loudly, where it is not installed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use airlock_database::{CheckOutcome, RunOptions, Scope, Source, SourceConfig};
use airlock_gate::{Gate, Policy};
use serde_json::json;
use support::{PATIENCE, Postgres, Program, eventually};

/// A pooler with fewer connections to the server than clients.
fn pooler(server: &Postgres) -> Option<Program> {
    let found = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
    let binary = found.iter().map(PathBuf::from).find(|path| path.exists())?;
    let socket = server.socket().display();
    let settings = server.socket().join("pgbouncer.ini");
    let text = format!(
        "[databases]\npostgres = user=reader host={socket} port=5432 dbname=postgres\n[pgbouncer]\nlisten_addr =\n\
         unix_socket_dir = {socket}\nlisten_port = 6432\nauth_type = any\npool_mode = transaction\n\
         default_pool_size = 2\nmax_client_conn = 50\nserver_reset_query =\n"
    );
    fs::write(&settings, text).unwrap();
    let command = format!("{} {}", binary.display(), settings.display());
    Some(Program::start(&command, "TERM", &server.socket().join("pgbouncer.log")))
}

#[tokio::test]
async fn a_transaction_pooler_changes_nothing() {
    let server = Postgres::start();
    server.psql(
        "CREATE ROLE reader LOGIN; CREATE TABLE bills(id int); GRANT SELECT ON bills TO reader;
         INSERT INTO bills SELECT generate_series(1, 500)",
    );
    let Some(_pooler) = pooler(&server) else {
        eprintln!("SKIPPED: pgbouncer is not installed");
        return;
    };
    let url = format!("postgresql:///postgres?host={}&port=6432&user=reader", server.socket().display());
    // Long enough that nothing but a cancellation ends a statement while this test looks.
    let config = SourceConfig {
        pool_size: 8,
        pool_wait: PATIENCE,
        statement_timeout: 5 * PATIENCE,
        grace: Duration::from_secs(60),
        ..SourceConfig::new(url)
    };
    let mut connected = None;
    eventually("the pooler listens", async || {
        connected = Source::connect(config.clone()).await.ok();
        connected.is_some()
    })
    .await;
    let source = connected.unwrap();
    let catalogue = source.catalogue(&Scope::schemas(["public"])).await.unwrap();
    for check in source.checks(&catalogue, &[]).await {
        assert_ne!(check.outcome, CheckOutcome::Failed, "{check:?}");
    }
    let gate = Gate::new(Arc::new(catalogue), Policy::default());
    let within = gate.check("SELECT id FROM bills ORDER BY id").unwrap();
    let portal = gate.check("SELECT id FROM bills ORDER BY id LIMIT (SELECT 400)").unwrap();
    let zones = ["UTC", "Asia/Kolkata", "America/New_York"];
    let asks = (0..60).map(|n| {
        let (source, within, portal) = (source.clone(), within.clone(), portal.clone());
        tokio::spawn(async move {
            let options = RunOptions { time_zone: zones[n % 3].into(), ..RunOptions::default() };
            let result = source.run(if n % 2 == 0 { &within } else { &portal }, &options).await.unwrap();
            assert_eq!((result.rows.len(), result.truncated), (200, true));
            assert_eq!(result.rows[0], [json!(1)]);
        })
    });
    for ask in asks.collect::<Vec<_>>() {
        ask.await.unwrap();
    }
    // What is cancelled through the pooler ends on the server.
    let slow = gate.check("SELECT count(*) FROM bills a, bills b, bills c, bills d").unwrap();
    let ask = tokio::spawn({
        let source = source.clone();
        async move { source.run(&slow, &RunOptions::default()).await }
    });
    let running = || {
        server.psql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%bills d%' AND state = 'active' AND pid <> pg_backend_pid()")
    };
    eventually("it runs", async || running() == "1").await;
    ask.abort();
    eventually("it has ended", async || running() == "0").await;
}
