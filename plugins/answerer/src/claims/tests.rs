//! Sentences that rows bear out, and others.

use super::*;
use crate::tests::{given, input};

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

/// Months of one or several years, and what they brought.
fn months(rows: &[(&str, &str)]) -> AnswerInput {
    let rows: Vec<[Option<&str>; 2]> =
        rows.iter().map(|(month, value)| [Some(*month), Some(*value)]).collect();
    let rows: Vec<&[Option<&str>]> = rows.iter().map(|row| row.as_slice()).collect();
    of(BY_MONTH, input("Revenue by month?", &[("month", "date"), ("revenue", "numeric")], &rows))
}

#[test]
fn a_month_without_its_year_is_that_of_its_row() {
    let spring = [("2026-01-01", "700"), ("2026-02-01", "500"), ("2026-03-01", "900"), ("2026-04-01", "400")];
    hold(
        &months(&spring),
        &[
            ("Revenue was highest in March.", None),
            ("Revenue peaked in March.", None),
            ("The peak was March with 900.", None),
            ("Revenue was lowest in April, at 400.", None),
            ("Revenue was highest in April.", Some("highest")),
            ("Revenue was lowest in March.", Some("lowest")),
            ("Revenue peaked in Feb.", Some("peaked")),
            ("Revenue rose from January to March.", None),
            ("Revenue grew between February and March.", None),
            ("Revenue fell from March to April.", None),
            ("Revenue dropped from 900 in March to 400 in April.", None),
            ("Revenue fell from January to March.", Some("fell")),
            ("Revenue grew from March to April.", Some("grew")),
            ("Revenue was higher in March than in April.", None),
            ("Revenue was lower in March than in April.", Some("lower")),
            ("In May revenue was 400.", Some("may")),
            ("In March 2025 revenue was 900.", Some("march")),
            ("Revenue in March 2026 was 900.", None),
        ],
    );
    let years = months(&[("2025-03-01", "900"), ("2026-03-01", "400")]);
    hold(
        &years,
        &[
            ("In March revenue was 400.", Some("march")),
            ("In March 2025 revenue was 900.", None),
            ("Revenue fell from March 2025 to March 2026.", None),
        ],
    );
    // Where no column alone tells the rows apart, a month is held to the row of the number beside it.
    let cities = of(
        "SELECT month, city, units FROM sales",
        input(
            "Units by month and city?",
            &[("month", "date"), ("city", "text"), ("units", "bigint")],
            &[
                &[Some("2026-03-01"), Some("Pune"), Some("5")],
                &[Some("2026-03-01"), Some("Surat"), Some("6")],
                &[Some("2026-04-01"), Some("Pune"), Some("7")],
            ],
        ),
    );
    hold(
        &cities,
        &[
            ("In March, Pune had 5 units.", None),
            ("In April, Pune had 5 units.", Some("april")),
            ("In March, Surat had 5 units.", Some("surat")),
        ],
    );
}

