//! The envelope against a real server. These tests speak to [`Source::run_statement`] directly: what must be held here is
//! what the gate would never let through.

mod failures;
mod limits;
mod page;

use std::time::{Duration, Instant};

use airlock_types::{ErrorType, Failure};
use serde_json::json;

use super::{Identity, ResultSet, RunOptions, Statement, map_position};
use crate::source::{Source, SourceConfig};
use crate::support::{PATIENCE, Postgres, eventually};

async fn source(server: &Postgres, role: &str) -> Source {
    connect(SourceConfig { pool_size: 2, ..SourceConfig::new(server.url(role)) }).await
}

async fn connect(config: SourceConfig) -> Source {
    Source::connect(config).await.unwrap()
}

async fn run(source: &Source, sql: &str) -> Result<ResultSet, Failure> {
    run_with(source, sql, &RunOptions::default()).await
}

async fn run_with(source: &Source, sql: &str, options: &RunOptions) -> Result<ResultSet, Failure> {
    let statement = Statement { text: sql, sql, rows: 200, portal_rows: 201 };
    source.run_statement(&statement, options).await.result
}

async fn row(source: &Source, sql: &str) -> Vec<serde_json::Value> {
    run(source, sql).await.unwrap_or_else(|failure| panic!("{sql}: {failure:?}")).rows.remove(0)
}

