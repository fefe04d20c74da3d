//! Kinds of statements, as tables: what is refused and with which code, what is accepted, what is found out.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod shop;

use airlock_types::ErrorType;

#[test]
fn each_kind_of_trespass_has_its_code() {
    let gate = shop::gate(150_018);
    for (sql, code) in [
        // Statements
        ("", "empty-statement"),
        ("-- nothing", "empty-statement"),
        ("SELECT 1; DELETE FROM orders", "several-statements"),
        ("SELECT 1; SELECT id INTO t FROM orders", "several-statements"),
        ("SELECT 1; WITH d AS (DELETE FROM orders RETURNING 1) SELECT 1", "several-statements"),
        ("SELECT 1; SELECT pg_sleep(1)", "several-statements"),
        ("SET search_path = x; SELECT 1", "several-statements"),
        ("SELECT count(*) FROM orders; SELECT 2;", "several-statements"),
        ("SELECT nothing FROM nowhere; SELECT 2 LIMIT 5", "several-statements"),
        ("COMMIT", "not-a-query"),
        ("/* hi */ DELETE FROM orders", "not-a-query"),
        ("EXPLAIN SELECT 1", "not-a-query"),
        ("WITH d AS (DELETE FROM orders RETURNING 1) SELECT 1", "data-modifying"),
        (
            "SELECT 1 UNION (WITH a AS (WITH b AS (INSERT INTO orders VALUES (1) RETURNING 1) SELECT 1) SELECT 1)",
            "data-modifying",
        ),
        ("SELECT id INTO t FROM orders", "select-into"),
        ("SELECT id FROM (SELECT id FROM orders FOR SHARE) q", "row-lock"),
        ("SELECT id FROM orders FOR READ ONLY", "row-lock"),
        ("SELECT $1", "stray-parameter"),
        // What the grammar reads and PostgreSQL does not
        ("SELECT *", "syntax-error"),
        ("SELECT (SELECT *) FROM orders", "syntax-error"),
        ("SELECT id FROM orders UNION SELECT id, total FROM orders", "syntax-error"),
        ("VALUES (1), (2, 3)", "syntax-error"),
        ("SELECT id FROM orders ORDER BY 'id'", "syntax-error"),
        ("SELECT count(*) FROM orders GROUP BY 'id'", "syntax-error"),
        ("SELECT DISTINCT ON (NULL) id FROM orders", "syntax-error"),
        ("SELECT sum(total) OVER w FROM orders", "syntax-error"),
        ("SELECT sum(total) OVER (v) FROM orders WINDOW w AS ()", "syntax-error"),
        ("SELECT sum(total) OVER w FROM orders WINDOW w AS (v), v AS ()", "syntax-error"),
        ("SELECT (SELECT sum(total) OVER w) FROM orders WINDOW w AS ()", "syntax-error"),
        ("SELECT status COLLATE secret.c FROM orders", "unknown-type"),
        // Names
        ("SELECT * FROM shop.secrets", "unknown-relation"),
        ("SELECT (SELECT 1 FROM secrets)", "unknown-relation"),
        ("SELECT id FROM orders LIMIT (SELECT count(*) FROM secrets)", "unknown-relation"),
        ("SELECT * FROM pg_class", "system-relation"),
        ("SELECT * FROM information_schema.tables", "system-relation"),
        ("SELECT * FROM events", "unknown-relation"),
        ("SELECT * FROM elsewhere.shop.customers", "other-database"),
        ("SELECT elsewhere.shop.customers.name FROM shop.customers", "other-database"),
        ("SELECT elsewhere.shop.customers.* FROM shop.customers", "other-database"),
        ("SELECT elsewhere.pg_catalog.upper('x')", "other-database"),
        ("SELECT 1::elsewhere.pg_catalog.int4", "other-database"),
        ("SELECT * FROM gate.shop.secrets", "unknown-relation"),
        ("SELECT * FROM gate.pg_catalog.pg_class", "system-relation"),
        ("WITH secrets AS (SELECT * FROM secrets) SELECT 1", "unknown-relation"),
        ("SELECT nam FROM customers", "unknown-column"),
        ("SELECT id FROM customers, orders", "ambiguous-column"),
        ("SELECT ctid FROM customers", "system-column"),
        ("SELECT c.xmin FROM customers c JOIN orders o ON true", "system-column"),
        ("SELECT xmin FROM customers c JOIN orders o ON true", "system-column"),
        ("SELECT (SELECT xmin FROM customers LIMIT 1) FROM (SELECT 1 AS xmin) q", "system-column"),
        // Calls without a call in the text
        ("SELECT c.spill FROM customers c", "unknown-column"),
        ("SELECT (c).spill FROM customers c", "unknown-column"),
        ("SELECT spill(c) FROM customers c", "forbidden-function"),
        ("SELECT (SELECT c FROM customers c LIMIT 1).spill", "unknown-column"),
        ("SELECT ((SELECT c FROM customers c LIMIT 1)).spill", "unknown-column"),
        ("SELECT (array_agg(c))[1].spill FROM orders c", "unknown-column"),
        ("SELECT g.spill FROM generate_series(1, 2) g", "unknown-column"),
        ("SELECT c.spill FROM (SELECT 1 AS spill) c, (SELECT c.spill FROM customers c) d", "unknown-column"),
        ("SELECT x FROM customers c, (SELECT 1 AS x, c.name) d", "unknown-column"),
        // Code behind types
        ("SELECT home::text FROM customers", "opaque-column"),
        ("SELECT h::text FROM (SELECT home AS h FROM customers) q", "opaque-column"),
        ("SELECT (SELECT home FROM customers LIMIT 1)::text", "opaque-column"),
        ("SELECT ((ROW(home, 1)).f1)::text FROM customers", "opaque-column"),
        ("WITH t(h) AS (SELECT home FROM customers) SELECT h || '' FROM t", "opaque-column"),
        ("SELECT max(home::text) FROM customers", "opaque-column"),
        ("SELECT c::text FROM customers c", "opaque-column"),
        ("SELECT ROW('a', 'b')::shop.address::text", "opaque-column"),
        ("SELECT array_agg(home)::text FROM customers", "opaque-column"),
        ("SELECT (array_agg(home))[1] || '' FROM customers", "opaque-column"),
        ("SELECT (lag(home) OVER ())::text FROM customers", "opaque-column"),
        ("SELECT (ROW('a', 'b')::shop.address).to_email", "unknown-column"),
        ("SELECT home LIKE 'x' FROM customers", "opaque-column"),
        ("SELECT jsonb_populate_record(NULL::shop.address, '{}')", "opaque-column"),
        ("SELECT greatest(home, home)::text FROM customers", "opaque-column"),
        ("SELECT coalesce(home, home)::text FROM customers", "opaque-column"),
        ("SELECT CASE WHEN true THEN home END FROM customers", "opaque-column"),
        ("SELECT CAST('x' AS email)", "forbidden-type"),
        ("SELECT '{x}'::shop.email[]", "forbidden-type"),
        ("SELECT NULL::customers", "forbidden-type"),
        ("SELECT * FROM json_to_record('{}') AS x(a shop.email)", "forbidden-type"),
        ("SELECT * FROM xmltable('/a' PASSING '<a/>' COLUMNS v shop.email PATH '.')", "forbidden-type"),
        ("SELECT 'orders'::regclass", "forbidden-type"),
        ("SELECT 1259::oid::regclass", "forbidden-type"),
        ("SELECT NULL::nonsense", "unknown-type"),
        // Functions and operators
        ("SELECT pg_sleep(1)", "forbidden-function"),
        ("SELECT * FROM pg_catalog.pg_read_file('x')", "forbidden-function"),
        ("SELECT * FROM ROWS FROM (\"pg_read_file\"('x'))", "forbidden-function"),
        ("SELECT U&\"pg\\005fsleep\"(1)", "forbidden-function"),
        ("SELECT set_limit(0.1)", "forbidden-function"),
        ("SELECT crypt('a', 'b')", "forbidden-function"),
        ("SELECT ts_rewrite('a'::tsquery, 'SELECT a, b FROM t')", "forbidden-function"),
        ("SELECT (each('a=>1')).spill FROM orders", "unknown-column"),
        ("SELECT dblink_exec('x', 'y')", "forbidden-function"),
        ("SELECT nvl(1, 2)", "unknown-function"),
        ("SELECT initcap(name) FROM customers", "overloaded-function"),
        ("SELECT 5 # 3", "forbidden-operator"),
        ("SELECT 5 %> 3 FROM orders ORDER BY 1 USING ##>", "unknown-operator"),
        ("SELECT id FROM orders WHERE id == 3", "unknown-operator"),
        ("SELECT id FROM orders WHERE id <=> ANY (ARRAY[3])", "unknown-operator"),
        ("SELECT 1 OPERATOR(pg_catalog.==) 2", "unknown-operator"),
        ("SELECT 1 OPERATOR(pg_catalog.%>) 2", "forbidden-operator"),
        ("SELECT 1 OPERATOR(shop.=) 2", "forbidden-operator"),
        ("SELECT 1 OPERATOR(shop.#) 2", "forbidden-operator"),
        ("SELECT name FROM customers ORDER BY name USING OPERATOR(shop.#)", "forbidden-operator"),
        ("SELECT current_user", "session-information"),
        ("SELECT current_schema", "session-information"),
        ("SELECT * FROM customers TABLESAMPLE mine(3)", "unsupported-syntax"),
        // Size
        ("SELECT repeat('x', 1000000)", "large-value"),
        ("SELECT repeat('x', 1000 * 1000)", "large-value"),
        ("SELECT repeat('x', (SELECT 1000000))", "large-value"),
        ("SELECT repeat('x', abs(-900000000))", "large-value"),
        ("SELECT repeat('x', n) FROM (VALUES (900000000)) v(n)", "large-value"),
        ("SELECT repeat('x', n) FROM (SELECT 30000 * 30000 AS n) v", "large-value"),
        ("SELECT lpad('x', qty * 900000) FROM lines", "large-value"),
        ("SELECT rpad('x', (qty / 0.0001)::int) FROM lines", "large-value"),
        ("SELECT repeat('x', ('9' || '00000000')::int)", "large-value"),
        ("SELECT repeat('x', '0x35A4E900'::int)", "large-value"),
        ("SELECT repeat('x', exp(20)::int)", "large-value"),
        ("SELECT repeat('x', extract(epoch FROM now())::int)", "large-value"),
        ("SELECT repeat('x', unnest(ARRAY[1, 900000000]))", "large-value"),
        ("SELECT repeat('x', n) FROM json_to_record('{\"n\":900000000}') AS r(n int)", "large-value"),
        ("SELECT repeat('x', v::int) FROM jsonb_array_elements_text('[900000000]') e(v)", "large-value"),
        ("SELECT repeat('x', greatest(qty, 900000000)) FROM lines", "large-value"),
        ("SELECT repeat('x', CASE WHEN true THEN 900000000 END)", "large-value"),
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n * 10 FROM t WHERE n < 900000000) SELECT repeat('x', n) FROM t",
            "large-value",
        ),
        ("SELECT polygon(90000000, '<(0,0),1>'::circle)", "large-value"),
        ("SELECT npoints(polygon(n, '<(0,0),1>'::circle)) FROM (VALUES (90000000)) v(n)", "large-value"),
        ("SELECT repeat(repeat('x', 9000), 9000)", "large-value"),
        ("SELECT replace(repeat('x', 9000), 'x', repeat('y', 9000))", "large-value"),
        ("WITH a AS (SELECT repeat('x', 9000) AS v) SELECT repeat(v, 9000) FROM a", "large-value"),
        ("SELECT format('%99999999s', 'x')", "large-value"),
        ("SELECT array_fill(0, ARRAY[9999, 9999])", "large-value"),
        ("SELECT 'x'::char(9999999)", "large-value"),
        ("SELECT count(*) FROM generate_series(1, 1000000000)", "large-value"),
        ("SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b", "large-value"),
        (
            "SELECT count(*) FROM generate_series(date '0001-01-01', date '9999-01-01', interval '1 second')",
            "large-value",
        ),
        ("SELECT generate_series(timestamptz '1900-01-01', now(), '1 second')", "large-value"),
        ("SELECT string_agg(repeat('x', 9999), '') FROM generate_series(1, 100000)", "large-value"),
        (
            "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT max(length(s)) FROM t",
            "large-value",
        ),
        (
            "WITH RECURSIVE t(a, b) AS (SELECT 'x', 'y' UNION ALL SELECT b, concat(a, b) FROM t) SELECT count(*) FROM t",
            "large-value",
        ),
        (
            "WITH RECURSIVE t AS (SELECT ARRAY[1] AS s UNION ALL SELECT array_cat(s, s) FROM t) SELECT count(*) FROM t",
            "large-value",
        ),
        ("SELECT 10::numeric ^ 120000", "large-value"),
        ("SELECT factorial(100000)", "large-value"),
        // XML
        ("SELECT xmlparse(DOCUMENT '<!DOCTYPE a [<!ENTITY b \"c\">]><a/>')", "unsafe-xml"),
        ("SELECT ('<!DOC' || 'TYPE a>')::xml", "unsafe-xml"),
        // Text
        ("SELECT 1\u{0}", "hidden-character"),
        // A control character is refused wherever it stands, white space of PostgreSQL too; those of a keyboard are not.
        ("SELECT\u{c}1", "hidden-character"),
        ("SELECT\u{b}1", "hidden-character"),
        ("SELECT '\u{c}'", "hidden-character"),
        ("SELECT * FROM orders\u{200b}", "hidden-character"),
        ("SELECT 1 AS \"a\u{200d}b\"", "hidden-character"),
        ("SELECT 1 AS U&\"a\\200Bb\"", "hidden-character"),
        ("SELECT 1 AS \"a\u{fe0f}\"", "hidden-character"),
        ("SELECT 1 AS a\u{34f}b", "hidden-character"),
        ("SELECT 1 AS a\u{17b5}b", "hidden-character"),
        ("SELECT 1 AS \"a\u{e0101}\"", "hidden-character"),
        ("SELECT 1 AS U&\"a\\2800\"", "hidden-character"),
        ("SELECT 1 AS a\u{a0}b", "hidden-character"),
        ("SELECT `name` FROM customers", "syntax-error"),
        // Newer than the server
        ("SELECT random(1, 6)", "unknown-function"),
        ("SELECT any_value(name) FROM customers", "unknown-function"),
        ("SELECT pg_catalog.uuidv7()", "unknown-function"),
        ("SELECT casefold(name) FROM customers", "unknown-function"),
        ("SELECT array_shuffle(tags) FROM customers", "unknown-function"),
        ("SELECT date_add(now(), '1 day')", "unknown-function"),
    ] {
        match gate.check(sql) {
            Err(rejection) => assert_eq!(rejection.code.as_str(), code, "{sql}: {rejection}"),
            Ok(_) => panic!("{sql}: approved, wanted {code}"),
        }
    }
}

