//! Everyday English over a yard that rents out tools: turns of speech, shares of a measure, two questions in one, people
//! told by what they did, a measure against a limit.

use airlock_plugin_sdk::contract::retrieval::Term;
use airlock_plugin_sdk::harness::{Recorded, column, table, table_ref};

use super::{check, line};

fn yard() -> Recorded {
    let mut clerk = column("clerk_id", "bigint");
    clerk.description = "Who wrote out the slip.".into();
    let mut firm = column("firm_id", "bigint");
    firm.nullable = true;
    let account = Term {
        name: "account hire".into(),
        synonyms: vec!["on account".into()],
        definition: "A hire to a firm.".into(),
        table: Some(table_ref("slips")),
        metric_sql: None,
        filter_sql: Some("slips.firm_id IS NOT NULL".into()),
        matched: String::new(),
        score: 1.0,
    };
    Recorded::new()
        .table(
            table("slips")
                .columns(&[("slip_id", "bigint"), ("slip_date", "date"), ("fee", "numeric(10,2)")])
                .column(clerk)
                .column(firm)
                .column(column("state", "text"))
                .primary_key(&["slip_id"])
                .synonyms(&["slip", "hire"])
                .time_column("slip_date"),
        )
        .table(
            table("clerks")
                .columns(&[("clerk_id", "bigint"), ("clerk_name", "text")])
                .primary_key(&["clerk_id"])
                .label_column("clerk_name"),
        )
        .table(
            table("firms")
                .columns(&[("firm_id", "bigint"), ("firm_name", "text"), ("ceiling", "numeric(10,2)")])
                .primary_key(&["firm_id"])
                .label_column("firm_name"),
        )
        .table(
            table("tools")
                .columns(&[
                    ("tool_id", "bigint"),
                    ("tool_name", "text"),
                    ("price", "numeric(10,2)"),
                    ("stock", "integer"),
                ])
                .primary_key(&["tool_id"])
                .label_column("tool_name"),
        )
        .join("slips.clerk_id", "clerks.clerk_id")
        .join("slips.firm_id", "firms.firm_id")
        .values("slips.state", &["OPEN", "VOID"])
        .values("tools.tool_name", &["Ladder"])
        .metric("income", &["rent", "owe us"], "slips", "sum(slips.fee)", "slips.state <> 'VOID'")
        .term_as(account)
}

#[test]
fn turns_of_speech() {
    check(
        &yard(),
        &[
            (
                "Our three costliest tools with their prices, dearest first",
                "SELECT t.tool_name, t.price FROM tools AS t ORDER BY t.price DESC NULLS LAST, t.tool_id LIMIT 3",
            ),
            (
                "tools with their prices, dearest first",
                "SELECT t.tool_name, t.price FROM tools AS t ORDER BY t.price DESC NULLS LAST, t.tool_name, t.tool_id",
            ),
            (
                "How many pieces of Ladder do we have on the shelf right now?",
                "SELECT sum(t.stock) AS total_stock FROM tools AS t WHERE t.tool_name = 'Ladder'",
            ),
            (
                "How has our income gone month by month from May 2026 to now?",
                "SELECT date_trunc('month', s.slip_date)::date AS month, sum(s.fee) AS income FROM slips AS s WHERE s.slip_date >= DATE '2026-05-01' AND s.slip_date < DATE '2026-08-21' AND s.state <> 'VOID' GROUP BY date_trunc('month', s.slip_date)::date ORDER BY month",
            ),
            (
                "Show me 2025 income by the person who wrote out the slip.",
                "SELECT c.clerk_name, sum(s.fee) AS income FROM slips AS s JOIN clerks AS c ON c.clerk_id = s.clerk_id WHERE s.slip_date >= DATE '2025-01-01' AND s.slip_date < DATE '2026-01-01' AND s.state <> 'VOID' GROUP BY c.clerk_name, c.clerk_id ORDER BY income DESC NULLS LAST, c.clerk_name, c.clerk_id",
            ),
            (
                "Which firms have nothing in rent?",
                "SELECT f.firm_name FROM firms AS f WHERE NOT EXISTS (SELECT 1 FROM slips WHERE slips.firm_id = f.firm_id AND (slips.state <> 'VOID') HAVING sum(slips.fee) <> 0) ORDER BY f.firm_name, f.firm_id",
            ),
            (
                "How many slips are more than 3 weeks old?",
                "SELECT count(*) AS slips_count FROM slips AS s WHERE s.slip_date < DATE '2026-07-30'",
            ),
        ],
    );
}

