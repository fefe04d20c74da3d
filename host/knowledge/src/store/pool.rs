//! A few connections of one role. Each is looked at once, when it is made: whom it is, where it leads, what it may; and each
//! keeps the statements that were run on it ready for the next time.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::dial::{Dial, DialError, Line};
use super::duty::Duty;
use super::error::StoreError;

/// How long a caller waits for a connection of the pool.
const WAIT: Duration = Duration::from_secs(3);
/// How long making one may take, whatever the dialler allows itself.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection is replaced after this long, so that a changed grant or a fail-over is not missed for days.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// Statements a connection keeps ready; with more it begins anew.
const READY: usize = 128;

/// Settings of every session. What a role may run long (a migration) sets its own.
const SETTINGS: &str = "SET statement_timeout = '15s'; SET lock_timeout = '10s'; \
    SET idle_in_transaction_session_timeout = '30s'; SET search_path = pg_catalog, pg_temp";

/// Whom a connection is and where it leads.
const LOOK: &str = "SELECT r.rolname::text, r.rolsuper OR r.rolbypassrls, current_setting('server_encoding'),
        pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean
    FROM pg_roles r WHERE r.rolname = current_user";

struct Parked {
    client: Client,
    born: Instant,
    /// Statements that are ready on it, by their text.
    ready: Mutex<HashMap<String, Statement>>,
}

impl Parked {
    fn new(client: Client) -> Self {
        Self { client, born: Instant::now(), ready: Mutex::default() }
    }

    /// A statement, and whether it was ready before.
    async fn statement(&self, text: &str) -> Result<(Statement, bool), Error> {
        let known = self.ready.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(statement) = known {
            return Ok((statement, true));
        }
        let statement = self.client.prepare(text).await?;
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() >= READY {
            ready.clear();
        }
        ready.insert(text.to_owned(), statement.clone());
        Ok((statement, false))
    }

    /// Whether a statement failed because a migration meanwhile gave it other types, or because the server no longer knows it.
    /// It did nothing then, and is forgotten.
    fn is_outdated<T>(&self, text: &str, ended: &Result<T, Error>) -> bool {
        let codes = [&SqlState::FEATURE_NOT_SUPPORTED, &SqlState::INVALID_SQL_STATEMENT_NAME];
        let code = ended.as_ref().err().and_then(Error::code);
        let outdated = code.is_some_and(|code| codes.contains(&code));
        if outdated {
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).remove(text);
        }
        outdated
    }
}

/// Runs a statement on a connection by this method of the driver, with what is ready there if it is still of use.
macro_rules! run {
    ($parked:expr, $method:ident, $text:expr, $given:expr) => {{
        let parked: &Parked = $parked;
        let (statement, was_ready) = parked.statement($text).await?;
        let ended = parked.client.$method(&statement, $given).await;
        if was_ready && parked.is_outdated($text, &ended) {
            let (statement, _) = parked.statement($text).await?;
            return parked.client.$method(&statement, $given).await;
        }
        ended
    }};
}

/// Values of a statement's parameters.
type Given<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Connections of one role.
pub(super) struct Pool {
    pub(super) duty: Duty,
    dial: Arc<dyn Dial>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Parked>>,
}

/// A connection in use; it goes back to the pool when it is dropped, if it still works.
pub(super) struct Lease {
    pub(super) duty: Duty,
    pool: Arc<Pool>,
    parked: Option<Parked>,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(duty: Duty, dial: Arc<dyn Dial>) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(duty.connections()));
        Arc::new(Self { duty, dial, permits, idle: Mutex::default() })
    }

    /// A connection.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease, StoreError> {
        let busy = StoreError::Busy { duty: self.duty, size: self.duty.connections() };
        let Ok(Ok(permit)) = timeout(WAIT, Arc::clone(&self.permits).acquire_owned()).await else {
            return Err(busy);
        };
        let parked = match self.take_idle() {
            Some(parked) => parked,
            None => Parked::new(self.line().await?.client),
        };
        Ok(Lease { duty: self.duty, pool: Arc::clone(self), parked: Some(parked), _permit: permit })
    }

    /// A connection of its own, outside the pool: for what holds a lock or listens.
    pub(super) async fn line(&self) -> Result<Line, StoreError> {
        let duty = self.duty;
        let late = || StoreError::Away { duty, reason: format!("no answer within {} s", CONNECT.as_secs()) };
        let made = async {
            let line = self.dial.dial().await.map_err(|error| match error {
                DialError::Away(reason) => StoreError::Away { duty, reason },
                DialError::Denied(reason) => StoreError::Denied { duty, reason },
            })?;
            self.look_at(&line.client).await?;
            Ok(line)
        };
        timeout(CONNECT, made).await.map_err(|_| late())?
    }

    async fn look_at(&self, client: &Client) -> Result<(), StoreError> {
        let failed = |error: Error| StoreError::of(self.duty, &error);
        client.batch_execute(SETTINGS).await.map_err(failed)?;
        let row = client.query_one(LOOK, &[]).await.map_err(failed)?;
        let (role, too_much, encoding): (String, bool, String) = (row.get(0), row.get(1), row.get(2));
        if encoding != "UTF8" {
            return Err(StoreError::NotUtf8 { encoding });
        }
        if row.get(3) {
            return Err(StoreError::ReadOnly);
        }
        if too_much {
            return Err(StoreError::TooMuch { duty: self.duty, role });
        }
        Ok(())
    }

    fn take_idle(&self) -> Option<Parked> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(parked) = idle.pop() {
            if parked.born.elapsed() < LIFETIME && !parked.client.is_closed() {
                return Some(parked);
            }
        }
        None
    }
}

impl Lease {
    /// What the driver said, as an error of this role.
    pub(super) fn error(&self, error: &Error) -> StoreError {
        StoreError::of(self.duty, error)
    }

    /// The rows of a statement.
    pub(super) async fn query(&self, text: &str, given: Given<'_>) -> Result<Vec<Row>, Error> {
        run!(self.parked(), query, text, given)
    }

    /// The only row of a statement, if it has one.
    pub(super) async fn query_opt(&self, text: &str, given: Given<'_>) -> Result<Option<Row>, Error> {
        run!(self.parked(), query_opt, text, given)
    }

    /// The only row of a statement.
    pub(super) async fn query_one(&self, text: &str, given: Given<'_>) -> Result<Row, Error> {
        run!(self.parked(), query_one, text, given)
    }

    /// How many rows a statement changed.
    pub(super) async fn execute(&self, text: &str, given: Given<'_>) -> Result<u64, Error> {
        run!(self.parked(), execute, text, given)
    }

    #[allow(clippy::expect_used, reason = "it is taken by `drop` alone")]
    fn parked(&self) -> &Parked {
        self.parked.as_ref().expect("a lease holds its connection")
    }
}

impl Deref for Lease {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.parked().client
    }
}

impl DerefMut for Lease {
    #[allow(clippy::expect_used, reason = "it is taken by `drop` alone")]
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.parked.as_mut().expect("a lease holds its connection").client
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(parked) = self.parked.take()
            && !parked.client.is_closed()
        {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(parked);
        }
    }
}
