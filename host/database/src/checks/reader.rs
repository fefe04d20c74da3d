//! Claims about the role that reads.

use airlock_types::Catalogue;
use airlock_types::catalogue::{Relation, RelationKind};

use super::{Finding, first_cell, first_column};
use crate::error::DatabaseError;
use crate::exchange::Begin;
use crate::settings::{identifier, text_array};
use crate::source::Source;
use crate::wire::Step;

/// Relations whose grants are tried; the rest is judged by privilege.
const TRIED: usize = 100;

/// Examples named in a finding.
const NAMED: usize = 5;

/// What makes a role more than a reader: `$1`, `$2` schemas and names of the listed relations. Memberships count whether
/// they are inherited or taken up by SET ROLE.
const POWERS: &str = "\
WITH held AS (
  SELECT r.* FROM pg_catalog.pg_roles r WHERE pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')),
listed AS (
  SELECT c.* FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE (n.nspname::pg_catalog.text, c.relname::pg_catalog.text) IN (
         SELECT * FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) AS o))
SELECT 'is a superuser' FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper
UNION ALL SELECT 'is, or can become, ' || rolname || ', which bypasses row security' FROM held WHERE rolbypassrls AND NOT rolsuper
UNION ALL SELECT 'is, or can become, ' || rolname || ', which makes roles or databases or replicates'
            FROM held WHERE (rolcreaterole OR rolcreatedb OR rolreplication) AND NOT rolsuper
UNION ALL SELECT 'is a member of ' || rolname FROM held
           WHERE rolname IN ('pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files',
                             'pg_execute_server_program', 'pg_signal_backend', 'pg_database_owner', 'pg_maintain')
             AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper)
UNION ALL SELECT 'owns, or can become the owner of, ' || c.oid::pg_catalog.regclass::pg_catalog.text
            FROM listed c JOIN held h ON h.oid = c.relowner WHERE NOT h.rolsuper
