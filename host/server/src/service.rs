//! What every surface of a running server works with: the host, its store, the operators' desk, the configuration.

use std::sync::Arc;

use airlock_knowledge::store::Store;
use airlock_pipeline::Host;

use crate::config::Config;
use crate::operator::Desk;

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
}
