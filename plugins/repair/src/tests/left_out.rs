//! Tables that a query speaks of and does not read.

use std::cell::Cell;

use airlock_plugin_sdk::contract::catalog::{Join, TableDetail, TableSummary};
use airlock_plugin_sdk::contract::log::Level;
use airlock_plugin_sdk::contract::retrieval::{
    ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit,
};
use airlock_plugin_sdk::contract::sql::{Facts, Node};
use airlock_plugin_sdk::harness::{Recorded, table, table_ref};
use airlock_plugin_sdk::{Attribute, TableRef};

use super::*;

fn join(from: &str, column: &str, to: &str, key: &str, verified: bool) -> Join {
    Join {
        from: table_ref(from),
        from_columns: vec![column.into()],
        to: table_ref(to),
        to_columns: vec![key.into()],
        origin: if verified { "foreign-key" } else { "inferred" }.into(),
        verified,
        many_to_one: true,
        optional: !verified,
    }
}

/// The shop with shipments, whose two ends are places, and visits, which may be nobody's.
fn host() -> Recorded {
    shop()
        .table(table("places").columns(&[("place_id", "bigint"), ("label", "text")]))
        .table(table("shipments").columns(&[
            ("bill_id", "bigint"),
            ("start_id", "bigint"),
            ("end_id", "bigint"),
            ("weight", "numeric"),
        ]))
        .table(table("visits").columns(&[("visitor", "bigint"), ("guide", "bigint"), ("day", "date")]))
        .table(table("people").columns(&[("person_id", "bigint"), ("name", "text")]))
        .table(table("ratings").columns(&[("rated", "bigint"), ("stars", "integer")]))
        .join("shipments.bill_id", "bills.bill_id")
        .join("shipments.start_id", "places.place_id")
        .join("shipments.end_id", "places.place_id")
        .join_as(Join { optional: true, ..join("visits", "visitor", "customers", "cust_id", true) })
        .join("visits.guide", "people.person_id")
        .join_as(join("ratings", "rated", "products", "prod_id", false))
}

/// A host that counts how often a table is described.
struct Counted {
    host: Recorded,
    described: Cell<usize>,
}

impl Host for Counted {
    fn describe(&self, table: &TableRef) -> Option<TableDetail> {
        self.described.set(self.described.get() + 1);
        self.host.describe(table)
    }

    fn tables(&self) -> Vec<TableSummary> {
        self.host.tables()
    }

    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
        self.host.join_path(from, to, max_hops)
    }

    fn server_version(&self) -> u32 {
        self.host.server_version()
    }

    fn near_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
        self.host.near_tables(query, k)
    }

    fn near_columns(&self, query: &str, k: u32) -> Vec<ColumnHit> {
        self.host.near_columns(query, k)
    }

    fn near_values(&self, query: &str, k: u32) -> Vec<ValueHit> {
        self.host.near_values(query, k)
    }

    fn near_examples(&self, query: &str, k: u32) -> Vec<Example> {
        self.host.near_examples(query, k)
    }

    fn near_lessons(&self, query: &str, k: u32) -> Vec<Lesson> {
        self.host.near_lessons(query, k)
    }

    fn near_terms(&self, query: &str, k: u32) -> Vec<Term> {
        self.host.near_terms(query, k)
    }

    fn near_passages(&self, query: &str, k: u32) -> Vec<Passage> {
        self.host.near_passages(query, k)
    }

    fn check(&self, text: &str) -> Result<Facts, Rejection> {
        self.host.check(text)
    }

    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
        self.host.outline(text)
    }

    fn log(&self, level: Level, message: &str, fields: &[Attribute]) {
        self.host.log(level, message, fields);
    }
}

fn table_of(error_type: &str, cases: &[(&str, Option<&str>)]) {
    for (marked, want) in cases {
        let got = rewritten(&host(), &input(error_type, "it is not in FROM", marked));
        assert_eq!(got.as_deref(), *want, "{marked}");
    }
}

