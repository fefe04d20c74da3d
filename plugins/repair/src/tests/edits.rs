//! The edits, kind by kind: a failure and its text, and what the text must become.

use airlock_plugin_sdk::ColumnRef;
use airlock_plugin_sdk::contract::repair::ProbeFinding;
use airlock_plugin_sdk::contract::sql::{ComparedLiteral, Facts};
use airlock_plugin_sdk::harness::table_ref;

use super::{input, rewritten, shop};

/// A case: the kind, the message, the text with `>` before the place, and what it must become.
pub(super) fn table_of(cases: &[(&str, &str, &str, Option<&str>)]) {
    for (error_type, message, marked, want) in cases {
        let got = rewritten(&shop(), &input(error_type, message, marked));
        assert_eq!(got.as_deref(), *want, "{message}: {marked}");
    }
}

#[test]
fn foreign_syntax_is_translated() {
    let said = "syntax error at or near \"x\"";
    table_of(&[
        ("syntax_error", said, "SELECT `bill_id` FROM `bills`", Some("SELECT bill_id FROM bills")),
        ("syntax_error", said, "SELECT `Order` FROM bills", Some("SELECT \"Order\" FROM bills")),
        (
            "syntax_error",
            said,
            "SELECT TOP 5 name FROM customers ORDER BY 1;",
            Some("SELECT name FROM customers ORDER BY 1 LIMIT 5;"),
        ),
        (
            "syntax_error",
            said,
            "SELECT DISTINCT TOP (5) name FROM customers",
            Some("SELECT DISTINCT name FROM customers LIMIT 5"),
        ),
        ("syntax_error", said, "SELECT name FROM >customer", Some("SELECT name FROM customers")),
        ("syntax_error", said, "SELECT TOP 5 PERCENT name FROM customers", None),
        (
            "syntax_error",
            said,
            "SELECT name FROM customers LIMIT 10, 5",
            Some("SELECT name FROM customers LIMIT 5 OFFSET 10"),
        ),
        (
            "syntax_error",
            said,
            "SELECT name FROM customers WHERE city == 'x'",
            Some("SELECT name FROM customers WHERE city = 'x'"),
        ),
        (
            "syntax_error",
            said,
            "SELECT [name] FROM [customers] c WHERE c.[city] = 'x'",
            Some("SELECT name FROM customers c WHERE c.city = 'x'"),
        ),
        ("syntax_error", said, "SELECT name, FROM customers", Some("SELECT name FROM customers")),
        ("syntax_error", said, "SELECT count(*)) FROM bills)", None),
        ("syntax_error", said, "SELECT count(*) FROM bills)", Some("SELECT count(*) FROM bills")),
        ("syntax_error", said, "SELECT 1 FROM bills; This counts the bills.", Some("SELECT 1 FROM bills")),
        ("syntax_error", said, "SELECT 1 FROM bills; DROP TABLE bills", None),
        (
            "syntax_error",
            said,
            "SELECT bill_dt + INTERVAL 7 DAY FROM bills",
            Some("SELECT bill_dt + INTERVAL '7 DAY' FROM bills"),
        ),
        (
            "syntax_error",
            said,
            "SELECT name FROM customers WHERE name NOT REGEXP 'a'",
            Some("SELECT name FROM customers WHERE name !~* 'a'"),
        ),
        (
            "syntax_error",
            said,
            "SELECT GROUP_CONCAT(name SEPARATOR ';') FROM customers",
            Some("SELECT string_agg((name)::text, ';') FROM customers"),
        ),
        (
            "syntax_error",
            said,
            "SELECT count(DISTINCT city >FROM customers",
            Some("SELECT count(DISTINCT city) FROM customers"),
        ),
    ]);
}

