//! Values whose types bring their own casts: whatever hands one on, no function or cast gets hold of it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod shop;

/// What hands a value on, `$` being the value; what follows FROM is the second part.
const FORMS: &[(&str, &str)] = &[
    ("$", "@"),
    ("(($))", "@"),
    ("nullif($, NULL)", "@"),
    ("nullif(NULL, $)", "@"),
    ("nullif(nullif($, NULL), $)", "@"),
    ("coalesce($, NULL)", "@"),
    ("coalesce(NULL, $)", "@"),
    ("greatest($, NULL)", "@"),
    ("least(NULL, $)", "@"),
    ("CASE WHEN true THEN $ END", "@"),
    ("CASE WHEN true THEN NULL ELSE $ END", "@"),
    ("(ARRAY[$])[1]", "@"),
    ("(ARRAY[NULL, $])[2]", "@"),
    ("(ARRAY[$])[1:1]", "@"),
    ("(array_agg($))[1]", "@"),
    ("(array_agg(nullif($, NULL)))[1:2]", "@"),
    ("((array_agg(ARRAY[$]))[1][1])", "@"),
    ("(ARRAY(SELECT $ FROM @))[1]", "@"),
    ("(ROW(1, $)).f2", "@"),
    ("ROW(1, nullif($, NULL))", "@"),
    ("(SELECT $ FROM @ LIMIT 1)", "@"),
    ("(SELECT nullif($, NULL))", "@"),
    ("any_value($)", "@"),
    ("min($)", "@"),
    ("max($)", "@"),
    ("mode() WITHIN GROUP (ORDER BY $)", "@"),
    ("percentile_disc(0.5) WITHIN GROUP (ORDER BY $)", "@"),
    ("(first_value($) OVER ())", "@"),
    ("(last_value($) OVER ())", "@"),
    ("(nth_value($, 1) OVER ())", "@"),
    ("(lag($) OVER ())", "@"),
    ("(lead(NULL, 1, $) OVER ())", "@"),
    ("unnest(array_agg($))", "@"),
    ("unnest(ARRAY[$])", "@"),
    ("array_append(NULL, $)", "@"),
    ("array_fill($, ARRAY[1])", "@"),
    ("($ COLLATE \"C\")", "@"),
    ("h", "(SELECT $ AS h FROM @) q"),
    ("h", "(SELECT nullif($, NULL) AS h FROM @) q"),
    ("q.h", "(SELECT DISTINCT $ AS h FROM @) q"),
    ("(q).h", "(SELECT $ AS h FROM @) q"),
    ("q", "(SELECT $ AS h FROM @) q"),
    ("q", "(SELECT nullif($, NULL) AS h FROM @) q"),
    ("h", "(SELECT NULL AS h UNION ALL SELECT $ FROM @) q"),
    ("h", "(SELECT $ AS h FROM @ UNION SELECT NULL) q"),
    ("h", "(SELECT $ AS h FROM @ INTERSECT SELECT $ FROM @) q"),
    ("h", "(SELECT $ AS h FROM @ EXCEPT SELECT nullif($, NULL) FROM @) q"),
    ("h", "@, LATERAL (VALUES (1, NULL), (2, $)) v(n, h)"),
    ("h", "@, LATERAL (VALUES (nullif($, NULL))) v(h)"),
    ("h", "@, unnest(ARRAY[$]) h"),
    ("h", "@, nullif($, NULL) h"),
    ("h", "@, ROWS FROM (coalesce($, NULL)) AS r(h)"),
    ("h", "(SELECT $ AS h FROM @) a FULL JOIN (SELECT $ AS h FROM @) b USING (h)"),
    ("h", "(SELECT $ AS h FROM @) a NATURAL JOIN (SELECT nullif($, NULL) AS h FROM @) b"),
    ("j.h", "((SELECT $ AS h FROM @) a CROSS JOIN (SELECT 1 AS n) b) AS j"),
];

/// The same in common table expressions: the expression and what stands before SELECT.
const COMMON: &[(&str, &str)] = &[
    ("h", "WITH t(h) AS (SELECT $ FROM @)"),
    ("h", "WITH t(h) AS (SELECT nullif($, NULL) FROM @)"),
    ("h", "WITH RECURSIVE t(h) AS (SELECT $ FROM @ UNION ALL SELECT nullif(h, NULL) FROM t)"),
    ("h", "WITH RECURSIVE t(h) AS (SELECT NULL UNION ALL SELECT $ FROM @, t)"),
    ("t", "WITH t(h) AS (SELECT $ FROM @)"),
    ("s", "WITH RECURSIVE t(h) AS (SELECT $ FROM @ UNION ALL SELECT h FROM t) SEARCH DEPTH FIRST BY h SET s"),
    (
        "s[1]",
        "WITH RECURSIVE t(h) AS (SELECT $ FROM @ UNION ALL SELECT h FROM t) SEARCH BREADTH FIRST BY h SET s",
    ),
    ("p", "WITH RECURSIVE t(h) AS (SELECT $ FROM @ UNION ALL SELECT h FROM t) CYCLE h SET c USING p"),
];

