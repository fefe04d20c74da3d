//! What a number may be said to be a number of.

use airlock_plugin_sdk::harness::table;

use super::*;

const MARCH: &str = "bill_dt >= '2025-03-01' AND bill_dt < '2025-04-01'";

fn one(question: &str, sql: &str, column: &str, value: &str) -> AnswerInput {
    let mut data = input(question, &[(column, "bigint")], &[&[Some(value)]]);
    data.sql = Some(sql.into());
    data
}

/// What the template says, and what stays of the same sentence where a model says it.
fn hold(host: &Recorded, cases: &[(&str, String, &str, &str)]) {
    let mut others: Vec<String> = Vec::new();
    for (question, sql, column, want) in cases {
        let data = one(question, sql, column, "64");
        let told = text(play(host, &data, vec![]));
        if told != *want {
            others.push(format!("{question} {sql}: {told}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn a_time_is_said_the_way_round_that_the_query_has_it() {
    let count = |condition: &str| format!("SELECT count(*) AS bills FROM bills WHERE {condition}");
    let bills = "Bills: 64.";
    hold(
        &Recorded::new(),
        &[
            ("How many bills in March 2025?", count(MARCH), "bills", "There are 64 bills in March 2025."),
            (
                "How many bills were raised in March 2025?",
                count(MARCH),
                "bills",
                "64 bills were raised in March 2025.",
            ),
            ("How many bills after March 2025?", count(MARCH), "bills", bills),
            ("How many bills before March 2025?", count(MARCH), "bills", bills),
            ("How many bills were raised since March 2025?", count(MARCH), "bills", bills),
            ("How many bills were raised until March 2025?", count(MARCH), "bills", bills),
            ("How many bills were raised by March 2025?", count(MARCH), "bills", bills),
            ("How many bills were raised up to March 2025?", count(MARCH), "bills", bills),
            ("How many bills were not raised in March 2025?", count(MARCH), "bills", bills),
            (
                "How many bills after March 2025?",
                count("bill_dt >= '2025-04-01'"),
                "bills",
                "There are 64 bills after March 2025.",
            ),
            ("How many bills after March 2025?", count("bill_dt >= '2025-03-01'"), "bills", bills),
            ("How many bills in March 2025?", count("bill_dt >= '2025-03-01'"), "bills", bills),
            (
                "How many bills were raised since March 2025?",
                count("bill_dt >= '2025-03-01'"),
                "bills",
                "64 bills were raised since March 2025.",
            ),
            (
                "How many bills before March 2025?",
                count("bill_dt < '2025-03-01'"),
                "bills",
                "There are 64 bills before March 2025.",
            ),
            ("How many bills before March 2025?", count("bill_dt < '2025-04-01'"), "bills", bills),
            (
                "How many bills between March and May 2025?",
                count("bill_dt >= '2025-03-01' AND bill_dt < '2025-06-01'"),
                "bills",
                "There are 64 bills between March and May 2025.",
            ),
            ("How many bills between March and May 2025?", count(MARCH), "bills", bills),
        ],
    );
}

#[test]
fn a_range_is_said_where_the_count_is_kept_to_it() {
    let question = "How many bills in March 2025?";
    let bills = "Bills: 64.";
    let from = |rest: &str| (question, format!("SELECT {rest}"), "bills", bills);
    hold(
        &Recorded::new(),
        &[
            from(&format!("count(*) AS bills FROM bills WHERE ({MARCH}) OR total_amt > 5")),
            from(&format!("count(*) AS bills FROM bills WHERE CASE WHEN {MARCH} THEN true ELSE true END")),
            from(&format!("count(*) AS bills FROM bills HAVING bool_or({MARCH})")),
            from(&format!("count(*) AS bills FROM bills WHERE EXISTS (SELECT 1 FROM bills WHERE {MARCH})")),
            from(&format!(
                "count(*) AS bills FROM bills b LEFT JOIN (SELECT bill_id FROM bills WHERE {MARCH}) m ON m.bill_id = b.bill_id"
            )),
            from(&format!("count(*) + 0 * count(*) FILTER (WHERE {MARCH}) AS bills FROM bills")),
            (
                question,
                format!("SELECT count(*) FILTER (WHERE {MARCH}) AS bills FROM bills"),
                "bills",
                "There are 64 bills in March 2025.",
            ),
            (
                question,
                format!("SELECT count(*) AS bills FROM bills b WHERE {MARCH};"),
                "bills",
                "There are 64 bills in March 2025.",
            ),
        ],
    );
}

#[test]
fn what_is_counted_is_what_the_rows_are() {
    let question = "How many bills in March 2025?";
    let bills = "Bills: 64.";
    let from = |rest: &str| (question, format!("SELECT {rest} AND {MARCH}"), "bills", bills);
    let cases = [
        from("count(*) + 1000 AS bills FROM bills WHERE true"),
        from("count(*) + 1000 AS bills FROM bills WHERE total_amt > 0"),
        from("max(bill_id) AS bills FROM bills WHERE total_amt > 0"),
        from("count(*) AS bills FROM bills WHERE status = 'PAID'"),
        from("count(*) AS bills FROM bills WHERE cust_id IS NOT NULL"),
        from("count(*) AS bills FROM bills JOIN payments ON payments.bill_id = bills.bill_id WHERE 5 < 7"),
        (question, format!("SELECT count(*) + 1000 AS bills FROM bills WHERE {MARCH}"), "bills", bills),
        (question, format!("SELECT max(bill_id) AS bills FROM bills WHERE {MARCH}"), "bills", bills),
        (question, format!("SELECT sum(bill_id) AS bills FROM bills WHERE {MARCH}"), "bills", bills),
        (
            question,
            format!("SELECT count(DISTINCT cust_id) AS bills FROM bills WHERE {MARCH}"),
            "bills",
            bills,
        ),
        (question, format!("SELECT count(*) AS bills FROM bill_items WHERE {MARCH}"), "bills", bills),
        (
            question,
            format!("SELECT count(*) AS bills FROM bills JOIN payments USING (bill_id) WHERE {MARCH}"),
            "bills",
            bills,
        ),
        (question, format!("SELECT count(*) AS bills FROM bills, payments WHERE {MARCH}"), "bills", bills),
        (
            "What was the revenue in March 2025?",
            format!("SELECT avg(total_amt) AS revenue FROM bills WHERE {MARCH}"),
            "revenue",
            "Revenue: 64.",
        ),
        (
            "What is the revenue?",
            "SELECT avg(x) AS revenue FROM (SELECT total_amt AS x FROM bills) AS t".into(),
            "revenue",
            "Revenue: 64.",
        ),
        (
            "What is the revenue?",
            "SELECT sum(x) AS revenue FROM (SELECT total_amt AS x FROM bills) AS t".into(),
            "revenue",
            "The revenue is 64.",
        ),
        (
            "What was the revenue in March 2025?",
            format!("SELECT max(total_amt) AS revenue FROM bills WHERE {MARCH}"),
            "revenue",
            "Revenue: 64.",
        ),
        (
            "What was the revenue in March 2025?",
            format!("SELECT sum(total_amt) AS revenue FROM bills WHERE {MARCH} AND status = 'PAID'"),
            "revenue",
            "Revenue: 64.",
        ),
        (
            "What was the revenue in March 2025?",
            format!("SELECT sum(total_amt) AS revenue FROM bills WHERE {MARCH}"),
            "revenue",
            "The revenue in March 2025 was 64.",
        ),
        (
            "What was the average total in March 2025?",
            format!("SELECT sum(total_amt) AS average_total FROM bills WHERE {MARCH}"),
            "average_total",
            "Average total: 64.",
        ),
        (
            "How many bills do we have?",
            format!("SELECT count(*) AS bills FROM bills WHERE {MARCH}"),
            "bills",
            bills,
        ),
    ];
    hold(&Recorded::new(), &cases);
}

#[test]
fn names_are_said_in_the_plain_direction() {
    let count = |condition: &str| format!("SELECT count(*) AS bills FROM bills WHERE {condition}");
    let bills = "Bills: 64.";
    let question = "How many bills are paid?";
    hold(
        &Recorded::new(),
        &[
            (question, count("status = 'PAID'"), "bills", "64 bills are paid."),
            (question, count("lower(status) = 'paid'"), "bills", "64 bills are paid."),
            (question, count("is_paid"), "bills", "64 bills are paid."),
            (question, count("NOT is_paid"), "bills", bills),
            (question, count("is_paid = false"), "bills", bills),
            (question, count("status LIKE '%PAID'"), "bills", bills),
            (question, count("status ~ 'PAID'"), "bills", bills),
            (question, count("status >= 'PAID'"), "bills", bills),
            (question, count("(status = 'PAID') IS NOT TRUE"), "bills", bills),
            (question, count("(status = 'PAID') = false"), "bills", bills),
            (question, count("status <> 'PAID'"), "bills", bills),
            (question, count("paid_amt > 7"), "bills", bills),
            ("How many bills are not paid?", count("status <> 'PAID'"), "bills", "64 bills are not paid."),
            ("How many bills are not paid?", count("status = 'PAID'"), "bills", bills),
            (
                "How many customers from Pune?",
                "SELECT count(*) AS customers FROM customers LEFT JOIN bills ON bills.cust_id = customers.cust_id AND city = 'Pune'"
                    .into(),
                "customers",
                "Customers: 64.",
            ),
            (
                "How many products are in stock?",
                "SELECT count(*) AS products FROM products WHERE stock_qty < 10".into(),
                "products",
                "Products: 64.",
            ),
            (
                "How many products with a stock above 10?",
                "SELECT count(*) AS products FROM products WHERE stock_qty > 10".into(),
                "products",
                "There are 64 products with a stock above 10.",
            ),
            (
                "How many products with a stock above 10?",
                "SELECT count(*) AS products FROM products WHERE stock_qty >= 10".into(),
                "products",
                "Products: 64.",
            ),
            (
                "How many products with 10 pieces?",
                "SELECT count(*) AS products FROM products WHERE pieces > 10".into(),
                "products",
                "Products: 64.",
            ),
        ],
    );
}

#[test]
fn joins_that_only_describe_the_counted_rows_narrow_nothing() {
    let host = Recorded::new()
        .table(table("bills").columns(&[("bill_id", "bigint"), ("cust_id", "bigint")]))
        .table(table("customers").columns(&[("cust_id", "bigint"), ("city", "text")]))
        .table(table("payments").columns(&[("pay_id", "bigint"), ("bill_id", "bigint")]))
        .join("bills.cust_id", "customers.cust_id")
        .join("payments.bill_id", "bills.bill_id");
    let question = "How many bills in March 2025?";
    let told = "There are 64 bills in March 2025.";
    let from = |rest: &str| format!("SELECT count(*) AS bills FROM {rest} AND {MARCH}");
    hold(
        &host,
        &[
            (question, from("bills b JOIN customers c ON c.cust_id = b.cust_id WHERE b.bill_id = b.bill_id"), "bills", "Bills: 64."),
            (
                question,
                format!("SELECT count(*) AS bills FROM bills b JOIN customers c ON c.cust_id = b.cust_id WHERE {MARCH}"),
                "bills",
                told,
            ),
            (
                question,
                format!("SELECT count(*) AS bills FROM bills JOIN customers USING (cust_id) WHERE {MARCH}"),
                "bills",
                told,
            ),
            // A bill comes as often as it was paid.
            (
                question,
                format!("SELECT count(*) AS bills FROM bills b JOIN payments p ON p.bill_id = b.bill_id WHERE {MARCH}"),
                "bills",
                "Bills: 64.",
            ),
            (
                "How many bills from Pune?",
                "SELECT count(*) AS bills FROM bills b JOIN customers c ON c.cust_id = b.cust_id WHERE c.city = 'Pune'".into(),
                "bills",
                "There are 64 bills from Pune.",
            ),
        ],
    );
}

#[test]
fn a_term_of_the_domain_says_what_it_keeps_to() {
    let host = Recorded::new()
        .metric("revenue", &["turnover"], "bills", "sum(bills.total_amt)", "bills.status <> 'CANCELLED'")
        .metric("average bill", &[], "bills", "avg(bills.total_amt)", "bills.status <> 'CANCELLED'");
    let kept = "status <> 'CANCELLED'";
    hold(
        &host,
        &[
            (
                "What was the turnover in March 2025?",
                format!("SELECT sum(total_amt) AS revenue FROM bills WHERE {MARCH} AND {kept}"),
                "revenue",
                "The turnover in March 2025 was 64.",
            ),
            (
                "What is the average bill?",
                format!("SELECT avg(total_amt) AS average_bill FROM bills WHERE {kept}"),
                "average_bill",
                "The average bill is 64.",
            ),
            // It is another number without that condition.
            (
                "What is the average bill?",
                "SELECT avg(total_amt) AS mean_amt FROM bills".into(),
                "mean_amt",
                "Mean amount: 64.",
            ),
        ],
    );
}

#[test]
fn a_model_says_no_more_of_a_number_than_the_template() {
    let told = |sql: &str, column: &str, said: &str| {
        let mut data = one("How many bills were raised in March 2025?", sql, column, "64");
        data.model_available = true;
        text(play(&Recorded::new(), &data, vec![reply(said)])) == said
    };
    let month = format!("SELECT count(*) AS bills FROM bills WHERE {MARCH}");
    for (sql, column, said, want) in [
        (month.clone(), "bills", "In March 2025, 64 bills were raised.", true),
        (month.clone(), "bills", "The number of bills in March 2025 is 64.", true),
        (month.clone(), "bills", "There are 64 bills.", true),
        (month.clone(), "bills", "64 bills were raised after March 2025.", false),
        (month.clone(), "bills", "The revenue in March 2025 is 64.", false),
        (month.clone(), "bills", "64 customers came in March 2025.", false),
        (format!("{month} AND status = 'PAID'"), "bills", "In March 2025, 64 bills were raised.", false),
        (
            format!("{month} AND status = 'PAID'"),
            "bills",
            "In March 2025, 64 bills had the status PAID.",
            true,
        ),
        (
            format!("SELECT count(*) + 9 AS bills FROM bills WHERE {MARCH}"),
            "bills",
            "There are 64 bills.",
            false,
        ),
    ] {
        assert_eq!(told(&sql, column, said), want, "{sql}: {said}");
    }
}

#[test]
fn a_number_is_named_by_the_words_of_its_own_column() {
    let mut data = input(
        "How many bills were raised in March 2025, and what is the total?",
        &[("bills", "bigint"), ("total", "numeric")],
        &[&[Some("64"), Some("185990.00")]],
    );
    data.sql = Some(format!("SELECT count(*) AS bills, sum(total_amt) AS total FROM bills WHERE {MARCH}"));
    data.model_available = true;
    let told = |said: &str| text(play(&Recorded::new(), &data, vec![reply(said)])) == said;
    for (said, want) in [
        ("The total is 185,990, from 64 bills.", true),
        ("In March 2025 there were 64 bills with a total of 185,990.", true),
        ("The total of the 64 bills is 185,990.", true),
        ("The total number of bills is 64.", true),
        ("The number of bills is 64 and the total is 185,990.", true),
        ("The total is 64.", false),
        ("The total for bills in March 2025 is 64.", false),
        ("The total of bills raised in March 2025 was 64.", false),
        ("The total, in March 2025, is 64.", false),
        ("The number of bills is 185,990.", false),
        ("Total: 64.", false),
    ] {
        assert_eq!(told(said), want, "{said}");
    }
}

#[test]
fn what_is_turned_rounded_or_renamed_is_not_said() {
    let bills = "Bills: 64.";
    let march = |rest: &str| format!("SELECT {rest} WHERE {MARCH}");
    let count = || march("count(*) AS bills FROM bills");
    let listed = |condition: &str| format!("SELECT count(*) AS bills FROM bills WHERE {condition}");
    hold(
        &Recorded::new(),
        &[
            (
                "How many bills in March 2025?",
                march("round(count(*), -2) AS bills FROM bills"),
                "bills",
                bills,
            ),
            ("How many bills in March 2025?", march("count(*)::int / 2 AS bills FROM bills"), "bills", bills),
            ("How many bills in March 2025?", march("count(*) OVER () AS bills FROM bills"), "bills", bills),
            ("How many bills in March 2025?", march("count(*) AS bills FROM payments bills"), "bills", bills),
            ("How many bills on or before March 2025?", count(), "bills", bills),
            ("How many bills are there from March 2025 on?", count(), "bills", bills),
            ("How many bills in March 2025 or later?", count(), "bills", bills),
            ("How many bills in the first week of March 2025?", count(), "bills", bills),
            ("How many bills outside March 2025?", count(), "bills", bills),
            ("How many names are there?", "SELECT count(*) AS n FROM bills".into(), "n", "N: 64."),
            (
                "How many bills are paid but not open?",
                listed("status = 'OPEN' AND mode <> 'PAID'"),
                "bills",
                bills,
            ),
            (
                "How many bills are open but not paid?",
                listed("status = 'OPEN' AND mode <> 'PAID'"),
                "bills",
                "64 bills are open but not paid.",
            ),
            (
                "How many bills are not paid in March 2025?",
                format!("{} AND status <> 'PAID'", count()),
                "bills",
                bills,
            ),
            (
                "What is the price of Hammer?",
                "SELECT stock_qty AS price FROM products WHERE prod_name = 'Hammer'".into(),
                "price",
                "Price: 64.",
            ),
            (
                "What is the price of Hammer?",
                "SELECT price FROM products WHERE prod_name = 'Hammer'".into(),
                "price",
                "The price of Hammer is 64.",
            ),
            (
                "What is the highest price?",
                "SELECT max(cost) AS price FROM products".into(),
                "price",
                "Price: 64.",
            ),
            (
                "What is the highest price?",
                "SELECT max(price) AS price FROM products".into(),
                "price",
                "The highest price is 64.",
            ),
        ],
    );
}
