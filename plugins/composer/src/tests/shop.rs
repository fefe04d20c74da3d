//! A shop with lines, an archive by years and a glossary.

use airlock_plugin_sdk::contract::generator::GenerateStep;
use airlock_plugin_sdk::contract::sql::{ComparedLiteral, Facts};
use airlock_plugin_sdk::contract::types::{ColumnRef, TableRef};
use airlock_plugin_sdk::harness::{Recorded, column, table};

use super::{check, input, line, refuses, run};
use crate::Composer;
use airlock_plugin_sdk::Generator;

pub(super) fn shop() -> Recorded {
    let mut status = column("status", "character varying(12)");
    status.nullable = false;
    Recorded::new()
        .table(
            table("sales")
                .columns(&[
                    ("sale_id", "bigint"),
                    ("sale_dt", "date"),
                    ("cust_id", "bigint"),
                    ("total_amt", "numeric(12,2)"),
                ])
                .column(status)
                .primary_key(&["sale_id"])
                .synonyms(&["receipt"])
                .attribute("covers-from", "2025-01-01"),
        )
        .table(
            table("old_sales")
                .columns(&[
                    ("sale_no", "text"),
                    ("sale_dt", "date"),
                    ("total_amt", "numeric(12,2)"),
                    ("status", "text"),
                ])
                .attribute("covers-from", "2022-01-01")
                .attribute("covers-until", "2025-01-01"),
        )
        .table(
            table("sale_lines")
                .columns(&[
                    ("line_id", "bigint"),
                    ("sale_id", "bigint"),
                    ("product_id", "bigint"),
                    ("qty", "integer"),
                ])
                .primary_key(&["line_id"]),
        )
        .table(
            table("products")
                .columns(&[
                    ("product_id", "bigint"),
                    ("name", "text"),
                    ("price", "numeric(10,2)"),
                    ("is_active", "boolean"),
                    ("Shelf No", "text"),
                ])
                .primary_key(&["product_id"])
                .synonyms(&["article"]),
        )
        .table(
            table("customers")
                .columns(&[
                    ("cust_id", "bigint"),
                    ("first_name", "text"),
                    ("last_name", "text"),
                    ("city", "text"),
                    ("signup_date", "date"),
                ])
                .primary_key(&["cust_id"]),
        )
        .table(table("till_settings").columns(&[("skey", "text"), ("sval", "text")]))
        .join("sale_lines.sale_id", "sales.sale_id")
        .join("sale_lines.product_id", "products.product_id")
        .join_as(airlock_plugin_sdk::contract::catalog::Join {
            from: airlock_plugin_sdk::harness::table_ref("sales"),
            from_columns: vec!["cust_id".into()],
            to: airlock_plugin_sdk::harness::table_ref("customers"),
            to_columns: vec!["cust_id".into()],
            origin: "foreign-key".into(),
            verified: true,
            many_to_one: true,
            optional: true,
        })
        .values("sales.status", &["PAID", "VOID"])
        .values("customers.city", &["Pune", "New Delhi"])
        .metric("revenue", &["turnover"], "sales", "sum(sales.total_amt)", "sales.status <> 'VOID'")
        .metric(
            "revenue",
            &["turnover"],
            "old_sales",
            "sum(old_sales.total_amt)",
            "old_sales.status <> 'VOID'",
        )
        .metric("units sold", &["best selling"], "sale_lines", "sum(sale_lines.qty)", "")
}

#[test]
fn plain_kinds() {
    check(
        &shop(),
        &[
            ("How many customers do we have?", "SELECT count(*) AS customers_count FROM customers AS c"),
            ("Customer count please", "SELECT count(*) AS customers_count FROM customers AS c"),
            (
                "how many inactive articles are there",
                "SELECT count(*) AS products_count FROM products AS p WHERE NOT p.is_active",
            ),
            ("What is the average product price?", "SELECT avg(p.price) AS average_price FROM products AS p"),
            (
                "What is the most expensive product?",
                "SELECT p.name, p.price FROM products AS p ORDER BY p.price DESC NULLS LAST, p.product_id LIMIT 1",
            ),
            (
                "How many different cities do customers come from?",
                "SELECT count(DISTINCT c.city) AS city_count FROM customers AS c",
            ),
            (
                "List customers from New Delhi",
                "SELECT c.first_name, c.last_name FROM customers AS c WHERE c.city = 'New Delhi' ORDER BY c.first_name, c.last_name, c.cust_id",
            ),
            (
                "Which products cost more than 100? Show their shelf no",
                "SELECT p.name, p.\"Shelf No\" FROM products AS p WHERE p.price > 100 ORDER BY p.name, p.product_id",
            ),
            (
                "products with a price above 100",
                "SELECT p.name FROM products AS p WHERE p.price > 100 ORDER BY p.name, p.product_id",
            ),
            (
                "shelf no of products",
                "SELECT p.name, p.\"Shelf No\" FROM products AS p ORDER BY p.name, p.product_id",
            ),
        ],
    );
}

