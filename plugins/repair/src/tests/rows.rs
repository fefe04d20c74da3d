//! What a joined table does to rows that are counted, summed and shown.

use airlock_plugin_sdk::harness::{Recorded, table};

use super::*;

/// The shop with payments, of which a bill may have several, and with one note for a bill at most.
fn host() -> Recorded {
    shop()
        .table(table("payments").columns(&[("bill_id", "bigint"), ("method", "text"), ("amount", "numeric")]))
        .table(
            table("bill_notes")
                .primary_key(&["bill_id"])
                .columns(&[("bill_id", "bigint"), ("weight", "numeric")]),
        )
        .join("payments.bill_id", "bills.bill_id")
        .join("bill_notes.bill_id", "bills.bill_id")
}

fn asked(question: &str, error_type: &str, marked: &str) -> Option<Rewrite> {
    let mut input = input(error_type, "it is not in FROM", marked);
    input.question = question.into();
    match run(&host(), &input) {
        RepairStep::Rewrite(rewrite) => Some(rewrite),
        _ => None,
    }
}

fn columns(cases: &[(&str, Option<&str>)]) {
    for (marked, want) in cases {
        let got = asked("?", "unknown_column", marked).map(|rewrite| rewrite.sql);
        assert_eq!(got.as_deref(), *want, "{marked}");
    }
}

#[test]
fn a_column_is_not_summed_once_for_each_row_of_another_table() {
    columns(&[
        ("SELECT sum(>total_amt) FROM bill_items", None),
        ("SELECT sum(>total_amt) FROM bill_items WHERE prod_id < 30", None),
        ("SELECT prod_id, avg(>total_amt) FROM bill_items GROUP BY prod_id", None),
        ("SELECT prod_id, count(>status) FROM bill_items GROUP BY prod_id", None),
        ("SELECT string_agg(>status, ', ') FROM bill_items WHERE qty > 1", None),
        ("SELECT array_agg(>status) FROM bill_items WHERE qty > 1", None),
        (
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY >total_amt) FROM bill_items WHERE qty > 1",
            None,
        ),
        ("SELECT sum(>total_amt) OVER (ORDER BY qty) FROM bill_items", None),
        ("SELECT prod_id FROM bill_items GROUP BY prod_id HAVING sum(>total_amt) > 5", None),
        // What does not feel it.
        (
            "SELECT prod_id, max(>total_amt) FROM bill_items GROUP BY prod_id",
            Some(
                "SELECT prod_id, max(total_amt) FROM bill_items JOIN bills ON bill_items.bill_id = bills.bill_id GROUP BY \
                 prod_id",
            ),
        ),
        (
            "SELECT count(DISTINCT >status) FROM bill_items WHERE qty > 1",
            Some(
                "SELECT count(DISTINCT status) FROM bill_items JOIN bills ON bill_items.bill_id = bills.bill_id WHERE qty > 1",
            ),
        ),
        // Each item is there once: the other table's column is a factor, or picks them.
        (
            "SELECT sum(qty * >price) FROM bill_items",
            Some(
                "SELECT sum(qty * price) FROM bill_items JOIN products ON bill_items.prod_id = products.prod_id",
            ),
        ),
        (
            "SELECT sum(CASE WHEN >status = 'PAID' THEN qty END) FROM bill_items",
            Some(
                "SELECT sum(CASE WHEN status = 'PAID' THEN qty END) FROM bill_items JOIN bills ON bill_items.bill_id = \
                 bills.bill_id",
            ),
        ),
        // A bill has one note at most.
        (
            "SELECT status, sum(>weight) FROM bills GROUP BY status",
            Some(
                "SELECT status, sum(weight) FROM bills LEFT JOIN bill_notes ON bills.bill_id = bill_notes.bill_id GROUP BY \
                 status",
            ),
        ),
    ]);
}

#[test]
fn a_condition_on_another_table_repeats_no_row() {
    columns(&[
        (
            "SELECT status FROM bills WHERE >method = 'BANK'",
            Some(
                "SELECT status FROM bills WHERE EXISTS (SELECT 1 FROM payments WHERE bills.bill_id = payments.bill_id AND \
                 method = 'BANK')",
            ),
        ),
        // Both are asked of one payment.
        (
            "SELECT sum(total_amt), count(*) FROM bills WHERE >method = 'BANK' AND status = 'PAID' AND amount BETWEEN 1 AND 2",
            Some(
                "SELECT sum(total_amt), count(*) FROM bills WHERE status = 'PAID' AND EXISTS (SELECT 1 FROM payments WHERE \
                 bills.bill_id = payments.bill_id AND method = 'BANK' AND amount BETWEEN 1 AND 2)",
            ),
        ),
        // Of one payment, or of none?
        ("SELECT status FROM bills WHERE >method <> 'BANK'", None),
        ("SELECT status FROM bills WHERE >method NOT IN ('BANK', 'CASH')", None),
        // Bills without a payment would be gone.
        ("SELECT status FROM bills WHERE >method = 'BANK' OR status = 'PAID'", None),
        // In the subquery the key would be the payment's.
        ("SELECT status FROM bills WHERE >amount > bill_id", None),
    ]);
    let told = asked("?", "unknown_column", "SELECT status FROM bills WHERE >method = 'BANK'").unwrap();
    assert!(told.change.contains("kept once"), "{}", told.change);
}

