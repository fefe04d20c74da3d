//! The named checks: a role that only reads passes them all, and each defect is named by its own check.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use airlock_database::checks::harmful_functions;
use airlock_database::{Check, CheckOutcome, Scope, Source, SourceConfig};
use support::Postgres;

const SCHEMA: &str = "
CREATE ROLE owner; CREATE ROLE writer NOLOGIN; CREATE ROLE reader LOGIN; CREATE ROLE careless LOGIN NOINHERIT; GRANT writer TO careless;
CREATE ROLE owning LOGIN; GRANT owner TO owning; REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA shop AUTHORIZATION owner; GRANT USAGE ON SCHEMA shop TO PUBLIC; SET ROLE owner;
CREATE TABLE shop.bills(id int, twice int GENERATED ALWAYS AS (id * 2) STORED); CREATE VIEW shop.all_bills AS SELECT * FROM shop.bills;
CREATE VIEW shop.counted AS SELECT count(*) FROM shop.bills; CREATE TABLE shop.guarded(id int); CREATE SEQUENCE shop.numbers;
CREATE FUNCTION shop.net() RETURNS int LANGUAGE sql AS 'SELECT 1';
ALTER TABLE shop.guarded ENABLE ROW LEVEL SECURITY; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader, careless, owning;
GRANT UPDATE ON shop.bills TO writer; RESET ROLE; SELECT lo_create(4711);
CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;";

async fn checks(server: &Postgres, role: &str) -> Vec<Check> {
    checks_with(server, role, &[]).await
}

async fn checks_with(server: &Postgres, role: &str, of_keys: &[&str]) -> Vec<Check> {
    let of_keys: Vec<String> = of_keys.iter().map(|role| (*role).to_owned()).collect();
    let source = Source::connect(SourceConfig::new(server.url(role))).await.unwrap();
    let catalogue = source.catalogue(&Scope::schemas(["shop"])).await.unwrap();
    source.checks(&catalogue, &of_keys).await
}

fn named<'a>(checks: &'a [Check], name: &str) -> &'a Check {
    checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("{name}"))
}

/// Takes from PUBLIC what setup's hardening takes.
fn harden(server: &Postgres) {
    server.psql(&format!(
        "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC;
         DO $$ DECLARE f regprocedure; BEGIN FOR f IN {} LOOP
           EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM PUBLIC'; END LOOP; END $$",
        harmful_functions()
    ));
}