#[test]
fn a_hidden_character_is_told_where_it_stands_in_the_statement() {
    let gate = shop::gate(150_018);
    for (sql, byte) in [
        ("SELECT * FROM orders\u{200b}", "at byte 20"),
        ("SELECT count(*) AS \"a\u{200d}b\" FROM orders", "at byte 21"),
        ("SELECT 1 AS \"\u{928}\u{93e}\u{92e}\u{200d}\"", "at byte 22"),
    ] {
        let rejection = gate.check(sql).err().unwrap().to_string();
        assert!(rejection.contains(byte), "{sql}: {rejection}");
    }
}

#[test]
fn a_chain_that_is_too_long_is_too_deep() {
    let gate = shop::gate(150_018);
    for links in [1_100, 2_000, 3_500, 5_000] {
        for (first, link) in
            [("'a'", " || 'a'"), ("1", " + 1"), ("SELECT 1", " UNION SELECT 1"), ("true", " AND true")]
        {
            let select = if first.starts_with("SELECT") { "" } else { "SELECT " };
            let sql = format!("{select}{first}{}", link.repeat(links));
            // A chain of AND is one node of the tree, however long it is.
            if let Err(rejection) = gate.check(&sql) {
                let code = rejection.code.as_str();
                assert!(
                    matches!(code, "too-deep" | "too-many-tokens" | "too-long"),
                    "{links} {link}: {code}: {rejection}"
                );
            } else {
                assert_eq!(link, " AND true", "{links}");
            }
        }
    }
}

