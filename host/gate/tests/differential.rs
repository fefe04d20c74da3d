//! What the gate approves PostgreSQL can plan: never is a statement that was approved refused there for a name, for its
//! syntax or for a permission.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod server;

use std::sync::Arc;

use airlock_gate::{Gate, Policy};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use server::Server;

/// How many statements are made.
const STATEMENTS: usize = 4_000;

/// SQLSTATEs that the gate should have seen: syntax, unknown relation, column and type, missing alias, permission.
const SHOULD_HAVE_BEEN_SEEN: &[&str] = &["42601", "42P01", "42703", "42704", "42501", "25006", "42P02"];

const SCHEMA: &str = "
CREATE SCHEMA shop;
CREATE TABLE shop.a (id int, name text, tags text[], doc jsonb);
CREATE TABLE shop.b (id int, a_id int, at timestamptz, total numeric);
CREATE TABLE shop.hidden (id int, secret text);
CREATE FUNCTION shop.spill(shop.a) RETURNS text LANGUAGE sql AS 'SELECT secret FROM shop.hidden';
CREATE ROLE reader LOGIN;
GRANT USAGE ON SCHEMA shop TO reader;
GRANT SELECT ON shop.a, shop.b TO reader;";

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "1", "'x'", "NULL", "id", "name", "a.id", "b.total", "x.id", "x.n", "a", "a.spill", "tags", "doc",
        "now()", "secret", "count(*)", "a.tags", "at", "ctid",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("{l} = {r}")),
            (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("coalesce({l}, {r})")),
            inner.clone().prop_map(|e| format!("({e})::text")),
            inner.clone().prop_map(|e| format!("upper({e})")),
            inner.clone().prop_map(|e| format!("({e}).id")),
            inner.clone().prop_map(|e| format!("max({e})")),
            inner.clone().prop_map(|e| format!("row_to_json({e})")),
            (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("CASE WHEN {l} IS NULL THEN {r} END")),
            inner.clone().prop_map(|e| format!("(SELECT {e} FROM shop.b LIMIT 1)")),
            inner.prop_map(|e| format!("EXISTS (SELECT 1 FROM a WHERE {e} IS NOT NULL)")),
        ]
    })
}

fn from() -> impl Strategy<Value = String> {
    let relation = prop::sample::select(vec![
        "a",
        "shop.b",
        "b",
        "a AS x",
        "a AS x(n)",
        "hidden",
        "(SELECT id, 1 AS n FROM b) AS x",
        "generate_series(1, 3) AS x(n)",
        "LATERAL (SELECT a.id) AS x",
        "LATERAL unnest(a.tags) AS x(n)",
        "jsonb_each(a.doc) AS x(id, n)",
        "(a CROSS JOIN b) AS x",
    ]);
    let join = prop::sample::select(vec![" CROSS JOIN ", ", ", " NATURAL JOIN "]);
    prop::collection::vec((relation, join), 1..4).prop_map(|parts| {
        let mut from = String::new();
        for (index, (relation, join)) in parts.iter().enumerate() {
            if index > 0 {
                from.push_str(join);
            }
            from.push_str(relation);
        }
        from
    })
}

fn statement() -> impl Strategy<Value = String> {
    let tail = prop::sample::select(vec![
        "",
        " ORDER BY 1",
        " ORDER BY n",
        " GROUP BY id",
        " LIMIT 3",
        " UNION ALL SELECT 1",
    ]);
    let head = prop::sample::select(vec![
        "",
        "WITH x AS (SELECT 1 AS n) ",
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 3) ",
    ]);
    (head, expression(), from(), prop::option::of(expression()), tail).prop_map(
        |(head, output, from, filter, tail)| {
            let filter = filter.map(|filter| format!(" WHERE {filter} IS NOT NULL")).unwrap_or_default();
            format!("{head}SELECT {output} AS n FROM {from}{filter}{tail}")
        },
    )
}

#[test]
fn an_operator_that_postgresql_has_is_not_called_unknown() {
    let Some(server) = Server::start() else { return };
    let (names, complaints) = server.psql(
        "postgres",
        "owner",
        "SELECT DISTINCT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace",
    );
    assert!(names.lines().count() > 50, "{complaints}");
    let gate = Gate::new(Arc::default(), Policy::default());
    for name in names.lines() {
        if let Err(rejection) = gate.check(&format!("SELECT NULL OPERATOR(pg_catalog.{name}) NULL")) {
            assert_ne!(rejection.code.as_str(), "unknown-operator", "{name}");
        }
    }
}

/// Functions that give another value each time and are allowed: they read a clock or a source of chance and nothing else.
/// `ts_rewrite` runs a text as SQL in one of its forms, which the gate refuses by its number of arguments.
const LOOKED_AT: &[&str] = &[
    "array_sample",
    "array_shuffle",
    "clock_timestamp",
    "gen_random_uuid",
    "random",
    "random_normal",
    "timeofday",
    "ts_rewrite",
    "uuidv4",
    "uuidv7",
];