#[test]
fn time_and_coverage() {
    check(
        &shop(),
        &[
            (
                "How many receipts were raised in July 2026?",
                "SELECT count(*) AS sales_count FROM sales AS s WHERE s.sale_dt >= DATE '2026-07-01' AND s.sale_dt < DATE '2026-08-01'",
            ),
            (
                "total revenue in 2023",
                "SELECT sum(os.total_amt) AS revenue FROM old_sales AS os WHERE os.sale_dt >= DATE '2023-01-01' AND os.sale_dt < DATE '2024-01-01' AND os.status <> 'VOID'",
            ),
            (
                "monthly turnover this year",
                "SELECT date_trunc('month', s.sale_dt)::date AS month, sum(s.total_amt) AS revenue FROM sales AS s WHERE s.sale_dt >= DATE '2026-01-01' AND s.sale_dt < DATE '2027-01-01' AND s.status <> 'VOID' GROUP BY date_trunc('month', s.sale_dt)::date ORDER BY month",
            ),
            (
                "What is our revenue?",
                "SELECT sum(revenue) AS revenue FROM ( SELECT s.total_amt AS revenue FROM sales AS s WHERE s.status <> 'VOID' UNION ALL SELECT os.total_amt AS revenue FROM old_sales AS os WHERE os.status <> 'VOID' ) AS parts",
            ),
            (
                "customers who signed up in 2025",
                "SELECT c.first_name, c.last_name FROM customers AS c WHERE c.signup_date >= DATE '2025-01-01' AND c.signup_date < DATE '2026-01-01' ORDER BY c.first_name, c.last_name, c.cust_id",
            ),
            (
                "revenue in 2019",
                "refused: `sales` and `old_sales` hold rows from 2022-01-01 only, which is not all of the time asked for.",
            ),
        ],
    );
}

#[test]
fn groups_ranks_and_joins() {
    check(
        &shop(),
        &[
            (
                "Which five products sold the most units in 2026?",
                "SELECT p.name, sum(sl.qty) AS units_sold FROM sale_lines AS sl JOIN sales AS s ON s.sale_id = sl.sale_id JOIN products AS p ON p.product_id = sl.product_id WHERE s.sale_dt >= DATE '2026-01-01' AND s.sale_dt < DATE '2027-01-01' GROUP BY p.name, p.product_id ORDER BY units_sold DESC NULLS LAST, p.product_id LIMIT 5",
            ),
            (
                "top 3 best selling products",
                "SELECT p.name, sum(sl.qty) AS units_sold FROM sale_lines AS sl JOIN products AS p ON p.product_id = sl.product_id GROUP BY p.name, p.product_id ORDER BY units_sold DESC NULLS LAST, p.product_id LIMIT 3",
            ),
            (
                "number of customers in each city",
                "SELECT c.city, count(*) AS customers_count FROM customers AS c GROUP BY c.city ORDER BY customers_count DESC, c.city",
            ),
            (
                "number of receipts per customer in 2026",
                "SELECT c.first_name, c.last_name, count(*) AS sales_count FROM sales AS s LEFT JOIN customers AS c ON c.cust_id = s.cust_id WHERE s.sale_dt >= DATE '2026-01-01' AND s.sale_dt < DATE '2027-01-01' GROUP BY c.first_name, c.last_name, c.cust_id ORDER BY sales_count DESC, c.first_name, c.last_name, c.cust_id",
            ),
            (
                "Which products were never sold?",
                "SELECT p.name FROM products AS p WHERE NOT EXISTS ( SELECT 1 FROM sale_lines AS sl JOIN sales AS s ON s.sale_id = sl.sale_id WHERE p.product_id = sl.product_id) ORDER BY p.name, p.product_id",
            ),
            (
                "customers without receipts",
                "SELECT c.first_name, c.last_name FROM customers AS c WHERE NOT EXISTS ( SELECT 1 FROM sales AS s WHERE c.cust_id = s.cust_id) ORDER BY c.first_name, c.last_name, c.cust_id",
            ),
            (
                "customers with more than 3 receipts",
                "SELECT c.first_name, c.last_name, count(*) AS sales_count FROM sales AS s JOIN customers AS c ON c.cust_id = s.cust_id GROUP BY c.first_name, c.last_name, c.cust_id HAVING count(*) > 3 ORDER BY sales_count DESC, c.first_name, c.last_name, c.cust_id",
            ),
            (
                "What percentage of receipts are void?",
                "SELECT 100.0 * count(*) FILTER (WHERE s.status = 'VOID') / NULLIF(count(*), 0) AS percentage FROM sales AS s",
            ),
        ],
    );
}

