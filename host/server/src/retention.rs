//! What of the store grows old, and how old it may grow.

use airlock_knowledge::store::{Aged, Janitor, StoreError};
use jiff::{SignedDuration, Timestamp};

use crate::config::log::LogSettings;

/// Candidates that were put away as duplicates, and what is expired, are not kept longer, whatever the log is.
const DUPLICATES: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Until when each goes, in the order in which it goes. Decisions and uses never do.
pub fn ages(log: &LogSettings, now: Timestamp) -> [(Aged, Timestamp); 7] {
    let before = |age: SignedDuration| now.checked_sub(age).unwrap_or(Timestamp::UNIX_EPOCH);
    let kept = before(SignedDuration::from_hours(
        i64::try_from(log.retention_days() * 24).unwrap_or(i64::MAX / 3_600),
    ));
    [
        (Aged::Asks, kept),
        (Aged::Sent, kept),
        (Aged::Signals, kept),
        (Aged::Feedback, kept),
        (Aged::Conversations, kept),
        (Aged::Duplicates, before(DUPLICATES)),
        (Aged::Sessions, now),
    ]
}

/// Lets go what is too old; none when another host is at it.
///
/// # Errors
/// When the store is away.
pub async fn sweep(janitor: &Janitor, log: &LogSettings) -> Result<Option<Vec<(Aged, i64)>>, StoreError> {
    janitor.sweep(&ages(log, Timestamp::now())).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_kept_is_kept_for_the_days_of_the_configuration() {
        let log = LogSettings { asks: true, record: true, retention: Duration::from_secs(7 * 86_400) };
        let now: Timestamp = "2026-11-30T03:00:00Z".parse().unwrap();
        let ages = ages(&log, now).map(|(what, until)| (what.as_str(), until.to_string()));
        let of = |name: &str| ages.iter().find(|(what, _)| *what == name).unwrap().1.clone();
        for (what, until) in [
            ("asks", "2026-11-23T03:00:00Z"),
            ("sent", "2026-11-23T03:00:00Z"),
            ("signals", "2026-11-23T03:00:00Z"),
            ("feedback", "2026-11-23T03:00:00Z"),
            ("conversations", "2026-11-23T03:00:00Z"),
            ("duplicates", "2026-09-01T03:00:00Z"),
            ("sessions", "2026-11-30T03:00:00Z"),
        ] {
            assert_eq!(of(what), until, "{what}");
        }
    }
}
