//! Values of columns, and whose are never shown.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use airlock_database::{DatabaseError, Source, SourceConfig};
use airlock_types::{ColumnRef, TableRef};
use support::Postgres;

fn column(schema: &str, table: &str, column: &str) -> ColumnRef {
    ColumnRef { table: TableRef::new(schema, table), column: column.into() }
}

#[tokio::test]
async fn values_are_distinct_bounded_and_never_those_of_guarded_relations() {
    let server = Postgres::start();
    server.psql(
        r#"CREATE ROLE reader LOGIN; CREATE SCHEMA "Odd ""Schema"; GRANT USAGE ON SCHEMA "Odd ""Schema" TO reader;
        CREATE TABLE "Odd ""Schema"."Bills; --"("Sta""tus" text, secret text, at date);
        INSERT INTO "Odd ""Schema"."Bills; --" VALUES ('PAID', 's', '2026-01-02'), ('OPEN', 's', NULL), ('PAID', 's', NULL), (NULL, 's', NULL),
          (repeat('x', 201), 's', NULL), (repeat('y', 50), 's', NULL);
        GRANT SELECT ("Sta""tus", at) ON "Odd ""Schema"."Bills; --" TO reader;
        CREATE TABLE guarded(v text); INSERT INTO guarded VALUES ('x'); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
        CREATE POLICY all_rows ON guarded USING (true); CREATE VIEW seen AS SELECT * FROM guarded; CREATE VIEW twice AS SELECT * FROM seen;
        GRANT SELECT ON guarded, seen, twice TO reader; CREATE SCHEMA airlock; CREATE TABLE airlock.log(v text); "#,
    );
    let source = Source::connect(SourceConfig::new(server.url("reader"))).await.unwrap();
    let status = column("Odd \"Schema", "Bills; --", "Sta\"tus");
    let long = "y".repeat(50);
    assert_eq!(source.distinct_values(&status, 10).await.unwrap(), ["OPEN", "PAID", long.as_str()]);
    assert_eq!(source.distinct_values(&status, 1).await.unwrap(), ["OPEN"]);
    assert_eq!(
        source.samples(&status, 10).await.unwrap(),
        ["OPEN", "PAID", &"x".repeat(40), &"y".repeat(40)]
    );
    let at = column("Odd \"Schema", "Bills; --", "at");
    assert_eq!(source.samples(&at, 10).await.unwrap(), ["2026-01-02"]);

    for view in ["guarded", "seen", "twice"] {
        let values = source.distinct_values(&column("public", view, "v"), 10).await;
        assert!(matches!(values, Err(DatabaseError::RowSecurity(_))), "{view}: {values:?}");
        assert!(matches!(
            source.samples(&column("public", view, "v"), 10).await,
            Err(DatabaseError::RowSecurity(_))
        ));
    }
    for (schema, table) in [("public", "nowhere"), ("pg_catalog", "pg_authid"), ("airlock", "log")] {
        let values = source.distinct_values(&column(schema, table, "v"), 10).await;
        assert!(matches!(values, Err(DatabaseError::UnknownRelation(_))), "{table}: {values:?}");
    }
    let secret =
        source.distinct_values(&column("Odd \"Schema", "Bills; --", "secret"), 10).await.unwrap_err();
    assert_eq!(secret.sqlstate(), Some("42501"));
}