#[test]
fn what_the_data_does_not_have_is_refused_by_name() {
    refuses(
        &shop(),
        &[
            ("What is our customers' favourite colour?", &["favourite", "colour"]),
            ("How many customers in each city own a dog?", &["dog"]),
            ("volcano eruptions per year", &["volcano", "eruptions"]),
            ("average customer satisfaction", &["satisfaction"]),
        ],
    );
}

#[test]
fn a_measure_is_never_multiplied() {
    let GenerateStep::Refuse(refusal) = run(&shop(), "revenue by product in 2026") else {
        panic!("it was answered")
    };
    assert!(refusal.reason.contains("more than once"), "{}", refusal.reason);
}

#[test]
fn a_verified_example_is_taken_over_when_nothing_differs() {
    let host = shop().example("How many customers in Pune?", "SELECT 42");
    let GenerateStep::Done(draft) = run(&host, "how many customers in pune") else { panic!("refused") };
    assert_eq!((draft.sql.as_str(), draft.used.as_slice()), ("SELECT 42", &["example-1".to_owned()][..]));
    let GenerateStep::Done(draft) = run(&host, "How many customers in New Delhi?") else { panic!("refused") };
    assert!(draft.sql.contains("'New Delhi'"), "{}", draft.sql);
    let moving = shop().example("How many receipts last month?", "SELECT 42");
    let GenerateStep::Done(draft) = run(&moving, "How many receipts last month?") else { panic!("refused") };
    assert!(draft.sql.contains("2026-07-01"), "{}", draft.sql);
}

#[test]
fn an_example_that_tells_its_time_from_today_is_taken_over() {
    let sql = "SELECT count(*) FROM sales WHERE sale_dt >= CURRENT_DATE - 30";
    let host = shop().example("How many receipts in the last 30 days?", sql);
    for (question, taken) in
        [("How many receipts in the last 30 days?", true), ("How many receipts in the last 7 days?", false)]
    {
        let reused = matches!(run(&host, question), GenerateStep::Done(draft) if draft.sql == sql);
        assert_eq!(reused, taken, "{question}");
    }
    // What is written down beside it would stay behind.
    for fixed in ["sale_dt < DATE '2026-09-01'", "extract(year FROM sale_dt) = 2026", "sale_dt < '20260901'"]
    {
        let sql = format!("{sql} AND {fixed}");
        let host = shop().example("How many receipts in the last 30 days?", &sql);
        let got = run(&host, "How many receipts in the last 30 days?");
        assert!(!matches!(got, GenerateStep::Done(draft) if draft.sql == sql), "{fixed}");
    }
}

/// A place of a text where a column of the customers is compared.
fn place(sql: &str, column: &str, text: &str, nth: usize) -> ComparedLiteral {
    let start = sql.match_indices(text).nth(nth).map(|(at, _)| at).unwrap();
    ComparedLiteral {
        column: ColumnRef {
            table: TableRef { schema: "public".into(), name: "customers".into() },
            column: column.into(),
        },
        operator: "LIKE".into(),
        literal: text.trim_matches('\'').into(),
        start: u32::try_from(start).unwrap(),
        end: u32::try_from(start + text.len()).unwrap(),
    }
}