/// Each function of the server is tried, called with nothing: what is allowed only computes.
#[test]
fn every_function_of_the_server_that_is_allowed_only_computes() {
    let Some(server) = Server::start() else { return };
    let ask = |what: &str| {
        let (names, complaints) = server.psql("postgres", "owner", what);
        assert!(names.lines().count() > 5, "{complaints}");
        names.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let gate = Gate::new(
        Arc::new(airlock_types::Catalogue { server_version: 180_000, ..Default::default() }),
        Policy::default(),
    );
    let allowed = |name: &str| match gate.check(&format!("SELECT pg_catalog.\"{name}\"(NULL, NULL, NULL)")) {
        Ok(_) => true,
        // These words are of a call whose name is allowed.
        Err(rejection) => matches!(rejection.code.as_str(), "large-value" | "forbidden-type"),
    };
    let from = "FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind <> 'p'";
    for name in ask(&format!("SELECT DISTINCT proname {from} AND provolatile = 'v'")) {
        assert!(!allowed(&name) || LOOKED_AT.contains(&name.as_str()), "{name} is volatile");
    }
    // Code behind types, indexes, aggregates and languages, and what takes names of things of the database.
    let internal = "EXISTS (SELECT FROM unnest(proargtypes || prorettype) AS a(t)
        WHERE t IN ('internal'::regtype, 'cstring'::regtype, 'trigger'::regtype, 'event_trigger'::regtype,
          'regclass'::regtype, 'regproc'::regtype, 'regtype'::regtype, 'regrole'::regtype, 'aclitem'::regtype,
          'refcursor'::regtype, 'txid_snapshot'::regtype, 'pg_snapshot'::regtype))";
    let mut refused = 0;
    for name in ask(&format!("SELECT proname {from} GROUP BY 1 HAVING bool_and({internal})")) {
        // `pg_typeof` and COLLATION FOR tell of their argument, which the text shows anyway.
        assert!(!allowed(&name) || name == "pg_typeof", "{name} is internal");
        refused += 1;
    }
    assert!(refused > 500, "only {refused} were tried");
    // What can be executed by nobody but a superuser or a member of a role, whatever it says of itself.
    for name in ask(&format!(
        "SELECT DISTINCT proname {from} AND NOT has_function_privilege('pg_monitor', oid, 'EXECUTE')"
    )) {
        assert!(!allowed(&name), "{name} is not for everybody");
    }
}

#[test]
fn what_is_approved_can_be_planned() {
    let Some(server) = Server::start() else { return };
    server.psql("postgres", "owner", "CREATE DATABASE lab");
    server.psql("postgres", "owner", "ALTER DATABASE lab SET search_path = shop");
    server.psql("lab", "owner", SCHEMA);
    let gate = Gate::new(Arc::new(server.catalogue("lab", "shop", &["shop.a", "shop.b"])), Policy::default());
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let made: Vec<String> =
        (0..STATEMENTS).map(|_| statement().new_tree(&mut runner).unwrap().current()).collect();
    let approved: Vec<String> = made
        .iter()
        .filter_map(|text| gate.check(text).ok())
        .map(|approved| approved.statement().to_owned())
        .collect();
    let statements: Vec<&str> = approved.iter().map(String::as_str).collect();
    let missed: Vec<String> = server
        .explain("lab", "reader", &statements)
        .into_iter()
        .filter(|(_, why)| SHOULD_HAVE_BEEN_SEEN.iter().any(|state| why.contains(state)))
        .map(|(index, why)| format!("{}: {why}", statements[index]))
        .collect();
    eprintln!("made {}, approved {}", made.len(), statements.len());
    assert!(
        statements.len() > STATEMENTS / 50,
        "only {} were approved: the test says nothing",
        statements.len()
    );
    assert!(missed.is_empty(), "{}", missed.join("\n"));

    // The other side: what PostgreSQL plans for the reader, and reads nothing unlisted, is not refused as unknown.
    let refused: Vec<(&str, airlock_gate::Rejection)> =
        made.iter().filter_map(|text| Some((text.as_str(), gate.check(text).err()?))).collect();
    let texts: Vec<&str> = refused.iter().map(|(text, _)| *text).collect();
    let unplanned: std::collections::HashSet<usize> =
        server.explain("lab", "reader", &texts).into_iter().map(|(index, _)| index).collect();
    let wronged: Vec<String> = refused
        .iter()
        .enumerate()
        .filter(|(index, (text, _))| {
            !unplanned.contains(index) && !text.contains("spill") && !text.contains("ctid")
        })
        .map(|(_, (text, rejection))| format!("{text}: {}: {rejection}", rejection.code))
        .collect();
    assert!(wronged.is_empty(), "{}", wronged.join("\n"));
}
