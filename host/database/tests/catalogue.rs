//! What a catalogue lists, against a real server.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use airlock_database::catalogue::fingerprint;
use airlock_database::{DatabaseError, RunOptions, Scope, Source, SourceConfig};
use airlock_gate::{Gate, Policy};
use airlock_types::catalogue::{RelationKind, TypeFamily, TypeKind};
use airlock_types::{Catalogue, ColumnRef, TableRef};
use support::Postgres;

const SCHEMA: &str = r#"
CREATE ROLE owner; CREATE ROLE reader LOGIN;
CREATE SCHEMA sales; CREATE SCHEMA archive; CREATE SCHEMA hidden; CREATE SCHEMA airlock;
GRANT USAGE ON SCHEMA sales, archive, airlock TO reader;
CREATE TYPE sales.mood AS ENUM ('fine', 'awful'); CREATE DOMAIN sales.price AS numeric(12,2) CHECK (VALUE >= 0);
CREATE DOMAIN sales.net AS sales.price; CREATE TYPE sales.pair AS (a int, b sales.mood[]);
CREATE TABLE sales.customers(id int PRIMARY KEY, "Full Name" text NOT NULL UNIQUE, secret text, mood sales.mood, moods sales.mood[]);
COMMENT ON TABLE sales.customers IS 'who buys'; COMMENT ON COLUMN sales.customers."Full Name" IS 'as on the bill';
GRANT SELECT (id, "Full Name", mood, moods) ON sales.customers TO reader;
CREATE TABLE sales.orders(id bigint, customer int REFERENCES sales.customers, at timestamptz, total sales.net,
  twice numeric GENERATED ALWAYS AS (total * 2) STORED, gone int, tags text[], meta jsonb, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
ALTER TABLE sales.orders DROP COLUMN gone;
CREATE TABLE sales.orders_2026 PARTITION OF sales.orders FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE archive.orders(id bigint, note text);
CREATE VIEW sales."Big Orders" AS SELECT * FROM sales.orders WHERE total > 100;
CREATE MATERIALIZED VIEW sales.daily AS SELECT 1 AS day; CREATE UNIQUE INDEX ON sales.daily(day);
CREATE TABLE sales.guarded(id int); ALTER TABLE sales.guarded ENABLE ROW LEVEL SECURITY;
CREATE VIEW sales.over_guarded AS SELECT * FROM sales.guarded; CREATE VIEW sales.over_view AS SELECT * FROM sales.over_guarded;
CREATE TABLE hidden.t(id int); CREATE TABLE airlock.log(id int); CREATE TABLE sales.not_granted(id int);
GRANT SELECT ON sales.orders, sales.orders_2026, archive.orders, sales."Big Orders", sales.daily, sales.guarded, sales.over_guarded,
  sales.over_view, hidden.t, airlock.log TO reader;
CREATE FUNCTION sales.net_price(numeric, VARIADIC text[]) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE AGGREGATE sales.total(numeric) (SFUNC = numeric_add, STYPE = numeric);
CREATE FUNCTION sales.same(sales.pair, sales.pair) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR sales.=== (LEFTARG = sales.pair, RIGHTARG = sales.pair, FUNCTION = sales.same);
CREATE FUNCTION sales.to_int(sales.pair) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE CAST (sales.pair AS int) WITH FUNCTION sales.to_int(sales.pair);
INSERT INTO sales.orders(id, at) SELECT i, '2026-02-01' FROM generate_series(1, 50) i; ANALYZE;
"#;

async fn catalogue(server: &Postgres, scope: &Scope) -> Catalogue {
    let source = Source::connect(SourceConfig::new(server.url("reader"))).await.unwrap();
    source.catalogue(scope).await.unwrap()
}

fn listed(catalogue: &Catalogue) -> Vec<String> {
    catalogue.iter().map(|relation| relation.table.to_string()).collect()
}

#[tokio::test]
async fn a_catalogue_is_what_the_reader_may_select() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    let all = catalogue(&server, &Scope::schemas(["archive", "sales", "airlock", "nowhere"])).await;
    assert!(all.server_version >= 130_000);
    assert_eq!(all.search_path, ["archive", "sales"]);
    assert_eq!(
        listed(&all),
        [
            "sales.Big Orders",
            "sales.customers",
            "sales.daily",
            "sales.guarded",
            "archive.orders",
            "sales.orders",
            "sales.over_guarded",
            "sales.over_view"
        ]
    );
    assert_eq!(all.resolve("orders").unwrap().table, TableRef::new("archive", "orders"));

    let customers = all.resolve("customers").unwrap();
    assert_eq!(customers.comment.as_deref(), Some("who buys"));
    let names: Vec<_> = customers.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "Full Name", "mood", "moods"], "a column without a grant is not there");
    assert_eq!(customers.primary_key, ["id"]);
    assert_eq!(customers.unique_keys, [["Full Name"]]);
    assert_eq!(customers.column("Full Name").unwrap().comment.as_deref(), Some("as on the bill"));
    let mood = customers.column("mood").unwrap();
    assert_eq!((mood.sql_type.as_str(), mood.family), ("sales.mood", TypeFamily::Text));
    assert_eq!(mood.enum_labels, ["fine", "awful"]);
    let moods = customers.column("moods").unwrap();
    assert_eq!((moods.is_array, moods.family), (true, TypeFamily::Array));
    assert_eq!(moods.type_name, TableRef::new("sales", "mood"));

    let orders = all.relation(&TableRef::new("sales", "orders")).unwrap();
    assert_eq!(orders.kind, RelationKind::PartitionedTable);
    assert_eq!(orders.row_estimate, Some(50));
    assert_eq!(orders.primary_key, ["id", "at"]);
    assert_eq!(orders.foreign_keys.len(), 1);
    assert_eq!(orders.foreign_keys[0].references, TableRef::new("sales", "customers"));
    assert_eq!(orders.foreign_keys[0].columns, ["customer"]);
    for (name, sql_type, family, generated, nullable) in [
        ("id", "bigint", TypeFamily::Number, false, false),
        ("at", "timestamp with time zone", TypeFamily::Timestamp, false, false),
        ("total", "sales.net", TypeFamily::Number, false, true),
        ("twice", "numeric", TypeFamily::Number, true, true),
        ("tags", "text[]", TypeFamily::Array, false, true),
        ("meta", "jsonb", TypeFamily::Json, false, true),
    ] {
        let column = orders.column(name).unwrap();
        assert_eq!(
            (column.sql_type.as_str(), column.family, column.generated, column.nullable),
            (sql_type, family, generated, nullable),
            "{name}"
        );
    }
    assert!(orders.column("gone").is_none());
    assert_eq!(all.resolve("Big Orders").unwrap().kind, RelationKind::View);
    assert_eq!(all.resolve("daily").unwrap().unique_keys, [["day"]]);
    let guarded: Vec<_> =
        all.iter().filter(|relation| relation.row_security).map(|r| r.table.name.as_str()).collect();
    assert_eq!(guarded, ["guarded", "over_guarded", "over_view"], "a view over row security has it too");

    let functions: Vec<_> = all.functions.iter().map(|f| (f.signature(), f.kind, f.body.is_some())).collect();
    assert_eq!(
        functions,
        [
            ("sales.net_price(numeric, text[])".to_owned(), 'f', true),
            ("sales.same(sales.pair, sales.pair)".to_owned(), 'f', true),
            ("sales.to_int(sales.pair)".to_owned(), 'f', true),
            ("sales.total(numeric)".to_owned(), 'a', false),
        ]
    );
    assert_eq!(all.operators[0].left.as_deref(), Some("sales.pair"));
    assert_eq!(all.casts[0].function_schema.as_deref(), Some("sales"));
    let types: Vec<_> = all.types.iter().map(|t| (t.name.name.as_str(), t.kind, t.has_checks)).collect();
    assert_eq!(
        types,
        [
            ("mood", TypeKind::Enum, false),
            ("net", TypeKind::Domain, true),
            ("pair", TypeKind::Composite, false),
            ("price", TypeKind::Domain, true),
        ]
    );
    assert_eq!(all.types[1].base, Some(TableRef::new("sales", "price")));
    assert_eq!(
        all.types[2].attributes,
        [TableRef::new("pg_catalog", "int4"), TableRef::new("sales", "mood")]
    );
    assert_eq!(all.types[2].attribute_names, ["a", "b"]);
    assert_eq!(all.extensions, ["plpgsql"]);
}

