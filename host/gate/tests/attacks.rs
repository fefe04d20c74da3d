//! Attacks of kinds that take a second look: code that nobody calls in the text, values that grow behind the counter's back,
//! and things of PostgreSQL that only seem to compute.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod shop;

use airlock_gate::Gate;

fn refused(gate: &Gate, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (sql, code) in cases {
        match gate.check(sql) {
            Ok(_) => wrong.push(format!("{sql}: approved")),
            Err(rejection) if rejection.code.as_str() == *code => {}
            Err(rejection) => wrong.push(format!("{sql}: {}: {rejection}", rejection.code)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn accepted(gate: &Gate, cases: &[&str]) {
    let mut wrong = Vec::new();
    for sql in cases {
        if let Err(rejection) = gate.check(sql) {
            wrong.push(format!("{sql}: {}: {rejection}", rejection.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_domain_is_as_clean_as_its_checks() {
    let gate = shop::gate(180_000);
    accepted(
        &gate,
        &[
            "SELECT '12345'::shop.zip, CAST('12345' AS own), 'x'::label",
            "SELECT '12345'::nested, '{12345}'::zip[]",
            "SELECT zip FROM json_to_record('{}') AS r(zip shop.zip)",
        ],
    );
    refused(
        &gate,
        &[
            ("SELECT 'a'::email", "forbidden-type"),
            ("SELECT ''::slow", "forbidden-type"),
            ("SELECT 'a'::shop.spilling", "forbidden-type"),
            ("SELECT 'pg_authid'::looked_up", "forbidden-type"),
            ("SELECT 'a'::operated", "forbidden-type"),
            ("SELECT '{a}'::spilling[]", "forbidden-type"),
            ("SELECT x FROM json_to_record('{}') AS r(x slow)", "forbidden-type"),
        ],
    );
}

#[test]
fn a_literal_beside_a_value_does_not_become_one_unseen() {
    let gate = shop::gate(180_000);
    refused(
        &gate,
        &[
            ("SELECT lag(email, 1, 'x') OVER () FROM customers", "forbidden-type"),
            ("SELECT lead(c.email, 2, name) OVER (ORDER BY id) FROM customers c", "forbidden-type"),
            ("SELECT array_append(array_agg(email), 'x') FROM customers", "forbidden-type"),
            ("SELECT array_prepend('x', ARRAY[email]) FROM customers", "forbidden-type"),
            ("SELECT ARRAY[email] || 'x' FROM customers", "forbidden-type"),
            ("SELECT '{x}' || array_agg(coalesce(email, email)) FROM customers", "forbidden-type"),
            ("SELECT array_position(ARRAY(SELECT email FROM customers), 'x')", "forbidden-type"),
            (
                "SELECT array_replace(e, 'a', 'b') FROM (SELECT array_agg(email) AS e FROM customers) q",
                "forbidden-type",
            ),
            (
                "SELECT (jsonb_populate_record(c, '{\"email\": \"x\"}')).id FROM (SELECT id, email FROM customers) c",
                "forbidden-type",
            ),
            (
                "SELECT * FROM (SELECT email FROM customers) c, json_populate_recordset(c, '[{}]') r",
                "forbidden-type",
            ),
            ("SELECT jsonb_populate_record(q, '{}') FROM (SELECT email FROM customers) q", "forbidden-type"),
            ("SELECT jsonb_populate_record(NULL::customers, '{}')", "forbidden-type"),
            ("SELECT array_agg(email) = '{x}' FROM customers", "forbidden-type"),
            ("SELECT '{x}' <@ array_agg(email) FROM customers", "forbidden-type"),
            ("SELECT array_agg(email) IN ('{x}', '{y}') FROM customers", "forbidden-type"),
            ("SELECT array_agg(email) BETWEEN '{a}' AND '{b}' FROM customers", "forbidden-type"),
            ("SELECT nullif(array_agg(email), '{x}') FROM customers", "forbidden-type"),
            ("SELECT array_agg(email) = ANY ('{{x}}') FROM customers", "forbidden-type"),
            ("SELECT '{x}' IN (SELECT array_agg(email) FROM customers)", "forbidden-type"),
            ("SELECT (1, '{x}') = ANY (SELECT 1, array_agg(email) FROM customers)", "forbidden-type"),
            ("SELECT ROW(array_agg(email)) = ROW('{x}') FROM customers", "forbidden-type"),
            ("SELECT CASE array_agg(email) WHEN '{x}' THEN 1 END FROM customers", "forbidden-type"),
            ("SELECT CASE WHEN true THEN '{x}' ELSE array_agg(email) END FROM customers", "forbidden-type"),
            ("SELECT coalesce('{x}', array_agg(email)) FROM customers", "forbidden-type"),
            ("SELECT greatest(array_agg(email), ARRAY['x']) FROM customers", "forbidden-type"),
            ("SELECT array_agg(email) FROM customers UNION ALL SELECT '{x}'", "forbidden-type"),
            (
                "SELECT rank('{x}') WITHIN GROUP (ORDER BY e) FROM (SELECT array_agg(email) AS e FROM customers) q",
                "forbidden-type",
            ),
            ("SELECT q IN ('(x)', '(y)') FROM (SELECT email FROM customers) q", "forbidden-type"),
            ("SELECT coalesce(q, '(x)') FROM (SELECT email FROM customers) q", "forbidden-type"),
        ],
    );
    accepted(
        &gate,
        &[
            "SELECT lag(email) OVER (), lag(email, 2) OVER (), lag(email::text, 1, 'x') OVER () FROM customers",
            "SELECT email = 'x', email || 'y', upper(email), coalesce(email, 'none'), email LIKE 'a%' FROM customers",
            "SELECT array_agg(email), 'x' = ANY (array_agg(email)), ARRAY[email], max(email) FROM customers",
            "SELECT email FROM customers UNION SELECT 'x'",
            "SELECT (email, id) = ('x', 1), (email, id) IN (('x', 1)), nullif(email, 'x') FROM customers",
            "SELECT 'x' IN (SELECT email FROM customers), array_agg(email) = array_agg(email) FROM customers",
            "SELECT nullif(array_agg(email), NULL), CASE WHEN true THEN array_agg(email) ELSE NULL END FROM customers",
            "SELECT rank('x') WITHIN GROUP (ORDER BY email), tags = '{x}', coalesce(tags, '{}') FROM customers GROUP BY tags",
            "SELECT CASE WHEN id > 1 THEN email ELSE 'x' END FROM customers WHERE email IN ('a', 'b')",
            "SELECT array_append(tags, 'x'), tags || 'y'::text FROM customers",
            "SELECT (jsonb_populate_record(o, '{\"id\": 1}')).status FROM orders o",
        ],
    );
}

#[test]
fn a_name_means_what_it_means_to_postgresql() {
    let gate = shop::gate(180_000);
    refused(
        &gate,
        &[
            // The row type of an unlisted relation stands before the enum on the path.
            ("SELECT 'small'::size", "unknown-type"),
            ("SELECT size('small')", "unknown-function"),
            ("SELECT NULL::pg_class", "unknown-type"),
            ("SELECT NULL::pg_authid", "unknown-type"),
            ("SELECT NULL::pg_catalog.pg_class", "forbidden-type"),
            ("SELECT NULL::shop.secrets", "unknown-type"),
            ("SELECT regclass 'pg_class'", "forbidden-type"),
            ("SELECT '{pg_class}'::regclass[]", "forbidden-type"),
            ("SELECT pg_catalog.regclass('pg_class')", "unknown-function"),
            ("SELECT x FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS x regclass PATH '.')", "forbidden-type"),
            ("SELECT U&\"\\0070g_sleep\"(1)", "forbidden-function"),
            ("SELECT \"pg_sleep\"(1)", "forbidden-function"),
        ],
    );
    accepted(&gate, &["SELECT 'small'::public.size, 'new'::status, 'new'::shop.status"]);
}

#[test]
fn what_grows_by_being_written_inside_itself_is_counted() {
    let gate = shop::gate(180_000);
    let nested = |open: &str, close: &str, times: usize| {
        format!("SELECT {}'\\\"'{}", open.repeat(times), close.repeat(times))
    };
    for (open, close) in [
        ("to_json(", "::text)"),
        ("json_build_array(", ")::text"),
        ("to_jsonb(", "::text)"),
        ("ARRAY[", "]::text"),
        ("ROW(", ")::text"),
        ("quote_literal(", ")"),
        ("ARRAY(SELECT ", ")::text"),
    ] {
        refused(&gate, &[(&nested(open, close, 40), "large-value")]);
        accepted(&gate, &[&nested(open, close, 6)]);
    }
    let mut levels = "SELECT 'a\\'::text AS x".to_owned();
    for _ in 0..24 {
        levels = format!("SELECT ARRAY[x]::text AS x FROM ({levels}) q");
    }
    refused(
        &gate,
        &[
            (&levels, "large-value"),
            (
                "SELECT count(*) FROM generate_series(timestamp '-infinity', 'infinity', interval '1 day')",
                "large-value",
            ),
            (
                "SELECT count(*) FROM generate_series(now(), now() + interval '1000 years', '1 second')",
                "large-value",
            ),
            ("SELECT repeat(1e100000::text, 10000)", "large-value"),
            ("SELECT repeat(factorial(2000)::text, 10000)", "large-value"),
            ("SELECT repeat((10.0 ^ x)::text, 10000) FROM (SELECT 100000 AS x) q", "large-value"),
            ("SELECT repeat(power(10.0, x)::text, 10000) FROM (SELECT 100000 AS x) q", "large-value"),
            ("SELECT repeat(ROW(repeat('x', 9000))::text, 9000)", "large-value"),
        ],
    );
}

#[test]
fn sizes_of_extensions_are_bounded_as_those_of_postgresql() {
    let mut catalogue = shop::catalogue(180_000);
    catalogue.functions.extend(["st_transform", "st_transformpipeline", "st_srid", "uuid_generate_v1"].map(
        |name| {
            let extension = if name.starts_with("st_") { "postgis" } else { "uuid-ossp" };
            shop::function("public", name, &["geometry"], Some(extension))
        },
    ));
    let gate = Gate::new(std::sync::Arc::new(catalogue), airlock_gate::Policy::default());
    refused(
        &gate,
        &[
            ("SELECT st_buffer(name, 1, 1000000) FROM customers", "large-value"),
            ("SELECT st_buffer(name, 1, 'endcap=round quad_segs=1000000') FROM customers", "large-value"),
            ("SELECT st_buffer(name, 1, quad_segs => 1000000) FROM customers", "large-value"),
            ("SELECT st_buffer(name, 1, (random() * 1e9)::int) FROM customers", "large-value"),
            ("SELECT st_generatepoints(name, 100000000) FROM customers", "large-value"),
            ("SELECT st_generatepoints(name, n) FROM customers, (SELECT 900000 * 10 AS n) q", "large-value"),
            ("SELECT st_segmentize(name, 0.000001) FROM customers", "large-value"),
            ("SELECT st_segmentize(name, 1 / 100000.0) FROM customers", "large-value"),
            ("SELECT st_segmentize(name, '1e-9'::float8) FROM customers", "large-value"),
            ("SELECT * FROM st_hexagongrid(0.00001, '') g", "large-value"),
            // By a text a projection may name files.
            ("SELECT st_transform(name, '+init=/etc/passwd:x') FROM customers", "forbidden-function"),
            ("SELECT st_transform(name, 'a', 4326) FROM customers", "forbidden-function"),
            (
                "SELECT st_transform(name, t) FROM (SELECT name, '+init=x'::text AS t FROM customers) q",
                "forbidden-function",
            ),
            ("SELECT st_transformpipeline(name, 'x') FROM customers", "forbidden-function"),
            // It tells the address of a network card.
            ("SELECT uuid_generate_v1()", "forbidden-function"),
        ],
    );
    accepted(
        &gate,
        &[
            "SELECT st_buffer(name, 100000), st_buffer(name, 50, 8), st_buffer(name, 5, 'quad_segs=16 join=mitre') FROM customers",
            "SELECT st_generatepoints(name, 100), st_segmentize(name, 100), st_segmentize(name, 0.5 * 10) FROM customers",
            "SELECT st_area(st_transform(name, 3857)), st_transform(name, st_srid(name)), st_transform(name, id) FROM customers",
            "SELECT st_buffer(name, 1, qty) FROM customers, lines",
        ],
    );
}
