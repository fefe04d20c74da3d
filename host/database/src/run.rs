//! Running one text: transaction, deadline, retries, rows to JSON.
//!
//! What may come here is decided in [`crate::door`] alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_types::ask::ResultColumn;
use airlock_types::{ErrorType, Failure};
use serde_json::Value;
use tokio::time::timeout;

use crate::checks::holders::{self, NotTaken};
use crate::encode::Encoding;
use crate::error::DatabaseError;
use crate::exchange::{Begin, ExchangeError, Rows, exchange};
use crate::pool::Lease;
use crate::result_types::ResultType;
use crate::settings::Settings;
use crate::source::Source;
use crate::wire::{Step, cells};

/// Who is asking, for row policies of the data source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    settings: BTreeMap<String, String>,
    role: Option<String>,
}

/// A name is not one of a setting that may carry an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a setting for an identity: use a name with a dot, such as `app.user_id`, of letters, digits and _"
)]
pub struct IdentityError(String);

impl Identity {
    /// Adds a named setting, such as `app.user_id`. Settings without a dot are PostgreSQL's own and stay as they are.
    ///
    /// # Errors
    /// When the name is not of that form.
    pub fn with_setting(mut self, name: &str, value: &str) -> Result<Self, IdentityError> {
        let is_word = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let well_formed = name.len() < 64 && name.contains('.') && name.split('.').all(is_word);
        if !well_formed || value.contains('\0') {
            return Err(IdentityError(name.chars().take(64).collect()));
        }
        self.settings.insert(name.to_owned(), value.to_owned());
        Ok(self)
    }

    /// Sets the role of the transaction; the reader must be a member of it.
    #[must_use]
    pub fn with_role(mut self, role: &str) -> Self {
        self.role = Some(role.to_owned());
        self
    }

    pub(crate) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }
}

/// What one run may do beyond the source's own limits.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// IANA name of the domain's time zone.
    pub time_zone: String,
    /// Schemas an unqualified name is looked for in: the search path of the catalogue the text was checked against.
    pub search_path: Vec<String>,
    /// Rows wanted; the cap of the approved text holds above it.
    pub max_rows: Option<u32>,
    /// When the ask must be over.
    pub deadline: Option<Instant>,
    /// Who is asking.
    pub identity: Option<Identity>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            time_zone: "UTC".to_owned(),
            search_path: vec!["public".to_owned()],
            max_rows: None,
            deadline: None,
            identity: None,
        }
    }
}

/// Rows, arrays beside `columns`, so that equal column names do not collide.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSet {
    /// Columns.
    pub columns: Vec<ResultColumn>,
    /// Rows, at most as many as asked for. See [`crate::encode`] for what each type becomes.
    pub rows: Vec<Vec<Value>>,
    /// Whether PostgreSQL had more.
    pub truncated: bool,
    /// From sending the text to its last row.
    pub duration: Duration,
}

/// A run with its times: a source that is busy and a query that is slow are two different things.
#[derive(Debug)]
pub struct Timed {
    /// How long a connection was waited for, or for one to be made.
    pub waited: Duration,
    /// How long the server was at work.
    pub ran: Duration,
    /// What came of it.
    pub result: Result<ResultSet, Failure>,
}

/// Where the time of a run went.
#[derive(Debug, Default)]
struct Times {
    waited: Duration,
    ran: Duration,
}

/// What a run needs of an approved text.
pub(crate) struct Statement<'a> {
    /// As it was written; failures speak of it.
    pub(crate) text: &'a str,
    /// As it is sent.
    pub(crate) sql: &'a str,
    /// Rows returned.
    pub(crate) rows: u32,
    /// Rows after which the server stops; 0 when the text stops by itself.
    pub(crate) portal_rows: u32,
}

impl Statement<'_> {
    /// Turns a failure of what was sent into one of what was written: edits of the gate move positions.
    fn failure(&self, mut failure: Failure) -> Failure {
        failure.position = failure.position.and_then(|position| map_position(self.text, self.sql, position));
        failure.sql = self.text.to_owned();
        failure
    }
}

/// Where character `position` of `sent` is in `written`; None inside an edit.
fn map_position(written: &str, sent: &str, position: u32) -> Option<u32> {
    let (written_length, sent_length) = (written.chars().count(), sent.chars().count());
    let same = written.chars().zip(sent.chars()).take_while(|(a, b)| a == b).count();
    let at = usize::try_from(position).ok()?;
    if at <= same || written == sent {
        return Some(position);
    }
    let limit = written_length.min(sent_length) - same;
    let same_end =
        written.chars().rev().zip(sent.chars().rev()).take(limit).take_while(|(a, b)| a == b).count();
    let from_end = sent_length.checked_sub(at)?;
    (from_end < same_end).then(|| u32::try_from(written_length - from_end).ok()).flatten()
}

