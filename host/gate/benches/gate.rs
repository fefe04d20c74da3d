//! What a verdict costs on a 24-line analytical query: all of it, the grammar's half, and a short query beside it.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

#[path = "../tests/shop/mod.rs"]
mod shop;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

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

fn verdicts(criterion: &mut Criterion) {
    let gate = shop::gate(150_018);
    assert!(gate.check(ANALYTICAL).is_ok());
    criterion.bench_function("check, 24 lines", |bencher| bencher.iter(|| gate.check(black_box(ANALYTICAL))));
    criterion.bench_function("check, 1 line", |bencher| {
        bencher.iter(|| gate.check(black_box("SELECT count(*) FROM orders WHERE status = 'paid'")));
    });
    criterion.bench_function("pg_query alone, 24 lines", |bencher| {
        bencher.iter(|| pg_query::parse(black_box(ANALYTICAL), 0).is_ok());
    });
    criterion.bench_function("sqlparser alone, 24 lines", |bencher| {
        let dialect = sqlparser::dialect::PostgreSqlDialect {};
        bencher.iter(|| sqlparser::parser::Parser::parse_sql(&dialect, black_box(ANALYTICAL)).is_ok());
    });
    criterion.bench_function("canonical, 24 lines", |bencher| {
        bencher.iter(|| airlock_gate::canonical(black_box(ANALYTICAL)));
    });
}

criterion_group!(benches, verdicts);
criterion_main!(benches);
