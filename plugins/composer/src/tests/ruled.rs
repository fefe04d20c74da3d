//! Rules written as sentences in the glossary.

use airlock_plugin_sdk::harness::Recorded;

use super::library::library;
use super::{check, line};

/// A library with one rule. Its name is a word of every question asked here.
fn with(rule: &str) -> Recorded {
    library().term("readers", &["books", "members", "ALP"], rule)
}

#[test]
fn rules_are_followed() {
    for (rule, question, want) in [
        ("ALP = average loan fine", "What is the ALP?", "SELECT avg(l.fine) AS average_fine FROM loan AS l"),
        (
            "heavy refers to pages > 500",
            "How many heavy books are there?",
            "SELECT count(*) AS book_count FROM book AS b WHERE b.pages > 500",
        ),
        (
            "locals refers to town = 'leeds' and branch.branchid = member.branchid",
            "How many members are locals?",
            "SELECT count(*) AS member_count FROM member AS m JOIN branch AS b ON b.branchid = m.branchid WHERE b.town = 'Leeds'",
        ),
        (
            "still out refers to returned_on IS NULL",
            "How many books are still out?",
            "SELECT count(*) AS book_count FROM book AS b WHERE EXISTS ( SELECT 1 FROM loan AS l WHERE b.bookid = l.bookid AND l.returned_on IS NULL)",
        ),
        (
            "Match names using wildcards",
            "members with full name \"Ann\"",
            "SELECT m.fullname FROM member AS m WHERE m.fullname ILIKE '%Ann%' ORDER BY m.fullname, m.memberid",
        ),
        ("Be kind to readers.", "How many books are there?", "SELECT count(*) AS book_count FROM book AS b"),
    ] {
        check(&with(rule), &[(question, want)]);
    }
}

#[test]
fn a_formula_is_no_phrase() {
    let got = line(&with("ALP = sum(fine) / count(loan)"), "What is the ALP per branch?");
    assert!(got.starts_with("refused: "), "{got}");
}
