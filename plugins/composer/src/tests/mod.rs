//! Questions and the SQL they must compose to, over schemas of different shapes; and what must be refused.

mod clinic;
mod entities;
mod lessons;
mod library;
mod market;
mod quotients;
mod ruled;
mod shop;
mod speech;
mod talk;

use airlock_plugin_sdk::contract::generator::{GenerateInput, GenerateStep};
use airlock_plugin_sdk::contract::linker::{SelectedTable, Selection};
use airlock_plugin_sdk::contract::planner::Plan;
use airlock_plugin_sdk::harness::{Recorded, clock};
use airlock_plugin_sdk::{Generator, Host};

use super::Composer;

fn input(host: &Recorded, question: &str) -> GenerateInput {
    let tables = host.tables().into_iter().map(|summary| SelectedTable {
        table: summary.table,
        columns: Vec::new(),
        reason: "It is there.".into(),
        score: 1.0,
    });
    GenerateInput {
        question: question.into(),
        clock: clock("2026-08-20"),
        plan: Plan {
            intent: "data".into(),
            steps: Vec::new(),
            keywords: Vec::new(),
            measures: Vec::new(),
            filters: Vec::new(),
            time: Vec::new(),
            grouping: Vec::new(),
            order: Vec::new(),
            limit: None,
            assumptions: Vec::new(),
            attributes: Vec::new(),
        },
        selection: Selection { tables: tables.collect(), joins: Vec::new(), attributes: Vec::new() },
        context: Vec::new(),
        attempts: Vec::new(),
        instructions: None,
        prior: None,
        row_cap: 200,
        model_available: false,
        attributes: Vec::new(),
    }
}

fn run(host: &Recorded, question: &str) -> GenerateStep {
    Composer::run(host, input(host, question), Vec::new()).unwrap()
}

/// The SQL on one line, or why there is none.
fn line(host: &Recorded, question: &str) -> String {
    match run(host, question) {
        GenerateStep::Done(draft) => draft.sql.split_whitespace().collect::<Vec<_>>().join(" "),
        GenerateStep::Refuse(refusal) => format!("refused: {}", refusal.reason),
        GenerateStep::Ask(_) => "asks".into(),
    }
}

/// Every question must compose to its SQL.
fn check(host: &Recorded, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(question, want)| {
            let got = line(host, question);
            (got != *want).then(|| format!("{question}\n   got  {got}\n   want {want}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every question must be refused with these words missing.
fn refuses(host: &Recorded, cases: &[(&str, &[&str])]) {
    for (question, want) in cases {
        match run(host, question) {
            GenerateStep::Refuse(refusal) => {
                assert_eq!(refusal.missing, *want, "{question}: {}", refusal.reason)
            }
            GenerateStep::Done(draft) => panic!("{question} was answered: {}", draft.sql),
            GenerateStep::Ask(_) => panic!("{question} asks"),
        }
    }
}
