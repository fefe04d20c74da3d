//! The equipment fleet through the real binary: its adapter finds machines however they are spelt, blocks what the domain forbids,
//! warns of what it only doubts, and stops every answer when it cannot be heard.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;

use airlock_tests::{Airlock, NOW, Said, ScriptedModel, adapter_that_traps, components, workspace};
use airlock_types::ContentHash;
use serde_json::{Value, json};

const PACK: &str = "equipment-fleet";

async fn fleet() -> Airlock {
    Airlock::of_pack(PACK, &components(), &[]).await
}

/// A fleet whose model answers the prompts of one question by this script, and no other.
async fn fleet_asking(question: &'static str, script: fn(&str) -> &'static str) -> (Airlock, ScriptedModel) {
    let model = ScriptedModel::start(move |prompt| match prompt {
        _ if prompt.contains("Query result") => "The answer is in the rows.".into(),
        _ if prompt.contains(question) => Said::Text(format!("```sql\n{}\n```", script(prompt))),
        _ => "I do not know this question.".into(),
    })
    .await;
    let variables = [("AIRLOCK_MODEL_URL", model.url.as_str()), ("AIRLOCK_MODEL", "scripted")];
    let airlock = Airlock::of_pack(PACK, &components(), &variables).await;
    (airlock, model)
}

/// What a text gives, through the same binary.
fn rows(airlock: &Airlock, sql: &str) -> Value {
    let output =
        airlock.command(&["check-sql", "--json", "--run"], &json!({"id": 1, "sql": sql}).to_string());
    let line: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{sql}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(line["ok"], true, "{sql}: {line}");
    line["rows"].clone()
}

#[tokio::test]
async fn a_machine_is_found_however_it_is_spelt() {
    let airlock = fleet().await;
    let truth = rows(
        &airlock,
        "SELECT sum(down_hours) FROM downtimes WHERE machine_key = 'MK-00412' AND down_from >= TIMESTAMPTZ '2024-01-01' \
         AND down_from < TIMESTAMPTZ '2025-01-01'",
    );
    for spelling in ["MK-00412", "SN-00412", "sn 412", "S/N 00412-A", "Serial no. 412", "s/n:412"] {
        let (status, answer) = airlock.ask(&format!("What was the downtime of {spelling} in 2024?")).await;
        assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{spelling}: {answer}");
        assert!(answer["sql"].as_str().unwrap().contains("'MK-00412'"), "{spelling}: {answer}");
        assert_eq!(answer["rows"], truth, "{spelling}: {answer}");
        let took_part = answer["components"].as_array().unwrap().iter();
        let adapters: Vec<&Value> = took_part.filter(|used| used["stage"] == "domain").collect();
        assert_eq!(adapters.len(), 1, "{answer}");
        assert_eq!(adapters[0]["component"], PACK);
    }
}

#[tokio::test]
async fn a_scan_for_a_serial_is_blocked_and_repaired() {
    let question = "How often was sn 412 in the workshop?";
    let (airlock, model) = fleet_asking(question, |prompt| {
        if prompt.contains("raw-serial-scan") {
            "SELECT count(*) FROM work_orders WHERE machine_key = 'MK-00412'"
        } else {
            "SELECT count(*) FROM work_orders WHERE lower(complaint_text) LIKE '%sn 412%'"
        }
    })
    .await;
    let (status, answer) = airlock.ask(question).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    assert_eq!(answer["attempts"], 2, "{answer}");
    assert_eq!(answer["history"][0]["error_type"], "finding", "{answer}");
    assert!(answer["history"][0]["hint"].as_str().unwrap().contains("machine_key"), "{answer}");
    let told = |prompt: &String| prompt.contains("<<<entities ") && prompt.contains("'MK-00412'");
    assert!(model.prompts().iter().any(told), "a model is told the key: {:#?}", model.prompts());
    drop(airlock);

    // One that writes the scan again and again gives up, and the scan has never run.
    let question = "How often was SN-00412 in the workshop?";
    let (airlock, _model) =
        fleet_asking(question, |prompt| match prompt.matches("raw-serial-scan").count() {
            0 => "SELECT count(*) FROM work_orders WHERE complaint_text LIKE '%00412%'",
            _ => "SELECT count(*) FROM work_orders WHERE strpos(complaint_text, 'SN-00412') > 0",
        })
        .await;
    let (status, answer) = airlock.ask(question).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("gave_up")), "{answer}");
    assert!(
        answer["history"].as_array().unwrap().iter().all(|attempt| attempt["row_count"].is_null()),
        "{answer}"
    );
}

