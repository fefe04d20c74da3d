//! A role as statements: each shown before it runs, or only shown; what is there already is left alone.

use std::io::{self, Write};

use airlock_types::TableRef;
use airlock_types::text::{Place, visible};
use tokio_postgres::{Client, Transaction};

use super::{Duty, Owned, Reach, Refused, Role, Statement, Surroundings, Trial, reader};
use crate::error::{SetupError, reason};
use crate::fitness;

/// Everything that makes a role what it must be, in order.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The role.
    pub role: Role,
    /// Whether the role was there before.
    pub role_exists: bool,
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
        unfit.retain(airlock_database::checks::Power::is_lasting);
        if !unfit.is_empty() {
            return Err(SetupError::Unfit { role: role.name.clone(), unfit });
        }
    }
    let (mut statements, trials) = match role.duty {
        Duty::Reader => (reader::statements(role, &surroundings), reader::trials(role, &surroundings)),
    };
    for statement in &mut statements {
        statement.unchanged = match &statement.holds {
            Some(query) => holds(admin.query_one(query, &[]).await),
            None => false,
        };
    }
    Ok(Plan { role: role.clone(), role_exists: surroundings.role_exists, statements, trials })
}

/// What cannot be asked, such as about a role that is not there, does not hold.
fn holds(answer: Result<tokio_postgres::Row, tokio_postgres::Error>) -> bool {
    answer.is_ok_and(|row| row.get(0))
}

impl Plan {
    /// Prints every statement, for a DBA to run, and what would take back those that touch others.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let shown = |name| visible(name, Place::Identifier);
        writeln!(out, "-- Role {} in database {}", shown(&self.role.name), shown(&self.role.database))?;
        for statement in self.statements.iter().filter(|statement| statement.unchanged) {
            writeln!(out, "-- unchanged: {}", statement.sql)?;
        }
        let undo: Vec<&str> = self.to_undo().collect();
        if !undo.is_empty() {
            writeln!(out, "-- What touches other users of the database is taken back by:")?;
            undo.iter().try_for_each(|sql| writeln!(out, "--   {sql};"))?;
        }
        self.to_do().try_for_each(|statement| writeln!(out, "{statement}"))
    }

    /// The statements that change something.
    pub fn to_do(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(|statement| !statement.unchanged)
    }

    /// Whether it gives the role a password.
    #[must_use]
    pub fn sets_password(&self) -> bool {
        self.to_do().any(Statement::sets_password)
    }

    /// Statements that take back what touches other users of the database.
    pub fn to_undo(&self) -> impl Iterator<Item = &str> {
        self.to_do().filter_map(|statement| statement.undo.as_deref())
    }

    /// Runs what changes something in one transaction, each statement given to `show` before it runs. What the server refuses
    /// is undone alone, and told; the rest is done.
    ///
    /// # Errors
    /// When the connection breaks; then nothing is changed.
    pub async fn apply(
        &self,
        admin: &mut Client,
        mut show: impl FnMut(&Statement),
    ) -> Result<Vec<Refused>, SetupError> {
        let began = admin.transaction().await;
        let mut transaction = began.map_err(|error| SetupError::database("beginning", &error))?;
        let mut refused = Vec::new();
        for statement in self.to_do() {
            show(statement);
            let Some(reason) = attempt(&mut transaction, statement).await? else { continue };
            if statement.parts.is_empty() {
                refused.push(Refused { statement: statement.clone(), reason });
            }
            for part in &statement.parts {
                show(part);
                if let Some(reason) = attempt(&mut transaction, part).await? {
                    refused.push(Refused { statement: part.clone(), reason });
                }
            }
        }
        transaction.commit().await.map_err(|error| SetupError::database("committing", &error))?;
        Ok(refused)
    }
}

/// Runs one statement; gives what the server said when it refused.
async fn attempt(
    transaction: &mut Transaction<'_>,
    statement: &Statement,
) -> Result<Option<String>, SetupError> {
    let failed = |error: tokio_postgres::Error| SetupError::database(statement.doing(), &error);
    let point = transaction.transaction().await.map_err(failed)?;
    match point.batch_execute(&statement.sql).await {
        Ok(()) => {}
        Err(error) if error.as_db_error().is_none() => return Err(failed(error)),
        Err(error) => return Ok(Some(reason(&error))),
    }
    // Where somebody may grant a part of what was asked for, or nothing, PostgreSQL warns and goes on.
    let done = match &statement.holds {
        Some(query) => holds(point.query_one(query, &[]).await),
        None => true,
    };
    if done {
        point.commit().await.map_err(failed)?;
        return Ok(None);
    }
    Ok(Some("it had no effect: whoever ran it may not grant or revoke that (42501)".to_owned()))
}

const OWNERS: &str = "SELECT DISTINCT n.nspname::text, pg_get_userbyid(o.owner)::text
    FROM pg_namespace n
    CROSS JOIN LATERAL (
        SELECT n.nspowner UNION SELECT c.relowner FROM pg_class c
        WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    ) AS o (owner)
    WHERE n.nspname = ANY ($1) AND o.owner NOT IN (SELECT oid FROM pg_roles WHERE rolname = 'pg_database_owner')
    ORDER BY 1, 2";

const SCHEMA_OWNERS: &str = "SELECT n.nspname::text, pg_get_userbyid(n.nspowner)::text
    FROM pg_namespace n WHERE n.nspname = ANY ($1) ORDER BY 1";

const DATABASE_OWNER: &str =
    "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = current_database()";

const RELATIONS: &str = "SELECT n.nspname::text, c.relname::text, pg_get_userbyid(c.relowner)::text,
        c.relkind IN ('r', 'p') AND NOT c.relispartition
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    ORDER BY 1, 2";

async fn survey(admin: &Client, role: &Role) -> Result<Surroundings, SetupError> {
    let failed = |error: tokio_postgres::Error| SetupError::database("reading the catalogue", &error);
    let schemas = role.reach.schemas();
    let exists = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)";
    let role_exists = admin.query_one(exists, &[&role.name]).await.map_err(failed)?.get(0);
    let pairs = async |query: &str| {
        let rows = admin.query(query, &[&schemas]).await.map_err(failed)?;
        Ok::<Vec<(String, String)>, SetupError>(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    };
    let relations = admin.query(RELATIONS, &[&schemas]).await.map_err(failed)?;
    let mut relations: Vec<Owned> = relations
        .iter()
        .map(|row| Owned {
            table: TableRef::new(row.get::<_, String>(0), row.get::<_, String>(1)),
            owner: row.get(2),
            is_table: row.get(3),
        })
        .collect();
    if let Reach::Only(only) = &role.reach {
        relations.retain(|relation| only.contains(&relation.table));
    }
    let harmful = admin.query(&reader::open_functions(), &[]).await.map_err(failed)?;
    Ok(Surroundings {
        role_exists,
        owners: pairs(OWNERS).await?,
        schema_owners: pairs(SCHEMA_OWNERS).await?,
        database_owner: admin.query_one(DATABASE_OWNER, &[]).await.map_err(failed)?.get(0),
        relations,
        harmful_functions: harmful.iter().map(|row| row.get(0)).collect(),
    })
}
