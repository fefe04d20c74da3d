//! From an ask to a curated example and a golden case, by the binary, over a running host.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::{Airlock, eventually};
use serde_json::Value;

fn lines(airlock: &Airlock, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = airlock.command(arguments, "");
    let said = String::from_utf8_lossy(&output.stdout);
    let lines =
        said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")));
    (output.status.code(), lines.collect())
}

/// A verdict on an ask. The log is written beside the ask, so it may not be there yet.
async fn judged(airlock: &Airlock, verdict: &[&str]) {
    let arguments: Vec<&str> = ["feedback", "--json"].iter().chain(verdict).copied().collect();
    eventually("the verdict is taken", async || {
        let (code, said) = lines(airlock, &arguments);
        if code == Some(0) { Ok(()) } else { Err(format!("{code:?} {said:?}")) }
    })
    .await;
}

/// The proposed items of a kind, as soon as there is one.
async fn proposed(airlock: &Airlock, kind: &str) -> Vec<Value> {
    eventually("something is proposed", async || {
        let (_, found) = lines(airlock, &[kind, "list", "--state", "proposed", "--json"]);
        if found.is_empty() { Err(kind) } else { Ok(found) }
    })
    .await
}

#[tokio::test]
async fn what_went_well_is_proposed_and_a_person_decides_by_its_hash() {
    let airlock = Airlock::demo().await;
    let (status, answer) = airlock.ask("How many customers do we have?").await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");

    // A verdict is recorded and makes a golden candidate; it decides nothing.
    let ask = answer["ask_id"].as_str().unwrap();
    judged(&airlock, &[ask, "right"]).await;
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
    // Whatever content is refused for, it is refused in the same way.
    for sql in ["DROP TABLE customers", "SELECT 1; SELECT 2", "", "SELECT 1 \u{200b}"] {
        let (code, said) = add(sql);
        assert_eq!((code, said[0]["error"].as_str()), (Some(1), Some("refused")), "{sql:?}: {said:?}");
    }
    assert_eq!(add("SELECT count(*) AS loyal FROM customers WHERE cust_id < 5 -- hello").0, Some(0));
    let answer = airlock.ask_with_store("How many loyal customers do we have?").await;
    assert!(answer["sql"].as_str().unwrap_or_default().contains("loyal"), "{answer}");

    // Without a mode nothing is decided, and the history has what was.
    let (code, passed) = lines(&airlock, &["knowledge", "promote", "--json"]);
    let summary = &passed.last().unwrap()["summary"];
    assert_eq!((code, summary["promoted"].as_i64()), (Some(0), Some(0)), "{passed:?}");
    let (_, history) = lines(&airlock, &["knowledge", "history", "--json"]);
    let verdicts: Vec<&str> = history.iter().filter_map(|row| row["verdict"].as_str()).collect();
    assert!(verdicts.contains(&"promote") && verdicts.contains(&"add"), "{verdicts:?}");
    let of = |item: &str| lines(&airlock, &["knowledge", "history", "--item", item, "--json"]);
    let (code, decided) = of(id);
    assert_eq!((code, decided[0]["verdict"].as_str()), (Some(0), Some("promote")), "{decided:?}");
    // One that nobody decided on has no history; one that is not there is a mistake.
    judged(&airlock, &[answer["ask_id"].as_str().unwrap(), "right"]).await;
    let waiting = proposed(&airlock, "golden").await;
    assert_eq!(of(waiting[0]["id"].as_str().unwrap()), (Some(0), Vec::new()));
    assert_eq!(of("0198c0de-0000-7000-8000-000000000000").0, Some(2));
    assert_eq!(lines(&airlock, &["knowledge", "recheck", "--json"]).0, Some(0));
}

