//! Drafts that run, or nearly so, and do not say what was meant: values that the data spells otherwise, several statements.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::laboratory::{Laboratory, Place, Served, drafted};
use airlock_tests::{Said, ScriptedModel};
use serde_json::{Value, json};

/// 1,000 orders of 50 customers, three of four paid.
const SCHEMA: &str = r"
    CREATE TABLE customers (id int PRIMARY KEY, country text);
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int, status text);
    INSERT INTO customers SELECT g, 'DE' FROM generate_series(1, 50) g;
    INSERT INTO orders
        SELECT g, g % 50, CASE g % 4 WHEN 0 THEN 'DELETED' ELSE 'paid' END FROM generate_series(1, 1000) g;";

const PLACE: Place<'static> =
    Place { database: "shop", search_path: &["public"], schema: SCHEMA, traps: None, functions: &[] };

#[tokio::test(flavor = "multi_thread")]
async fn every_value_that_the_data_spells_otherwise_is_put_right_or_told() {
    // What a model wrote, what was answered with (the same, where nothing is said), the row, and what is warned of.
    let cases: [(&str, Option<&str>, Value, Option<&str>); 19] = [
        (
            "SELECT count(*) AS n FROM orders WHERE status IN ('PAID', 'Deleted')",
            Some("SELECT count(*) AS n FROM orders WHERE status IN ('paid', 'DELETED')"),
            json!([1000]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM orders WHERE status = 'PAID' OR status = ' deleted'",
            Some("SELECT count(*) AS n FROM orders WHERE status = 'paid' OR status = 'DELETED'"),
            json!([1000]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'PAID' AND c.country = 'de'",
            Some(
                "SELECT count(*) AS n FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'paid' AND c.country = 'DE'",
            ),
            json!([740]),
            None,
        ),
        (
            "SELECT count(*) FILTER (WHERE status = 'PAID') AS a, count(*) FILTER (WHERE status = 'deleted') AS b FROM orders",
            Some(
                "SELECT count(*) FILTER (WHERE status = 'paid') AS a, count(*) FILTER (WHERE status = 'DELETED') AS b FROM orders",
            ),
            json!([750, 250]),
            None,
        ),
        // Rows come for one of them.
        (
            "SELECT count(*) AS n FROM orders WHERE status IN ('paid', 'deleted')",
            Some("SELECT count(*) AS n FROM orders WHERE status IN ('paid', 'DELETED')"),
            json!([1000]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM orders WHERE status <> 'deleted'",
            Some("SELECT count(*) AS n FROM orders WHERE status <> 'DELETED'"),
            json!([750]),
            None,
        ),
        // What is not in the data is told, whether the others were right or were put right.
        (
            "SELECT count(*) AS n FROM orders WHERE status IN ('paid', 'refunded')",
            None,
            json!([750]),
            Some("orders.status has no value 'refunded'"),
        ),
        (
            "SELECT count(*) AS n FROM orders WHERE status IN ('PAID', 'refunded')",
            Some("SELECT count(*) AS n FROM orders WHERE status IN ('paid', 'refunded')"),
            json!([750]),
            Some("orders.status has no value 'refunded'"),
        ),
        // However it is compared.
        (
            "SELECT sum(CASE status WHEN 'Paid' THEN 1 ELSE 0 END) AS a, count(*) AS n FROM orders",
            Some("SELECT sum(CASE status WHEN 'paid' THEN 1 ELSE 0 END) AS a, count(*) AS n FROM orders"),
            json!([750, 1000]),
            None,
        ),
        (
            "SELECT count(*) FILTER (WHERE lower(status) = 'DELETED') AS a, count(*) AS n FROM orders",
            Some("SELECT count(*) FILTER (WHERE lower(status) = 'deleted') AS a, count(*) AS n FROM orders"),
            json!([250, 1000]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM orders WHERE lower(status) LIKE '%DEL%'",
            Some("SELECT count(*) AS n FROM orders WHERE lower(status) LIKE '%del%'"),
            json!([250]),
            None,
        ),
        (
            "SELECT count(NULLIF(status, 'deleted')) AS n FROM orders",
            Some("SELECT count(NULLIF(status, 'DELETED')) AS n FROM orders"),
            json!([750]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM orders o JOIN (VALUES ('PAID'), ('DELETED')) AS v(s) ON o.status = v.s",
            Some(
                "SELECT count(*) AS n FROM orders o JOIN (VALUES ('paid'), ('DELETED')) AS v(s) ON o.status = v.s",
            ),
            json!([1000]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM orders WHERE status = ANY('{Paid,DELETED}')",
            Some("SELECT count(*) AS n FROM orders WHERE status = ANY('{paid,DELETED}')"),
            json!([1000]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM orders WHERE status = ANY('{paid,DELETED}') AND id < 0",
            None,
            json!([0]),
            None,
        ),
        (
            "SELECT count(*) FILTER (WHERE status ILIKE 'delted%') AS a, count(*) AS n FROM orders",
            None,
            json!([0, 1000]),
            Some("orders.status has no value 'delted%'"),
        ),
        (
            "SELECT count(*) FILTER (WHERE lower(status) = 'paid') AS a, count(*) AS n FROM orders",
            None,
            json!([750, 1000]),
            None,
        ),
        // What is left out and was never there is left out all the same.
        ("SELECT count(*) AS n FROM orders WHERE status <> 'refunded'", None, json!([1000]), None),
        ("SELECT count(*) AS n FROM orders WHERE status IN ('paid', 'DELETED')", None, json!([1000]), None),
    ];
    let answers = drafted(&PLACE, "How many orders are there", cases.iter().map(|case| case.0)).await;
    for ((sql, rewritten, row, warned), answer) in cases.iter().zip(answers) {
        assert_eq!(
            (&answer["sql"], &answer["rows"]),
            (&json!(rewritten.unwrap_or(sql)), &json!([row])),
            "{answer}"
        );
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        assert_eq!(warnings.len(), usize::from(warned.is_some()), "{answer}");
        assert!(warned.is_none_or(|part| warnings[0].as_str().unwrap().contains(part)), "{answer}");
        // All of them cost one attempt, and each is told.
        assert_eq!(answer["attempts"], 1 + u32::from(rewritten.is_some()), "{answer}");
        let told = answer["assumptions"].to_string();
        for literal in ["'PAID'", "'Deleted'", "' deleted'", "'deleted'", "'de'"] {
            let healed = rewritten.is_some() && sql.contains(literal);
            assert_eq!(told.contains(&format!("{literal} is now")), healed, "{literal}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn units_of_time_are_counted_as_mysql_counts_them() {
    const FROM_UNTIL: [(&str, &str); 4] = [
        ("2026-01-31 12:00:00", "2026-02-28 11:00:00"),
        ("2026-02-28 11:00:00", "2026-01-31 12:00:00"),
        ("2020-02-29 00:00:00", "2023-02-28 23:59:59"),
        ("2026-03-01 10:00:00", "2026-06-01 09:59:59"),
    ];
    // What MySQL gives for each of them.
    const UNITS: [(&str, [i64; 4]); 8] = [
        ("SECOND", [2_415_600, -2_415_600, 94_694_399, 7_948_799]),
        ("MINUTE", [40_260, -40_260, 1_578_239, 132_479]),
        ("HOUR", [671, -671, 26_303, 2_207]),
        ("DAY", [27, -27, 1_095, 91]),
        ("WEEK", [3, -3, 156, 13]),
        ("MONTH", [0, 0, 35, 2]),
        ("QUARTER", [0, 0, 11, 0]),
        ("YEAR", [0, 0, 2, 0]),
    ];
    let texts: Vec<&'static str> = UNITS
        .iter()
        .map(|(unit, _)| {
            let counted = FROM_UNTIL.iter().enumerate().map(|(at, (from, until))| {
                format!("TIMESTAMPDIFF({unit}, timestamp '{from}', timestamp '{until}') AS n{at}")
            });
            &*format!("SELECT {} FROM orders LIMIT 1", counted.collect::<Vec<_>>().join(", ")).leak()
        })
        .collect();
    let answers = drafted(&PLACE, "How much time was there between orders", texts.into_iter()).await;
    for ((unit, want), answer) in UNITS.iter().zip(answers) {
        assert_eq!(answer["rows"], json!([want]), "{unit}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_statements_end_a_question_and_the_reason_for_giving_up_is_what_went_wrong() {
    let model = ScriptedModel::start(|prompt| match prompt {
        _ if prompt.contains("in the long run") => {
            "SELECT count(*) FROM orders a, orders b, orders c, orders d".into()
        }
        _ if prompt.contains("with a write") => "SELECT 1; DELETE FROM orders".into(),
        _ if prompt.contains("and customers") => {
            "SELECT count(*) FROM orders; SELECT count(*) FROM customers".into()
        }
        _ => Said::Status(400),
    })
    .await;
    let laboratory = Laboratory::start(1_000).await;
    let domain = laboratory.make(&PLACE).await;
    let served = Served::start(&laboratory.config(), &model).await;
    for question in ["How many orders are there with a write?", "How many orders and customers are there?"] {
        let (_, several) = served.ask(&domain, question).await;
        assert_eq!((&several["outcome"], &several["attempts"]), (&json!("refused"), &json!(1)), "{several}");
        assert_eq!(several["history"][0]["error_type"], "forbidden", "{several}");
    }
    // The reason for giving up is what went wrong, and not that it was tried again.
    let (_, slow) = served.ask(&domain, "How many orders are there in the long run?").await;
    assert_eq!(slow["outcome"], "gave_up", "{slow}");
    assert!(slow["reason"].as_str().unwrap().contains("statement timeout"), "{slow}");
}