#[test]
fn honest_statements_are_accepted() {
    let gate = shop::gate(150_018);
    for sql in [
        "SELECT",
        "SELECT * FROM public.events",
        "SELECT gate.shop.customers.name, gate.shop.customers.* FROM gate.shop.customers",
        "SELECT gate.pg_catalog.upper('x')::gate.pg_catalog.text",
        "SELECT home, (home).city, (c.home).*, home IS NULL FROM customers c",
        "SELECT count(home), count(c), num_nulls(home) FROM customers c",
        "SELECT id FROM customers WHERE home = ROW('a', 'b')::shop.address OR home IN (ROW('c', 'd')::address)",
        "SELECT (array_agg(home ORDER BY id))[1], (ROW('a', 'b')::address).city FROM customers GROUP BY home",
        "SELECT row_to_json(c), to_jsonb(c) FROM customers c",
        "SELECT DISTINCT * FROM customers UNION SELECT * FROM customers",
        "SELECT email || 'x', lower(email), coalesce(email, '-') FROM customers",
        "SELECT 'x'::label, 'new'::status, enum_range(NULL::shop.status)",
        "SELECT pg_catalog.initcap(name), shop.net_price(1), net_price(2), similarity(name, 'x') FROM customers",
        "SELECT name %> 'x', max(name) FROM customers GROUP BY 1",
        "SELECT lexeme FROM lines, unnest(doc)",
        "SELECT 'it''s; -- fine' AS note, 'DELETE FROM x' AS other",
        "SELECT 'پ\u{200c}ک' AS joined",
        "SELECT id AS pg_sleep FROM orders ORDER BY pg_sleep",
        "WITH orders AS (SELECT 1 AS x) SELECT x FROM orders",
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT n FROM t",
        "WITH RECURSIVE t AS (SELECT id, name AS path, name FROM customers UNION ALL SELECT o.id, t.path || ' > ' || t.name, 'x' \
         FROM orders o JOIN t ON t.id = o.customer_id) SELECT path FROM t",
        "WITH RECURSIVE t(part, rest) AS (SELECT '', 'a,b,c' UNION ALL SELECT split_part(rest, ',', 1), \
         substring(rest from position(',' in rest) + 1) FROM t WHERE rest <> '') SELECT part FROM t",
        "SELECT sum(total) OVER w FROM orders WINDOW w AS (PARTITION BY status ORDER BY placed_at)",
        "SELECT total AS t FROM orders ORDER BY t",
        "SELECT (each('a=>1')).key, (each('a=>1')).* FROM orders",
        "SELECT ts_rewrite('a & b'::tsquery, 'a'::tsquery, 'c'::tsquery), COLLATION FOR (name), 5::oid, '1 2'::oidvector FROM customers",
        "SELECT repeat('*', qty), lpad('x', qty + 3), repeat('-', least(n, 40)) FROM lines, (SELECT exp(qty)::int AS n FROM lines) q",
        "SELECT repeat('#', count(*)::int), repeat('#', (100 * sum(qty) / 1000)::int) FROM lines",
        "SELECT repeat('#', (20 * n / max(n) OVER ())::int) FROM (SELECT count(*) AS n FROM lines GROUP BY order_id) q",
        "WITH RECURSIVE t AS (SELECT id, name, 0 AS level FROM customers UNION ALL SELECT o.id, t.name, t.level + 1 FROM orders o \
         JOIN t ON t.id = o.customer_id) SELECT repeat('  ', level) || name FROM t",
        "SELECT polygon(12, '<(0,0),1>'::circle), polygon('<(0,0),1>'::circle), lpad(id::text, 8, '0') FROM orders",
        "SELECT rpad(name, greatest(length(name), 30), '.') FROM customers",
    ] {
        if let Err(rejection) = gate.check(sql) {
            panic!("{sql}: {}: {rejection}", rejection.code);
        }
    }
}

