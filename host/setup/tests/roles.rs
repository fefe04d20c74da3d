//! Roles and credentials against a real server: what is granted works, what is not is refused, and each is tried.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_setup::fitness::unfit;
use airlock_setup::roles::{Plan, Reach, Role, Statement, Verdict, plan, prove};
use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, Secret, SetupError};
use airlock_types::TableRef;
use tokio_postgres::{Client, NoTls};

const SCHEMA: &str = "
    CREATE ROLE anna LOGIN PASSWORD 'anna';
    CREATE SCHEMA sales AUTHORIZATION anna;
    CREATE SCHEMA hidden;
    CREATE TABLE hidden.salaries (amount numeric);
    CREATE TABLE sales.\"Bills\" (id int PRIMARY KEY, note text NOT NULL);
    CREATE TABLE sales.items (id int);
    CREATE VIEW sales.big AS SELECT * FROM sales.\"Bills\" WHERE id > 10;
    ALTER TABLE sales.items OWNER TO anna;";

async fn start() -> (tempfile::TempDir, PrivatePostgres) {
    let dir = tempfile::tempdir().unwrap();
    let postgres = PrivatePostgres::start(&PrivateConfig::new(dir.path(), Durability::Demo)).await.unwrap();
    (dir, postgres)
}

async fn as_role(postgres: &PrivatePostgres, role: &str, password: &str) -> Client {
    let config = postgres.config("postgres", role, &Secret::new(password));
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn code(client: &Client, sql: &str) -> Option<String> {
    client.batch_execute(sql).await.err().map(|error| error.code().unwrap().code().to_owned())
}

fn failed(verdicts: &[Verdict]) -> Vec<String> {
    verdicts.iter().filter(|verdict| !verdict.passed()).map(ToString::to_string).collect()
}

async fn proven(postgres: &PrivatePostgres, plan: &Plan) -> Vec<String> {
    let config = postgres.config("postgres", &plan.role.name, &plan.role.password);
    failed(&prove(&config, &plan.trials).await.unwrap())
}

#[tokio::test]
async fn the_reader_reads_what_is_granted_now_and_later_and_writes_nothing() {
    let (_dir, postgres) = start().await;
    let mut admin = postgres.connect("postgres").await.unwrap();
    admin.batch_execute(SCHEMA).await.unwrap();

    let reach = Reach::Schemas(vec!["sales".to_owned()]);
    let role = Role::reader("reader", Secret::new("one"), "postgres", reach);
    let first = plan(&admin, &role).await.unwrap();
    let mut printed = Vec::new();
    first.print(&mut printed).unwrap();
    let printed = String::from_utf8(printed).unwrap();
    let exists = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reader')";
    assert!(!admin.query_one(exists, &[]).await.unwrap().get::<_, bool>(0), "printing changes nothing");

    let mut shown = String::new();
    let refused =
        first.apply(&mut admin, |statement| shown.push_str(&format!("{statement}\n"))).await.unwrap();
    assert_eq!(refused, []);
    assert!(printed.ends_with(&shown), "what is printed is what is run");
    assert_eq!(proven(&postgres, &first).await, Vec::<String>::new());

    // Again, with the role there: nothing to do, and its password stays as it is.
    let role = Role { password: Secret::new("two"), ..role };
    let again = plan(&admin, &role).await.unwrap();
    assert_eq!(again.to_do().collect::<Vec<_>>(), Vec::<&Statement>::new(), "a rerun changes nothing");
    assert_eq!(again.apply(&mut admin, |_| {}).await.unwrap(), []);
    as_role(&postgres, "reader", "one").await;
    // A new password only where it is asked for.
    let role = Role { rotate: true, ..role };
    let second = plan(&admin, &role).await.unwrap();
    assert_eq!(second.to_do().count(), 1);
    second.apply(&mut admin, |_| {}).await.unwrap();
    assert_eq!(proven(&postgres, &second).await, Vec::<String>::new());

    let reader = as_role(&postgres, "reader", "two").await;
    assert_eq!(unfit(&reader, "reader").await.unwrap(), []);
    for (sql, want) in [
        ("SELECT FROM sales.\"Bills\"", None),
        ("SELECT FROM sales.big", None),
        ("SELECT FROM hidden.salaries", Some("42501")),
        ("SELECT 1 / (current_setting('temp_file_limit') = '2GB')::int", None),
        ("DELETE FROM sales.items", Some("25006")),
        ("SET default_transaction_read_only = off", None),
        ("DELETE FROM sales.items", Some("42501")),
    ] {
        assert_eq!(code(&reader, sql).await.as_deref(), want, "{sql}");
    }

    // Tables made later, by each owner of something in the schema.
    let anna = as_role(&postgres, "anna", "anna").await;
    for (owner, table) in [(&admin, "later_by_admin"), (&anna, "later_by_anna")] {
        owner.batch_execute(&format!("CREATE TABLE sales.{table} (id int)")).await.unwrap();
        assert_eq!(code(&reader, &format!("SELECT FROM sales.{table}")).await, None, "{table}");
    }

    // A grant that somebody adds by mistake is found by trying.
    admin.batch_execute("GRANT INSERT, DELETE ON sales.items TO reader").await.unwrap();
    assert_eq!(
        proven(&postgres, &second).await,
        ["it can delete from sales.items", "it can insert into sales.items"]
    );
    let told = unfit(&reader, "reader").await.unwrap();
    assert!(told.iter().any(|power| power.found.contains("DELETE sales.items")), "{told:?}");
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_reach_of_named_relations_and_a_managed_service() {
    let (_dir, postgres) = start().await;
    let mut admin = postgres.connect("postgres").await.unwrap();
    admin.batch_execute(SCHEMA).await.unwrap();

    let only = Reach::Only(vec![TableRef::new("sales", "Bills")]);
    let role = Role::reader("narrow", Secret::new("pw"), "postgres", only);
    let narrow = plan(&admin, &role).await.unwrap();
    narrow.apply(&mut admin, |_| {}).await.unwrap();
    assert_eq!(proven(&postgres, &narrow).await, Vec::<String>::new());
    let reader = as_role(&postgres, "narrow", "pw").await;
    assert_eq!(code(&reader, "SELECT FROM sales.\"Bills\"").await, None);
    assert_eq!(code(&reader, "SELECT FROM sales.items").await.as_deref(), Some("42501"));

    // An administrator who is no superuser: what it may not do is told, the rest is done.
    admin
        .batch_execute(
            "CREATE ROLE manager LOGIN CREATEROLE PASSWORD 'manager';
             GRANT ALL ON SCHEMA sales TO manager WITH GRANT OPTION;
             GRANT SELECT ON ALL TABLES IN SCHEMA sales TO manager WITH GRANT OPTION",
        )
        .await
        .unwrap();
    let mut manager = as_role(&postgres, "manager", "manager").await;
    let role =
        Role::reader("managed", Secret::new("pw"), "postgres", Reach::Schemas(vec!["sales".to_owned()]));
    let managed = plan(&manager, &role).await.unwrap();
    let refused = managed.apply(&mut manager, |_| {}).await.unwrap();
    let told = |words: &str| refused.iter().filter(|it| it.statement.sql.contains(words)).count();
    // Only a superuser may limit temporary files.
    assert_eq!(told("temp_file_limit"), 1, "{refused:?}");
    assert!(told("DEFAULT PRIVILEGES") > 0, "{refused:?}");
    assert_eq!(told("temp_file_limit") + told("DEFAULT PRIVILEGES"), refused.len(), "{refused:?}");
    assert_eq!(proven(&postgres, &managed).await, Vec::<String>::new());

    // What cannot be done is told, and the rest is done.
    let reach = Reach::Schemas(vec!["missing".to_owned(), "sales".to_owned()]);
    let role = Role::reader("halfway", Secret::new("pw"), "postgres", reach);
    let broken = plan(&admin, &role).await.unwrap();
    let refused = broken.apply(&mut admin, |_| {}).await.unwrap();
    assert!(refused.iter().all(|it| it.statement.sql.contains("missing")), "{refused:?}");
    assert!(refused.iter().any(|it| it.statement.needed), "{refused:?}");
    let reader = as_role(&postgres, "halfway", "pw").await;
    assert_eq!(code(&reader, "SELECT FROM sales.items").await, None);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn relations_of_several_owners_are_granted_as_far_as_it_goes_and_the_rest_is_told() {
    let (_dir, postgres) = start().await;
    let admin = postgres.connect("postgres").await.unwrap();
    admin
        .batch_execute(
            "CREATE ROLE boss LOGIN CREATEROLE PASSWORD 'boss'; CREATE ROLE anna; CREATE ROLE berta;
             CREATE SCHEMA mixed AUTHORIZATION boss; GRANT USAGE ON SCHEMA mixed TO anna, berta;
             CREATE TABLE mixed.mine (id int); ALTER TABLE mixed.mine OWNER TO boss;
             CREATE TABLE mixed.hers (id int); ALTER TABLE mixed.hers OWNER TO anna;
             -- A right without the right to hand it on: PostgreSQL warns and grants nothing.
             CREATE TABLE mixed.seen (id int); ALTER TABLE mixed.seen OWNER TO berta; GRANT SELECT ON mixed.seen TO boss;
             -- What the administrator may not even look into.
             CREATE SCHEMA closed AUTHORIZATION anna; CREATE TABLE closed.hers (id int); ALTER TABLE closed.hers OWNER TO anna;
             CREATE VIEW closed.over AS SELECT * FROM mixed.seen; ALTER VIEW closed.over OWNER TO anna;",
        )
        .await
        .unwrap();
    let mut boss = as_role(&postgres, "boss", "boss").await;
    let reach = Reach::Schemas(vec!["mixed".to_owned()]);
    let role = Role::reader("reader", Secret::new("pw"), "postgres", reach);
    let first = plan(&boss, &role).await.unwrap();
    let refused = first.apply(&mut boss, |_| {}).await.unwrap();
    let needed: Vec<(&str, &str)> = refused
        .iter()
        .filter(|it| it.statement.needed)
        .map(|it| (it.statement.run_as.as_str(), it.statement.sql.as_str()))
        .collect();
    assert_eq!(
        needed,
        [
            ("anna", "GRANT SELECT ON \"mixed\".\"hers\" TO \"reader\""),
            ("berta", "GRANT SELECT ON \"mixed\".\"seen\" TO \"reader\"")
        ]
    );
    let reader = as_role(&postgres, "reader", "pw").await;
    assert_eq!(code(&reader, "SELECT FROM mixed.mine").await, None);
    // Who is named runs what is told, and then it is whole.
    for (owner, sql) in needed {
        admin.batch_execute(&format!("SET ROLE {owner}; {sql}; RESET ROLE")).await.unwrap();
    }
    let again = plan(&boss, &role).await.unwrap();
    let left: Vec<&Statement> = again.to_do().filter(|statement| statement.needed).collect();
    assert_eq!(left, Vec::<&Statement>::new());
    assert_eq!(proven(&postgres, &again).await, Vec::<String>::new());

    let only = ["hers", "over"].map(|name| TableRef::new("closed", name));
    let role = Role::reader("reader", Secret::new("pw"), "postgres", Reach::Only(only.to_vec()));
    for statement in plan(&boss, &role).await.unwrap().to_do().filter(|statement| statement.needed) {
        admin
            .batch_execute(&format!("SET ROLE {}; {}; RESET ROLE", statement.run_as, statement.sql))
            .await
            .unwrap();
    }
    let again = plan(&boss, &role).await.unwrap();
    assert_eq!(
        again.to_do().filter(|statement| statement.needed).count(),
        0,
        "what is there is seen to be there"
    );
    let wrong = proven(&postgres, &again).await;
    assert!(
        matches!(wrong.as_slice(), [only] if only.contains("read closed.over gave: permission denied for table seen")),
        "a view whose owner may not read what it shows is told: {wrong:?}"
    );
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn hardening_closes_what_a_reader_never_calls_and_can_be_taken_back() {
    let (_dir, postgres) = start().await;
    let mut admin = postgres.connect("postgres").await.unwrap();
    admin.batch_execute(SCHEMA).await.unwrap();
    let reach = Reach::Schemas(vec!["sales".to_owned()]);
    let role = Role { harden: true, ..Role::reader("reader", Secret::new("pw"), "postgres", reach) };
    let hardened = plan(&admin, &role).await.unwrap();
    let mut printed = Vec::new();
    hardened.print(&mut printed).unwrap();
    let printed = String::from_utf8(printed).unwrap();
    let undo: Vec<String> = hardened.to_undo().map(str::to_owned).collect();
    assert!(undo.iter().all(|sql| printed.contains(&format!("--   {sql};"))), "{printed}");
    assert_eq!(hardened.apply(&mut admin, |_| {}).await.unwrap(), []);
    assert_eq!(proven(&postgres, &hardened).await, Vec::<String>::new());
    let reader = as_role(&postgres, "reader", "pw").await;
    let refused = [
        "SELECT pg_sleep(0)",
        "SELECT pg_notify('a', 'b')",
        "SELECT lo_create(0)",
        "SELECT pg_try_advisory_lock(1)",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SELECT database_to_xml(true, true, '')",
        "SELECT schema_to_xml('sales', true, true, '')",
        "SELECT * FROM ts_stat('SELECT to_tsvector(''a'')')",
        "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')",
        "SELECT pg_export_snapshot()",
        "SELECT txid_current()",
        "SELECT pg_current_xact_id()",
        "SELECT pg_logical_emit_message(false, 'a', 'b')",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "CREATE TEMPORARY TABLE a (n int)",
    ];
    for sql in refused {
        assert_eq!(
            code(&reader, &format!("BEGIN READ WRITE; {sql}")).await.as_deref(),
            Some("42501"),
            "{sql}"
        );
        reader.batch_execute("ROLLBACK").await.unwrap();
    }
    // What each transaction of the host needs is there.
    assert_eq!(code(&reader, "SELECT set_config('work_mem', '1MB', true), now()").await, None);
    assert_eq!(plan(&admin, &role).await.unwrap().to_do().count(), 0, "a rerun has nothing to harden");
    for sql in undo {
        admin.batch_execute(&sql).await.unwrap();
    }
    assert_eq!(code(&reader, "SELECT pg_sleep(0)").await, None);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn every_way_to_be_too_strong_is_found() {
    let (_dir, postgres) = start().await;
    let admin = postgres.connect("postgres").await.unwrap();
    admin.batch_execute(SCHEMA).await.unwrap();
    admin.batch_execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC").await.unwrap();
    for (role, grants, want) in [
        ("plain", "GRANT SELECT ON sales.items TO plain", None),
        ("super", "ALTER ROLE super SUPERUSER", Some("reader-is-no-superuser")),
        ("bypass", "ALTER ROLE bypass BYPASSRLS", Some("reader-is-held-to-policies")),
        ("maker", "ALTER ROLE maker CREATEROLE", Some("reader-makes-no-roles")),
        (
            "owner",
            "CREATE TABLE hidden.mine (n int); ALTER TABLE hidden.mine OWNER TO owner",
            Some("reader-owns-nothing"),
        ),
        ("writer", "GRANT UPDATE (note) ON sales.\"Bills\" TO writer", Some("reader-has-no-write-grant")),
        ("member", "GRANT writer TO member; ALTER ROLE member NOINHERIT", Some("reader-has-no-write-grant")),
        ("files", "GRANT pg_read_server_files TO files", Some("reader-has-no-predefined-role")),
        ("creator", "GRANT CREATE ON SCHEMA hidden TO creator", Some("reader-creates-in-no-schema")),
    ] {
        admin.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'pw'")).await.unwrap();
        admin.batch_execute(grants).await.unwrap();
        let found = unfit(&as_role(&postgres, role, "pw").await, role).await.unwrap();
        let named: Vec<&str> = found.iter().map(|power| power.check).collect();
        match want {
            None => assert_eq!(found, [], "{role}"),
            Some(want) => assert_eq!(named, [want], "{role}: {found:?}"),
        }
    }
    // PostgreSQL 13 and 14 let everybody make tables in `public`; the remedy goes with it.
    admin.batch_execute("GRANT CREATE ON SCHEMA public TO PUBLIC").await.unwrap();
    let found = unfit(&admin, "plain").await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].remedy, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    // Setup does not make a reader of somebody else's role.
    for (name, fit) in [("super", false), ("owner", false), ("plain", true)] {
        let role =
            Role::reader(name, Secret::new("new"), "postgres", Reach::Schemas(vec!["sales".to_owned()]));
        let planned = plan(&admin, &role).await;
        assert_eq!(planned.is_ok(), fit, "{name}");
        assert_eq!(matches!(planned, Err(SetupError::Unfit { .. })), !fit, "{name}");
    }
    postgres.stop().await.unwrap();
}
