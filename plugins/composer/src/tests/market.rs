//! Orders dated apart from who placed them, a number that is an average by itself, people who lead people.

use airlock_plugin_sdk::harness::{Recorded, table};

use super::{check, line};

fn market() -> Recorded {
    Recorded::new()
        .table(
            table("customer")
                .columns(&[
                    ("id", "bigint"),
                    ("full_name", "text"),
                    ("city", "text"),
                    ("created_at", "timestamp with time zone"),
                ])
                .primary_key(&["id"])
                .label_column("full_name")
                .time_column("created_at"),
        )
        .table(
            table("orders")
                .columns(&[
                    ("id", "bigint"),
                    ("customer_id", "bigint"),
                    ("status", "text"),
                    ("placed_at", "timestamp with time zone"),
                ])
                .primary_key(&["id"])
                .time_column("placed_at"),
        )
        .table(table("product").columns(&[("id", "bigint"), ("name", "text")]).primary_key(&["id"]))
        .table(
            table("order_line")
                .columns(&[("order_id", "bigint"), ("product_id", "bigint"), ("units", "integer")])
                .primary_key(&["order_id", "product_id"]),
        )
        .table(
            table("review")
                .columns(&[
                    ("id", "bigint"),
                    ("product_id", "bigint"),
                    ("stars", "integer"),
                    ("body", "text"),
                ])
                .primary_key(&["id"]),
        )
        .table(
            table("employee")
                .columns(&[("id", "bigint"), ("full_name", "text"), ("mgr", "bigint"), ("dept", "text")])
                .primary_key(&["id"])
                .label_column("full_name"),
        )
        .join("orders.customer_id", "customer.id")
        .join("order_line.order_id", "orders.id")
        .join("order_line.product_id", "product.id")
        .join("review.product_id", "product.id")
        .join("employee.mgr", "employee.id")
        .values("customer.city", &["Paris", "San José", "Łódź"])
        .values("orders.status", &["cancelled", "shipped"])
        .values("employee.dept", &["R&D"])
}

#[test]
fn the_time_is_that_of_what_is_counted() {
    check(
        &market(),
        &[
            (
                "How many orders were cancelled by customers in Paris in June 2026?",
                "SELECT count(*) AS orders_count FROM orders AS o JOIN customer AS c ON c.id = o.customer_id WHERE o.placed_at >= DATE '2026-06-01' AND o.placed_at < DATE '2026-07-01' AND o.status = 'cancelled' AND c.city = 'Paris'",
            ),
            (
                "How many orders were shipped to customers in Paris in June 2026?",
                "SELECT count(*) AS orders_count FROM orders AS o JOIN customer AS c ON c.id = o.customer_id WHERE o.placed_at >= DATE '2026-06-01' AND o.placed_at < DATE '2026-07-01' AND o.status = 'shipped' AND c.city = 'Paris'",
            ),
            (
                "How many orders were placed by customers created in June 2026?",
                "SELECT count(*) AS orders_count FROM orders AS o JOIN customer AS c ON c.id = o.customer_id WHERE c.created_at >= DATE '2026-06-01' AND c.created_at < DATE '2026-07-01'",
            ),
            (
                "How many customers in Paris ordered in June 2026?",
                "SELECT count(*) AS customer_count FROM customer AS c WHERE EXISTS ( SELECT 1 FROM orders AS o WHERE c.id = o.customer_id AND o.placed_at >= DATE '2026-06-01' AND o.placed_at < DATE '2026-07-01') AND c.city = 'Paris'",
            ),
        ],
    );
}

#[test]
fn a_date_of_people_dates_nothing_that_has_none() {
    let said = line(&market(), "How many reviews were written by employees in June 2026?");
    assert!(said.starts_with("refused"), "{said}");
}

#[test]
fn a_rating_is_averaged_and_not_added_up() {
    check(
        &market(),
        &[
            (
                "What is the average number of stars per product?",
                "SELECT p.name, avg(r.stars) AS average_stars FROM review AS r JOIN product AS p ON p.id = r.product_id GROUP BY p.name, p.id ORDER BY average_stars DESC NULLS LAST, p.name, p.id",
            ),
            ("What is the average number of stars?", "SELECT avg(r.stars) AS average_stars FROM review AS r"),
            (
                "What is the average number of units per order?",
                "SELECT avg(total_units) AS average_total_units FROM ( SELECT sum(ol.units) AS total_units FROM order_line AS ol JOIN orders AS o ON o.id = ol.order_id GROUP BY o.id ) AS counts",
            ),
        ],
    );
    let said = line(&market(), "How many stars does each product have?");
    assert!(said.starts_with("refused"), "{said}");
}

#[test]
fn a_role_within_one_table_restricts() {
    check(
        &market(),
        &[
            (
                "Which employees are managers?",
                "SELECT e.full_name FROM employee AS e WHERE EXISTS (SELECT 1 FROM employee AS pointing WHERE pointing.mgr = e.id) ORDER BY e.full_name, e.id",
            ),
            (
                "How many employees are not managers?",
                "SELECT count(*) AS employee_count FROM employee AS e WHERE NOT (EXISTS (SELECT 1 FROM employee AS pointing WHERE pointing.mgr = e.id))",
            ),
            (
                "Which employees have no manager?",
                "SELECT e.full_name FROM employee AS e WHERE e.mgr IS NULL ORDER BY e.full_name, e.id",
            ),
        ],
    );
    for question in ["Which orders are products?", "Which reviews are stars?"] {
        let said = line(&market(), question);
        assert!(said.starts_with("refused"), "{question}: {said}");
    }
}

#[test]
fn a_value_is_found_without_its_accents_and_with_its_ampersand() {
    check(
        &market(),
        &[
            (
                "How many employees in R&D?",
                "SELECT count(*) AS employee_count FROM employee AS e WHERE e.dept = 'R&D'",
            ),
            (
                "How many customers have the city \"san jose\"?",
                "SELECT count(*) AS customer_count FROM customer AS c WHERE c.city = 'San José'",
            ),
        ],
    );
}

#[test]
fn two_tables_of_one_name_are_told_apart_by_their_schemas() {
    let host = Recorded::new()
        .table(table("sales.customer").columns(&[("id", "bigint")]).primary_key(&["id"]))
        .table(table("support.customer").columns(&[("id", "bigint")]).primary_key(&["id"]));
    let said = line(&host, "How many customers are there?");
    for reading in ["`customers` as the table sales.customer", "`customers` as the table support.customer"] {
        assert!(said.starts_with("refused") && said.contains(reading), "{said}");
    }
}

#[test]
fn a_ratio_of_ratings_adds_them_up() {
    let said = line(&market(), "What is the ratio of stars to reviews?");
    assert!(said.contains("sum(r.stars)") && said.contains("count(*)"), "{said}");
}
