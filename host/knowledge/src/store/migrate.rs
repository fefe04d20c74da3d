//! Migrations: files of this build, run in order under one lock, recorded with their hash.

use std::collections::BTreeMap;

use airlock_types::ContentHash;
use tokio_postgres::Client;

use super::duty::Duty;
use super::error::StoreError;
use super::pool::Lease;

struct Migration {
    version: i32,
    name: &'static str,
    text: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "store", text: include_str!("../../migrations/0001_store.sql") },
    Migration { version: 2, name: "records", text: include_str!("../../migrations/0002_records.sql") },
    Migration { version: 3, name: "identity", text: include_str!("../../migrations/0003_identity.sql") },
    Migration { version: 4, name: "snapshots", text: include_str!("../../migrations/0004_snapshots.sql") },
    Migration { version: 5, name: "outcomes", text: include_str!("../../migrations/0005_outcomes.sql") },
    Migration { version: 6, name: "sent", text: include_str!("../../migrations/0006_sent.sql") },
];

/// One host at a time brings the store up to date.
const LOCK: i64 = 0x6169_726c_6f63_6b01;

const RECORD: &str = "CREATE TABLE IF NOT EXISTS airlock.migrations (
    version int PRIMARY KEY, name text NOT NULL, hash text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), applied_by text NOT NULL DEFAULT session_user)";

/// What bringing the store up to date did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The version it had; 0 when it was empty.
    pub from: i32,
    /// The version it has.
    pub to: i32,
}

fn latest() -> i32 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

/// Runs what is missing, all of it or nothing.
pub(super) async fn migrate(
    client: &mut Lease,
    roles: &BTreeMap<Duty, String>,
) -> Result<Migrated, StoreError> {
    migrate_with(client, roles, MIGRATIONS).await
}

async fn migrate_with(
    lease: &mut Lease,
    roles: &BTreeMap<Duty, String>,
    migrations: &[Migration],
) -> Result<Migrated, StoreError> {
    let failed = |error: tokio_postgres::Error| match error.as_db_error() {
        // The schema is looked for first; what a migration itself does not find is a fault of the migration.
        Some(server) if matches!(server.code().code(), "3F000" | "42P01" | "42883") => StoreError::Refused {
            code: server.code().code().to_owned(),
            message: server.message().to_owned(),
        },
        _ => StoreError::of(Duty::Migrate, &error),
    };
    let transaction = lease.transaction().await.map_err(failed)?;
    transaction
        .batch_execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'")
        .await
        .map_err(failed)?;
    let there = "SELECT to_regnamespace('airlock') IS NOT NULL";
    if !transaction.query_one(there, &[]).await.map_err(failed)?.get::<_, bool>(0) {
        return Err(StoreError::NotSetUp);
    }
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(failed)?;
    transaction.batch_execute(RECORD).await.map_err(failed)?;
    let query = "SELECT version, name, hash FROM airlock.migrations ORDER BY version";
    let recorded: Vec<(i32, String, String)> = transaction
        .query(query, &[])
        .await
        .map_err(failed)?
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect();
    let from = compare(&recorded, migrations)?;
    for migration in migrations.iter().filter(|migration| migration.version > from) {
        transaction.batch_execute(&for_roles(migration.text, roles)).await.map_err(failed)?;
        let hash = ContentHash::of(migration.text).to_string();
        let record = "INSERT INTO airlock.migrations (version, name, hash) VALUES ($1, $2, $3)";
        transaction.execute(record, &[&migration.version, &migration.name, &hash]).await.map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)?;
    Ok(Migrated { from, to: migrations.last().map_or(0, |migration| migration.version) })
}

/// Whether the store is of this build's version, by a role that only reads the record.
pub(super) async fn verify(lease: &Lease) -> Result<(), StoreError> {
    let recorded = recorded(lease).await.map_err(|error| lease.error(&error))?;
    let found = compare(&recorded, MIGRATIONS)?;
    if found < latest() {
        return Err(StoreError::Older { found, known: latest() });
    }
    Ok(())
}

async fn recorded(client: &Client) -> Result<Vec<(i32, String, String)>, tokio_postgres::Error> {
    let query = "SELECT version, name, hash FROM airlock.migrations ORDER BY version";
    Ok(client.query(query, &[]).await?.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect())
}

/// The last version recorded, if all that is recorded is what this build would have run.
fn compare(recorded: &[(i32, String, String)], migrations: &[Migration]) -> Result<i32, StoreError> {
    let known = migrations.last().map_or(0, |migration| migration.version);
    if let Some((found, ..)) = recorded.last().filter(|(version, ..)| *version > known) {
        return Err(StoreError::Newer { found: *found, known });
    }
    for (version, name, hash) in recorded {
        let here = migrations.iter().find(|migration| migration.version == *version);
        let here = here.map_or_else(String::new, |migration| ContentHash::of(migration.text).to_string());
        if here != *hash {
            let short = |hash: &str| hash.chars().take(12).collect::<String>();
            return Err(StoreError::ChangedMigration {
                version: *version,
                name: name.clone(),
                recorded: short(hash),
                known: short(&here),
            });
        }
    }
    Ok(recorded.last().map_or(0, |(version, ..)| *version))
}

/// A migration with the names of the roles in it. Its hash is that of the text without them.
fn for_roles(text: &str, roles: &BTreeMap<Duty, String>) -> String {
    roles.iter().fold(text.to_owned(), |text, (duty, role)| {
        text.replace(&format!("{{{duty}}}"), &format!("\"{}\"", role.replace('"', "\"\"")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_newer_record_is_told() {
        let hash = |text: &str| ContentHash::of(text).to_string();
        let here = [
            Migration { version: 1, name: "one", text: "a" },
            Migration { version: 2, name: "two", text: "b" },
        ];
        for (recorded, want) in [
            (vec![], Ok(0)),
            (vec![(1, hash("a"))], Ok(1)),
            (vec![(1, hash("a")), (2, hash("b"))], Ok(2)),
            (vec![(1, hash("x"))], Err("was run with another text")),
            (vec![(1, hash("a")), (2, hash("b")), (3, hash("c"))], Err("is of version 3")),
        ] {
            let recorded: Vec<_> =
                recorded.into_iter().map(|(version, hash)| (version, "n".to_owned(), hash)).collect();
            match (compare(&recorded, &here), want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want),
                (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{error}"),
                (got, want) => panic!("{got:?}, wanted {want:?}"),
            }
        }
    }

    #[test]
    fn every_role_of_a_migration_is_named() {
        let roles = Duty::ALL.into_iter().map(|duty| (duty, format!("x_{duty}"))).collect();
        for migration in MIGRATIONS {
            let text = for_roles(migration.text, &roles);
            for duty in Duty::ALL {
                assert!(!text.contains(&format!("{{{duty}}}")), "{duty}");
            }
        }
        assert!(MIGRATIONS.windows(2).all(|pair| pair[0].version < pair[1].version));
    }
}
