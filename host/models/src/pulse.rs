//! How something that computes beside the asks does, and when one that failed is tried again.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long one that failed is left alone.
const REST: Duration = Duration::from_secs(30);

/// How an embedder or a reranker does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Not used yet.
    Idle,
    /// It worked the last time.
    Working,
    /// It failed the last time, for this reason; answers go on without it.
    Degraded(String),
}

#[derive(Debug, Default)]
struct State {
    failed: Option<(Instant, String)>,
    worked: bool,
}

/// What is remembered of the last time.
#[derive(Debug, Default)]
pub(crate) struct Pulse(Mutex<State>);

impl Pulse {
    pub(crate) fn condition(&self) -> Condition {
        let state = self.state();
        match (&state.failed, state.worked) {
            (Some((_, why)), _) => Condition::Degraded(why.clone()),
            (None, true) => Condition::Working,
            (None, false) => Condition::Idle,
        }
    }

    /// Why it is left alone for now, if it is.
    pub(crate) fn resting(&self) -> Option<String> {
        let state = self.state();
        state.failed.as_ref().filter(|(at, _)| at.elapsed() < REST).map(|(_, why)| why.clone())
    }

    /// Keeps account of how it went.
    pub(crate) fn felt<T, E: Display>(&self, made: &Result<T, E>) {
        let mut state = self.state();
        match made {
            Ok(_) => *state = State { failed: None, worked: true },
            Err(error) => state.failed = Some((Instant::now(), error.to_string())),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
