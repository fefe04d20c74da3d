//! What strangers send and what goes down: a clear error or a refusal within the deadline, and the next ask works.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::{Airlock, Host, NOW, PATIENCE, Said, ScriptedModel, eventually, signal};
use serde_json::{Value, json};

const GOOD: &str = "How many customers do we have?";

async fn still_works(airlock: &Airlock) {
    let (status, answer) = airlock.ask(GOOD).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
}

#[tokio::test]
async fn words_longer_than_any_name_name_nothing_and_fail_no_component() {
    let airlock = Airlock::demo().await;
    let cut = |text: String| text.chars().take(4_000).collect::<String>();
    for word in
        ["a".repeat(500), "\u{e9}".repeat(1_900), format!("\"{}\"", "b".repeat(3_000)), "9".repeat(3_000)]
    {
        for question in [
            word.clone(),
            format!("How many bills of {word} are there?"),
            format!("Customers by {word} over {word} in {word}"),
            format!("What does {word} mean?"),
            format!("Top 5 products with {word}"),
        ] {
            let (status, answer) = airlock.ask(&cut(question)).await;
            assert_eq!(status, 200, "{answer}");
        }
    }
    still_works(&airlock).await;
    assert_eq!(airlock.get("/api/health").await.1["quarantined"], json!([]));
}

