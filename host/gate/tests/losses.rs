//! What PostgreSQL leaves out of a result without an error is found where it is lost, and nowhere else.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod shop;

use airlock_gate::LossKind;

/// `§` stands before each operator that loses something, `¬` before one that leaves the rest of a day in.
#[track_caller]
fn lost(marked: &str) {
    let text = marked.replace(['§', '¬'], "");
    let mut want = Vec::new();
    let mut at = 0;
    for part in marked.split_inclusive(['§', '¬']) {
        at += part.trim_end_matches(['§', '¬']).len();
        let kind = match part.chars().last() {
            Some('¬') => LossKind::NotOneDay,
            Some('§') => match text.as_bytes().get(at) {
                Some(b'/') => LossKind::Fraction,
                Some(b'=' | b'I' | b'i' | b'W') => LossKind::OneDay,
                // `<>` under a NOT.
                Some(b'<') if text[at..].starts_with("<>") => LossKind::OneDay,
                _ => LossKind::LastDay,
            },
            _ => continue,
        };
        want.push((kind, at));
    }
    let approved =
        shop::gate(180_000).check(&text).unwrap_or_else(|refused| panic!("{text}: {}", refused.message));
    let found: Vec<_> = approved.facts().losses.iter().map(|loss| (loss.kind, loss.at)).collect();
    assert_eq!(found, want, "{text}");
    for loss in &approved.facts().losses {
        assert_eq!(loss.column.is_none(), loss.kind == LossKind::Fraction, "{text}");
    }
}

#[test]
fn quotients_of_whole_numbers_lose_what_is_behind_the_point() {
    for marked in [
        "SELECT count(*) §/ 7 FROM shop.lines",
        "SELECT count(*) FILTER (WHERE qty > 5) /* all / of them */ §/ count(*) FROM shop.lines -- a / b",
        "SELECT sum(qty) §/ count(*) AS \"a / b\" FROM shop.lines l",
        "SELECT sum(l.qty) §/ NULLIF(count(DISTINCT l.order_id), 0) FROM shop.lines AS l WHERE 'x / y' <> ''",
        "SELECT 100 * sum(CASE WHEN qty > 1 THEN 1 ELSE 0 END) §/ count(*) FROM shop.lines",
        "SELECT sum(CASE WHEN qty > 1 THEN 1 END) §/ count(*) FROM shop.lines",
        "SELECT round(sum(qty) §/ count(*), 2) FROM shop.lines",
        "SELECT (sum(qty) §/ count(*))::numeric * 1.5 FROM shop.lines",
        "SELECT ceil(sum(qty) §/ count(*)) FROM shop.lines",
        "SELECT -qty §/ (order_id + 1) FROM shop.lines",
        "SELECT max(qty) §/ coalesce(min(qty), 1) FROM shop.lines",
        "SELECT a.n §/ b.n FROM (SELECT count(*) AS n FROM shop.lines) a, (SELECT count(*) AS n FROM shop.orders) b",
        "WITH a (n) AS (SELECT count(*) FROM shop.lines) SELECT n §/ (SELECT count(*) FROM shop.orders) FROM a",
        "SELECT (SELECT count(*) FROM shop.lines) §/ (SELECT count(*) FROM shop.orders)",
        "SELECT n §/ 4 FROM (SELECT 3 AS n UNION ALL SELECT count(*) FROM shop.lines) s",
        "SELECT count(*) OVER () §/ 3 §/ 2 FROM shop.lines",
        "SELECT a.order_id §/ 3 FROM shop.lines a JOIN shop.lines b USING (order_id)",
    ] {
        lost(marked);
    }
}