/// What runs a cast to text.
const TEXT_SINKS: &[&str] = &[
    "~::text",
    "CAST(~ AS varchar)",
    "CAST(~ AS varchar(9))",
    "(~)::char(9)",
    "ARRAY[~]::text[]",
    "text(~)",
    "\"varchar\"(~)",
    "~ || ''",
    "'' || ~",
    "concat(~)",
    "concat_ws(',', 1, ~)",
    "format('%s', ~)",
    "string_agg(~::text, ',')",
    "quote_literal(~)",
    "quote_nullable(~)",
    "upper(~)",
    "length(~)",
    "~ LIKE '%'",
    "~ ILIKE '%'",
    "~ SIMILAR TO 'x'",
    "starts_with(~, 'x')",
    "array_to_string(array_agg(~), ',')",
    "array_to_string(ARRAY[~], ',')",
    "xmlforest(~ AS x)",
    "xmlelement(name x, ~)",
    "xmlserialize(CONTENT ~ AS text)",
    "lower(coalesce(~, ''))",
];

/// What runs a cast to JSON.
const JSON_SINKS: &[&str] = &[
    "~::json",
    "to_json(~)",
    "to_jsonb(~)",
    "json_agg(~)",
    "jsonb_agg(~)",
    "json_agg_strict(~)",
    "jsonb_agg_strict(~)",
    "json_build_array(1, ~)",
    "jsonb_build_array(~)",
    "json_build_object('a', ~)",
    "jsonb_build_object('a', ~)",
    "json_build_object(~, 1)",
    "json_object_agg('a', ~)",
    "jsonb_object_agg('a', ~)",
    "json_object_agg_unique('a', ~)",
    "jsonb_object_agg_strict('a', ~)",
    "array_to_json(ARRAY[~])",
    "array_to_json(array_agg(~))",
    "row_to_json(ROW(~))",
    "to_jsonb(ARRAY[~])",
    "to_json(array_agg(~))",
    "json_agg(ROW(1, ~))",
    "JSON_ARRAY(~)",
    "JSON_OBJECT('a': ~)",
    "JSON_ARRAYAGG(~)",
    "JSON_OBJECTAGG('a': ~)",
    "JSON_SCALAR(~)",
    "JSON_SERIALIZE(~)",
];

fn crossed(value: &str, from: &str, sinks: &[&str]) {
    let gate = shop::gate(180_000);
    let fill = |text: &str| text.replace('$', value).replace('@', from);
    let mut through = Vec::new();
    for sink in sinks {
        let forms = FORMS.iter().map(|(form, from)| (String::new(), form, *from));
        let common = COMMON.iter().map(|(form, with)| (fill(with), form, "t"));
        for (with, form, from) in forms.chain(common) {
            let sql = format!("{with} SELECT {} FROM {}", sink.replace('~', &fill(form)), fill(from));
            match gate.check(&sql) {
                Err(rejection) if rejection.code.as_str() == "opaque-column" => {}
                Err(rejection) => through.push(format!("{sql}: {}: {rejection}", rejection.code)),
                Ok(_) => through.push(format!("{sql}: approved")),
            }
        }
    }
    assert!(through.is_empty(), "{}", through.join("\n"));
}

#[test]
fn no_form_brings_an_opaque_value_to_a_cast_to_text() {
    crossed("home", "shop.customers", TEXT_SINKS);
    crossed("mood", "shop.visits", TEXT_SINKS);
}

#[test]
fn no_form_brings_an_opaque_value_to_a_cast_to_json() {
    crossed("mood", "shop.visits", JSON_SINKS);
}

#[test]
fn other_ways_to_such_a_value() {
    let gate = shop::gate(180_000);
    for sql in [
        "SELECT nullif('(a,b)'::shop.address, NULL)::text",
        "SELECT nullif('glad', mood)::json FROM visits",
        "SELECT to_json(moods), 1 FROM visits",
        "SELECT to_json(moods[1]) FROM visits",
        "SELECT to_json(m) FROM visits, unnest(moods) m",
        "SELECT row_to_json(v) FROM visits v",
        "SELECT to_jsonb((v).mood) FROM visits v",
        "SELECT json_agg(v) FROM (SELECT DISTINCT mood FROM visits) v",
        "SELECT to_json('glad'::shop.mood)",
        "SELECT JSON_QUERY('{}', '$' RETURNING shop.address)::text",
        "SELECT JSON_VALUE('\"glad\"', '$' RETURNING shop.mood)::json",
        "SELECT to_json(m) FROM JSON_TABLE('[]', '$[*]' COLUMNS (m shop.mood PATH '$')) t",
        "SELECT to_json(a) FROM json_to_record('{}') AS x(a shop.mood)",
        // A cast that happens unasked on the way to a common type
        "SELECT wish FROM visits UNION ALL SELECT name FROM customers",
        "SELECT name FROM customers UNION ALL SELECT wish FROM visits",
        "SELECT h FROM visits, LATERAL (VALUES (wish), ('x'::text)) v(h)",
        "SELECT wish = 'x' FROM visits",
    ] {
        match gate.check(sql) {
            Err(rejection) => assert_eq!(rejection.code.as_str(), "opaque-column", "{sql}: {rejection}"),
            Ok(_) => panic!("{sql}: approved"),
        }
    }
}