impl Source {
    /// Runs one text in a read-only transaction that is rolled back, with the retries that use no attempt.
    pub(crate) async fn run_statement(&self, statement: &Statement<'_>, options: &RunOptions) -> Timed {
        let mut times = Times::default();
        let mut retried = false;
        let mut reconnected = false;
        let result = loop {
            match self.attempt(statement, options, &mut times).await {
                Err(Attempt::Failed(failure)) if failure.error_type == ErrorType::Retry && !retried => {
                    retried = true
                }
                // The connection had died in the pool; reading once more on a new one changes nothing.
                Err(Attempt::StaleConnection(_)) if !reconnected => reconnected = true,
                Err(Attempt::Failed(failure) | Attempt::StaleConnection(failure)) => {
                    break Err(statement.failure(failure));
                }
                Ok(result) => break Ok(result),
            }
        };
        Timed { waited: times.waited, ran: times.ran, result }
    }

    async fn attempt(
        &self,
        statement: &Statement<'_>,
        options: &RunOptions,
        times: &mut Times,
    ) -> Result<ResultSet, Attempt> {
        let fail = |error: &DatabaseError| {
            if error.error_type() == ErrorType::Infrastructure {
                tracing::warn!(%error, "a statement could not be run");
            }
            Attempt::Failed(error.to_failure(statement.sql))
        };
        let patience = remaining(options.deadline);
        let asked = Instant::now();
        let leased = self.pool().lease(patience).await;
        times.waited += asked.elapsed();
        let mut lease = leased.map_err(|error| fail(&error))?;
        let allowed = self.config().statement_timeout.min(remaining(options.deadline));
        if allowed.is_zero() {
            return Err(Attempt::Failed(Failure::new(
                ErrorType::Timeout,
                "the time of the ask was over before the statement could start",
                statement.sql,
            )));
        }
        let mut settings =
            Settings::new(allowed, self.config().lock_timeout, &options.search_path, &options.time_zone);
        if let Some(identity) = &options.identity {
            settings = settings.with_identity(identity);
        }
        let started = Instant::now();
        let reused = lease.reused;
        let deadline = allowed.saturating_add(self.config().grace);
        let ended = timeout(deadline, self.on_connection(&mut lease, &settings, statement)).await;
        times.ran += started.elapsed();
        let Ok(result) = ended else {
            // The server should have ended it by itself. It is not asked again for a while, and the lease cancels.
            self.pool().trip();
            drop(lease);
            // A server that answers others was given too much by this text; one that is silent says nothing about it.
            let is_there = self.pool().is_there().await;
            return Err(fail(&if is_there {
                DatabaseError::Unstopped { after: deadline }
            } else {
                DatabaseError::Deadline { after: deadline }
            }));
        };
        match result {
            Ok((rows, types)) => {
                result_set(rows, &types, statement.rows, started.elapsed()).map_err(|error| fail(&error))
            }
            Err(Ending::SetUp(failure)) => {
                // The pool may have this connection alone.
                drop(lease);
                Err(Attempt::Failed(self.not_set_up(failure, options).await))
            }
            Err(Ending::Statement(mut failure)) => {
                // The server may say "timeout" in any language.
                let own_timeout = started.elapsed().saturating_add(Duration::from_millis(50)) >= allowed;
                if failure.error_type == ErrorType::Cancelled && own_timeout {
                    failure = Failure { error_type: ErrorType::Timeout, repairable: true, ..failure };
                }
                if failure.error_type == ErrorType::Timeout && failure.hint.is_none() {
                    failure.hint = Some(format!(
                        "it may run for {} ms: narrow the range or aggregate first",
                        allowed.as_millis()
                    ));
                }
                Err(Attempt::Failed(failure))
            }
            Err(Ending::Connection(error)) if error.is_lost_connection() && reused => {
                Err(Attempt::StaleConnection(error.to_failure(statement.sql)))
            }
            // An error of the room's own look-up says nothing about the text.
            Err(Ending::Connection(error @ DatabaseError::Server(_))) => Err(Attempt::Failed(Failure::new(
                ErrorType::Infrastructure,
                format!("the types of the result could not be read: {error}"),
                statement.sql,
            ))),
            Err(Ending::Connection(error)) => Err(fail(&error)),
        }
    }

    /// A transaction that could not be set up, told by the role of whoever asks where that is the reason: the server's own
    /// words say neither whose role it is nor what would help.
    async fn not_set_up(&self, failure: Failure, options: &RunOptions) -> Failure {
        let Some(role) = options.identity.as_ref().and_then(Identity::role) else { return failure };
        let limit = self.config().grace.min(remaining(options.deadline));
        let looked = timeout(limit, holders::not_taken(self, role)).await;
        match looked.unwrap_or(Err(DatabaseError::Deadline { after: limit })) {
            Ok(Some(NotTaken { why, remedy })) => {
                tracing::error!(why, remedy, "an ask of a key with a role failed");
                // The remedy names the reader, who is the operator's affair.
                let message = format!(
                    "the role of this key cannot be taken up: {why}; the host's log and `airlock doctor` say what helps"
                );
                Failure {
                    sqlstate: failure.sqlstate,
                    ..Failure::new(ErrorType::PermissionDenied, message, &failure.sql)
                }
            }
            Ok(None) => failure,
            Err(error) => {
                tracing::warn!(%error, "whether the role of a key can be taken up is not known");
                failure
            }
        }
    }

