//! A few connections, handed out one at a time, and the breaker that keeps callers off a server that overruns.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::connection_string::ConnectionString;
use crate::error::DatabaseError;
use crate::wire::{self, Step, Wire};

/// A connection is replaced after this long, so that a fail-over or a changed grant is not missed for days.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// The limits of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolLimits {
    pub(crate) size: usize,
    /// How long a caller waits for a connection.
    pub(crate) wait: Duration,
    /// How long a cancelled statement may take to end.
    pub(crate) grace: Duration,
    /// How long a server that overran must prove that it answers before anybody is sent there, and how much longer than
    /// `grace` a statement that cannot be stopped keeps its place.
    pub(crate) rest: Duration,
}

/// Connections to one data source.
pub(crate) struct Pool {
    target: ConnectionString,
    limits: PoolLimits,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<(Wire, Instant)>>,
    resting_until: Mutex<Option<Instant>>,
    /// Held by the one caller that finds out whether a resting server answers.
    probing: tokio::sync::Mutex<()>,
}

/// One connection in use. When it is dropped before its work ended, what runs on the server is cancelled and the place in
/// the pool stays taken until it has ended: who gives up and asks again does not get the server twice.
pub(crate) struct Lease {
    pool: Arc<Pool>,
    wire: Option<Wire>,
    permit: Option<OwnedSemaphorePermit>,
    born: Instant,
    /// Whether an earlier caller used the connection: it may have died since.
    pub(crate) reused: bool,
}

impl Pool {
    pub(crate) fn new(target: ConnectionString, limits: PoolLimits) -> Arc<Self> {
        Arc::new(Self {
            target,
            limits,
            permits: Arc::new(Semaphore::new(limits.size)),
            idle: Mutex::new(Vec::new()),
            resting_until: Mutex::new(None),
            probing: tokio::sync::Mutex::new(()),
        })
    }

    pub(crate) const fn target(&self) -> &ConnectionString {
        &self.target
    }

    /// Hands out a connection, waiting for one no longer than the pool's limit and `patience`.
    pub(crate) async fn lease(self: &Arc<Self>, patience: Duration) -> Result<Lease, DatabaseError> {
        if let Some(left) = self.resting()
            && !self.answers().await
        {
            return Err(DatabaseError::Resting { left });
        }
        let wait = self.limits.wait.min(patience);
        let busy = DatabaseError::Busy { size: self.limits.size, waited: wait };
        // The semaphore is never closed; if it were, no connection could be had either.
        let Ok(Ok(permit)) = timeout(wait, Arc::clone(&self.permits).acquire_owned()).await else {
            return Err(busy);
        };
        let parked = self.take_idle();
        let (wire, born, reused) = match parked {
            Some((wire, born)) => (wire, born, true),
            None => {
                let connected = timeout(patience, wire::connect(&self.target)).await;
                let late = |_| DatabaseError::ConnectTimeout {
                    at: self.target.to_string(),
                    seconds: patience.as_secs(),
                };
                (connected.map_err(late)??, Instant::now(), false)
            }
        };
        Ok(Lease { pool: Arc::clone(self), wire: Some(wire), permit: Some(permit), born, reused })
    }

    /// Nobody is sent to this server for a while unless it proves that it answers.
    pub(crate) fn trip(&self) {
        let until = Instant::now().checked_add(self.limits.rest);
        *self.resting_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// How much longer the breaker stays open.
    pub(crate) fn resting(&self) -> Option<Duration> {
        let until = *self.resting_until.lock().unwrap_or_else(PoisonError::into_inner);
        until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Places nobody holds.
    #[cfg(test)]
    pub(crate) fn available(&self) -> usize {
        self.permits.available_permits()
    }

    /// Whether the server answers a new connection. One statement that could not be stopped must not keep everybody away
    /// from a server that is well; one caller at a time finds out, the others are turned away at once.
    async fn answers(&self) -> bool {
        let Ok(_only) = self.probing.try_lock() else { return false };
        let question = async {
            let mut wire = wire::connect(&self.target).await?;
            wire.push(&Step::new("SELECT 1", &[]))?;
            wire.push_sync();
            wire.flush().await?;
            wire.settle().await.map(|failed| (failed.is_none(), wire))
        };
        match timeout(self.limits.grace, question).await {
            Ok(Ok((true, wire))) if wire.is_clean() => {
                self.park(wire, Instant::now());
                *self.resting_until.lock().unwrap_or_else(PoisonError::into_inner) = None;
                true
            }
            _ => false,
        }
    }

    fn take_idle(&self) -> Option<(Wire, Instant)> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((mut wire, born)) = idle.pop() {
            if born.elapsed() < LIFETIME && !wire.is_stale() {
                return Some((wire, born));
            }
        }
        None
    }

    fn park(&self, wire: Wire, born: Instant) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((wire, born));
    }

    /// Ends what runs on a connection whose user is gone, then the connection. The place stays taken while the server is
    /// still at work, so that statements that cannot be stopped do not pile up there.
    async fn retire(self: Arc<Self>, mut wire: Wire, permit: Option<OwnedSemaphorePermit>) {
        let ended = {
            let mut ending = pin!(wire.cancel_and_end());
            match timeout(self.limits.grace, ending.as_mut()).await {
                Ok(ended) => Some(ended),
                Err(_) => {
                    tracing::warn!(server = %self.target, "a cancelled statement does not end: the source rests");
                    self.trip();
                    timeout(self.limits.rest, ending).await.ok()
                }
            }
        };
        match ended {
            Some(Ok(())) => wire.close().await,
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection ended while its statement was cancelled")
            }
            None => {
                tracing::warn!(server = %self.target, "a cancelled statement never ended: its connection is closed")
            }
        }
        drop(permit);
    }
}

impl Lease {
    /// The connection.
    pub(crate) fn wire(&mut self) -> Result<&mut Wire, DatabaseError> {
        self.wire.as_mut().ok_or_else(|| DatabaseError::Lost("it was given back".to_owned()))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(wire) = self.wire.take() else { return };
        if wire.is_clean() {
            self.pool.park(wire, self.born);
        } else if wire.is_unsettled()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(Arc::clone(&self.pool).retire(wire, self.permit.take()));
        }
        // Otherwise the connection has ended, or there is nobody to end it properly: closing the socket ends it.
    }
}
