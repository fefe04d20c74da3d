//! The store under running hosts: what is curated is in the next ask of each, what leaves service is not, and a store that
//! goes away takes nothing along but what was learned.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use airlock_knowledge::store::{Content, ExampleContent, ItemId};
use airlock_setup::PrivatePostgres;
use airlock_tests::{Airlock, end_connections, eventually, heard, under_test};
use serde_json::{Value, json};
use tokio_postgres::Client;

const QUESTION: &str = "How many loyal customers do we have?";
const SQL: &str = "SELECT count(*) AS loyal FROM customers WHERE cust_id < 5";

/// Curates an example as the promotion gate writes it.
async fn curate(store: &Client) -> ItemId {
    let content: Content =
        ExampleContent { question: QUESTION.to_owned(), sql: SQL.to_owned(), scope: Vec::new() }.into();
    let id = ItemId::now();
    let insert = format!(
        "INSERT INTO airlock.curated (id, domain, kind, state, content, hash, source)
         VALUES ('{id}', 'hardware-shop', 'example', 'active', $1::text::jsonb, $2, 'person')"
    );
    let json = serde_json::to_string(&content).unwrap();
    store.execute(&insert, &[&json, &content.hash().to_string()]).await.unwrap();
    id
}

/// A second host over the demo's configuration.
struct Second {
    child: Child,
    url: String,
    client: reqwest::Client,
}

impl Second {
    fn of(airlock: &Airlock) -> Self {
        let mut config: toml::Table =
            std::fs::read_to_string(airlock.data.path().join("airlock.toml")).unwrap().parse().unwrap();
        let own = airlock.data.path().join("second");
        let server = config["server"].as_table_mut().unwrap();
        server.insert("data".to_owned(), own.display().to_string().into());
        server.insert("operator_socket".to_owned(), own.join("o.sock").display().to_string().into());
        let file = airlock.data.path().join("second.toml");
        std::fs::write(&file, toml::to_string(&config).unwrap()).unwrap();
        let mut child = under_test()
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let said: Value = serde_json::from_str(&first).unwrap_or_else(|_| panic!("{first}"));
        let url = said["page"].as_str().unwrap().trim_end_matches('/').to_owned();
        Self { child, url, client: airlock_tests::client() }
    }

    async fn ask_with_store(&self, question: &str) -> Value {
        heard(async || self.ask(question).await).await
    }