#[tokio::test]
async fn readings_of_all_time_are_blocked_and_repaired() {
    let question = "How much fuel did the fleet burn?";
    let (airlock, _model) = fleet_asking(question, |prompt| {
        if prompt.contains("unbounded-time") {
            "SELECT sum(fuel_litres) FROM meter_readings WHERE read_on >= DATE '2026-01-01' AND read_on < DATE '2027-01-01'"
        } else {
            "SELECT sum(fuel_litres) FROM meter_readings"
        }
    })
    .await;
    let (status, answer) = airlock.ask(question).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    assert_eq!(answer["history"][0]["error_type"], "finding", "{answer}");
    assert_eq!(answer["warnings"], json!([]), "{answer}");
}

#[tokio::test]
async fn a_warning_travels_with_the_answer() {
    let question = "What is the sum of all invoices of 2025?";
    let (airlock, _model) = fleet_asking(question, |_| {
        "SELECT sum(net_amount) FROM invoices WHERE issued_on >= DATE '2025-01-01' AND issued_on < DATE '2026-01-01'"
    })
    .await;
    let (status, answer) = airlock.ask(question).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    assert_eq!(answer["attempts"], 1, "{answer}");
    assert_eq!(answer["warnings"], json!(["Draft and void invoices are in this figure."]), "{answer}");
}

#[tokio::test]
async fn an_adapter_that_traps_stops_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    trapping(&components(), folder.path());
    let airlock = Airlock::of_pack(PACK, folder.path(), &[]).await;
    let (status, problem) = airlock.ask("How many customers do we have?").await;
    assert!(status >= 500, "{status} {problem}");
    assert_eq!(problem["outcome"], "failed", "{problem}");
    // The text was never run, so it is no attempt that failed.
    assert_eq!(problem["history"], json!([]), "{problem}");
    assert!(!problem.to_string().contains("unreachable"), "the trap is the operator's: {problem}");
}

/// Copies a folder of components, the adapter replaced by one that traps.
fn trapping(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    let adapter = adapter_that_traps();
    std::fs::write(to.join(format!("{PACK}.wasm")), &adapter).unwrap();
    let file = to.join("grants.toml");
    let grants = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = grants.split_once(&format!("component = \"{PACK}\"\n")).unwrap();
    let (_old, after) = rest.split_once('\n').unwrap();
    let granted =
        format!("{before}component = \"{PACK}\"\ndigest = \"{}\"\n{after}", ContentHash::of(&adapter));
    std::fs::write(file, granted).unwrap();
}

/// Golden and evaluation cases of the pack, through the composer: none is answered wrongly, and most of the golden ones come out right.
#[tokio::test]
async fn no_question_of_the_pack_is_answered_wrongly() {
    let airlock = fleet().await;
    let mut told = Vec::new();
    let (mut right, mut wrong) = (0, 0);
    for file in ["golden.jsonl", "evaluation.jsonl"] {
        let text = std::fs::read_to_string(workspace().join("domains").join(PACK).join(file)).unwrap();
        for case in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let (_, answer) = airlock.post(&json!({"question": case["question"], "now": NOW})).await;
            let outcome = answer["outcome"].as_str().unwrap();
            let accepted = case["accepted_sql"].as_array().into_iter().flatten();
            let gold = case["sql"].as_str().into_iter().chain(accepted.filter_map(Value::as_str));
            let gold: Vec<Value> = gold.map(|sql| rows(&airlock, sql)).collect();
            let verdict = match outcome {
                "answered" if gold.iter().any(|gold| covers(&answer["rows"], gold)) => "right",
                "answered" => "wrong",
                _ if gold.is_empty() => "right",
                _ => "not answered",
            };
            right += usize::from(verdict == "right");
            wrong += usize::from(verdict == "wrong");
            told.push(format!("{file} {}: {verdict}; {} {}", case["id"], answer["sql"], answer["reason"]));
        }
    }
    let told = told.join("\n");
    println!("{told}");
    assert_eq!(wrong, 0, "{told}");
    assert!(right >= 16, "{right}\n{told}");
}

/// Whether both have the same rows, in any order; the answer may have further columns.
fn covers(got: &Value, gold: &Value) -> bool {
    let cell = |cell: &Value| {
        let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        text.parse::<f64>().map_or(text, |number| format!("{number:.2}"))
    };
    let rows = |value: &Value| -> Vec<Vec<String>> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row.as_array().unwrap().iter().map(cell).collect())
            .collect()
    };
    let (mut got, gold) = (rows(got), rows(gold));
    got.len() == gold.len()
        && gold.iter().all(|gold| {
            let at = got.iter().position(|got| gold.iter().all(|cell| got.contains(cell)));
            at.map(|at| got.remove(at)).is_some()
        })
}
