//! A schema that lost something: what is curated and names it leaves service.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use airlock_knowledge::promotion::Removed;
use airlock_knowledge::store::Promote;
use airlock_pipeline::Host;
use airlock_pipeline::learning::{DecayOptions, superseded};
use airlock_types::{Catalogue, DomainName};

use super::WHO;

/// Between two looks. The catalogue itself is read again by asks, when its mark changes.
const EVERY: Duration = Duration::from_secs(2);

/// Looks at every domain whose catalogue was read again, for ever.
pub(super) async fn watch(host: Arc<Host>, promote: Promote) {
    let mut before: BTreeMap<DomainName, Arc<Catalogue>> =
        host.domains().map(|domain| (domain.name().clone(), Arc::clone(domain.catalogue()))).collect();
    loop {
        tokio::time::sleep(EVERY).await;
        for domain in host.domains() {
            let (name, now) = (domain.name(), domain.catalogue());
            let Some(known) = before.get(name).filter(|known| !Arc::ptr_eq(known, now)) else { continue };
            let removed = Removed::between(known, now);
            if !removed.is_empty() {
                let options = DecayOptions { removed, ..DecayOptions::new(WHO) };
                match superseded(&domain, &promote, &options).await {
                    Ok(report) => tracing::warn!(
                        domain = %name, items = report.outdated.len(),
                        "the schema lost what was known; what is curated and names it left service"
                    ),
                    // Looked at again until the store is back.
                    Err(error) => {
                        tracing::info!(domain = %name, %error, "what names a lost part of the schema is still in service");
                        continue;
                    }
                }
            }
            before.insert(name.clone(), Arc::clone(now));
        }
    }
}
