//! A text that may run. There is no way to make one but [`Gate::check`](crate::Gate::check).

use crate::facts::Facts;

/// Who holds the row cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLimit {
    /// The statement's own or added limit is inside the cap: run it unlimited at protocol level.
    Within,
    /// The statement may give more: fetch at most one row over the cap through a portal or a cursor.
    Portal,
}

/// A text that was checked. It can be run by whoever holds it, and made by nobody but the gate.
///
/// ```compile_fail
/// let forged = airlock_gate::Approved { text: "DROP TABLE x".into() };
/// ```
#[derive(Debug, Clone)]
pub struct Approved {
    pub(crate) text: String,
    pub(crate) statement: String,
    pub(crate) facts: Facts,
    pub(crate) cap: u32,
    pub(crate) limit: RowLimit,
}

impl Approved {
    /// The text as it was handed in.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What runs: the text, with a row limit edited in where it needed one. An added limit is one over the cap, so that
    /// a result that was cut can be told from one that was not.
    #[must_use]
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// What it reads.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Rows the asker gets at most.
    #[must_use]
    pub const fn cap(&self) -> u32 {
        self.cap
    }

    /// Who holds the row cap.
    #[must_use]
    pub const fn limit(&self) -> RowLimit {
        self.limit
    }
}