#[tokio::test]
async fn a_scope_names_relations_or_takes_everything() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    let some = Scope {
        schemas: vec!["archive".into()],
        only: vec![
            TableRef::new("sales", "orders_2026"),
            TableRef::new("archive", "orders"),
            TableRef::new("airlock", "log"),
        ],
    };
    let some = catalogue(&server, &some).await;
    assert_eq!(listed(&some), ["archive.orders", "sales.orders_2026"], "a partition that is named is listed");
    assert_eq!(some.search_path, ["archive", "sales"]);

    let all = catalogue(&server, &Scope::default()).await;
    assert_eq!(all.search_path, ["public", "archive", "sales"]);
    assert_eq!(all.len(), 8);
    assert!(catalogue(&server, &Scope::schemas(["airlock"])).await.is_empty());
}

#[tokio::test]
async fn a_name_that_means_an_unlisted_relation_is_told() {
    let server = Postgres::start();
    server.psql(
        "CREATE ROLE reader LOGIN; CREATE SCHEMA shop; CREATE SCHEMA locked;
         GRANT USAGE ON SCHEMA shop TO reader;
         CREATE TABLE public.events(id int); CREATE TABLE shop.events(secret text);
         CREATE TABLE public.moods(id int); CREATE TYPE shop.moods AS (a int);
         CREATE TABLE public.counters(id int); CREATE SEQUENCE shop.counters;
         CREATE TABLE public.places(id int); CREATE INDEX places ON shop.events(secret);
         CREATE TABLE public.days(id int); CREATE TABLE locked.days(id int);
         CREATE TABLE shop.mine(id int); CREATE TABLE public.mine(id int);
         CREATE TABLE public.pg_class(id int); CREATE TABLE public.alone(id int);
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; GRANT SELECT ON shop.mine TO reader;
         REVOKE SELECT ON public.mine FROM reader",
    );
    let both = catalogue(&server, &Scope::schemas(["shop", "public"])).await;
    let shadows = |catalogue: &Catalogue| -> Vec<String> {
        catalogue.shadowing.iter().map(ToString::to_string).collect()
    };
    let all = ["shop.counters", "shop.events", "shop.moods", "pg_catalog.pg_class", "shop.places"];
    assert_eq!(shadows(&both), all);
    assert_eq!(both.database, "postgres");
    // What is told is what the server does with the name alone.
    for relation in both.iter() {
        let name = &relation.table.name;
        let means = server.psql(&format!(
            "SET ROLE reader; SET search_path = shop, locked, public, pg_temp;
             SELECT nspname || '.' || relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = relnamespace
              WHERE c.oid = '{name}'::pg_catalog.regclass"
        ));
        let listed = means.trim() == relation.table.to_string();
        assert_eq!(!listed, both.shadowing.iter().any(|other| other.name == *name), "{name} is {means}");
    }
    let gate = Gate::new(Arc::new(both), Policy::default());
    let source = Source::connect(SourceConfig::new(server.url("reader"))).await.unwrap();
    let options = RunOptions { search_path: gate.catalogue().search_path.clone(), ..RunOptions::default() };
    for sql in ["SELECT * FROM events", "SELECT * FROM moods", "SELECT * FROM other.public.events"] {
        assert!(gate.check(sql).is_err(), "{sql}");
    }
    for sql in
        ["SELECT id FROM public.events", "SELECT id FROM postgres.public.events", "SELECT id FROM alone"]
    {
        let approved = gate.check(sql).unwrap_or_else(|rejection| panic!("{sql}: {rejection}"));
        assert!(source.run(&approved, &options).await.is_ok(), "{sql}");
    }
    let other_way = catalogue(&server, &Scope::schemas(["public", "shop"])).await;
    assert_eq!(shadows(&other_way), ["public.mine", "pg_catalog.pg_class"]);
    let named = Scope {
        schemas: vec!["shop".into()],
        only: vec![TableRef::new("public", "alone"), TableRef::new("public", "events")],
    };
    assert_eq!(shadows(&catalogue(&server, &named).await), ["shop.events"]);
}