#[test]
fn unknown_columns_are_found_in_scope() {
    table_of(&[
        (
            "unknown_column",
            "column \"nmae\" does not exist",
            "SELECT >nmae FROM customers ORDER BY nmae",
            Some("SELECT name FROM customers ORDER BY name"),
        ),
        (
            "unknown_column",
            "column b.total_amount does not exist",
            "SELECT sum(>b.total_amount) AS total_amount FROM bills b WHERE b.total_amount IS NOT NULL",
            Some("SELECT sum(b.total_amt) AS total_amount FROM bills b WHERE b.total_amt IS NOT NULL"),
        ),
        // Without a position the message's name is looked for.
        (
            "unknown_column",
            "column b.customer_id does not exist",
            "SELECT b.customer_id FROM bills b",
            Some("SELECT b.cust_id FROM bills b"),
        ),
        // The other table has it.
        (
            "unknown_column",
            "column b.city does not exist",
            "SELECT >b.city FROM bills b JOIN customers c ON c.cust_id = b.cust_id",
            Some("SELECT c.city FROM bills b JOIN customers c ON c.cust_id = b.cust_id"),
        ),
        // The other table has it, but its rows are there once for each item: their sum would be too much.
        (
            "unknown_column",
            "column i.total_amt does not exist",
            "SELECT sum(>i.total_amt) FROM bills b JOIN bill_items i ON i.bill_id = b.bill_id",
            None,
        ),
        (
            "unknown_column",
            "column i.total_amt does not exist",
            "SELECT max(>i.total_amt) FROM bills b JOIN bill_items i ON i.bill_id = b.bill_id",
            Some("SELECT max(b.total_amt) FROM bills b JOIN bill_items i ON i.bill_id = b.bill_id"),
        ),
        // Each item is there once, whatever it is joined to.
        (
            "unknown_column",
            "column b.qty does not exist",
            "SELECT sum(>b.qty) FROM bills b JOIN bill_items i ON i.bill_id = b.bill_id",
            Some("SELECT sum(i.qty) FROM bills b JOIN bill_items i ON i.bill_id = b.bill_id"),
        ),
        (
            "unknown_column",
            "column c.total_amt does not exist",
            "SELECT c.city, avg(>c.total_amt) FROM bills b JOIN customers c ON c.cust_id = b.cust_id GROUP BY 1",
            Some(
                "SELECT c.city, avg(b.total_amt) FROM bills b JOIN customers c ON c.cust_id = b.cust_id GROUP BY 1",
            ),
        ),
        // The other table has it, but then nothing would join the two.
        (
            "unknown_column",
            "column b.prod_id does not exist",
            "SELECT p.name FROM products p, bills b WHERE >b.prod_id = p.prod_id",
            None,
        ),
        (
            "unknown_column",
            "column b.prod_id does not exist",
            "SELECT p.name FROM products p JOIN bills b ON p.price = >b.prod_id",
            None,
        ),
        // Two tables have a name as close.
        (
            "unknown_column",
            "column \"nam\" does not exist",
            "SELECT >nam FROM customers c CROSS JOIN products p",
            None,
        ),
        ("unknown_column", "column \"colour\" does not exist", "SELECT >colour FROM customers", None),
        // What a subquery gives is not known.
        (
            "unknown_column",
            "column s.nmae does not exist",
            "SELECT >s.nmae FROM (SELECT name FROM customers) s",
            None,
        ),
        // A qualifier that nothing has is what is wrong.
        (
            "unknown_column",
            "there is no relation \"bills\" in this part of the statement",
            "SELECT >bills.status FROM bills b",
            Some("SELECT b.status FROM bills b"),
        ),
        // The outer query's alias inside a subquery.
        (
            "unknown_column",
            "\"c\" has no column \"cty\"",
            "SELECT 1 FROM customers c WHERE EXISTS (SELECT 1 FROM bills b WHERE >c.cty = b.status)",
            Some("SELECT 1 FROM customers c WHERE EXISTS (SELECT 1 FROM bills b WHERE c.city = b.status)"),
        ),
        // A unit of time that is read as a column.
        (
            "unknown_column",
            "column \"day\" does not exist",
            "SELECT DATEDIFF(>day, bill_dt, now()) FROM bills",
            Some("SELECT ((now())::date - (bill_dt)::date) FROM bills"),
        ),
        // A text in the wrong quotes.
        (
            "unknown_column",
            "column \"PAID\" does not exist",
            "SELECT 1 FROM bills WHERE status = >\"PAID\"",
            Some("SELECT 1 FROM bills WHERE status = 'PAID'"),
        ),
        (
            "unknown_column",
            "column \"OPEN\" does not exist",
            "SELECT 1 FROM bills WHERE status IN ('PAID', >\"OPEN\")",
            Some("SELECT 1 FROM bills WHERE status IN ('PAID', 'OPEN')"),
        ),
        // An output name in WHERE.
        (
            "unknown_column",
            "column \"taxed\" does not exist",
            "SELECT price * 1.2 AS taxed FROM products WHERE >taxed IS NOT NULL",
            Some("SELECT price * 1.2 AS taxed FROM products WHERE (price * 1.2) IS NOT NULL"),
        ),
        (
            "unknown_column",
            "column \"n\" does not exist",
            "SELECT city, count(*) n FROM customers GROUP BY city HAVING >n IS NOT NULL",
            Some("SELECT city, count(*) n FROM customers GROUP BY city HAVING (count(*)) IS NOT NULL"),
        ),
    ]);
}

