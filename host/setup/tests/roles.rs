//! Roles and credentials against a real server: what is granted works, what is not is refused, and each is tried.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use airlock_setup::fitness::{Unfit, refuse_unfit, unfit};
use airlock_setup::roles::{Plan, Reach, Role, Verdict, plan, prove};
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

    // Again, with the role there: the same state, and a new password if there is one.
    let role = Role { password: Secret::new("two"), ..role };
    let second = plan(&admin, &role).await.unwrap();
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
    let told = refuse_unfit(&reader).await.unwrap_err();
    assert!(matches!(&told, SetupError::Unfit { role, .. } if role == "reader"), "{told}");
    assert!(told.to_string().contains("sales.items"), "{told}");
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

    // Nothing is half done: a needed statement that is refused undoes the others.
    let role =
        Role::reader("nobody", Secret::new("pw"), "postgres", Reach::Schemas(vec!["missing".to_owned()]));
    let broken = plan(&admin, &role).await.unwrap();
    assert!(broken.apply(&mut admin, |_| {}).await.is_err());
    let exists = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nobody')";
    assert!(!admin.query_one(exists, &[]).await.unwrap().get::<_, bool>(0));
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn every_way_to_be_too_strong_is_found() {
    let (_dir, postgres) = start().await;
    let admin = postgres.connect("postgres").await.unwrap();
    admin.batch_execute(SCHEMA).await.unwrap();
    admin.batch_execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC").await.unwrap();
    let through = |name: &str| name.to_owned();
    for (role, grants, want) in [
        ("plain", "GRANT SELECT ON sales.items TO plain", None),
        ("super", "ALTER ROLE super SUPERUSER", Some(Unfit::Superuser { through: through("super") })),
        (
            "bypass",
            "ALTER ROLE bypass BYPASSRLS",
            Some(Unfit::BypassesRowSecurity { through: through("bypass") }),
        ),
        (
            "maker",
            "ALTER ROLE maker CREATEROLE",
            Some(Unfit::Administers { attribute: "CREATEROLE".to_owned(), through: through("maker") }),
        ),
        (
            "owner",
            "CREATE TABLE hidden.mine (n int); ALTER TABLE hidden.mine OWNER TO owner",
            Some(Unfit::Owns { what: "relation hidden.mine".to_owned(), through: through("owner") }),
        ),
        (
            "writer",
            "GRANT UPDATE (note) ON sales.\"Bills\" TO writer",
            Some(Unfit::Writes { what: "sales.\"Bills\"".to_owned(), through: through("writer") }),
        ),
        (
            "member",
            "GRANT writer TO member; ALTER ROLE member NOINHERIT",
            Some(Unfit::Writes { what: "sales.\"Bills\"".to_owned(), through: through("writer") }),
        ),
        (
            "files",
            "GRANT pg_read_server_files TO files",
            Some(Unfit::Predefined { role: "pg_read_server_files".to_owned() }),
        ),
        (
            "creator",
            "GRANT CREATE ON SCHEMA hidden TO creator",
            Some(Unfit::Creates { schema: "hidden".to_owned(), through: through("creator") }),
        ),
    ] {
        admin.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'pw'")).await.unwrap();
        admin.batch_execute(grants).await.unwrap();
        let found = unfit(&as_role(&postgres, role, "pw").await, role).await.unwrap();
        match want {
            None => assert_eq!(found, [], "{role}"),
            Some(want) => assert!(found.contains(&want), "{role}: {found:?}"),
        }
    }
    // PostgreSQL 13 and 14 let everybody make tables in `public`; the remedy goes with it.
    admin.batch_execute("GRANT CREATE ON SCHEMA public TO PUBLIC").await.unwrap();
    let found = unfit(&admin, "plain").await.unwrap();
    assert_eq!(found, [Unfit::Creates { schema: "public".to_owned(), through: "PUBLIC".to_owned() }]);
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