#[tokio::test]
async fn every_type_reaches_json_without_loss() {
    let server = Postgres::start();
    server.psql(
        "CREATE TYPE mood AS ENUM ('ok', 'not \"ok\"'); CREATE TYPE pair AS (a int, b text);
         CREATE DOMAIN positive AS numeric(8,3); CREATE DOMAIN worse AS mood; CREATE DOMAIN flag AS bool;",
    );
    let source = source(&server, "postgres").await;
    for (sql, name, want) in [
        ("NULL::text", "text", json!(null)),
        ("''::text", "text", json!("")),
        ("true", "boolean", json!(true)),
        ("7::smallint", "smallint", json!(7)),
        ("9007199254740993::bigint", "bigint", json!("9007199254740993")),
        ("-7108510333361982070::bigint", "bigint", json!("-7108510333361982070")),
        ("9007199254740991::bigint", "bigint", json!(9_007_199_254_740_991_i64)),
        ("12345678901234567890.123456789::numeric", "numeric", json!("12345678901234567890.123456789")),
        ("1.50::numeric(12,2)", "numeric(12,2)", json!("1.50")),
        ("'-Infinity'::float8", "double precision", json!("-Infinity")),
        ("'NaN'::numeric", "numeric", json!("NaN")),
        ("0.1::real", "real", json!(0.1)),
        ("0.1::float8 + 0.2::float8", "double precision", json!(0.1 + 0.2)),
        ("1.23::money", "money", json!("$1.23")),
        ("'infinity'::timestamptz", "timestamp with time zone", json!("infinity")),
        ("'0044-03-15 BC'::date", "date", json!("0044-03-15 BC")),
        (
            "'2026-07-15 12:00:00.5Z'::timestamptz",
            "timestamp with time zone",
            json!("2026-07-15 17:30:00.5+05:30"),
        ),
        ("'2026-07-15 12:00'::timestamp(0)", "timestamp(0) without time zone", json!("2026-07-15 12:00:00")),
        ("'12:00+02'::timetz", "time with time zone", json!("12:00:00+02")),
        ("interval '1 year -2 days 03:04:05.006'", "interval", json!("1 year -2 days +03:04:05.006")),
        (r"'\xdeadbeef'::bytea", "bytea", json!("\\xdeadbeef")),
        (
            "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
            "uuid",
            json!("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ),
        ("'192.168.0.1/24'::inet", "inet", json!("192.168.0.1/24")),
        ("int4range(1, 5)", "int4range", json!("[1,5)")),
        ("'(1,2)'::point", "point", json!("(1,2)")),
        ("B'101'::bit(3)", "bit(3)", json!("101")),
        ("'a fat cat'::tsvector", "tsvector", json!("'a' 'cat' 'fat'")),
        ("'<a>1</a>'::xml", "xml", json!("<a>1</a>")),
        (
            r#"'{"b": 9007199254740993, "a": [1.5, null]}'::jsonb"#,
            "jsonb",
            json!({"a": [1.5, null], "b": {"$number": "9007199254740993"}}),
        ),
        (r#"'{"a":1,"a":2}'::json"#, "json", json!({"$text": r#"{"a":1,"a":2}"#})),
        ("'null'::jsonb", "jsonb", json!({"$json": null})),
        ("'\"null\"'::jsonb", "jsonb", json!("null")),
        ("NULL::jsonb", "jsonb", json!(null)),
        ("ARRAY['null'::jsonb, NULL]", "jsonb[]", json!([{"$json": null}, null])),
        ("ARRAY[ROW(1, 'a b'), NULL]", "record[]", json!(["(1,\"a b\")", null])),
        ("ARRAY[1,NULL,3]", "integer[]", json!([1, null, 3])),
        ("ARRAY[['a','NULL'],['c d','e\"f']]", "text[]", json!([["a", "NULL"], ["c d", "e\"f"]])),
        ("ARRAY[9007199254740993]", "bigint[]", json!(["9007199254740993"])),
        ("ARRAY['{\"k\": 1}'::jsonb]", "jsonb[]", json!([{"k": 1}])),
        ("ARRAY[box '(1,1),(0,0)', box '(3,3),(2,2)']", "box[]", json!(["(1,1),(0,0)", "(3,3),(2,2)"])),
        ("'[0:1]={1,2}'::int[]", "integer[]", json!({"lower": [0], "values": [1, 2]})),
        ("'{}'::int[]", "integer[]", json!([])),
        ("'not \"ok\"'::mood", "public.mood", json!("not \"ok\"")),
        ("ARRAY['ok','not \"ok\"']::mood[]", "public.mood[]", json!(["ok", "not \"ok\""])),
        ("ARRAY[true]::flag[]", "public.flag[]", json!([true])),
        ("1.5::positive", "numeric(8,3)", json!("1.500")),
        ("'ok'::worse", "public.mood", json!("ok")),
        ("ROW(1, 'x y')::pair", "public.pair", json!("(1,\"x y\")")),
        ("ROW(1, NULL, '')", "record", json!("(1,,\"\")")),
        ("'pg_class'::regclass", "regclass", json!("pg_class")),
        ("'1 2'::int2vector", "int2vector", json!("1 2")),
        ("'char'::\"char\"", "\"char\"", json!("c")),
        ("'x'::char(3)", "character(3)", json!("x  ")),
        ("'x'", "text", json!("x")),
    ] {
        let options = RunOptions { time_zone: "Asia/Kolkata".into(), ..RunOptions::default() };
        let result = run_with(&source, &format!("SELECT {sql} AS v"), &options).await.unwrap();
        assert_eq!(result.rows, [[want]], "{sql}");
        assert_eq!(result.columns[0].sql_type, name, "{sql}");
        assert_eq!(result.columns[0].name, "v");
    }
    let result = run(&source, "SELECT 1 AS a, 2 AS a").await.unwrap();
    assert_eq!(result.rows, [[json!(1), json!(2)]], "equal names do not collide");
    assert!(run(&source, "SELECT").await.unwrap().columns.is_empty());
}

#[tokio::test]
async fn every_transaction_is_pinned_and_leaves_nothing_behind() {
    let server = Postgres::start();
    server.psql("ALTER DATABASE postgres SET search_path = evil; ALTER DATABASE postgres SET DateStyle = 'German';
        ALTER DATABASE postgres SET standard_conforming_strings = off; ALTER DATABASE postgres SET bytea_output = escape;
        CREATE ROLE reader LOGIN; CREATE ROLE tenant; GRANT tenant TO reader; CREATE TABLE t(id int);
        GRANT ALL ON t TO reader; INSERT INTO t VALUES (1)");
    let source = source(&server, "reader").await;
    let settings = [
        ("statement_timeout", "30s"),
        ("lock_timeout", "5s"),
        ("idle_in_transaction_session_timeout", "30s"),
        ("search_path", "\"public\", pg_temp"),
        ("TimeZone", "Asia/Kolkata"),
        ("DateStyle", "ISO, YMD"),
        ("IntervalStyle", "postgres"),
        ("bytea_output", "hex"),
        ("extra_float_digits", "1"),
        ("row_security", "on"),
        ("standard_conforming_strings", "on"),
        ("transaction_read_only", "on"),
        ("client_min_messages", "error"),
    ];
    let options = RunOptions { time_zone: "Asia/Kolkata".into(), ..RunOptions::default() };
    for (name, want) in settings {
        let result = run_with(&source, &format!("SELECT current_setting('{name}')"), &options).await.unwrap();
        assert_eq!(result.rows, [[json!(want)]], "{name}");
    }

    let identity = Identity::default().with_setting("app.user_id", "o'hara").unwrap().with_role("tenant");
    let as_tenant = RunOptions { identity: Some(identity), ..RunOptions::default() };
    let who = "SELECT current_user::text, current_setting('app.user_id', true)";
    assert_eq!(run_with(&source, who, &as_tenant).await.unwrap().rows, [[json!("tenant"), json!("o'hara")]]);
    let nobody = row(&source, who).await;
    assert_eq!(nobody[0], "reader");
    assert_ne!(nobody[1], "o'hara", "an identity ends with its transaction");

    for (role, why) in [
        (
            "postgres",
            "the role of this key cannot be taken up: the reader may not take the role postgres up; the host's log",
        ),
        ("Nobody Made", "the data source has no role \"Nobody Made\"; the host's log"),
    ] {
        let identity = Some(Identity::default().with_role(role));
        let refused = run_with(&source, "SELECT 1", &RunOptions { identity, ..RunOptions::default() }).await;
        let failure = refused.unwrap_err();
        assert_eq!(failure.error_type, ErrorType::PermissionDenied, "{failure:?}");
        assert!(failure.message.contains(why), "{failure:?}");
    }
    // Whoever has a role that can be taken up, or none, is told of what it is.
    for identity in [Some(Identity::default().with_role("tenant")), None] {
        let lost = RunOptions { time_zone: "Mars/Base".into(), identity, ..RunOptions::default() };
        let failure = run_with(&source, "SELECT 1", &lost).await.unwrap_err();
        assert_eq!(failure.error_type, ErrorType::Infrastructure, "{failure:?}");
    }

    for (sql, kind) in [
        ("DELETE FROM t", ErrorType::PermissionDenied),
        ("CREATE TEMP TABLE x()", ErrorType::PermissionDenied),
        ("SELECT 1; DELETE FROM t", ErrorType::SyntaxError),
        ("COMMIT; DELETE FROM t", ErrorType::SyntaxError),
    ] {
        assert_eq!(run(&source, sql).await.unwrap_err().error_type, kind, "{sql}");
    }
    // A session setting that a text manages to make does not reach the next one.
    run(&source, "SELECT set_config('statement_timeout', '0', false), set_config('role', 'tenant', false)")
        .await
        .unwrap();
    assert_eq!(
        row(&source, "SELECT current_setting('statement_timeout'), current_user::text").await,
        [json!("30s"), json!("reader")]
    );
    assert_eq!(server.psql("SELECT count(*) FROM public.t"), "1");
}

#[tokio::test]
async fn truncation_is_known_and_told() {
    let server = Postgres::start();
    let source = source(&server, "postgres").await;
    for (count, portal_rows, rows, want, truncated) in [
        (3, 4, 3, 3, false),
        (4, 4, 3, 3, true),
        (1_000_000, 4, 3, 3, true),
        (2, 4, 3, 2, false),
        (0, 4, 3, 0, false),
        (4, 0, 3, 3, true),
        (3, 0, 3, 3, false),
        (5, 1, 0, 0, true),
    ] {
        let sql = format!("SELECT i FROM generate_series(1, {count}) i");
        let statement = Statement { text: &sql, sql: &sql, rows, portal_rows };
        let result = source.run_statement(&statement, &RunOptions::default()).await.result.unwrap();
        assert_eq!(
            (result.rows.len(), result.truncated),
            (want, truncated),
            "{count} rows, portal {portal_rows}"
        );
    }
}

#[test]
fn positions_are_those_of_the_text_as_it_was_written() {
    for (written, sent, position, want) in [
        ("SELECT a FROM b", "SELECT a FROM b LIMIT 201", 8, Some(8)),
        ("SELECT a FROM b", "SELECT a FROM b", 15, Some(15)),
        ("SELECT a FROM b LIMIT 999 OFFSET x", "SELECT a FROM b LIMIT 201 OFFSET x", 34, Some(34)),
        ("SELECT a LIMIT 99999 OFFSET x", "SELECT a LIMIT 201 OFFSET x", 27, Some(29)),
        ("SELECT 'żółw', x", "SELECT 'żółw', x LIMIT 201", 16, Some(16)),
        ("SELECT a", "SELECT a LIMIT 201", 18, None),
    ] {
        assert_eq!(map_position(written, sent, position), want, "{sent}");
    }
}

#[test]
fn an_identity_cannot_change_postgresqls_own_settings() {
    for (name, good) in [
        ("app.user_id", true),
        ("request.jwt.sub", true),
        ("statement_timeout", false),
        ("role", false),
        ("app.", false),
        ("app.x y", false),
        ("", false),
    ] {
        assert_eq!(Identity::default().with_setting(name, "7").is_ok(), good, "{name}");
    }
}
