//! What can go wrong with the store, told apart by cause.

use airlock_types::ContentHash;
use thiserror::Error;

use super::content::ContentError;
use super::duty::Duty;
use super::id::ItemId;

/// A failure of the store. Messages name the place and the remedy, never a password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A role has no credential.
    #[error("store.credentials: there is none for `{duty}`: run `airlock setup --store`")]
    Unconfigured {
        /// The role.
        duty: Duty,
    },
    /// It cannot be reached, or went away in the middle: what was being done is done wholly or not at all.
    #[error("the store cannot be reached as `{duty}`: {reason}")]
    Away {
        /// The role.
        duty: Duty,
        /// Why.
        reason: String,
    },
    /// It does not let a role in.
    #[error(
        "store.credentials: `{duty}` is not let in: {reason}; `airlock setup --store` makes the roles and their passwords"
    )]
    Denied {
        /// The role.
        duty: Duty,
        /// Why.
        reason: String,
    },
    /// All connections of a role stayed in use.
    #[error("all {size} connections of `{duty}` to the store are busy: ask again in a moment")]
    Busy {
        /// The role.
        duty: Duty,
        /// How many there are.
        size: usize,
    },
    /// The database has another encoding.
    #[error(
        "store.url: the database is in {encoding}, and knowledge is UTF-8: make one with ENCODING 'UTF8' TEMPLATE template0"
    )]
    NotUtf8 {
        /// Its encoding.
        encoding: String,
    },
    /// A standby, or a server that only reads.
    #[error(
        "store.url: the server only reads (a standby, or default_transaction_read_only): name the primary, or add target_session_attrs=read-write"
    )]
    ReadOnly,
    /// An administrator plays the role.
    #[error(
        "store.credentials: `{duty}` is `{role}`, which is a superuser or bypasses row security: use the role that `airlock setup --store` makes"
    )]
    TooMuch {
        /// The role.
        duty: Duty,
        /// Its name on the server.
        role: String,
    },
    /// No schema, or nothing in it.
    #[error("store.url: there is no store in this database: run `airlock setup --store`")]
    NotSetUp,
    /// It was made by a later build.
    #[error(
        "the store is of version {found}, and this build knows up to {known}: use the newer airlock, or restore the store from before it was upgraded"
    )]
    Newer {
        /// Its version.
        found: i32,
        /// The last one known here.
        known: i32,
    },
    /// It was made by an earlier build and is not up to date.
    #[error(
        "the store is of version {found}, and this build needs {known}: run `airlock setup --store`, or start a host with the `migrate` credential"
    )]
    Older {
        /// Its version.
        found: i32,
        /// The version needed.
        known: i32,
    },
    /// A migration was recorded with another text than this build has.
    #[error(
        "migration {version} (`{name}`) of the store was run with another text ({recorded}) than this build has ({known}): this build and the one that made the store are not the same line"
    )]
    ChangedMigration {
        /// Its number.
        version: i32,
        /// Its name.
        name: String,
        /// Hash of what was run.
        recorded: String,
        /// Hash of what is here.
        known: String,
    },
    /// A role may not do what it is for.
    #[error(
        "the store refuses `{duty}` what it is for: {reason}; `airlock setup --store` grants it, `airlock doctor` shows what is missing"
    )]
    Privilege {
        /// The role.
        duty: Duty,
        /// What the server said.
        reason: String,
    },
    /// What was handed in cannot be kept.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Nothing there.
    #[error("there is no {what} `{id}` in this domain")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// The identity.
        id: ItemId,
    },
    /// Somebody decided before.
    #[error("`{id}` is {state} already: look at its history; set it back to decide again")]
    Decided {
        /// The item.
        id: ItemId,
        /// Where it stands.
        state: String,
    },
    /// The content is not the one that was looked at.
    #[error(
        "the content of `{id}` changed since it was read: it is {now} now, the decision was about {seen}"
    )]
    Changed {
        /// The item.
        id: ItemId,
        /// The hash that was decided on.
        seen: ContentHash,
        /// The hash it has.
        now: ContentHash,
        /// The content it has.
        content: Box<super::Content>,
    },
    /// Another pass is under way.
    #[error("another promotion pass is under way in this store: wait until it has ended")]
    PassRunning,
    /// What is kept cannot be read.
    #[error("a row of the store cannot be read: {0}")]
    Row(String),
    /// The server refused a statement for another reason.
    #[error("the store refused a statement: {message} ({code})")]
    Refused {
        /// SQLSTATE.
        code: String,
        /// What the server said.
        message: String,
    },
}

impl StoreError {
    /// Whether waiting can help: the server is away, starting, or has no room.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Away { .. } | Self::Busy { .. })
    }

    /// Whether a decision met something else than it was about.
    #[must_use]
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::Decided { .. } | Self::Changed { .. } | Self::PassRunning)
    }

    /// What the driver said, for a role.
    pub(super) fn of(duty: Duty, error: &tokio_postgres::Error) -> Self {
        let Some(server) = error.as_db_error() else {
            let mut reason = error.to_string();
            let mut source = std::error::Error::source(error);
            while let Some(inner) = source {
                reason = format!("{reason}: {inner}");
                source = inner.source();
            }
            return Self::Away { duty, reason };
        };
        let (code, message) = (server.code().code(), server.message().to_owned());
        match code {
            "42501" => Self::Privilege { duty, reason: message },
            "25006" => Self::ReadOnly,
            "3F000" | "42P01" | "42883" => Self::NotSetUp,
            _ if code.starts_with("08")
                || code.starts_with("57P")
                || matches!(code, "53300" | "57014" | "55P03") =>
            {
                Self::Away { duty, reason: message }
            }
            _ => Self::Refused { code: code.to_owned(), message },
        }
    }
}
