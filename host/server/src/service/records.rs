//! What is counted of the log, for every surface: from when, and the drift signal as it was a moment ago.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use airlock_knowledge::store::{Store, Trend};
use jiff::{SignedDuration, Timestamp};

/// How long the drift signal is told again before it is counted anew: it is of days.
const FRESH: Duration = Duration::from_secs(300);
/// Time for counting it where somebody waits for something else.
const PATIENCE: Duration = Duration::from_secs(3);

/// The first moment of so many days, this one included: days begin at midnight in UTC.
pub fn since(days: u32) -> Timestamp {
    since_of(Timestamp::now(), days)
}

fn since_of(now: Timestamp, days: u32) -> Timestamp {
    let today = now.as_second().div_euclid(86_400) * 86_400;
    let midnight = Timestamp::from_second(today).unwrap_or(now);
    let before = SignedDuration::from_hours(24 * i64::from(days.saturating_sub(1)));
    midnight.checked_sub(before).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The drift signal of all domains as it was counted last.
#[derive(Clone, Default)]
pub struct Watched(Arc<Mutex<Option<(Instant, Trend)>>>);

impl Watched {
    /// The signal; none without a store, and none while it cannot be counted.
    pub async fn trend(&self, store: Option<&Store>) -> Option<Trend> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((counted, trend)) = last
            && counted.elapsed() < FRESH
        {
            return Some(trend);
        }
        match tokio::time::timeout(PATIENCE, store?.report().trend(None)).await {
            Ok(Ok(trend)) => {
                let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if trend.is_alert() && last.as_ref().is_none_or(|(_, before)| !before.is_alert()) {
                    tracing::warn!(rises = ?trend.rises, "answers take more than they did: something changed underneath");
                }
                *last = Some((Instant::now(), trend.clone()));
                Some(trend)
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "the drift signal was not counted");
                None
            }
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight() {
        let now: Timestamp = "2026-11-30T05:06:07Z".parse().unwrap();
        for (days, want) in
            [(1, "2026-11-30T00:00:00Z"), (7, "2026-11-24T00:00:00Z"), (0, "2026-11-30T00:00:00Z")]
        {
            assert_eq!(since_of(now, days).to_string(), want);
        }
    }
}
