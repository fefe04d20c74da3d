//! The reader of a data source that is somebody else's: over an administrator's connection string, TLS included.

use airlock_database::ConnectionString;
use airlock_database::connection_string::{Address, RootCertificates};
use tokio_postgres::Client;

use crate::error::SetupError;
use crate::roles::{Expect, Plan, Refused, Role, Statement, Verdict, plan, try_all, try_as};
use crate::sql::connection_value;

/// An administrator's connection. The one place that holds such a credential.
pub struct Administrator {
    target: ConnectionString,
    client: Client,
}

/// How a role is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// By connecting as it, with the plan's password.
    Connecting,
    /// By becoming it over the administrator's connection: its password is not known.
    SetRole,
}

/// What was set up.
#[derive(Debug)]
pub struct Done {
    /// The reader's connection string, its password included: to be shown once or written where only its user reads. None
    /// when the password is not known.
    pub reader_url: Option<String>,
    /// Statements that the server refused: each with who may run it.
    pub refused: Vec<Refused>,
    /// What was tried as the reader and went as it must.
    pub proven: Vec<Verdict>,
    /// What the reader must read and cannot.
    pub unread: Vec<Verdict>,
    /// Why nothing could be tried.
    pub untried: Option<String>,
}

impl Done {
    /// Whether the reader is all that it must be.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.untried.is_none() && self.unread.is_empty() && !self.refused.iter().any(|it| it.statement.needed)
    }
}

impl Administrator {
    /// Connects.
    ///
    /// # Errors
    /// When the text is no connection string, or the server does not let the administrator in.
    pub async fn connect(url: &str) -> Result<Self, SetupError> {
        let wrong = |reason: String| SetupError::Database {
            doing: "connecting as the administrator".to_owned(),
            reason,
        };
        let target: ConnectionString =
            url.parse().map_err(|error: airlock_database::connection_string::ConnectionStringError| {
                wrong(error.to_string())
            })?;
        let client = target.client().await.map_err(|error| wrong(error.to_string()))?;
        let asked = client.query_one("SELECT pg_is_in_recovery()", &[]).await;
        if asked.map_err(|error| SetupError::database("looking at the server", &error))?.get(0) {
            let at = target.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(SetupError::Standby { at });
        }
        Ok(Self { target, client })
    }

    /// The database it is connected to.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.target.database
    }

    /// The plan for a role. Changes nothing.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub async fn plan(&self, role: &Role) -> Result<Plan, SetupError> {
        plan(&self.client, role).await
    }

    /// The connection string of a role, its password included: to be shown once or written where only its user reads.
    #[must_use]
    pub fn url_of(&self, role: &Role) -> String {
        let password = role.password.reveal();
        spell(&self.target.for_role(&role.name, password), password)
    }
}

/// Carries out a plan, each statement given to `show` first, and proves the role.
///
/// # Errors
/// When the connection breaks, or the role can do what it must not.
pub async fn set_up(
    admin: &mut Administrator,
    plan: &Plan,
    proof: Proof,
    show: impl FnMut(&Statement),
) -> Result<Done, SetupError> {
    let refused = plan.apply(&mut admin.client, show).await?;
    let name = &plan.role.name;
    let reader = admin.target.for_role(name, plan.role.password.reveal());
    let tried = match proof {
        Proof::Connecting => match reader.client().await {
            Ok(client) => Ok(try_all(&client, &plan.trials).await?),
            Err(error) => Err(format!("nobody can connect as `{name}`: {error}")),
        },
        Proof::SetRole => try_as(&admin.client, name, &plan.trials).await?.ok_or_else(|| {
            format!(
                "the password of `{name}` is not known and the administrator may not become it: give the password in \
                 AIRLOCK_READER_PASSWORD, or run `airlock doctor` with the reader's own configuration"
            )
        }),
    };
    let (verdicts, untried) = match tried {
        Ok(verdicts) => (verdicts, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let (proven, failed): (Vec<Verdict>, Vec<Verdict>) = verdicts.into_iter().partition(Verdict::passed);
    let (unread, failed): (Vec<Verdict>, Vec<Verdict>) =
        failed.into_iter().partition(|verdict| verdict.trial.expect == Expect::Accepted);
    if !failed.is_empty() {
        return Err(SetupError::Unproven { role: name.clone(), failed });
    }
    // A password that was made up here is told even if nobody could connect with it yet: nobody else knows it.
    let known = proof == Proof::Connecting && (untried.is_none() || plan.sets_password());
    let reader_url = known.then(|| admin.url_of(&plan.role));
    Ok(Done { reader_url, refused, proven, unread, untried })
}

/// A connection string in key=value form, with the password that [`ConnectionString`] itself never shows.
fn spell(target: &ConnectionString, password: &str) -> String {
    let join = |words: Vec<String>| connection_value(&words.join(","));
    let hosts = target.addresses.iter().map(|address| match address {
        Address::Socket { directory, .. } => directory.display().to_string(),
        Address::Tcp { host, .. } => host.clone(),
    });
    let ports = target.addresses.iter().map(|address| match address {
        Address::Socket { port, .. } | Address::Tcp { port, .. } => port.to_string(),
    });
    let mut out = format!(
        "host={} port={} dbname={} user={} password={} sslmode={}",
        join(hosts.collect()),
        join(ports.collect()),
        connection_value(&target.database),
        connection_value(&target.user),
        connection_value(password),
        target.ssl_mode.as_str(),
    );
    if let RootCertificates::File(path) = &target.root_certificates {
        out.push_str(" sslrootcert=");
        out.push_str(&connection_value(&path.display().to_string()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_string_reads_back_as_the_same_target() {
        let admin: ConnectionString =
            "postgresql://boss:p%40ss@db1.example:5433,db2.example/my%20shop?sslmode=require"
                .parse()
                .unwrap();
        let reader = admin.for_role("airlock_reader", "it's \\ secret");
        let read: ConnectionString = spell(&reader, "it's \\ secret").parse().unwrap();
        assert_eq!(read, reader);
    }
}
