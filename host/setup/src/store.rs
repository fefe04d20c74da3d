//! The store: its database, its schema and its eight roles, as statements that are shown before they run, and trials that
//! prove each role by what is not its own.

mod trials;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use airlock_database::ConnectionString;
use tokio_postgres::Client;

use crate::error::SetupError;
use crate::private::PrivatePostgres;
use crate::roles::{Verdict, try_all};
use crate::secret::Secret;
use crate::sql::{identifier, literal};

pub use trials::{TABLES, trials};

/// What the roles of the store are for; a role's name is the prefix and one of these.
pub const DUTIES: [&str; 8] = ["recall", "distill", "promote", "log", "report", "janitor", "ops", "migrate"];

/// Where a store is to be.
#[derive(Debug, Clone)]
pub struct StorePlace {
    /// The database; made when it is not there.
    pub database: String,
    /// What the names of the roles begin with.
    pub prefix: String,
    /// A password for each of [`DUTIES`].
    pub passwords: BTreeMap<String, Secret>,
}

impl StorePlace {
    /// A place with random passwords.
    #[must_use]
    pub fn new(database: &str, prefix: &str) -> Self {
        let passwords = DUTIES.iter().map(|duty| ((*duty).to_owned(), Secret::random())).collect();
        Self { database: database.to_owned(), prefix: prefix.to_owned(), passwords }
    }

    /// The name of a role.
    #[must_use]
    pub fn role(&self, duty: &str) -> String {
        format!("{}_{duty}", self.prefix)
    }
}

/// A statement and what it is for. It carries no password: roles are given a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStatement {
    /// The statement.
    pub sql: String,
    /// What it is for.
    pub why: &'static str,
    /// Whether set-up fails without it.
    needed: bool,
}

impl fmt::Display for StoreStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};  -- {}", self.sql, self.why)
    }
}

/// Everything that makes a store, in order.
#[derive(Debug, Clone)]
pub struct StorePlan {
    place: StorePlace,
    /// In any database of the server.
    server: Vec<StoreStatement>,
    /// In the store's own.
    inside: Vec<StoreStatement>,
}

/// How an administrator connects to a database of the server.
pub enum StoreServer<'a> {
    /// Over a connection string.
    Remote(&'a ConnectionString),
    /// The private server.
    Private(&'a PrivatePostgres),
}

impl StoreServer<'_> {
    async fn client(&self, database: Option<&str>) -> Result<Client, SetupError> {
        match self {
            Self::Private(postgres) => postgres.connect(database.unwrap_or("postgres")).await,
            Self::Remote(target) => {
                let mut target = ConnectionString::clone(target);
                if let Some(database) = database {
                    database.clone_into(&mut target.database);
                }
                let connected = target.client().await;
                connected.map_err(|error| SetupError::Database {
                    doing: format!("connecting to database `{}` as the administrator", target.database),
                    reason: error.to_string(),
                })
            }
        }
    }
}

const FACTS: &str = "SELECT current_setting('server_version_num')::int4, pg_is_in_recovery(),
    (SELECT pg_encoding_to_char(encoding)::text FROM pg_database WHERE datname = $1)";
const TOO_MUCH: &str =
    "SELECT rolname::text FROM pg_roles WHERE rolname = ANY ($1) AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb
        OR rolreplication) ORDER BY 1";
const THERE: &str = "SELECT rolname::text FROM pg_roles WHERE rolname = ANY ($1)";

impl StorePlan {
    /// Writes the plan, after a look at the server. Changes nothing.
    ///
    /// # Errors
    /// When the server is a standby or too old, a database of that name has another encoding, or a role of one of the names is
    /// there and may do more than any role of the store.
    pub async fn new(server: &StoreServer<'_>, place: StorePlace) -> Result<Self, SetupError> {
        let client = server.client(None).await?;
        let failed = |error: tokio_postgres::Error| SetupError::database("reading the catalogue", &error);
        let refuse = |reason: String| SetupError::Database { doing: "planning the store".to_owned(), reason };
        let facts = client.query_one(FACTS, &[&place.database]).await.map_err(failed)?;
        let (version, standby, encoding): (i32, bool, Option<String>) =
            (facts.get(0), facts.get(1), facts.get(2));
        if version < 130_000 {
            return Err(refuse("the server is older than PostgreSQL 13".to_owned()));
        }
        if standby {
            return Err(refuse(
                "the server is a standby and only reads: name the primary in --admin-url".to_owned(),
            ));
        }
        if let Some(encoding) = encoding.as_deref().filter(|encoding| *encoding != "UTF8") {
            return Err(refuse(format!(
                "database `{}` is there in {encoding}, and knowledge is UTF-8: name another one with --store-database",
                place.database
            )));
        }
        let names: Vec<String> = DUTIES.iter().map(|duty| place.role(duty)).collect();
        let too_much = client.query(TOO_MUCH, &[&names]).await.map_err(failed)?;
        if let Some(row) = too_much.first() {
            return Err(refuse(format!(
                "role `{}` is there and is an administrator: choose other names with --role-prefix",
                row.get::<_, &str>(0)
            )));
        }
        let there = client.query(THERE, &[&names]).await.map_err(failed)?;
        let there: Vec<String> = there.iter().map(|row| row.get(0)).collect();
        Ok(Self { server: roles(&place, &there, encoding.is_some()), inside: inside(&place), place })
    }