#[test]
fn syntax_is_judged_by_the_servers_version() {
    for (sql, since) in [
        ("SELECT 1_000", 16),
        ("SELECT 0x1F", 16),
        ("SELECT * FROM (SELECT 1)", 16),
        ("SELECT JSON_ARRAY(1, 2)", 16),
        ("SELECT JSON_OBJECT('a': 1)", 16),
        ("SELECT '{}' IS JSON", 16),
        ("SELECT JSON_VALUE('{}', '$.a')", 17),
        ("SELECT JSON_SCALAR(1)", 17),
        ("SELECT a FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a int PATH '$')) t", 17),
        ("SELECT customer_id FROM orders o JOIN (SELECT 1 AS customer_id) x USING (customer_id) AS j", 14),
    ] {
        for version in [13, 15, 16, 17, 18] {
            let got = shop::gate(version * 10_000).check(sql);
            match got {
                Ok(_) => assert!(version >= since, "{sql} was approved for {version}"),
                Err(rejection) => {
                    assert!(version < since, "{sql} was refused for {version}: {rejection}");
                    assert_eq!(rejection.error_type(), ErrorType::Unsupported, "{sql}");
                }
            }
        }
    }
}

#[test]
fn refusals_say_where_and_what_instead() {
    let gate = shop::gate(150_018);
    for (sql, position, hint) in [
        ("SELECT * FROM custmers", Some(15), Some("shop.customers")),
        ("SELECT 'ż', nam FROM customers", Some(13), Some("\"name\"")),
        ("SELECT c.totl FROM orders c", Some(8), Some("\"total\"")),
        ("SELECT group_concat(name) FROM customers", Some(8), Some("string_agg")),
        ("SELECT coutn(*) FROM customers", Some(8), Some("count")),
        ("SELECT * FROM events", Some(15), Some("public.events")),
        ("SELECT FROM customers WHERE WHERE", Some(29), None),
        ("SELECT 1 +", Some(11), None),
        ("SELECT `a`", Some(11), Some("double quotes")),
        ("SELECT id FROM orders WHERE id == 3", Some(32), Some("write =.")),
        ("SELECT * FROM elsewhere.shop.customers", Some(15), Some("Leave the database out")),
    ] {
        let rejection = gate.check(sql).unwrap_err();
        assert_eq!(rejection.position, position, "{sql}: {rejection}");
        match hint {
            Some(hint) => {
                assert!(rejection.hint.as_deref().unwrap_or_default().contains(hint), "{sql}: {rejection:?}")
            }
            None => assert_eq!(rejection.hint, None, "{sql}"),
        }
        let failure = rejection.to_failure(sql);
        assert_eq!((failure.position, failure.sql.as_str()), (position, sql));
    }
}

