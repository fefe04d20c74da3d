//! Claims about the role that reads.

use airlock_types::Catalogue;
use airlock_types::catalogue::{Relation, RelationKind};

use super::{Finding, first_cell, first_column};
use crate::error::DatabaseError;
use crate::exchange::Begin;
use crate::settings::identifier;
use crate::source::Source;
use crate::wire::Step;

/// Relations whose grants are tried; the rest is judged by privilege.
const TRIED: usize = 100;

/// Examples named in a finding.
const NAMED: usize = 5;

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
            found: format!("it may {}", some(&written, ", ")),
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
            found: format!("it may make tables in {}", some(&made, ", ")),
            remedy: format!("REVOKE CREATE ON SCHEMA {} FROM PUBLIC, and from the reader", identifier(first)),
        },
    })
}

/// What only more than a reader may do, and what leaves nothing behind when it is done and rolled back.
const REFUSED: &[(&str, &str)] = &[
    ("read a file of the server", "SELECT pg_catalog.pg_read_file('PG_VERSION')"),
    ("read the bytes of a file", "SELECT pg_catalog.pg_read_binary_file('PG_VERSION')"),
    ("list a folder of the server", "SELECT pg_catalog.pg_ls_dir('.')"),
    ("ask about a file", "SELECT pg_catalog.pg_stat_file('PG_VERSION')"),
    ("import a file", "SELECT pg_catalog.lo_import('/dev/null')"),
    ("write to a file", "COPY (SELECT 1) TO '/dev/null'"),
    ("run a program", "COPY (SELECT 1) TO PROGRAM 'true'"),
    ("make a schema", "CREATE SCHEMA airlock_check"),
    ("make a role", "CREATE ROLE airlock_check"),
    ("lift its limit of temporary files", "SET LOCAL temp_file_limit = -1"),
];

pub(super) async fn is_refused(source: &Source) -> Result<Finding, DatabaseError> {
    if is_standby(source).await? {
        return Ok(Finding::CannotTry(STANDBY.to_owned()));
    }
    let mut done = Vec::new();
    for (what, sql) in REFUSED {
        if let Attempt::Done = attempt(source, sql).await? {
            done.push((*what).to_owned());
        }
    }
    Ok(if done.is_empty() {
        Finding::Holds(format!("{} attempts refused", REFUSED.len()))
    } else {
        Finding::Broken {
            found: format!("it may {}", some(&done, ", ")),
            remedy: "the other checks of the reader name the grant and the statement that takes it back"
                .to_owned(),
        }
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
            found: format!("row policies do not hold for the reader on {}", some(&open, ", ")),
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

/// The first of them, and how many more there are.
pub(super) fn some(items: &[String], between: &str) -> String {
    let shown: Vec<&str> = items.iter().take(NAMED).map(String::as_str).collect();
    match items.len().saturating_sub(NAMED) {
        0 => shown.join(between),
        more => format!("{}{between}and {more} more", shown.join(between)),
    }
}