UNION ALL SELECT 'can become ' || h.rolname || ', which may write ' || c.oid::pg_catalog.regclass::pg_catalog.text
            FROM held h CROSS JOIN listed c
           WHERE NOT h.rolsuper AND h.oid <> c.relowner
             AND pg_catalog.has_table_privilege(h.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
LIMIT 50";

pub(super) async fn is_small(source: &Source, catalogue: &Catalogue) -> Result<Finding, DatabaseError> {
    let schemas = text_array(catalogue.iter().map(|relation| relation.table.schema.as_str()));
    let names = text_array(catalogue.iter().map(|relation| relation.table.name.as_str()));
    let parameters = [Some(schemas.as_str()), Some(names.as_str())];
    let results =
        source.fixed(Begin::Reading, &source.fixed_settings(), &[Step::new(POWERS, &parameters)]).await?;
    let powers = results.first().map(first_column).transpose()?.unwrap_or_default();
    Ok(if powers.is_empty() {
        Finding::Holds("it reads and nothing else".to_owned())
    } else {
        Finding::Broken {
            found: format!("the role {}", some(&powers)),
            remedy: "use the role that `airlock setup` makes: it has SELECT and nothing else".to_owned(),
        }
    })
}

pub(super) async fn cannot_write(source: &Source, catalogue: &Catalogue) -> Result<Finding, DatabaseError> {
    if is_standby(source).await? {
        return Ok(Finding::CannotTry(STANDBY.to_owned()));
    }
    let mut written = Vec::new();
    let mut tried = 0;
    for relation in catalogue.iter().filter(|r| r.kind != RelationKind::MaterializedView).take(TRIED) {
        for (verb, sql) in attempts(relation) {
            match attempt(source, &sql).await? {
                Attempt::Denied => tried += 1,
                Attempt::Done => written.push(format!("{verb} {}", relation.table)),
                // A view that cannot be written by anybody, a foreign server that is away.
                Attempt::Other => {}
            }
        }
    }
    Ok(if !written.is_empty() {
        Finding::Broken {
            found: format!("it may {}", some(&written)),
            remedy: "revoke everything but SELECT from the reader and from PUBLIC on these relations"
                .to_owned(),
        }
    } else if tried == 0 {
        Finding::CannotTry("no relation is listed that could be written".to_owned())
    } else {
        Finding::Holds(format!("{tried} attempts refused with 42501"))
    })
}

pub(super) async fn cannot_create(source: &Source, catalogue: &Catalogue) -> Result<Finding, DatabaseError> {
    if is_standby(source).await? {
        return Ok(Finding::CannotTry(STANDBY.to_owned()));
    }
    let mut made = Vec::new();
    for schema in &catalogue.search_path {
        match attempt(source, &format!("CREATE TABLE {}.airlock_check (n integer)", identifier(schema)))
            .await?
        {
            Attempt::Done => made.push(schema.clone()),
            Attempt::Denied | Attempt::Other => {}
        }
    }
    Ok(match made.as_slice() {
        [] => Finding::Holds(format!("refused in {} schemas", catalogue.search_path.len())),
        [first, ..] => Finding::Broken {
            found: format!("it may make tables in {}", some(&made)),
            remedy: format!("REVOKE CREATE ON SCHEMA {} FROM PUBLIC, and from the reader", identifier(first)),
        },
    })
}

pub(super) async fn row_security(source: &Source, catalogue: &Catalogue) -> Result<Finding, DatabaseError> {
    let mut open = Vec::new();
    let mut held = 0;
    for relation in catalogue.iter().filter(|relation| relation.row_security).take(TRIED) {
        // A view has no policies of its own: those under it apply to the owner of the view.
        if !matches!(relation.kind, RelationKind::Table | RelationKind::PartitionedTable) {
            continue;
        }
        let name = format!("{}.{}", identifier(&relation.table.schema), identifier(&relation.table.name));
        let parameters = [Some(name.as_str())];
        let sql = "SELECT pg_catalog.row_security_active($1::pg_catalog.text)::pg_catalog.text";
        let results =
            source.fixed(Begin::Reading, &source.fixed_settings(), &[Step::new(sql, &parameters)]).await?;
        match results.first().map(first_column).transpose()?.unwrap_or_default().first().map(String::as_str) {
            Some("true") => held += 1,
            _ => open.push(relation.table.to_string()),
        }
    }
    Ok(if !open.is_empty() {
        Finding::Broken {
            found: format!("row policies do not hold for the reader on {}", some(&open)),
            remedy: "use a reader that neither owns these relations nor bypasses row security".to_owned(),
        }
    } else if held == 0 {
        Finding::CannotTry("no listed relation has row security".to_owned())
    } else {
        Finding::Holds(format!("they hold on {held} relations"))
    })
}

const STANDBY: &str =
    "the server is a standby: nobody writes here, and what is granted comes from its primary";

async fn is_standby(source: &Source) -> Result<bool, DatabaseError> {
    let sql = "SELECT pg_catalog.pg_is_in_recovery()";
    let rows = source.check_statement(Begin::Reading, &source.fixed_settings(), sql).await?;
    Ok(first_cell(&rows)? == "t")
}

/// What came of trying to write.
enum Attempt {
    Denied,
    Done,
    Other,
}

/// In a read-write transaction, so that the grant refuses and not the transaction. It is rolled back.
async fn attempt(source: &Source, sql: &str) -> Result<Attempt, DatabaseError> {
    match source.check_statement(Begin::Writable, &source.fixed_settings(), sql).await {
        Ok(_) => Ok(Attempt::Done),
        Err(DatabaseError::Server(error)) => Ok(match error.code.as_str() {
            "42501" => Attempt::Denied,
            _ => Attempt::Other,
        }),
        Err(other) => Err(other),
    }
}

/// Writes that touch no row.
fn attempts(relation: &Relation) -> Vec<(&'static str, String)> {
    let table = format!("{}.{}", identifier(&relation.table.schema), identifier(&relation.table.name));
    let mut attempts = vec![("delete from", format!("DELETE FROM {table} WHERE false"))];
    if let Some(column) = relation.columns.iter().find(|column| !column.generated) {
        let column = identifier(&column.name);
        attempts.push((
            "insert into",
            format!("INSERT INTO {table} ({column}) SELECT {column} FROM {table} WHERE false"),
        ));
        attempts.push(("update", format!("UPDATE {table} SET {column} = {column} WHERE false")));
    }
    attempts
}

fn some(items: &[String]) -> String {
    let shown: Vec<&str> = items.iter().take(NAMED).map(String::as_str).collect();
    match items.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
