//! Letting go, each night, what is too old to be kept.

use std::time::Duration;

use airlock_knowledge::store::Janitor;
use jiff::Timestamp;

use super::{Schedule, Zone};
use crate::config::log::LogSettings;
use crate::retention::sweep;

/// Each night, in UTC.
const NIGHTLY: &str = "20 3 * * *";
/// Between two attempts while the store is away, and between two looks at a clock that may have been set.
const LOOK: Duration = Duration::from_secs(600);

/// Sweeps each night until it is dropped. A night on which no host was up is made up for at the next start.
pub(super) async fn keep(janitor: Janitor, log: LogSettings) {
    let Ok(nightly) = Schedule::parse(NIGHTLY, &Zone::utc()) else { return };
    let mut due = Timestamp::now();
    loop {
        tokio::time::sleep(LOOK).await;
        let now = Timestamp::now();
        if now < due {
            continue;
        }
        match sweep(&janitor, &log).await {
            Ok(Some(gone)) => {
                for (what, rows) in gone.into_iter().filter(|(_, rows)| *rows > 0) {
                    tracing::info!(%what, rows, "what was too old went out of the store");
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "what is too old stays in the store for now");
                continue;
            }
        }
        let Some(next) = nightly.next(now) else { return };
        due = next;
    }
}
