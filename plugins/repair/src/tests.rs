//! Repair against recorded answers of a small shop.

mod ambiguous;
mod clauses;
mod edits;
mod grouping;
mod keywords;
mod left_out;
mod losses;
mod prompts;
mod rows;
mod spelling;

use airlock_plugin_sdk::contract::linker::Selection;
use airlock_plugin_sdk::contract::planner::Plan;
use airlock_plugin_sdk::contract::repair::ProbeFinding;
use airlock_plugin_sdk::harness::{Recorded, clock, drive, table, table_ref};
use airlock_plugin_sdk::{Attempt, ColumnRef};

use super::*;
use crate::strategies::STRATEGIES;

fn shop() -> Recorded {
    Recorded::new()
        .table(table("bills").synonyms(&["invoice"]).columns(&[
            ("bill_id", "bigint"),
            ("cust_id", "bigint"),
            ("bill_dt", "date"),
            ("total_amt", "numeric(12,2)"),
            ("status", "text"),
        ]))
        .table(table("customers").columns(&[("cust_id", "bigint"), ("name", "text"), ("city", "text")]))
        .table(table("products").columns(&[("prod_id", "bigint"), ("name", "text"), ("price", "numeric")]))
        .table(table("bill_items").columns(&[
            ("bill_id", "bigint"),
            ("prod_id", "bigint"),
            ("qty", "integer"),
        ]))
        .table(table("old_stock").dead().columns(&[("prod_id", "bigint")]))
        .join("bill_items.bill_id", "bills.bill_id")
        .join("bill_items.prod_id", "products.prod_id")
        .join("bills.cust_id", "customers.cust_id")
}

/// An input whose failure points at `>` in the text, which is taken out.
fn input(error_type: &str, message: &str, marked: &str) -> RepairInput {
    let position = marked.find('>').filter(|at| !marked[*at..].starts_with(">=") && !marked.contains("<>"));
    let (sql, position) = match position {
        Some(at) => (marked.replacen('>', "", 1), Some(marked[..at].chars().count() as u32 + 1)),
        None => (marked.to_owned(), None),
    };
    let failure = Failure {
        error_type: error_type.into(),
        message: message.into(),
        hint: None,
        sqlstate: None,
        position,
        repairable: true,
        sql: sql.clone(),
    };
    RepairInput {
        question: "?".into(),
        clock: clock("2026-07-15"),
        plan: Plan {
            intent: "data".into(),
            steps: vec![],
            keywords: vec![],
            measures: vec![],
            filters: vec![],
            time: vec![],
            grouping: vec![],
            order: vec![],
            limit: None,
            assumptions: vec![],
            attributes: vec![],
        },
        selection: Selection { tables: vec![], joins: vec![], attributes: vec![] },
        attempts: vec![Attempt {
            sql,
            origin: "generator".into(),
            failure: Some(failure.clone()),
            row_count: None,
            duration_ms: 1,
        }],
        failure,
        probe: None,
        context: vec![],
        remaining: 2,
        width: 5,
        model_available: false,
        attributes: vec![],
    }
}

fn run(host: &Recorded, input: &RepairInput) -> RepairStep {
    drive([], |exchanges| EditThenAsk::run(host, input.clone(), exchanges)).end.unwrap()
}

fn rewritten(host: &Recorded, input: &RepairInput) -> Option<String> {
    match run(host, input) {
        RepairStep::Rewrite(rewrite) => {
            assert!(rewrite.change.ends_with('.') && rewrite.reason.ends_with('.'), "{rewrite:?}");
            Some(rewrite.sql)
        }
        RepairStep::Stop(stop) => {
            assert!(!stop.reason.is_empty());
            None
        }
        other => panic!("without a model there is nothing else: {other:?}"),
    }
}

fn rejection(code: &str, message: &str, position: u32) -> Rejection {
    Rejection { code: code.into(), message: message.into(), hint: None, position: Some(position) }
}

#[test]
fn several_mistakes_cost_one_attempt() {
    let failed = input("unknown_table", "relation \"bill\" does not exist", "SELECT b.totl_amt FROM >bill b");
    let between = "SELECT b.totl_amt FROM bills b";
    let host =
        shop().verdict(between, Err(rejection("unknown-column", "column b.totl_amt does not exist", 8)));
    assert_eq!(rewritten(&host, &failed).as_deref(), Some("SELECT b.total_amt FROM bills b"));
}

#[test]
fn nothing_is_offered_that_would_fail_again() {
    let failed = input("unknown_column", "column \"nmae\" does not exist", "SELECT >nmae FROM customers");
    let right = "SELECT name FROM customers";

    // Tried before.
    let mut again = failed.clone();
    again.attempts.push(Attempt {
        sql: "select  name from customers;".into(),
        origin: "generator".into(),
        failure: None,
        row_count: Some(0),
        duration_ms: 1,
    });
    assert_eq!(rewritten(&shop(), &again), None);
    // Not readable.
    assert_eq!(rewritten(&shop().unreadable(right), &failed), None);
    // Refused by the gate for another reason, which no edit repairs.
    let forbidden = shop().verdict(right, Err(rejection("forbidden-function", "no", 1)));
    assert_eq!(rewritten(&forbidden, &failed), None);
    // The same complaint again.
    let same = shop().verdict(right, Err(rejection("unknown-column", "column \"nmae\" does not exist", 8)));
    assert_eq!(rewritten(&same, &failed), None);
}