#[tokio::test]
async fn bad_requests_are_named_and_lose_nothing() {
    let airlock = Airlock::demo().await;
    for (body, status, word) in [
        (json!({"question": ""}), 422, "question"),
        (json!({"question": "   \n"}), 422, "question"),
        (json!({"question": "a".repeat(10_000)}), 422, "4000"),
        (json!({"question": "a\u{0}b"}), 422, "NUL"),
        (json!({"question": "pay\u{200b}ments"}), 422, "zero-width"),
        (json!({"question": "???"}), 422, "word"),
        (json!({"question": GOOD, "domain": "nowhere"}), 404, "nowhere"),
        (json!({"question": GOOD, "domain": "../etc"}), 422, "domain"),
        (json!({"question": GOOD, "now": "yesterday"}), 422, "now"),
        (json!({"question": GOOD, "mode": "turbo"}), 422, "mode"),
        (json!({"question": GOOD, "max_rows": 0}), 422, "max_rows"),
        (
            json!({"question": GOOD, "follow_up_of": "0198c0de-0000-7000-8000-000000000000"}),
            404,
            "follow_up_of",
        ),
        (json!({"question": GOOD, "kwestion": 1}), 400, "kwestion"),
        (json!({}), 422, "question"),
        (json!([]), 400, "JSON"),
    ] {
        let (got, problem) = airlock.post(&body).await;
        assert_eq!(got, status, "{body}: {problem}");
        assert!(problem.to_string().contains(word), "{body}: {problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{problem}");
    }
    for body in ["", "{", "\u{0}\u{1}\u{2}", "{\"question\": \"\\ud800\"}", "nonsense"] {
        let (status, problem) = airlock.post_text(body).await;
        assert_eq!((status, problem["code"].as_str()), (400, Some("malformed-json")), "{body:?}: {problem}");
    }
    let (status, problem) =
        airlock.post_text(&format!("{{\"question\": \"{}\"}}", "x".repeat(300_000))).await;
    assert_eq!((status, problem["code"].as_str()), (413, Some("body-too-large")));
    assert_eq!(airlock.get("/nothing").await.0, 404);
    assert_eq!(airlock.get("/api/ask").await.0, 405);
    still_works(&airlock).await;
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_with_the_reason() {
    let airlock = Airlock::demo().await;
    for question in [
        "What is our employees' favourite colour?",
        "Delete all bills",
        "Wie viele Rechnungen gab es im Juli 2026?",
        "我们有多少客户？",
        "DROP TABLE bills; SELECT 1",
        "asdf qwer zxcv",
    ] {
        let (status, answer) = airlock.ask(question).await;
        assert_eq!((status, answer["outcome"].as_str()), (200, Some("refused")), "{question}: {answer}");
        assert!(answer["reason"].as_str().is_some_and(|reason| reason.len() > 10), "{question}: {answer}");
        assert_eq!(answer["rows"], json!([]), "{question}");
    }
    still_works(&airlock).await;
}

#[tokio::test]
async fn a_page_of_another_site_gets_nothing() {
    let airlock = Airlock::demo().await;
    let client = airlock_tests::client();
    for (name, value) in [("host", "evil.example"), ("origin", "http://evil.example")] {
        let response =
            client.get(format!("{}/api/health", airlock.url)).header(name, value).send().await.unwrap();
        assert_eq!(response.status(), 403, "{name}");
    }
}

#[tokio::test]
async fn a_database_that_is_down_is_told_and_its_return_is_noticed() {
    let airlock = Airlock::demo().await;
    // The postmaster's process id stands in the first line of its own file.
    let postmaster = airlock.postmaster();
    signal(postmaster, "STOP");
    let (status, problem) = airlock.ask(GOOD).await;
    signal(postmaster, "CONT");
    // Backends outlive a stopped postmaster; either the pool still had one or the failure is typed.
    if status != 200 {
        assert!([503, 504].contains(&status), "{problem}");
    }

    let backends = airlock.backends();
    for backend in &backends {
        signal(*backend, "TERM");
    }
    eventually("they have ended", async || {
        let left: Vec<u32> =
            airlock.backends().into_iter().filter(|backend| backends.contains(backend)).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .await;
    // The first ask after the break may meet a dead connection, never more than that.
    let _ = airlock.ask(GOOD).await;
    still_works(&airlock).await;

    signal(postmaster, "QUIT");
    eventually("the server has ended", async || match airlock.serves_data() {
        false => Ok(()),
        true => Err(postmaster),
    })
    .await;
    let (status, problem) = airlock.ask(GOOD).await;
    assert_eq!((status, problem["code"].as_str()), (503, Some("database-unavailable")), "{problem}");
    assert_eq!(problem["outcome"], "failed");
    let (status, health) = airlock.get("/api/health").await;
    assert_eq!((status, health["ok"].as_bool()), (503, Some(false)), "{health}");
    assert_eq!(airlock.get("/livez").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_falls_silent_is_down_and_no_wrong_answer() {
    let airlock = Airlock::demo().await;
    let host = Host::over(&airlock, "silent", |config| {
        for (_, source) in config["sources"].as_table_mut().unwrap().iter_mut() {
            source.as_table_mut().unwrap().insert("statement_timeout_ms".to_owned(), 1_000.into());
        }
    });
    let (status, answer) = host.ask(GOOD).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    let silenced = airlock.server().silenced();
    // The first over a connection that is there, the second while the source rests.
    for _ in 0..2 {
        let (status, problem) = host.ask(GOOD).await;
        assert_eq!((status, problem["code"].as_str()), (503, Some("database-unavailable")), "{problem}");
        assert_eq!((&problem["outcome"], &problem["history"]), (&json!("failed"), &json!([])), "{problem}");
    }
    drop(silenced);
    eventually("it answers again", async || match host.ask(GOOD).await {
        (200, answer) if answer["outcome"] == "answered" => Ok(()),
        (_, other) => Err(other),
    })
    .await;
}

#[tokio::test]
async fn a_model_that_is_down_slow_or_prosy_never_hangs_an_ask() {
    let hard = "Write something only a model could write about bills and the weather";
    let airlock =
        Airlock::with(&[("AIRLOCK_MODEL_URL", "http://127.0.0.1:9"), ("AIRLOCK_MODEL", "gone")]).await;
    // The composer stands in, and the record says so.
    let (status, answer) = airlock.ask(GOOD).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    assert!(answer["degraded"].as_str().is_some_and(|text| text.contains("model")), "{answer}");
    drop(airlock);

    for (said, outcome) in [
        // Nothing was written: that is no word on whether the data has the answer.
        (Said::Text("The bills table stores what was sold.".to_owned()), "gave_up"),
        (Said::Text("CANNOT: The data has no weather.".to_owned()), "refused"),
        (Said::Text(String::new()), "gave_up"),
        (Said::Text("SELECT no_such_column FROM bills".to_owned()), "gave_up"),
        (Said::Text("DELETE FROM bills".to_owned()), "refused"),
        (Said::Text("COMMIT; DELETE FROM bills; SELECT 1".to_owned()), "refused"),
    ] {
        let model = ScriptedModel::start({
            let said = said.clone();
            move |_| said.clone()
        })
        .await;
        let airlock = Airlock::with_model(&model).await;
        let (status, answer) = airlock.ask(hard).await;
        assert_eq!((status, &answer["outcome"]), (200, &json!(outcome)), "{said:?}: {answer}");
        assert_eq!(answer["gave_up"], json!(outcome == "gave_up"), "{answer}");
        assert!(answer["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{answer}");
        assert!(answer["attempts"].as_u64().unwrap() <= 3, "{answer}");
    }

    let model = ScriptedModel::start(|_| Said::Silence(4 * PATIENCE)).await;
    let airlock = Airlock::with(&[
        ("AIRLOCK_MODEL_URL", model.url.as_str()),
        ("AIRLOCK_MODEL", "slow"),
        ("AIRLOCK_MODEL_DEADLINE_SECONDS", "2"),
    ])
    .await;
    let asked = tokio::time::timeout(PATIENCE, airlock.ask(hard)).await;
    let (status, problem) = asked.expect("nobody waits for the model longer than its deadline");
    // Either the composer refuses what it cannot compose because the model is too slow (504), or nothing else.
    assert_eq!(status, 504, "{problem}");
    still_works(&airlock).await;
}

#[tokio::test]
async fn a_model_that_writes_wrong_sql_is_repaired() {
    let question = "Which bills are the largest?";
    let model = ScriptedModel::start(move |prompt| {
        if !prompt.contains(question) {
            return "I do not know this question.".into();
        }
        if prompt.contains("no_such_column") {
            "SELECT bill_no, total_amt FROM bills ORDER BY total_amt DESC, bill_no LIMIT 3".into()
        } else {
            "SELECT bill_no, no_such_column FROM bills LIMIT 3".into()
        }
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let (status, answer) = airlock.post(&json!({"question": question, "now": NOW})).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    assert_eq!(answer["attempts"], 2, "{answer}");
    assert_eq!(answer["history"][0]["error_type"], "unknown_column");
    assert_eq!(answer["history"][1]["error_type"], Value::Null);
    assert_eq!(answer["row_count"], 3);

    let (status, answer) = airlock.post(&json!({"question": question, "mode": "baseline"})).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("gave_up")), "{answer}");
    assert_eq!(answer["attempts"], 1);
}

#[tokio::test]
async fn a_word_that_the_schema_does_not_know_still_reaches_the_model() {
    let question = "Who earns the most?";
    let model = ScriptedModel::start(move |prompt| {
        if prompt.contains(question) {
            "SELECT emp_name FROM employees ORDER BY salary DESC NULLS LAST, emp_id LIMIT 1".into()
        } else {
            "I do not know this question.".into()
        }
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let (status, answer) = airlock.post(&json!({"question": question, "now": NOW})).await;
    assert!(!model.prompts().is_empty(), "{answer}");
    assert_eq!((status, answer["attempts"].as_u64()), (200, Some(1)), "{answer}");
}

#[tokio::test]
async fn a_question_for_another_moment_says_where_its_query_goes_by_today() {
    let question = "Who was employed?";
    let model = ScriptedModel::start(move |prompt| {
        if prompt.contains(question) {
            "SELECT emp_name FROM employees WHERE CURRENT_DATE > DATE '2020-01-01' ORDER BY emp_id LIMIT 1"
                .into()
        } else {
            "I do not know this question.".into()
        }
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    for (body, warned) in
        [(json!({"question": question, "now": NOW}), true), (json!({"question": question}), false)]
    {
        let (status, answer) = airlock.post(&body).await;
        assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
        assert_eq!(answer["warnings"].to_string().contains("answered for today"), warned, "{answer}");
    }
}