#[tokio::test]
async fn what_functions_return_and_domains_check_is_told() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    server.psql(
        "CREATE FUNCTION sales.is_code(text) RETURNS bool LANGUAGE sql AS 'SELECT true';
         CREATE DOMAIN sales.code AS text CHECK (sales.is_code(VALUE)) CHECK (length(VALUE) < 9);
         CREATE TABLE sales.held(who sales.customers, whom sales.customers[]); GRANT SELECT ON sales.held TO reader;
         CREATE FUNCTION sales.f1() RETURNS sales.mood[] LANGUAGE sql AS 'SELECT NULL::sales.mood[]';
         CREATE FUNCTION sales.f2() RETURNS SETOF sales.orders LANGUAGE sql AS 'SELECT * FROM sales.orders';
         CREATE FUNCTION sales.f3(a int, OUT b int, INOUT c sales.pair, OUT text[]) LANGUAGE sql AS 'SELECT 1, $2, NULL::text[]';
         CREATE FUNCTION sales.f4() RETURNS TABLE (x sales.net) LANGUAGE sql AS 'SELECT 1';
         CREATE FUNCTION sales.f5(anyelement) RETURNS anyarray LANGUAGE sql AS 'SELECT ARRAY[$1]'",
    );
    let all = catalogue(&server, &Scope::schemas(["sales"])).await;
    let returns: Vec<String> = all
        .functions
        .iter()
        .filter(|function| function.name.starts_with('f'))
        .map(|function| {
            let returns = function.returns.as_ref().unwrap();
            let array = |is_array| if is_array { "[]" } else { "" };
            let columns = returns
                .columns
                .iter()
                .map(|column| format!(" {}:{}{}", column.name, column.type_name, array(column.is_array)));
            format!("{}{}{}", returns.type_name, array(returns.is_array), columns.collect::<String>())
        })
        .collect();
    assert_eq!(
        returns,
        [
            "sales.mood[]",
            "sales.orders",
            "pg_catalog.record b:pg_catalog.int4 c:sales.pair :pg_catalog.text[]",
            "sales.net x:sales.net",
            "pg_catalog.anyarray",
        ]
    );
    let checks = |name: &str| all.types.iter().find(|of| of.name.name == name).unwrap().checks.clone();
    assert_eq!(checks("code"), ["sales.is_code(VALUE)", "(length(VALUE) < 9)"]);
    assert_eq!(checks("price"), ["(VALUE >= (0)::numeric)"]);
    assert_eq!(checks("net"), ["(VALUE >= (0)::numeric)"], "the check of the domain under it");
    assert!(checks("mood").is_empty());
    let held = all.resolve("held").unwrap();
    for (name, is_array) in [("who", false), ("whom", true)] {
        let column = held.column(name).unwrap();
        assert_eq!(
            (&column.type_name, column.is_array),
            (&TableRef::new("sales", "customers"), is_array),
            "a row type goes by its relation's name"
        );
    }
    assert!(all.types.iter().all(|of| of.name.name != "customers"), "row types are no types of their own");
    let gate = Gate::new(Arc::new(all), Policy::default());
    for (sql, approved) in [
        ("SELECT 1::sales.net, '2'::price", true),
        ("SELECT 'x'::sales.code", false),
        ("SELECT (who).id, (whom[1]).id FROM held", true),
        ("SELECT (who).secret FROM held", false),
    ] {
        assert_eq!(gate.check(sql).is_ok(), approved, "{sql}");
    }
}

