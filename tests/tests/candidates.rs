//! Several drafts for one question: what most of them come to is the answer, and it is told how many that were.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Mutex;

use airlock_tests::laboratory::{Laboratory, Place, Served};
use airlock_tests::{Said, ScriptedModel};
use serde_json::{Value, json};

const PLACE: Place<'static> = Place {
    database: "shop",
    search_path: &["public"],
    schema: "CREATE TABLE orders (id int PRIMARY KEY, customer text, total numeric);
        INSERT INTO orders SELECT g, 'c' || g % 3, g FROM generate_series(1, 10) g;",
    traps: None,
    functions: &[],
};

const COUNT: &str = "SELECT count(*) AS n FROM orders";
const ANOTHER: &str = "SELECT count(o.id) AS orders FROM orders AS o";
const CUSTOMERS: &str = "SELECT count(DISTINCT customer) AS n FROM orders";
const SUM: &str = "SELECT sum(total) AS n FROM orders";
const UNKNOWN: &str = "SELECT count(*) FROM order_lines";
const FORBIDDEN: &str = "SELECT count(pg_sleep(0)) FROM orders";

/// Questions, what the model drafts for each one after the other, and what comes of it.
fn cases() -> Vec<(&'static str, [&'static str; 3], Value)> {
    let agreed = |n: u32| format!("3 drafts were written; {n} of them came to this result.");
    vec![
        (
            "How many orders are there?",
            [CUSTOMERS, COUNT, ANOTHER],
            json!({"sql": COUNT, "rows": [[10]], "assumptions": [agreed(2)], "warnings": []}),
        ),
        (
            "How many orders do we have?",
            [COUNT, COUNT, COUNT],
            json!({"sql": COUNT, "rows": [[10]], "assumptions": ["All 3 drafts were the same query."], "warnings": []}),
        ),
        (
            "How many orders exist?",
            [SUM, COUNT, CUSTOMERS],
            json!({
                "sql": SUM, "rows": [["55"]], "assumptions": [],
                "warnings": [format!("{} Another reading of the question is as likely: check the query.", agreed(1))],
            }),
        ),
        (
            "How many orders came?",
            [UNKNOWN, FORBIDDEN, COUNT],
            json!({
                "sql": COUNT, "rows": [[10]], "assumptions": [],
                "warnings": [format!("{} Another reading of the question is as likely: check the query.", agreed(1))],
            }),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_most_drafts_come_to_is_the_answer() {
    let drafts: BTreeMap<&str, [&str; 3]> =
        cases().into_iter().map(|(question, drafts, _)| (question, drafts)).collect();
    let asked: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    let model = ScriptedModel::start(move |prompt| {
        if !prompt.contains("You write one PostgreSQL query") {
            return Said::Status(400);
        }
        let (question, drafts) = drafts.iter().find(|(question, _)| prompt.contains(**question)).unwrap();
        let mut asked = asked.lock().unwrap();
        let at = asked.entry(question).or_default();
        *at += 1;
        Said::Text(drafts[(*at - 1) % 3].to_owned())
    })
    .await;
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&PLACE).await;
    let pack = laboratory.data().join("domains").join(&domain).join("domain.toml");
    let settings = std::fs::read_to_string(&pack).unwrap();
    std::fs::write(&pack, format!("candidates = 3\n{settings}")).unwrap();
    let served = Served::start(&laboratory.config(), &model).await;
    for (question, drafts, want) in cases() {
        let (status, answer) = served.ask(&domain, question).await;
        assert_eq!(
            (status, &answer["outcome"], &answer["attempts"]),
            (200, &json!("answered"), &json!(1)),
            "{answer}"
        );
        for (field, value) in want.as_object().unwrap() {
            assert_eq!(&answer[field], value, "{question} {drafts:?}: {answer}");
        }
    }
    // A draft that fails where all fail is repaired like any: it is an attempt.
    assert!(model.prompts().len() >= 3 * cases().len());
}