#[test]
fn a_value_is_exchanged_where_a_column_that_holds_it_is_compared() {
    let sql = "SELECT count(*) FROM customers WHERE city = 'Pune'";
    let other = "SELECT count(*) FROM customers WHERE name = 'Pune'";
    for (sql, column, times, want) in [
        (sql, "city", 1, Some("SELECT count(*) FROM customers WHERE city = 'New Delhi'")),
        // A place that is told twice is one.
        (sql, "city", 2, Some("SELECT count(*) FROM customers WHERE city = 'New Delhi'")),
        (other, "name", 1, None),
    ] {
        let literals = vec![place(sql, column, "'Pune'", 0); times];
        let facts = Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals };
        let host = shop().example("How many customers in Pune?", sql).verdict(sql, Ok(facts));
        let GenerateStep::Done(draft) = run(&host, "How many customers in New Delhi?") else {
            panic!("refused")
        };
        let taken = (!draft.used.is_empty()).then_some(draft.sql.as_str());
        assert_eq!(taken, want, "{sql}");
    }
}

#[test]
fn a_value_is_exchanged_inside_patterns_of_one_column() {
    let sql =
        "SELECT count(*) FILTER (WHERE lower(city) LIKE '%pune%') FROM customers WHERE city ILIKE '%Pune%'";
    for (other, want) in [
        (
            "city",
            Some(
                "SELECT count(*) FILTER (WHERE lower(city) LIKE '%new delhi%') FROM customers WHERE city ILIKE '%New Delhi%'",
            ),
        ),
        ("name", None),
    ] {
        let literals = vec![place(sql, "city", "'%pune%'", 0), place(sql, other, "'%Pune%'", 0)];
        let facts = Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals };
        let host = shop().example("How many customers in Pune?", sql).verdict(sql, Ok(facts));
        let GenerateStep::Done(draft) = run(&host, "How many customers in New Delhi?") else {
            panic!("refused")
        };
        let taken = (!draft.used.is_empty()).then_some(draft.sql.as_str());
        assert_eq!(taken, want, "{other}");
    }
}

#[test]
fn an_example_is_not_moved_to_a_time_that_its_table_does_not_hold() {
    let sql = |year: i32| {
        format!(
            "SELECT count(*) FROM sales WHERE sale_dt >= DATE '{year}-01-01' AND sale_dt < DATE '{}-01-01'",
            year + 1
        )
    };
    let facts = Facts {
        tables: vec![TableRef { schema: "public".into(), name: "sales".into() }],
        columns: Vec::new(),
        functions: Vec::new(),
        literals: Vec::new(),
    };
    let mut host = shop().example("How many receipts in 2026?", &sql(2026));
    for year in [2023, 2025] {
        host = host.verdict(&sql(year), Ok(facts.clone()));
    }
    for (question, taken) in [("How many receipts in 2025?", true), ("How many receipts in 2023?", false)] {
        let reused = matches!(run(&host, question), GenerateStep::Done(draft) if !draft.used.is_empty());
        assert_eq!(reused, taken, "{question}");
    }
}

#[test]
fn what_failed_once_is_not_offered_again() {
    let host = shop();
    let mut input = input(&host, "How many customers do we have?");
    input.attempts.push(airlock_plugin_sdk::Attempt {
        sql: "SELECT 1".into(),
        origin: "composer".into(),
        failure: None,
        row_count: None,
        duration_ms: 1,
    });
    assert!(matches!(Composer::run(&host, input, Vec::new()).unwrap(), GenerateStep::Refuse(_)));
}

#[test]
fn a_time_that_two_tables_hold_is_read_from_both() {
    check(
        &shop(),
        &[
            (
                "turnover in 2024 and 2025",
                "SELECT sum(revenue) AS revenue FROM ( SELECT s.total_amt AS revenue FROM sales AS s WHERE s.sale_dt >= DATE '2024-01-01' AND s.sale_dt < DATE '2026-01-01' AND s.status <> 'VOID' UNION ALL SELECT os.total_amt AS revenue FROM old_sales AS os WHERE os.sale_dt >= DATE '2024-01-01' AND os.sale_dt < DATE '2026-01-01' AND os.status <> 'VOID' ) AS parts",
            ),
            (
                "turnover by customer in 2024 and 2025",
                "refused: Part of the time asked for is in `old_sales` (from 2022-01-01 until before 2025-01-01), which does not give this: No key connects `old_sales`, `customers`.",
            ),
            (
                "How many receipts since 2024?",
                "refused: `sales` holds rows from 2025-01-01 only, which is not all of the time asked for.",
            ),
        ],
    );
}

