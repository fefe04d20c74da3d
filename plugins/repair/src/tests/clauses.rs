//! Conditions, orders and subqueries that PostgreSQL does not take where they stand.

use super::{input, rewritten, shop};

fn table_of(error_type: &str, message: &str, cases: &[(&str, Option<&str>)]) {
    for (marked, want) in cases {
        let got = rewritten(&shop(), &input(error_type, message, marked));
        assert_eq!(got.as_deref(), *want, "{marked}");
    }
}

#[test]
fn conditions_on_aggregates_move_to_having() {
    table_of(
        "grouping_error",
        "aggregate functions are not allowed in WHERE",
        &[
            (
                "SELECT cust_id FROM bills WHERE >count(*) = 3 GROUP BY cust_id",
                Some("SELECT cust_id FROM bills  GROUP BY cust_id HAVING count(*) = 3"),
            ),
            (
                "SELECT cust_id FROM bills WHERE status = 'x' AND >sum(total_amt) BETWEEN 1 AND 2 GROUP BY cust_id ORDER BY 1",
                Some(
                    "SELECT cust_id FROM bills WHERE status = 'x' GROUP BY cust_id HAVING sum(total_amt) BETWEEN 1 AND 2 \
                     ORDER BY 1",
                ),
            ),
            (
                "SELECT bill_no FROM bills WHERE total_amt = >max(total_amt) GROUP BY bill_no, total_amt",
                // Of a group that has one amount that would be true of every row.
                None,
            ),
            (
                "SELECT cust_id FROM bills WHERE >count(*) = 3 GROUP BY cust_id HAVING min(total_amt) = 1",
                Some(
                    "SELECT cust_id FROM bills  GROUP BY cust_id HAVING min(total_amt) = 1 AND count(*) = 3",
                ),
            ),
            // What OR joins cannot be told apart.
            ("SELECT cust_id FROM bills WHERE status = 'x' OR >count(*) = 3 GROUP BY cust_id", None),
        ],
    );
}

#[test]
fn windows_are_computed_before_they_are_filtered_by() {
    table_of(
        "windowing_error",
        "window functions are not allowed in WHERE",
        &[
            (
                "SELECT name, city AS town FROM customers WHERE >row_number() OVER (ORDER BY name) = 1 AND city = 'x' ORDER BY name LIMIT 5",
                Some(
                    "SELECT name, town FROM (SELECT name, city AS town, row_number() OVER (ORDER BY name) AS window_1 FROM \
                     customers WHERE city = 'x') AS computed WHERE window_1 = 1 ORDER BY name LIMIT 5",
                ),
            ),
            // A column that has no name outside, one that is not selected, groups.
            ("SELECT upper(name) FROM customers WHERE >row_number() OVER (ORDER BY name) = 1", None),
            ("SELECT name FROM customers WHERE >row_number() OVER (ORDER BY name) = cust_id", None),
            ("SELECT name FROM customers WHERE >row_number() OVER (ORDER BY name) = 1 ORDER BY city", None),
            ("SELECT city FROM customers WHERE >row_number() OVER (ORDER BY city) = 1 GROUP BY city", None),
            ("SELECT * FROM customers WHERE >row_number() OVER (ORDER BY name) = 1", None),
        ],
    );
}

#[test]
fn distinct_rows_are_ordered_by_a_value_of_their_group() {
    table_of(
        "invalid_reference",
        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
        &[
            (
                "SELECT DISTINCT city FROM customers WHERE name = 'x' ORDER BY >name DESC, city",
                Some(
                    "SELECT city FROM customers WHERE name = 'x' GROUP BY city ORDER BY max(name) DESC, city",
                ),
            ),
            (
                "SELECT DISTINCT city FROM customers ORDER BY >name",
                Some("SELECT city FROM customers GROUP BY city ORDER BY min(name)"),
            ),
            // Under a limit other rows might be meant.
            ("SELECT DISTINCT city FROM customers ORDER BY >name LIMIT 3", None),
            ("SELECT DISTINCT count(*) FROM customers ORDER BY >name", None),
        ],
    );
}

