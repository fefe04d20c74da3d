//! Looking, by the clock, for patterns in how each domain is used.
//!
//! What is seen often waits for evidence as a candidate; nothing is decided here. Two hosts over one store may look at the
//! same time: what is there already is not handed in again.

use std::sync::Arc;
use std::time::Duration;

use airlock_knowledge::store::Store;
use airlock_pipeline::Host;
use airlock_pipeline::learning::mine;
use airlock_types::DomainName;
use jiff::Timestamp;

use super::Schedule;

/// Between two looks at the clock: it may have been set.
const LOOK: Duration = Duration::from_secs(30);

/// Looks at every time of the schedule, until it is dropped.
pub(super) async fn keep(host: Arc<Host>, store: Store, schedule: Schedule) {
    let mut after = Timestamp::now();
    while let Some(due) = schedule.next(after) {
        while Timestamp::now() < due {
            tokio::time::sleep(LOOK).await;
        }
        for domain in host.domains() {
            one(&host, &store, domain.name()).await;
        }
        after = due.max(Timestamp::now());
    }
}

async fn one(host: &Host, store: &Store, name: &DomainName) {
    let domain = match host.caught_up(Some(name)).await {
        Ok(domain) => domain,
        Err(error) => {
            tracing::warn!(domain = %name, %error, "patterns of use were not looked for");
            return;
        }
    };
    match mine(&domain, &store.report(), &store.distill(), false).await {
        Ok(report) => {
            let (patterns, stored) = (report.patterns.len(), report.stored);
            tracing::info!(domain = %name, patterns, stored, "patterns of use were looked for");
        }
        Err(error) => tracing::warn!(domain = %name, %error, "patterns of use were not looked for"),
    }
}