#[test]
fn the_table_a_qualifier_means_is_joined_where_there_is_one_way() {
    table_of(
        "unknown_table",
        &[
            (
                "SELECT >customers.name FROM bills WHERE bills.status = 'x'",
                Some(
                    "SELECT customers.name FROM bills JOIN customers ON bills.cust_id = customers.cust_id \
                     WHERE bills.status = 'x'",
                ),
            ),
            (
                "SELECT >c.name, count(*) FROM bills b GROUP BY c.name",
                Some(
                    "SELECT c.name, count(*) FROM bills b JOIN customers AS c ON b.cust_id = c.cust_id GROUP BY c.name",
                ),
            ),
            // The first letters of its words, and a name that only its columns tell.
            (
                "SELECT sum(>bi.qty) FROM products p",
                Some("SELECT sum(bi.qty) FROM products p JOIN bill_items AS bi ON p.prod_id = bi.prod_id"),
            ),
            (
                "SELECT >t2.city FROM bills AS t1",
                Some("SELECT t2.city FROM bills AS t1 JOIN customers AS t2 ON t1.cust_id = t2.cust_id"),
            ),
            // A bridge goes before the condition that speaks of it, and the comma binds less than a join.
            (
                "SELECT p.name FROM bills b INNER JOIN products p ON >bi.prod_id = p.prod_id WHERE b.status = 'x'",
                Some(
                    "SELECT p.name FROM bills b JOIN bill_items AS bi ON b.bill_id = bi.bill_id INNER JOIN products p ON \
                     bi.prod_id = p.prod_id WHERE b.status = 'x'",
                ),
            ),
            (
                "SELECT >c.name, p.name FROM bills b, products p",
                Some(
                    "SELECT c.name, p.name FROM bills b JOIN customers AS c ON b.cust_id = c.cust_id, products p",
                ),
            ),
            // Of a key that is compared, NULL is asked for rows without a partner alone.
            (
                "SELECT c.name FROM customers c WHERE >v.visitor IS NULL",
                Some(
                    "SELECT c.name FROM customers c LEFT JOIN visits AS v ON c.cust_id = v.visitor WHERE v.visitor IS NULL",
                ),
            ),
            (
                "SELECT >c.name FROM bills b JOIN (SELECT 1 AS n) s ON true",
                Some(
                    "SELECT c.name FROM bills b JOIN (SELECT 1 AS n) s ON true JOIN customers AS c ON b.cust_id = c.cust_id",
                ),
            ),
            // What the outer query reads, its subqueries see.
            (
                "SELECT >c.name FROM bills b WHERE EXISTS (SELECT 1 FROM products p WHERE p.name = c.name)",
                Some(
                    "SELECT c.name FROM bills b JOIN customers AS c ON b.cust_id = c.cust_id WHERE EXISTS (SELECT 1 FROM \
                     products p WHERE p.name = c.name)",
                ),
            ),
        ],
    );
}

#[test]
fn rows_that_a_left_join_keeps_are_kept_by_what_is_joined_behind_it() {
    let host = host()
        .table(table("staff").columns(&[("staff_id", "bigint"), ("badge", "text")]))
        .join("bills.staff_id", "staff.staff_id");
    for (from, want) in [
        (
            "customers c LEFT JOIN bills b ON b.cust_id = c.cust_id",
            "customers c LEFT JOIN bills b ON b.cust_id = c.cust_id LEFT JOIN staff AS s ON b.staff_id = s.staff_id",
        ),
        (
            "customers c JOIN bills b ON b.cust_id = c.cust_id",
            "customers c JOIN bills b ON b.cust_id = c.cust_id JOIN staff AS s ON b.staff_id = s.staff_id",
        ),
    ] {
        let failed =
            input("unknown_table", "it is not in FROM", &format!("SELECT c.name, >s.badge FROM {from}"));
        let want = format!("SELECT c.name, s.badge FROM {want}");
        assert_eq!(rewritten(&host, &failed), Some(want), "{from}");
    }
}

#[test]
fn a_large_catalogue_costs_no_more_look_ups_than_a_small_one() {
    let large = (0..500).fold(host(), |host, number| {
        host.table(table(&format!("spare_{number}")).columns(&[("city", "text"), ("spare_id", "bigint")]))
    });
    for (error_type, marked, want) in [
        (
            "unknown_table",
            "SELECT >t2.city FROM bills AS t1",
            Some("SELECT t2.city FROM bills AS t1 JOIN customers AS t2 ON t1.cust_id = t2.cust_id"),
        ),
        ("unknown_table", "SELECT >nobody.city FROM bills AS t1", None),
        (
            "unknown_column",
            "SELECT bill_id, >city FROM bills",
            Some("SELECT bill_id, city FROM bills JOIN customers ON bills.cust_id = customers.cust_id"),
        ),
    ] {
        let failed = input(error_type, "it is not in FROM", marked);
        let look_ups = |host: Recorded| {
            let counted = Counted { host, described: Cell::new(0) };
            let end =
                drive([], |exchanges| EditThenAsk::run(&counted, failed.clone(), exchanges)).end.unwrap();
            let sql = if let RepairStep::Rewrite(rewrite) = end { Some(rewrite.sql) } else { None };
            assert_eq!(sql.as_deref(), want, "{marked}");
            counted.described.get()
        };
        assert_eq!(look_ups(large.clone()), look_ups(host()), "{marked}");
    }
}

#[test]
fn what_could_mean_something_else_is_left_alone() {
    table_of(
        "unknown_table",
        &[
            // Two ways, a guess, no way, a table that notes call dead.
            ("SELECT >places.label FROM shipments", None),
            ("SELECT >r.stars FROM products p", None),
            ("SELECT >customers.city FROM products", None),
            ("SELECT >old_stock.prod_id FROM bill_items", None),
            // A name that says something, of no table that has the column.
            ("SELECT >region.city FROM bills b", None),
            // The name may mean what is read.
            ("SELECT >custom.name FROM customers cu JOIN bills b ON b.cust_id = cu.cust_id", None),
            // What a subquery gives may be what is meant.
            ("SELECT >t2.city FROM bills b JOIN (SELECT 1 AS n) s ON true", None),
            ("WITH c AS (SELECT name FROM customers) SELECT >c.name FROM bills b", None),
            // Rows without a partner seem to be wanted.
            ("SELECT c.name FROM customers c WHERE >v.day IS NULL", None),
            ("SELECT c.name, coalesce(>v.day, '2026-01-01') FROM customers c", None),
            ("SELECT c.name, >v.day FROM customers c LEFT JOIN bills b ON b.cust_id = c.cust_id", None),
            ("SELECT >c.name FROM bills b RIGHT JOIN products p ON true", None),
            // A sum would count a bill as often as it has items, and so would a count.
            ("SELECT sum(b.total_amt) FROM bills b WHERE >bi.qty > 2", None),
            ("SELECT count(*) FROM bills b WHERE >bi.qty > 2", None),
            ("SELECT count(b.bill_id) FROM bills b WHERE >bi.qty > 2", None),
        ],
    );
}

