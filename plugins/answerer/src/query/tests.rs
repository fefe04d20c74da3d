//! What texts are read as.

use super::*;

fn stems(text: &str) -> BTreeSet<String> {
    words::words(text).iter().map(|word| stem(&word.text)).collect()
}

#[test]
fn a_value_is_borne_where_it_is_kept_to() {
    for (sql, word, sentence, want) in [
        ("SELECT 1 FROM bills WHERE city = 'Pune'", "pune", "", true),
        ("SELECT 1 FROM bills WHERE 'Pune' = city", "pune", "", true),
        ("SELECT 1 FROM bills WHERE city ILIKE 'pune'", "pune", "", true),
        // A pattern, an order of texts and a truth that is turned round let other values in.
        ("SELECT 1 FROM bills WHERE city ILIKE '%pune%'", "pune", "", false),
        ("SELECT 1 FROM bills WHERE status LIKE '%PAID'", "paid", "", false),
        ("SELECT 1 FROM bills WHERE status ~ 'PAID'", "paid", "", false),
        ("SELECT 1 FROM bills WHERE status >= 'PAID'", "paid", "", false),
        ("SELECT 1 FROM bills WHERE (status = 'PAID') IS NOT TRUE", "paid", "", false),
        ("SELECT 1 FROM bills WHERE (status = 'PAID') = false", "paid", "", false),
        ("SELECT 1 FROM bills WHERE CASE WHEN city = 'Pune' THEN true ELSE true END", "pune", "", false),
        ("SELECT 1 FROM bills WHERE coalesce(city = 'Pune', true)", "pune", "", false),
        ("SELECT 1 FROM bills WHERE city = 'Pune' OR amount > 5", "pune", "", false),
        // Where a condition stands decides what it keeps to.
        ("SELECT 1 FROM bills LEFT JOIN c ON c.id = bills.c AND c.city = 'Pune'", "pune", "", false),
        ("SELECT 1 FROM bills JOIN c ON c.id = bills.c AND c.city = 'Pune'", "pune", "", true),
        ("SELECT 1 FROM bills LEFT JOIN c ON c.id = bills.c WHERE c.city = 'Pune'", "pune", "", true),
        ("SELECT 1 FROM bills RIGHT JOIN c ON c.id = bills.c AND c.city = 'Pune'", "pune", "", false),
        ("SELECT 1 FROM a LEFT JOIN (SELECT 1 FROM b WHERE city = 'Pune') x ON true", "pune", "", false),
        ("SELECT 1 FROM (SELECT 1 FROM b WHERE city = 'Pune') x", "pune", "", true),
        ("WITH x AS (SELECT 1 FROM b WHERE city = 'Pune') SELECT 1 FROM x", "pune", "", true),
        ("WITH x AS (SELECT 1 FROM b WHERE city = 'Pune') SELECT 1 FROM b", "pune", "", false),
        ("SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE city = 'Pune')", "pune", "", false),
        (
            "SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.a = a.id AND city = 'Pune')",
            "pune",
            "",
            true,
        ),
        ("SELECT 1 FROM a WHERE id IN (SELECT a FROM b WHERE city = 'Pune')", "pune", "", true),
        ("SELECT 1 FROM a HAVING bool_or(city = 'Pune')", "pune", "", false),
        ("SELECT count(*), count(*) FILTER (WHERE city = 'Pune') FROM bills", "pune", "", false),
        ("SELECT 1 FROM a WHERE city = 'Pune' UNION ALL SELECT 1 FROM b", "pune", "", false),
        (
            "SELECT 1 FROM a WHERE city = 'Pune' UNION ALL SELECT 1 FROM b WHERE city = 'Pune'",
            "pune",
            "",
            true,
        ),
        ("SELECT 1 FROM bills WHERE lower(city) = lower('Pune')", "pune", "", true),
        ("SELECT count(*) FILTER (WHERE city = 'Pune') FROM bills", "pune", "", true),
        ("SELECT 'Pune' FROM bills", "pune", "", false),
        ("SELECT 1 FROM bills -- city = 'Pune'", "pune", "", false),
        ("SELECT 1 FROM bills /* city = 'Pune' */", "pune", "", false),
        ("SELECT count(*) AS pune FROM bills", "pune", "", false),
        ("SELECT 1 FROM bills WHERE city != 'Pune'", "pune", "", false),
        ("SELECT 1 FROM bills WHERE city != 'Pune'", "pune", "bills outside Pune", true),
        ("SELECT 1 FROM bills WHERE city NOT LIKE 'Pune%'", "pune", "", false),
        ("SELECT 1 FROM bills WHERE city NOT IN ('Pune')", "pune", "", false),
        ("SELECT 1 FROM bills WHERE NOT EXISTS (SELECT 1 FROM c WHERE x = 'Pune')", "pune", "", false),
        ("SELECT 1 FROM a EXCEPT SELECT 1 FROM b WHERE city = 'Pune'", "pune", "", false),
        ("SELECT 1 FROM a LEFT JOIN b ON b.city = 'Pune' WHERE b.id IS NULL", "pune", "", false),
        ("SELECT 1 FROM bills WHERE city IN ('Pune')", "pune", "", true),
        ("SELECT 1 FROM bills WHERE city IN ('Pune', 'Surat')", "pune", "", false),
        ("SELECT 1 FROM bills WHERE city IN ('Pune', 'Surat')", "pune", "Pune and Surat", true),
        ("SELECT 1 FROM bills WHERE (city = 'Pune' OR city = 'Surat') AND a = 'x'", "pune", "", false),
        ("SELECT 1 FROM bills WHERE (city = 'Goa' OR city = 'Surat') AND a = 'Pune'", "pune", "", true),
        ("SELECT 1 FROM cust_bills", "customers", "", true),
        ("SELECT 1 FROM bills ORDER BY 1", "order", "", false),
        ("SELECT 1 FROM \"Orders\"", "order", "", true),
    ] {
        assert_eq!(Query::of(sql).bears(word, &stems(sentence)), want, "{sql}: {word}");
    }
}

