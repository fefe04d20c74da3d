//! What can go wrong between this host and a database, told apart by cause.

use std::io;
use std::time::Duration;

use airlock_types::{ErrorType, Failure, TableRef};
use thiserror::Error;

use crate::connection_string::ConnectionStringError;
use crate::redact;
use crate::sqlstate;
use crate::wire::ServerError;

/// A failure of the room itself, or of its own fixed SQL. Messages name the place and the remedy, never a password.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The connection string cannot be read.
    #[error(transparent)]
    ConnectionString(#[from] ConnectionStringError),
    /// Nobody listens there, or the way there is closed.
    #[error("no PostgreSQL answers at {at}: {reason}")]
    Unreachable {
        /// Address.
        at: String,
        /// What the system said.
        reason: String,
    },
    /// The server did not answer in time.
    #[error(
        "{at} did not answer within {seconds} s: check the address, a firewall, or raise connect_timeout"
    )]
    ConnectTimeout {
        /// Address.
        at: String,
        /// How long it was given.
        seconds: u64,
    },
    /// The password or certificate is not accepted, or `pg_hba.conf` has no line for this client.
    #[error("{at} does not let `{user}` in: {reason}")]
    Authentication {
        /// Address.
        at: String,
        /// Role.
        user: String,
        /// SQLSTATE, empty when this side refused.
        code: String,
        /// What the server said.
        reason: String,
    },
    /// There is no such database (3D000).
    #[error("{at} has no database `{database}`")]
    UnknownDatabase {
        /// Address.
        at: String,
        /// Database.
        database: String,
    },
    /// The server has no room for another connection (53300).
    #[error("{at} has no free connection slot: {reason}")]
    TooManyConnections {
        /// Address.
        at: String,
        /// What the server said.
        reason: String,
    },
    /// The server starts, stops or recovers (57P0x).
    #[error("{at} is not taking connections: {reason}")]
    NotReady {
        /// Address.
        at: String,
        /// What the server said.
        reason: String,
    },
    /// TLS was asked for and could not be had, or the certificate is not trusted.
    #[error("TLS with {at}: {reason}")]
    Tls {
        /// Address.
        at: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// None of several servers is what `target_session_attrs` asks for.
    #[error(
        "no host is what target_session_attrs asks for; {answered} answered and is not: a reader whose transactions begin \
         read-only is never `read-write`, use `primary`"
    )]
    NoSuchSession {
        /// Those that answered.
        answered: String,
    },
    /// All connections of the pool stayed in use.
    #[error("all {size} connections are busy and none came free within {} ms: raise the source's `connections`, or ask less at once", waited.as_millis())]
    Busy {
        /// Size of the pool.
        size: usize,
        /// How long was waited.
        waited: Duration,
    },
    /// A statement outlived its timeout a moment ago, and the server does not answer.
    #[error("the source rests for {} more seconds: its server overran its timeout and does not answer a new connection", left.as_secs() + 1)]
    Resting {
        /// Until it is tried again.
        left: Duration,
    },
    /// Statements that PostgreSQL cannot stop still run there.
    #[error(
        "the source rests: {running} statements that PostgreSQL cannot stop still run on its server; it is asked again by \
         itself when fewer than {most} are left"
    )]
    Orphaned {
        /// How many run, those included that were cancelled and did not end while they were waited for.
        running: usize,
        /// How many may run before nothing new is started.
        most: usize,
    },
    /// The connection ended in the middle.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The server did not answer by the deadline, and does not answer anything else.
    #[error("the server did not answer within {} ms", after.as_millis())]
    Deadline {
        /// The deadline.
        after: Duration,
    },
    /// The server is there and answers others, and did not end a statement by its deadline.
    #[error("the statement did not end within {} ms, and PostgreSQL did not stop it", after.as_millis())]
    Unstopped {
        /// The deadline.
        after: Duration,
    },
    /// More arrived than a limit lets through.
    #[error(
        "{what} is larger than {limit} bytes: select fewer columns or rows, or cut long values with left()"
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// What came is not PostgreSQL's protocol.
    #[error("the server broke PostgreSQL's protocol: {0}")]
    Protocol(String),
    /// The server reported an error for a statement of this room.
    #[error("{}", redact::message(.0, ""))]
    Server(Box<ServerError>),
    /// Relations with row security are never sampled.
    #[error("{0} has row security, or reads a relation that has: its values are never sampled or indexed")]
    RowSecurity(TableRef),
    /// A name that is not there.
    #[error("{0} does not exist or may not be read")]
    UnknownRelation(TableRef),
}

impl DatabaseError {
    /// The kind this failure has when it ends a statement.
    #[must_use]
    pub fn error_type(&self) -> ErrorType {
        match self {
            Self::Server(error) => sqlstate::classify(&error.code, &error.message),
            Self::TooLarge { .. } => ErrorType::Resource,
            Self::Unstopped { .. } => ErrorType::Timeout,
            Self::RowSecurity(_) => ErrorType::PermissionDenied,
            Self::UnknownRelation(_) => ErrorType::UnknownTable,
            _ => ErrorType::Infrastructure,
        }
    }

    /// The SQLSTATE, when a server reported one for a statement.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        match self {
            Self::Server(error) => Some(&error.code),
            _ => None,
        }
    }

    /// This failure as the failure of a text.
    #[must_use]
    pub fn to_failure(&self, sql: &str) -> Failure {
        match self {
            Self::Server(error) => error.to_failure(sql),
            other => Failure::new(other.error_type(), other.for_asker(), sql),
        }
    }

    /// Before any host was tried.
    pub(crate) fn no_host() -> Self {
        Self::Protocol("there is no host to connect to".to_owned())
    }

    /// What whoever asks is told: where the data source is and who reads it is the operator's.
    #[must_use]
    pub fn for_asker(&self) -> String {
        match self {
            Self::Unreachable { .. } | Self::ConnectTimeout { .. } => "the data source does not answer",
            Self::Authentication { .. } | Self::UnknownDatabase { .. } | Self::NoSuchSession { .. } => {
                "the data source does not let this host in"
            }
            Self::TooManyConnections { .. } => "the data source has no free connection",
            Self::NotReady { .. } => "the data source is not taking connections at the moment",
            Self::Tls { .. } => "no encrypted connection to the data source can be had",
            Self::ConnectionString(_) => "the data source is not configured as it must be",
            other => return other.to_string(),
        }
        .to_owned()
    }

    /// Whether talking with TLS instead of without, or the other way round, may help: the server has no line for this way
    /// in `pg_hba.conf`. A wrong password is not tried again: it must not go over a network in the clear as well.
    pub(crate) fn invites_the_other_way(&self) -> bool {
        match self {
            Self::Tls { .. } => true,
            Self::Authentication { code, .. } => code == "28000",
            _ => false,
        }
    }

    /// Whether another host of the same string would say the same.
    pub(crate) const fn holds_for_every_host(&self) -> bool {
        matches!(self, Self::Authentication { .. } | Self::UnknownDatabase { .. })
    }

    /// Whether the same work may succeed on a fresh connection: the old one had died before.
    pub(crate) const fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Lost(_))
    }
}

impl From<io::Error> for DatabaseError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Self::Protocol(error.to_string()),
            _ => Self::Lost(error.to_string()),
        }
    }
}
