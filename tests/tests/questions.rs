//! The shop's questions: answered right with no model at all, and through a model that writes the SQL.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::{Airlock, Said, ScriptedModel, workspace};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize, Clone)]
struct Case {
    id: String,
    question: String,
    expect: String,
    #[serde(default)]
    gold_sql: Option<String>,
    #[serde(default)]
    order_matters: bool,
}

fn cases() -> Vec<Case> {
    cases_of("hardware-shop.jsonl")
}

fn cases_of(file: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(workspace().join("tests/questions").join(file)).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The rows that the hand-written truth gives, through the same binary.
fn gold(airlock: &Airlock, case: &Case) -> Vec<Vec<String>> {
    let sql = serde_json::json!({"id": case.id, "sql": case.gold_sql}).to_string();
    let output = airlock.command(&["check-sql", "--json", "--run"], &sql);
    let line: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}: {}", case.id, String::from_utf8_lossy(&output.stderr)));
    assert_eq!(line["ok"], true, "{}: {line}", case.id);
    rows(&line["rows"])
}

/// The rows of many truths at once, by id.
fn golds(airlock: &Airlock, cases: &[Case]) -> BTreeMap<String, Vec<Vec<String>>> {
    let lines: Vec<String> = cases
        .iter()
        .filter(|case| case.gold_sql.is_some())
        .map(|case| serde_json::json!({"id": case.id, "sql": case.gold_sql}).to_string())
        .collect();
    let output = airlock.command(&["check-sql", "--json", "--run"], &lines.join("\n"));
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["ok"], true, "{line}");
            (line["id"].as_str().unwrap().to_owned(), rows(&line["rows"]))
        })
        .collect()
}

/// Rows as text, numbers to two places, so that `12.50` and `12.5` are the same amount.
fn rows(value: &Value) -> Vec<Vec<String>> {
    let cell = |cell: &Value| {
        let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        text.parse::<f64>().map_or(text, |number| format!("{number:.2}"))
    };
    value.as_array().unwrap().iter().map(|row| row.as_array().unwrap().iter().map(cell).collect()).collect()
}

/// Whether each gold row is found in the answer, in order where it matters. The answer may have further columns.
fn same(got: &[Vec<String>], gold: &[Vec<String>], ordered: bool) -> bool {
    let covers = |got: &[String], gold: &[String]| gold.iter().all(|cell| got.contains(cell));
    if got.len() != gold.len() {
        return false;
    }
    if ordered {
        return got.iter().zip(gold).all(|(got, gold)| covers(got, gold));
    }
    let mut left: Vec<&Vec<String>> = got.iter().collect();
    gold.iter().all(|gold| match left.iter().position(|got| covers(got, gold)) {
        Some(at) => {
            left.remove(at);
            true
        }
        None => false,
    })
}

async fn judge(airlock: &Airlock) -> Vec<String> {
    let mut wrong = Vec::new();
    for case in cases() {
        let (status, answer) = airlock.ask(&case.question).await;
        let verdict = if status != 200 || answer["outcome"] != case.expect.as_str() {
            Some(format!("{status} {}", answer["outcome"]))
        } else if case.expect == "answered"
            && !same(&rows(&answer["rows"]), &gold(airlock, &case), case.order_matters)
        {
            Some(format!("rows {}", answer["rows"]))
        } else if case.expect == "refused" && answer["reason"].as_str().is_none_or(str::is_empty) {
            Some("refused without a reason".to_owned())
        } else {
            None
        };
        if let Some(verdict) = verdict {
            wrong.push(format!(
                "{} {:?}: {verdict}; {} {}",
                case.id, case.question, answer["reason"], answer["sql"]
            ));
        }
    }
    wrong
}

#[tokio::test]
async fn with_no_model_every_question_comes_out_right() {
    let airlock = Airlock::demo().await;
    let wrong = judge(&airlock).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Right or refused: where a refusal is told to be enough, an answer must still be the right one.
#[tokio::test]
async fn with_no_model_more_questions_are_right_or_refused() {
    let airlock = Airlock::demo().await;
    let cases = cases_of("hardware-shop-more.jsonl");
    let golds = golds(&airlock, &cases);
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for case in &cases {
        let (status, answer) = airlock.ask(&case.question).await;
        let told = format!("{} {:?}: {} {}", case.id, case.question, answer["reason"], answer["sql"]);
        match answer["outcome"].as_str() {
            Some("answered") => {
                let right = case.expect != "refused"
                    && golds
                        .get(&case.id)
                        .is_some_and(|gold| same(&rows(&answer["rows"]), gold, case.order_matters));
                if !right {
                    wrong.push(format!("{told} rows {}", answer["rows"]));
                }
            }
            Some("refused") if case.expect == "answered" => refused.push(told),
            Some("refused") => {}
            _ => wrong.push(format!("{status} {told}")),
        }
    }
    assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
    assert!(refused.is_empty(), "refused, though the kind is plain:\n{}", refused.join("\n"));
}

#[tokio::test]
async fn with_a_model_that_writes_sql_every_question_comes_out_right() {
    let script = cases();
    let model = ScriptedModel::start(move |prompt| {
        let Some(case) = script.iter().find(|case| prompt.contains(&case.question)) else {
            return "I do not know this question.".into();
        };
        match &case.gold_sql {
            _ if prompt.contains("Query result") => Said::Text("The answer is in the rows.".to_owned()),
            Some(sql) => Said::Text(format!("Here is the query:\n```sql\n{sql}\n```")),
            None => Said::Text("CANNOT: the data does not hold it.".to_owned()),
        }
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let wrong = judge(&airlock).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let prompts = model.prompts();
    let first = prompts.iter().find(|prompt| prompt.contains("favourite colour")).unwrap();
    assert!(first.contains("<<<tables "), "the context is in the prompt: {first}");
}