#[test]
fn a_time_is_what_the_conditions_say() {
    let date = |text: &str| Date::parse(text);
    for (condition, from, until, want) in [
        ("d >= '2026-07-01' AND d < '2026-08-01'", "2026-07-01", "2026-08-01", true),
        ("d >= '2026-07-01' AND d < '2026-09-01'", "2026-07-01", "2026-08-01", false),
        ("d BETWEEN '2026-07-01' AND '2026-07-31'", "2026-07-01", "2026-08-01", true),
        ("d NOT BETWEEN '2026-07-01' AND '2026-07-31'", "2026-07-01", "2026-08-01", false),
        ("d = '2026-07-15'", "2026-07-15", "2026-07-16", true),
        ("d >= '2026-07-01'", "2026-07-01", "", true),
        ("d >= '2026-07-01' AND d < '2026-08-01'", "2026-07-01", "", false),
        ("extract(year FROM d) = 2026", "2026-01-01", "2027-01-01", true),
        ("EXTRACT(YEAR FROM d)::int = 2026", "2026-01-01", "2027-01-01", true),
        ("date_part('year', d) = 2026", "2026-01-01", "2027-01-01", true),
        ("bill_year = 2026", "2026-01-01", "2027-01-01", true),
        // Nobody knows here when that begins.
        ("fiscal_year = 2026", "2026-01-01", "2027-01-01", false),
        ("extract(year FROM d) <> 2026", "2026-01-01", "2027-01-01", false),
        ("extract(year FROM d) IN (2025, 2026)", "2026-01-01", "2027-01-01", false),
        ("extract(year FROM d) = 2026 AND extract(month FROM d) = 7", "2026-01-01", "2027-01-01", false),
        ("extract(year FROM d) = 2026 AND extract(month FROM d) = 7", "2026-07-01", "2026-08-01", true),
        ("extract(year FROM d) = 2026 AND extract(quarter FROM d) = 2", "2026-04-01", "2026-07-01", true),
        ("to_char(d, 'YYYY') = '2026'", "2026-01-01", "2027-01-01", true),
        ("amount = 2026", "2026-01-01", "2027-01-01", false),
        ("true", "2026-01-01", "2027-01-01", false),
        ("d < '2026-07-01'", "", "2026-07-01", true),
        ("d <= DATE '2026-06-30'", "", "2026-07-01", true),
        ("d > '2026-06-30'", "2026-07-01", "", true),
        (
            "d >= '2026-07-01' AND d < DATE '2026-07-01' + INTERVAL '1 month'",
            "2026-07-01",
            "2026-08-01",
            true,
        ),
        ("date_trunc('month', d) = DATE '2026-07-01'", "2026-07-01", "2026-08-01", true),
        ("date_trunc('month', d) >= '2026-07-01'", "2026-07-01", "", true),
        ("d::date BETWEEN '2026-07-01' AND '2026-07-31'", "2026-07-01", "2026-08-01", true),
        ("d <= '2026-07-31 23:59:59' AND d >= '2026-07-01'", "2026-07-01", "2026-08-01", true),
        ("to_char(d, 'YYYY-MM') = '2026-07'", "2026-07-01", "2026-08-01", true),
        ("d::text LIKE '2026-07%'", "2026-07-01", "2026-08-01", true),
        ("year = 2026 AND month = 7", "2026-07-01", "2026-08-01", true),
        ("d >= '2026-07-01' AND d < '2026-08-01' AND d > '2026-07-10'", "2026-07-01", "2026-08-01", false),
        ("d >= '2026-07-01' AND paid_on < '2026-08-01'", "2026-07-01", "2026-08-01", false),
        ("d >= '2026-07-01' AND d < '2026-08-01' OR amount > 5", "2026-07-01", "2026-08-01", false),
        ("NOT (d >= '2026-07-01' AND d < '2026-08-01')", "2026-07-01", "2026-08-01", false),
        ("d >= CURRENT_DATE", "2026-07-01", "", false),
    ] {
        let query = Query::of(&format!("SELECT count(*) FROM bills WHERE {condition}"));
        assert_eq!(query.lasts(date(from), date(until)), want, "{condition}: {from} {until}");
    }
}