    /// Prints every statement, for a DBA to run by psql.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "-- The store, in database {}", self.place.database)?;
        self.server.iter().try_for_each(|statement| writeln!(out, "{statement}"))?;
        writeln!(out, "\\connect {}", identifier(&self.place.database))?;
        self.inside.iter().try_for_each(|statement| writeln!(out, "{statement}"))?;
        writeln!(out, "-- The tables are made by airlock itself, as {}.", self.place.role("migrate"))
    }

    /// Runs the statements, each given to `show` first. Those that the server refused and that were not needed.
    ///
    /// # Errors
    /// When a needed one is refused. What was done before stays, and is done again without harm.
    pub async fn apply(
        &self,
        server: &StoreServer<'_>,
        mut show: impl FnMut(&StoreStatement),
    ) -> Result<Vec<(StoreStatement, String)>, SetupError> {
        let mut refused = Vec::new();
        let client = server.client(None).await?;
        run(&client, &self.server, &mut show, &mut refused).await?;
        let client = server.client(Some(&self.place.database)).await?;
        run(&client, &self.inside, &mut show, &mut refused).await?;
        Ok(refused)
    }

    /// Where it is.
    #[must_use]
    pub const fn place(&self) -> &StorePlace {
        &self.place
    }
}

async fn run(
    client: &Client,
    statements: &[StoreStatement],
    show: &mut impl FnMut(&StoreStatement),
    refused: &mut Vec<(StoreStatement, String)>,
) -> Result<(), SetupError> {
    for statement in statements {
        show(statement);
        match client.batch_execute(&statement.sql).await {
            Ok(()) => {}
            Err(error) if statement.needed || error.as_db_error().is_none() => {
                // Not the statement: one of them holds a verifier.
                return Err(SetupError::database(statement.why, &error));
            }
            Err(error) => refused.push((statement.clone(), crate::error::reason(&error))),
        }
    }
    Ok(())
}

fn must(sql: String, why: &'static str) -> StoreStatement {
    StoreStatement { sql, why, needed: true }
}

fn may(sql: String, why: &'static str) -> StoreStatement {
    StoreStatement { sql, why, needed: false }
}

fn roles(place: &StorePlace, there: &[String], database_is_there: bool) -> Vec<StoreStatement> {
    let mut statements = Vec::new();
    for (duty, password) in &place.passwords {
        let role = place.role(duty);
        let make = if there.contains(&role) { "ALTER" } else { "CREATE" };
        let name = identifier(&role);
        let verifier = literal(&password.verifier());
        statements.push(must(
            format!("{make} ROLE {name} LOGIN NOINHERIT PASSWORD {verifier}"),
            "a role of the store, with a verifier of its password",
        ));
    }
    if !database_is_there {
        statements.push(must(
            format!("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0", identifier(&place.database)),
            "the store's own database",
        ));
    }
    statements
}

fn inside(place: &StorePlace) -> Vec<StoreStatement> {
    let database = identifier(&place.database);
    let migrate = identifier(&place.role("migrate"));
    let all: Vec<String> = DUTIES.iter().map(|duty| identifier(&place.role(duty))).collect();
    let all = all.join(", ");
    vec![
        may(
            format!("REVOKE ALL ON DATABASE {database} FROM PUBLIC"),
            "nobody else connects or makes temporary tables",
        ),
        must(format!("GRANT CONNECT ON DATABASE {database} TO {all}"), "the roles connect"),
        may("REVOKE ALL ON SCHEMA public FROM PUBLIC".to_owned(), "nobody makes anything in public"),
        may(
            format!("GRANT {migrate} TO CURRENT_USER"),
            "an administrator that is no superuser must be a member to give it a schema",
        ),
        must(
            format!("CREATE SCHEMA IF NOT EXISTS airlock AUTHORIZATION {migrate}"),
            "the schema, owned by the role that brings it up to date",
        ),
        must(
            format!("GRANT USAGE ON SCHEMA airlock TO {all}"),
            "the roles see the schema; what they may do in it is granted table by table",
        ),
        may(format!("REVOKE {migrate} FROM CURRENT_USER"), "the administrator is a member no longer"),
    ]
}

/// Tries everything a role of the store must be able to do and everything it must not, over a connection of that role.
///
/// # Errors
/// When the connection breaks; a trial that goes wrong is a [`Verdict`].
pub async fn prove(client: &Client, duty: &str) -> Result<Vec<Verdict>, SetupError> {
    try_all(client, &trials(duty)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_statement_carries_a_password_and_names_are_quoted() {
        let place = StorePlace::new("a \"b", "x'y");
        let printed: Vec<String> =
            roles(&place, &[], false).iter().chain(&inside(&place)).map(ToString::to_string).collect();
        for password in place.passwords.values() {
            assert!(printed.iter().all(|statement| !statement.contains(password.reveal())));
        }
        assert!(
            printed.iter().any(|statement| statement.starts_with("CREATE DATABASE \"a \"\"b\" ENCODING"))
        );
        assert!(printed.iter().any(|statement| statement.contains("AUTHORIZATION \"x'y_migrate\"")));
        let again = roles(&place, &[place.role("log")], true);
        let made = again.iter().filter(|statement| statement.sql.starts_with("CREATE ROLE")).count();
        assert_eq!((made, again.len()), (7, 8));
    }
}
