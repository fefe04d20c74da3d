//! The named checks, each seen to pass and to fail.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use airlock_database::{Check, CheckOutcome, Scope, Source, SourceConfig};
use support::Postgres;

const SCHEMA: &str = "
CREATE ROLE owner; CREATE ROLE writer NOLOGIN; CREATE ROLE reader LOGIN; CREATE ROLE careless LOGIN NOINHERIT; GRANT writer TO careless;
CREATE ROLE owning LOGIN; GRANT owner TO owning;
CREATE SCHEMA shop AUTHORIZATION owner; GRANT USAGE ON SCHEMA shop TO PUBLIC; SET ROLE owner;
CREATE TABLE shop.bills(id int, twice int GENERATED ALWAYS AS (id * 2) STORED); CREATE VIEW shop.all_bills AS SELECT * FROM shop.bills;
CREATE VIEW shop.counted AS SELECT count(*) FROM shop.bills; CREATE TABLE shop.guarded(id int);
ALTER TABLE shop.guarded ENABLE ROW LEVEL SECURITY; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader, careless, owning;
GRANT UPDATE ON shop.bills TO writer; RESET ROLE;";

async fn checks(server: &Postgres, role: &str) -> Vec<Check> {
    let source = Source::connect(SourceConfig::new(server.url(role))).await.unwrap();
    let catalogue = source.catalogue(&Scope::schemas(["shop"])).await.unwrap();
    source.checks(&catalogue).await
}

fn named<'a>(checks: &'a [Check], name: &str) -> &'a Check {
    checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("{name}"))
}

#[tokio::test]
async fn a_reader_passes_and_more_than_a_reader_fails() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    let reader = checks(&server, "reader").await;
    for check in &reader {
        assert_eq!(check.outcome, CheckOutcome::Passed, "{check:?}");
    }
    assert!(named(&reader, "reader-cannot-write").found.contains("42501"));

    for (role, name, found) in [
        ("postgres", "reader-is-small", "is a superuser"),
        ("postgres", "reader-cannot-write", "delete from shop.bills"),
        ("postgres", "reader-cannot-create", "shop"),
        ("postgres", "row-security-applies", "shop.guarded"),
        ("careless", "reader-is-small", "can become writer, which may write shop.bills"),
        ("owning", "reader-is-small", "owns, or can become the owner of, shop.bills"),
        ("owning", "reader-cannot-write", "delete from shop.bills"),
        ("owning", "reader-cannot-create", "shop"),
    ] {
        let checks = checks(&server, role).await;
        let check = named(&checks, name);
        assert_eq!(check.outcome, CheckOutcome::Failed, "{role} {check:?}");
        assert!(check.found.contains(found), "{role} {check:?}");
        assert!(check.remedy.is_some());
    }
    assert_eq!(server.psql("SELECT count(*) FROM pg_class WHERE relname = 'airlock_check'"), "0");
}