#[test]
fn a_suggestion_is_followed_when_there_is_one_and_it_is_near() {
    let text = "SELECT >nmae FROM customers c JOIN bills b ON true";
    for (hint, want) in [
        (
            "Perhaps you meant to reference the column \"c.name\".",
            Some("SELECT c.name FROM customers c JOIN bills b ON true"),
        ),
        (
            "Perhaps you meant to reference the column \"c.city\".",
            Some("SELECT c.name FROM customers c JOIN bills b ON true"),
        ),
    ] {
        let mut input = input("unknown_column", "column \"nmae\" does not exist", text);
        input.failure.hint = Some(hint.into());
        assert_eq!(rewritten(&shop(), &input).as_deref(), want, "{hint}");
    }
}

#[test]
fn unknown_tables_and_aliases_are_found() {
    table_of(&[
        (
            "unknown_table",
            "relation \"bill\" does not exist",
            "SELECT count(*) FROM >bill",
            Some("SELECT count(*) FROM bills"),
        ),
        (
            "unknown_table",
            "relation \"customer\" does not exist",
            "SELECT customer.name FROM >customer",
            Some("SELECT customer.name FROM customers AS customer"),
        ),
        (
            "unknown_table",
            "relation \"sales.bills\" does not exist",
            "SELECT 1 FROM >sales.bills b",
            Some("SELECT 1 FROM public.bills b"),
        ),
        (
            "unknown_table",
            "relation \"invoices\" does not exist",
            "SELECT 1 FROM >invoices",
            Some("SELECT 1 FROM bills"),
        ),
        ("unknown_table", "relation \"old_stocks\" does not exist", "SELECT 1 FROM >old_stocks", None),
        ("unknown_table", "relation \"weather\" does not exist", "SELECT 1 FROM >weather", None),
        (
            "unknown_table",
            "invalid reference to FROM-clause entry for table \"bills\"",
            "SELECT >bills.status FROM bills b WHERE bills.status IS NULL",
            Some("SELECT b.status FROM bills b WHERE b.status IS NULL"),
        ),
        (
            "unknown_table",
            "missing FROM-clause entry for table \"c\"",
            "SELECT >c.name FROM customers JOIN bills b ON b.cust_id = c.cust_id",
            Some("SELECT customers.name FROM customers JOIN bills b ON b.cust_id = customers.cust_id"),
        ),
        ("unknown_table", "missing FROM-clause entry for table \"p\"", "SELECT >p.price FROM bills b", None),
    ]);
}

#[test]
fn unknown_functions_and_operators_are_translated() {
    table_of(&[
        (
            "unknown_function",
            "function ifnull(numeric, integer) does not exist",
            "SELECT sum(>IFNULL(total_amt, 0)) FROM bills WHERE YEAR(bill_dt) = 2026",
            Some("SELECT sum(COALESCE(total_amt, 0)) FROM bills WHERE EXTRACT(YEAR FROM bill_dt) = 2026"),
        ),
        (
            "unknown_function",
            "function len(text) does not exist",
            "SELECT LEN(name) FROM customers",
            Some("SELECT length(rtrim(name)) FROM customers"),
        ),
        (
            "unknown_function",
            "function round(double precision, integer) does not exist",
            "SELECT >round(sqrt(price), 2) FROM products",
            Some("SELECT round((sqrt(price))::numeric, 2) FROM products"),
        ),
        (
            "unknown_function",
            "function lower(bigint) does not exist",
            "SELECT >lower(bill_id) FROM bills",
            Some("SELECT lower((bill_id)::text) FROM bills"),
        ),
        (
            "unknown_function",
            "function sum(boolean) does not exist",
            "SELECT >sum(status = 'PAID') FROM bills",
            Some("SELECT count(*) FILTER (WHERE status = 'PAID') FROM bills"),
        ),
        (
            "unknown_function",
            "there is no known type datetime",
            "SELECT CAST(status AS >datetime) FROM bills",
            Some("SELECT CAST(status AS timestamp) FROM bills"),
        ),
        (
            "unknown_function",
            "function string_agg(bigint, unknown) does not exist",
            "SELECT >string_agg(bill_id, ',') FROM bills",
            Some("SELECT string_agg((bill_id)::text, ',') FROM bills"),
        ),
        ("unknown_function", "function magic(integer) does not exist", "SELECT >magic(1)", None),
    ]);
}