#[test]
fn words_that_would_be_lost_are_refused() {
    for question in [
        "turnover including void receipts",
        "turnover of void receipts in 2026",
        "how much by city",
        "turnover by March 2026",
        "receipts per customer who left",
    ] {
        assert!(matches!(run(&shop(), question), GenerateStep::Refuse(_)), "{question}");
    }
}

#[test]
fn participles_gather_and_things_compare() {
    check(
        &shop(),
        &[
            (
                "units sold by product in 2026",
                "SELECT p.name, sum(sl.qty) AS units_sold FROM sale_lines AS sl JOIN sales AS s ON s.sale_id = sl.sale_id JOIN products AS p ON p.product_id = sl.product_id WHERE s.sale_dt >= DATE '2026-01-01' AND s.sale_dt < DATE '2027-01-01' GROUP BY p.name, p.product_id ORDER BY units_sold DESC NULLS LAST, p.name, p.product_id",
            ),
            (
                "products cheaper than 50",
                "SELECT p.name FROM products AS p WHERE p.price < 50 ORDER BY p.name, p.product_id",
            ),
            (
                "last 3 receipts in 2026",
                "SELECT s.sale_id, s.sale_dt, s.cust_id, s.total_amt, s.status FROM sales AS s WHERE s.sale_dt >= DATE '2026-01-01' AND s.sale_dt < DATE '2027-01-01' ORDER BY s.sale_dt DESC NULLS LAST, s.sale_id DESC LIMIT 3",
            ),
            (
                "how many customers have more than 3 receipts in 2026",
                "SELECT count(*) AS customers_count FROM ( SELECT c.first_name, c.last_name, count(*) AS sales_count FROM sales AS s JOIN customers AS c ON c.cust_id = s.cust_id WHERE s.sale_dt >= DATE '2026-01-01' AND s.sale_dt < DATE '2027-01-01' GROUP BY c.first_name, c.last_name, c.cust_id HAVING count(*) > 3 ORDER BY sales_count DESC, c.first_name, c.last_name, c.cust_id ) AS counted",
            ),
            (
                "customers without receipts in 2026",
                "SELECT c.first_name, c.last_name FROM customers AS c WHERE NOT EXISTS ( SELECT 1 FROM sales AS s WHERE c.cust_id = s.cust_id AND s.sale_dt >= DATE '2026-01-01' AND s.sale_dt < DATE '2027-01-01') ORDER BY c.first_name, c.last_name, c.cust_id",
            ),
        ],
    );
}

#[test]
fn what_an_example_leaves_out_unsaid_bars_other_values() {
    let question = "How many customers with idle tills are in Pune?";
    let other = "How many customers with idle tills are in New Delhi?";
    for (column, rest, reused) in [
        ("cust_id", "cust_id <> '7'", false),
        ("city", "city <> '7'", false),
        ("last_name", "last_name <> '7'", true),
    ] {
        let sql = format!("SELECT count(*) FROM customers WHERE city = 'Pune' AND {rest}");
        let literals = vec![place(&sql, "city", "'Pune'", 0), place(&sql, column, "'7'", 0)];
        let facts = Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals };
        let host = shop().example(question, &sql).verdict(&sql, Ok(facts));
        let same = run(&host, question);
        assert!(matches!(same, GenerateStep::Done(draft) if draft.sql == sql), "{column}");
        let got = run(&host, other);
        let put = sql.replace("Pune", "New Delhi");
        assert_eq!(matches!(got, GenerateStep::Done(draft) if draft.sql == put), reused, "{column}");
    }
}

#[test]
fn nothing_of_a_quantity_is_no_missing_value() {
    let goods = |nullable: bool| {
        let mut stock = column("stock_qty", "integer");
        stock.nullable = nullable;
        let goods = table("goods").columns(&[("good_id", "bigint"), ("name", "text"), ("colour", "text")]);
        Recorded::new().table(goods.column(stock).primary_key(&["good_id"]))
    };
    for (question, nullable) in [
        ("Which goods have no stock?", true),
        ("Which goods have no stock?", false),
        ("Which goods are not out of stock?", true),
    ] {
        let got = line(&goods(nullable), question);
        assert!(got.starts_with("refused"), "{question}: {got}");
    }
    assert!(line(&goods(true), "Which goods have no colour?").contains("colour IS NULL"));
}
