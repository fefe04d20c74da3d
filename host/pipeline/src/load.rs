//! How much is asked of a host, and what became of asks that nobody got an answer to.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much is asked of a host now, and what was not answered since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Asks that may be worked on at once.
    pub places: usize,
    /// Asks, and looks at a context, that are worked on.
    pub in_flight: usize,
    /// Asks that were turned away because every place was taken.
    pub turned_away: u64,
    /// Asks whose asker went away before the answer.
    pub abandoned: u64,
}

/// The counts of a host.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    turned_away: AtomicU64,
    abandoned: AtomicU64,
}

/// An ask under way: when it is dropped, its asker has gone, unless it ended before.
#[must_use]
pub(crate) struct Asking<'a>(Option<&'a Counted>);

impl Counted {
    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) const fn begun(&self) -> Asking<'_> {
        Asking(Some(self))
    }

    pub(crate) fn read(&self, places: usize, in_flight: usize) -> Load {
        Load {
            places,
            in_flight,
            turned_away: self.turned_away.load(Ordering::Relaxed),
            abandoned: self.abandoned.load(Ordering::Relaxed),
        }
    }
}

impl Asking<'_> {
    /// It ended.
    pub(crate) fn did_end(mut self) {
        self.0 = None;
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(counted) = self.0 {
            counted.abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_that_is_dropped_before_its_end_was_abandoned() {
        let counted = Counted::default();
        counted.begun().did_end();
        drop(counted.begun());
        counted.turned_away();
        let load = counted.read(4, 1);
        assert_eq!((load.abandoned, load.turned_away, load.in_flight), (1, 1, 1));
    }
}
