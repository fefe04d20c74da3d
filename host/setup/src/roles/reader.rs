//! The reader: SELECT on the granted relations, now and later, and nothing that writes.

use airlock_database::checks::harmful_functions;
use airlock_types::TableRef;

use super::{Expect, Owned, Reach, Role, Statement, Surroundings, Trial};
use crate::sql::{identifier, literal};

/// Signatures of functions that a reader never needs and that PUBLIC may call.
pub(super) fn open_functions() -> String {
    format!(
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN ({}) AS listed ON listed.harmful = p.oid
         WHERE has_function_privilege('public', p.oid, 'EXECUTE') ORDER BY 1",
        harmful_functions()
    )
}

/// At most this many tables are each tried; the grants are given to all in one statement, so more would tell nothing new.
const TRIED_TABLES: usize = 50;
/// A write without a grant, a temporary table included: insufficient_privilege.
const DENIED: Expect = Expect::Refused("42501");

/// What one process of the server may keep in temporary files for the reader: far more than an honest sort, far less than
/// a disk.
const TEMPORARY_FILES: &str = "2GB";

/// Who makes and changes roles.
const ROLE_MAKER: &str = "a role with CREATEROLE";
const SUPERUSER: &str = "a superuser";

/// The statements that make the reader.
pub(super) fn statements(role: &Role, around: &Surroundings) -> Vec<Statement> {
    let (name, database) = (identifier(&role.name), identifier(&role.database));
    let of_role = |condition: String| {
        format!("SELECT bool_and({condition}) FROM pg_roles r WHERE r.rolname = {}", literal(&role.name))
    };
    let has_setting = |setting: String| {
        of_role(format!(
            "EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
                WHERE s.setrole = r.oid AND d.datname = current_database() AND {} = ANY (s.setconfig))",
            literal(&setting)
        ))
    };
    let verifier = literal(&role.password.verifier());
    let mut statements = vec![match (around.role_exists, role.rotate) {
        (false, _) => Statement::needed(
            format!("CREATE ROLE {name} LOGIN PASSWORD {verifier}"),
            "the role, with a verifier of its password",
            ROLE_MAKER,
        ),
        (true, true) => Statement::needed(
            format!("ALTER ROLE {name} LOGIN PASSWORD {verifier}"),
            "the role, with a verifier of its new password",
            ROLE_MAKER,
        ),
        // Its password is somebody's who uses it.
        (true, false) => Statement::needed(format!("ALTER ROLE {name} LOGIN"), "it may connect", ROLE_MAKER)
            .unless(&of_role("r.rolcanlogin".to_owned())),
    }];
    let in_database = format!("ALTER ROLE {name} IN DATABASE {database} SET");
    statements.extend([
        Statement::useful(
            format!("{in_database} default_transaction_read_only = on"),
            "a second lock: its transactions begin read-only",
            ROLE_MAKER,
        )
        .unless(&has_setting("default_transaction_read_only=on".to_owned())),
        Statement::useful(
            format!("{in_database} temp_file_limit = '{TEMPORARY_FILES}'"),
            "its sorts and joins cannot fill the disk; only a superuser may set or lift this",
            SUPERUSER,
        )
        .unless(&has_setting(format!("temp_file_limit={TEMPORARY_FILES}"))),
        Statement::useful(
            format!("GRANT CONNECT ON DATABASE {database} TO {name}"),
            "it connects to this database",
            &around.database_owner,
        )
        .unless(&of_role("has_database_privilege(r.oid, current_database(), 'CONNECT')".to_owned())),
    ]);
    for schema in role.reach.schemas() {
        let usage = format!("GRANT USAGE ON SCHEMA {} TO {name}", identifier(schema));
        let sees = format!("has_schema_privilege(r.oid, {}, 'USAGE')", literal(schema));
        let statement = Statement::needed(usage, "it sees the schema", owner(&around.schema_owners, schema));
        statements.push(statement.unless(&of_role(sees)));
    }
    let select = |relation: &Owned| {
        let name_of = self::relation(&relation.table);
        // By its number: of a schema that the administrator may not use no name is looked up.
        let reads = format!(
            "EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = {} AND c.relname = {} AND has_table_privilege(r.oid, c.oid, 'SELECT'))",
            literal(&relation.table.schema),
            literal(&relation.table.name)
        );
        Statement::needed(
            format!("GRANT SELECT ON {name_of} TO {name}"),
            "it reads this relation",
            &relation.owner,
        )
        .unless(&of_role(reads))
    };
    match &role.reach {
        Reach::Schemas(schemas) => {
            for schema in schemas {
                let all = format!("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {name}", identifier(schema));
                let reads_all = of_role(format!(
                    "NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                        WHERE n.nspname = {} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                          AND NOT has_table_privilege(r.oid, c.oid, 'SELECT'))",
                    literal(schema)
                ));
                let parts = around.relations.iter().filter(|relation| relation.table.schema == *schema);
                let statement = Statement::needed(
                    all,
                    "it reads what is there: tables, views, foreign tables",
                    owner(&around.schema_owners, schema),
                );
                statements.push(statement.unless(&reads_all).in_parts(parts.map(select).collect()));
            }
            for (schema, owner) in &around.owners {
                let sql = format!(
                    "ALTER DEFAULT PRIVILEGES FOR ROLE {} IN SCHEMA {} GRANT SELECT ON TABLES TO {name}",
                    identifier(owner),
                    identifier(schema)
                );
                let promised = of_role(format!(
                    "EXISTS (SELECT FROM pg_default_acl d JOIN pg_namespace n ON n.oid = d.defaclnamespace
                        CROSS JOIN LATERAL aclexplode(d.defaclacl) a
                        WHERE n.nspname = {} AND pg_get_userbyid(d.defaclrole) = {} AND d.defaclobjtype = 'r'
                          AND a.grantee = r.oid AND a.privilege_type = 'SELECT')",
                    literal(schema),
                    literal(owner)
                ));
                let statement = Statement::useful(sql, "it reads what this owner makes later", owner);
                statements.push(statement.unless(&promised));
            }
        }
        Reach::Only(tables) => {
            for table in tables {
                let known = around.relations.iter().find(|relation| relation.table == *table);
                // One that is not there is tried all the same, so that it is told.
                let missing =
                    || Owned { table: table.clone(), owner: "its owner".to_owned(), is_table: false };
                statements.push(select(&known.cloned().unwrap_or_else(missing)));
            }
        }
    }
    if role.harden {
        statements.extend(hardening(&database, around));
    }
    statements
}