#[test]
fn one_of_several_rows_is_compared_with() {
    table_of(
        "cardinality_violation",
        "more than one row returned by a subquery used as an expression",
        &[
            (
                "SELECT name FROM customers WHERE cust_id = (SELECT cust_id FROM bills)",
                Some("SELECT name FROM customers WHERE cust_id IN (SELECT cust_id FROM bills)"),
            ),
            (
                "SELECT name FROM customers WHERE cust_id = (SELECT cust_id FROM bills WHERE total_amt = (SELECT max(total_amt) FROM bills))",
                Some(
                    "SELECT name FROM customers WHERE cust_id IN (SELECT cust_id FROM bills WHERE total_amt = (SELECT max(total_amt) FROM bills))",
                ),
            ),
            // An order says which one is meant.
            (
                "SELECT name FROM customers WHERE cust_id = (SELECT cust_id FROM bills ORDER BY total_amt DESC)",
                Some(
                    "SELECT name FROM customers WHERE cust_id = (SELECT cust_id FROM bills ORDER BY total_amt DESC LIMIT 1)",
                ),
            ),
            (
                "SELECT name FROM customers WHERE cust_id = (SELECT cust_id FROM bills GROUP BY cust_id)",
                Some(
                    "SELECT name FROM customers WHERE cust_id IN (SELECT cust_id FROM bills GROUP BY cust_id)",
                ),
            ),
            // The one of each group is meant, of its own group alone.
            (
                "SELECT bill_no FROM bills WHERE total_amt = (SELECT max(total_amt) FROM bills GROUP BY cust_id)",
                None,
            ),
            // One NULL among them would leave nobody.
            ("SELECT name FROM customers WHERE NOT (cust_id = (SELECT cust_id FROM bills))", None),
            // Either may be the one.
            (
                "SELECT name FROM customers WHERE cust_id = (SELECT cust_id FROM bills) AND city = (SELECT city FROM customers)",
                None,
            ),
            (
                "SELECT (SELECT name FROM customers) FROM bills WHERE cust_id = (SELECT cust_id FROM bills)",
                None,
            ),
            ("SELECT name FROM customers WHERE cust_id <= (SELECT cust_id FROM bills)", None),
        ],
    );
}

#[test]
fn a_filter_on_windows_moves_to_where_they_are_computed() {
    table_of(
        "syntax_error",
        "syntax error at or near \"rn\"",
        &[
            (
                "SELECT name, row_number() OVER (ORDER BY city) AS rn FROM customers QUALIFY >rn = 1 ORDER BY name",
                Some(
                    "SELECT name, rn FROM (SELECT name, row_number() OVER (ORDER BY city) AS rn FROM customers) AS computed \
                     WHERE rn = 1 ORDER BY name",
                ),
            ),
            (
                "SELECT name FROM customers WHERE city = 'x' QUALIFY >row_number() OVER (PARTITION BY city) <= 2 LIMIT 5",
                Some(
                    "SELECT name FROM (SELECT name, row_number() OVER (PARTITION BY city) AS window_1 FROM customers WHERE \
                     city = 'x') AS computed WHERE window_1 <= 2 LIMIT 5",
                ),
            ),
            (
                "SELECT city, count(*) AS n FROM customers GROUP BY city QUALIFY >rank() OVER (ORDER BY count(*) DESC) = 1",
                Some(
                    "SELECT city, n FROM (SELECT city, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS window_1 FROM \
                     customers GROUP BY city) AS computed WHERE window_1 = 1",
                ),
            ),
            // Columns that are not listed, a column that the select list does not have, and one that it names otherwise.
            ("SELECT * FROM customers QUALIFY >row_number() OVER (ORDER BY city) = 1", None),
            ("SELECT name FROM customers QUALIFY >city = 'x'", None),
            ("SELECT row_number() OVER () AS city FROM customers QUALIFY >city = 1", None),
            ("SELECT DISTINCT name FROM customers QUALIFY >row_number() OVER (ORDER BY city) = 1", None),
        ],
    );
}