#[test]
fn a_model_is_told_what_the_strategy_knows() {
    let mut failed =
        input("unknown_column", "column b.colour does not exist", "SELECT >b.colour FROM bills b");
    failed.model_available = true;
    match run(&shop(), &failed) {
        RepairStep::Widen(Widen { width: 9, instructions }) => {
            assert!(instructions.contains("column b.colour does not exist"), "{instructions}");
            assert!(
                instructions.contains("bills has bill_id, cust_id, bill_dt, total_amt, status"),
                "{instructions}"
            );
        }
        other => panic!("{other:?}"),
    }
    failed.width = 9;
    assert!(matches!(run(&shop(), &failed), RepairStep::Regenerate(_)));

    // An edit goes before the model.
    let mut near = input("unknown_column", "column b.statu does not exist", "SELECT >b.statu FROM bills b");
    near.model_available = true;
    assert!(matches!(run(&shop(), &near), RepairStep::Rewrite(_)));
}

#[test]
fn what_cannot_be_repaired_is_left_with_a_reason() {
    let mut unrepairable =
        input("permission_denied", "permission denied for table bills", "SELECT 1 FROM bills");
    unrepairable.failure.repairable = false;
    unrepairable.model_available = true;
    let mut unheard = input("unknown", "internal error", "SELECT 1");
    unheard.model_available = true;
    let mut spent = input("syntax_error", "syntax error", "SELECT `a` FROM bills");
    spent.remaining = 0;
    // An empty answer that nothing speaks against is an answer, whoever could be asked.
    let mut empty = input("empty_result", "no row", "SELECT 1 FROM bills WHERE status = 'x'");
    empty.model_available = true;
    for (input, part) in [
        (unrepairable, "permission_denied"),
        (unheard, "unknown"),
        (spent, "No attempt is left"),
        (empty, "no other spelling"),
        (input("timeout", "canceling statement", "SELECT 1 FROM bills"), "no model is there"),
    ] {
        match run(&shop(), &input) {
            RepairStep::Stop(stop) => assert!(stop.reason.contains(part), "{}", stop.reason),
            other => panic!("{other:?}"),
        }
    }
}

/// The words of the contract for a failure that can be repaired; `unknown` is the one that never is.
const REPAIRABLE: [&str; 21] = [
    "syntax_error",
    "unknown_column",
    "unknown_table",
    "ambiguous_column",
    "ambiguous_function",
    "unknown_function",
    "stray_parameter",
    "type_mismatch",
    "grouping_error",
    "windowing_error",
    "invalid_reference",
    "unsupported",
    "cardinality_violation",
    "division_by_zero",
    "out_of_range",
    "timeout",
    "resource",
    "too_complex",
    "empty_result",
    "finding",
    "duplicate_draft",
];

#[test]
fn every_repairable_failure_has_one_strategy() {
    let contract = include_str!("../../../wit/types.wit");
    for word in REPAIRABLE {
        assert!(contract.contains(&format!("`{word}`")), "{word} is no word of the contract");
        assert_eq!(STRATEGIES.iter().filter(|known| known.error_type == word).count(), 1, "{word}");
        let mut failed = input(word, "something failed", "SELECT 1 FROM bills");
        failed.model_available = true;
        failed.probe = Some(ProbeFinding {
            column: ColumnRef { table: table_ref("bills"), column: "status".into() },
            literal: "paid".into(),
            spellings: vec!["PAID".into(), "Paid".into()],
            rows_without: None,
        });
        match run(&shop(), &failed) {
            RepairStep::Regenerate(Regenerate { instructions })
            | RepairStep::Widen(Widen { instructions, .. }) => {
                assert!(instructions.contains("something failed"), "{instructions}");
            }
            other => panic!("{word}: {other:?}"),
        }
    }
    // And the contract lists no word that was forgotten here.
    let listed = contract.split("`error-type` is an open set of words:").nth(1).unwrap();
    let listed = listed.split("A stage treats").next().unwrap();
    let words: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    for word in words {
        assert!(word == "unknown" || REPAIRABLE.contains(&word), "{word} has no strategy");
    }
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "SELECT", "(", ")", "'", "\"", "`", "a.", ".b", ",", "FROM", "JOIN", ";", "[", "/*", "TOP", "5",
        "==", "GROUP BY", "é",
    ];
    let words: Vec<&str> = STRATEGIES.iter().map(|strategy| strategy.error_type).collect();
    // Every pair and triple of pieces, with the place at every piece.
    for (n, a) in pieces.iter().enumerate() {
        for b in pieces {
            for c in pieces {
                let sql = format!("{a} {b} {c}");
                let word = words[(n + b.len() + c.len()) % words.len()];
                let mut failed = input(word, "column \"a\" does not exist: text = integer", "x");
                failed.failure.position = Some((n as u32 % 9) + 1);
                failed.failure.sql = sql;
                run(&shop(), &failed);
            }
        }
    }
}
