//! Months, columns, shares, units and counts that a sentence names.

use super::*;

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
            ("Pune brought 400 days.", Some("days")),
            ("Pune brought 400 g.", Some("g")),
            ("Pune brought 400 accounts.", Some("accounts")),
            ("Pune accounts for 81.6% of revenue.", None),
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