#[test]
fn shares_and_comparisons() {
    check(
        &yard(),
        &[
            (
                "What share of our 2025 income was on account?",
                "SELECT 100.0 * ( SELECT sum(s.fee) AS income FROM slips AS s WHERE s.slip_date >= DATE '2025-01-01' AND s.slip_date < DATE '2026-01-01' AND s.state <> 'VOID' AND s.firm_id IS NOT NULL ) / NULLIF(( SELECT sum(s.fee) AS income FROM slips AS s WHERE s.slip_date >= DATE '2025-01-01' AND s.slip_date < DATE '2026-01-01' AND s.state <> 'VOID' ), 0) AS percentage",
            ),
            (
                "Of all the slips we've written since 2025, what percentage got void?",
                "SELECT 100.0 * count(*) FILTER (WHERE s.state = 'VOID') / NULLIF(count(*), 0) AS percentage FROM slips AS s WHERE s.slip_date >= DATE '2025-01-01'",
            ),
            (
                "By what percentage was income in May 2026 up or down on May 2025?",
                "SELECT may_2026, may_2025, may_2026 - may_2025 AS difference, 100.0 * (may_2026 - may_2025) / NULLIF(may_2025, 0) AS change_percent FROM ( SELECT ( SELECT sum(s.fee) AS income FROM slips AS s WHERE s.slip_date >= DATE '2026-05-01' AND s.slip_date < DATE '2026-06-01' AND s.state <> 'VOID' ) AS may_2026, ( SELECT sum(s.fee) AS income FROM slips AS s WHERE s.slip_date >= DATE '2025-05-01' AND s.slip_date < DATE '2025-06-01' AND s.state <> 'VOID' ) AS may_2025 ) AS compared",
            ),
            (
                "Which firms owe us more than their ceiling?",
                "SELECT f.firm_name, sum(s.fee) AS income, f.ceiling FROM slips AS s JOIN firms AS f ON f.firm_id = s.firm_id WHERE s.state <> 'VOID' GROUP BY f.firm_name, f.firm_id, f.ceiling HAVING sum(s.fee) - f.ceiling > 0 ORDER BY sum(s.fee) - f.ceiling DESC NULLS LAST, f.firm_name, f.firm_id, f.ceiling",
            ),
            (
                "What is the income in 2025, and how many slips in 2026?",
                "SELECT ( SELECT sum(s.fee) AS income FROM slips AS s WHERE s.slip_date >= DATE '2025-01-01' AND s.slip_date < DATE '2026-01-01' AND s.state <> 'VOID' ) AS income, ( SELECT count(*) AS slips_count FROM slips AS s WHERE s.slip_date >= DATE '2026-01-01' AND s.slip_date < DATE '2027-01-01' ) AS many_slips",
            ),
        ],
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    for question in [
        "What share of income was on income?",
        "Which tools have nothing in stock?",
        "Which firms had nothing in rent in 2025?",
        "What is the income by clerk, and how many of them are there?",
        "What is the income in 2025, and how many slips are there?",
        "Which clerks owe us more than their ceiling?",
        "income by the person who lost the slip",
    ] {
        assert!(line(&yard(), question).starts_with("refused"), "{question}: {}", line(&yard(), question));
    }
}