#[test]
fn what_is_not_cut_or_cut_on_purpose_is_no_loss() {
    for text in [
        // Not of whole numbers.
        "SELECT total / 7 FROM shop.orders",
        "SELECT count(*)::numeric / 7 FROM shop.lines",
        "SELECT count(*) / 7.0 FROM shop.lines",
        "SELECT 100.0 * count(*) / 7 FROM shop.lines",
        "SELECT CAST(sum(qty) AS double precision) / count(*) FROM shop.lines",
        "SELECT sum(order_id) / count(*) FROM shop.lines",
        "SELECT avg(qty) / 7 FROM shop.lines",
        "SELECT extract(day FROM placed_at) / 7 FROM shop.orders",
        "SELECT sum(CASE WHEN qty > 1 THEN 1.0 ELSE 0 END) / count(*) FROM shop.lines",
        "SELECT n / 4 FROM (SELECT 3 AS n UNION ALL SELECT 1.5) s",
        "SELECT interval '1 day' / 2",
        "SELECT 'a / b' AS \"c / d\" FROM shop.lines /* 1 / 2 */",
        // Whole on purpose.
        "SELECT count(*)::int / 7 FROM shop.lines",
        "SELECT (sum(qty) / count(*))::int FROM shop.lines",
        "SELECT CAST(sum(qty) / count(*) AS bigint) FROM shop.lines",
        "SELECT floor(sum(qty) / count(*)) FROM shop.lines",
        "SELECT trunc(qty / 2) FROM shop.lines",
        "SELECT qty / 10 * 10 FROM shop.lines",
        "SELECT (qty / 10) * 10 AS step, count(*) FROM shop.lines GROUP BY 1",
        "SELECT qty / 2 % 2 FROM shop.lines",
        "SELECT qty / 1 FROM shop.lines",
        "SELECT qty / 100 AS step, count(*) FROM shop.lines GROUP BY step ORDER BY step",
        "SELECT qty / 100, count(*) FROM shop.lines GROUP BY qty / 100 ORDER BY qty / 100",
        "SELECT qty / 100, count(*) FROM shop.lines GROUP BY ROLLUP (qty / 100)",
        // What rows are chosen by may mean whole steps.
        "SELECT count(*) FROM shop.lines WHERE qty / 1000 > 0",
        "SELECT 1 FROM shop.lines a JOIN shop.lines b ON a.qty / 10 = b.qty / 10",
        "SELECT order_id FROM shop.lines GROUP BY order_id HAVING sum(qty) / count(*) > 3",
        "SELECT count(*) FILTER (WHERE qty / 12 >= 1) FROM shop.lines",
        "SELECT 1 FROM shop.lines ORDER BY 1 LIMIT 1 / 2 OFFSET 3 / 2",
        "SELECT 1 FROM shop.lines WHERE qty > (SELECT sum(qty) / count(*) FROM shop.lines)",
        // Only div is what it says.
        "SELECT div(sum(qty), count(*)) FROM shop.lines",
    ] {
        lost(text);
    }
    // What rows are grouped by says nothing about their shares.
    lost("SELECT qty / 100, sum(qty) §/ count(*) FROM shop.lines GROUP BY 1");
}

#[test]
fn ranges_of_moments_that_end_in_a_day_lose_it() {
    for marked in [
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN '2024-03-01' AND '2024-03-31'",
        "SELECT 1 FROM shop.orders o WHERE o.\"placed_at\" §NOT BETWEEN DATE '2024-03-01' AND DATE '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE shop.orders.placed_at §between '2024-03-01'::date and '2024-03-31'::timestamp",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN TIMESTAMP '2024-03-01' AND TIMESTAMP '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN CURRENT_DATE - 7 AND CURRENT_DATE",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN now() - interval '7 days' AND CAST(now() AS date)",
        "SELECT 1 FROM shop.orders WHERE placed_at >= '2024-03-01' AND placed_at §<= '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at §= '2024-03-05'",
        "SELECT 1 FROM shop.orders WHERE placed_at §= (SELECT max(placed_at)::date FROM shop.orders)",
        "SELECT count(*) FILTER (WHERE placed_at §BETWEEN '2024-03-01' AND '2024-03-31') FROM shop.orders",
        "WITH o AS (SELECT placed_at AS at FROM shop.orders) SELECT 1 FROM o WHERE at §BETWEEN '2024-03-01' AND '2024-03-31'",
        "SELECT 1 FROM shop.customers c WHERE EXISTS (SELECT 1 FROM shop.orders WHERE placed_at §= '2024-03-05')",
        "SELECT 1 FROM shop.orders, (SELECT date '2024-03-31' AS until) p WHERE placed_at §BETWEEN '2024-03-01' AND p.until",
        // What is not a column is read as what it is.
        "SELECT 1 FROM shop.orders WHERE (placed_at) §<= '2024-03-31' /* <= '2024-03-31' */ AND 'BETWEEN' = 'BETWEEN'",
    ] {
        lost(marked);
    }
}

