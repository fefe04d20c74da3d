//! What retrieval finds, and what it must never show, on a small domain; and that no question of any kind panics.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test needs and does not find ends it"
)]

mod support;

use std::sync::{Arc, OnceLock};

use airlock_knowledge::{ColumnClass, Knowledge, Pack};
use airlock_types::{ColumnRef, TableRef};
use proptest::prelude::*;

const DOMAIN: &str = r#"
format = 1
title = "Library"
source = "library"
schemas = ["public"]
[egress]
samples = ["loans.state", "books.title"]
values = ["loans.state", "books.title"]
"#;

const NOTES: &str = r#"
[tables.loans]
purpose = "One row each time a book leaves the house."
synonyms = ["borrowing"]
time_column = "out_dt"
covers = { from = "2020-01-01" }
[tables.loans.columns]
out_dt = { note = "The day it left." }
[tables.loans_2019]
purpose = "Loans of 2019."
in_use = false
"#;

const GLOSSARY: &str = r#"
[[term]]
name = "fines"
definition = "Money asked for books that came back late."
[[term.metric]]
table = "loans"
sql = "sum(loans.fine_amt)"
[[term]]
name = "open fines"
synonyms = ["unpaid fines", "未払い"]
definition = "Fines that nobody paid yet."
[[term.metric]]
table = "loans"
sql = "sum(loans.fine_amt)"
filter = "loans.state = 'LATE'"
[[term]]
name = "weeding"
definition = "Taking books that nobody borrows off the shelves."
"#;

const LESSONS: &str = r#"
[[lesson]]
kind = "schema-map"
text = "A book with several copies has one row in books."
trigger = "number of copies"
tags = ["copies"]
"#;

const SCHEMA: &str = "
    CREATE TABLE books (book_id int PRIMARY KEY, title text, isbn text, shelf_cd text);
    CREATE TABLE members (member_id int PRIMARY KEY, name text, email text, pin text);
    CREATE TABLE loans (loan_id int PRIMARY KEY, book_id int NOT NULL, member_id int, out_dt date, state text, fine_amt numeric);
    CREATE TABLE loans_2019 (loan_id int, book_id int, state text);
";

fn public(table: &str) -> TableRef {
    TableRef::new("public", table)
}

fn column(table: &str, column: &str) -> ColumnRef {
    ColumnRef { table: public(table), column: column.into() }
}

fn knowledge() -> &'static Knowledge {
    static KNOWLEDGE: OnceLock<Knowledge> = OnceLock::new();
    KNOWLEDGE.get_or_init(|| {
        let files = [
            ("domain.toml", DOMAIN),
            ("notes.toml", NOTES),
            ("glossary.toml", GLOSSARY),
            ("lessons.toml", LESSONS),
            ("docs/rules.md", "# Fines\n\nA late book costs a coin a day. Children pay nothing.\n"),
            ("golden.jsonl", r#"{"id":"late","question":"How many loans are late?","sql":"SELECT count(*) FROM loans WHERE state = 'LATE'"}"#),
        ];
        let pack = Pack::from_files("library", files.map(|(path, text)| (path, text.as_bytes().to_vec()))).unwrap();
        let list = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        let long = "A very long title that nobody would ever want to read to its end";
        let values = vec![
            (column("loans", "state"), list(&["OUT", "BACK", "LATE"])),
            (column("books", "title"), list(&["The Old Man and the Sea", "Moby\u{200b} Dick", long])),
            // Whoever read these should not have.
            (column("members", "email"), list(&["ann@example.org"])),
            (column("members", "name"), list(&["Ann Smith"])),
        ];
        Knowledge::new(&pack, Arc::new(support::catalogue(SCHEMA)), values).unwrap()
    })
}

#[test]
fn tables_are_found_by_name_synonym_note_column_and_value() {
    for (question, want, matched) in [
        ("How many books?", "books", "books"),
        ("borrowings by month", "loans", "borrowings"),
        ("What left the house?", "loans", "left"),
        ("codes of shelves", "books", "codes"),
        ("Who has the old man and the sea?", "books", "the old man and the sea"),
        ("memebrs", "members", "memebrs"),
        ("Wie viele Bücher? (books)", "books", "books"),
    ] {
        let hits = knowledge().tables(question, 3);
        let hit = hits.first().unwrap_or_else(|| panic!("nothing for {question}"));
        assert_eq!(hit.table, public(want), "{question}: {hits:?}");
        assert!(hit.matched.iter().any(|word| word == matched), "{question}: {hit:?}");
    }
    assert!(knowledge().tables("weather in Oslo", 5).is_empty());
    assert_eq!(knowledge().tables("books members loans", 2).len(), 2);
}