fn owner<'a>(owners: &'a [(String, String)], schema: &str) -> &'a str {
    owners.iter().find(|(of, _)| of == schema).map_or("the owner of the schema", |(_, owner)| owner)
}

fn hardening(database: &str, around: &Surroundings) -> Vec<Statement> {
    let mut statements = vec![
        Statement::useful(
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC".to_owned(),
            "nobody makes tables in public by default",
            owner(&around.schema_owners, "public"),
        )
        .unless("SELECT NOT has_schema_privilege('public', 'public', 'CREATE')")
        .undone_by("GRANT CREATE ON SCHEMA public TO PUBLIC".to_owned()),
        Statement::useful(
            format!("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"),
            "nobody makes temporary tables by default",
            &around.database_owner,
        )
        .unless("SELECT NOT has_database_privilege('public', current_database(), 'TEMPORARY')")
        .undone_by(format!("GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")),
    ];
    for function in &around.harmful_functions {
        let closed = format!(
            "SELECT NOT has_function_privilege('public', {}::regprocedure, 'EXECUTE')",
            literal(function)
        );
        let revoke = format!("REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC");
        let why = "a reader never calls what writes, signals, waits, locks or runs a text";
        let statement = Statement::useful(revoke, why, SUPERUSER).unless(&closed);
        statements.push(statement.undone_by(format!("GRANT EXECUTE ON FUNCTION {function} TO PUBLIC")));
    }
    statements
}

