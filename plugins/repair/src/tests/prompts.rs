//! A scripted model that knows nothing but what a strategy tells it: where it can repair the query, the strategy asked for the
//! right thing.

use airlock_plugin_sdk::ColumnRef;
use airlock_plugin_sdk::contract::repair::{ProbeFinding, Regenerate, Widen};
use airlock_plugin_sdk::harness::table_ref;

use super::{RepairInput, RepairStep, input, run, shop};

/// What a strategy tells a model.
fn told(failed: &RepairInput) -> String {
    match run(&shop(), failed) {
        RepairStep::Regenerate(Regenerate { instructions })
        | RepairStep::Widen(Widen { instructions, .. }) => instructions,
        other => panic!("a model is not asked: {other:?}"),
    }
}

fn asking(error_type: &str, message: &str, hint: Option<&str>, marked: &str) -> RepairInput {
    let mut failed = input(error_type, message, marked);
    failed.failure.hint = hint.map(str::to_owned);
    failed.model_available = true;
    failed
}

/// What stands between the first two marks.
fn between<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    text.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map_or("", |(found, _)| found)
}

/// The tables and columns that are told, a line each: `bills has bill_id bigint, status text`.
fn scope(told: &str) -> Vec<(&str, Vec<&str>)> {
    let lines = told.lines().filter_map(|line| line.split_once(" has "));
    lines
        .map(|(table, columns)| {
            let names = columns.split(", ").filter_map(|column| column.split_whitespace().next());
            (table, names.collect())
        })
        .collect()
}

/// The model: it writes the query again from the query and what it was told, and from nothing else.
fn scripted(sql: &str, told: &str) -> Option<String> {
    let kinds = told.lines().filter_map(|line| line.split_once(": ").map(|(kind, _)| kind));
    match kinds.into_iter().find(|kind| super::REPAIRABLE.contains(kind)).unwrap_or_default() {
        "unknown_column" => {
            let wrong = between(told, "column \"", "\"");
            let ends = wrong.rsplit('_').next()?;
            let right =
                scope(told).into_iter().flat_map(|(_, columns)| columns).find(|name| name.ends_with(ends))?;
            Some(sql.replace(wrong, right))
        }
        "ambiguous_column" => {
            let column = between(told, "column reference \"", "\"");
            let table = scope(told).into_iter().find(|(_, columns)| columns.contains(&column))?.0.to_owned();
            Some(sql.replacen(column, &format!("{table}.{column}"), 1))
        }
        "unknown_table" => {
            let right = told.split_once("near: ")?.1.split([',', '.']).next()?;
            Some(sql.replace(between(told, "relation \"", "\""), right))
        }
        "type_mismatch" => {
            let column = between(told, ">>> ", " ");
            let typed = told.rsplit_once(&format!("{column} "))?.1.split(',').next()?;
            let cast = if typed == "text" { "numeric" } else { "text" };
            Some(sql.replace(column, &format!("{column}::{cast}")))
        }
        "empty_result" => {
            let right = format!("'{}'", between(told, " has '", "'"));
            Some(sql.replace(
                &format!("'{}'", told.rsplit_once("the query says ")?.1.trim_end_matches('.')),
                &right,
            ))
        }
        "division_by_zero" => {
            let (advised, divisor) =
                (between(told, "Divide by ", "("), sql.rsplit_once("/ ")?.1.split(' ').next()?);
            Some(sql.replace(&format!("/ {divisor}"), &format!("/ {advised}({divisor}, 0)")))
        }
        _ => None,
    }
}

#[test]
fn a_model_that_knows_only_the_prompt_repairs_the_query() {
    let mut empty = asking("empty_result", "no row", None, "SELECT 1 FROM bills WHERE status = 'payed'");
    empty.probe = Some(ProbeFinding {
        column: ColumnRef { table: table_ref("bills"), column: "status".into() },
        literal: "payed".into(),
        // Two spellings are for a model to choose from.
        spellings: vec!["PAID".into(), "Paid".into()],
        rows_without: None,
    });
    for (failed, want) in [
        (
            asking(
                "unknown_column",
                "column \"cost_amt\" does not exist",
                None,
                "SELECT >cost_amt FROM bills",
            ),
            "SELECT total_amt FROM bills",
        ),
        (
            asking(
                "ambiguous_column",
                "column reference \"name\" is ambiguous",
                None,
                "SELECT >name FROM customers, products",
            ),
            "SELECT customers.name FROM customers, products",
        ),
        (
            asking(
                "unknown_table",
                "relation \"invoices_all\" does not exist",
                None,
                "SELECT 1 FROM >invoices_all",
            ),
            "SELECT 1 FROM bills",
        ),
        (
            asking(
                "type_mismatch",
                "function avg_of does not take text",
                None,
                "SELECT avg_of( >status ) FROM bills",
            ),
            "SELECT avg_of( status::numeric ) FROM bills",
        ),
        (empty, "SELECT 1 FROM bills WHERE status = 'PAID'"),
    ] {
        let told = told(&failed);
        assert_eq!(scripted(&failed.failure.sql, &told).as_deref(), Some(want), "{told}");
    }
}

#[test]
fn a_prompt_has_the_message_the_hint_and_the_place() {
    for word in super::REPAIRABLE {
        let mut failed = asking(
            word,
            "this is what was said",
            Some("this may help"),
            "SELECT 1 FROM bills WHERE >qqq IS NULL",
        );
        failed.probe = Some(ProbeFinding {
            column: ColumnRef { table: table_ref("bills"), column: "status".into() },
            literal: "zzz".into(),
            spellings: vec!["PAID".into(), "Paid".into()],
            rows_without: None,
        });
        let told = told(&failed);
        for part in ["this is what was said", "this may help", ">>> qqq", word] {
            assert!(told.contains(part), "{word} does not tell {part}: {told}");
        }
    }
}

#[test]
fn a_prompt_says_what_the_code_says_and_not_what_another_would() {
    for (error_type, code, message, wants) in [
        ("out_of_range", "22003", "integer out of range", "Cast the operands to numeric"),
        ("out_of_range", "2201F", "cannot take square root of a negative number", "negative number"),
        ("out_of_range", "2201E", "cannot take logarithm of zero", "logarithm of zero"),
        ("out_of_range", "22011", "negative substring length not allowed", "GREATEST"),
        ("out_of_range", "2201W", "LIMIT must not be negative", "begin at 0"),
        ("type_mismatch", "2201B", "invalid regular expression", "Correct the pattern"),
        ("type_mismatch", "22025", "LIKE pattern must not end with escape character", "escape"),
        ("type_mismatch", "2203A", "SQL/JSON member not found", "jsonb_typeof"),
        ("type_mismatch", "22007", "invalid input syntax for type date", "Types do not fit"),
    ] {
        let mut failed = asking(error_type, message, None, "SELECT >zzz FROM bills");
        failed.failure.sqlstate = Some(code.to_owned());
        let told = told(&failed);
        assert!(told.contains(wants), "{code}: {told}");
        for (other, words) in [("22003", "left the range of its type"), ("22007", "Types do not fit")] {
            assert_eq!(told.contains(words), code == other, "{code}: {told}");
        }
    }
}
