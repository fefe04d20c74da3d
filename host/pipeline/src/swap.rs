//! Changing what serves while the host runs, and who is told of what the host changes by itself.

use std::sync::Arc;

use airlock_runtime::{Component, DomainScope, Stage, SwapError};

use crate::host::Host;
use crate::quarantine::Quarantined;
use crate::shadow::ShadowReport;

/// Is told of what happens to components without anybody asking for it. Called from an ask: it must be quick.
pub trait Witness: Send + Sync {
    /// A component was quarantined.
    fn quarantined(&self, quarantined: &Quarantined);
    /// A component ran beside the one in service as often as it was to.
    fn shadowed(&self, report: &ShadowReport);
}

impl Host {
    /// Names the one that is told. The first one named stays.
    pub fn witness(&self, witness: &Arc<dyn Witness>) {
        let _ = self.quarantine().witness.set(Arc::clone(witness));
        let _ = self.shadows().witness.set(Arc::clone(witness));
    }

    /// Puts a component in service for one stage; asks in flight finish on the one they began with. Returns the one that
    /// served before.
    ///
    /// # Errors
    /// When its grant does not name this stage for these domains.
    pub fn swap(
        &self,
        stage: Stage,
        scope: &DomainScope,
        component: &Component,
    ) -> Result<Option<Component>, SwapError> {
        let before = self.registry().swap(stage, scope, component)?;
        self.quarantine().release(stage, scope, Some(component));
        Ok(before)
    }

    /// Brings back what served a stage before. Returns what serves now.
    ///
    /// # Errors
    /// When nothing did.
    pub fn rollback(&self, stage: Stage, scope: &DomainScope) -> Result<Option<Component>, SwapError> {
        let now = self.registry().rollback(stage, scope)?;
        self.quarantine().release(stage, scope, now.as_ref());
        Ok(now)
    }
}
