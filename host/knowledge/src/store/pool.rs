//! A few connections of one role. Each is looked at once, when it is made: whom it is, where it leads, what it may.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::Client;

use super::dial::{Dial, DialError, Line};
use super::duty::Duty;
use super::error::StoreError;

/// How long a caller waits for a connection of the pool.
const WAIT: Duration = Duration::from_secs(3);
/// How long making one may take, whatever the dialler allows itself.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection is replaced after this long, so that a changed grant or a fail-over is not missed for days.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

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
}

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
            None => Parked { client: self.line().await?.client, born: Instant::now() },
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
        let failed = |error: tokio_postgres::Error| StoreError::of(self.duty, &error);
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
    pub(super) fn error(&self, error: &tokio_postgres::Error) -> StoreError {
        StoreError::of(self.duty, error)
    }
}

impl Deref for Lease {
    type Target = Client;

    #[allow(clippy::expect_used, reason = "it is taken by `drop` alone")]
    fn deref(&self) -> &Client {
        &self.parked.as_ref().expect("a lease holds its connection").client
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