#[tokio::test]
async fn a_reader_passes_and_more_than_a_reader_fails() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    let reader = checks(&server, "reader").await;
    for check in &reader {
        let wanted = match check.name {
            // What every database gives to everybody is told, with the remedy, and is no failure.
            "reader-makes-no-temporary-table" | "reader-calls-no-harmful-function" => CheckOutcome::Advised,
            _ if check.found.contains("since version") => CheckOutcome::Skipped,
            _ => CheckOutcome::Passed,
        };
        assert_eq!(check.outcome, wanted, "{check:?}");
    }
    assert!(named(&reader, "reader-cannot-write").found.contains("42501"));

    for (role, name, found) in [
        ("postgres", "reader-is-no-superuser", "is a superuser"),
        ("postgres", "reader-cannot-write", "delete from shop.bills"),
        ("postgres", "reader-cannot-create", "shop"),
        ("postgres", "reader-is-refused", "read a file of the server"),
        ("postgres", "row-security-applies", "shop.guarded"),
        ("careless", "reader-has-no-write-grant", "writer, which it can become, may UPDATE shop.bills"),
        ("careless", "reader-becomes-no-other-role", "it may SET ROLE writer"),
        ("owning", "reader-owns-nothing", "owner, which it can become, owns table shop.bills"),
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

#[tokio::test]
async fn the_roles_of_keys_are_taken_up_and_not_inherited() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    server.psql("CREATE ROLE tenant_a NOLOGIN; CREATE ROLE \"Tenant B\" NOLOGIN; GRANT tenant_a, \"Tenant B\" TO reader");
    let of_keys = ["tenant_a", "Tenant B"];
    let (apart, becomes) = ("roles-of-keys-are-not-inherited", "reader-becomes-no-other-role");
    let found = checks_with(&server, "reader", &of_keys).await;
    let check = named(&found, apart);
    assert_eq!(check.outcome, CheckOutcome::Failed, "{check:?}");
    assert!(check.found.contains("tenant_a") && check.found.contains("\"Tenant B\""), "{check:?}");
    assert!(check.remedy.as_deref().unwrap().contains("INHERIT"), "{check:?}");
    // Beside one that is not granted: what is told first is what the remedy mends.
    let mixed = checks_with(&server, "reader", &["tenant_a", "Tenant B", "owner"]).await;
    let mixed = named(&mixed, apart);
    assert!(mixed.found.contains("tenant_a") && !mixed.found.contains("owner"), "{mixed:?}");
    assert!(!mixed.remedy.as_deref().unwrap().contains("owner"), "{mixed:?}");

    // Done as the remedy says, for every version.
    let noinherit = "DO $$ BEGIN IF current_setting('server_version_num')::int >= 160000
        THEN GRANT tenant_a, \"Tenant B\" TO reader WITH INHERIT FALSE; ELSE ALTER ROLE reader NOINHERIT; END IF; END $$";
    let plain = "ALTER ROLE reader NOINHERIT";
    let version: u32 = server.psql("SHOW server_version_num").trim().parse().unwrap();
    server.psql(if version >= 160_000 { noinherit } else { plain });
    let found = checks_with(&server, "reader", &of_keys).await;
    for name in [apart, becomes] {
        assert_eq!(named(&found, name).outcome, CheckOutcome::Passed, "{:?}", named(&found, name));
    }
    // A role that no key gives is none of them, and one that nobody granted helps no key.
    server.psql("GRANT writer TO reader");
    let found = checks_with(&server, "reader", &["tenant_a", "Tenant B", "owner"]).await;
    for (name, what) in [(apart, "owner"), (becomes, "writer")] {
        let check = named(&found, name);
        assert_eq!(check.outcome, CheckOutcome::Failed, "{check:?}");
        assert!(check.found.contains(what), "{check:?}");
    }
    let remedy = named(&found, apart).remedy.as_deref().unwrap().to_owned();
    assert!(remedy.contains("owner") && !remedy.contains("tenant"), "{remedy}");
    // A membership by which the role cannot be taken up is none.
    if version >= 160_000 {
        server.psql("GRANT tenant_a TO reader WITH SET FALSE");
        let found = checks_with(&server, "reader", &["tenant_a"]).await;
        let check = named(&found, apart);
        assert_eq!(check.outcome, CheckOutcome::Failed, "{check:?}");
        assert!(check.remedy.as_deref().unwrap().contains("SET TRUE"), "{check:?}");
        // What it inherits it has, whether it can be taken up or not.
        server.psql("GRANT tenant_a TO reader WITH INHERIT TRUE, SET FALSE");
        let found = checks_with(&server, "reader", &["tenant_a"]).await;
        let check = named(&found, apart);
        assert_eq!(check.outcome, CheckOutcome::Failed, "{check:?}");
        assert!(check.found.contains("without taking the role up"), "{check:?}");
    }
    let found = checks_with(&server, "reader", &["nobody_made"]).await;
    assert_eq!(named(&found, apart).outcome, CheckOutcome::Advised);
    let found = checks_with(&server, "reader", &[]).await;
    assert!(!found.iter().any(|check| check.name == apart));
}

