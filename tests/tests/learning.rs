//! From an ask to a curated example and a golden case, by the binary, over a running host.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::Duration;

use airlock_tests::Airlock;
use serde_json::Value;

fn lines(airlock: &Airlock, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = airlock.command(arguments, "");
    let said = String::from_utf8_lossy(&output.stdout);
    let lines =
        said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")));
    (output.status.code(), lines.collect())
}

/// The proposed items of a kind, as soon as there is one.
async fn proposed(airlock: &Airlock, kind: &str) -> Vec<Value> {
    for _ in 0..40 {
        let (_, found) = lines(airlock, &[kind, "list", "--state", "proposed", "--json"]);
        if !found.is_empty() {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("no {kind} were proposed");
}

#[tokio::test]
async fn what_went_well_is_proposed_and_a_person_decides_by_its_hash() {
    let airlock = Airlock::demo().await;
    let (status, answer) = airlock.ask("How many customers do we have?").await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");

    // A verdict is recorded and makes a golden candidate; it decides nothing.
    let ask = answer["ask_id"].as_str().unwrap();
    let mut said = (None, Vec::new());
    for _ in 0..40 {
        // The log is written beside the ask.
        said = lines(&airlock, &["feedback", ask, "right", "--json"]);
        if said.0 == Some(0) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    assert_eq!(said.0, Some(0), "{said:?}");
    let golden = proposed(&airlock, "golden").await;
    assert_eq!(golden[0]["content"]["question"], "How many customers do we have?");

    let (id, hash) = (golden[0]["id"].as_str().unwrap(), golden[0]["hash"].as_str().unwrap());
    let other = format!("{}{}", &hash[..hash.len() - 1], if hash.ends_with('0') { '1' } else { '0' });
    let (code, conflict) = lines(&airlock, &["golden", "promote", id, "--hash", &other, "--json"]);
    assert_eq!((code, conflict[0]["error"].as_str()), (Some(1), Some("conflict")), "{conflict:?}");
    assert_eq!(conflict[0]["content"]["question"], "How many customers do we have?", "the change is shown");
    assert_eq!(lines(&airlock, &["golden", "promote", id, "--hash", hash, "--json"]).0, Some(0));
    assert_eq!(
        lines(&airlock, &["golden", "promote", id, "--hash", hash, "--json"]).0,
        Some(1),
        "decided already"
    );

    // One of your own is in service at once, if the gate lets it run.
    let add = |sql: &str| {
        let question = "How many loyal customers do we have?";
        lines(&airlock, &["examples", "add", "--question", question, "--sql", sql, "--json"])
    };
    assert_ne!(add("DROP TABLE customers").0, Some(0));
    assert_eq!(add("SELECT 1 -- hello").0, Some(1));
    assert_eq!(add("SELECT count(*) AS loyal FROM customers WHERE cust_id < 5").0, Some(0));
    let (_, answer) = airlock.ask("How many loyal customers do we have?").await;
    assert!(answer["sql"].as_str().unwrap_or_default().contains("loyal"), "{answer}");

    // Without a mode nothing is decided, and the history has what was.
    let (code, passed) = lines(&airlock, &["knowledge", "promote", "--json"]);
    let summary = &passed.last().unwrap()["summary"];
    assert_eq!((code, summary["promoted"].as_i64()), (Some(0), Some(0)), "{passed:?}");
    let (_, history) = lines(&airlock, &["knowledge", "history", "--json"]);
    let verdicts: Vec<&str> = history.iter().filter_map(|row| row["verdict"].as_str()).collect();
    assert!(verdicts.contains(&"promote") && verdicts.contains(&"add"), "{verdicts:?}");
    assert_eq!(lines(&airlock, &["knowledge", "recheck", "--json"]).0, Some(0));
}
