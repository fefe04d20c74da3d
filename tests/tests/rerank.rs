//! A cross-encoder over what retrieval found: it changes the order, says what it did, and is missed when it is broken.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;

use airlock_tests::{Airlock, Host, NOW, cross_encoder};
use serde_json::{Value, json};

const QUESTION: &str = "How many bills did customers pay this year?";

fn over(airlock: &Airlock, name: &str, model: &Path) -> Host {
    Host::over(airlock, name, |config| {
        let path = model.display().to_string();
        config.insert("rerank".to_owned(), toml::Table::from_iter([("path".to_owned(), path.into())]).into());
    })
}

async fn context(url: &str) -> Value {
    let body = json!({"question": QUESTION, "now": NOW}).to_string();
    let request = airlock_tests::client().post(format!("{url}/api/context"));
    let response = request.header("content-type", "application/json").body(body).send().await.unwrap();
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

/// The questions of the examples that a model would see, in their order.
fn examples(context: &Value) -> Vec<String> {
    let blocks = context["blocks"].as_array().unwrap();
    let block = blocks.iter().find(|block| block["kind"] == "examples").unwrap();
    let lines = block["text"].as_str().unwrap().lines();
    lines.filter_map(|line| line.strip_prefix("Question: ")).map(str::to_lowercase).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[tokio::test]
async fn what_the_cross_encoder_prefers_comes_first_and_how_it_went_is_told() {
    let airlock = Airlock::demo().await;
    let plain = context(&airlock.url).await;
    assert_eq!((&plain["reranked"], &plain["warnings"]), (&Value::Null, &json!([])), "{plain}");
    let found = examples(&plain);
    let (last, before) = found.split_last().unwrap();
    assert!(!before.is_empty(), "{found:?}");
    let others: Vec<&str> = before.iter().flat_map(|example| words(example)).collect();
    let asked = QUESTION.to_lowercase();
    let only_there = |word: &&str| !others.contains(word) && !words(&asked).any(|other| other == *word);
    let word = words(last).find(only_there).unwrap_or_else(|| panic!("{found:?}"));

    let model = airlock.data.path().join("prefers-a-word");
    cross_encoder::write(&model, word);
    let host = over(&airlock, "reranked", &model);
    let (_, health) = host.get("/api/health").await;
    assert_eq!(health["reranker"]["state"], "idle", "it is loaded when it is needed: {health}");
    let shown = context(&host.url).await;
    assert_eq!(examples(&shown)[0], *last, "`{word}` is preferred: {shown}");
    assert!(shown["reranked"]["pairs"].as_u64() > Some(1), "{shown}");
    assert_eq!((&shown["reranked"]["degraded"], &shown["warnings"]), (&Value::Null, &json!([])), "{shown}");

    let (status, answer) = host.ask(QUESTION).await;
    assert_eq!((status, &answer["warnings"]), (200, &json!([])), "{answer}");
    let metrics = airlock_tests::client().get(format!("{}/metrics", host.url)).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    assert!(metrics.contains("airlock_stage_seconds_count{stage=\"rerank\",outcome=\"ok\"} 1"), "{metrics}");

    let told = host.command(&["context", "--json", "--now", NOW, QUESTION]);
    let remarks = String::from_utf8_lossy(&told.stderr);
    assert!(remarks.contains("prefers-a-word") && remarks.contains("pairs"), "{remarks}");
    let claims = host.command(&["doctor", "--json"]);
    let claims: Value = serde_json::from_slice(&claims.stdout).unwrap();
    assert_eq!(claims["reranker"]["state"], "working", "it is tried: {claims}");
}

#[tokio::test]
async fn a_broken_cross_encoder_is_told_and_the_order_of_retrieval_stays() {
    let airlock = Airlock::demo().await;
    let model = airlock.data.path().join("broken");
    cross_encoder::write(&model, "anything");
    std::fs::write(model.join("model.safetensors"), b"no weights").unwrap();
    let host = over(&airlock, "degraded", &model);

    let (status, answer) = host.ask(QUESTION).await;
    let (_, undisturbed) = airlock.ask(QUESTION).await;
    assert_eq!((status, &answer["sql"]), (200, &undisturbed["sql"]), "{answer}");
    assert!(answer["warnings"].to_string().contains("reranker"), "{answer}");
    let shown = context(&host.url).await;
    assert_eq!(shown["blocks"], context(&airlock.url).await["blocks"]);
    assert!(shown["reranked"]["degraded"].as_str().unwrap().contains("model.safetensors"), "{shown}");
    let (status, health) = host.get("/api/health").await;
    assert_eq!((status, &health["reranker"]["state"]), (200, &json!("degraded")), "{health}");
}
