//! A few connections, handed out one at a time, and the breaker that keeps callers off a server that overruns.
//!
//! Some calls of PostgreSQL never look whether they should stop: neither a timeout, a cancellation nor a closed socket ends
//! them. Such a statement keeps its place in the pool for as long as it runs, and its connection stays open, because what is
//! said there in the end tells that it ended. When several of them run, nothing new is started.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::connection_string::ConnectionString;
use crate::error::DatabaseError;
use crate::orphans::{Orphan, Orphans, PATIENCE, still_runs};
use crate::wire::{self, Backend, Step, Wire};

/// A connection is replaced after this long, so that a fail-over or a changed grant is not missed for days.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// How often a server is asked whether a statement whose connection is gone still runs.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The connections of a source, as they are at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// At most.
    pub size: usize,
    /// In use, or busy ending what was cancelled.
    pub taken: usize,
    /// Open and free.
    pub idle: usize,
}

/// The limits of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolLimits {
    pub(crate) size: usize,
    /// How long a caller waits for a connection.
    pub(crate) wait: Duration,
    /// How long a cancelled statement may take to end.
    pub(crate) grace: Duration,
    /// How long a server that overran must prove that it answers before anybody is sent there, and how long a server that
    /// cannot be reached is asked whether a statement still runs.
    pub(crate) rest: Duration,
    /// Statements that cannot be stopped, from which on nothing new is started.
    pub(crate) orphans: usize,
}

/// Connections to one data source.
pub(crate) struct Pool {
    target: ConnectionString,
    limits: PoolLimits,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<(Wire, Instant)>>,
    resting_until: Mutex<Option<Instant>>,
    orphans: Arc<Orphans>,
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
            orphans: Orphans::at_most(limits.orphans.clamp(1, limits.size)),
            probing: tokio::sync::Mutex::new(()),
        })
    }

    pub(crate) const fn target(&self) -> &ConnectionString {
        &self.target
    }

    /// Hands out a connection, waiting for one no longer than the pool's limit and `patience`.
    pub(crate) async fn lease(self: &Arc<Self>, patience: Duration) -> Result<Lease, DatabaseError> {
        self.orphans.check()?;
        if let Some(left) = self.resting()
            && !self.answers().await
        {
            return Err(DatabaseError::Resting { left });
        }
        let wait = self.limits.wait.min(patience);
        let begun = Instant::now();
        let busy = DatabaseError::Busy { size: self.limits.size, waited: wait };
        // The semaphore is never closed; if it were, no connection could be had either.
        let Ok(Ok(permit)) = timeout(wait, Arc::clone(&self.permits).acquire_owned()).await else {
            return Err(busy);
        };
        // Who waited may have waited for one of them.
        self.orphans.room(wait.saturating_sub(begun.elapsed())).await?;
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

    /// Statements that cannot be stopped and still run.
    pub(crate) fn orphans(&self) -> &Orphans {
        &self.orphans
    }

    /// Counts a statement that an earlier host left behind until it has ended.
    pub(crate) fn adopt(self: &Arc<Self>, backend: Backend) {
        let (pool, orphan) = (Arc::clone(self), self.orphans.count());
        tokio::spawn(async move { pool.watch(&backend, None, orphan, None).await });
    }

    /// The connections and who has them.
    pub(crate) fn connections(&self) -> Connections {
        let free = self.permits.available_permits();
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).len();
        Connections { size: self.limits.size, taken: self.limits.size.saturating_sub(free), idle }
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
        self.answers_within(self.limits.grace).await
    }

    /// The same for whoever must know what a statement failed of: it waits for those that find out before it.
    pub(crate) async fn is_there(&self) -> bool {
        let patience = PATIENCE.max(self.limits.grace);
        let asked = async {
            let _only = self.probing.lock().await;
            self.answers_within(patience).await
        };
        timeout(patience, asked).await.unwrap_or(false)
    }

    async fn answers_within(&self, patience: Duration) -> bool {
        let question = async {
            let mut wire = wire::connect(&self.target).await?;
            wire.push(&Step::new("SELECT 1", &[]))?;
            wire.push_sync();
            wire.flush().await?;
            wire.settle().await.map(|failed| (failed.is_none(), wire))
        };
        match timeout(patience, question).await {
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
    async fn retire(
        self: Arc<Self>,
        mut wire: Wire,
        mut orphan: Orphan,
        permit: Option<OwnedSemaphorePermit>,
    ) {
        let ended = if wire.is_ended() {
            Err(DatabaseError::Lost("before its statement had ended".to_owned()))
        } else {
            let mut ending = pin!(wire.cancel_and_end());
            match timeout(self.limits.grace, ending.as_mut()).await {
                Ok(ended) => ended,
                Err(_) => {
                    tracing::warn!(server = %self.target, "a cancelled statement does not end: the source rests");
                    self.trip();
                    orphan.runs_on();
                    ending.await
                }
            }
        };
        match (ended, wire.left_behind()) {
            (Ok(()), _) => wire.close().await,
            (Err(_), Some(backend)) => self.watch(&backend, Some(&mut wire), orphan, permit).await,
            (Err(error), None) => {
                tracing::debug!(%error, "a connection ended while its statement was cancelled");
            }
        }
    }

    /// Asks the server about a transaction whose connection is gone, until it is gone too.
    async fn watch(
        &self,
        backend: &Backend,
        mut wire: Option<&mut Wire>,
        mut orphan: Orphan,
        mut permit: Option<OwnedSemaphorePermit>,
    ) {
        let begun = Instant::now();
        loop {
            match timeout(self.limits.grace, still_runs(&self.target, backend)).await {
                Ok(Ok(false)) => return,
                Ok(Ok(true)) => {
                    if begun.elapsed() >= self.limits.grace && orphan.runs_on() {
                        tracing::warn!(server = %self.target, "a statement runs on without its connection");
                    }
                    if let Some(wire) = wire.as_deref_mut() {
                        // It may come to a place where it listens; whether it does is seen at the next look.
                        let _ = timeout(self.limits.grace, wire.request_cancel()).await;
                    }
                }
                // Who asks now must learn that the server is away, and not that all places are taken.
                Ok(Err(_)) | Err(_) => {
                    drop(permit.take());
                    if !orphan.is_out_of_sight() && begun.elapsed() > self.limits.rest {
                        return;
                    }
                }
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
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
        } else if (wire.is_unsettled() || wire.left_behind().is_some())
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            // Counted at once: who comes next must not be let in before that.
            let orphan = self.pool.orphans.ending();
            runtime.spawn(Arc::clone(&self.pool).retire(wire, orphan, self.permit.take()));
        }
        // Otherwise the session has ended, or there is nobody to end it properly: closing the socket ends it.
    }
}