#[tokio::test]
async fn a_correction_that_cannot_be_compared_teaches_no_rule_and_its_question_has_two_golden_cases() {
    let airlock = Airlock::demo().await;
    let (_, busy) = airlock.ask("How many busy employees are CASHIER?").await;
    assert_eq!(busy["outcome"], "refused", "{busy}");
    let sql = "SELECT count(*) AS n FROM employees e WHERE e.role = 'CASHIER' AND \
               (SELECT count(*) FROM bills b WHERE b.emp_id = e.emp_id) > 100";
    judged(&airlock, &[busy["ask_id"].as_str().unwrap(), "wrong", "--sql", sql]).await;
    let (code, lessons) = lines(&airlock, &["lessons", "list", "--json"]);
    assert_eq!((code, lessons), (Some(0), Vec::new()), "its condition would be thrown away");

    // Another SQL for a question is another candidate, without its comment, whatever was decided on the first.
    let (_, answer) = airlock.ask("How many customers do we have?").await;
    let ask = answer["ask_id"].as_str().unwrap();
    let cases = || -> Vec<Value> {
        let golden = lines(&airlock, &["golden", "list", "--json"]).1;
        golden.into_iter().filter(|case| case["content"]["question"] == answer["question"]).collect()
    };
    judged(&airlock, &[ask, "right"]).await;
    let first = cases();
    let (id, hash) = (first[0]["id"].as_str().unwrap(), first[0]["hash"].as_str().unwrap());
    assert_eq!(lines(&airlock, &["golden", "reject", id, "--hash", hash, "--json"]).0, Some(0));
    let other = "SELECT count(*) AS n FROM customers WHERE cust_id > 0";
    judged(&airlock, &[ask, "wrong", "--sql", &format!("{other} -- as billing counts them")]).await;
    judged(&airlock, &[ask, "wrong", "--sql", other]).await;
    let cases = cases();
    let waiting: Vec<&Value> = cases.iter().filter(|case| case["state"] == "proposed").collect();
    assert_eq!((cases.len(), waiting.len()), (2, 1), "{cases:?}");
    assert_eq!(
        (&waiting[0]["content"]["sql"], &waiting[0]["evidence"]["verdict"]),
        (&other.into(), &"corrected".into())
    );
}

#[tokio::test]
async fn what_a_replay_proves_is_promoted_and_answers_the_next_question() {
    let airlock = Airlock::demo().await;
    let dormant = |category: &str| format!("How many dormant products are there in {category}?");
    for category in ["Plumbing", "Paint"] {
        let (_, answer) = airlock.ask(&dormant(category)).await;
        assert_eq!(answer["outcome"], "refused", "nobody said yet what dormant means: {answer}");
        let sql = format!(
            "SELECT count(*) AS dormant FROM products p JOIN categories c ON c.cat_id = p.cat_id \
             WHERE c.cat_name = '{category}' AND NOT EXISTS (SELECT 1 FROM bill_items i WHERE i.prod_id = p.prod_id)"
        );
        let ask = answer["ask_id"].as_str().unwrap();
        judged(&airlock, &[ask, "wrong", "--sql", &sql]).await;
    }
    let (_, golden) = lines(&airlock, &["golden", "list", "--state", "proposed", "--json"]);
    assert_eq!(golden.len(), 2, "{golden:?}");
    for case in &golden {
        let (id, hash) = (case["id"].as_str().unwrap(), case["hash"].as_str().unwrap());
        assert_eq!(lines(&airlock, &["golden", "promote", id, "--hash", hash, "--json"]).0, Some(0));
    }

    // Each case is graded without its own example: what flips it is the other one's.
    let dry = lines(&airlock, &["knowledge", "promote", "--mode", "replay", "--dry-run", "--json"]);
    assert_eq!(dry.1.last().unwrap()["summary"]["promoted"], 2, "{dry:?}");
    let (_, active) = lines(&airlock, &["examples", "list", "--state", "active", "--json"]);
    assert!(active.is_empty(), "a dry run writes nothing: {active:?}");
    let (code, passed) = lines(&airlock, &["knowledge", "promote", "--mode", "replay", "--json"]);
    let summary = &passed.last().unwrap()["summary"];
    assert_eq!((code, summary["promoted"].as_i64()), (Some(0), Some(2)), "{passed:?}");
    let right = |when: &str| summary[when]["right"].as_i64().unwrap();
    assert_eq!(right("after"), right("before") + 2, "{summary}");
    let (_, history) = lines(&airlock, &["knowledge", "history", "--json"]);
    let replayed = history.iter().find(|row| row["mode"] == "replay").expect("the replay decided");
    let flip = &replayed["evidence"]["replay"]["cases"][0];
    assert_eq!(flip["with"], serde_json::json!(["right", "right", "right"]), "{replayed}");

    let answer = airlock.ask_with_store(&dormant("Tools")).await;
    assert_eq!(answer["outcome"], "answered", "{answer}");
    assert!(answer["sql"].as_str().unwrap().contains("'Tools'"), "{answer}");
    assert_eq!(
        answer["examples"].as_array().map(Vec::len),
        Some(1),
        "the record says what was reused: {answer}"
    );
}