#[tokio::test]
async fn a_mark_and_a_fingerprint_change_with_the_schema_and_not_with_rows() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    let source = Source::connect(SourceConfig::new(server.url("reader"))).await.unwrap();
    let scope = Scope::schemas(["sales"]);
    let mut mark = source.catalogue_mark().await.unwrap();
    let mut print = fingerprint(&source.catalogue(&scope).await.unwrap());
    server.psql(
        "INSERT INTO sales.orders(id, at) SELECT i, '2026-03-01' FROM generate_series(1, 5000) i; ANALYZE",
    );
    assert_eq!(source.catalogue_mark().await.unwrap(), mark);
    assert_eq!(fingerprint(&source.catalogue(&scope).await.unwrap()), print);
    for change in [
        "ALTER TABLE sales.orders ADD COLUMN new int",
        "COMMENT ON TABLE sales.orders IS 'x'",
        "GRANT SELECT ON sales.not_granted TO reader",
        "ALTER TYPE sales.mood ADD VALUE 'new'",
        "CREATE FUNCTION sales.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE OR REPLACE FUNCTION sales.f() RETURNS int LANGUAGE sql AS 'SELECT 2'",
        "DROP VIEW sales.over_view",
    ] {
        server.psql(change);
        let (next_mark, next_print) =
            (source.catalogue_mark().await.unwrap(), fingerprint(&source.catalogue(&scope).await.unwrap()));
        assert_ne!(next_mark, mark, "{change}");
        assert_ne!(next_print, print, "{change}");
        (mark, print) = (next_mark, next_print);
    }
}

