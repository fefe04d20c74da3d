//! The roles of the store.

use std::fmt;

/// What a role of the store is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Duty {
    /// Reads what is curated.
    Recall,
    /// Hands in candidates.
    Distill,
    /// Reads candidates, decides, writes what is curated.
    Promote,
    /// Appends to the log.
    Log,
    /// Reads the log.
    Report,
    /// Lets what is old go.
    Janitor,
    /// Keys, sessions, conversations.
    Ops,
    /// Owns the schema and brings it up to date.
    Migrate,
}

impl Duty {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Recall,
        Self::Distill,
        Self::Promote,
        Self::Log,
        Self::Report,
        Self::Janitor,
        Self::Ops,
        Self::Migrate,
    ];

    /// The word on every surface; a role's name ends with it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Distill => "distill",
            Self::Promote => "promote",
            Self::Log => "log",
            Self::Report => "report",
            Self::Janitor => "janitor",
            Self::Ops => "ops",
            Self::Migrate => "migrate",
        }
    }

    /// Connections its pool holds at most.
    pub(super) const fn connections(self) -> usize {
        match self {
            Self::Recall | Self::Log | Self::Ops => 4,
            Self::Promote | Self::Report => 2,
            Self::Distill | Self::Janitor | Self::Migrate => 1,
        }
    }
}

impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
