//! A column name that several tables have: the side that a text means, where it is certain.

use airlock_plugin_sdk::contract::linker::SelectedTable;
use airlock_plugin_sdk::harness::{Recorded, table, table_ref};

use super::{input, rewritten, run, shop};
use crate::RepairStep;

const SAID: &str = "column reference \"cust_id\" is ambiguous";

/// The shop whose customers have a key that is never NULL, and visits that may be nobody's.
fn host() -> Recorded {
    let mut host = shop().table(table("visits").columns(&[("cust_id", "bigint"), ("day", "date")]));
    for table in &mut host.tables {
        for column in &mut table.columns {
            column.nullable = !(table.summary.table.name == "customers" && column.name == "cust_id");
        }
    }
    host
}

fn table_of(host: &Recorded, cases: &[(&str, Option<&str>)]) {
    for (marked, want) in cases {
        let got = rewritten(host, &input("ambiguous_column", SAID, marked));
        assert_eq!(got.as_deref(), *want, "{marked}");
    }
}

#[test]
fn columns_are_qualified_where_it_cannot_matter() {
    table_of(
        &shop(),
        &[
            // Every bill has its customer.
            (
                "SELECT >cust_id, count(*) FROM bills b LEFT JOIN customers c ON b.cust_id = c.cust_id GROUP BY cust_id",
                Some(
                    "SELECT b.cust_id, count(*) FROM bills b LEFT JOIN customers c ON b.cust_id = c.cust_id GROUP BY b.cust_id",
                ),
            ),
            (
                "SELECT count(>cust_id) FROM bills b LEFT JOIN customers c ON b.cust_id = c.cust_id",
                Some("SELECT count(b.cust_id) FROM bills b LEFT JOIN customers c ON b.cust_id = c.cust_id"),
            ),
            (
                "SELECT 1 FROM bills b, customers c WHERE (b.cust_id = c.cust_id) AND >cust_id = 5",
                Some("SELECT 1 FROM bills b, customers c WHERE (b.cust_id = c.cust_id) AND b.cust_id = 5"),
            ),
            ("SELECT >cust_id FROM bills b RIGHT JOIN customers c ON b.cust_id = c.cust_id", None),
            ("SELECT >cust_id FROM bills b CROSS JOIN customers c", None),
            // An equality that need not hold is none.
            ("SELECT >cust_id FROM bills b, customers c WHERE b.cust_id = c.cust_id OR b.status = 'x'", None),
            ("SELECT >cust_id FROM bills b, customers c WHERE NOT (b.cust_id = c.cust_id)", None),
            ("SELECT >cust_id, b.cust_id = c.cust_id FROM bills b CROSS JOIN customers c", None),
        ],
    );
}

#[test]
fn a_side_that_a_left_join_fills_up_is_told_from_the_other() {
    let from = "FROM customers c LEFT JOIN visits v ON c.cust_id = v.cust_id";
    for (select, rest, want) in [
        // Shown and grouped by, the row has it on one side alone.
        (">cust_id, count(*)", "GROUP BY cust_id", Some(("c.cust_id, count(*)", "GROUP BY c.cust_id"))),
        (">cust_id", "ORDER BY cust_id DESC", Some(("c.cust_id", "ORDER BY c.cust_id DESC"))),
        // Who has never come: of the customers it is never NULL.
        ("c.name", "WHERE >cust_id IS NULL", Some(("c.name", "WHERE v.cust_id IS NULL"))),
        (
            ">cust_id",
            "WHERE cust_id IS NULL AND c.city = 'Pune'",
            Some(("c.cust_id", "WHERE v.cust_id IS NULL AND c.city = 'Pune'")),
        ),
        // Here the sides say different things.
        ("c.city, count(>cust_id)", "GROUP BY c.city", None),
        ("count(DISTINCT >cust_id)", "", None),
        ("c.name", "WHERE >cust_id IS NOT NULL", None),
        ("c.name", "WHERE >cust_id IS NULL OR c.city = 'Pune'", None),
        ("c.name", "WHERE >cust_id = 5", None),
        ("coalesce(>cust_id, 0)", "", None),
        (">cust_id, count(cust_id)", "GROUP BY 1", None),
    ] {
        let marked = format!("SELECT {select} {from} {rest}");
        let want = want.map(|(select, rest)| format!("SELECT {select} {from} {rest}"));
        assert_eq!(rewritten(&host(), &input("ambiguous_column", SAID, &marked)), want, "{marked}");
    }
    // The kept side may be NULL itself.
    table_of(
        &host(),
        &[(
            "SELECT day FROM visits v LEFT JOIN customers c ON v.cust_id = c.cust_id WHERE >cust_id IS NULL",
            None,
        )],
    );
}

#[test]
fn the_reason_is_true() {
    let from = "FROM customers c LEFT JOIN visits v ON c.cust_id = v.cust_id";
    let failed = input("ambiguous_column", SAID, &format!("SELECT >cust_id {from} WHERE cust_id IS NULL"));
    let RepairStep::Rewrite(rewrite) = run(&host(), &failed) else { panic!("it can be told") };
    assert!(!rewrite.reason.contains("the same in both"), "{}", rewrite.reason);
    assert!(rewrite.reason.contains("on this side alone"), "{}", rewrite.reason);
    assert!(rewrite.reason.contains("c.cust_id is never NULL"), "{}", rewrite.reason);
}

#[test]
fn the_linker_may_have_chosen() {
    let mut chosen = input(
        "ambiguous_column",
        "column reference \"name\" is ambiguous",
        "SELECT >name FROM customers c CROSS JOIN products p",
    );
    assert_eq!(rewritten(&shop(), &chosen), None);
    chosen.selection.tables = vec![SelectedTable {
        table: table_ref("products"),
        columns: vec!["name".into()],
        reason: "named in the question".into(),
        score: 1.0,
    }];
    assert_eq!(
        rewritten(&shop(), &chosen).as_deref(),
        Some("SELECT p.name FROM customers c CROSS JOIN products p")
    );
}
