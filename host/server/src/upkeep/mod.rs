//! What a running host does for its knowledge by itself: the promotion pass by the clock, looking for patterns of use, and
//! leaving behind what the schema lost.
//!
//! Nothing is decided by the clock unless the configuration names a schedule. Of several hosts over one store
//! one runs the pass each time; for patterns each of them looks, and finds nothing that another has handed in.

mod cron;
mod mining;
mod pass;
mod retention;
mod schema;

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use tokio::task::AbortHandle;

use crate::service::Service;

pub use cron::{Schedule, Zone};
pub use pass::{DomainRun, Promotion, Scheduled};

/// Who decides, in the history.
const WHO: &str = "a schedule";

/// What is known of the upkeep of a host.
#[derive(Default)]
pub struct Status(Mutex<Known>);

#[derive(Debug, Clone, Default, Serialize)]
struct Known {
    next: Option<Timestamp>,
    last: Option<LastRun>,
}

/// The last time this host came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LastRun {
    /// When it was due.
    pub due: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// Whether another host ran it.
    pub elsewhere: bool,
    /// What became of each domain.
    pub domains: Vec<DomainRun>,
}

impl Status {
    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// For the report on the host's health; `off` without a schedule.
    pub fn report(&self, scheduled: Option<&Scheduled>) -> serde_json::Value {
        let Some(scheduled) = scheduled else { return "off".into() };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        serde_json::json!({
            "cron": scheduled.schedule.text(),
            "time_zone": scheduled.schedule.zone(),
            "promote": scheduled.promotion.as_str(),
            "next": known.next,
            "last": known.last,
        })
    }
}

/// Upkeep under way, until this is dropped.
pub struct Upkeep(Vec<AbortHandle>);

impl Upkeep {
    /// Begins: nothing without a store.
    #[must_use]
    pub fn begin(service: &Service) -> Self {
        let Some(store) = &service.store else { return Self(Vec::new()) };
        let (host, promote) = (service.host.clone(), store.promote());
        let mut tasks = vec![tokio::spawn(schema::watch(host.clone(), promote.clone())).abort_handle()];
        let retained = retention::keep(store.janitor(), service.config.log);
        tasks.push(tokio::spawn(retained).abort_handle());
        if let Some(schedule) = service.config.mining.clone() {
            tasks.push(tokio::spawn(mining::keep(host.clone(), store.clone(), schedule)).abort_handle());
        }
        if let Some(scheduled) = service.config.scheduled.clone() {
            let status = service.upkeep.clone();
            tasks.push(tokio::spawn(pass::keep(host, promote, scheduled, status)).abort_handle());
        }
        Self(tasks)
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}
