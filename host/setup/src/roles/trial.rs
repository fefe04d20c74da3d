//! What a role can do, tried and not assumed.

use std::fmt;

use tokio_postgres::{Client, Config};

use crate::error::{SetupError, reason};
use crate::private::connect;
use crate::sql::identifier;

/// What must come of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// The server does it.
    Accepted,
    /// The server refuses with this SQLSTATE.
    Refused(&'static str),
}

/// A statement that a role tries, in a read-write transaction that is always rolled back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// What is tried, in words that follow "it can" or "it cannot".
    pub what: String,
    /// The statement.
    pub sql: String,
    /// What must come of it.
    pub expect: Expect,
}

impl Trial {
    /// A trial.
    pub fn new(what: impl Into<String>, sql: impl Into<String>, expect: Expect) -> Self {
        Self { what: what.into(), sql: sql.into(), expect }
    }
}

/// How a trial went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The trial.
    pub trial: Trial,
    /// The server's SQLSTATE; `None` when it accepted.
    pub sqlstate: Option<String>,
    /// What the server said.
    pub said: String,
}

impl Verdict {
    /// Whether it went as it must.
    #[must_use]
    pub fn passed(&self) -> bool {
        match self.trial.expect {
            Expect::Accepted => self.sqlstate.is_none(),
            Expect::Refused(code) => self.sqlstate.as_deref() == Some(code),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.trial.what;
        match (&self.sqlstate, self.trial.expect) {
            (None, _) => write!(f, "it can {what}"),
            (Some(_), Expect::Refused(_)) if self.passed() => write!(f, "it cannot {what}"),
            (Some(_), _) => write!(f, "trying to {what} gave: {}", self.said),
        }
    }
}

/// Connects as a role and makes every trial. What a trial does is undone, whatever comes of it.
///
/// # Errors
/// When the role cannot connect or the connection breaks; a trial that goes wrong is a [`Verdict`].
pub async fn prove(role: &Config, trials: &[Trial]) -> Result<Vec<Verdict>, SetupError> {
    try_all(&connect(role).await?, trials).await
}

/// Makes every trial over a connection of the role.
///
/// # Errors
/// When the connection breaks.
pub async fn try_all(client: &Client, trials: &[Trial]) -> Result<Vec<Verdict>, SetupError> {
    let mut verdicts = Vec::with_capacity(trials.len());
    for trial in trials {
        verdicts.push(make(client, trial, None).await?);
    }
    Ok(verdicts)
}

/// Makes every trial as another role, over the connection of one that may become it. `None` when it may not.
///
/// # Errors
/// When the connection breaks.
pub async fn try_as(
    client: &Client,
    role: &str,
    trials: &[Trial],
) -> Result<Option<Vec<Verdict>>, SetupError> {
    let broken = |error: tokio_postgres::Error| SetupError::database("becoming the role", &error);
    client.batch_execute("BEGIN").await.map_err(broken)?;
    let became = client.batch_execute(&format!("SET LOCAL ROLE {}", identifier(role))).await;
    client.batch_execute("ROLLBACK").await.map_err(broken)?;
    if became.is_err() {
        return Ok(None);
    }
    let mut verdicts = Vec::with_capacity(trials.len());
    for trial in trials {
        verdicts.push(make(client, trial, Some(role)).await?);
    }
    Ok(Some(verdicts))
}

async fn make(client: &Client, trial: &Trial, role: Option<&str>) -> Result<Verdict, SetupError> {
    let broken =
        |error: tokio_postgres::Error| SetupError::database(format!("trying to {}", trial.what), &error);
    client
        .batch_execute("BEGIN READ WRITE; SET LOCAL statement_timeout = '10s'; SET LOCAL lock_timeout = '2s'")
        .await
        .map_err(broken)?;
    if let Some(role) = role {
        client.batch_execute(&format!("SET LOCAL ROLE {}", identifier(role))).await.map_err(broken)?;
    }
    let tried = client.batch_execute(&trial.sql).await;
    let (sqlstate, said) = match tried {
        Ok(()) => (None, String::new()),
        Err(error) => match error.code() {
            Some(code) => (Some(code.code().to_owned()), reason(&error)),
            None => return Err(broken(error)),
        },
    };
    client.batch_execute("ROLLBACK").await.map_err(broken)?;
    Ok(Verdict { trial: trial.clone(), sqlstate, said })
}
