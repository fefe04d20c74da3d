//! The command line: shapes, exit codes, and what happens when things were left behind or are too powerful.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::process::{Command, Output};

use airlock_setup::PrivatePostgres;
use airlock_tests::{Airlock, NOW, components, under_test, workspace};
use serde_json::{Value, json};

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn lines(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")))
        .collect()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn ask_ends_with_a_code_that_means_something() {
    let airlock = Airlock::demo().await;
    let url = airlock.url.clone();
    for (arguments, want) in [
        (vec!["ask", "--json", "--now", NOW, "How many bills were raised in July 2026?"], 0),
        (vec!["ask", "--json", "What is our employees' favourite colour?"], 1),
        (vec!["ask", "--json", "--server", url.as_str(), "How many customers do we have?"], 0),
    ] {
        let output = airlock.command(&arguments, "");
        assert_eq!(code(&output), Some(want), "{arguments:?}: {}", errors(&output));
        let answers = lines(&output);
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0]["refused"], want == 1);
        assert!(answers[0]["components"].as_array().is_some_and(|used| !used.is_empty()));
    }
    for (arguments, want, word) in [
        (vec!["ask", ""], 2, "question"),
        (vec!["ask", "How many?", "--domain", "nowhere"], 2, "nowhere"),
        (vec!["ask", "How many?", "--now", "yesterday"], 2, "now"),
        (vec!["ask", "--server", "http://127.0.0.1:9", "How many customers do we have?"], 3, "no server"),
        (vec!["ask"], 2, "QUESTION"),
        (vec!["nonsense"], 2, "nonsense"),
    ] {
        let output = airlock.command(&arguments, "");
        assert_eq!(code(&output), Some(want), "{arguments:?}: {}", errors(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(errors(&output).contains(word), "{arguments:?}: {}", errors(&output));
    }
}

#[tokio::test]
async fn check_sql_judges_a_text_or_a_line_at_a_time() {
    let airlock = Airlock::demo().await;
    let approved =
        airlock.command(&["check-sql", "--json"], "SELECT bill_no\nFROM bills\nWHERE status = 'PAID';\n");
    assert_eq!(code(&approved), Some(0), "{}", errors(&approved));
    let line = &lines(&approved)[0];
    assert_eq!((line["verdict"].as_str(), &line["tables"]), (Some("approved"), &json!(["public.bills"])));

    let input = [
        json!({"id": 1, "sql": "SELECT count(*) FROM bills"}).to_string(),
        json!({"id": "b", "sql": "DELETE FROM bills"}).to_string(),
        "not json".to_owned(),
        json!({"id": 4, "sql": "SELECT total FROM bills"}).to_string(),
        json!({"id": 5, "sql": "SELECT 1/0 AS x"}).to_string(),
        json!([6, "SELECT count(*) FROM bills"]).to_string(),
    ];
    let output = airlock.command(&["check-sql", "--json", "--run"], &input.join("\n"));
    assert_eq!(code(&output), Some(1), "{}", errors(&output));
    let got = lines(&output);
    assert_eq!(got.len(), 6);
    assert_eq!((&got[0]["id"], &got[0]["ok"], &got[0]["rows"]), (&json!(1), &json!(true), &json!([[1400]])));
    assert_eq!((&got[1]["id"], &got[1]["verdict"]), (&json!("b"), &json!("rejected")));
    assert_eq!(got[2]["code"], "bad-input");
    assert_eq!(got[3]["code"], "unknown-column");
    assert_eq!((&got[4]["verdict"], &got[4]["ok"]), (&json!("approved"), &json!(false)));
    assert_eq!(got[4]["error"]["sqlstate"], "22012");
    // A list has no field `sql`, whatever stands second in it.
    assert_eq!((&got[5]["code"], &got[5]["id"]), (&json!("bad-input"), &Value::Null), "{}", got[5]);
    assert!(got[5].to_string().contains("an object is wanted"), "{}", got[5]);

    let saved = airlock.data.path().join("catalogue.json");
    let output = airlock.command(&["check-sql", "--save-catalogue", saved.to_str().unwrap()], "");
    assert_eq!(code(&output), Some(0), "{}", errors(&output));
    let output = airlock.command(
        &["check-sql", "--json", "--catalogue", saved.to_str().unwrap()],
        "SELECT supp_id FROM suppliers",
    );
    assert_eq!(lines(&output)[0]["verdict"], "approved");

    // What the domain says to the gate is saved with it, and holds where it is judged again.
    let mut file: Value = serde_json::from_str(&std::fs::read_to_string(&saved).unwrap()).unwrap();
    assert_eq!(file["policy"]["row_cap"], 200);
    assert_eq!(file["policy"]["allowed_functions"], json!([]));
    file["policy"]["limits"]["bytes"] = json!(8);
    std::fs::write(&saved, file.to_string()).unwrap();
    let output =
        airlock.command(&["check-sql", "--json", "--catalogue", saved.to_str().unwrap()], "SELECT 1 + 1");
    assert_eq!((code(&output), &lines(&output)[0]["code"]), (Some(1), &json!("too-long")));
}

#[tokio::test]
async fn doctor_tries_every_claim_and_setup_proves_a_reader() {
    let airlock = Airlock::demo().await;
    let output = airlock.command(&["doctor", "--json"], "");
    let report = &lines(&output)[0];
    assert_eq!((code(&output), &report["ok"]), (Some(0), &json!(true)), "{report}");
    let names: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in ["reader-cannot-write", "gate-sees-canaries", "timeouts-hold", "stages-are-served"] {
        assert!(names.contains(&name), "{names:?}");
    }

    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let admin = postgres.connect("hardware_shop").await.unwrap();
    admin.batch_execute("CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'boss secret'").await.unwrap();
    let socket = postgres.socket_dir().display().to_string();
    let url = format!("host={socket} dbname=hardware_shop user=boss password='boss secret'");

    let printed = airlock.command(&["setup", "--print", "--admin-url", &url], "");
    assert_eq!(code(&printed), Some(0), "{}", errors(&printed));
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(text.contains("GRANT SELECT") && !text.contains("boss secret"), "{text}");
    let roles = "SELECT count(*) FROM pg_roles WHERE rolname = 'airlock_reader'";
    assert_eq!(admin.query_one(roles, &[]).await.unwrap().get::<_, i64>(0), 0);

    let made = airlock.command(&["setup", "--json", "--admin-url", &url], "");
    assert_eq!(code(&made), Some(0), "{}", errors(&made));
    let made = &lines(&made)[0];
    assert!(made["proven"].as_array().is_some_and(|proven| proven.len() > 5), "{made}");

    // The reader serves; the administrator is refused, by name and with the remedy.
    let serve = |url: &str| {
        let config = airlock.data.path().join("own.toml");
        let text = format!(
            "[sources.hardware-shop]\nurl = \"{url}\"\n[domains]\ndir = {:?}\nload = [\"hardware-shop\"]\n[plugins]\ndir = {:?}\n",
            workspace().join("domains"),
            components(),
        );
        std::fs::write(&config, text).unwrap();
        airlock.command(&["--config", config.to_str().unwrap(), "ask", "How many customers do we have?"], "")
    };
    let output = serve(made["url"].as_str().unwrap());
    assert_eq!(code(&output), Some(0), "{}", errors(&output));
    let output = serve(&url);
    assert_eq!(code(&output), Some(2), "{}", errors(&output));
    assert!(
        errors(&output).contains("superuser") && !errors(&output).contains("boss secret"),
        "{}",
        errors(&output)
    );
}

#[tokio::test]
async fn a_crashed_demo_does_not_block_the_next_and_two_do_not_share_a_folder() {
    let first = Airlock::demo().await;
    let arguments = |data: &std::path::Path| {
        let mut command = under_test();
        command.args(["demo", "--once", "--json", "--listen", "127.0.0.1:0"]);
        command.arg("--components").arg(components()).arg("--domains").arg(workspace().join("domains"));
        command.arg("--data").arg(data);
        command
    };
    let second = arguments(first.data.path()).output().unwrap();
    assert_eq!(code(&second), Some(3), "{}", errors(&second));
    assert!(errors(&second).contains("another airlock"), "{}", errors(&second));

    let data = first.kill();
    let third = arguments(data.path()).output().unwrap();
    assert_eq!(code(&third), Some(0), "{}", errors(&third));
    assert_eq!(lines(&third)[0]["answer"]["outcome"], "answered");
    let left = Command::new("pgrep").arg("-f").arg(data.path()).output().unwrap();
    assert!(left.stdout.is_empty(), "a server was left: {}", String::from_utf8_lossy(&left.stdout));
}

#[tokio::test]
async fn an_interrupt_stops_everything_in_order() {
    let airlock = Airlock::demo().await;
    let postmaster = airlock.postmaster();
    assert_eq!(airlock.interrupt(), Some(0));
    let alive = Command::new("kill").arg("-0").arg(postmaster.to_string()).output().unwrap();
    assert!(!alive.status.success(), "PostgreSQL is still there");
}