    async fn ask(&self, question: &str) -> Value {
        let request =
            self.client.post(format!("{}/api/ask", self.url)).header("content-type", "application/json");
        let response = request.body(json!({"question": question}).to_string()).send().await.unwrap();
        serde_json::from_str(&response.text().await.unwrap()).unwrap()
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn check(health: &Value, name: &str) -> String {
    let checks = health["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{health}"));
    found["outcome"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_curated_is_in_the_next_ask_of_every_host_and_goes_with_its_state_or_its_store() {
    let airlock = Airlock::demo().await;
    let second = Second::of(&airlock);
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let store = postgres.connect("airlock").await.unwrap();

    let learned = |answer: &Value| answer["sql"] == SQL;
    assert!(!learned(&airlock.ask(QUESTION).await.1) && !learned(&second.ask(QUESTION).await));
    let id = curate(&store).await.to_string();
    for answer in [second.ask_with_store(QUESTION).await, airlock.ask_with_store(QUESTION).await] {
        assert!(learned(&answer), "{answer}");
        assert_eq!(answer["examples"], json!([id]), "{answer}");
    }

    // A store that goes away is told, and takes along what was learned and nothing else.
    let server = postgres.connect("postgres").await.unwrap();
    server.batch_execute("ALTER DATABASE airlock WITH ALLOW_CONNECTIONS false").await.unwrap();
    end_connections(&server, "airlock").await;
    for answer in [second.ask(QUESTION).await, airlock.ask(QUESTION).await.1] {
        assert!(!learned(&answer), "{answer}");
        assert!(answer["warnings"].to_string().contains("knowledge store is away"), "{answer}");
    }
    assert_eq!(airlock.ask("How many customers do we have?").await.1["outcome"], "answered");
    assert_eq!(check(&airlock.get("/api/health").await.1, "store-answers"), "failed");
    server.batch_execute("ALTER DATABASE airlock WITH ALLOW_CONNECTIONS true").await.unwrap();
    for answer in [second.ask_with_store(QUESTION).await, airlock.ask_with_store(QUESTION).await] {
        assert!(learned(&answer), "it heals by itself: {answer}");
    }

    store.execute("UPDATE airlock.curated SET state = 'stale'", &[]).await.unwrap();
    for answer in [second.ask(QUESTION).await, airlock.ask(QUESTION).await.1] {
        assert!(!learned(&answer), "{answer}");
    }
}

#[tokio::test]
async fn a_pack_is_loaded_listed_and_compared_and_a_running_host_serves_it() {
    let airlock = Airlock::demo().await;
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let store = postgres.connect("airlock").await.unwrap();
    let lines = |arguments: &[&str]| -> (Option<i32>, String) {
        let output = airlock.command(arguments, "");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            output.status.code(),
            if said.is_empty() { String::from_utf8_lossy(&output.stderr).into_owned() } else { said },
        )
    };

    let (code, listed) = lines(&["domain", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect(&listed);
    assert_eq!(
        (code, &listed["loaded"]["hash"]),
        (Some(0), &listed["hash"]),
        "a demo loads its pack: {listed}"
    );
    assert_eq!(lines(&["domain", "diff", "hardware-shop"]), (Some(0), String::new()));
    curate(&store).await;
    let (code, patch) = lines(&["domain", "diff", "hardware-shop"]);
    assert_eq!(code, Some(1));
    assert!(patch.contains("+++ b/golden.jsonl") && patch.contains(QUESTION), "{patch}");

    // Another pack for the same domain: loaded, with the ranks of what its golden questions need.
    let folder = airlock.data.path().join("edited").join("hardware-shop");
    copy(&airlock_tests::workspace().join("domains/hardware-shop"), &folder);
    let glossary = folder.join("glossary.toml");
    let mut text = std::fs::read_to_string(&glossary).unwrap();
    text.push_str("\n[[term]]\nname = \"quuxness\"\ndefinition = \"What nobody has heard of.\"\n");
    std::fs::write(&glossary, text).unwrap();
    let path = folder.display().to_string();
    let (code, loaded) = lines(&["domain", "load", "--json", &path]);
    let loaded: Value = serde_json::from_str(&loaded).expect(&loaded);
    assert_eq!((code, &loaded["new"]), (Some(0), &json!(true)), "{loaded}");
    // What was curated until then is in a file that a person can go back to.
    let kept =
        std::fs::read_to_string(loaded["snapshot"].as_str().unwrap_or_else(|| panic!("{loaded}"))).unwrap();
    assert!(kept.contains(QUESTION) && kept.lines().all(|line| line.contains("\"hash\"")), "{kept}");
    let golden = loaded["golden"].as_array().unwrap();
    assert!(golden.iter().all(|case| case["tables"].is_array()) && golden.len() > 3, "{loaded}");
    let (code, patch) = lines(&["domain", "diff", "hardware-shop"]);
    assert_eq!(code, Some(1), "{patch}");
    assert!(
        !patch.contains("quuxness"),
        "what leads from the loaded pack to the one on disk is no patch: {patch}"
    );
    let told = airlock.command(&["domain", "diff", "hardware-shop"], "");
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(
        told.contains("the pack on disk is not the one that was loaded") && told.contains("glossary.toml"),
        "{told}"
    );
    let whole: Value =
        serde_json::from_str(&lines(&["domain", "diff", "hardware-shop", "--json"]).1).unwrap();
    let against = whole["loaded_against_disk"].as_str().unwrap();
    assert!(against.contains("-name = \"quuxness\""), "{whole}");
    // What is printed is a patch of the files on disk.
    let disk = airlock.data.path().join("disk");
    copy(&airlock_tests::workspace().join("domains/hardware-shop"), &disk);
    std::fs::write(disk.join("learned.patch"), &patch).unwrap();
    let applied = std::process::Command::new("git")
        .args(["apply", "--verbose", "learned.patch"])
        .current_dir(&disk)
        .env("GIT_CEILING_DIRECTORIES", airlock.data.path())
        .output()
        .unwrap();
    assert!(applied.status.success(), "{applied:?}\n{patch}");
    let golden = std::fs::read_to_string(disk.join("golden.jsonl")).unwrap();
    assert!(golden.contains(QUESTION), "{golden}");

    let twice = lines(&["domain", "load", &path, &format!("{path}/.")]);
    assert!(
        twice.0 == Some(2) && twice.1.contains("two of the packs are called `hardware-shop`"),
        "{twice:?}"
    );
    eventually("the host serves the other pack", async || {
        let answer = airlock.ask("What does quuxness mean?").await.1;
        if answer["answer"].to_string().contains("nobody has heard") { Ok(()) } else { Err(answer) }
    })
    .await;

    std::fs::write(&glossary, "[[term]]\nnane = \"x\"\n").unwrap();
    let (code, report) = lines(&["domain", "load", &path]);
    assert!(code == Some(1) && report.contains("glossary.toml:2"), "{report}");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            std::fs::copy(source, target).unwrap();
        }
    }
}
