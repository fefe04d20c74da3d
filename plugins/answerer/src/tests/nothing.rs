//! What is said of results that say nothing.

use airlock_plugin_sdk::ColumnRef;
use airlock_plugin_sdk::contract::repair::ProbeFinding;
use airlock_plugin_sdk::contract::types::Attribute;
use airlock_plugin_sdk::harness::table_ref;

use super::*;

fn probe(spellings: &[&str], rows_without: Option<u64>) -> ProbeFinding {
    ProbeFinding {
        column: ColumnRef { table: table_ref("bills"), column: "status".into() },
        literal: "'paid'".into(),
        spellings: spellings.iter().map(|spelling| (*spelling).to_owned()).collect(),
        rows_without,
    }
}

#[test]
fn nothing_found_says_what_was_checked() {
    let columns = [("bill_id", "bigint")];
    for (finding, want) in [
        (None, "No row matches the question."),
        (
            Some(probe(&["PAID"], None)),
            "No row matches the question. The query looked for 'paid' in bills.status, which is stored there as 'PAID'.",
        ),
        (
            Some(probe(&[], None)),
            "No row matches the question. It was checked that bills.status has no value like 'paid', whatever its case \
             and outer spaces.",
        ),
        (
            Some(probe(&[], Some(1_400))),
            "No row matches the question. Without the condition on bills.status (paid) there would be 1,400 rows.",
        ),
        (
            Some(probe(&[], Some(1))),
            "No row matches the question. Without the condition on bills.status (paid) there would be 1 row.",
        ),
    ] {
        let mut empty = input("Which bills are paid?", &columns, &[]);
        // A model has nothing to add to an empty result.
        empty.model_available = true;
        empty.probe = finding;
        assert_eq!(template(&empty), want);
    }
}

#[test]
fn nothing_found_says_no_more_than_was_run() {
    let noted = |notes: &[(&str, &str)]| {
        let mut empty = input("Which bills are paid?", &[("bill_id", "bigint")], &[]);
        let attribute =
            |(key, value): &(&str, &str)| Attribute { key: format!("empty:{key}"), value: (*value).into() };
        empty.attributes = notes.iter().map(attribute).collect();
        empty
    };
    for (notes, want) in [
        (
            &[("held", "bills.status\tPAID"), ("held", "bills.city\tPune")][..],
            "It was checked that bills.status has 'PAID' and bills.city has 'Pune'; the conditions together leave no row.",
        ),
        (
            &[("rows", "bills"), ("rows", "lines")],
            "It was checked that bills and lines have rows; what the query asks of them leaves none.",
        ),
        (&[("rows", "bills"), ("no-rows", "lines")], "It was checked that lines has no rows at all."),
        (
            &[("rows", "bills"), ("none-visible", "lines")],
            "Row security decides which rows are shown: no row of lines is visible to this reader.",
        ),
        (
            &[("none-visible", "bills"), ("no-rows", "lines")],
            "It was checked that lines has no rows at all. Row security decides which rows are shown: no row of bills is \
             visible to this reader.",
        ),
        (
            &[("null", "status = NULL"), ("rows", "bills")],
            "The query compares with NULL by an operator (status = NULL), which is true of no row: IS NULL asks for what has no \
             value. It was checked that bills has rows; what the query asks of them leaves none.",
        ),
        (
            &[("unchecked", "nested"), ("rows", "bills")],
            "It was checked that bills has rows; what the query asks of them leaves none. No condition could be left out to see \
             more: they stand inside OR, NOT, CASE or another expression.",
        ),
        (&[("none", "LIMIT 0")], "The query asks for no row at all (LIMIT 0)."),
        (&[("without", "OFFSET 40\t1200")], "Without OFFSET 40 there would be 1,200 rows."),
        (
            &[("without", "HAVING count(*) > 9\t0"), ("beside", "OFFSET 40")],
            "It was checked without HAVING count(*) > 9 too, and there is none then either. It was not checked without OFFSET 40, \
             which may leave none too.",
        ),
        (
            &[("held", "bills.status\tPAID"), ("beside", "HAVING count(*) > 9")],
            "It was checked that bills.status has 'PAID'. It was not checked without HAVING count(*) > 9, which may leave none too.",
        ),
        (
            &[("among", "3")],
            "It was checked that NULL is among the values that NOT IN is compared with, which makes NOT IN true of no row: they \
             must be left out (IS NOT NULL).",
        ),
        (
            &[("among", "0")],
            "It was checked that NOT IN is compared with no NULL, so that finding nothing may be the answer.",
        ),
        (
            &[("unchecked", "among")],
            "The query looks for what is not among the values of another (NOT IN): finding nothing may be the answer, and one NULL \
             among those values gives the same; nothing more was checked.",
        ),
        (&[("unchecked", "no-table")], "The query reads no table, so there was nothing to check."),
        (&[("unchecked", "failed")], "Nothing more could be checked: the query for it did not run."),
    ] {
        assert_eq!(template(&noted(notes)), format!("No row matches the question. {want}"));
    }
    let mut both = noted(&[("held", "bills.status\tPAID")]);
    both.probe = Some(probe(&[], Some(12)));
    assert_eq!(
        template(&both),
        "No row matches the question. It was checked that bills.status has 'PAID'. Without the condition on bills.status (paid) \
         there would be 12 rows."
    );
    let mut several = noted(&[("missing", "bills.city\tAtlantis"), ("missing", "bills.mode\tgold")]);
    several.probe = Some(probe(&[], None));
    let told = template(&several);
    assert!(
        told.ends_with(" The same holds of 'Atlantis' in bills.city and 'gold' in bills.mode."),
        "{told}"
    );
    let mut other = noted(&[("values", "bills.mode\tCARD\tUPI")]);
    other.probe = Some(probe(&[], None));
    assert!(template(&other).ends_with(" The indexed values of bills.mode are 'CARD' and 'UPI'."));
    let mut zero = input("How many bills are paid?", &[("count", "bigint")], &[&[Some("0")]]);
    zero.sql = Some("SELECT count(*) FROM bills WHERE status = 'PAID'".into());
    assert_eq!(template(&zero), "0 bills are paid.");
    zero.attributes = noted(&[("no-rows", "bills")]).attributes;
    assert_eq!(template(&zero), "0 bills are paid. It was checked that bills has no rows at all.");
}