#[test]
fn the_table_that_has_a_column_is_joined_where_nothing_read_has_it() {
    table_of(
        "unknown_column",
        &[
            (
                "SELECT bill_id, >city FROM bills",
                Some("SELECT bill_id, city FROM bills JOIN customers ON bills.cust_id = customers.cust_id"),
            ),
            ("SELECT >label FROM shipments", None),
            ("SELECT >stars FROM products", None),
            (
                "SELECT sum(total_amt) FROM bills WHERE >weight = 2",
                Some(
                    "SELECT sum(total_amt) FROM bills WHERE EXISTS (SELECT 1 FROM shipments WHERE bills.bill_id = \
                     shipments.bill_id AND weight = 2)",
                ),
            ),
        ],
    );
}

#[test]
fn what_no_row_is_lost_or_counted_again_by_is_joined() {
    table_of(
        "unknown_table",
        &[
            // A visit of nobody stays.
            (
                "SELECT v.day, >customers.city FROM visits v",
                Some(
                    "SELECT v.day, customers.city FROM visits v LEFT JOIN customers ON v.visitor = customers.cust_id",
                ),
            ),
            // A customer's city counts once, however often they came.
            ("SELECT count(*), count(>customers.city) FROM visits v", None),
            (
                "SELECT count(*), count(DISTINCT >customers.city) FROM visits v",
                Some(
                    "SELECT count(*), count(DISTINCT customers.city) FROM visits v LEFT JOIN customers ON v.visitor = \
                     customers.cust_id",
                ),
            ),
            (
                "SELECT v.day FROM visits v WHERE >customers.city = 'Pune' OR v.day IS NULL",
                Some(
                    "SELECT v.day FROM visits v LEFT JOIN customers ON v.visitor = customers.cust_id WHERE customers.city = 'Pune' OR v.day IS NULL",
                ),
            ),
            // Nobody is asked for.
            (
                "SELECT v.day FROM visits v WHERE >customers.city = 'Pune'",
                Some(
                    "SELECT v.day FROM visits v JOIN customers ON v.visitor = customers.cust_id WHERE customers.city = 'Pune'",
                ),
            ),
            (
                "SELECT DISTINCT >customers.city FROM visits v",
                Some(
                    "SELECT DISTINCT customers.city FROM visits v JOIN customers ON v.visitor = customers.cust_id",
                ),
            ),
            (
                "SELECT count(DISTINCT b.bill_id) FROM bills b WHERE >bi.qty > 2",
                Some(
                    "SELECT count(DISTINCT b.bill_id) FROM bills b WHERE EXISTS (SELECT 1 FROM bill_items AS bi WHERE b.bill_id = \
                     bi.bill_id AND bi.qty > 2)",
                ),
            ),
        ],
    );
}

#[test]
fn the_question_tells_two_keys_and_two_tables_apart() {
    let asked = |question: &str, marked: &str| {
        let mut input = input("unknown_table", "it is not in FROM", marked);
        input.question = question.into();
        rewritten(&host(), &input)
    };
    let start = "SELECT >p.label FROM shipments s";
    assert_eq!(
        asked("Where do shipments start?", start).as_deref(),
        Some("SELECT p.label FROM shipments s JOIN places AS p ON s.start_id = p.place_id")
    );
    assert_eq!(asked("Where do shipments start and end?", start), None);
    assert_eq!(
        asked("What is at the places that are ended at?", start).as_deref(),
        Some("SELECT p.label FROM shipments s JOIN places AS p ON s.end_id = p.place_id")
    );
    // One of two keys is compared already.
    let other = "SELECT >t3.label FROM shipments t1 JOIN places t2 ON t1.start_id = t2.place_id";
    assert_eq!(
        asked("Where do they start and end?", other).as_deref(),
        Some(
            "SELECT t3.label FROM shipments t1 JOIN places t2 ON t1.start_id = t2.place_id JOIN places AS t3 ON \
             t1.end_id = t3.place_id"
        )
    );
    // Two tables have the column, and a letter fits one of them.
    let letter = "SELECT >c.name FROM visits v";
    let joined = "SELECT c.name FROM visits v JOIN customers AS c ON v.visitor = c.cust_id";
    for (question, want) in [("Who came?", None), ("Which customers?", Some(joined)), ("Which people?", None)]
    {
        assert_eq!(asked(question, letter).as_deref(), want, "{question}");
    }
}
