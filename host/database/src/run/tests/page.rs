//! The page about results shows what really comes out: its table is made here and compared with the file.

use std::fmt::Write;
use std::path::Path;

use super::{run_with, source};
use crate::run::RunOptions;
use crate::support::Postgres;

/// What the table shows: the values of each row of it.
const SHOWN: &[&str] = &[
    "NULL::text",
    "''::text",
    "true",
    "42::smallint",
    "9007199254740991::bigint",
    "9007199254740993::bigint",
    "1.50::numeric(12,2)",
    "12345678901234567890.123456789::numeric",
    "'NaN'::numeric",
    "0.1::real",
    "0.1::float8 + 0.2::float8",
    "'-Infinity'::float8",
    "12.5::money",
    "'été'::text",
    "'x'::char(3)",
    "'mid'::grade",
    "'LO7'::code",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
    "date '2026-07-15'",
    "'infinity'::date",
    "'0044-03-15 BC'::date",
    "time '12:00:00.5'",
    "timestamp '2026-07-15 12:00'",
    "timestamptz '2026-07-15 12:00Z'",
    "interval '1 year -2 days 03:04:05.006'",
    r"'\xdeadbeef'::bytea",
    "B'101'",
    "'192.168.0.1/24'::inet",
    "point '(1,2)'",
    "int4range(1, 5)",
    "'{[1,3),[5,8)}'::int4multirange",
    "ROW(1, NULL, '')",
    "ROW(1, 'x y')::pair",
    "ARRAY[1, NULL, 3]",
    "ARRAY[['a', 'b'], ['c', '']]",
    "'[0:1]={1,2}'::int[]",
    "ARRAY[ROW(1, 'a'), NULL]",
    "ARRAY[numeric '1.50', 'NaN']",
    r#"'{"a": [1.5, null, ""]}'::jsonb"#,
    r#"'"text"'::jsonb"#,
    "'null'::jsonb",
    "NULL::jsonb",
    "ARRAY['null'::jsonb, NULL]",
    "'9007199254740993'::jsonb",
    r#"'{"big": 12345678901234567890.5}'::jsonb"#,
    r#"'{"a": 1, "a": 2}'::json"#,
    r#"'{"$number": "1"}'::jsonb"#,
    "'a fat cat'::tsvector",
    "'<a>1</a>'::xml",
];

const BEGINS: &str = "<!-- the table is made by a test -->";
const ENDS: &str = "<!-- the end of the table -->";

#[tokio::test]
async fn the_page_about_results_is_true() {
    let server = Postgres::start();
    server.psql(
        "CREATE TYPE grade AS ENUM ('low', 'mid'); CREATE TYPE pair AS (a int, b text);
         CREATE DOMAIN code AS text CHECK (VALUE ~ '^[A-Z]+[0-9]$');",
    );
    let source = source(&server, "postgres").await;
    let options = RunOptions { time_zone: "Asia/Kolkata".into(), ..RunOptions::default() };
    let mut table = String::from("| SQL | type | JSON |\n| --- | --- | --- |\n");
    let escaped = |text: &str| text.replace('|', "\\|");
    for sql in SHOWN {
        let result = run_with(&source, &format!("SELECT {sql}"), &options).await.unwrap();
        let (kind, value) = (&result.columns[0].sql_type, result.rows[0][0].to_string());
        writeln!(table, "| `{}` | {} | `{}` |", escaped(sql), escaped(kind), escaped(&value)).unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let page = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = page.split_once(BEGINS).unwrap();
    let (_, after) = rest.split_once(ENDS).unwrap();
    let want = format!("{before}{BEGINS}\n\n{table}\n{ENDS}{after}");
    if std::env::var_os("AIRLOCK_WRITE_DOCS").is_some() {
        std::fs::write(&file, want).unwrap();
    } else {
        assert_eq!(page, want, "run this test with AIRLOCK_WRITE_DOCS=1 to write the page");
    }
}
