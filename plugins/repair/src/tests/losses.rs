//! What PostgreSQL leaves out without an error, put back where a result says nothing.

use airlock_plugin_sdk::Attribute;

use super::*;

/// A text that says nothing; `§` stands before each operator that the host says loses something, and `§§` where the day is
/// written as a moment.
fn emptied(marked: &str) -> RepairInput {
    let sql = marked.replace('§', "");
    let mut failed = input("empty_result", "The query found nothing.", "SELECT 1");
    let mut places: [Vec<String>; 4] = Default::default();
    let mut at = 0;
    let marked = marked.replace("§§", "§\u{1}");
    for (index, part) in marked.split('§').enumerate() {
        let in_moments = part.starts_with('\u{1}');
        let part = part.trim_start_matches('\u{1}');
        if in_moments {
            places[3].push(at.to_string());
        }
        let kind = match part.as_bytes().first() {
            _ if index == 0 => None,
            Some(b'/') => Some(0),
            Some(b'=' | b'I') => Some(2),
            _ => Some(1),
        };
        if let Some(kind) = kind {
            places[kind].push(at.to_string());
        }
        at += part.len();
    }
    for (key, places) in
        ["loss:fraction", "loss:last-day", "loss:one-day", "loss:in-moments"].into_iter().zip(places)
    {
        if !places.is_empty() {
            failed.attributes.push(Attribute { key: key.into(), value: places.join(",") });
        }
    }
    failed.failure.sql = sql.clone();
    failed.attempts[0].sql = sql;
    failed
}

#[test]
fn what_is_not_later_than_a_day_has_all_of_it() {
    table_of(&[
        (
            "SELECT 1 FROM bills WHERE NOT (bill_dt §> '2026-01-30')",
            Some("SELECT 1 FROM bills WHERE NOT (bill_dt >= '2026-01-31')"),
        ),
        (
            "SELECT 1 FROM bills WHERE NOT (DATE '2026-01-30' §< bill_dt)",
            Some("SELECT 1 FROM bills WHERE NOT (DATE '2026-01-31' <= bill_dt)"),
        ),
    ]);
}

fn table_of(cases: &[(&str, Option<&str>)]) {
    for (marked, want) in cases {
        assert_eq!(rewritten(&shop(), &emptied(marked)).as_deref(), *want, "{marked}");
    }
}

#[test]
fn a_quotient_of_whole_numbers_keeps_its_fraction() {
    table_of(&[
        ("SELECT count(*) §/ 7 FROM bills", Some("SELECT count(*)::numeric / 7 FROM bills")),
        (
            "SELECT count(*) FILTER (WHERE status = 'a / b') §/ count(*) AS \"a / b\" FROM bills -- x / y",
            Some(
                "SELECT count(*) FILTER (WHERE status = 'a / b')::numeric / count(*) AS \"a / b\" FROM bills -- x / y",
            ),
        ),
        (
            "SELECT round(sum(bi.qty)/* all */§/NULLIF(count(*), 0), 2) FROM public.bill_items bi",
            Some(
                "SELECT round(sum(bi.qty)::numeric/* all *//NULLIF(count(*), 0), 2) FROM public.bill_items bi",
            ),
        ),
        (
            "SELECT 100 * sum(CASE WHEN qty > 1 THEN 1 ELSE 0 END) §/ count(*) FROM bill_items",
            Some("SELECT 100 * sum(CASE WHEN qty > 1 THEN 1 ELSE 0 END)::numeric / count(*) FROM bill_items"),
        ),
        (
            "WITH a AS (SELECT count(*) AS \"N\" FROM bills) SELECT \"N\" §/ (SELECT count(*) FROM customers) FROM a",
            Some(
                "WITH a AS (SELECT count(*) AS \"N\" FROM bills) SELECT \"N\"::numeric / (SELECT count(*) FROM customers) FROM a",
            ),
        ),
        (
            "SELECT (SELECT count(*) FROM bills) §/ 4 §/ -2",
            Some("SELECT (SELECT count(*) FROM bills)::numeric / 4::numeric / -2"),
        ),
        ("SELECT - qty §/-3 FROM bill_items", Some("SELECT - qty::numeric /-3 FROM bill_items")),
        // What the host does not name is left alone.
        ("SELECT count(*) / 7 FROM bills", None),
    ]);
}