#[test]
fn what_another_dialect_spells_differently_may_be_repaired_and_what_is_out_of_bounds_may_not() {
    let gate = shop::gate(150_018);
    for (sql, repairable) in [
        ("SELECT id FROM orders WHERE id == 3", true),
        ("SELECT nvl(1, 2)", true),
        ("SELECT * FROM elsewhere.shop.customers", true),
        ("SELECT 5 # 3", false),
        ("SELECT 1 OPERATOR(shop.#) 2", false),
    ] {
        let rejection = gate.check(sql).unwrap_err();
        assert_eq!(rejection.error_type().repairable(), repairable, "{sql}: {rejection:?}");
    }
}

#[test]
fn a_database_is_named_only_when_it_is_known() {
    let catalogue = airlock_types::Catalogue { database: String::new(), ..shop::catalogue(150_018) };
    let gate = airlock_gate::Gate::new(std::sync::Arc::new(catalogue), airlock_gate::Policy::default());
    for database in ["gate", "\"\"", "shop"] {
        let got = gate.check(&format!("SELECT id FROM {database}.shop.customers"));
        assert!(got.is_err(), "{database}");
    }
}

#[test]
fn facts_are_what_the_text_reads() {
    let gate = shop::gate(150_018);
    let sql = "WITH big AS (SELECT o.* FROM orders o WHERE o.total > 100) \
               SELECT c.name, upper(b.status::text), pg_catalog.length(c.name) FROM big b \
               JOIN shop.customers c ON c.id = b.customer_id \
               WHERE c.name IN ('Ada', 'Bob') AND 'paid' = b.status AND c.name NOT LIKE 'x%'";
    let approved = gate.check(sql).unwrap();
    let facts = approved.facts();
    let tables: Vec<String> = facts.tables.iter().map(ToString::to_string).collect();
    assert_eq!(tables, ["shop.orders", "shop.customers"]);
    assert_eq!(facts.functions, ["upper", "pg_catalog.length"]);
    let columns: Vec<String> = facts.columns.iter().map(ToString::to_string).collect();
    for column in ["shop.orders.total", "shop.orders.placed_at", "shop.customers.name", "shop.customers.id"] {
        assert!(columns.iter().any(|found| found == column), "{column} is not in {columns:?}");
    }
    let literals: Vec<(String, &str, &str, &str)> = facts
        .literals
        .iter()
        .map(|found| {
            (
                found.column.to_string(),
                found.operator.as_str(),
                found.literal.as_str(),
                &sql[found.span.clone()],
            )
        })
        .collect();
    let want = [
        ("shop.orders.total", ">", "100", "100"),
        ("shop.customers.name", "IN", "Ada", "'Ada'"),
        ("shop.customers.name", "IN", "Bob", "'Bob'"),
        ("shop.orders.status", "=", "paid", "'paid'"),
        ("shop.customers.name", "NOT LIKE", "x%", "'x%'"),
    ];
    let want: Vec<_> =
        want.map(|(column, operator, literal, span)| (column.to_owned(), operator, literal, span)).into();
    assert_eq!(literals, want);
}

