//! When what is curated no longer helps: a rule over the asks that an item took part in.
//!
//! An ask counts once for an item. How it went is what somebody said of it, the last word if there were several; where nobody
//! said anything, its ending: rows in answer speak for the item, giving up speaks against it, and every other ending says
//! nothing. Asks from before the item was last put in service or edited do not count.

use serde::Serialize;

/// Asks whose end is known from which on a rate means something.
pub const LEAST: i64 = 3;

/// How an item fared since it was put in service or edited last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Fared {
    /// Asks it took part in.
    pub hits: i64,
    /// Those whose end is known.
    pub verified: i64,
    /// Those that went well.
    pub succeeded: i64,
}

impl Fared {
    /// Why it should leave service, if it should: fewer than half of at least [`LEAST`] verified asks went well. What was not
    /// tested stays.
    #[must_use]
    pub fn stopped_helping(&self) -> Option<String> {
        let Self { verified, succeeded, .. } = *self;
        (verified >= LEAST && succeeded.saturating_mul(2) < verified).then(|| {
            format!("of {verified} asks it took part in and whose end is known, {succeeded} went well")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_asks_must_have_gone_wrong_and_an_untested_item_stays() {
        for (hits, verified, succeeded, stale) in [
            (0, 0, 0, false),
            (90, 0, 0, false),
            (2, 2, 0, false),
            (3, 3, 0, true),
            (9, 3, 1, true),
            (3, 3, 2, false),
            (4, 4, 2, false),
            (5, 5, 2, true),
        ] {
            let fared = Fared { hits, verified, succeeded };
            assert_eq!(fared.stopped_helping().is_some(), stale, "{fared:?}");
        }
    }
}