#[test]
fn a_range_of_moments_has_its_last_day() {
    table_of(&[
        (
            "SELECT 1 FROM bills b WHERE b.bill_dt §BETWEEN '2024-03-01' AND '2024-03-31' AND b.status = 'BETWEEN'",
            Some(
                "SELECT 1 FROM bills b WHERE (b.bill_dt >= '2024-03-01' AND b.bill_dt < '2024-04-01') AND b.status = 'BETWEEN'",
            ),
        ),
        (
            "SELECT 1 FROM bills WHERE bill_dt §not between DATE '2024-02-01' and DATE '2024-02-29' OR false",
            Some(
                "SELECT 1 FROM bills WHERE (bill_dt < DATE '2024-02-01' OR bill_dt >= DATE '2024-03-01') OR false",
            ),
        ),
        (
            "SELECT 1 FROM bills WHERE NOT \"bills\".\"bill_dt\" §BETWEEN '2023-12-01'::date AND '2023-12-31'::timestamp",
            Some(
                "SELECT 1 FROM bills WHERE NOT (\"bills\".\"bill_dt\" >= '2023-12-01'::date AND \"bills\".\"bill_dt\" < '2024-01-01'::timestamp)",
            ),
        ),
        (
            "SELECT 1 FROM bills WHERE (public.bills.bill_dt) §BETWEEN /* from */ '2024-03-05' AND -- to\n'2024-03-05'",
            Some(
                "SELECT 1 FROM bills WHERE ((public.bills.bill_dt) >= /* from */ '2024-03-05' AND -- to\npublic.bills.bill_dt < '2024-03-06')",
            ),
        ),
        (
            "SELECT count(*) FILTER (WHERE bill_dt §BETWEEN ASYMMETRIC TIMESTAMP WITH TIME ZONE '2024-03-01' AND TIMESTAMP WITH TIME ZONE '2024-03-31') FROM bills",
            Some(
                "SELECT count(*) FILTER (WHERE (bill_dt >= TIMESTAMP WITH TIME ZONE '2024-03-01' AND bill_dt < TIMESTAMP WITH TIME ZONE '2024-04-01')) FROM bills",
            ),
        ),
        (
            "SELECT 1 FROM bills WHERE bill_dt §BETWEEN CURRENT_DATE - 7 AND CURRENT_DATE - 1 ORDER BY 1",
            Some(
                "SELECT 1 FROM bills WHERE (bill_dt >= CURRENT_DATE - 7 AND bill_dt < CURRENT_DATE - 1 + 1) ORDER BY 1",
            ),
        ),
        (
            "SELECT 1 FROM bills WHERE bill_dt §BETWEEN date_trunc('month', now()) AND date_trunc('week', now())::date",
            Some(
                "SELECT 1 FROM bills WHERE (bill_dt >= date_trunc('month', now()) AND bill_dt < date_trunc('week', now())::date + 1)",
            ),
        ),
        (
            "SELECT 1 FROM bills WHERE bill_dt >= '2024-03-01' AND bill_dt §<= CAST('2024-03-31' AS date)",
            Some(
                "SELECT 1 FROM bills WHERE bill_dt >= '2024-03-01' AND bill_dt < CAST('2024-04-01' AS date)",
            ),
        ),
        (
            "SELECT 1 FROM customers c WHERE EXISTS (SELECT 1 FROM bills b WHERE b.bill_dt §= '2024-03-05')",
            Some(
                "SELECT 1 FROM customers c WHERE EXISTS (SELECT 1 FROM bills b WHERE (b.bill_dt >= '2024-03-05' AND b.bill_dt < '2024-03-06'))",
            ),
        ),
        (
            "SELECT 1 FROM bills WHERE bill_dt §= (SELECT max(bill_dt)::date FROM bills) GROUP BY 1",
            Some(
                "SELECT 1 FROM bills WHERE (bill_dt >= (SELECT max(bill_dt)::date FROM bills) AND bill_dt < (SELECT max(bill_dt)::date FROM bills) + 1) GROUP BY 1",
            ),
        ),
        (
            "SELECT count(*) §/ 31 FROM bills WHERE bill_dt §BETWEEN '2024-03-01' AND '2024-03-31'",
            Some(
                "SELECT count(*)::numeric / 31 FROM bills WHERE (bill_dt >= '2024-03-01' AND bill_dt < '2024-04-01')",
            ),
        ),
        // A day that the calendar does not have, and one written twice with a loss in it.
        ("SELECT 1 FROM bills WHERE bill_dt §BETWEEN '2024-02-01' AND '2024-02-30'", None),
        (
            "SELECT 1 FROM bills WHERE bill_dt §= (SELECT max(bill_dt)::date FROM bills WHERE bill_dt §<= '2024-03-05')",
            None,
        ),
    ]);
}