#[test]
fn a_day_is_one_however_it_is_written() {
    for marked in [
        // By its type, whatever its spelling.
        "SELECT 1 FROM shop.orders WHERE placed_at §<= make_date(2026, 1, 30)",
        "SELECT 1 FROM shop.orders WHERE placed_at §= to_date('30.01.2026', 'DD.MM.YYYY')",
        "SELECT 1 FROM shop.orders WHERE placed_at §<= '30 January 2026'::date",
        "SELECT 1 FROM shop.orders WHERE placed_at §<= DATE '2026-1-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at §<= CAST('Jan 30, 2026' AS date)",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN make_date(2026, 1, 1) AND make_date(2026, 1, 31)",
        "SELECT 1 FROM shop.orders WHERE placed_at §<= least(CURRENT_DATE, DATE '2026-01-30')",
        "SELECT 1 FROM shop.orders WHERE placed_at §<= coalesce(NULL, now()::date)",
        // Where a moment is expected, a literal without a time is one.
        "SELECT 1 FROM shop.orders WHERE placed_at §<= '30 January 2026'",
        "SELECT 1 FROM shop.orders WHERE placed_at §= '20260130'",
        "SELECT 1 FROM shop.orders WHERE placed_at §= 'yesterday'",
        // As a moment that stands for its day.
        "SELECT 1 FROM shop.orders WHERE placed_at §<= to_timestamp('2026-01-30', 'YYYY-MM-DD')",
        "SELECT 1 FROM shop.orders WHERE placed_at §<= CURRENT_DATE - interval '7 days'",
        "SELECT 1 FROM shop.orders WHERE placed_at §<= CURRENT_DATE::timestamp",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN date_trunc('month', now()) AND date_trunc('month', now()) + interval '1 month' - interval '1 day'",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN date_trunc('year', now()) AND date_trunc('year', now()) + '1 year - 1 day'::interval",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN DATE '2026-01-01' AND DATE '2026-01-01' + INTERVAL '1' MONTH - make_interval(days => 1)",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN p.first AND p.last_day",
        // In a list, and the other way round.
        "SELECT 1 FROM shop.orders WHERE placed_at §IN ('2026-01-30', DATE '2026-01-31')",
        "SELECT 1 FROM shop.orders WHERE '2026-01-30' §>= placed_at AND DATE '2026-01-01' <= placed_at",
        "SELECT 1 FROM shop.orders WHERE make_date(2026, 1, 30) §= placed_at",
    ] {
        let marked = marked.replace("shop.orders WHERE placed_at §BETWEEN p.", "shop.orders, (SELECT date '2026-01-01' AS first, date_trunc('month', now()) + interval '1 month - 1 day' AS last_day) p WHERE placed_at §BETWEEN p.");
        lost(&marked);
    }
}

#[test]
fn a_range_that_says_that_it_is_empty_is_meant() {
    for text in [
        "SELECT 1 FROM shop.orders WHERE placed_at > '2026-01-30' AND placed_at <= '2026-01-30'",
        "SELECT 1 FROM shop.orders o WHERE o.placed_at <= DATE '2026-01-30' AND (total > 5 AND '30 January 2026' < placed_at)",
        "SELECT 1 FROM shop.orders WHERE placed_at >= '2026-01-30 10:00' AND placed_at <= '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN '2026-01-31' AND '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN now() AND CURRENT_DATE",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN CURRENT_DATE AND CURRENT_DATE - interval '1 month'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN '2026-01-30' AND '2026-01-30' AND placed_at > '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at = '2026-01-30' AND placed_at > '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at IN ('2026-01-29', '2026-01-30') AND placed_at > '2026-01-30'",
        "SELECT count(*) FILTER (WHERE placed_at > '2026-01-30') / 1 FROM shop.orders WHERE placed_at <= '2026-01-30'",
        "SELECT 1 FROM shop.orders a JOIN shop.customers c ON a.placed_at > '2026-01-30' WHERE a.placed_at <= '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE total > 5 OR (placed_at > CURRENT_DATE AND placed_at <= CURRENT_DATE)",
    ] {
        lost(text);
    }
    // What a query in FROM has chosen already.
    for text in [
        "SELECT count(*) FROM (SELECT placed_at FROM shop.orders WHERE placed_at <= '2026-01-30') o WHERE placed_at > '2026-01-30'",
        "WITH o AS (SELECT * FROM shop.orders WHERE placed_at <= '2026-01-30') SELECT 1 FROM o WHERE o.placed_at > '2026-01-30'",
        "WITH o AS (SELECT * FROM shop.orders WHERE placed_at > '2026-01-30') SELECT 1 FROM o p WHERE p.placed_at <= '2026-01-30'",
    ] {
        lost(text);
    }
    // Another column, another table, another branch: each may hold what the other does not.
    for marked in [
        "SELECT 1 FROM shop.orders a, shop.orders b WHERE a.placed_at > '2026-01-30' AND b.placed_at §<= '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at > '2026-01-30' OR placed_at §<= '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at >= '2026-01-30' AND placed_at §<= '2026-01-30'",
        "SELECT count(*) FILTER (WHERE placed_at §BETWEEN '2026-02-01' AND '2026-02-28'), count(*) FILTER (WHERE placed_at §BETWEEN '2026-01-01' AND '2026-01-31') FROM shop.orders",
        "WITH a AS (SELECT * FROM shop.orders WHERE placed_at §BETWEEN '2026-01-01' AND '2026-01-31'), b AS (SELECT * FROM shop.orders WHERE placed_at §BETWEEN '2026-02-01' AND '2026-02-28') SELECT 1 FROM a, b WHERE b.placed_at > '2026-01-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at > '2026-02-01' UNION SELECT 2 FROM shop.orders WHERE placed_at §<= '2026-01-30'",
        "SELECT 1 FROM shop.orders WHERE placed_at §IN ('2026-01-29', '2026-01-31') AND placed_at > '2026-01-30'",
    ] {
        lost(marked);
    }
}

