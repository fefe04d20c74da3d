//! How many calls of one caller run at once: those that are too many wait for the earlier ones, and connections to the
//! database are left for everybody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use airlock_pipeline::Host;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::ToolProblem;

/// Calls of one caller, running and waiting together.
const OF_ONE: usize = 32;
/// How long a call waits for earlier ones.
const PATIENCE: Duration = Duration::from_secs(30);

/// The lanes of all callers. Cheap to clone.
#[derive(Clone)]
pub(super) struct Lanes {
    lanes: Arc<Mutex<HashMap<Option<String>, Lane>>>,
    at_once: usize,
    patience: Duration,
}

#[derive(Clone)]
struct Lane {
    running: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// A call that may run.
#[derive(Debug)]
pub(super) struct Turn {
    _running: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl Lanes {
    /// Half of the connections of the smallest pool for each caller, and one at least.
    pub(super) fn over(host: &Host) -> Self {
        let smallest = host.domains().map(|domain| domain.source().connections().size).min();
        Self::new(smallest.unwrap_or_default() / 2, PATIENCE)
    }

    fn new(at_once: usize, patience: Duration) -> Self {
        Self { lanes: Arc::default(), at_once: at_once.max(1), patience }
    }

    fn lane(&self, owner: &Option<String>) -> Lane {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        // A caller with nothing under way has no lane: there are never more lanes than calls.
        lanes.retain(|_, lane| lane.is_in_use());
        let new = || Lane {
            running: Arc::new(Semaphore::new(self.at_once)),
            places: Arc::new(Semaphore::new(OF_ONE)),
        };
        lanes.entry(owner.clone()).or_insert_with(new).clone()
    }

    /// Waits until a call of this caller may run.
    pub(super) async fn turn(&self, owner: &Option<String>) -> Result<Turn, ToolProblem> {
        let lane = self.lane(owner);
        let Ok(place) = lane.places.try_acquire_owned() else {
            let many =
                format!("{OF_ONE} calls of yours are under way or wait: call again when some have ended.");
            return Err(ToolProblem::new("busy", many));
        };
        // The semaphore is never closed; if it were, nothing could run either.
        let Ok(Ok(running)) = tokio::time::timeout(self.patience, lane.running.acquire_owned()).await else {
            let slow = format!(
                "{} calls of yours run, which is as many as may at once, and none ended in {} s: wait for them, or cancel some.",
                self.at_once,
                self.patience.as_secs()
            );
            return Err(ToolProblem::new("busy", slow));
        };
        Ok(Turn { _running: running, _place: place })
    }
}

impl Lane {
    /// Whether somebody is about to take a place, or has one.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.places) > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_caller_waits_for_its_own_calls_and_for_nobody_elses() {
        let lanes = Lanes::new(2, Duration::from_millis(20));
        let (ours, theirs) = (Some("a".to_owned()), Some("b".to_owned()));
        let first = lanes.turn(&ours).await.unwrap();
        let second = lanes.turn(&ours).await.unwrap();
        assert!(lanes.turn(&ours).await.is_err());
        assert!(lanes.turn(&theirs).await.is_ok());
        assert!(lanes.turn(&None).await.is_ok());
        drop(first);
        let third = lanes.turn(&ours).await.unwrap();
        drop((second, third));
        let _ = lanes.lane(&None);
        assert_eq!(lanes.lanes.lock().unwrap().len(), 1, "only who calls has a lane");
    }

    #[tokio::test]
    async fn no_more_wait_than_have_a_place() {
        let lanes = Lanes::new(1, Duration::from_secs(600));
        let owner = None;
        let running = lanes.turn(&owner).await.unwrap();
        let waiting: Vec<_> = (1..OF_ONE)
            .map(|_| {
                let (lanes, owner) = (lanes.clone(), owner.clone());
                tokio::spawn(async move { lanes.turn(&owner).await.map(|_| ()).is_ok() })
            })
            .collect();
        let lane = lanes.lane(&owner);
        while lane.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(lanes.turn(&owner).await.is_err());
        drop(running);
        for waited in waiting {
            assert!(waited.await.unwrap());
        }
    }
}
