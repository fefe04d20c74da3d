//! What a failure says, and what is tried again.

use super::*;

#[tokio::test]
async fn failures_are_structured_and_hold_no_values_of_rows() {
    let server = Postgres::start();
    server.psql("CREATE TABLE t(id int, name text); INSERT INTO t VALUES (1, 'Ada Lovelace');
        CREATE FUNCTION shout(text) RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'seen %', $1 USING ERRCODE = '22012'; END$$;
        CREATE FUNCTION again() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; END$$;");
    let source = source(&server, "postgres").await;
    for (sql, kind, code, position) in [
        ("SELECT nme FROM t", ErrorType::UnknownColumn, "42703", Some(8)),
        ("SELECT * FROM nowhere", ErrorType::UnknownTable, "42P01", Some(15)),
        ("SELEC 1", ErrorType::SyntaxError, "42601", Some(1)),
        ("SELECT name, count(*) FROM t", ErrorType::GroupingError, "42803", Some(8)),
        ("SELECT 1/0", ErrorType::DivisionByZero, "22012", None),
        ("SELECT 1 FROM t WHERE name = 1", ErrorType::UnknownFunction, "42883", Some(28)),
        ("SELECT $1::int", ErrorType::Unknown, "08P01", None),
        ("SELECT name::int FROM t", ErrorType::TypeMismatch, "22P02", None),
        ("SELECT name::regclass FROM t", ErrorType::Unknown, "42602", None),
        ("SELECT lower(split_part(name, ' ', 1))::regclass FROM t", ErrorType::UnknownTable, "42P01", None),
        ("SELECT 'abc'::int", ErrorType::TypeMismatch, "22P02", Some(8)),
        ("SELECT shout(name) FROM t", ErrorType::DivisionByZero, "22012", None),
        ("SELECT again() FROM t", ErrorType::Retry, "40001", None),
        ("SELECT (SELECT generate_series(1, 2))", ErrorType::CardinalityViolation, "21000", None),
    ] {
        let failure = run(&source, sql).await.unwrap_err();
        if code != "08P01" {
            assert_eq!(failure.error_type, kind, "{sql}: {failure:?}");
            assert_eq!(failure.sqlstate.as_deref(), Some(code), "{sql}: {failure:?}");
            assert_eq!(failure.position, position, "{sql}: {failure:?}");
        }
        assert_eq!(failure.sql, sql);
        assert_eq!(failure.repairable, failure.error_type.repairable());
        assert!(!format!("{failure:?}").to_lowercase().contains("ada"), "{failure:?}");
    }
    assert!(run(&source, "SELECT 'abc'::int").await.unwrap_err().message.contains("abc"));
    // Each of these errors quotes the row in PostgreSQL's own words.
    for expression in [
        "to_date(name, 'YYYY')",
        "name::jsonb",
        "('<' || name || '>')::xml",
        "name ~ ('(' || name)",
        "set_config(name, 'x', true)",
        "name::inet",
        "now() AT TIME ZONE name",
        "decode(name, 'hex')",
        "name::regrole",
        "(name || ' & &')::tsquery",
        "name::jsonpath",
        "name::interval",
        "name::date[]",
        "('{' || name)::text[]",
        "(name || chr(10) || '\"')::int",
        "name::box",
        "shout(name)",
    ] {
        let failure = run(&source, &format!("SELECT {expression} FROM t")).await.unwrap_err();
        let said = format!("{failure:?}").to_lowercase();
        assert!(!said.contains("ada") && !said.contains("lovelace"), "{expression}: {failure:?}");
    }
}

#[tokio::test]
async fn a_deadlock_or_serialization_failure_is_run_once_more() {
    let server = Postgres::start();
    // A lock of the session outlives a rollback: the second call on the same connection sees that there was a first.
    server.psql(
        "CREATE FUNCTION fails_once(code text) RETURNS int LANGUAGE plpgsql AS $$BEGIN
        IF EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) THEN
          PERFORM pg_advisory_unlock_all(); RETURN 7; END IF;
        PERFORM pg_advisory_lock(1); RAISE EXCEPTION 'x' USING ERRCODE = code; END$$;",
    );
    let config = SourceConfig { pool_size: 1, ..SourceConfig::new(server.url("postgres")) };
    let source = connect(config).await;
    for code in ["40001", "40P01"] {
        assert_eq!(row(&source, &format!("SELECT fails_once('{code}')")).await, [json!(7)], "{code}");
    }
    assert!(run(&source, "SELECT fails_once('22012')").await.is_err());
}
