//! The reader: SELECT on the granted relations, now and later, and nothing that writes.

use airlock_types::TableRef;

use super::{Expect, Reach, Role, Statement, Surroundings, Trial};
use crate::sql::{identifier, literal};

/// Functions of the server that write or reach out, which PUBLIC may call unless told otherwise.
pub(super) const WRITING_FUNCTIONS: &str = "SELECT p.oid::regprocedure::text FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace
      AND p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_open', 'lo_put', 'lo_truncate', 'lo_truncate64',
                        'lo_unlink', 'lowrite', 'loread', 'lo_get', 'pg_notify')
      AND has_function_privilege('public', p.oid, 'EXECUTE')
    ORDER BY 1";

/// At most this many tables are each tried; the grants are given to all in one statement, so more would tell nothing new.
const TRIED_TABLES: usize = 50;
/// A write without a grant, a temporary table included: insufficient_privilege.
const DENIED: Expect = Expect::Refused("42501");

/// What one process of the server may keep in temporary files for the reader: far more than an honest sort, far less than
/// a disk.
const TEMPORARY_FILES: &str = "2GB";

/// The statements that make the reader.
pub(super) fn statements(role: &Role, around: &Surroundings) -> Vec<Statement> {
    let (name, database) = (identifier(&role.name), identifier(&role.database));
    let must = |sql: String, why| Statement { sql, why, needed: true };
    let may = |sql: String, why| Statement { sql, why, needed: false };

    let make = if around.role_exists { "ALTER" } else { "CREATE" };
    let verifier = literal(&role.password.verifier());
    let mut statements = vec![
        must(
            format!("{make} ROLE {name} LOGIN PASSWORD {verifier}"),
            "the role, with a verifier of its password",
        ),
        may(
            format!("ALTER ROLE {name} IN DATABASE {database} SET default_transaction_read_only = on"),
            "a second lock: its transactions begin read-only",
        ),
        may(
            format!("ALTER ROLE {name} IN DATABASE {database} SET temp_file_limit = '{TEMPORARY_FILES}'"),
            "its sorts and joins cannot fill the disk; only a superuser may set or lift this",
        ),
        may(format!("GRANT CONNECT ON DATABASE {database} TO {name}"), "it connects to this database"),
    ];
    for schema in role.reach.schemas() {
        let usage = format!("GRANT USAGE ON SCHEMA {} TO {name}", identifier(schema));
        statements.push(must(usage, "it sees the schema"));
    }
    match &role.reach {
        Reach::Schemas(schemas) => {
            for schema in schemas {
                let schema = identifier(schema);
                let all = format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}");
                statements.push(must(all, "it reads what is there: tables, views, foreign tables"));
            }
            for (schema, owner) in &around.owners {
                let sql = format!(
                    "ALTER DEFAULT PRIVILEGES FOR ROLE {} IN SCHEMA {} GRANT SELECT ON TABLES TO {name}",
                    identifier(owner),
                    identifier(schema)
                );
                statements.push(may(sql, "it reads what this owner makes later"));
            }
        }
        Reach::Only(tables) => {
            for table in tables {
                statements.push(must(
                    format!("GRANT SELECT ON {} TO {name}", relation(table)),
                    "it reads this relation",
                ));
            }
        }
    }
    if role.harden {
        statements.extend(hardening(&database, around));
    }
    statements
}

fn hardening(database: &str, around: &Surroundings) -> Vec<Statement> {
    let may = |sql: String, why| Statement { sql, why, needed: false };
    let mut statements = vec![
        may(
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC".to_owned(),
            "nobody makes tables in public by default",
        ),
        may(
            format!("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"),
            "nobody makes temporary tables by default",
        ),
    ];
    for function in &around.writing_functions {
        let sql = format!("REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC");
        statements.push(may(sql, "a reader never calls what writes or signals"));
    }
    statements
}

/// What proves the reader: it reads, and every way to write is refused for want of a grant (not merely because its
/// transactions begin read-only: trials run in read-write ones).
pub(super) fn trials(role: &Role, around: &Surroundings) -> Vec<Trial> {
    let mut trials = Vec::new();
    for table in around.tables.iter().take(TRIED_TABLES) {
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
            texts[0].starts_with("ALTER ROLE \"shop reader\" LOGIN PASSWORD 'SCRAM-SHA-256$"),
            "{}",
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