/// The check that must name a defect, how it is made, and how the remedy begins.
const DEFECTS: &[(&str, &str, &str)] = &[
    ("reader-is-held-to-policies", "ALTER ROLE reader BYPASSRLS", "ALTER ROLE reader NOBYPASSRLS"),
    ("reader-makes-no-roles", "ALTER ROLE reader CREATEROLE", "ALTER ROLE reader NOCREATEROLE"),
    ("reader-makes-no-databases", "ALTER ROLE reader CREATEDB", "ALTER ROLE reader NOCREATEDB"),
    ("reader-does-not-replicate", "ALTER ROLE reader REPLICATION", "ALTER ROLE reader NOREPLICATION"),
    (
        "reader-has-no-predefined-role",
        "GRANT pg_read_all_data TO reader",
        "REVOKE pg_read_all_data FROM reader",
    ),
    (
        "reader-has-no-predefined-role",
        "GRANT pg_write_all_data TO reader",
        "REVOKE pg_write_all_data FROM reader",
    ),
    ("reader-has-no-predefined-role", "GRANT pg_monitor TO reader", "REVOKE pg_monitor FROM reader"),
    ("reader-has-no-predefined-role", "GRANT pg_read_all_settings TO reader", "REVOKE pg_read_all_settings"),
    ("reader-has-no-predefined-role", "GRANT pg_read_all_stats TO reader", "REVOKE pg_read_all_stats"),
    ("reader-has-no-predefined-role", "GRANT pg_signal_backend TO reader", "REVOKE pg_signal_backend"),
    ("reader-has-no-predefined-role", "GRANT pg_read_server_files TO reader", "REVOKE pg_read_server_files"),
    (
        "reader-has-no-predefined-role",
        "GRANT pg_execute_server_program TO reader",
        "REVOKE pg_execute_server",
    ),
    ("reader-becomes-no-other-role", "GRANT writer TO reader", "REVOKE writer FROM reader"),
    ("reader-owns-nothing", "ALTER FUNCTION shop.net() OWNER TO reader", "give it to another role"),
    ("reader-owns-nothing", "ALTER SCHEMA shop OWNER TO reader", "give it to another role"),
    ("reader-owns-nothing", "ALTER DATABASE postgres OWNER TO reader", "give it to another role"),
    (
        "reader-has-no-write-grant",
        "GRANT DELETE ON shop.bills TO reader",
        "REVOKE DELETE ON shop.bills FROM reader",
    ),
    (
        "reader-has-no-write-grant",
        "GRANT INSERT (id) ON shop.bills TO reader",
        "REVOKE INSERT (id) ON shop.bills FROM reader",
    ),
    (
        "reader-has-no-write-grant",
        "GRANT UPDATE (id) ON shop.bills TO PUBLIC",
        "REVOKE UPDATE (id) ON shop.bills FROM PUBLIC",
    ),
    (
        "reader-has-no-truncate-grant",
        "GRANT TRUNCATE ON shop.bills TO reader",
        "REVOKE TRUNCATE ON shop.bills FROM reader",
    ),
    (
        "reader-has-no-trigger-grant",
        "GRANT TRIGGER ON shop.bills TO reader",
        "REVOKE TRIGGER ON shop.bills FROM reader",
    ),
    (
        "reader-has-no-trigger-grant",
        "GRANT REFERENCES (id) ON shop.bills TO reader",
        "REVOKE REFERENCES (id)",
    ),
    (
        "reader-moves-no-sequence",
        "GRANT USAGE ON SEQUENCE shop.numbers TO reader",
        "REVOKE USAGE ON SEQUENCE shop.numbers FROM reader",
    ),
    (
        "reader-moves-no-sequence",
        "GRANT UPDATE ON SEQUENCE shop.numbers TO reader",
        "REVOKE UPDATE ON SEQUENCE shop.numbers FROM reader",
    ),
    (
        "reader-creates-in-no-schema",
        "GRANT CREATE ON SCHEMA shop TO reader",
        "REVOKE CREATE ON SCHEMA shop FROM reader",
    ),
    (
        "reader-creates-in-no-schema",
        "GRANT CREATE ON SCHEMA public TO PUBLIC",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    ),
    (
        "reader-creates-no-schema",
        "GRANT CREATE ON DATABASE postgres TO reader",
        "REVOKE CREATE ON DATABASE postgres FROM reader",
    ),
    (
        "reader-makes-no-temporary-table",
        "GRANT TEMP ON DATABASE postgres TO reader",
        "REVOKE TEMPORARY ON DATABASE postgres FROM reader",
    ),
    (
        "reader-calls-no-kept-function",
        "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO reader",
        "REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM reader",
    ),
    (
        "reader-calls-no-kept-function",
        "GRANT EXECUTE ON FUNCTION pg_read_binary_file(text) TO PUBLIC",
        "REVOKE EXECUTE ON FUNCTION pg_read_binary_file(text) FROM PUBLIC",
    ),
    (
        "reader-calls-no-kept-function",
        "GRANT EXECUTE ON FUNCTION pg_ls_dir(text) TO reader",
        "REVOKE EXECUTE ON FUNCTION pg_ls_dir(text) FROM reader",
    ),
    (
        "reader-calls-no-kept-function",
        "GRANT EXECUTE ON FUNCTION lo_import(text) TO reader",
        "REVOKE EXECUTE ON FUNCTION lo_import(text) FROM reader",
    ),
    (
        "reader-calls-no-kept-function",
        "GRANT EXECUTE ON FUNCTION lo_export(oid, text) TO reader",
        "REVOKE EXECUTE ON FUNCTION lo_export(oid,text) FROM reader",
    ),
    (
        "reader-calls-no-harmful-function",
        "GRANT EXECUTE ON FUNCTION pg_notify(text, text) TO reader",
        "REVOKE EXECUTE ON FUNCTION pg_notify(text,text) FROM reader",
    ),
    (
        "reader-reaches-no-other-server",
        "GRANT USAGE ON FOREIGN SERVER elsewhere TO reader",
        "REVOKE USAGE ON FOREIGN SERVER elsewhere FROM reader",
    ),
    (
        "reader-reaches-no-other-server",
        "GRANT USAGE ON FOREIGN DATA WRAPPER nothing TO reader",
        "REVOKE USAGE ON FOREIGN DATA WRAPPER nothing FROM reader",
    ),
    (
        "reader-writes-no-large-object",
        "GRANT UPDATE ON LARGE OBJECT 4711 TO reader",
        "REVOKE UPDATE ON LARGE OBJECT 4711 FROM reader",
    ),
    (
        "reader-writes-no-large-object",
        "ALTER DATABASE postgres SET lo_compat_privileges = on",
        "ALTER SYSTEM SET lo_compat_privileges = off",
    ),
    (
        "reader-sets-no-server-parameter",
        "GRANT ALTER SYSTEM ON PARAMETER work_mem TO reader",
        "REVOKE ALTER SYSTEM ON PARAMETER work_mem FROM reader",
    ),
    (
        "reader-sets-no-server-parameter",
        "GRANT SET ON PARAMETER temp_file_limit TO reader",
        "REVOKE SET ON PARAMETER temp_file_limit FROM reader",
    ),
    (
        "reader-hands-nothing-on",
        "GRANT SELECT ON shop.bills TO reader WITH GRANT OPTION",
        "REVOKE GRANT OPTION FOR SELECT ON TABLE shop.bills FROM reader CASCADE",
    ),
];

