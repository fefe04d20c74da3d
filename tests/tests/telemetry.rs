//! What operators see: a trace of each ask at a real collector, metrics that dashboards and alerts name, log lines that say
//! of which ask they are, and no secret in any of them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::process::Output;

use airlock_tests::collector::{Collector, Manner, Span};
use airlock_tests::{Airlock, NOW, Said, ScriptedModel, eventually, under_test, workspace};
use serde_json::{Value, json};

const QUESTION: &str = "How many bills mention the customer Zanzibar Traders?";
const KEY: &str = "model-key-that-nobody-may-see";
const HEADER: &str = "collector-key-that-nobody-may-see";

/// A model that first names a column that is not there, and the right one when it is told.
async fn stumbling() -> ScriptedModel {
    ScriptedModel::start(|prompt| {
        if prompt.contains("Query result") {
            Said::Text("None.".to_owned())
        } else if prompt.contains("no_such_column") {
            Said::Text(
                "```sql\nSELECT count(*) AS bills FROM bills WHERE status = 'Zanzibar Traders'\n```"
                    .to_owned(),
            )
        } else {
            Said::Text("```sql\nSELECT count(no_such_column) AS bills FROM bills\n```".to_owned())
        }
    })
    .await
}

fn one<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let mut found = spans.iter().filter(|span| span.name == name);
    let first = found.next().unwrap_or_else(|| {
        panic!("no {name} among {:?}", spans.iter().map(|span| &span.name).collect::<Vec<_>>())
    });
    assert!(found.next().is_none(), "several {name}");
    first
}

async fn metrics(airlock: &Airlock) -> String {
    match airlock.get("/metrics").await {
        (200, Value::String(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_ask_is_a_trace_shaped_like_the_pipeline() {
    let (collector, model) = (Collector::start(Manner::Takes).await, stumbling().await);
    let airlock = Airlock::with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("OTEL_EXPORTER_OTLP_HEADERS", &format!("x-collector={HEADER}")),
        ("OTEL_SERVICE_NAME", "desk"),
        ("AIRLOCK_MODEL_URL", &model.url),
        ("AIRLOCK_MODEL", "scripted"),
        ("AIRLOCK_MODEL_KEY", KEY),
    ])
    .await;
    let response = airlock_tests::client()
        .post(format!("{}/api/ask", airlock.url))
        .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        .json(&json!({"question": QUESTION, "now": NOW}))
        .send()
        .await
        .unwrap();
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["attempts"], 2, "{answer}");
    let spans = collector.trace(answer["trace_id"].as_str().unwrap()).await;

    let root = one(&spans, "invoke_agent airlock");
    assert_eq!(root.parent, "");
    assert_eq!(root.attributes["airlock.outcome"], answer["outcome"].as_str().unwrap());
    assert_eq!(root.attributes["airlock.surface"], "http");
    assert_eq!(root.attributes["langfuse.observation.type"], "agent");
    let link = ("4bf92f3577b34da6a3ce929d0e0e4736".to_owned(), "00f067aa0ba902b7".to_owned());
    assert_eq!(root.links, [link]);
    assert_eq!(collector.resource()["service.name"], "desk");
    assert!(collector.headers().iter().all(|headers| headers["x-collector"] == HEADER));

    // Every span is within another one of the trace, and within its time.
    for span in spans.iter().filter(|span| span.id != root.id) {
        let parent = spans.iter().find(|parent| parent.id == span.parent).unwrap();
        assert!(span.begun >= parent.begun && span.ended <= parent.ended, "{span:?} in {parent:?}");
    }
    for stage in ["planner", "linker", "repair", "answerer"] {
        let stage = spans.iter().find(|span| span.name == stage).unwrap();
        assert_eq!(stage.parent, root.id);
        assert_eq!(stage.attributes["airlock.component.digest"].len(), 64);
    }
    let calls: Vec<&Span> = spans.iter().filter(|span| span.name == "chat scripted").collect();
    assert!(calls.len() >= 2, "{calls:?}");
    for call in calls {
        let within = spans.iter().find(|span| span.id == call.parent).unwrap();
        assert_eq!(within.attributes["langfuse.observation.type"], "chain");
        assert_eq!(call.attributes["gen_ai.operation.name"], "chat");
        assert_eq!(call.attributes["gen_ai.request.model"], "scripted");
        assert!(call.attributes["gen_ai.usage.input_tokens"].parse::<u64>().unwrap() > 0);
        assert_eq!(call.kind, 3);
    }
    // The text that was wrong is red at the gate; the right one is a statement that ran.
    let red: Vec<&Span> = spans.iter().filter(|span| span.is_error).collect();
    assert!(
        red.iter().any(|span| span.name == "gate" && span.attributes["error.type"] == "unknown-column"),
        "{red:?}"
    );
    let ran = spans.iter().find(|span| span.name.starts_with("SELECT ")).unwrap();
    assert_eq!(ran.attributes["db.system.name"], "postgresql");
    assert_eq!(ran.attributes["airlock.attempt"], "2");
    assert!(ran.attributes["db.query.text"].contains("$1"), "{ran:?}");
    assert!(!ran.is_error);

    // Nothing of the question, of the values in the SQL or of the keys is on the wire.
    for body in collector.bodies() {
        let body = String::from_utf8_lossy(&body).into_owned();
        for secret in [KEY, HEADER, "Zanzibar"] {
            assert!(!body.contains(secret), "{secret}");
        }
    }
    assert!(metrics(&airlock).await.contains("airlock_traces_total{result=\"sent\"}"));
}

#[tokio::test]
async fn a_collector_that_refuses_or_hangs_touches_no_ask() {
    for manner in [Manner::Refuses, Manner::Hangs] {
        let collector = Collector::start(manner).await;
        let airlock = Airlock::with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)]).await;
        for _ in 0..5 {
            let (status, answer) = airlock.ask("How many customers do we have?").await;
            assert_eq!((status, &answer["outcome"]), (200, &json!("answered")), "{manner:?} {answer}");
        }
        if manner == Manner::Refuses {
            eventually("a refusal is counted", async || {
                let seen = metrics(&airlock).await;
                if seen.contains("airlock_traces_total{result=\"failed\"} 0") { Err(seen) } else { Ok(()) }
            })
            .await;
        }
        assert!(collector.spans().is_empty());
        assert_eq!(airlock.interrupt(), Some(0), "{manner:?}");
    }
}

