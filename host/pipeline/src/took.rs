//! Where the time of a text went.

use std::time::Duration;

use airlock_database::Timed;

/// Where the time of a text went, in milliseconds: a source that is busy is not a query that is slow.
#[derive(Clone, Copy, Default)]
pub(crate) struct Took {
    pub waiting: u64,
    pub running: u64,
}

impl Took {
    pub(crate) fn of(timed: &Timed) -> Self {
        let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self { waiting: milliseconds(timed.waited), running: milliseconds(timed.ran) }
    }
}