#[test]
fn bounds_orders_and_cuts_are_read() {
    let number = |text: &str| Decimal::parse(text).unwrap();
    let query = Query::of(
        "SELECT a FROM b WHERE c > 500 AND 20 >= d GROUP BY a HAVING count(*) >= 5 ORDER BY a DESC LIMIT 10",
    );
    for (bound, above, want) in [
        ("500", Some((true, false)), true),
        ("500", Some((true, true)), false),
        ("500", Some((false, false)), false),
        ("20", Some((false, true)), true),
        ("5", Some((true, true)), true),
        ("5", Some((true, false)), false),
        ("10", None, true),
        ("10", Some((true, false)), false),
        ("7", None, false),
    ] {
        assert_eq!(query.bounds(number(bound), above), want, "{bound} {above:?}");
    }
    assert!(query.sorts(true) && !query.sorts(false));
    for (sql, rows, want) in [
        ("SELECT a FROM b LIMIT 5", 5, true),
        ("SELECT a FROM b LIMIT 5", 4, false),
        ("SELECT a FROM b FETCH FIRST 5 ROWS ONLY", 5, true),
        ("SELECT a FROM (SELECT a, rank() OVER (ORDER BY c) AS r FROM b) t WHERE r < 4", 3, true),
        ("SELECT a FROM b", 5, false),
    ] {
        assert_eq!(Query::of(sql).cuts(rows), want, "{sql}");
    }
    let targets = Query::of("SELECT b.city, count(*) AS n, sum(b.total_amt) FROM bills b GROUP BY 1");
    let has = |column: usize, word: &str| targets.target(column).unwrap().contains(&stem(word));
    assert!(has(0, "city") && has(1, "count") && has(1, "bills") && has(2, "sum") && has(2, "amt"));
    assert!(!has(2, "bills") && !has(1, "sum"));
}