#[test]
fn a_day_has_a_next_one_however_it_is_written() {
    let wheres = [
        ("bill_dt §<= make_date(2026, 1, 30)", "bill_dt < make_date(2026, 1, 30) + 1"),
        ("bill_dt §<= '30 January 2026'::date", "bill_dt < '30 January 2026'::date + 1"),
        ("bill_dt §<= DATE '2026-1-30'", "bill_dt < DATE '2026-1-30' + 1"),
        ("bill_dt §<= '30 January 2026'", "bill_dt < '30 January 2026'::date + 1"),
        (
            "bill_dt §§= '30 January 2026'::timestamp",
            "(bill_dt >= '30 January 2026'::timestamp AND bill_dt < '30 January 2026'::timestamp + interval '1 day')",
        ),
        (
            "bill_dt §§BETWEEN date_trunc('month', now()) AND date_trunc('month', now()) + interval '1 month' - interval '1 day'",
            "(bill_dt >= date_trunc('month', now()) AND bill_dt < date_trunc('month', now()) + interval '1 month' - interval '1 day' + interval '1 day')",
        ),
        (
            "b.bill_dt §IN ('2026-01-30', DATE '2026-02-28')",
            "(b.bill_dt >= '2026-01-30' AND b.bill_dt < '2026-01-31' OR b.bill_dt >= DATE '2026-02-28' AND b.bill_dt < DATE '2026-03-01')",
        ),
        (
            "(bill_dt) §IN (to_date('30.1.2026', 'DD.MM.YYYY'))",
            "(bill_dt >= to_date('30.1.2026', 'DD.MM.YYYY') AND bill_dt < to_date('30.1.2026', 'DD.MM.YYYY') + 1)",
        ),
        ("'2026-01-30' §>= b.bill_dt AND 1 = 1", "'2026-01-31' > b.bill_dt AND 1 = 1"),
        ("1 = 1 AND CURRENT_DATE - 7 §>= bill_dt", "1 = 1 AND CURRENT_DATE - 7 + 1 > bill_dt"),
        ("bill_dt §= CURRENT_DATE", "(bill_dt >= CURRENT_DATE AND bill_dt < CURRENT_DATE + 1)"),
        ("CURRENT_DATE §= bill_dt", "(bill_dt >= CURRENT_DATE AND bill_dt < CURRENT_DATE + 1)"),
        (
            "(make_date(2026, 1, 30) §= bill_dt)",
            "((bill_dt >= make_date(2026, 1, 30) AND bill_dt < make_date(2026, 1, 30) + 1))",
        ),
    ];
    for (marked, want) in wheres {
        // `>=` the other way round is told as a last day.
        let marked = format!("SELECT 1 FROM bills b WHERE {marked}");
        let want = format!("SELECT 1 FROM bills b WHERE {want}");
        assert_eq!(rewritten(&shop(), &emptied(&marked)).as_deref(), Some(want.as_str()), "{marked}");
    }
    // What stands before the operator is no value that can be told.
    let unclear =
        emptied("SELECT 1 FROM bills WHERE 1 * CASE WHEN true THEN DATE '2026-01-30' END §>= bill_dt");
    assert_eq!(rewritten(&shop(), &unclear), None);
}

#[test]
fn it_says_what_was_done_and_another_spelling_goes_first() {
    let mut failed =
        emptied("SELECT count(*) §/ 7 FROM bills WHERE status = 'paid' AND bill_dt §= '2024-03-05'");
    match run(&shop(), &failed) {
        RepairStep::Rewrite(Rewrite { change, reason, .. }) => {
            assert_eq!(
                change,
                "What is divided by 7 is now a numeric. bill_dt is now compared with the whole day."
            );
            assert!(reason.contains("cut") && reason.contains("first moment"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    failed.probe = Some(ProbeFinding {
        column: ColumnRef { table: table_ref("bills"), column: "status".into() },
        literal: "paid".into(),
        spellings: vec!["PAID".into()],
        rows_without: None,
    });
    assert!(
        rewritten(&shop(), &failed).is_some_and(|sql| sql.contains("'PAID'") && sql.contains("count(*) / 7"))
    );
}

#[test]
fn places_that_are_none_change_nothing() {
    for (key, value) in [
        ("loss:fraction", "9999"),
        ("loss:fraction", "1"),
        ("loss:fraction", "x,,-1"),
        ("loss:last-day", "0"),
        ("loss:one-day", "7"),
        ("loss:whatever", "16"),
    ] {
        let mut failed = emptied("SELECT count(*) / 7 FROM bills");
        failed.attributes.push(Attribute { key: key.into(), value: value.into() });
        assert_eq!(rewritten(&shop(), &failed), None, "{key} {value}");
    }
}