#[tokio::test]
async fn each_defect_is_named_by_its_check_with_the_statement_that_mends_it() {
    let server = Postgres::start();
    server.psql(SCHEMA);
    harden(&server);
    let version: u32 =
        server.psql("SELECT current_setting('server_version_num')::int / 10000").parse().unwrap();
    let clean = checks(&server, "reader").await;
    for check in &clean {
        let wanted = match check.found.contains("since version") {
            true => CheckOutcome::Skipped,
            false => CheckOutcome::Passed,
        };
        assert_eq!(check.outcome, wanted, "{check:?}");
    }
    // No defect of the reader, and yet asks would be refused.
    server.psql("ALTER ROLE reader CONNECTION LIMIT 3");
    // Those of the last look count until the server has let them go.
    server.alone().await;
    let limited = checks(&server, "reader").await;
    let check = named(&limited, "reader-has-connections");
    assert_eq!(check.outcome, CheckOutcome::Advised, "{check:?}");
    server.psql(check.remedy.as_deref().unwrap());
    let found = checks(&server, "reader").await;
    assert_eq!(named(&found, "reader-has-connections").outcome, CheckOutcome::Passed);
    for (name, defect, remedy) in DEFECTS {
        if defect.contains("ON PARAMETER") && version < 15 {
            continue;
        }
        // Whatever a defect touches is made anew for the next.
        server.psql("DROP DATABASE IF EXISTS spare");
        server.psql(defect);
        let found = checks(&server, "reader").await;
        let check = named(&found, name);
        assert_eq!(check.outcome, CheckOutcome::Failed, "{defect}: {check:?}");
        let told = check.remedy.clone().unwrap();
        assert!(told.contains(remedy), "{defect}: {told}");
        // The remedy mends it, where it is a statement.
        match *remedy {
            "give it to another role" => {
                server.psql("REASSIGN OWNED BY reader TO CURRENT_USER; ALTER SCHEMA shop OWNER TO owner")
            }
            "ALTER SYSTEM SET lo_compat_privileges = off" => {
                server.psql("ALTER DATABASE postgres RESET lo_compat_privileges")
            }
            _ => server.psql(told.split(';').next().unwrap()),
        };
        let mended = checks(&server, "reader").await;
        assert_eq!(named(&mended, name).outcome, CheckOutcome::Passed, "{defect}, mended by {told}");
    }
}