#[test]
fn moments_and_days_that_are_meant_are_no_loss() {
    for text in [
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN '2024-03-01' AND '2024-03-31 23:59:59'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN '2024-03-01 08:00' AND '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN TIMESTAMP '2024-03-01' AND TIMESTAMP '2024-03-31 00:00:00'",
        "SELECT 1 FROM shop.orders WHERE placed_at >= '2024-03-01' AND placed_at < '2024-04-01'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN SYMMETRIC '2024-03-01' AND '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at::date BETWEEN '2024-03-01' AND '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE date_trunc('day', placed_at) = '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN now() - interval '7 days' AND now()",
        "SELECT 1 FROM shop.orders WHERE placed_at <= now()",
        "SELECT 1 FROM shop.orders WHERE placed_at <> '2024-03-05 10:00'",
        "SELECT 1 FROM shop.orders WHERE placed_at > '2024-03-05'",
        "SELECT 1 FROM shop.orders WHERE NOT placed_at < '2024-03-05'",
        "SELECT 1 FROM shop.orders WHERE NOT (NOT (placed_at > '2024-03-05'))",
        "SELECT 1 FROM shop.orders WHERE NOT (total > (SELECT count(*) FROM shop.orders WHERE placed_at > '2024-03-05'))",
        "SELECT CASE placed_at WHEN '2024-03-05 10:00' THEN 1 END FROM shop.orders",
        // A range without its end, one to a moment, and one without end.
        "SELECT 1 FROM shop.orders WHERE placed_at <@ tstzrange('2024-03-01', '2024-03-31')",
        "SELECT 1 FROM shop.orders WHERE placed_at <@ tstzrange('2024-03-01', '2024-03-31 23:59', '[]')",
        "SELECT 1 FROM shop.orders WHERE placed_at <@ '[2024-03-01,2024-03-31)'::tstzrange",
        "SELECT 1 FROM shop.orders WHERE placed_at <@ '[2024-03-01,9999-12-31]'::tstzrange",
        "SELECT 1 FROM shop.orders WHERE placed_at <= make_timestamptz(2024, 3, 31, 0, 0, 0.5)",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN make_timestamptz(2024, 3, 31, 0, 0, 0) AND make_timestamptz(2024, 3, 30, 0, 0, 0)",
        "SELECT 1 FROM shop.orders JOIN (SELECT date '2024-03-31' AS day) p ON placed_at = p.day",
        // For ever.
        "SELECT 1 FROM shop.orders WHERE placed_at <= '9999-12-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN '2024-03-01' AND make_date(9999, 12, 31)",
        "SELECT 1 FROM shop.orders WHERE placed_at = DATE '9999-12-31'",
        "SELECT 1 FROM shop.orders WHERE placed_at < 'infinity'",
        "SELECT 1 FROM shop.orders WHERE placed_at <= 'infinity'",
        "SELECT 1 FROM shop.orders WHERE placed_at <= 'infinity'::date",
        // The end of a span, and not its last day; a second before it.
        "SELECT 1 FROM shop.orders WHERE placed_at BETWEEN date_trunc('month', now()) AND date_trunc('month', now()) + interval '1 month'",
        "SELECT 1 FROM shop.orders WHERE placed_at <= DATE '2026-01-01' + interval '1 month'",
        "SELECT 1 FROM shop.orders WHERE placed_at <= date_trunc('month', now()) - interval '1 second'",
        "SELECT 1 FROM shop.orders WHERE placed_at <= CURRENT_DATE + interval '23 hours'",
        "SELECT 1 FROM shop.orders WHERE placed_at <= to_timestamp('2026-01-30 10', 'YYYY-MM-DD HH24')",
        "SELECT 1 FROM shop.orders WHERE placed_at IN ('2026-01-30', '2026-01-31 10:00')",
        "SELECT 1 FROM shop.orders WHERE placed_at NOT IN ('2026-01-30', '2026-01-31 10:00')",
        "SELECT 1 FROM shop.orders WHERE '2026-01-30' <= placed_at",
        "SELECT 1 FROM shop.lines WHERE qty BETWEEN 1 AND 5",
        "SELECT 1 FROM shop.orders WHERE '2024-03-01' BETWEEN '2024-03-01' AND '2024-03-31'",
    ] {
        lost(text);
    }
}