#[tokio::test]
async fn a_hundred_thousand_columns_are_read() {
    let server = Postgres::with_settings(&["max_locks_per_transaction=4000"]);
    server.psql(
        "CREATE ROLE reader LOGIN;
         DO $$BEGIN FOR i IN 1..1000 LOOP EXECUTE format('CREATE TABLE t%s (%s)', i,
           (SELECT string_agg(format('c%s text', n), ', ') FROM generate_series(1, 100) n)); END LOOP; END$$;
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    let catalogue = catalogue(&server, &Scope::schemas(["public"])).await;
    assert_eq!(catalogue.len(), 1_000);
    assert_eq!(catalogue.iter().map(|relation| relation.columns.len()).sum::<usize>(), 100_000);
}

#[tokio::test]
async fn operators_of_vetted_extensions_mean_what_they_mean_to_others() {
    let server = Postgres::start();
    server.psql(
        "CREATE ROLE reader LOGIN; CREATE SCHEMA sales; CREATE SCHEMA tools; CREATE SCHEMA risky; CREATE SCHEMA locked;
         GRANT USAGE ON SCHEMA sales, tools, risky TO reader;
         CREATE EXTENSION citext; CREATE EXTENSION pg_trgm SCHEMA tools; CREATE EXTENSION dblink SCHEMA risky;
         CREATE EXTENSION btree_gist; CREATE EXTENSION ltree SCHEMA locked;
         CREATE TABLE sales.people(name text, email public.citext); INSERT INTO sales.people VALUES ('Ann', 'Ann@x.io');
         GRANT SELECT ON sales.people TO reader; CREATE TABLE public.unlisted(id int); GRANT SELECT ON public.unlisted TO reader;
         CREATE FUNCTION public.upper(public.citext) RETURNS text LANGUAGE sql AS 'SELECT 1::text';",
    );
    let source = Source::connect(SourceConfig::new(server.url("reader"))).await.unwrap();
    let catalogue = source.catalogue(&Scope::schemas(["sales"])).await.unwrap();
    assert_eq!(catalogue.search_path, ["sales", "public", "tools"]);
    assert_eq!(listed(&catalogue), ["sales.people"]);
    let options = RunOptions { search_path: catalogue.search_path.clone(), ..RunOptions::default() };
    let gate = Gate::new(Arc::new(catalogue), Policy::default());
    for sql in [
        "SELECT name FROM people WHERE email = 'ANN@X.IO'",
        "SELECT name FROM people WHERE name % 'Ann' AND similarity(name, 'Ann') = 1 ORDER BY name <-> 'Ann'",
    ] {
        let approved = gate.check(sql).unwrap_or_else(|rejection| panic!("{sql}: {rejection}"));
        let result =
            source.run(&approved, &options).await.unwrap_or_else(|failure| panic!("{sql}: {failure:?}"));
        assert_eq!(result.rows, [["Ann"]], "{sql}");
    }
    for sql in ["SELECT * FROM unlisted", "SELECT * FROM public.unlisted", "SELECT upper(email) FROM people"]
    {
        assert!(gate.check(sql).is_err(), "{sql}");
    }
}

/// Views under other names, over what is not listed, and tables that have each other's rows.
const SHOWN: &str = r#"
CREATE ROLE reader LOGIN; CREATE SCHEMA sales; CREATE SCHEMA back; GRANT USAGE ON SCHEMA sales, back TO reader;
CREATE TABLE sales.customer(customer_id int PRIMARY KEY, full_name text, city text, email text);
CREATE TABLE back.people(pid int, phone text);
CREATE VIEW sales.v_buyers AS SELECT customer_id, full_name AS label, city AS town FROM sales.customer WHERE email IS NOT NULL;
CREATE MATERIALIZED VIEW sales.m_buyers AS SELECT b.label AS who, lower(p.phone) || b.town AS how FROM sales.v_buyers b JOIN back.people p ON p.pid = b.customer_id;
CREATE VIEW sales.v_doc AS SELECT to_jsonb(c) AS doc, (SELECT max(city) FROM sales.customer) AS some FROM sales.customer c;
CREATE TABLE sales.parent(lbl text); CREATE TABLE sales.child() INHERITS (sales.parent);
CREATE TABLE sales.pt(id int, lbl text) PARTITION BY RANGE (id);
CREATE TABLE sales.pt_1 PARTITION OF sales.pt FOR VALUES FROM (1) TO (10);
CREATE VIEW sales.over_pt AS SELECT lbl FROM sales.pt;
GRANT SELECT ON ALL TABLES IN SCHEMA sales TO reader; REVOKE SELECT ON sales.customer FROM reader;
GRANT SELECT (customer_id, city) ON sales.customer TO reader;
"#;

#[tokio::test]
async fn a_catalogue_says_what_a_column_shows() {
    let server = Postgres::start();
    server.psql(SHOWN);
    let scope = Scope::schemas(["sales"]);
    let sales = catalogue(&server, &scope).await;
    let of = |column: &str| {
        let shown = sales.shows.iter().find(|shown| shown.column.to_string() == column);
        shown.map(|shown| shown.of.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap_or_default()
    };
    let everything =
        ["customer_id", "full_name", "city", "email"].map(|name| format!("sales.customer.{name}"));
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    for (column, want) in [
        ("sales.v_buyers.label", vec!["sales.customer.full_name"]),
        ("sales.v_buyers.town", vec!["sales.customer.city"]),
        ("sales.m_buyers.who", vec!["sales.v_buyers.label"]),
        ("sales.m_buyers.how", vec!["back.people.phone", "sales.v_buyers.town"]),
        ("sales.over_pt.lbl", vec!["sales.pt.lbl"]),
        ("sales.parent.lbl", vec!["sales.child.lbl"]),
        ("sales.child.lbl", vec!["sales.parent.lbl"]),
        ("sales.customer.city", vec![]),
    ] {
        assert_eq!(of(column), want, "{column}");
    }
    for column in ["sales.v_doc.doc", "sales.v_doc.some"] {
        assert_eq!(sorted(of(column)), sorted(everything.to_vec()), "{column}");
    }
    let behind: Vec<String> = sales
        .behind
        .iter()
        .flat_map(|relation| {
            relation.columns.iter().map(|column| relation.column_ref(&column.name).to_string())
        })
        .collect();
    assert_eq!(
        sorted(behind),
        ["back.people.phone", "back.people.pid", "sales.customer.email", "sales.customer.full_name"]
    );

    // What is in a view changes what is known of it, and is noticed.
    let source = Source::connect(SourceConfig::new(server.url("reader"))).await.unwrap();
    let mark = source.catalogue_mark().await.unwrap();
    server.psql("CREATE OR REPLACE VIEW sales.v_buyers AS SELECT customer_id, city AS label, full_name AS town FROM sales.customer");
    assert_ne!(source.catalogue_mark().await.unwrap(), mark);
    let changed = catalogue(&server, &scope).await;
    assert_ne!(fingerprint(&changed), fingerprint(&sales));

    // Of a parent's policies alone PostgreSQL asks where the parent is read; what it shows has row security all the same.
    server.psql(
        "ALTER TABLE sales.pt_1 ENABLE ROW LEVEL SECURITY; ALTER TABLE sales.child ENABLE ROW LEVEL SECURITY",
    );
    let sales = catalogue(&server, &scope).await;
    let hides: Vec<&str> = sales
        .iter()
        .filter(|relation| relation.row_security)
        .map(|relation| relation.table.name.as_str())
        .collect();
    assert_eq!(hides, ["child", "over_pt", "parent", "pt"]);
    for table in ["pt", "parent", "over_pt"] {
        let column = ColumnRef { table: TableRef::new("sales", table), column: "lbl".to_owned() };
        let values = source.distinct_values(&column, 10).await;
        assert!(matches!(values, Err(DatabaseError::RowSecurity(_))), "{table}: {values:?}");
    }
}
