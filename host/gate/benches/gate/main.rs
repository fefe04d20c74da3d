//! What a verdict costs on a 24-line analytical query: all of it, the grammar's half, a short query, and another parser
//! beside it.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark")]

#[path = "../../tests/shop/mod.rs"]
mod shop;
mod sqlglot;
mod tails;

use std::hint::black_box;

use criterion::Criterion;

const ANALYTICAL: &str = "WITH monthly AS (
  SELECT c.id AS customer_id,
         date_trunc('month', o.placed_at) AS month,
         count(*) AS orders,
         sum(o.total) AS spent
  FROM shop.orders o
  JOIN shop.customers c ON c.id = o.customer_id
  WHERE o.placed_at >= date '2024-01-01'
    AND o.placed_at < date '2025-01-01'
    AND o.status IN ('paid', 'shipped')
  GROUP BY c.id, date_trunc('month', o.placed_at)
), ranked AS (
  SELECT m.*,
         rank() OVER (PARTITION BY m.month ORDER BY m.spent DESC) AS place,
         m.spent - lag(m.spent) OVER (PARTITION BY m.customer_id ORDER BY m.month) AS change
  FROM monthly m
)
SELECT r.month, c.name, r.orders, round(r.spent, 2) AS spent,
       CASE WHEN r.change IS NULL THEN 'new' WHEN r.change > 0 THEN 'up' ELSE 'down' END AS trend
FROM ranked r
JOIN shop.customers c ON c.id = r.customer_id
WHERE r.place <= 10 AND c.name NOT LIKE 'test%'
ORDER BY r.month, r.place";

const SHORT: &str = "SELECT count(*) FROM orders WHERE status = 'paid'";

/// The statements and what they are called.
const STATEMENTS: [(&str, &str); 2] = [("24 lines", ANALYTICAL), ("1 line", SHORT)];

fn postgres_alone(text: &str) -> bool {
    pg_query::parse(text, 0).is_ok()
}

fn second_alone(text: &str) -> bool {
    let dialect = sqlparser::dialect::PostgreSqlDialect {};
    sqlparser::parser::Parser::parse_sql(&dialect, text).is_ok()
}

fn verdicts(criterion: &mut Criterion) {
    let gate = shop::gate(150_018);
    for (name, text) in STATEMENTS {
        assert!(gate.check(text).is_ok());
        criterion.bench_function(&format!("check, {name}"), |bencher| {
            bencher.iter(|| gate.check(black_box(text)));
        });
    }
    criterion.bench_function("pg_query alone, 24 lines", |bencher| {
        bencher.iter(|| postgres_alone(black_box(ANALYTICAL)));
    });
    criterion.bench_function("sqlparser alone, 24 lines", |bencher| {
        bencher.iter(|| second_alone(black_box(ANALYTICAL)));
    });
    criterion.bench_function("canonical, 24 lines", |bencher| {
        bencher.iter(|| airlock_gate::canonical(black_box(ANALYTICAL)));
    });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    verdicts(&mut criterion);
    criterion.final_summary();
    // Other harnesses call this program to list it or to run it once: they want no table.
    if std::env::args().any(|argument| argument == "--bench") {
        tails::print();
    }
}
