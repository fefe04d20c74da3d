//! What devours a server is held: others are served meanwhile, the host stays small, PostgreSQL stays alive; and who goes
//! away takes the statement along.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::laboratory::{Judge, Laboratory, Place, Pressure, Served};
use airlock_tests::{ScriptedModel, eventually};
use serde_json::{Value, json};

/// Tables large enough that joins of them never end, with names a question can be about.
const SCHEMA: &str = "
    CREATE TABLE readings (id integer PRIMARY KEY, sensor text NOT NULL, value numeric NOT NULL, note text NOT NULL);
    INSERT INTO readings
        SELECT g, 's' || g % 50, g * 0.5, repeat('note ' || g, 40) FROM generate_series(1, 20000) g;
    CREATE TABLE sensors (name text PRIMARY KEY, room text NOT NULL);
    INSERT INTO sensors SELECT 's' || g, 'room ' || g % 7 FROM generate_series(0, 49) g;";

/// What each devours, its text, and the types of failure that hold it. The gate has nothing against any of them: an
/// honest query looks the same.
const HOGS: &[(&str, &str, &[&str])] = &[
    ("time", "SELECT count(*) FROM readings a, readings b, readings c", &["timeout"]),
    (
        "time and files",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT t.n + 1 FROM t, sensors) SELECT max(n) FROM t",
        &["timeout", "resource"],
    ),
    (
        "memory",
        "SELECT length(json_agg(a.note || b.note)::text) FROM readings a, readings b WHERE a.id < 100",
        &["timeout", "resource", "out_of_range"],
    ),
    (
        "memory of an aggregate",
        "SELECT array_length(array_agg(a.note || b.note || c.note), 1) FROM readings a, readings b, readings c",
        &["timeout", "resource"],
    ),
    (
        "files",
        "SELECT count(DISTINCT a.note || b.note || c.room) FROM readings a, readings b, sensors c",
        &["timeout", "resource"],
    ),
    ("bytes of one value", "SELECT string_agg(note, ',') FROM readings", &["resource"]),
    ("bytes of a row", "SELECT json_agg(r) FROM readings r", &["resource"]),
];

/// The host may grow by this much while hogs run.
const GROWTH: u64 = 192 << 20;
/// A process of the server may have 1 GiB, of which shared memory is a part.
const BACKEND: u64 = 1 << 30;
const TEMPORARY: u64 = 2 << 30;

fn place<'a>() -> Place<'a> {
    Place { database: "lab", search_path: &["public"], schema: SCHEMA, traps: None, functions: &[] }
}

/// A model that writes the text that the question names by number, and an honest one otherwise.
async fn model() -> ScriptedModel {
    ScriptedModel::start(|prompt| {
        let hog = HOGS.iter().enumerate().find(|(at, _)| prompt.contains(&question(*at)));
        hog.map_or("SELECT count(*) AS sensors FROM sensors", |(_, (_, sql, _))| sql).into()
    })
    .await
}

