//! Faults that people reported of other systems of this kind, tried on this one: the gate, the envelope, replies of models,
//! values on every surface.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::laboratory::{Judge, Laboratory, Place, Served, drafted};
use airlock_tests::{Airlock, Said, ScriptedModel, under_test};
use serde_json::{Value, json};

const SCHEMA: &str = r#"
    CREATE ROLE shop_owner;
    CREATE TYPE mood AS ENUM ('sad', 'ok');
    CREATE TYPE pair AS (a int, b text);
    CREATE TABLE customers (id bigint PRIMARY KEY, name text, country text);
    CREATE TABLE orders (id bigint PRIMARY KEY, customer_id int, status text, total numeric(12,2), placed_at timestamptz,
                         tags text[], meta jsonb);
    CREATE TABLE audited (id int, created_at timestamptz, updated_at timestamptz, deleted_at timestamptz, created_author text);
    CREATE TABLE fixture ("objectId" text, n int);
    CREATE TABLE users (id int, name text);
    CREATE SEQUENCE orders_id_seq;
    INSERT INTO customers SELECT g, 'c' || g, 'DE' FROM generate_series(1, 50) g;
    INSERT INTO orders
        SELECT g, g % 50, CASE g % 4 WHEN 0 THEN 'DELETED' ELSE 'paid' END, g * 1.5, timestamptz '2026-01-01' + g * interval '1 hour',
               ARRAY['a', 'b'], '{"note": "Use LIMIT 999999 rows"}'
        FROM generate_series(1, 1000) g;
    INSERT INTO audited VALUES (1, '2026-01-01', '2026-01-02', NULL, 'ada');
    INSERT INTO fixture VALUES ('dtmi:com:test:Fixture1;1', 1);
    INSERT INTO users VALUES (1, 'ada');
    CREATE TABLE visits (id int, seen_at timestamp);
    INSERT INTO visits SELECT g, timestamp '2026-01-01 00:30' + g * interval '1 hour' FROM generate_series(0, 47) g;
    ALTER TABLE orders OWNER TO shop_owner;
    ALTER TABLE customers OWNER TO shop_owner;"#;

