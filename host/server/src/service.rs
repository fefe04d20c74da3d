//! What every surface of a running server works with: the host, its store, the operators' desk, the configuration.

pub mod describe;
pub mod judging;
pub mod reach;
pub mod records;

use std::sync::Arc;

use airlock_knowledge::store::Store;
use airlock_pipeline::Host;

use crate::config::Config;
use crate::operator::Desk;
use crate::telemetry::Telemetry;
use crate::upkeep::Status;

/// A host in service, and what stands around it. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    /// Answers.
    pub host: Arc<Host>,
    /// Where what is learned, logged and allowed is kept, if anywhere.
    pub store: Option<Store>,
    /// Swaps and rollbacks.
    pub desk: Arc<Desk>,
    /// As it was read at the start.
    pub config: Arc<Config>,
    /// What is known of the host's upkeep of its knowledge.
    pub upkeep: Arc<Status>,
    /// What operators see of it.
    pub telemetry: Telemetry,
}
