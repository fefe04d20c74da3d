//! Bringing back, at a start, what operators put in service before.

use std::collections::HashMap;
use std::path::Path;

use airlock_pipeline::{Host, Served};
use airlock_runtime::{Component, DomainScope, Stage};

use super::grants::Reviewed;
use super::history::{self, copy};
use super::ledger::{DEPTH, Ledger};
use super::signature::signature_of;

/// Puts in service what the history in a data folder says, on top of what was loaded. A component that has lost its grant
/// or its copy stays out, loudly; what served before it serves.
///
/// # Errors
/// When the history cannot be read.
pub fn restore(host: &Host, reviewed: &Reviewed, data: &Path) -> anyhow::Result<()> {
    let ledger = Ledger::of(&history::read(data)?);
    for ((stage, scope), stack) in ledger.stacks {
        let mut loaded: HashMap<Served, Option<Component>> = HashMap::new();
        for served in stack.iter().skip(stack.len().saturating_sub(DEPTH)) {
            let component = loaded
                .entry(served.clone())
                .or_insert_with(|| load(host, reviewed, data, served, stage, &scope))
                .clone();
            let Some(component) = component else { continue };
            let set = host.registry().current();
            if set.serving(stage, &scope).is_some_and(|now| now.digest() == component.digest()) {
                continue;
            }
            if let Err(error) = host.registry().swap(stage, &scope, &component) {
                tracing::error!(%stage, domains = %scope, %error, "a component that was in service is left out");
            }
        }
    }
    for quarantined in ledger.quarantined.into_values() {
        host.quarantine().restore(quarantined);
    }
    Ok(())
}

fn load(
    host: &Host,
    reviewed: &Reviewed,
    data: &Path,
    served: &Served,
    stage: Stage,
    scope: &DomainScope,
) -> Option<Component> {
    let why = match reviewed.find(served.digest, stage, scope) {
        Err(error) => error.to_string(),
        Ok(None) => "no grant names its digest any more".to_owned(),
        Ok(Some(grant)) => {
            let path = copy(data, served.digest);
            let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
            match bytes.and_then(|bytes| {
                let signature = signature_of(&path);
                let loaded = host.runtime().load_signed(&bytes, &grant, signature.as_deref());
                loaded.map_err(|error| error.to_string())
            }) {
                Ok(component) => return Some(component),
                Err(why) => why,
            }
        }
    };
    tracing::error!(
        %stage, domains = %scope, component = served.component, digest = %served.digest, why,
        "a component that was in service is left out; what served before it serves"
    );
    None
}