#[test]
fn literals_are_found_however_a_column_is_compared_with_them() {
    let gate = shop::gate(150_018);
    // What a text reads from `customers c`; the comparison, the literal, and how it is written.
    for (of, want) in [
        (
            "SELECT CASE c.name WHEN 'Ada' THEN 'x' WHEN 'Bob' THEN 'y' END FROM",
            &[("CASE", "Ada", "'Ada'"), ("CASE", "Bob", "'Bob'")][..],
        ),
        ("SELECT CASE WHEN c.name = 'Ada' THEN 'x' END FROM", &[("=", "Ada", "'Ada'")]),
        ("SELECT NULLIF(c.name, 'n/a') FROM", &[("NULLIF", "n/a", "'n/a'")]),
        ("SELECT count(*) FILTER (WHERE c.name ILIKE 'ad%') FROM", &[("ILIKE", "ad%", "'ad%'")]),
        (
            "SELECT lower(c.name) = 'ADA', upper(trim(c.name)) IN ('bob') FROM",
            &[("lower =", "ADA", "'ADA'"), ("btrim upper IN", "bob", "'bob'")],
        ),
        (
            "SELECT c.name::text = 'Ada', c.name COLLATE \"C\" < 'Bob' FROM",
            &[("=", "Ada", "'Ada'"), ("<", "Bob", "'Bob'")],
        ),
        (
            "SELECT v.n FROM (VALUES (NULL, 1), ('Ada', 1), ('Bob', 2)) AS v(n, m) JOIN customers d ON d.name = v.n,",
            &[("IN", "Ada", "'Ada'"), ("IN", "Bob", "'Bob'")],
        ),
        (
            "WITH v(name) AS (SELECT 'Ada' UNION ALL SELECT 'Bob') SELECT 1 FROM v JOIN customers d USING (name),",
            &[("IN", "Ada", "'Ada'"), ("IN", "Bob", "'Bob'")],
        ),
        (
            "SELECT c.name IN (VALUES ('Ada')), c.name NOT IN (SELECT 'Bob') FROM",
            &[("IN", "Ada", "'Ada'"), ("NOT IN", "Bob", "'Bob'")],
        ),
        (
            "SELECT c.name = ANY('{Ada,\"Bob B\", Cy ,NULL}'), c.name <> ALL (ARRAY['Dan']::text[]) FROM",
            &[("=", "Ada", "Ada"), ("=", "Bob B", "\"Bob B\""), ("=", "Cy", "Cy"), ("<>", "Dan", "'Dan'")],
        ),
        (
            "SELECT 1 FROM unnest('{Ada,Bob}'::text[]) AS u(n) JOIN customers d ON d.name = u.n,",
            &[("IN", "Ada", "Ada"), ("IN", "Bob", "Bob")],
        ),
        (
            "SELECT c.name LIKE ANY (ARRAY['A%', 'B%']) FROM",
            &[("LIKE", "A%", "'A%'"), ("LIKE", "B%", "'B%'")],
        ),
        // What cannot be told apart is left out, and what is made of a literal is none.
        ("SELECT c.name = ANY('{Ada,\"B\\\"ob\"}'), c.name = ANY('{{Ada}}') FROM", &[]),
        ("SELECT c.name = 'A' || 'da', concat(c.name) = 'Ada', left(c.name, 1) = 'A' FROM", &[]),
    ] {
        let sql = format!("{of} shop.customers c");
        let approved = gate.check(&sql).unwrap_or_else(|refused| panic!("{sql}: {}", refused.message));
        let literals = &approved.facts().literals;
        let found: Vec<(String, &str, &str)> = literals
            .iter()
            .map(|found| (found.comparison(), found.literal.as_str(), &sql[found.span.clone()]))
            .collect();
        let want: Vec<(String, &str, &str)> = want
            .iter()
            .map(|(comparison, literal, span)| ((*comparison).to_owned(), *literal, *span))
            .collect();
        assert_eq!(found, want, "{sql}");
        assert!(literals.iter().all(|found| found.column.to_string() == "shop.customers.name"), "{sql}");
    }
}

