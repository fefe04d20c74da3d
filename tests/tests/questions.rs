//! The shop's questions: answered right with no model at all, and through a model that writes the SQL.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::{Airlock, Said, ScriptedModel, workspace};
use serde::Deserialize;
use serde_json::Value;

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
    let text = std::fs::read_to_string(workspace().join("tests/questions/hardware-shop.jsonl")).unwrap();
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