#[test]
fn a_number_is_of_the_column_that_is_named_beside_it() {
    let sql = "SELECT city, count(*) AS bills, sum(amount) AS total FROM bills GROUP BY city";
    let columns = [("city", "text"), ("bills", "bigint"), ("total", "numeric")];
    let rows: &[&[Option<&str>]] =
        &[&[Some("Pune"), Some("12"), Some("400")], &[Some("Surat"), Some("5"), Some("90")]];
    hold(
        &of(sql, input("Bills by city?", &columns, rows)),
        &[
            ("Pune has 12 bills with a total of 400.", None),
            ("Pune has a total of 12 bills.", None),
            ("Pune: total 12.", Some("12")),
            ("Pune has a total of 12.", Some("12")),
            ("Pune has 400 bills.", Some("400")),
            ("Pune has 400 bills and a total of 12.", Some("400")),
            ("Pune: bills 12, total 400.", None),
            ("Pune: bills 400, total 12.", Some("400")),
        ],
    );
    let dated = of(
        "SELECT name, max(day) AS last_bill, sum(total - paid) AS balance, count(*) AS bills FROM bills GROUP BY name",
        input(
            "Balances?",
            &[("name", "text"), ("last_bill", "date"), ("balance", "numeric"), ("bills", "bigint")],
            &[
                &[Some("Asha"), Some("2026-03-05"), Some("500"), Some("5")],
                &[Some("Ravi"), Some("2026-04-17"), Some("300"), Some("2")],
                &[Some("Meena"), Some("2025-12-01"), Some("-20"), Some("1")],
            ],
        ),
    );
    hold(
        &dated,
        &[
            ("Ravi's last bill was in April.", None),
            ("Ravi's last bill was in March.", Some("march")),
            ("Ravi's last bill was on 17 April 2026.", None),
            ("Asha's balance is 500 bills.", Some("500")),
            ("Asha and Ravi together have 7 bills.", None),
            ("Asha and Ravi together have a balance of 800.", None),
            ("Asha has 3 more bills than Ravi.", None),
        ],
    );
    // 17 April is no amount.
    let given = given(&dated);
    assert_eq!(crate::trace::untraced("Asha has 4 more bills than Ravi.", &given).as_deref(), Some("4"));
    let one = of(
        "SELECT avg(amount), max(amount) FROM bills",
        input("Bills?", &[("avg", "numeric"), ("max", "numeric")], &[&[Some("34"), Some("90")]]),
    );
    hold(
        &one,
        &[
            ("The average is 34 and the highest 90.", None),
            ("The average is 90.", Some("90")),
            ("The mean is 90 and the maximum 34.", Some("90")),
        ],
    );
}

#[test]
fn a_percentage_is_of_the_rows_beside_it() {
    let sql = "SELECT product, sum(units) AS units FROM sales GROUP BY product";
    let columns = [("product", "text"), ("units", "bigint")];
    let rows: &[&[Option<&str>]] =
        &[&[Some("Hammer"), Some("700")], &[Some("Nails"), Some("200")], &[Some("Saw"), Some("100")]];
    let all = of(sql, input("Units sold by product?", &columns, rows));
    hold(
        &all,
        &[
            ("Hammer accounts for 70% of the total.", None),
            ("Hammer makes up 70% of the units.", None),
            ("Hammer's share is 70%, that of Nails 20%.", None),
            ("70% of the units are of Hammer.", None),
            ("Hammer and Nails combined make up 90%.", None),
            ("Hammer contributes 70% and Nails 20%.", None),
            ("Hammer contributes 20% and Nails 70%.", Some("20")),
            ("Hammer accounts for 20% of the total.", Some("20")),
            ("Hammer and Nails combined make up 80%.", Some("80")),
            ("Hammer is 250% above Nails.", None),
            ("Hammer is 71.4% above Nails.", Some("71.4")),
            ("Nails is 71.4% below Hammer.", None),
            ("Hammer, Nails and Saw together make 1,000.", None),
            ("Hammer and Nails together make 900.", None),
            ("Hammer and Nails sold 900 in total.", None),
            ("Hammer and Nails sold 900 in all.", None),
            ("Hammer and Saw together make 900.", Some("together")),
            ("Hammer is 500 ahead of Nails.", None),
            ("The gap between Hammer and Nails is 500.", None),
        ],
    );
    let sql = "SELECT extract(year FROM day)::int AS year, sum(amount) AS revenue, count(*) AS bills FROM bills GROUP BY 1";
    let columns = [("year", "integer"), ("revenue", "numeric"), ("bills", "bigint")];
    let rows: &[&[Option<&str>]] = &[
        &[Some("2023"), Some("100"), Some("10")],
        &[Some("2024"), Some("300"), Some("12")],
        &[Some("2025"), Some("200"), Some("20")],
    ];
    hold(
        &of(sql, input("Revenue and bills by year?", &columns, rows)),
        &[
            ("2025 accounts for 33.3% of revenue.", None),
            ("2025 accounts for 47.6% of revenue.", Some("47.6")),
            ("2025 accounts for 47.6% of bills.", None),
            ("Revenue rose by 200% from 2023 to 2024.", None),
            ("Revenue rose by 66.7% from 2023 to 2024.", Some("66.7")),
            ("Revenue dropped by 100 from 2024 to 2025.", None),
            ("Revenue rose by 100 from 2023 to 2024.", Some("100")),
            ("The number of bills grew every year.", None),
            ("Revenue grew every year.", Some("grew")),
            ("2024 and 2025 together had 32 bills.", None),
            ("2024 and 2025 together had 500 bills.", Some("500")),
            ("In 2024, revenue was highest.", None),
        ],
    );
    let sql = "SELECT product, sum(units) AS units FROM sales GROUP BY product";
    let columns = [("product", "text"), ("units", "bigint")];
    let rows: &[&[Option<&str>]] =
        &[&[Some("Hammer"), Some("700")], &[Some("Nails"), Some("200")], &[Some("Saw"), Some("100")]];
    // The first of a longer list have no total.
    let top = of(&format!("{sql} ORDER BY units DESC LIMIT 3"), input("Top 3 products?", &columns, rows));
    hold(
        &top,
        &[
            ("Hammer accounts for 70% of the total.", Some("70")),
            ("The lowest is Saw with 100.", Some("lowest")),
            ("The highest is Hammer with 700.", None),
            ("The total is 1,000.", Some("1,000")),
            ("The top 3 together make 1,000.", None),
            ("There are 3 products.", Some("3")),
            ("We have 3 products.", Some("3")),
            ("The 3 products are Hammer, Nails and Saw.", None),
            ("Of these, Hammer makes up 70%.", None),
        ],
    );
    let mut part = of(sql, input("Units sold by product?", &columns, rows));
    part.row_count = 40;
    hold(&part, &[("Hammer accounts for 70% of the total.", Some("70"))]);
}

