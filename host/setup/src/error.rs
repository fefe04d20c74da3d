//! What can go wrong while a database is set up, told apart by cause.

use std::path::{Path, PathBuf};

use airlock_database::checks::Power;
use thiserror::Error;

use crate::roles::Verdict;

/// A failure of setup. Messages name the place and the remedy, never a password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// No server binaries of PostgreSQL are on this machine, or only too old ones.
    #[error(
        "no server binaries of PostgreSQL 13 or later in {searched}: install PostgreSQL's server, or name its bin folder"
    )]
    NoBinaries {
        /// Folders that were looked at.
        searched: String,
    },
    /// This process is root, PostgreSQL refuses to run as root, and no other account is there to run it.
    #[error(
        "PostgreSQL does not run as root, and this machine has neither an account `postgres` nor `nobody`"
    )]
    NoAccount,
    /// Another airlock keeps this private server.
    #[error("another airlock (process {owner}) keeps the private PostgreSQL in {}: stop it, or use another data folder", dir.display())]
    InUse {
        /// The data folder.
        dir: PathBuf,
        /// The other process.
        owner: String,
    },
    /// A file or folder could not be read, made or changed.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said, or what is wrong with it.
        reason: String,
    },
    /// A program of PostgreSQL failed.
    #[error("{program} failed: {said}")]
    Program {
        /// `initdb`, `postgres`, `pg_ctl`.
        program: &'static str,
        /// The end of what it wrote.
        said: String,
    },
    /// The server was started and does not answer.
    #[error("the private PostgreSQL did not answer within {seconds} s: {said}")]
    NotReady {
        /// How long it was given.
        seconds: u64,
        /// The end of its log.
        said: String,
    },
    /// PostgreSQL refused a statement of setup, or the connection broke.
    #[error("{doing}: {reason}")]
    Database {
        /// What was being done.
        doing: String,
        /// What the server or the connection said.
        reason: String,
    },
    /// The role is there already and is more than a role of airlock may be.
    #[error("role `{role}` may do too much: {}", list(unfit))]
    Unfit {
        /// The role.
        role: String,
        /// Each reason.
        unfit: Vec<Power>,
    },
    /// The server takes no writes.
    #[error("{at} is a standby: roles and grants come from its primary; run setup there")]
    Standby {
        /// The server.
        at: String,
    },
    /// A role did not pass its trials.
    #[error("role `{role}` is not what it must be: {}", list(failed))]
    Unproven {
        /// The role.
        role: String,
        /// The trials that went wrong.
        failed: Vec<Verdict>,
    },
}

impl SetupError {
    pub(crate) fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn database(doing: impl Into<String>, error: &tokio_postgres::Error) -> Self {
        Self::Database { doing: doing.into(), reason: reason(error) }
    }
}

/// What the server said, with its code; else what the driver and the system said.
pub(crate) fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        return format!("{} ({})", db.message(), db.code().code());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