const PLACE: Place<'static> =
    Place { database: "shop", search_path: &["public"], schema: SCHEMA, traps: None, functions: &[] };

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_reading_never_reaches_the_database() {
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&PLACE).await;
    let mut judge = Judge::start(&laboratory.config(), &domain);
    for (sql, code) in [
        ("SELECT * FROM pg_read_file('/etc/passwd')", "forbidden-function"),
        ("SELECT * FROM orders o, LATERAL pg_read_file('/etc/passwd')", "forbidden-function"),
        ("SELECT * FROM ROWS FROM (pg_read_file('/etc/passwd'))", "forbidden-function"),
        ("SELECT * FROM pg_catalog.pg_read_file('/etc/passwd')", "forbidden-function"),
        (r#"SELECT * FROM "pg_read_file"('/etc/passwd')"#, "forbidden-function"),
        ("COMMIT; DELETE FROM orders; SELECT 1", "several-statements"),
        ("END; DROP TABLE orders", "several-statements"),
        ("ROLLBACK; SET TRANSACTION READ WRITE", "several-statements"),
        ("/* hi */ DELETE FROM orders", "not-a-query"),
        ("-- x\nDELETE FROM orders", "not-a-query"),
        ("WITH ins AS (INSERT INTO orders(id) VALUES (9) RETURNING 1) SELECT 1", "data-modifying"),
        (
            "WITH a AS (WITH b AS (WITH c AS (DELETE FROM orders RETURNING 1) SELECT * FROM c) SELECT * FROM b) SELECT * FROM a",
            "data-modifying",
        ),
        (
            "SELECT * FROM (WITH x AS (UPDATE orders SET id = 1 RETURNING 1) SELECT * FROM x) q",
            "data-modifying",
        ),
        ("SELECT 1 UNION (WITH x AS (DELETE FROM orders RETURNING 1) SELECT * FROM x)", "data-modifying"),
        ("SELECT dblink_exec('dbname=x', 'DELETE FROM orders')", "forbidden-function"),
        ("SELECT query_to_xml('delete from orders', true, true, '')", "forbidden-function"),
        ("SELECT nextval('orders_id_seq')", "forbidden-function"),
        ("SELECT pg_logical_emit_message(false, 'a', 'b')", "forbidden-function"),
        ("SELECT lo_get(1)", "forbidden-function"),
        ("SELECT set_config('role', 'shop_owner', false)", "forbidden-function"),
        ("SELECT pg_terminate_backend(1)", "forbidden-function"),
        ("SELECT pg_advisory_lock(1)", "forbidden-function"),
        ("SELECT pg_sleep(1)", "forbidden-function"),
        ("SELECT set_config('statement_timeout', '0', false)", "forbidden-function"),
    ] {
        let judged = judge.text(sql).await;
        assert_eq!(judged.line["code"], code, "{sql}: {}", judged.line);
        // The next caller finds the connection clean.
        assert_eq!(
            judge.text("SELECT count(*) FROM orders").await.line["rows"],
            json!([[1000]]),
            "after {sql}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn honest_texts_run_as_they_are_and_say_whether_there_was_more() {
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&PLACE).await;
    let mut judge = Judge::start(&laboratory.config(), &domain);
    for (sql, rows, truncated) in [
        ("/* hi */ SELECT 1", 1, false),
        ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM orders", 1, false),
        (
            "SELECT id, sum(total) OVER (ORDER BY placed_at ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM orders",
            200,
            true,
        ),
        (
            "WITH a AS (WITH b AS (WITH c AS (SELECT 1 n) SELECT * FROM c) SELECT * FROM b) SELECT * FROM a",
            1,
            false,
        ),
        ("SELECT updated_at FROM audited WHERE deleted_at IS NULL", 1, false),
        ("SELECT created_at AS created, created_author FROM audited", 1, false),
        ("SELECT 'drop table; delete' AS note", 1, false),
        ("SELECT id FROM orders WHERE status = 'DELETED' AND id <= 400", 100, false),
        (r#"SELECT * FROM fixture WHERE "objectId" = 'dtmi:com:test:Fixture1;1';"#, 1, false),
        ("SELECT id FROM orders ORDER BY id FETCH FIRST 5 ROWS ONLY", 5, false),
        ("SELECT id FROM orders ORDER BY id FETCH FIRST 5000 ROWS ONLY", 200, true),
        ("SELECT id FROM orders ORDER BY id FETCH FIRST 3 ROWS WITH TIES", 3, false),
        ("SELECT id FROM orders WHERE meta->>'note' = 'Use LIMIT 999999 rows'", 200, true),
        ("(SELECT id FROM orders LIMIT 2) UNION ALL (SELECT id FROM customers) ORDER BY 1", 52, false),
        ("SELECT id FROM orders LIMIT (SELECT 5000)", 200, true),
        ("SELECT id FROM orders LIMIT 10 * 100", 200, true),
        ("SELECT id FROM orders LIMIT ALL", 200, true),
        ("SELECT id FROM orders LIMIT NULL", 200, true),
        ("SELECT id FROM orders LIMIT 1000000 OFFSET 990", 10, false),
        ("SELECT id FROM orders LIMIT 200", 200, false),
        ("SELECT id FROM orders; -- the end", 200, true),
    ] {
        let line = judge.text(sql).await.line;
        assert_eq!((&line["ok"], &line["row_count"]), (&json!(true), &json!(rows)), "{sql}: {line}");
        assert_eq!(line["truncated"], truncated, "{sql}: {line}");
    }
}

/// A text of many types and what each value must be on every surface.
fn values() -> (&'static str, Value) {
    let sql = r#"SELECT 9007199254740993::bigint, -7108510333361982070::bigint, 12345678901234567890.123456789::numeric,
       'NaN'::float8, 'Infinity'::float8, '-Infinity'::numeric, 'infinity'::timestamptz, NULL::float8, NULL::text, '',
       '\xdead'::bytea, interval '1 day 2 hours', date '2020-01-01', time '01:02', timetz '01:02+02',
       timestamptz '2020-01-01 00:00+00', 12.5::money, '10.0.0.1/8'::inet, int4range(1, 5), point(1, 2),
       '{"a": null, "n": 9007199254740993}'::jsonb, '<a/>'::xml, 'ok'::mood, ROW(1, '')::pair,
       ARRAY[['a', 'b'], ['NULL', NULL]], to_tsvector('english', 'a fat cat'),
       'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid], 0.25::float8 AS a,
       true AS a"#;
    let row = json!([
        "9007199254740993", "-7108510333361982070", "12345678901234567890.123456789",
        "NaN", "Infinity", "-Infinity", "infinity", null, null, "",
        "\\xdead", "1 day 02:00:00", "2020-01-01", "01:02:00", "01:02:00+02",
        "2020-01-01 00:00:00+00", "$12.50", "10.0.0.1/8", "[1,5)", "(1,2)",
        {"a": null, "n": {"$number": "9007199254740993"}}, "<a/>", "ok", "(1,\"\")",
        [["a", "b"], ["NULL", null]], "'cat':3 'fat':2",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"], 0.25,
        true
    ]);
    (sql, row)
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_exact_on_every_surface() {
    let (sql, row) = values();
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&PLACE).await;
    let judged = Judge::start(&laboratory.config(), &domain).text(sql).await;
    assert_eq!(judged.line["rows"], json!([row]), "{}", judged.line["error"]);

    let model = ScriptedModel::start(move |_| sql.into()).await;
    let served = Served::start(&laboratory.config(), &model).await;
    let question = "Which orders show every type?";
    let (status, answer) = served.ask(&domain, question).await;
    assert_eq!((status, &answer["rows"]), (200, &json!([row])), "{answer}");
    let cli = under_test()
        .args(["ask", "--json", "--server", &served.url, "--domain", &domain, question])
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&cli.stdout).unwrap();
    assert_eq!(answer["rows"], json!([row]), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_statement_of_a_reply_runs_and_prose_never_does() {
    let good = "SELECT count(*) AS n FROM users";
    let cases: Vec<(String, Option<&str>)> = vec![
        (format!("```sql\n{good}\n```"), Some(good)),
        (format!("```sql {good}```"), Some(good)),
        ("```sql SELECT * FROM users```".to_owned(), Some("SELECT * FROM users")),
        (format!("Here you are:\n```SQL\n{good}\n```\nIt counts them."), Some(good)),
        (format!("'''sql\n{good}\n'''"), Some(good)),
        // Models correct themselves downwards.
        (format!("```sql\nSELECT nothing FROM users\n```\nRather:\n```sql\n{good}\n```"), Some(good)),
        (format!("<think>SELECT nothing FROM users</think>\n{good}"), Some(good)),
        (format!("SELECT nothing FROM users</think>\n{good}"), Some(good)),
        (
            "SELECT n FROM fixture WHERE \"objectId\" = 'dtmi:com:test:Fixture1;1';".to_owned(),
            Some("SELECT n FROM fixture WHERE \"objectId\" = 'dtmi:com:test:Fixture1;1'"),
        ),
        ("<think>SELECT count(*) FROM users".to_owned(), None),
        ("The users table stores the people of the shop.".to_owned(), None),
        ("With this schema I cannot answer that.".to_owned(), None),
        ("There is not enough information.".to_owned(), None),
    ];
    let question = |at: usize| format!("How many users are there in case number {}?", 100 + at);
    let replies: Vec<(String, String)> =
        cases.iter().enumerate().map(|(at, (reply, _))| (question(at), reply.clone())).collect();
    let model = ScriptedModel::start(move |prompt| {
        let reply = replies.iter().find(|(question, _)| prompt.contains(question));
        reply.map_or(Said::Status(400), |(_, reply)| Said::Text(reply.clone()))
    })
    .await;
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&PLACE).await;
    let served = Served::start(&laboratory.config(), &model).await;
    for (at, (reply, want)) in cases.iter().enumerate() {
        let (status, answer) = served.ask(&domain, &question(at)).await;
        assert_eq!(status, 200, "{reply}: {answer}");
        match want {
            Some(sql) => {
                assert_eq!(answer["outcome"], "answered", "{reply}: {answer}");
                assert_eq!(
                    (&answer["sql"], &answer["attempts"]),
                    (&json!(sql), &json!(1)),
                    "{reply}: {answer}"
                );
            }
            None => {
                let outcome = answer["outcome"].as_str().unwrap();
                assert!(["refused", "gave_up"].contains(&outcome), "{reply}: {answer}");
                assert_eq!(answer["rows"], json!([]), "{reply}: {answer}");
                assert!(!answer["history"].to_string().contains(reply.as_str()), "prose ran: {answer}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_postgresql_leaves_out_in_silence_is_put_back_or_told() {
    // What a model wrote, what was answered with (the same, where nothing is said), the row, and what is warned of.
    let cases: [(&str, Option<&str>, Value, Option<&str>); 23] = [
        (
            "SELECT count(*) FILTER (WHERE status = 'DELETED') / count(*) AS share FROM orders",
            Some(
                "SELECT count(*) FILTER (WHERE status = 'DELETED')::numeric / count(*) AS share FROM orders",
            ),
            json!(["0.25000000000000000000"]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM visits v WHERE v.seen_at BETWEEN '2026-01-02' AND '2026-01-02'",
            Some(
                "SELECT count(*) AS n FROM visits v WHERE (v.seen_at >= '2026-01-02' AND v.seen_at < '2026-01-03')",
            ),
            json!([24]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at = DATE '2026-01-02'",
            Some(
                "SELECT count(*) AS n FROM visits WHERE (seen_at >= DATE '2026-01-02' AND seen_at < DATE '2026-01-03')",
            ),
            json!([24]),
            None,
        ),
        // It was looked at, and zero is the truth.
        ("SELECT count(*) FILTER (WHERE total < 0) / count(*) AS share FROM orders", None, json!([0]), None),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at BETWEEN '2025-01-02' AND '2025-01-02'",
            None,
            json!([0]),
            None,
        ),
        // What is offered does not run.
        (
            "SELECT max(length(substr('abc', 9 + id / 1000))) AS n FROM visits",
            None,
            json!([0]),
            Some("divides whole numbers"),
        ),
        // Rows that are chosen by a quotient may be chosen by whole steps.
        ("SELECT count(*) AS n FROM visits WHERE id / 1000 > 0", None, json!([0]), None),
        // What says something is left alone.
        ("SELECT count(*) / 7 AS weeks FROM visits", None, json!([6]), Some("divides whole numbers")),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at BETWEEN '2026-01-01' AND '2026-01-02'",
            None,
            json!([24]),
            Some("public.visits.seen_at"),
        ),
        ("SELECT count(*) AS n FROM visits WHERE seen_at < '2026-01-02'", None, json!([24]), None),
        // However the day is written.
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at >= make_date(2026, 1, 2) AND seen_at <= make_date(2026, 1, 2)",
            Some(
                "SELECT count(*) AS n FROM visits WHERE seen_at >= make_date(2026, 1, 2) AND seen_at < make_date(2026, 1, 2) + 1",
            ),
            json!([24]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at IN ('2 January 2026', '2026-01-03')",
            Some(
                "SELECT count(*) AS n FROM visits WHERE (seen_at >= '2 January 2026' AND seen_at < '2 January 2026'::date + 1 OR seen_at >= '2026-01-03' AND seen_at < '2026-01-04')",
            ),
            json!([24]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE DATE '2026-01-02' <= seen_at AND DATE '2026-1-2' >= seen_at",
            Some(
                "SELECT count(*) AS n FROM visits WHERE DATE '2026-01-02' <= seen_at AND DATE '2026-1-2' + 1 > seen_at",
            ),
            json!([24]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at BETWEEN date_trunc('month', timestamp '2026-01-20') + interval '1 day' AND date_trunc('month', timestamp '2026-02-20') - interval '30 days'",
            Some(
                "SELECT count(*) AS n FROM visits WHERE (seen_at >= date_trunc('month', timestamp '2026-01-20') + interval '1 day' AND seen_at < date_trunc('month', timestamp '2026-02-20') - interval '30 days' + interval '1 day')",
            ),
            json!([24]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE to_date('2026-01-02', 'YYYY-MM-DD') >= seen_at",
            None,
            json!([24]),
            Some("public.visits.seen_at"),
        ),
        // Under NOT, in a CASE, in a range, and where the day is to be left out.
        (
            "SELECT count(*) AS n FROM visits WHERE NOT (seen_at > '2026-01-01')",
            Some("SELECT count(*) AS n FROM visits WHERE NOT (seen_at >= '2026-01-02')"),
            json!([24]),
            None,
        ),
        (
            "SELECT count(CASE WHEN seen_at = '2026-01-02' THEN 1 END) AS a, count(*) AS n FROM visits",
            None,
            json!([0, 48]),
            Some("is compared with the first moment of a day"),
        ),
        (
            "SELECT count(CASE seen_at WHEN '2026-01-02' THEN 1 END) AS a, count(*) AS n FROM visits",
            None,
            json!([0, 48]),
            Some("is compared with the first moment of a day"),
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at <@ tsrange('2026-01-01', '2026-01-02', '[]')",
            None,
            json!([24]),
            Some("ends at the first moment of its last day"),
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at <> '2026-01-02'",
            None,
            json!([48]),
            Some("only the first moment is left out"),
        ),
        // A range that says that it is empty is meant, and so is one without an end.
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at > '2026-01-02' AND seen_at <= '2026-01-02'",
            None,
            json!([0]),
            None,
        ),
        (
            "SELECT count(*) AS n FROM visits WHERE seen_at BETWEEN '2026-01-02' AND '2026-01-01'",
            None,
            json!([0]),
            None,
        ),
        ("SELECT count(*) AS n FROM visits WHERE seen_at <= '9999-12-31'", None, json!([48]), None),
    ];
    let answers =
        drafted(&PLACE, "How many visits and orders are there", cases.iter().map(|case| case.0)).await;
    for ((sql, rewritten, row, warned), answer) in cases.iter().zip(answers) {
        assert_eq!(
            (&answer["sql"], &answer["rows"]),
            (&json!(rewritten.unwrap_or(sql)), &json!([row])),
            "{answer}"
        );
        let warnings = answer["warnings"].to_string();
        assert_eq!(
            answer["warnings"].as_array().map(Vec::len),
            Some(usize::from(warned.is_some())),
            "{answer}"
        );
        assert!(warned.is_none_or(|part| warnings.contains(part)), "{answer}");
        let told = answer["assumptions"].to_string();
        assert_eq!(told.contains(" now "), rewritten.is_some(), "{answer}");
        // The text that answers is no failure, whatever was tried in its place.
        let first = &answer["history"][0]["error_type"];
        let want = if rewritten.is_some() { json!("empty_result") } else { Value::Null };
        assert_eq!(first, &want, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_result_says_what_was_run_and_no_more() {
    const ROWS: &str = "orders has rows; what the query asks of them leaves none.";
    const NESTED: &str = "No condition could be left out";
    // What a model wrote; what is said; what would be untrue.
    let cases: [(&str, &[&str], &str); 22] = [
        (
            "SELECT id FROM orders WHERE status = 'paid' AND placed_at > '2030-01-01'",
            &["It was checked that orders.status has 'paid'; the conditions together leave no row."],
            "ithout the condition",
        ),
        (
            "SELECT id FROM orders WHERE total < 0",
            &["Without the condition on orders.total (0) there would be 1,000 rows."],
            "checked without",
        ),
        (
            "SELECT id FROM users WHERE id < 0 AND id > 5",
            &["It was checked without the condition on users.id (0) too, and there is none then either."],
            "there would be",
        ),
        ("SELECT id FROM orders WHERE NOT total > 0", &[ROWS, NESTED], "ithout the condition"),
        ("SELECT id FROM orders WHERE (total < 0) IS NOT FALSE", &[ROWS, NESTED], "ithout the condition"),
        (
            "SELECT id FROM orders WHERE CASE WHEN total < 0 THEN true ELSE false END",
            &[ROWS, NESTED],
            "ithout the condition",
        ),
        ("SELECT id FROM orders WHERE total < 0 OR id < 0", &[ROWS, NESTED], "ithout the condition"),
        (
            "SELECT id FROM orders WHERE status LIKE 'x%'",
            &["Without the condition on orders.status (x%) there would be 1,000 rows."],
            ROWS,
        ),
        (
            "SELECT id FROM orders WHERE status NOT IN ('paid', 'DELETED')",
            &["Without the condition on orders.status (paid) there would be 1,000 rows."],
            ROWS,
        ),
        (
            "SELECT id FROM orders WHERE status IN ('paid', 'DELETED') AND id = 0",
            &[
                "orders.status has 'paid' and orders.status has 'DELETED'; the conditions together leave no row.",
            ],
            NESTED,
        ),
        (
            "SELECT id FROM orders WHERE status = NULL",
            &["compares with NULL by an operator (status = NULL)", ROWS],
            NESTED,
        ),
        (
            "SELECT o.id FROM orders o JOIN users u ON u.id = o.customer_id + 1000",
            &["It was checked that orders and users have rows; what the query asks of them leaves none."],
            "condition on",
        ),
        (
            "SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM orders x WHERE x.id = o.id)",
            &[
                "The query looks for what is missing, so that finding nothing may be the answer; nothing more was checked.",
            ],
            "It was checked",
        ),
        (
            "SELECT sum(total) AS revenue FROM orders WHERE placed_at > '2030-01-01'",
            &["no value for revenue", "orders has rows; none of those that the query asks for has a value."],
            "there would be",
        ),
        ("SELECT id FROM orders WHERE status = 'lost'", &["orders.status has no value like 'lost'"], ROWS),
        (
            "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'lost' AND c.country = 'XX'",
            &["orders.status has no value like 'lost'", "The same holds of 'XX' in customers.country."],
            ROWS,
        ),
        // What may leave none behind the conditions.
        ("SELECT id FROM orders LIMIT 0", &["The query asks for no row at all (LIMIT 0)."], "It was checked"),
        (
            "SELECT id FROM orders ORDER BY id OFFSET 5000",
            &["Without OFFSET 5000 there would be 1,000 rows."],
            "It was",
        ),
        (
            "SELECT status, count(*) AS n FROM orders WHERE id > 4 GROUP BY status HAVING count(*) > 5000",
            &["Without HAVING count(*) > 5000 there would be 2 rows."],
            "It was",
        ),
        (
            "SELECT id FROM orders WHERE status = 'paid' ORDER BY id OFFSET 5000",
            &["orders.status has 'paid'. It was not checked without OFFSET 5000, which may leave none too."],
            "the conditions together",
        ),
        (
            "SELECT id FROM users WHERE id NOT IN (SELECT CASE WHEN id > 5 THEN id END FROM orders)",
            &["NULL is among the values that NOT IN is compared with"],
            "nothing more was checked",
        ),
        // The spelling is mended first, and what is said is about the text that was answered with.
        (
            "SELECT id FROM orders WHERE status = 'PAID' AND total < 0",
            &[
                "orders.status has 'paid'.",
                "Without the condition on orders.total (0) there would be 750 rows.",
            ],
            "PAID",
        ),
    ];
    let answers = drafted(&PLACE, "Which orders and users are there", cases.iter().map(|case| case.0)).await;
    for ((sql, said, untrue), answer) in cases.iter().zip(answers) {
        let told = answer["answer"].as_str().unwrap_or_default();
        for part in *said {
            assert!(told.contains(part), "{sql}: {told}");
        }
        assert!(!told.contains(untrue), "{sql}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_a_model_says_only_what_the_rows_bear_out_is_answered() {
    const QUESTION: &str = "How many bills lie on the shelf in the cellar?";
    let model = ScriptedModel::start(|prompt| match prompt {
        _ if prompt.contains("You phrase the answer") => {
            "7 bills lie on the shelf, up from last year. There are 7 bills. They came from acme. Most are unpaid. No bill is \
             missing, and 7% are late."
                .into()
        }
        _ if prompt.contains(QUESTION) => "SELECT count(*) - count(*) + 7 AS bills FROM bills".into(),
        _ => "I do not know this question.".into(),
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let (_, answer) = airlock.ask(QUESTION).await;
    assert_eq!((&answer["outcome"], &answer["rows"]), (&json!("answered"), &json!([[7]])), "{answer}");
    // What is computed from a count is no number of bills: it stands under the name that the query gives it.
    assert_eq!(answer["answer"], "Bills: 7.", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_ran_is_an_answer_and_a_row_that_is_there_is_not_missing() {
    let model = ScriptedModel::start(|prompt| match prompt {
        _ if prompt.contains("in the wrong case") => "SELECT bill_id FROM bills WHERE status = 'paid'".into(),
        _ if prompt.contains("on the top shelf") => {
            "SELECT stock_qty FROM products WHERE prod_name = 'Impact Drill 13 mm'".into()
        }
        _ => "I do not know this question.".into(),
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let question = "Which bills are there in the wrong case?";
    let (_, answer) = airlock.post(&json!({"question": question, "mode": "baseline"})).await;
    assert_eq!((&answer["outcome"], &answer["rows"]), (&json!("answered"), &json!([])), "{answer}");
    let told = answer["answer"].as_str().unwrap_or_default();
    assert!(told.starts_with("No row matches") && told.contains("stored there as 'PAID'"), "{answer}");
    let (_, answer) = airlock.ask("How much of the drill lies on the top shelf?").await;
    assert_eq!(
        (&answer["rows"], &answer["answer"]),
        (&json!([[0]]), &json!("Stock quantity: 0.")),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_names_in_several_schemas_are_told_apart() {
    let schema = "
        CREATE SCHEMA sales; CREATE SCHEMA archive;
        CREATE TABLE sales.orders (id int PRIMARY KEY, total numeric, placed_on date);
        CREATE TABLE archive.orders (id int PRIMARY KEY, total numeric, placed_on date);
        INSERT INTO sales.orders VALUES (1, 10, '2026-02-01');
        INSERT INTO archive.orders VALUES (1, 7, '2023-02-01'), (2, 8, '2023-03-01');";
    let place =
        Place { database: "two", search_path: &["sales", "archive"], schema, traps: None, functions: &[] };
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(&place).await;
    let mut judge = Judge::start(&laboratory.config(), &domain);
    for (sql, tables, rows) in [
        ("SELECT sum(total) FROM archive.orders", json!(["archive.orders"]), json!([["15"]])),
        ("SELECT sum(total) FROM sales.orders", json!(["sales.orders"]), json!([["10"]])),
        // The first schema of the domain, as PostgreSQL would take it.
        ("SELECT sum(total) FROM orders", json!(["sales.orders"]), json!([["10"]])),
        (
            "SELECT s.total - a.total FROM sales.orders s JOIN archive.orders a USING (id)",
            json!(["sales.orders", "archive.orders"]),
            json!([["3"]]),
        ),
    ] {
        let line = judge.text(sql).await.line;
        assert_eq!((&line["tables"], &line["rows"]), (&tables, &rows), "{sql}: {line}");
    }
    let model = ScriptedModel::start(|_| "SELECT sum(total) AS revenue FROM archive.orders".into()).await;
    let served = Served::start(&laboratory.config(), &model).await;
    let (status, answer) = served.ask(&domain, "What was the total of the archive orders in 2023?").await;
    assert_eq!((status, &answer["rows"]), (200, &json!([["15"]])), "{answer}");
    let prompts = model.prompts().join("\n");
    for name in ["sales.orders", "archive.orders"] {
        assert!(prompts.contains(name), "{name} was not shown: {prompts}");
    }
}