#[test]
fn a_function_is_allowed_by_signature_and_body() {
    use airlock_gate::{AllowedFunction, Gate, Policy};
    use airlock_types::ContentHash;
    let (ours, theirs) = (ContentHash::of("ours"), ContentHash::of("theirs"));
    for (signature, wanted, found, code) in [
        ("shop.net_price(numeric)", None, None, None),
        ("shop.net_price(numeric)", Some(ours), Some(ours), None),
        ("shop.net_price(numeric)", Some(ours), Some(theirs), Some("changed-function")),
        ("shop.net_price(numeric)", Some(ours), None, Some("changed-function")),
        ("shop.net_price(text)", None, None, Some("forbidden-function")),
    ] {
        let mut catalogue = shop::catalogue(150_018);
        for function in &mut catalogue.functions {
            function.body = found;
        }
        let allowed = AllowedFunction { signature: signature.to_owned(), body: wanted };
        let gate = Gate::new(
            std::sync::Arc::new(catalogue),
            Policy { allowed_functions: vec![allowed], ..Policy::default() },
        );
        let got = gate.check("SELECT net_price(1)").err().map(|rejection| rejection.code.as_str());
        assert_eq!(got, code, "{signature} {wanted:?} {found:?}");
    }
}

#[test]
fn long_and_deep_texts_are_refused_quickly_and_chains_are_not() {
    let gate = shop::gate(150_018);
    let chain = |times: usize, link: &str| format!("SELECT 1{}", link.repeat(times));
    let refused = [
        format!("SELECT '{}'", "x".repeat(1_000_000)),
        format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000)),
        format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("SELECT {}true", "NOT ".repeat(3_000)),
        format!("SELECT {}id FROM orders", "- ".repeat(3_000)),
        format!("SELECT {}1{}", "ARRAY[".repeat(900), "]".repeat(900)),
        format!("SELECT {}1{}", "CASE WHEN true THEN ".repeat(500), " END".repeat(500)),
        format!("SELECT {}1{}", "(SELECT ".repeat(500), ")".repeat(500)),
        format!("SELECT a{}", ".a".repeat(2_000)),
        format!("SELECT 1 WHERE 1 IN (1{})", ",1".repeat(30_000)),
        chain(20_000, " + 1"),
        (1..30).fold("WITH t0 AS (SELECT * FROM orders)".to_owned(), |with, level| {
            format!("{with}, t{level} AS (SELECT a.*, b.* FROM t{0} a, t{0} b)", level - 1)
        }) + " SELECT count(*) FROM t29",
        chain(3_000, " UNION SELECT 1"),
        chain(3_000, "::int"),
    ];
    for sql in refused {
        let rejection = gate.check(&sql).unwrap_err();
        let shown: String = sql.chars().take(40).collect();
        assert_ne!(rejection.code.as_str(), "internal", "{shown}");
    }
    let joins = format!("SELECT 1 FROM orders{}", " CROSS JOIN orders".repeat(200));
    for sql in [
        chain(1_000, " + 1"),
        chain(900, " || 1"),
        chain(500, " UNION ALL SELECT 1"),
        chain(900, " OR 1 = 1"),
        joins,
    ] {
        let shown: String = sql.chars().take(40).collect();
        if let Err(rejection) = gate.check(&sql) {
            // `1 OR 1 = 1` does not fit its types, which is PostgreSQL's to say.
            panic!("{shown}: {rejection}");
        }
    }
}

#[test]
fn rows_of_rows_of_rows_are_judged_in_bounded_time() {
    let gate = shop::gate(150_018);
    let many = |of: &str| (0..400).map(|n| format!("{of} AS c{n}")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT {} FROM (SELECT {} FROM (SELECT {} FROM orders a) a) a",
        many("count(a)"),
        many("a"),
        many("a")
    );
    let started = std::time::Instant::now();
    let _ = gate.check(&sql);
    // Unbounded it would look at 64 million fields for each of 400 columns.
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn a_catalogue_of_a_hundred_thousand_columns_is_no_burden() {
    let mut catalogue = shop::catalogue(150_018);
    let pattern = catalogue.relation(&airlock_types::TableRef::new("shop", "orders")).unwrap().clone();
    for number in 0..20_000 {
        let mut relation = pattern.clone();
        relation.table.name = format!("orders_{number}");
        catalogue.insert(relation);
    }
    let gate = airlock_gate::Gate::new(std::sync::Arc::new(catalogue), airlock_gate::Policy::default());
    assert!(gate.check("SELECT total FROM orders_19999").is_ok());
    let rejection = gate.check("SELECT total FROM ordesr").unwrap_err();
    assert!(rejection.hint.is_some());
}