#[test]
fn rows_of_a_table_are_not_counted_by_another_ones() {
    columns(&[
        ("SELECT >method, count(*) FROM bills WHERE status = 'PAID' GROUP BY method", None),
        ("SELECT >method, sum(total_amt) FROM bills GROUP BY method", None),
        ("SELECT status, count(*), sum(>amount) FROM bills GROUP BY status", None),
        ("SELECT status FROM bills ORDER BY >amount DESC LIMIT 5", None),
        (
            "SELECT status, sum(>amount) FROM bills GROUP BY status",
            Some(
                "SELECT status, sum(amount) FROM bills JOIN payments ON bills.bill_id = payments.bill_id GROUP BY status",
            ),
        ),
    ]);
}

#[test]
fn rows_that_are_shown_more_than_once_are_told() {
    for (marked, want) in [
        (
            "SELECT status, >method FROM bills",
            Some(
                "A row of bills is there once for each of its rows in payments, and one without any is not there.",
            ),
        ),
        (
            "SELECT >city FROM bills WHERE status = 'PAID'",
            Some("A row of customers is there once for each of its rows in bills."),
        ),
        ("SELECT status, >city FROM bills", None),
        ("SELECT DISTINCT >city FROM bills WHERE status = 'PAID'", None),
    ] {
        let change = asked("?", "unknown_column", marked).unwrap().change;
        match want {
            Some(want) => assert!(change.ends_with(want), "{marked}: {change}"),
            None => assert!(!change.contains("once"), "{marked}: {change}"),
        }
    }
}

#[test]
fn the_question_says_which_table_a_text_without_any_of_its_columns_is_about() {
    let counted = "SELECT count(*) FROM bills WHERE >city = 'Pune'";
    let joined =
        "SELECT count(*) FROM bills JOIN customers ON bills.cust_id = customers.cust_id WHERE city = 'Pune'";
    for (question, marked, want) in [
        (
            "What is the total of all bills?",
            "SELECT sum(>total_amt) FROM bill_items",
            Some("SELECT sum(total_amt) FROM bills"),
        ),
        (
            "What is the total of all invoices?",
            "SELECT sum(>total_amt) FROM bill_items i",
            Some("SELECT sum(total_amt) FROM bills i"),
        ),
        ("What is the total of the bill items?", "SELECT sum(>total_amt) FROM bill_items", None),
        ("What is the total?", "SELECT sum(>total_amt) FROM bill_items", None),
        (
            "How many customers are in Pune?",
            counted,
            Some("SELECT count(*) FROM customers WHERE city = 'Pune'"),
        ),
        ("How many bills went to Pune?", counted, Some(joined)),
        ("How many customers have bills in Pune?", counted, None),
        ("How many are in Pune?", counted, None),
        (
            "Payments by method?",
            "SELECT >method, count(*) FROM bills GROUP BY method",
            Some("SELECT method, count(*) FROM payments GROUP BY method"),
        ),
        ("Bills by method?", "SELECT >method, count(*) FROM bills GROUP BY method", None),
        (
            "How much was paid for bills?",
            "SELECT sum(>amount) FROM bills",
            Some("SELECT sum(amount) FROM bills JOIN payments ON bills.bill_id = payments.bill_id"),
        ),
    ] {
        let got = asked(question, "unknown_column", marked).map(|rewrite| rewrite.sql);
        assert_eq!(got.as_deref(), want, "{question} {marked}");
    }
}

#[test]
fn a_named_table_is_joined_and_no_sum_repeated() {
    for (marked, want) in [
        ("SELECT sum(>b.total_amt) FROM bill_items i", None),
        ("SELECT i.prod_id, avg(>b.total_amt) FROM bill_items i GROUP BY i.prod_id", None),
        (
            "SELECT >p.method, count(DISTINCT b.bill_id) FROM bills b GROUP BY p.method",
            Some(
                "SELECT p.method, count(DISTINCT b.bill_id) FROM bills b JOIN payments AS p ON b.bill_id = p.bill_id GROUP BY \
                 p.method",
            ),
        ),
        (
            "SELECT b.status FROM bills b WHERE >p.method = 'BANK'",
            Some(
                "SELECT b.status FROM bills b WHERE EXISTS (SELECT 1 FROM payments AS p WHERE b.bill_id = p.bill_id AND \
                 p.method = 'BANK')",
            ),
        ),
    ] {
        let got = asked("?", "unknown_table", marked).map(|rewrite| rewrite.sql);
        assert_eq!(got.as_deref(), want, "{marked}");
    }
}

#[test]
fn a_bridge_repeats_what_the_join_behind_it_repeats() {
    // Each item is counted once: the text joins them itself.
    let items = "SELECT count(*) FROM customers c JOIN bill_items i ON >bills.bill_id = i.bill_id";
    let counted = asked("?", "unknown_table", items).unwrap();
    assert_eq!(
        counted.sql,
        "SELECT count(*) FROM customers c JOIN bills ON c.cust_id = bills.cust_id JOIN bill_items i ON bills.bill_id = i.bill_id"
    );
    assert!(!counted.change.contains("counts once"), "{}", counted.change);
    // A bill is counted with each of its products, and that is told.
    let bills = "SELECT count(b.bill_id) FROM bills b JOIN products p ON >i.prod_id = p.prod_id";
    let told = asked("?", "unknown_table", bills).unwrap().change;
    assert!(told.ends_with("A row of bills counts once for each of its rows in bill_items."), "{told}");
    let summed = "SELECT sum(b.total_amt) FROM bills b JOIN products p ON >i.prod_id = p.prod_id";
    assert_eq!(asked("?", "unknown_table", summed), None);
}