    async fn on_connection(
        &self,
        lease: &mut Lease,
        settings: &Settings,
        statement: &Statement<'_>,
    ) -> Result<(Rows, Vec<Arc<ResultType>>), Ending> {
        let wire = lease.wire()?;
        let limits = self.config().limits();
        if let Some(ceiling) = self.config().cost_ceiling {
            let explain = format!("EXPLAIN (FORMAT JSON) {}", statement.sql);
            let plan = exchange(wire, Begin::Reading, settings, &[Step::new(&explain, &[])], limits).await;
            let cost = total_cost(
                &plan.map_err(|error| ending(error, statement.sql, explain.len() - statement.sql.len()))?,
            );
            if cost.is_none_or(|cost| cost > ceiling) {
                return Err(Ending::Statement(too_expensive(cost, ceiling, statement.sql)));
            }
        }
        let step = Step { sql: statement.sql, parameters: &[], max_rows: statement.portal_rows };
        let mut results = exchange(wire, Begin::Reading, settings, &[step], limits)
            .await
            .map_err(|error| ending(error, statement.sql, 0))?;
        let rows = results.pop().unwrap_or_default();
        let types = self.types().of(wire, &rows.fields, &self.fixed_settings(), self.fixed_limits()).await?;
        Ok((rows, types))
    }
}

/// How an attempt failed.
enum Attempt {
    Failed(Failure),
    StaleConnection(Failure),
}

/// How an exchange ended.
enum Ending {
    SetUp(Failure),
    Statement(Failure),
    Connection(DatabaseError),
}

impl From<DatabaseError> for Ending {
    fn from(error: DatabaseError) -> Self {
        Self::Connection(error)
    }
}

/// `prefix` is how many characters stand before the text in what was sent.
fn ending(error: ExchangeError, sql: &str, prefix: usize) -> Ending {
    match error {
        ExchangeError::Statement(error) => {
            let mut failure = error.to_failure(sql);
            let prefix = u32::try_from(prefix).unwrap_or(0);
            failure.position = failure.position.and_then(|position| position.checked_sub(prefix));
            Ending::Statement(failure)
        }
        ExchangeError::SetUp(error) => {
            // Nothing the text could do better: a repair would only guess.
            let mut failure = error.to_failure(sql);
            if failure.error_type != ErrorType::PermissionDenied {
                failure = Failure { error_type: ErrorType::Infrastructure, repairable: false, ..failure };
            }
            failure.message = format!("the transaction could not be set up: {}", failure.message);
            failure.position = None;
            Ending::SetUp(failure)
        }
        ExchangeError::Connection(error) => Ending::Connection(error),
    }
}

fn remaining(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}

fn total_cost(plan: &[Rows]) -> Option<f64> {
    let row = plan.first()?.rows.first()?;
    let text = cells(row).next()?.ok()??;
    let plan: Value = serde_json::from_str(text).ok()?;
    plan.pointer("/0/Plan/Total Cost")?.as_f64()
}

fn too_expensive(cost: Option<f64>, ceiling: f64, sql: &str) -> Failure {
    let message = match cost {
        Some(cost) => {
            format!("too_expensive: the planner expects a cost of {cost:.0}, the ceiling is {ceiling:.0}")
        }
        None => "too_expensive: the planner gave no cost".to_owned(),
    };
    let mut failure = Failure::new(ErrorType::TooComplex, message, sql);
    failure.hint = Some("drop joins, aggregate first, or narrow the range".to_owned());
    failure
}

fn result_set(
    rows: Rows,
    types: &[Arc<ResultType>],
    wanted: u32,
    duration: Duration,
) -> Result<ResultSet, DatabaseError> {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    let columns = rows
        .fields
        .into_iter()
        .zip(types)
        .map(|(field, of)| ResultColumn { name: field.name, sql_type: of.name.clone() })
        .collect();
    let truncated = rows.rows.len() > wanted;
    let encode = |(cell, encoding): (Result<Option<&str>, DatabaseError>, &Encoding)| {
        cell.map(|cell| cell.map_or(Value::Null, |text| encoding.encode(text)))
    };
    let rows = rows.rows.into_iter().take(wanted).map(|row| {
        cells(&row).zip(types.iter().map(|of| &of.encoding)).map(encode).collect::<Result<Vec<_>, _>>()
    });
    Ok(ResultSet { columns, rows: rows.collect::<Result<_, _>>()?, truncated, duration })
}

#[cfg(test)]
mod tests;