#[test]
fn an_aggregate_over_nothing_is_no_value() {
    let mut null = input("Revenue in 1999?", &[("revenue", "numeric")], &[&[None]]);
    null.sql = Some("SELECT sum(amount) AS revenue FROM bills WHERE day < '2000-01-01'".into());
    assert_eq!(template(&null), "There is no value for revenue: no row with a value matched.");
    null.columns[0].name = "sum".into();
    assert_eq!(template(&null), "There is no value: no row with a value matched.");

    null.sql = Some("SELECT sum(a) / NULLIF(sum(b), 0) FROM c".into());
    assert_eq!(
        template(&null),
        "There is no value: no row with a value matched, or what it would be divided by is 0."
    );

    // A row that is there has no value: nothing is said of rows that are not.
    for (sql, want) in [
        ("SELECT manager FROM employees WHERE name = 'Asha'", "There is no value for manager."),
        ("SELECT a.manager - b.manager AS manager FROM a, b", "There is no value for manager."),
        (
            "SELECT min(manager) AS manager FROM employees",
            "There is no value for manager: no row with a value matched.",
        ),
    ] {
        let mut unknown = input("Who is it?", &[("manager", "numeric")], &[&[None]]);
        unknown.sql = Some(sql.into());
        assert_eq!(template(&unknown), want, "{sql}");
    }

    let mut zero = input("How many bills are paid?", &[("count", "bigint")], &[&[Some("0")]]);
    zero.sql = Some("SELECT count(*) FROM bills WHERE status = 'PAID'".into());
    assert_eq!(template(&zero), "0 bills are paid.");
    zero.probe = Some(probe(&["PAID"], None));
    assert!(template(&zero).starts_with("0 bills are paid. The query looked for 'paid'"));
}

#[test]
fn no_row_is_said_where_none_is_shown_to_be_there() {
    let noted = |sql: &str, value: Option<&str>| {
        let mut data = input("How is it?", &[("n", "bigint")], &[&[value]]);
        data.sql = Some(sql.into());
        let notes = [("empty:held", "bills.status\tPAID"), ("empty:rows", "bills")];
        data.attributes = notes.map(|(key, value)| Attribute { key: key.into(), value: value.into() }).into();
        template(&data)
    };
    let held = "It was checked that bills.status has 'PAID'.";
    for (sql, value, want) in [
        (
            "SELECT count(*) AS n FROM bills WHERE status = 'PAID'",
            Some("0"),
            format!(
                "N: 0. {held} It was checked that bills has rows; what the query asks of them leaves none."
            ),
        ),
        (
            "SELECT sum(n) AS n FROM bills WHERE status = 'PAID'",
            None,
            format!(
                "There is no value for n: no row with a value matched. {held} It was checked that bills has rows; none of those \
                 that the query asks for has a value."
            ),
        ),
        (
            "SELECT min(n) AS n FROM bills",
            Some("0"),
            format!("N: 0. {held} It was checked that bills has rows."),
        ),
        (
            "SELECT count(n) AS n FROM bills",
            Some("0"),
            format!("N: 0. {held} It was checked that bills has rows."),
        ),
        (
            "SELECT (SELECT count(*) FROM a) - (SELECT count(*) FROM b) AS n",
            Some("0"),
            format!("N: 0. {held} It was checked that bills has rows."),
        ),
        (
            "SELECT n FROM bills WHERE status = 'PAID'",
            None,
            format!("There is no value for n. {held} It was checked that bills has rows."),
        ),
    ] {
        assert_eq!(noted(sql, value), want, "{sql}");
    }
}
