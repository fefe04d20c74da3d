//! A pack's database on the private server: loaded once, loaded again when the pack's files change.

use std::fs;
use std::path::Path;

use airlock_types::{ContentHash, DomainName};

use crate::error::SetupError;
use crate::private::PrivatePostgres;
use crate::roles::{Reach, Role, Statement, plan, prove};
use crate::sql::{identifier, literal};

/// What marks a database as loaded whole, before the hash of what it was loaded from.
const MARK: &str = "airlock pack ";

/// A database ready to be asked, and the one role that may ask it.
#[derive(Debug)]
pub struct DemoDatabase {
    /// Its name.
    pub database: String,
    /// Its reader.
    pub reader: String,
    /// The libpq connection string of the reader. It holds the password.
    pub reader_url: String,
    /// Whether it was loaded now, and not found loaded.
    pub loaded: bool,
    /// How many trials the reader passed.
    pub proofs: usize,
}

/// Makes the database of the pack in `pack_dir` from its `db/schema.sql` and `db/data.sql`, unless it is there already,
/// and its reader within `reach`, who is proven each time. `show` is given every statement about the role before it runs.
///
/// # Errors
/// When a file cannot be read, a statement is refused, or the reader can do what it must not.
pub async fn load(
    postgres: &PrivatePostgres,
    domain: &DomainName,
    pack_dir: &Path,
    reach: Reach,
    show: impl FnMut(&Statement),
) -> Result<DemoDatabase, SetupError> {
    let database = domain.as_str().replace('-', "_");
    let scripts = [read(&pack_dir.join("db/schema.sql"))?, read(&pack_dir.join("db/data.sql"))?];
    let mark = format!("{MARK}{}", ContentHash::of(scripts.join("\0")));

    let admin = postgres.connect("postgres").await?;
    let loaded = marked(&admin, &database).await?.as_deref() != Some(mark.as_str());
    if loaded {
        recreate(&admin, &database).await?;
    }
    let mut owner = postgres.connect(&database).await?;
    if loaded {
        for (script, file) in scripts.iter().zip(["db/schema.sql", "db/data.sql"]) {
            let ran = owner.batch_execute(script).await;
            ran.map_err(|error| {
                SetupError::database(format!("loading {file} of domain {}", domain.as_str()), &error)
            })?;
        }
        // Set last: a database whose loading was interrupted carries no mark and is made anew.
        let comment = format!("COMMENT ON DATABASE {} IS {}", identifier(&database), literal(&mark));
        for statement in ["RESET ALL", "ANALYZE", &comment] {
            owner
                .batch_execute(statement)
                .await
                .map_err(|error| SetupError::database("finishing", &error))?;
        }
    }

    let reader = reader_name(&database);
    let secret = postgres.role_secret(&reader);
    let role = Role { harden: true, rotate: true, ..Role::reader(&reader, secret.clone(), &database, reach) };
    let plan = plan(&owner, &role).await?;
    let refused = plan.apply(&mut owner, show).await?;
    if let Some(refused) = refused.iter().find(|refused| refused.statement.needed) {
        let (doing, reason) = (refused.statement.why.to_owned(), refused.reason.clone());
        return Err(SetupError::Database { doing, reason });
    }
    let verdicts = prove(&postgres.config(&database, &reader, &secret), &plan.trials).await?;
    let proofs = verdicts.len();
    let failed: Vec<_> = verdicts.into_iter().filter(|verdict| !verdict.passed()).collect();
    if !failed.is_empty() {
        return Err(SetupError::Unproven { role: reader, failed });
    }
    let reader_url = postgres.connection_string(&database, &reader, &secret);
    Ok(DemoDatabase { database, reader, reader_url, loaded, proofs })
}

/// A name holds 63 bytes; a domain's alone may have as many.
fn reader_name(database: &str) -> String {
    format!("{}_reader", database.get(..56).unwrap_or(database))
}

fn read(path: &Path) -> Result<String, SetupError> {
    fs::read_to_string(path).map_err(|error| SetupError::file(path, error))
}

async fn marked(admin: &tokio_postgres::Client, database: &str) -> Result<Option<String>, SetupError> {
    let query = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $1";
    let row = admin.query_opt(query, &[&database]).await;
    let row = row.map_err(|error| SetupError::database("looking for the database", &error))?;
    Ok(row.and_then(|row| row.get(0)))
}

async fn recreate(admin: &tokio_postgres::Client, database: &str) -> Result<(), SetupError> {
    let name = identifier(database);
    for sql in [format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), format!("CREATE DATABASE {name}")] {
        let ran = admin.batch_execute(&sql).await;
        ran.map_err(|error| SetupError::database(format!("making database {database}"), &error))?;
    }
    Ok(())
}