/// What proves the reader: it reads, and every way to write is refused for want of a grant (not merely because its
/// transactions begin read-only: trials run in read-write ones).
pub(super) fn trials(role: &Role, around: &Surroundings) -> Vec<Trial> {
    let mut trials = Vec::new();
    for table in around.relations.iter().filter(|it| it.is_table).map(|it| &it.table).take(TRIED_TABLES) {
        let name = relation(table);
        trials.push(Trial::new(
            format!("read {table}"),
            format!("SELECT FROM {name} LIMIT 0"),
            Expect::Accepted,
        ));
        trials.push(Trial::new(
            format!("delete from {table}"),
            format!("DELETE FROM {name} WHERE false"),
            DENIED,
        ));
        trials.push(Trial::new(
            format!("insert into {table}"),
            format!("INSERT INTO {name} DEFAULT VALUES"),
            DENIED,
        ));
        trials.push(Trial::new(format!("empty {table}"), format!("TRUNCATE {name}"), DENIED));
    }
    // What stands on others, and may do so without the right to: it is planned and not run, so that a server far away, or a
    // materialized view that nobody filled, is not what fails.
    for table in around.relations.iter().filter(|it| !it.is_table).map(|it| &it.table).take(TRIED_TABLES) {
        trials.push(Trial::new(
            format!("read {table}"),
            format!("EXPLAIN SELECT FROM {}", relation(table)),
            Expect::Accepted,
        ));
    }
    for schema in role.reach.schemas() {
        let probe = format!("CREATE TABLE {}.airlock_probe (n int)", identifier(schema));
        trials.push(Trial::new(format!("make a table in schema {schema}"), probe, DENIED));
    }
    trials.push(Trial::new("lift its limit of temporary files", "SET temp_file_limit = -1", DENIED));
    trials.push(Trial::new("make a schema", "CREATE SCHEMA airlock_probe", DENIED));
    trials.push(Trial::new("make a role", "CREATE ROLE airlock_probe", DENIED));
    trials.push(Trial::new("run a program", "COPY (SELECT 1) TO PROGRAM 'true'", DENIED));
    trials.push(Trial::new("read a file of the server", "SELECT pg_read_file('PG_VERSION')", DENIED));
    if role.harden {
        trials.push(Trial::new(
            "make a temporary table",
            "CREATE TEMPORARY TABLE airlock_probe (n int)",
            DENIED,
        ));
        trials.push(Trial::new("make a large object", "SELECT lo_create(0)", DENIED));
        trials.push(Trial::new(
            "run a text as SQL",
            "SELECT query_to_xml('SELECT 1', true, true, '')",
            DENIED,
        ));
        trials.push(Trial::new("wait", "SELECT pg_sleep(0)", DENIED));
        trials.push(Trial::new("take a lock", "SELECT pg_advisory_xact_lock(1)", DENIED));
    }
    trials
}

fn relation(table: &TableRef) -> String {
    format!("{}.{}", identifier(&table.schema), identifier(&table.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    fn texts(reach: Reach, around: &Surroundings) -> Vec<String> {
        let role = Role::reader("shop reader", Secret::new("pw"), "shop", reach);
        statements(&role, around).into_iter().map(|statement| statement.sql).collect()
    }

    #[test]
    fn every_owner_gets_its_own_default_privileges() {
        let owners =
            vec![("public".to_owned(), "anna".to_owned()), ("public".to_owned(), "b\"ob".to_owned())];
        let texts = texts(
            Reach::Schemas(vec!["public".to_owned()]),
            &Surroundings { owners, ..Surroundings::default() },
        );
        let defaults: Vec<&String> =
            texts.iter().filter(|text| text.contains("DEFAULT PRIVILEGES")).collect();
        assert_eq!(
            defaults,
            [
                "ALTER DEFAULT PRIVILEGES FOR ROLE \"anna\" IN SCHEMA \"public\" GRANT SELECT ON TABLES TO \"shop reader\"",
                "ALTER DEFAULT PRIVILEGES FOR ROLE \"b\"\"ob\" IN SCHEMA \"public\" GRANT SELECT ON TABLES TO \"shop reader\"",
            ]
        );
    }

    #[test]
    fn named_relations_are_granted_one_by_one_and_nothing_later() {
        let only = Reach::Only(vec![TableRef::new("sales", "Bills"), TableRef::new("sales", "items")]);
        let texts = texts(only, &Surroundings { role_exists: true, ..Surroundings::default() });
        assert!(
            texts[0] == "ALTER ROLE \"shop reader\" LOGIN",
            "the password of a role that is there stays as it is: {}",
            texts[0]
        );
        assert_eq!(
            texts[4..],
            [
                "GRANT USAGE ON SCHEMA \"sales\" TO \"shop reader\"",
                "GRANT SELECT ON \"sales\".\"Bills\" TO \"shop reader\"",
                "GRANT SELECT ON \"sales\".\"items\" TO \"shop reader\"",
            ]
        );
    }

    #[test]
    fn no_statement_carries_the_password() {
        let role = Role::reader("r", Secret::new("hunter2"), "d", Reach::Schemas(vec!["public".to_owned()]));
        for statement in statements(&role, &Surroundings::default()) {
            assert!(!statement.to_string().contains("hunter2"), "{statement}");
        }
    }
}