fn question(hog: usize) -> String {
    format!("Which readings of the sensors are in case {}?", hog + 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn others_are_served_while_hogs_run() {
    let laboratory = Laboratory::start(2_000).await;
    let domain = laboratory.make(&place()).await;
    let model = model().await;
    let served = Served::start(&laboratory.config(), &model).await;
    // It has answered once: what comes later is growth.
    let (status, answer) = served.ask(&domain, "How many sensors are there?").await;
    assert_eq!((status, &answer["rows"]), (200, &json!([[50]])), "{answer}");
    let pressure = Pressure::watch(laboratory.postmaster(), laboratory.data(), served.process());
    let before = pressure.take().host;
    // A crash of any of the server's processes would end this connection.
    let witness = laboratory.admin("lab").await;

    let asked: Vec<String> = (0..HOGS.len()).map(question).collect();
    let hogs = async {
        for pair in asked.chunks(2) {
            let (first, second) = (pair.first().unwrap(), pair.last().unwrap());
            let (one, other) = tokio::join!(served.ask(&domain, first), served.ask(&domain, second));
            for (status, answer) in [one, other] {
                let history = answer["history"].as_array().unwrap();
                let held = |entry: &Value| {
                    HOGS.iter().any(|(_, sql, types)| {
                        entry["sql"] == *sql && types.iter().any(|of| entry["error_type"] == *of)
                    })
                };
                assert!(history.first().is_some_and(held), "{status}: {answer}");
                assert!(
                    answer["outcome"] == "gave_up" || answer["outcome"] == "failed",
                    "{status}: {answer}"
                );
            }
        }
    };
    let mut others = 0;
    let mut hogs = std::pin::pin!(hogs);
    loop {
        tokio::select! {
            () = &mut hogs => break,
            (status, answer) = served.ask(&domain, "How many sensors are there?") => {
                assert_eq!((status, &answer["rows"]), (200, &json!([[50]])), "{answer}");
                others += 1;
            }
        }
    }
    let peak = pressure.take();
    assert!(others >= HOGS.len(), "only {others} others were served");
    assert!(peak.host < before + GROWTH, "the host grew from {before} to {}", peak.host);
    assert!(peak.backend < BACKEND, "a process of the server held {}", peak.backend);
    assert!(peak.temporary < TEMPORARY, "temporary files took {}", peak.temporary);
    witness.batch_execute("SELECT 1").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hog_ends_with_its_type_and_the_next_line_runs() {
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&place()).await;
    let mut judge = Judge::start(&laboratory.config(), &domain);
    for (what, sql, types) in HOGS {
        let judged = judge.text(sql).await;
        assert!(judged.approved(), "{what}: {}", judged.line);
        let ended = judged.line["error"]["error_type"].as_str().unwrap_or("rows");
        assert!(types.contains(&ended), "{what}: {}", judged.line);
        let next = judge.text("SELECT count(*) FROM sensors").await;
        assert_eq!(next.line["rows"], json!([[50]]), "after {what}: {}", next.line);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_takes_the_statement_along() {
    // Long enough that no timeout of the server can be what ends it.
    let laboratory = Laboratory::start(600_000).await;
    let domain = laboratory.make(&place()).await;
    let model = model().await;
    let served = Served::start(&laboratory.config(), &model).await;
    let witness = laboratory.admin("lab").await;
    let until = async |wanted: bool, what: &str| {
        let query = "SELECT count(*) FROM pg_stat_activity
            WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%readings a, readings b, readings c%'
              AND backend_type IN ('client backend', 'parallel worker')";
        eventually(what, async || {
            let found: i64 = witness.query_one(query, &[]).await.unwrap().get(0);
            if wanted == (found > 0) { Ok(()) } else { Err(found) }
        })
        .await;
    };
    let first = question(0);
    // A server forgets a cancellation that comes at a bad moment of its start, so once proves little.
    for _ in 0..4 {
        {
            let ask = served.ask(&domain, &first);
            tokio::select! {
                (status, answer) = ask => panic!("{status}: {answer}"),
                () = until(true, "the statement begins") => {}
            }
        }
        // The connection of the asker is closed now.
        until(false, "nobody's statement ends").await;
    }
    let (status, answer) = served.ask(&domain, "How many sensors are there?").await;
    assert_eq!((status, &answer["rows"]), (200, &json!([[50]])), "{answer}");
}

/// Compares every element of one array with every one of another, and PostgreSQL never looks whether it should stop. With
/// 100,000 in each a quick machine is at it for several times as long as an ask waits for a server.
const UNSTOPPABLE: &str = "SELECT count(*) FROM
    (SELECT array_agg(r.id) AS a FROM readings r, sensors s WHERE s.name IN ('s1', 's2', 's3', 's4', 's5')) x,
    (SELECT array_agg(-r.id) AS b FROM readings r, sensors s WHERE s.name IN ('s1', 's2', 's3', 's4', 's5')) y WHERE x.a && y.b";

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_stopped_does_not_take_the_machine() {
    let laboratory = Laboratory::start(1_000).await;
    let domain = laboratory.make(&place()).await;
    let model = ScriptedModel::start(|prompt| {
        if prompt.contains("overlap") { UNSTOPPABLE } else { "SELECT count(*) AS sensors FROM sensors" }
            .into()
    })
    .await;
    let served = Served::start(&laboratory.config(), &model).await;
    let witness = laboratory.admin("lab").await;
    let running = async || -> i64 {
        let query =
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%x.a && y.b%'
            AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        witness.query_one(query, &[]).await.unwrap().get(0)
    };
    // One asks it again and again for as long as he likes: at most two run.
    let mut most = 0;
    for _ in 0..5 {
        let (status, answer) = served.ask(&domain, "Which readings overlap?").await;
        assert_ne!(answer["outcome"], "answered", "{status}: {answer}");
        if answer["history"][0]["error_type"] == "forbidden" {
            // A gate that refuses it leaves nothing to hold.
            return;
        }
        most = most.max(running().await);
    }
    assert!((1..=2).contains(&most), "{most} run at once");
    let counted = served.health().await;
    let orphans = counted["sources"][0]["orphans"].as_u64();
    assert!(orphans.is_some_and(|orphans| orphans <= 2), "{counted}");
    // The source is back by itself when they have ended.
    eventually("they have ended", async || match running().await {
        0 => Ok(()),
        found => Err(found),
    })
    .await;
    eventually("none is counted", async || {
        let health = served.health().await;
        if health["sources"][0]["orphans"] == 0 { Ok(()) } else { Err(health) }
    })
    .await;
    let (status, answer) = served.ask(&domain, "How many sensors are there?").await;
    assert_eq!((status, &answer["rows"]), (200, &json!([[50]])), "{answer}");
}
