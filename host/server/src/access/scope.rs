//! What a key can be allowed to do.

use std::fmt;
use std::str::FromStr;

/// One thing a key can be allowed to do. Each is a word of its own, given and taken back by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Ask questions.
    Ask,
    /// Run SQL of one's own through the gate.
    Query,
    /// Read schemas, examples, lessons, statistics, evaluations.
    Read,
    /// Say whether an answer was right.
    Feedback,
    /// Propose examples, and decide on those that agents proposed.
    AuthorExamples,
    /// Decide what is trusted.
    Curate,
    /// Swap components and roll them back.
    Operate,
    /// All of it, and golden cases.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 8] = [
        Self::Ask,
        Self::Query,
        Self::Read,
        Self::Feedback,
        Self::AuthorExamples,
        Self::Curate,
        Self::Operate,
        Self::Admin,
    ];

    /// What anybody on this machine may do where there are no keys: everything that changes nothing that is trusted.
    pub const LOCAL: [Self; 4] = [Self::Ask, Self::Query, Self::Read, Self::Feedback];

    /// Either of these may have SQL judged, on every surface: nothing runs, and whoever asks is shown SQL as well.
    pub const JUDGING_SQL: &[Self] = &[Self::Query, Self::Ask];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Query => "query",
            Self::Read => "read",
            Self::Feedback => "feedback",
            Self::AuthorExamples => "examples:author",
            Self::Curate => "curate",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text}` is no scope: there are {known}")
        })
    }
}