#[tokio::test]
async fn every_metric_that_a_dashboard_or_an_alert_names_is_there() {
    let (collector, model) = (Collector::start(Manner::Takes).await, stumbling().await);
    let airlock = Airlock::with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("AIRLOCK_MODEL_URL", &model.url),
        ("AIRLOCK_MODEL", "scripted"),
    ])
    .await;
    airlock.ask(QUESTION).await;
    airlock.get("/nothing/of/this/name").await;
    let text = metrics(&airlock).await;
    let mut names = BTreeSet::new();
    for file in ["grafana/airlock.json", "prometheus/alerts.yml"] {
        let said = std::fs::read_to_string(workspace().join("deploy").join(file)).unwrap();
        let word = |c: char| c.is_ascii_lowercase() || c == '_';
        let words = said.split(|c| !word(c)).filter(|name| name.starts_with("airlock_"));
        names.extend(words.map(str::to_owned));
    }
    assert!(names.len() > 30, "{names:?}");
    // These have a value only with an embedder, a component in quarantine, or an ask that failed.
    let absent = ["airlock_vectors_age_seconds", "airlock_quarantine_info", "airlock_ask_faults_total"];
    for name in names {
        let there = text
            .lines()
            .any(|line| line.strip_prefix(&name).is_some_and(|rest| rest.starts_with(['{', ' '])));
        assert!(there || absent.contains(&name.as_str()), "{name} is not in:\n{text}");
    }
    for word in ["Zanzibar", "no_such_column", "nothing/of/this"] {
        assert!(!text.contains(word), "{word} is in:\n{text}");
    }
    // Every line is a comment or a sample, and of this host's.
    for line in text.lines() {
        assert!(line.starts_with("# ") || line.starts_with("airlock_"), "{line}");
    }
}

