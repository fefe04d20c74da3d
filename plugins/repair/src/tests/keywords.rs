//! Keywords and parentheses, against a host that reads only the texts it is given.

use airlock_plugin_sdk::contract::sql::Rejection;
use airlock_plugin_sdk::harness::Recorded;

use super::{RepairInput, RepairStep, input, run, shop};
use crate::strategies::STRATEGIES;

/// A host to which each text that a case might try is unreadable, but for the ones that are right.
fn reads(failed: &RepairInput, right: &[&str]) -> Recorded {
    let mut host = shop();
    // What is tried is what the repair asks about; a run against a host that reads nothing brings it to light.
    for text in tried(failed) {
        if !right.iter().any(|right| squeezed(right) == squeezed(&text)) {
            let no = Rejection { code: "syntax".into(), message: "no".into(), hint: None, position: None };
            host = host.unreadable(&text).verdict(&text, Err(no));
        }
    }
    host
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every text with one word put in, taken out of its misspelling, or one parenthesis closed.
fn tried(failed: &RepairInput) -> Vec<String> {
    let sql = &failed.failure.sql;
    let words = ["BY", "ON", "FROM", "WHERE", "THEN", "END", "AND", "OR", "SELECT"];
    let mut texts = Vec::new();
    for at in (0..=sql.len()).filter(|at| sql.is_char_boundary(*at)) {
        texts.extend(words.iter().map(|word| format!("{} {word} {}", &sql[..at], &sql[at..])));
        texts.push(format!("{}){}", &sql[..at], &sql[at..]));
    }
    texts
}

fn repaired(marked: &str, right: &[&str]) -> Option<String> {
    let failed = input("syntax_error", "syntax error at or near", marked);
    match run(&reads(&failed, right), &failed) {
        RepairStep::Rewrite(rewrite) => Some(squeezed(&rewrite.sql)),
        _ => None,
    }
}

#[test]
fn the_one_keyword_that_makes_it_readable_is_put_in() {
    for (marked, right, want) in [
        ("SELECT name FROM customers ORDER >name", vec!["SELECT name FROM customers ORDER BY name"], true),
        (
            "SELECT 1 FROM bills b JOIN customers c >b.cust_id = c.cust_id",
            vec!["SELECT 1 FROM bills b JOIN customers c ON b.cust_id = c.cust_id"],
            true,
        ),
        (
            "SELECT name FROM customers WHERE city = 'x' >name = 'y'",
            vec![
                "SELECT name FROM customers WHERE city = 'x' AND name = 'y'",
                "SELECT name FROM customers WHERE city = 'x' OR name = 'y'",
            ],
            false,
        ),
    ] {
        let got = repaired(marked, &right);
        assert_eq!(got.as_deref(), want.then(|| right[0]), "{marked}");
    }
}

#[test]
fn a_misspelt_keyword_is_known_again() {
    for (marked, want) in [
        (">SELCT name FROM customers", Some("SELECT name FROM customers")),
        ("SELECT name FORM >customers", Some("SELECT name FROM customers")),
        ("SELECT name FROM customers WEHRE >city = 'x'", Some("SELECT name FROM customers WHERE city = 'x'")),
        ("SELECT name FROM customers GRUOP >BY name", Some("SELECT name FROM customers GROUP BY name")),
        // Another statement is none that was misspelt.
        ("SELECT 1 FROM bills; >DROP TABLE bills", None),
        (">DROP TABLE bills", None),
    ] {
        assert_eq!(repaired(marked, &[]).as_deref(), want, "{marked}");
    }
}

#[test]
fn a_parenthesis_is_closed_where_only_one_place_will_do() {
    for (marked, right, want) in [
        ("SELECT count(* >FROM bills", vec!["SELECT count(*) FROM bills"], true),
        ("SELECT count(*) FROM (SELECT 1", vec!["SELECT count(*) FROM (SELECT 1)"], true),
        (
            "SELECT 1 FROM bills WHERE (status = 'x' OR status = 'y' AND bill_id = 1",
            vec![
                "SELECT 1 FROM bills WHERE (status = 'x' OR status = 'y') AND bill_id = 1",
                "SELECT 1 FROM bills WHERE (status = 'x' OR status = 'y' AND bill_id = 1)",
            ],
            false,
        ),
    ] {
        let got = repaired(marked, &right);
        assert_eq!(got.as_deref(), want.then(|| right[0]), "{marked}");
    }
}

#[test]
fn every_strategy_with_edits_or_without_has_words() {
    for strategy in STRATEGIES {
        assert!(strategy.advice.len() > 20 && strategy.advice.ends_with('.'), "{}", strategy.error_type);
    }
}
