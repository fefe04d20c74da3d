//! Claims about the server and the transaction.

use std::time::Duration;

use super::{Finding, first_cell};
use crate::error::DatabaseError;
use crate::exchange::Begin;
use crate::settings::Settings;
use crate::source::Source;
use crate::wire::cells;

/// Engines that speak the protocol and are something else.
const OTHER_ENGINES: &[&str] = &[
    "cockroach",
    "yugabyte",
    "-yb-",
    "redshift",
    "greenplum",
    "opengauss",
    "gaussdb",
    "risingwave",
    "materialize",
    "questdb",
    "cratedb",
];

pub(super) async fn is_postgresql(source: &Source) -> Result<Finding, DatabaseError> {
    let rows = source
        .check_statement(Begin::Reading, &source.fixed_settings(), "SELECT pg_catalog.version()")
        .await?;
    let version = first_cell(&rows)?;
    let lower = version.to_lowercase();
    let other = OTHER_ENGINES.iter().any(|engine| lower.contains(engine));
    let short: String = version.split(" on ").next().unwrap_or_default().chars().take(80).collect();
    Ok(if lower.starts_with("postgresql ") && !other {
        Finding::Holds(short)
    } else {
        Finding::Broken {
            found: format!("it says it is {short}"),
            remedy: "airlock knows what PostgreSQL's functions and grants mean; use a PostgreSQL server"
                .to_owned(),
        }
    })
}

pub(super) async fn version(source: &Source) -> Result<Finding, DatabaseError> {
    let sql = "SELECT pg_catalog.current_setting('server_version_num')";
    let number = first_cell(&source.check_statement(Begin::Reading, &source.fixed_settings(), sql).await?)?;
    let major = number.parse::<u32>().unwrap_or(0) / 10_000;
    Ok(if (13..=18).contains(&major) {
        Finding::Holds(format!("version {major}"))
    } else {
        Finding::Broken {
            found: format!("version {major}"),
            remedy: "use PostgreSQL 13 to 18: the gate's lists are made for these".to_owned(),
        }
    })
}

pub(super) async fn strings(source: &Source) -> Result<Finding, DatabaseError> {
    let sql = r"SELECT pg_catalog.length('a\b')";
    let length = first_cell(&source.check_statement(Begin::Reading, &source.fixed_settings(), sql).await?)?;
    Ok(if length == "3" {
        Finding::Holds("three characters".to_owned())
    } else {
        Finding::Broken {
            found: "the server reads a backslash as an escape: a literal means something else to the gate"
                .to_owned(),
            remedy: "let transactions set standard_conforming_strings = on".to_owned(),
        }
    })
}

pub(super) async fn timeouts(source: &Source) -> Result<Finding, DatabaseError> {
    let limit = Duration::from_millis(100);
    let settings = Settings::new(limit, limit, &[], "UTC");
    // Not pg_sleep: a hardened server keeps it from the reader. Some seconds of counting where nothing stops it.
    let slow = "SELECT count(*) FROM (SELECT pg_catalog.generate_series(1, 20000000)) AS numbers";
    Ok(match source.check_statement(Begin::Reading, &settings, slow).await {
        Err(DatabaseError::Server(error)) if error.code == "57014" => Finding::Holds("ended after 100 ms".to_owned()),
        Err(other) => return Err(other),
        Ok(_) => Finding::Broken {
            found: "it ran to its end under a timeout of 100 ms".to_owned(),
            remedy: "something between here and the server drops settings; connect to the server or another pooler"
                .to_owned(),
        },
    })
}

pub(super) async fn read_only(source: &Source) -> Result<Finding, DatabaseError> {
    let sql = "CREATE TEMPORARY TABLE airlock_check (n integer)";
    Ok(match source.check_statement(Begin::Reading, &source.fixed_settings(), sql).await {
        // 42501: not even the grant is there.
        Err(DatabaseError::Server(error)) if error.code == "25006" || error.code == "42501" => {
            Finding::Holds(format!("refused with {}", error.code))
        }
        Err(other) => return Err(other),
        Ok(_) => Finding::Broken {
            found: "the table was made (and rolled back)".to_owned(),
            remedy: "something between here and the server drops READ ONLY; connect to the server or another pooler"
                .to_owned(),
        },
    })
}

pub(super) async fn reset(source: &Source) -> Result<Finding, DatabaseError> {
    let settings = source.fixed_settings();
    let set = "SELECT pg_catalog.set_config('airlock.check', 'left behind', false)";
    source.check_statement(Begin::Reading, &settings, set).await?;
    let get = "SELECT pg_catalog.current_setting('airlock.check', true)";
    let left = first_cell(&source.check_statement(Begin::Reading, &settings, get).await?)?;
    Ok(if left.is_empty() {
        Finding::Holds("nothing was left behind".to_owned())
    } else {
        Finding::Broken {
            found: "the setting outlived its transaction".to_owned(),
            remedy: "something between here and the server does not roll back; connect to the server or another pooler"
                .to_owned(),
        }
    })
}

/// A limit of the role or the database that leaves a part of the pool unused. Through a pooler it may be enough.
pub(super) async fn connections(source: &Source) -> Result<Finding, DatabaseError> {
    let sql = "SELECT pg_catalog.format(w.remedy, w.name), w.connections
          FROM (SELECT 'ALTER ROLE %I CONNECTION LIMIT ', rolname, rolconnlimit FROM pg_catalog.pg_roles
                 WHERE rolname = session_user AND NOT rolsuper
                UNION ALL SELECT 'ALTER DATABASE %I CONNECTION LIMIT ', datname, datconnlimit FROM pg_catalog.pg_database
                 WHERE datname = pg_catalog.current_database()) AS w (remedy, name, connections)
         WHERE w.connections >= 0 ORDER BY w.connections LIMIT 1";
    let rows = source.check_statement(Begin::Reading, &source.fixed_settings(), sql).await?;
    let wanted = source.config().pool_size;
    let Some(row) = rows.rows.first() else { return Ok(Finding::Holds("no limit is set".to_owned())) };
    let mut answers = cells(row);
    let mut text = || Ok::<_, DatabaseError>(answers.next().transpose()?.flatten().unwrap_or_default());
    let (remedy, allowed) = (text()?.to_owned(), text()?.parse::<usize>().unwrap_or(0));
    Ok(if allowed >= wanted {
        Finding::Holds(format!("{allowed} for {wanted}"))
    } else {
        Finding::Advised {
            found: format!(
                "the source has `connections` {wanted}, and the server lets {allowed} in: asks beyond them are refused"
            ),
            remedy: format!("{remedy}{wanted}"),
        }
    })
}