#[tokio::test]
async fn a_verdict_is_written_to_its_trace() {
    let (airlock, collector) = (Airlock::demo().await, Collector::start(Manner::Takes).await);
    let out = tempfile::tempdir().unwrap();
    let output = run(
        &airlock,
        &[
            "eval",
            "run",
            "--domain",
            "hardware-shop",
            "--limit",
            "2",
            "--baseline",
            "off",
            "--json",
            "--out",
            out.path().to_str().unwrap(),
        ],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)],
    )
    .await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = std::fs::read_dir(out.path()).unwrap().next().unwrap().unwrap().path();
    let lines = std::fs::read_to_string(run.join("results.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let spans = collector.trace(&record["ask_id"].as_str().unwrap().replace('-', "")).await;
        let root = one(&spans, "invoke_agent airlock");
        let (event, attributes) = &root.events[0];
        assert_eq!(event, "gen_ai.evaluation.result");
        assert_eq!(attributes["gen_ai.evaluation.score.label"], record["verdict"].as_str().unwrap());
        assert_eq!(attributes["airlock.case.id"], record["id"].as_str().unwrap());
    }
}

#[tokio::test]
async fn log_lines_say_of_which_ask_they_are_and_no_secret_is_seen_anywhere() {
    let (collector, model) = (Collector::start(Manner::Takes).await, stumbling().await);
    let airlock = Airlock::demo().await;
    let output = run(
        &airlock,
        &["-vv", "--log-format", "json", "ask", "--json", "--now", NOW, QUESTION],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
            ("OTEL_EXPORTER_OTLP_HEADERS", &format!("x-collector={HEADER}")),
            ("AIRLOCK_MODEL_URL", &model.url),
            ("AIRLOCK_MODEL", "scripted"),
            ("AIRLOCK_MODEL_KEY", KEY),
        ],
    )
    .await;
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (ask, logs) = (answer["ask_id"].as_str().unwrap(), String::from_utf8(output.stderr).unwrap());
    let lines: Vec<Value> = logs.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of_ask = |line: &&Value| {
        line["spans"].as_array().is_some_and(|spans| spans.iter().any(|span| span["ask"] == ask))
    };
    assert!(lines.iter().filter(of_ask).count() >= 3, "{logs}");
    let asked = lines.iter().find(|line| line["message"] == "a model answered").unwrap();
    assert!(of_ask(&asked), "{asked}");

    let config = std::fs::read_to_string(airlock.data.path().join("airlock.toml")).unwrap();
    let config: toml::Table = config.parse().unwrap();
    let url = config["sources"]["hardware-shop"]["url"].as_str().unwrap();
    let password =
        url.split("password=").nth(1).unwrap().split([' ', '&']).next().unwrap().trim_matches('\'');
    assert!(password.len() >= 8, "the demo's reader has a password");
    let credentials = std::fs::read_to_string(airlock.data.path().join("store.credentials")).unwrap();
    let of_store = credentials.split(['"', '\'', '=', '\n', ' ']).filter(|word| word.len() >= 20);
    let traces: String =
        collector.bodies().iter().map(|body| String::from_utf8_lossy(body).into_owned()).collect();
    assert!(!traces.is_empty());
    let metrics = metrics(&airlock).await;
    for secret in [KEY, HEADER, password].into_iter().chain(of_store) {
        for (place, text) in [("logs", &logs), ("traces", &traces), ("metrics", &metrics)] {
            assert!(!text.contains(secret), "{place} hold {secret}");
        }
    }
}

/// Runs a command against a demo's configuration, with variables. The collector and the model answer meanwhile.
async fn run(airlock: &Airlock, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = under_test();
    command
        .args(arguments)
        .env("AIRLOCK_CONFIG", airlock.data.path().join("airlock.toml"))
        .envs(variables.iter().copied());
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}