#[test]
fn operators_are_repaired_by_one_cast() {
    for (message, sql, operator, want) in [
        (
            "text = integer",
            "SELECT 1 FROM bills b WHERE b.status = 5 AND true",
            "=",
            "SELECT 1 FROM bills b WHERE b.status = '5' AND true",
        ),
        (
            "text = bigint",
            "SELECT 1 FROM bills b WHERE lower(b.status) = b.bill_id",
            "=",
            "SELECT 1 FROM bills b WHERE lower(b.status) = (b.bill_id)::text",
        ),
        (
            "bigint = text",
            "SELECT 1 FROM bills b WHERE (b.bill_id) = b.status",
            "=",
            "SELECT 1 FROM bills b WHERE ((b.bill_id))::text = b.status",
        ),
        (
            "date = integer",
            "SELECT 1 FROM bills WHERE bill_dt = 2026",
            "=",
            "SELECT 1 FROM bills WHERE EXTRACT(YEAR FROM bill_dt) = 2026",
        ),
        (
            "text == unknown",
            "SELECT 1 FROM bills WHERE status == 'x'",
            "==",
            "SELECT 1 FROM bills WHERE status = 'x'",
        ),
        ("boolean = integer", "SELECT 1 FROM t WHERE paid = 1", "=", "SELECT 1 FROM t WHERE paid = true"),
        (
            "bigint ~~ unknown",
            "SELECT 1 FROM bills WHERE bill_id LIKE '1%'",
            "LIKE",
            "SELECT 1 FROM bills WHERE (bill_id)::text LIKE '1%'",
        ),
        ("text + text", "SELECT name + city FROM customers", "+", "SELECT name || city FROM customers"),
        (
            "text >= date",
            "SELECT 1 FROM bills WHERE status >= bill_dt",
            ">=",
            "SELECT 1 FROM bills WHERE (status)::date >= bill_dt",
        ),
    ] {
        let mut input = input("unknown_function", &format!("operator does not exist: {message}"), "x");
        input.failure.sql = sql.into();
        input.failure.position = Some(sql.find(operator).unwrap() as u32 + 1);
        assert_eq!(rewritten(&shop(), &input).as_deref(), Some(want), "{message}");
    }
}

#[test]
fn types_are_cast_where_one_cast_is_meant() {
    let said = "invalid input syntax for type numeric: \"none\"";
    table_of(&[
        (
            "type_mismatch",
            said,
            "SELECT COALESCE(total_amt, >'none') FROM bills",
            Some("SELECT COALESCE((total_amt)::text, 'none') FROM bills"),
        ),
        (
            "type_mismatch",
            said,
            "SELECT 1 FROM bills WHERE bill_dt = >''",
            Some("SELECT 1 FROM bills WHERE bill_dt IS NULL"),
        ),
        (
            "type_mismatch",
            said,
            "SELECT 1 FROM bills WHERE total_amt = >'1,000.50'",
            Some("SELECT 1 FROM bills WHERE total_amt = 1000.50"),
        ),
        ("type_mismatch", said, "SELECT 1 FROM bills WHERE total_amt = >'none'", None),
        // A comma that begins decimals.
        ("type_mismatch", said, "SELECT 1 FROM bills WHERE total_amt = >'1.000,50'", None),
        ("type_mismatch", said, "SELECT 1 FROM bills WHERE total_amt = >'12,50'", None),
        ("type_mismatch", said, "SELECT 1 FROM bills WHERE total_amt = >'1234,567'", None),
        // As texts, 9 is more than 10.
        (
            "unknown_function",
            "operator does not exist: text > integer",
            "SELECT 1 FROM bills WHERE status >> 5",
            None,
        ),
    ]);
}

#[test]
fn a_spelling_replaces_its_literal_only() {
    let status = ColumnRef { table: table_ref("bills"), column: "status".into() };
    let probe = |spellings: &[&str]| {
        Some(ProbeFinding {
            column: status.clone(),
            literal: "paid".into(),
            spellings: spellings.iter().map(|text| (*text).into()).collect(),
            rows_without: None,
        })
    };
    let once = "SELECT 1 FROM bills WHERE status = 'paid'";
    for (spellings, want) in [
        (&["PAID"][..], Some("SELECT 1 FROM bills WHERE status = 'PAID'")),
        (&["PAID", "Paid"], None),
        (&[], None),
    ] {
        let mut input = input("empty_result", "no row", once);
        input.probe = probe(spellings);
        assert_eq!(rewritten(&shop(), &input).as_deref(), want, "{spellings:?}");
    }

    // The same text stands beside another column; the gate tells them apart.
    let twice = "SELECT 1 FROM bills WHERE status = 'paid' OR note = 'paid'";
    let (start, end) = (35, 41);
    assert_eq!(&twice[start..end], "'paid'");
    let facts = Facts {
        tables: vec![],
        columns: vec![],
        functions: vec![],
        literals: vec![ComparedLiteral {
            column: status.clone(),
            operator: "=".into(),
            literal: "paid".into(),
            start: start as u32,
            end: end as u32,
        }],
    };
    let mut input = input("empty_result", "no row", twice);
    input.probe = probe(&["PAID"]);
    let host = shop().verdict(twice, Ok(facts));
    assert_eq!(
        rewritten(&host, &input).as_deref(),
        Some("SELECT 1 FROM bills WHERE status = 'PAID' OR note = 'paid'")
    );
}
