//! A whole host through PgBouncer in transaction mode: it starts, answers, refuses and is checked as over a connection of its
//! own. Skipped, loudly, where PgBouncer is not installed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;

use airlock_tests::laboratory::{Judge, Laboratory, Place, Served};
use airlock_tests::{ScriptedModel, eventually, under_test};
use serde_json::{Value, json};

const SCHEMA: &str = "
    CREATE TABLE bills (id integer PRIMARY KEY, status text NOT NULL, total numeric NOT NULL);
    INSERT INTO bills SELECT g, CASE WHEN g % 3 = 0 THEN 'PAID' ELSE 'OPEN' END, g FROM generate_series(1, 500) g;";

/// A pooler that ends with this.
struct Pooler(Child);

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two connections to the server for any number of clients, in transaction mode.
fn pooler(laboratory: &Laboratory, folder: &Path) -> Option<Pooler> {
    let found = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
    let program = found.iter().map(PathBuf::from).find(|path| path.exists())?;
    let settings = folder.join("pgbouncer.ini");
    let text = format!(
        "[databases]\n* = {}\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {}\nlisten_port = 6432\nauth_type = any\n\
         pool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 100\nserver_reset_query =\n",
        laboratory.server_of_reader(),
        folder.display()
    );
    std::fs::write(&settings, text).unwrap();
    let as_root = Command::new("id").arg("-u").output().unwrap().stdout.starts_with(b"0");
    let mut command = Command::new(program);
    if as_root {
        // It refuses to be root; it gives that up itself.
        Command::new("chown").arg("-R").arg("postgres").arg(folder).status().unwrap();
        command.args(["-u", "postgres"]);
    }
    Some(Pooler(command.arg("-q").arg(&settings).spawn().unwrap()))
}

/// The laboratory's configuration, with every source behind the pooler.
fn configuration(laboratory: &Laboratory, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(laboratory.config()).unwrap();
    let pooled: Vec<String> = text
        .lines()
        .map(|line| match line.strip_prefix("url = ") {
            Some(_) => {
                format!("url = \"host={} port=6432 dbname=lab user=airlock_reader\"", folder.display())
            }
            None => line.to_owned(),
        })
        .collect();
    let path = laboratory.config().with_file_name("pooled.toml");
    std::fs::write(&path, pooled.join("\n")).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_behind_a_transaction_pooler_serves_as_any_other() {
    let laboratory = Laboratory::start(5_000).await;
    let place =
        Place { database: "lab", search_path: &["public"], schema: SCHEMA, traps: None, functions: &[] };
    let domain = laboratory.make(&place).await;
    let folder = tempfile::Builder::new().prefix("pool").tempdir().unwrap();
    let Some(_pooler) = pooler(&laboratory, folder.path()) else {
        eprintln!("SKIPPED: pgbouncer is not installed");
        return;
    };
    let config = configuration(&laboratory, folder.path());
    let listens = folder.path().join(".s.PGSQL.6432");
    eventually("the pooler listens", async || if listens.exists() { Ok(()) } else { Err("it does not yet") })
        .await;
    let model = ScriptedModel::start(|prompt| {
        if prompt.contains("slowest") {
            "SELECT count(*) FROM bills a, bills b, bills c, bills d".into()
        } else {
            "SELECT status, count(*) AS n FROM bills GROUP BY status ORDER BY status".into()
        }
    })
    .await;
    let served = Arc::new(Served::start(&config, &model).await);
    // More asks at once than the pooler has connections.
    let asks: Vec<_> = (0..12)
        .map(|_| {
            let (served, domain) = (Arc::clone(&served), domain.clone());
            tokio::spawn(
                async move { served.ask(&domain, "How many bills are there for each status?").await },
            )
        })
        .collect();
    for ask in asks {
        let (status, answer) = ask.await.unwrap();
        assert_eq!((status, &answer["rows"]), (200, &json!([["OPEN", 334], ["PAID", 166]])), "{answer}");
        assert!(answer["history"][0]["wait_ms"].is_u64(), "{answer}");
    }
    let (status, answer) = served.ask(&domain, "Which bills are the slowest?").await;
    assert_eq!(answer["history"][0]["error_type"], "timeout", "{status}: {answer}");
    let (status, answer) = served.ask(&domain, "How many bills are there for each status?").await;
    assert_eq!((status, answer["row_count"].as_u64()), (200, Some(2)), "{answer}");

    // Every claim holds through it.
    let doctor = under_test().arg("--config").arg(&config).args(["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&doctor.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&doctor.stderr)));
    assert_eq!((report["ok"].as_bool(), doctor.status.code()), (Some(true), Some(0)), "{report}");
    assert_eq!(report["sources"][0]["orphans"], 0, "{report}");

    // A setting of one client never reaches the next, and a text that tries to leave one is refused.
    let mut judge = Judge::start(&config, &domain);
    for (sql, verdict) in [
        ("SELECT set_config('search_path', 'pg_temp', false)", "rejected"),
        ("SELECT sum(total) AS s FROM bills", "approved"),
    ] {
        assert_eq!(judge.text(sql).await.line["verdict"], verdict, "{sql}");
    }
}
