//! Sentences that rows bear out, and others.

use super::*;
use crate::tests::{given, input};

mod amounts;

/// The first word that is not borne out of each text, where it is another than wanted.
fn hold(data: &AnswerInput, cases: &[(&str, Option<&str>)]) {
    let given = given(data);
    let claims = Claims::of(&given);
    let others: Vec<String> = cases
        .iter()
        .map(|(text, want)| (text, claims.unborne(text, ""), want))
        .filter(|(_, got, want)| got.as_deref() != **want)
        .map(|(text, got, want)| format!("{text} {got:?} and not {want:?}"))
        .collect();
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// A result of a query.
fn of(sql: &str, mut data: AnswerInput) -> AnswerInput {
    data.sql = Some(sql.into());
    data
}

const RANKED: &str = "SELECT product, sum(units) AS units FROM sales GROUP BY product ORDER BY units DESC";
const BY_MONTH: &str =
    "SELECT date_trunc('month', day)::date AS month, sum(amount) AS revenue FROM bills GROUP BY 1 ORDER BY 1";

fn products() -> AnswerInput {
    let rows: &[&[Option<&str>]] = &[
        &[Some("Hammer"), Some("1200")],
        &[Some("Nails"), Some("900")],
        &[Some("Saw"), Some("900")],
        &[Some("Tape"), Some("0")],
    ];
    of(RANKED, input("Which products sold most?", &[("product", "text"), ("units", "bigint")], rows))
}

#[test]
fn a_number_of_one_row_is_said_of_it() {
    hold(
        &products(),
        &[
            ("900 units were sold.", Some("900")),
            ("Each product sold 900 units.", Some("each")),
            ("The highest number of units is 1,200.", None),
            ("The highest number of units is 900.", Some("highest")),
            ("There are 4 products.", None),
            ("In total 3,000 units were sold.", None),
            ("Nails sold 900 units.", None),
        ],
    );
}

#[test]
fn words_come_from_somewhere_or_say_nothing() {
    hold(
        &products(),
        &[
            ("Hammer sold 1,200 units.", None),
            ("The products and their units are listed in the table.", None),
            ("It was acme with 1,200.", Some("acme")),
            ("Hammer sold 1,200 units in germany.", Some("germany")),
            ("Hammer sold 1,200 units in february.", Some("february")),
            ("Hammer sold 1,200 units because of rain.", Some("because")),
            ("Hammer sold a healthy 1,200 units.", Some("healthy")),
            ("Hammer brought $1,200.", Some("$")),
            ("Hammer brought 1.2 thousand.", None),
            ("Hammer sold 4x.", Some("4x")),
            ("Hammer sold 4 times the units of Nails.", Some("times")),
            ("A quarter of the units is of Nails.", Some("quarter")),
        ],
    );
    let cities = input(
        "Customers by city?",
        &[("name", "text"), ("city", "text"), ("balance", "numeric")],
        &[&[Some("Asha"), Some("Pune"), Some("5")], &[Some("Ravi"), Some("Surat"), Some("-7")]],
    );
    hold(
        &cities,
        &[
            ("Asha is from Pune, Ravi is from Surat.", None),
            ("Asha is from Surat.", Some("surat")),
            ("Ravi has a balance of -7.", None),
            ("Ravi has a negative balance of 7.", None),
            ("Ravi has a balance of 7.", Some("7")),
            ("Asha has a negative balance of 5.", Some("negative")),
        ],
    );
    let truths = input(
        "Who is active?",
        &[("name", "text"), ("active", "boolean")],
        &[&[Some("Asha"), Some("true")], &[Some("Ravi"), Some("false")]],
    );
    hold(
        &truths,
        &[
            ("Asha: yes, Ravi: no.", None),
            ("Asha is active: no.", Some("no")),
            ("Ravi is active: yes.", Some("yes")),
            ("It is true of Ravi.", Some("true")),
        ],
    );
}

#[test]
fn none_is_said_of_what_has_none() {
    hold(
        &products(),
        &[
            ("Tape sold none.", None),
            ("Hammer sold 1,200, Tape none.", None),
            ("No units of Tape were sold.", None),
            ("Hammer sold none.", Some("none")),
            ("No products were sold.", Some("no")),
            ("Nails isn't sold.", Some("t")),
            ("Hammer sold zero units.", Some("zero")),
            ("Nothing was sold.", Some("nothing")),
        ],
    );
    let mut never = input(
        "Which customers have never paid?",
        &[("customer", "text")],
        &[&[Some("Asha")], &[Some("Ravi")]],
    );
    hold(&never, &[("Asha and Ravi have never paid.", Some("never"))]);
    never.sql =
        Some("SELECT customer FROM customers WHERE id NOT IN (SELECT customer_id FROM payments)".into());
    hold(
        &never,
        &[
            ("Asha and Ravi have never paid.", None),
            ("Asha and Ravi have not paid.", Some("not")),
            ("Asha never came.", Some("never")),
            ("No customers have paid.", Some("no")),
        ],
    );
    never.question = "Did Asha pay?".into();
    never.sql = Some("SELECT paid FROM customers WHERE name = 'Asha'".into());
    never.columns = vec![airlock_plugin_sdk::contract::answerer::ResultColumn {
        name: "paid".into(),
        sql_type: "boolean".into(),
    }];
    never.row_count = 1;
    for (value, yes, no) in [("false", Some("not"), None), ("true", None, Some("not"))] {
        never.rows = vec![vec![Some(value.into())]];
        let _ = yes;
        hold(&never, &[("Asha did not pay.", no)]);
    }
    let unknown = of(
        "SELECT manager FROM employees WHERE name = 'Asha'",
        input("Who is the manager of Asha?", &[("manager", "text")], &[&[None]]),
    );
    hold(&unknown, &[("Asha has no manager.", None)]);
}

#[test]
fn quantities_in_words_are_counted() {
    hold(
        &products(),
        &[
            ("Hundreds of units were sold.", Some("hundreds")),
            ("Dozens of products were sold.", Some("dozens")),
            ("Most products sold 900.", Some("most")),
            ("The majority sold 900.", Some("majority")),
            ("Half of the products sold 900.", Some("half")),
            ("Hammer sold twice as much.", Some("twice")),
            ("Several products sold 900.", Some("several")),
            ("One product sold 1,200.", Some("one")),
            ("All products sold 900.", Some("all")),
            ("All 4 products are in the table.", None),
            ("All 3 products are in the table.", Some("all")),
            ("Both products are in the table.", Some("both")),
            ("Only Hammer was sold.", Some("only")),
        ],
    );
    let one = of(
        "SELECT product FROM sales GROUP BY product ORDER BY sum(units) DESC LIMIT 1",
        input("Which product sold most?", &[("product", "text")], &[&[Some("Hammer")]]),
    );
    hold(&one, &[("The one product is Hammer.", None), ("Only Hammer sold most.", None)]);
    let mut twice =
        input("Which customers came twice?", &[("customer", "text")], &[&[Some("Asha")], &[Some("Ravi")]]);
    twice.sql = Some("SELECT customer FROM visits".into());
    hold(&twice, &[("Asha and Ravi came twice.", Some("twice"))]);
    twice.sql = Some("SELECT customer FROM visits GROUP BY customer HAVING count(*) = 2".into());
    hold(&twice, &[("Asha and Ravi came twice.", None), ("Asha brought twice as much.", Some("twice"))]);
}

#[test]
fn ends_of_an_order_are_where_the_rows_have_them() {
    hold(
        &products(),
        &[
            ("Hammer leads with 1,200 units.", None),
            ("The leader is Hammer.", None),
            ("Hammer sold most.", None),
            ("The most was 1,200.", None),
            ("The highest is Hammer (1,200), the lowest Tape (0).", None),
            ("The lowest is Nails (900).", Some("lowest")),
            ("Nails leads with 900 units.", Some("leads")),
            ("Nails leads, Hammer comes after it.", Some("leads")),
            ("The best is Nails with 900.", Some("best")),
            ("Nails sold most, at 900.", Some("most")),
            ("Hammer leads, followed by Nails and Saw.", None),
            ("Hammer leads, followed by Tape and Saw.", Some("followed")),
            ("Nails is second with 900.", None),
            ("Saw is second with 900.", Some("second")),
            ("The first is Hammer.", None),
            ("The last is Saw.", Some("last")),
            ("The last is Tape.", None),
            ("Hammer led the last quarter.", Some("last")),
            ("The cheapest is Hammer.", Some("cheapest")),
        ],
    );
    // Nobody stands alone at the top.
    let tie = of(
        RANKED,
        input(
            "Top products?",
            &[("product", "text"), ("units", "bigint")],
            &[&[Some("Nails"), Some("5")], &[Some("Saw"), Some("5")]],
        ),
    );
    hold(&tie, &[("Nails leads with 5.", Some("leads")), ("Nails and Saw are the top products.", None)]);
    let unsorted = of(
        "SELECT * FROM (SELECT product, units FROM sales ORDER BY units DESC LIMIT 2) t ORDER BY 1",
        input(
            "Which 2 products sold most?",
            &[("product", "text"), ("units", "bigint")],
            &[&[Some("Nails"), Some("5")], &[Some("Saw"), Some("9")]],
        ),
    );
    hold(
        &unsorted,
        &[
            ("The 2 products that sold most are Nails and Saw.", None),
            ("The product that sold most is Nails.", Some("most")),
        ],
    );
    let one = of(
        "SELECT product FROM sales GROUP BY product ORDER BY sum(units) DESC LIMIT 1",
        input("Which product sold most?", &[("product", "text")], &[&[Some("Hammer")]]),
    );
    hold(&one, &[("Hammer sold most.", None), ("Hammer sold least.", Some("least"))]);
    let asked_low = of(
        "SELECT product FROM sales GROUP BY product ORDER BY sum(units) LIMIT 1",
        input("Which product is worst?", &[("product", "text")], &[&[Some("Hammer")]]),
    );
    hold(&asked_low, &[("Hammer is worst.", None), ("Hammer is best.", Some("best"))]);
}

#[test]
fn comparisons_are_those_of_the_rows() {
    hold(
        &products(),
        &[
            ("Hammer sold more than Nails.", None),
            ("Nails sold more than Hammer.", Some("more")),
            ("Nails sold fewer units than Hammer.", None),
            ("Hammer sold fewer units than Nails.", Some("fewer")),
            ("Hammer is 300 ahead of Nails.", None),
            ("Nails is 300 ahead of Hammer.", Some("ahead")),
            ("Nails and Saw sold the same number.", None),
            ("Hammer and Saw sold the same number.", Some("same")),
            ("Nails and Saw sold 900 each.", None),
            ("The products are equal.", Some("equal")),
            ("Hammer sold more than 900.", Some("more")),
            ("Hammer sold at least 1,200.", Some("least")),
            ("Hammer sold exactly 1,200.", None),
            ("Hammer sold nearly 1,200.", Some("nearly")),
            ("Hammer sold more.", Some("more")),
            ("Hammer has a higher number of units (1,200) than Nails (900).", None),
            ("Nails has a higher number of units (900) than Hammer (1,200).", Some("higher")),
        ],
    );
    let mut big = input(
        "Which customers have more than 5 bills?",
        &[("customer", "text"), ("worth", "numeric")],
        &[&[Some("Asha"), Some("1234567.89")]],
    );
    hold(&big, &[("Asha has more than 5 bills.", Some("more"))]);
    big.sql =
        Some("SELECT customer, sum(worth) AS worth FROM bills GROUP BY customer HAVING count(*) > 5".into());
    hold(
        &big,
        &[
            ("Asha has more than 5 bills.", None),
            ("Asha has fewer than 5 bills.", Some("fewer")),
            ("Asha has over 5 bills.", None),
            ("Asha brought more than 1.23 million.", None),
            ("Asha brought nearly 1.23 million.", Some("nearly")),
            ("Asha brought nearly 1,234,568.", None),
        ],
    );
}

#[test]
fn a_change_is_one_of_the_rows() {
    let months = |values: [&str; 3]| {
        let rows: Vec<[Option<&str>; 2]> = ["2026-01-01", "2026-02-01", "2026-03-01"]
            .iter()
            .zip(values)
            .map(|(month, value)| [Some(*month), Some(value)])
            .collect();
        let rows: Vec<&[Option<&str>]> = rows.iter().map(|row| row.as_slice()).collect();
        of(BY_MONTH, input("Revenue by month?", &[("month", "date"), ("revenue", "numeric")], &rows))
    };
    hold(
        &months(["10", "20", "30"]),
        &[
            ("Revenue rose to 30.", None),
            ("Revenue fell to 10.", Some("fell")),
            ("Revenue rose from 10 in January 2026 to 30 in March 2026.", None),
            ("Revenue rose from last year.", Some("last")),
        ],
    );
    hold(
        &months(["10", "30", "20"]),
        &[
            ("Revenue rose.", Some("rose")),
            ("Revenue rose from 10 in January 2026 to 30 in February 2026.", None),
            ("Revenue fell from 30 in February 2026 to 20 in March 2026.", None),
            ("Revenue rose from 30 in February 2026 to 20 in March 2026.", Some("rose")),
            ("Revenue is up.", Some("up")),
            (
                "Revenue rose from 10 in January 2026 to 30 in February 2026, then fell to 20 in March 2026.",
                None,
            ),
            (
                "Revenue rose from 10 in January 2026 to 30 in February 2026, then rose to 20 in March 2026.",
                Some("rose"),
            ),
            ("Revenue fell to 20 in March 2026.", Some("fell")),
        ],
    );
    let single = |question: &str, column: &str, value: &str| {
        input(question, &[(column, "numeric")], &[&[Some(value)]])
    };
    hold(
        &single("Revenue in 2026?", "revenue", "5"),
        &[
            ("Revenue rose to 5.", Some("rose")),
            ("Revenue was 5, up from last year.", Some("up")),
            ("Revenue was 5.", None),
        ],
    );
    hold(
        &of(
            "SELECT revenue - before AS growth FROM years",
            single("By how much did revenue grow?", "growth", "-5"),
        ),
        &[("Revenue grew by 5.", Some("grew")), ("Revenue fell by 5.", None)],
    );
    let mut risen =
        input("Which products rose in price?", &[("product", "text")], &[&[Some("Nails")], &[Some("Saw")]]);
    hold(&risen, &[("Nails and Saw rose in price.", Some("rose"))]);
    risen.sql = Some("SELECT product FROM products WHERE price > old_price".into());
    hold(&risen, &[("Nails and Saw rose in price.", None), ("Nails and Saw fell in price.", Some("fell"))]);
    let whether = single("Did revenue increase in May?", "revenue", "5");
    hold(&whether, &[("Revenue increased in May to 5.", Some("increased"))]);
}