#[test]
fn a_day_is_lost_under_not_case_and_ranges_too() {
    for marked in [
        // What is not later than a day ends at its first moment.
        "SELECT 1 FROM shop.orders WHERE NOT (placed_at §> '2024-03-31')",
        "SELECT 1 FROM shop.orders WHERE NOT (total > 5 OR DATE '2024-03-31' §< placed_at)",
        "SELECT 1 FROM shop.orders WHERE NOT (placed_at §BETWEEN '2024-03-01' AND '2024-03-31')",
        "SELECT 1 FROM shop.orders WHERE NOT placed_at §<= '2024-03-31'",
        "SELECT 1 FROM shop.orders WHERE NOT (placed_at §<> '2024-03-05')",
        "SELECT CASE placed_at §WHEN '2024-03-05' THEN 1 §WHEN DATE '2024-03-06' THEN 2 END FROM shop.orders",
        "SELECT CASE WHEN placed_at §<= '2024-03-31' THEN 1 WHEN placed_at §= '2024-04-01' THEN 2 END FROM shop.orders",
        "SELECT 1 FROM shop.orders WHERE placed_at §IS NOT DISTINCT FROM '2024-03-05'",
        // All of a day but its first moment stays.
        "SELECT 1 FROM shop.orders WHERE placed_at ¬<> '2024-03-05'",
        "SELECT 1 FROM shop.orders WHERE DATE '2024-03-05' ¬!= placed_at",
        "SELECT 1 FROM shop.orders WHERE placed_at ¬NOT IN ('2024-03-05', '2024-03-06')",
        "SELECT 1 FROM shop.orders WHERE NOT (placed_at ¬= '2024-03-05')",
        "SELECT 1 FROM shop.orders WHERE placed_at ¬IS DISTINCT FROM DATE '2024-03-05'",
        // Ranges that have the end of a day as their end, and no more of it.
        "SELECT 1 FROM shop.orders WHERE placed_at §<@ tstzrange('2024-03-01', '2024-03-31', '[]')",
        "SELECT 1 FROM shop.orders WHERE tstzrange(NULL, DATE '2024-03-31', '(]') §@> placed_at",
        "SELECT 1 FROM shop.orders WHERE placed_at §<@ '[2024-03-01,2024-03-31]'::tstzrange",
        "SELECT 1 FROM shop.orders WHERE placed_at §<@ '[\"2024-03-01\", \"2024-03-31\"]'",
        "SELECT 1 FROM shop.orders, (SELECT tstzrange('2024-03-01', '2024-03-31', '[]') AS march) m WHERE placed_at §<@ m.march",
        // A moment that is made of numbers, at midnight.
        "SELECT 1 FROM shop.orders WHERE placed_at §<= make_timestamptz(2024, 3, 31, 0, 0, 0)",
        "SELECT 1 FROM shop.orders WHERE placed_at §BETWEEN make_timestamptz(2024, 3, 1, 0, 0, 0) AND make_timestamptz(2024, 3, 31, 0, 0, 0.0)",
    ] {
        lost(marked);
    }
}

#[test]
fn what_asks_the_server_for_the_time_is_known() {
    for (text, reads) in [
        ("SELECT count(*) FROM shop.orders WHERE placed_at >= CURRENT_DATE - 7", true),
        ("SELECT count(*) FROM shop.orders WHERE placed_at < now()", true),
        ("SELECT max(age(placed_at)) FROM shop.orders", true),
        ("SELECT n FROM (SELECT localtimestamp AS n) AS s", true),
        ("SELECT max(age(placed_at, TIMESTAMP '2026-01-01')) FROM shop.orders", false),
        ("SELECT count(*) FROM shop.orders WHERE placed_at >= DATE '2026-01-01'", false),
    ] {
        let approved =
            shop::gate(180_000).check(text).unwrap_or_else(|refused| panic!("{text}: {}", refused.message));
        assert_eq!(approved.facts().reads_clock, reads, "{text}");
    }
}
