//! libpq connection strings: `postgresql://user@host/db?sslmode=require` and `host=/run/postgresql dbname=shop`.
//!
//! The string holds a password as a rule, and a mistake in it can put a piece of the password anywhere (an unescaped
//! `@`, a space without quotes). So no error repeats any part of the text: it names the part that is wrong.

mod keywords;
mod resolve;
mod uri;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

/// Where one server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A directory in which the server has its socket.
    Socket {
        /// The directory.
        directory: PathBuf,
        /// The port, which names the socket.
        port: u16,
    },
    /// TCP.
    Tcp {
        /// The name that is looked up and that a certificate must be for.
        host: String,
        /// An address that replaces the look-up (`hostaddr`).
        ip: Option<std::net::IpAddr>,
        /// The port.
        port: u16,
    },
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket { directory, port } => write!(f, "{}/.s.PGSQL.{port}", directory.display()),
            Self::Tcp { host, port, .. } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port, .. } => write!(f, "{host}:{port}"),
        }
    }
}

/// `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SslMode {
    /// Never TLS.
    Disable,
    /// TLS only when the server refuses to talk without.
    Allow,
    /// TLS when the server has it.
    #[default]
    Prefer,
    /// TLS, whoever the server is.
    Require,
    /// TLS and a certificate of a trusted authority.
    VerifyCa,
    /// TLS and a certificate of a trusted authority for this host.
    VerifyFull,
}

impl SslMode {
    /// The word in a connection string.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Allow => "allow",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        }
    }
}

/// `sslrootcert`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RootCertificates {
    /// What the system trusts.
    #[default]
    System,
    /// The certificates of a PEM file.
    File(PathBuf),
}

/// `channel_binding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// When the server offers it.
    #[default]
    Prefer,
    /// The connection fails without.
    Require,
}

/// `target_session_attrs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionTarget {
    /// The first server that answers.
    #[default]
    Any,
    /// One whose transactions may write.
    ReadWrite,
    /// One whose transactions may not write.
    ReadOnly,
    /// One that is not a standby.
    Primary,
    /// A standby.
    Standby,
    /// A standby if there is one, else any.
    PreferStandby,
}

/// A password: never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Password(String);

impl Password {
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A connection string, read and resolved. `Debug` and `Display` show everything but the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionString {
    /// Servers, tried in order.
    pub addresses: Vec<Address>,
    /// The role.
    pub user: String,
    pub(crate) password: Option<Password>,
    /// The database.
    pub database: String,
    /// `options`, passed to the server as they are.
    pub options: Option<String>,
    /// `application_name`.
    pub application_name: String,
    /// How long one server may take to answer.
    pub connect_timeout: Duration,
    /// Whether and how TLS is used.
    pub ssl_mode: SslMode,
    /// Who is trusted.
    pub root_certificates: RootCertificates,
    /// The client's own certificate and key.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// Whether the password exchange is bound to the TLS channel.
    pub channel_binding: ChannelBinding,
    /// Which of several servers is wanted.
    pub session_target: SessionTarget,
}

impl ConnectionString {
    /// Whether a password was given.
    #[must_use]
    pub const fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// The same servers and database for another role.
    #[must_use]
    pub fn for_role(&self, user: &str, password: &str) -> Self {
        Self { user: user.to_owned(), password: Some(Password(password.to_owned())), ..self.clone() }
    }
}

impl fmt::Display for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database `{}` as `{}` at ", self.database, self.user)?;
        for (index, address) in self.addresses.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{address}")?;
        }
        Ok(())
    }
}

/// Why a text is not a connection string. No variant carries a piece of the text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionStringError {
    /// Nothing there.
    #[error(
        "the connection string is empty: write postgresql://user@host/database or host=... dbname=... user=..."
    )]
    Empty,
    /// Longer than any that makes sense.
    #[error("the connection string is longer than 16384 bytes")]
    TooLong,
    /// Holds a NUL or another control character.
    #[error("the connection string holds a control character")]
    ControlCharacter,
    /// `%` without two hexadecimal digits, or `%00`, or not UTF-8.
    #[error("the {part} of the connection string has a bad percent-escape: write a literal % as %25")]
    Escape {
        /// Which part.
        part: &'static str,
    },
    /// A part that cannot be what it should be.
    #[error("the {part} of the connection string is wrong: {remedy}")]
    Part {
        /// Which part.
        part: &'static str,
        /// What it should be.
        remedy: &'static str,
    },
    /// A parameter with a name that libpq does not know.
    #[error(
        "parameter {ordinal} of the connection string has a name that libpq does not know (a password with spaces or \
         one of @ : / ? # must be quoted, or percent-encoded in a URI)"
    )]
    UnknownParameter {
        /// Which one, from 1.
        ordinal: usize,
    },
    /// `name` without `= value`, or a quote that is not closed.
    #[error(
        "parameter {ordinal} of the connection string is not `name=value`: values with spaces go in single quotes"
    )]
    Malformed {
        /// Which one, from 1.
        ordinal: usize,
    },
    /// A parameter that is known and not served.
    #[error("`{keyword}` is not supported: {remedy}")]
    Unsupported {
        /// The parameter.
        keyword: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
}

/// Longest connection string, in bytes.
const LENGTH_LIMIT: usize = 16_384;

impl FromStr for ConnectionString {
    type Err = ConnectionStringError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ConnectionStringError::Empty);
        }
        if text.len() > LENGTH_LIMIT {
            return Err(ConnectionStringError::TooLong);
        }
        if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
            return Err(ConnectionStringError::ControlCharacter);
        }
        let is_uri = text.starts_with("postgresql://") || text.starts_with("postgres://");
        let (pairs, implied) = if is_uri { uri::pairs(text)? } else { (keywords::pairs(text)?, 0) };
        resolve::resolve(pairs, implied)
    }
}

#[cfg(test)]
mod tests;
