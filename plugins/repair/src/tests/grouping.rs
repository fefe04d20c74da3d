//! Groups that are missing, and divisors that may be zero.

use airlock_plugin_sdk::harness::{Recorded, table};

use super::edits::table_of;
use super::{input, rewritten};

#[test]
fn missing_groups_are_added() {
    let said =
        "column \"customers.name\" must appear in the GROUP BY clause or be used in an aggregate function";
    table_of(&[
        (
            "grouping_error",
            said,
            "SELECT >name, city, count(*) n FROM customers GROUP BY city ORDER BY 3",
            Some("SELECT name, city, count(*) n FROM customers GROUP BY city, name ORDER BY 3"),
        ),
        (
            "grouping_error",
            said,
            "SELECT >c.name AS who, lower(c.city), count(*) FROM customers c WHERE true ORDER BY 3",
            Some(
                "SELECT c.name AS who, lower(c.city), count(*) FROM customers c WHERE true GROUP BY c.name, lower(c.city) ORDER BY 3",
            ),
        ),
        (
            "grouping_error",
            said,
            "SELECT >name, city, 'x', count(*) FROM customers GROUP BY 2",
            Some("SELECT name, city, 'x', count(*) FROM customers GROUP BY 2, name"),
        ),
        // Ordering by it would split the rows.
        ("grouping_error", said, "SELECT count(*) FROM customers GROUP BY city ORDER BY >name", None),
        ("grouping_error", said, "SELECT >name || count(*) FROM customers", None),
    ]);
}

#[test]
fn a_key_is_not_grouped_by_and_no_group_is_picked_at_random() {
    let host = || {
        Recorded::new().table(
            table("bills")
                .columns(&[
                    ("bill_id", "bigint"),
                    ("bill_no", "text"),
                    ("city", "text"),
                    ("total_amt", "numeric"),
                ])
                .primary_key(&["bill_id"])
                .attribute("unique-key", "bill_no"),
        )
    };
    for (sql, want) in [
        // An aggregate over one row says nothing, whether one such row is shown or all.
        ("SELECT >bill_no, max(total_amt) FROM bills LIMIT 1", None),
        ("SELECT >bill_id, max(total_amt) FROM bills", None),
        ("SELECT b.city, >b.bill_no, sum(total_amt) FROM bills b GROUP BY b.city", None),
        ("SELECT >bill_no, max(total_amt) FROM bills ORDER BY bill_no LIMIT 1", None),
        ("SELECT >bill_id FROM bills HAVING count(*) > 1", None),
        // Ordered by it, it says which rows come first.
        (
            "SELECT >bill_no, max(total_amt) FROM bills ORDER BY 2 DESC LIMIT 1",
            Some("SELECT bill_no, max(total_amt) FROM bills GROUP BY bill_no ORDER BY 2 DESC LIMIT 1"),
        ),
        (
            "SELECT >bill_no, max(total_amt) AS most FROM bills ORDER BY most DESC",
            Some("SELECT bill_no, max(total_amt) AS most FROM bills GROUP BY bill_no ORDER BY most DESC"),
        ),
        (
            "SELECT >bill_no FROM bills ORDER BY max(total_amt) DESC LIMIT 1",
            Some("SELECT bill_no FROM bills GROUP BY bill_no ORDER BY max(total_amt) DESC LIMIT 1"),
        ),
        // What the text groups by itself is not split further.
        (
            "SELECT bill_no, >city, sum(total_amt) FROM bills GROUP BY bill_no",
            Some("SELECT bill_no, city, sum(total_amt) FROM bills GROUP BY bill_no, city"),
        ),
        // One of several groups, whichever comes first.
        ("SELECT >city, max(total_amt) FROM bills LIMIT 1", None),
        ("SELECT >city, max(total_amt) FROM bills FETCH FIRST ROW ONLY", None),
        (
            "SELECT >city, max(total_amt) FROM bills LIMIT 10",
            Some("SELECT city, max(total_amt) FROM bills GROUP BY city LIMIT 10"),
        ),
        (
            "SELECT >city, max(total_amt) FROM bills ORDER BY 2 DESC LIMIT 1",
            Some("SELECT city, max(total_amt) FROM bills GROUP BY city ORDER BY 2 DESC LIMIT 1"),
        ),
    ] {
        let failed = input("grouping_error", "column \"bills.city\" must appear in the GROUP BY clause", sql);
        assert_eq!(rewritten(&host(), &failed).as_deref(), want, "{sql}");
    }
}

#[test]
fn divisors_are_guarded() {
    table_of(&[
        (
            "division_by_zero",
            "division by zero",
            "SELECT a.x / a.y, sum(b)/ count(c)::numeric, d / 100 FROM t a",
            Some("SELECT a.x / NULLIF(a.y, 0), sum(b)/ NULLIF(count(c)::numeric, 0), d / 100 FROM t a"),
        ),
        ("division_by_zero", "division by zero", "SELECT 1 / (a / b) FROM t", None),
        ("division_by_zero", "division by zero", "SELECT 1 / NULLIF(a, 0), a / 0 FROM t", None),
        // Rows without a quotient do not go before all others.
        (
            "division_by_zero",
            "division by zero",
            "SELECT a FROM t ORDER BY round(a / b, 2) DESC, c DESC, a / b, b / a ASC LIMIT 1",
            Some(
                "SELECT a FROM t ORDER BY round(a / NULLIF(b, 0), 2) DESC NULLS LAST, c DESC, a / NULLIF(b, 0), b / NULLIF(a, 0) ASC LIMIT 1",
            ),
        ),
        (
            "division_by_zero",
            "division by zero",
            "SELECT a, a / b AS share, c d FROM t ORDER BY share DESC, d DESC",
            Some("SELECT a, a / NULLIF(b, 0) AS share, c d FROM t ORDER BY share DESC NULLS LAST, d DESC"),
        ),
        (
            "division_by_zero",
            "division by zero",
            "SELECT c, a / b FROM t ORDER BY 2 DESC, 1 DESC",
            Some("SELECT c, a / NULLIF(b, 0) FROM t ORDER BY 2 DESC NULLS LAST, 1 DESC"),
        ),
        // Also where the name comes from a query inside, in a window and in an aggregate; what is written stays.
        (
            "division_by_zero",
            "division by zero",
            "WITH s AS (SELECT c, a / b AS share FROM t) SELECT s.c, round(s.share) AS part FROM s ORDER BY part DESC",
            Some(
                "WITH s AS (SELECT c, a / NULLIF(b, 0) AS share FROM t) SELECT s.c, round(s.share) AS part FROM s ORDER BY part DESC NULLS LAST",
            ),
        ),
        (
            "division_by_zero",
            "division by zero",
            "SELECT rank() OVER (PARTITION BY c ORDER BY a / b DESC), string_agg(c, ',' ORDER BY a / b DESC NULLS FIRST) FROM t",
            Some(
                "SELECT rank() OVER (PARTITION BY c ORDER BY a / NULLIF(b, 0) DESC NULLS LAST), string_agg(c, ',' ORDER BY a / NULLIF(b, 0) DESC NULLS FIRST) FROM t",
            ),
        ),
    ]);
}
