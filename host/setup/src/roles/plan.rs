//! A role as statements: each shown before it runs, or only shown.

use std::fmt;
use std::io::{self, Write};

use airlock_types::TableRef;
use tokio_postgres::Client;

use super::{Duty, Reach, Role, Surroundings, Trial, reader};
use crate::error::{SetupError, reason};
use crate::fitness;

/// A statement of setup. It carries no password: roles are given a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement, as it is run.
    pub sql: String,
    /// What it is for.
    pub why: &'static str,
    /// Whether setup fails without it. A managed service may refuse the others; the trials then tell what is missing.
    pub needed: bool,
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};  -- {}", self.sql, self.why)
    }
}

/// A statement that the server did not accept, and that setup can do without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The statement.
    pub statement: Statement,
    /// What the server said.
    pub reason: String,
}

/// Everything that makes a role what it must be, in order.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The role.
    pub role: Role,
    /// What is run.
    pub statements: Vec<Statement>,
    /// What proves it.
    pub trials: Vec<Trial>,
}

/// Writes the plan for a role, after a look at the database that `admin` is connected to. Changes nothing.
///
/// # Errors
/// [`SetupError::Unfit`] when the role is there and is an administrator or an owner: setup would give somebody else's
/// role a new password. Else when the catalogue cannot be read.
pub async fn plan(admin: &Client, role: &Role) -> Result<Plan, SetupError> {
    let surroundings = survey(admin, role).await?;
    if surroundings.role_exists {
        let mut unfit = fitness::unfit(admin, &role.name).await?;
        unfit.retain(fitness::Unfit::is_lasting);
        if !unfit.is_empty() {
            return Err(SetupError::Unfit { role: role.name.clone(), unfit });
        }
    }
    let (statements, trials) = match role.duty {
        Duty::Reader => (reader::statements(role, &surroundings), reader::trials(role, &surroundings)),
    };
    Ok(Plan { role: role.clone(), statements, trials })
}

impl Plan {
    /// Prints every statement, for a DBA to run.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "-- Role {} in database {}", self.role.name, self.role.database)?;
        self.statements.iter().try_for_each(|statement| writeln!(out, "{statement}"))
    }

    /// Runs the statements in one transaction, each given to `show` before it runs. A statement that is not needed and
    /// that the server refuses is undone alone, and told.
    ///
    /// # Errors
    /// When a needed statement is refused; then nothing is changed.
    pub async fn apply(
        &self,
        admin: &mut Client,
        mut show: impl FnMut(&Statement),
    ) -> Result<Vec<Refused>, SetupError> {
        // A statement that sets a password holds its verifier, which has no business in an error.
        let doing = |statement: &Statement| match statement.sql.contains(" PASSWORD ") {
            true => statement.why.to_owned(),
            false => format!("{} (`{}`)", statement.why, statement.sql),
        };
        let began = admin.transaction().await;
        let mut transaction = began.map_err(|error| SetupError::database("beginning", &error))?;
        let mut refused = Vec::new();
        for statement in &self.statements {
            show(statement);
            let point = transaction.transaction().await;
            let point = point.map_err(|error| SetupError::database(doing(statement), &error))?;
            match point.batch_execute(&statement.sql).await {
                Ok(()) => {
                    point.commit().await.map_err(|error| SetupError::database(doing(statement), &error))?
                }
                Err(error) if statement.needed || error.as_db_error().is_none() => {
                    return Err(SetupError::database(doing(statement), &error));
                }
                Err(error) => refused.push(Refused { statement: statement.clone(), reason: reason(&error) }),
            }
        }
        transaction.commit().await.map_err(|error| SetupError::database("committing", &error))?;
        Ok(refused)
    }
}

const OWNERS: &str = "SELECT DISTINCT n.nspname::text, pg_get_userbyid(o.owner)::text
    FROM pg_namespace n
    CROSS JOIN LATERAL (
        SELECT n.nspowner UNION SELECT c.relowner FROM pg_class c
        WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    ) AS o (owner)
    WHERE n.nspname = ANY ($1) AND o.owner NOT IN (SELECT oid FROM pg_roles WHERE rolname = 'pg_database_owner')
    ORDER BY 1, 2";

const TABLES: &str = "SELECT n.nspname::text, c.relname::text
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    ORDER BY 1, 2";

async fn survey(admin: &Client, role: &Role) -> Result<Surroundings, SetupError> {
    let failed = |error: tokio_postgres::Error| SetupError::database("reading the catalogue", &error);
    let schemas = role.reach.schemas();
    let exists = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)";
    let role_exists = admin.query_one(exists, &[&role.name]).await.map_err(failed)?.get(0);
    let owners = admin.query(OWNERS, &[&schemas]).await.map_err(failed)?;
    let tables = admin.query(TABLES, &[&schemas]).await.map_err(failed)?;
    let mut tables: Vec<TableRef> =
        tables.iter().map(|row| TableRef::new(row.get::<_, String>(0), row.get::<_, String>(1))).collect();
    if let Reach::Only(only) = &role.reach {
        tables.retain(|table| only.contains(table));
    }
    let writing = admin.query(reader::WRITING_FUNCTIONS, &[]).await.map_err(failed)?;
    Ok(Surroundings {
        role_exists,
        owners: owners.iter().map(|row| (row.get(0), row.get(1))).collect(),
        tables,
        writing_functions: writing.iter().map(|row| row.get(0)).collect(),
    })
}