#[test]
fn what_an_allowed_function_returns_is_judged_by_its_type() {
    crossed("home_of(1)", "shop.visits", TEXT_SINKS);
    crossed("(shop.visits_of(1)).home", "shop.visits", TEXT_SINKS);
    crossed("f.home", "(SELECT * FROM shop.visits_of(1)) AS f", TEXT_SINKS);
    crossed("homes", "(SELECT homes()) AS f(homes)", TEXT_SINKS);
    crossed("(shop.moods_of(1))[1]", "shop.visits", JSON_SINKS);
    crossed("m", "unnest(shop.moods_of(1)) AS m", JSON_SINKS);
    crossed("untold(1)", "shop.visits", TEXT_SINKS);
    crossed("secrets_of(1)", "shop.visits", TEXT_SINKS);
}

#[test]
fn other_ways_to_such_a_value_of_a_function() {
    let gate = shop::gate(180_000);
    for (sql, code) in [
        ("SELECT same(home) FROM customers", "opaque-column"),
        ("SELECT f::text FROM homes() f", "opaque-column"),
        ("SELECT homes::text FROM homes()", "opaque-column"),
        ("SELECT f::text FROM visits_of(1) f", "opaque-column"),
        ("SELECT upper(secrets_of(1)::text)", "opaque-column"),
        ("SELECT (secrets_of(1)).id", "unknown-column"),
        ("SELECT f.secret FROM secrets_of(1) f", "unknown-column"),
        ("SELECT untold(1) = untold(2)", "opaque-column"),
        ("SELECT DISTINCT untold(1)", "opaque-column"),
        ("SELECT count(*) FROM visits GROUP BY untold(id)", "opaque-column"),
        ("SELECT * FROM anything()", "unsupported-syntax"),
        ("SELECT a::text FROM anything() AS f(a shop.address)", "opaque-column"),
        ("SELECT * FROM anything() AS f(a shop.email)", "forbidden-type"),
        ("SELECT home FROM ROWS FROM (visits_of(1), moods_of(2)) AS f, upper(f.home::text)", "opaque-column"),
    ] {
        match gate.check(sql) {
            Err(rejection) => assert_eq!(rejection.code.as_str(), code, "{sql}: {rejection}"),
            Ok(_) => panic!("{sql}: approved"),
        }
    }
    for sql in [
        "SELECT home_of(1), (home_of(1)).city, count(home_of(1)), home_of(1) IS NULL",
        "SELECT city FROM homes()",
        "SELECT h.city || 'x' FROM homes() AS h",
        "SELECT f.n + 1, home, (home).city FROM visits_of(1) f WHERE n > 1",
        "SELECT (visits_of(1)).n, (visits_of(1)).home",
        "SELECT n FROM shop.visits_of(1) AS f(n, h) WHERE h IS NOT NULL",
        "SELECT same(id) + 1, same(name) || 'x' FROM customers",
        "SELECT total + 1, total_of.total FROM total_of(1, 'x')",
        "SELECT t.total, t FROM total_of(1, 'x') AS t",
        "SELECT total_of(1, 'x') * 2, net_price(3) + 1",
        "SELECT a + 1 FROM anything() AS f(a int)",
        "SELECT untold(1), count(untold(1)), secrets_of(1)",
        "SELECT key || value FROM each('a=>1')",
    ] {
        if let Err(rejection) = gate.check(sql) {
            panic!("{sql}: {}: {rejection}", rejection.code);
        }
    }
}

#[test]
fn such_a_value_may_still_be_shown() {
    let gate = shop::gate(180_000);
    for sql in [
        "SELECT nullif(home, NULL), (nullif(home, NULL)).city FROM customers",
        "SELECT to_json(home), json_agg(nullif(home, NULL)), row_to_json(c) FROM customers c",
        "SELECT (h).city FROM (SELECT NULL AS h UNION ALL SELECT home FROM customers) q",
        "SELECT mood, moods[1], count(mood) FROM visits WHERE mood = 'glad' GROUP BY 1, 2",
        "SELECT nullif(mood, 'glad') FROM visits UNION SELECT mood FROM visits",
        "SELECT nullif(name, 'x') || 'y', nullif(id, 0) + 1 FROM customers",
        "SELECT to_json(nullif(status, 'new')), nullif(status, 'new')::text FROM orders",
        "SELECT h FROM visits, LATERAL (VALUES (mood), (NULL)) v(h)",
    ] {
        if let Err(rejection) = gate.check(sql) {
            panic!("{sql}: {}: {rejection}", rejection.code);
        }
    }
}
