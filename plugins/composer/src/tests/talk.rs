//! Questions that follow another one, and verified examples asked with other values.

use airlock_plugin_sdk::Generator;
use airlock_plugin_sdk::contract::generator::GenerateStep;
use airlock_plugin_sdk::harness::{Recorded, input_turn};

use super::library::library;
use super::shop::shop;
use super::{Composer, input};

fn follow(host: &Recorded, before: &str, question: &str) -> String {
    let mut input = input(host, question);
    input.prior = Some(input_turn(before, "SELECT 1"));
    match Composer::run(host, input, Vec::new()).unwrap() {
        GenerateStep::Done(draft) => draft.sql.split_whitespace().collect::<Vec<_>>().join(" "),
        GenerateStep::Refuse(refusal) => format!("refused: {}", refusal.reason),
        GenerateStep::Ask(_) => "asks".into(),
    }
}

#[test]
fn follow_ups_change_one_thing() {
    for (before, question, whole) in [
        ("turnover in 2026", "and by month?", "turnover in 2026 by month"),
        ("turnover in 2026", "only for July 2026", "turnover for July 2026"),
        ("turnover by month in 2026", "and by customer?", "turnover by customer in 2026"),
        ("How many customers do we have?", "what about products?", "How many products do we have?"),
        ("turnover in 2026", "turnover in 2025", "turnover in 2025"),
        ("turnover in 2026", "monthly", "turnover in 2026 monthly"),
    ] {
        let host = shop();
        assert_eq!(follow(&host, before, question), super::line(&host, whole), "{before} / {question}");
    }
}

#[test]
fn a_follow_up_that_is_not_plain_is_refused() {
    for (before, question) in [
        ("turnover in 2026", "and why?"),
        ("turnover in 2026", "and the best ones of last year?"),
        ("What colour is the sky?", "and by month?"),
        ("turnover in 2026", "what about the weather?"),
    ] {
        let got = follow(&shop(), before, question);
        assert!(got.starts_with("refused: "), "{before} / {question}: {got}");
    }
}

fn examples() -> Recorded {
    library()
        .example(
            "How many loans to readers in Leeds in 2025?",
            "SELECT count(*) FROM loan l JOIN member m USING (memberid) JOIN branch b USING (branchid) WHERE b.town = 'Leeds' AND l.loandate >= DATE '2025-01-01' AND l.loandate < DATE '2026-01-01'",
        )
        .example(
            "Which books were borrowed more than 10 times?",
            "SELECT title FROM book JOIN loan USING (bookid) GROUP BY title, bookid HAVING count(*) > 10 LIMIT 10",
        )
}

#[test]
fn examples_take_other_values() {
    for (question, want) in [
        (
            "How many loans to readers in York in 2024?",
            "SELECT count(*) FROM loan l JOIN member m USING (memberid) JOIN branch b USING (branchid) WHERE b.town = 'York' AND l.loandate >= DATE '2024-01-01' AND l.loandate < DATE '2025-01-01'",
        ),
        (
            "how many loans to readers in Leeds in 2026",
            "SELECT count(*) FROM loan l JOIN member m USING (memberid) JOIN branch b USING (branchid) WHERE b.town = 'Leeds' AND l.loandate >= DATE '2026-01-01' AND l.loandate < DATE '2027-01-01'",
        ),
    ] {
        assert_eq!(super::line(&examples(), question), want, "{question}");
    }
}

#[test]
fn a_number_is_taken_with_its_sign() {
    let host = library().example(
        "How many loans with a fine of more than 30?",
        "SELECT count(*) AS dear FROM loan l WHERE l.fine > 30",
    );
    for (question, want) in [
        ("How many loans with a fine of more than 40?", Some("fine > 40")),
        ("How many loans with a fine of more than -30?", Some("fine > -30")),
        ("How many loans with a fine of more than \u{2212}40?", Some("fine > -40")),
        ("How many loans with a fine of more than - 40?", None),
    ] {
        let got = super::line(&host, question);
        match want {
            Some(want) => assert!(got.contains("dear") && got.ends_with(want), "{question}: {got}"),
            None => assert!(!got.contains("dear"), "{question}: {got}"),
        }
    }
}

#[test]
fn a_value_that_stands_twice_is_not_bound() {
    // The number is a limit too, so which of the two is meant is not known.
    let got = super::line(&examples(), "Which books were borrowed more than 20 times?");
    assert!(!got.contains("LIMIT 10"), "{got}");
    let got = super::line(&examples(), "Which writers were borrowed more than 10 times?");
    assert!(!got.contains("LIMIT 10"), "{got}");
}
