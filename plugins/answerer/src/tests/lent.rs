//! What a question lends to the template's sentence.

use airlock_plugin_sdk::contract::retrieval::Term;
use airlock_plugin_sdk::harness::{table, table_ref};

use super::*;

#[test]
fn a_question_lends_its_words_where_the_query_has_them() {
    let july = "SELECT count(*) FROM bills WHERE day >= '2026-07-01' AND day < '2026-08-01'";
    for (question, sql, value, want) in [
        ("How many bills in March 2025?", "SELECT count(*) FROM bills", "1400", "The count is 1,400."),
        ("How many bills in July 2026?", july, "1400", "There are 1,400 bills in July 2026."),
        ("How many bills in July?", july, "1400", "There are 1,400 bills in July."),
        ("How many bills in June?", july, "1400", "The count is 1,400."),
        ("How many bills in 2026?", july, "1400", "The count is 1,400."),
        ("How many bills were raised last month?", july, "65", "The count is 65."),
        ("How many bills were raised this month?", july, "65", "65 bills were raised this month."),
        (
            "How many bills in July 2026?",
            "SELECT count(*) FROM bills WHERE extract(year FROM day) = 2026 AND extract(month FROM day) = 7",
            "65",
            "There are 65 bills in July 2026.",
        ),
        (
            "How many bills in July 2026?",
            "SELECT count(*) FROM bills WHERE extract(year FROM day) = 2026 -- July",
            "65",
            "The count is 65.",
        ),
        (
            "How many bills in July 2026?",
            "SELECT count(*) FROM bills WHERE to_char(day, 'YYYY-MM') = '2026-07'",
            "65",
            "There are 65 bills in July 2026.",
        ),
        (
            "How many bills in July 2026?",
            "SELECT count(*) FROM bills WHERE date_trunc('month', day) = DATE '2026-07-01'",
            "65",
            "There are 65 bills in July 2026.",
        ),
        ("How many customers from Pune?", "SELECT count(*) FROM customers", "9", "The count is 9."),
        (
            "How many customers from Pune?",
            "SELECT count(*) FROM customers WHERE city = 'Pune'",
            "9",
            "There are 9 customers from Pune.",
        ),
        (
            "How many customers from Pune?",
            "SELECT count(*) FROM customers WHERE city <> 'Pune'",
            "9",
            "The count is 9.",
        ),
        (
            "How many customers from Pune?",
            "SELECT count(*) FROM customers WHERE city IN ('Pune', 'Surat')",
            "9",
            "The count is 9.",
        ),
        (
            "How many customers from Pune?",
            "SELECT count(*) FROM customers WHERE city = 'Pune' OR city = 'Surat'",
            "9",
            "The count is 9.",
        ),
        (
            "How many customers from Pune?",
            "SELECT count(*) FROM customers WHERE NOT (city = 'Pune')",
            "9",
            "The count is 9.",
        ),
        (
            "How many customers from Pune?",
            "SELECT count(*) FROM bills WHERE city = 'Pune'",
            "9",
            "The count is 9.",
        ),
        ("How many open bills are there?", "SELECT count(*) FROM bills", "9", "The count is 9."),
        (
            "How many open bills are there?",
            "SELECT count(*) FROM bills WHERE status = 'OPEN'",
            "9",
            "There are 9 open bills.",
        ),
        ("How many bills were delivered?", "SELECT count(*) FROM bills", "9", "The count is 9."),
        (
            "How many orders were delivered?",
            "SELECT count(*) FROM orders JOIN customers USING (id)",
            "9",
            "The count is 9.",
        ),
        ("How many available rooms are there?", "SELECT count(*) FROM rooms", "9", "The count is 9."),
        ("How many bills above 500?", "SELECT count(*) FROM bills", "9", "The count is 9."),
        (
            "How many bills above 500?",
            "SELECT count(*) FROM bills WHERE amount < 500",
            "9",
            "The count is 9.",
        ),
        (
            "How many bills above 500?",
            "SELECT count(*) FROM bills WHERE amount > 500",
            "9",
            "There are 9 bills above 500.",
        ),
        ("How many customers have never paid?", "SELECT count(*) FROM customers", "9", "The count is 9."),
        ("What is the average bill?", "SELECT sum(amount) FROM bills", "9", "The total is 9."),
        ("What is the average bill?", "SELECT avg(amount) FROM bills", "9", "The average is 9."),
        ("What is the average amount?", "SELECT avg(amount) FROM bills", "9", "The average amount is 9."),
        ("What is the daily average?", "SELECT avg(amount) FROM bills", "9", "The average is 9."),
    ] {
        let name =
            ["count", "sum", "avg"].into_iter().find(|name| sql.contains(&format!("{name}("))).unwrap();
        let mut data = input(question, &[(name, "bigint")], &[&[Some(value)]]);
        data.sql = Some(sql.into());
        assert_eq!(template(&data), want, "{question} {sql}");
    }
    // What was assumed to be left out is not what was counted.
    let mut left_out = input("How many cancelled bills?", &[("count", "bigint")], &[&[Some("9")]]);
    left_out.assumptions = vec!["Cancelled bills are left out.".into()];
    left_out.sql = Some("SELECT count(*) FROM bills WHERE status <> 'CANCELLED'".into());
    assert_eq!(template(&left_out), "The count is 9.");
    // Nor does a name that the query gives itself.
    let mut named =
        input("How many bills in March 2025?", &[("bills_march_2025", "bigint")], &[&[Some("9")]]);
    named.sql = Some("SELECT count(*) AS bills_march_2025 FROM bills".into());
    assert_eq!(template(&named), "The answer is 9.");
}

#[test]
fn the_domain_lends_its_words_for_what_the_query_reads() {
    let mut data = input("How many active clients do we have?", &[("count", "bigint")], &[&[Some("9")]]);
    data.sql = Some("SELECT count(*) FROM customers WHERE status = 'A'".into());
    assert_eq!(template(&data), "The count is 9.");
    let host = Recorded::new()
        .table(table("customers").columns(&[("id", "bigint"), ("status", "text")]).synonyms(&["clients"]))
        .term_as(Term {
            name: "active".into(),
            synonyms: vec![],
            definition: "Bought this year.".into(),
            table: Some(table_ref("customers")),
            metric_sql: None,
            filter_sql: Some("customers.status = 'A'".into()),
            matched: String::new(),
            score: 0.0,
        });
    assert_eq!(text(play(&host, &data, vec![])), "There are 9 active clients.");
    data.sql = Some("SELECT count(*) FROM customers WHERE status = 'B'".into());
    assert_eq!(text(play(&host, &data, vec![])), "The count is 9.");
}