#[test]
fn units_and_rates_are_those_of_the_query() {
    let sql = "SELECT city, sum(amount) AS revenue FROM bills GROUP BY city";
    let rows: &[&[Option<&str>]] = &[&[Some("Pune"), Some("400")], &[Some("Surat"), Some("90")]];
    let columns = [("city", "text"), ("revenue", "numeric")];
    let mut data = of(sql, input("Revenue in ₹ (rupees) per day and city in 2024, in kg?", &columns, rows));
    hold(
        &data,
        &[
            ("Pune brought 400 of revenue.", None),
            ("Pune brought ₹400.", Some("₹")),
            ("Pune brought 400 rupees.", Some("rupees")),
            ("Pune brought 400 kg.", Some("kg")),
            ("Pune brought 400 per day.", Some("per")),
            ("Pune brought 400 a day.", Some("day")),
            ("Pune brought 400 each month.", Some("each")),
            ("Pune brought 400 daily.", Some("daily")),
            ("Pune brought 400 of revenue per city.", None),
            ("Pune brought 400 in 2024.", None),
            ("Pune brought 400 in March.", Some("march")),
        ],
    );
    assert_eq!(crate::trace::untraced("Pune brought 400 in 2024.", &given(&data)).as_deref(), Some("2024"));
    data.columns[1].name = "revenue_per_day".into();
    hold(&data, &[("Pune brought 400 per day.", None)]);
    data.sql = Some(
        format!("{sql} -- 2024").replace("FROM bills", "FROM bills WHERE extract(year FROM day) = 2024"),
    );
    assert_eq!(crate::trace::untraced("Pune brought 400 in 2024.", &given(&data)), None);
}

#[test]
fn what_was_read_is_not_what_there_is() {
    let rows: &[&[Option<&str>]] = &[&[Some("B-1")], &[Some("B-2")]];
    let mut data = of("SELECT bill_no FROM bills", input("Which bills?", &[("bill_no", "text")], rows));
    data.row_count = 200;
    data.truncated = true;
    hold(
        &data,
        &[
            ("There are 200 bills.", Some("200")),
            ("200 bills, such as B-1.", Some("200")),
            ("All 200 bills are listed.", Some("all")),
            ("There are more than 200 bills.", None),
            ("The first 200 bills are listed.", None),
            ("There are 2 bills.", Some("2")),
        ],
    );
    data.truncated = false;
    hold(&data, &[("There are 200 bills.", None)]);
    let lines: &[&[Option<&str>]] =
        &[&[Some("Asha"), Some("Hammer")], &[Some("Asha"), Some("Nails")], &[Some("Ravi"), Some("Saw")]];
    let lines = of(
        "SELECT customer, product FROM sales",
        input("Who bought what?", &[("customer", "text"), ("product", "text")], lines),
    );
    hold(&lines, &[("There are 3 customers.", Some("3")), ("There are 3 products.", None)]);
}