#[test]
fn values_of_columns_that_may_not_be_seen_are_dropped_whoever_read_them() {
    assert!(knowledge().values("ann@example.org Ann Smith", 50).is_empty());
    assert!(knowledge().tables("Ann Smith", 50).is_empty());
    let members = knowledge().view(&public("members")).unwrap();
    assert!(members.columns.iter().all(|column| column.samples.is_empty()));
    let classes: Vec<ColumnClass> = members.columns.iter().map(|column| column.class).collect();
    assert_eq!(
        classes,
        [ColumnClass::Plain, ColumnClass::Personal, ColumnClass::Personal, ColumnClass::Secret]
    );
}

#[test]
fn samples_are_short_and_hold_nothing_hidden() {
    let title = knowledge().view(&public("books")).unwrap().column("title").unwrap();
    assert_eq!(title.samples.len(), 2, "{:?}", title.samples);
    assert!(title.samples.iter().all(|sample| sample.chars().count() <= 40));
    assert_eq!(title.samples[0], "The Old Man and the Sea");
}

#[test]
fn a_view_merges_notes_with_the_catalogue() {
    let loans = knowledge().view(&public("loans")).unwrap();
    assert_eq!(loans.description, "One row each time a book leaves the house.");
    assert_eq!(loans.time_column.as_deref(), Some("out_dt"));
    assert_eq!(loans.covers.as_ref().unwrap().from.as_deref(), Some("2020-01-01"));
    assert_eq!(loans.column("out_dt").unwrap().description, "The day it left.");
    let path = knowledge().join_path(&public("members"), &public("books"), 6);
    assert_eq!(path.len(), 2);
    assert!(path.iter().all(|join| !join.verified() && join.many_to_one), "no foreign key says so: {path:?}");
}

#[test]
fn the_longest_phrase_names_the_term() {
    for (question, want, named) in [
        ("What are the open fines?", "open fines", true),
        ("unpaid fines of children", "open fines", true),
        ("sum of fines", "fines", true),
        ("未払いの合計は", "open fines", true),
        ("Which books does nobody borrow?", "weeding", false),
    ] {
        let hits = knowledge().glossary(question, 3);
        let hit = hits.first().unwrap_or_else(|| panic!("nothing for {question}"));
        assert_eq!((hit.term.name.as_str(), hit.named), (want, named), "{question}: {hits:?}");
    }
    let hit = knowledge().glossary("unpaid fines of children", 1).remove(0);
    assert_eq!(hit.matched, "unpaid fines");
    assert_eq!(hit.term.filter_sql.as_deref(), Some("loans.state = 'LATE'"));
}

#[test]
fn columns_values_lessons_examples_and_passages_are_found() {
    let columns = knowledge().columns("date out", 3);
    assert_eq!(columns[0].column, column("loans", "out_dt"), "{columns:?}");
    let value = knowledge().values("How many are late?", 3).remove(0);
    assert_eq!((value.value.as_str(), value.matched.as_str(), value.score), ("LATE", "late", 1.0));
    assert_eq!(knowledge().lessons("copies of a book", 3)[0].lesson.trigger, "number of copies");
    assert_eq!(knowledge().examples("How many loans came late?", 3)[0].example.id, "late");
    let passage = knowledge().passages("What does a late book cost?", 3).remove(0);
    assert_eq!(passage.source, "docs/rules.md: Fines");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_question_panics_and_each_is_answered_the_same_twice(question in any::<String>(), k in 0usize..100) {
        let knowledge = knowledge();
        prop_assert_eq!(knowledge.tables(&question, k), knowledge.tables(&question, k));
        prop_assert_eq!(knowledge.columns(&question, k), knowledge.columns(&question, k));
        prop_assert_eq!(knowledge.values(&question, k), knowledge.values(&question, k));
        prop_assert_eq!(knowledge.glossary(&question, k), knowledge.glossary(&question, k));
        prop_assert_eq!(knowledge.passages(&question, k), knowledge.passages(&question, k));
        prop_assert!(knowledge.columns(&question, k).len() <= k.min(50));
    }

    #[test]
    fn no_text_of_a_document_panics(text in "(\\PC|\n|# |```|\\. |- ){0,60}") {
        let pack = Pack::from_files("d", [("domain.toml", DOMAIN.as_bytes().to_vec()), ("docs/a.md", text.into_bytes())]);
        if let Ok(pack) = pack {
            prop_assert_eq!(pack.documents.len(), 1);
            let passages = airlock_knowledge::index::passages::passages(&pack.documents);
            prop_assert!(passages.iter().all(|passage| !passage.text.is_empty()));
        }
    }
}
