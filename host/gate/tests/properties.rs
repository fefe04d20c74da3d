//! Properties: the gate never panics, and what it approves it approves again.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod shop;

use proptest::prelude::*;

/// Pieces that put together are often SQL and sometimes a trespass.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "SELECT",
        "FROM",
        "WHERE",
        "customers",
        "orders",
        "c",
        "o",
        "c.name",
        "o.total",
        "(",
        ")",
        ",",
        "*",
        "=",
        "1",
        "'x'",
        "AND",
        "OR",
        "NOT",
        "JOIN",
        "ON",
        "true",
        "LEFT",
        "LATERAL",
        "WITH",
        "RECURSIVE",
        "t AS",
        "UNION ALL",
        "GROUP BY",
        "ORDER BY",
        "LIMIT",
        "OFFSET",
        "count(*)",
        "sum(total)",
        "OVER ()",
        "home",
        "::text",
        "::int",
        "IN",
        "IS NULL",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "AS",
        "VALUES",
        "ARRAY[",
        "]",
        "[1]",
        ".spill",
        "$1",
        ";",
        "--",
        "/*",
        "*/",
        "'",
        "\"",
        "E'\\'",
        "pg_sleep(1)",
        "secrets",
        "FOR UPDATE",
        "INTO",
        "DELETE",
        "generate_series(1, 3)",
        "FETCH FIRST 3 ROWS ONLY",
        "NULL",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_a_verdict(text in "\\PC{0,200}") {
        let gate = shop::gate(150_018);
        if let Err(rejection) = gate.check(&text) {
            prop_assert_ne!(rejection.code.as_str(), "internal");
        }
        let _ = airlock_gate::outline(&text);
        let _ = airlock_gate::canonical(&text);
    }

    #[test]
    fn what_is_approved_is_approved_again(pieces in prop::collection::vec(piece(), 1..14)) {
        let text = pieces.join(" ");
        let gate = shop::gate(150_018);
        match gate.check(&text) {
            Ok(approved) => {
                let again = gate.check(approved.statement());
                prop_assert!(again.is_ok(), "{} was refused again", approved.statement());
                if let Ok(again) = again {
                    prop_assert_eq!(again.statement(), approved.statement());
                    prop_assert_eq!(&again.facts().tables, &approved.facts().tables);
                }
                prop_assert_eq!(airlock_gate::canonical(&text).is_ok(), true);
            }
            Err(rejection) => prop_assert_ne!(rejection.code.as_str(), "internal", "{}", text),
        }
    }

    #[test]
    fn an_outline_lies_inside_its_text(pieces in prop::collection::vec(piece(), 1..14)) {
        let text = pieces.join(" ");
        for (index, node) in airlock_gate::outline(&text).unwrap_or_default().iter().enumerate() {
            prop_assert!(text.get(node.start as usize..node.end as usize).is_some());
            prop_assert!(node.parent.is_none_or(|parent| (parent as usize) < index));
        }
    }
}

/// What the fuzzer found to reach new places of the code, kept.
#[test]
fn the_fuzzers_corpus_gets_verdicts() {
    let gate = shop::gate(180_000);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/check");
    let (mut texts, mut approved) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let Ok(text) = String::from_utf8(std::fs::read(entry.unwrap().path()).unwrap()) else { continue };
        texts += 1;
        match gate.check(&text) {
            Ok(verdict) => {
                approved += 1;
                assert_eq!(
                    gate.check(verdict.statement()).unwrap().statement(),
                    verdict.statement(),
                    "{text}"
                );
                assert!(airlock_gate::canonical(&text).is_ok(), "{text}");
            }
            Err(rejection) => assert_ne!(rejection.code.as_str(), "internal", "{text}"),
        }
        for node in airlock_gate::outline(&text).unwrap_or_default() {
            assert!(text.get(node.start as usize..node.end as usize).is_some(), "{text}");
        }
    }
    assert!(texts > 300 && approved > 30, "{texts} texts, {approved} approved");
}
