//! A statement of setup: what it is for, who may run it, and how to tell that it need not run.

use std::fmt;

/// A statement of setup. It carries no password: roles are given a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement, as it is run.
    pub sql: String,
    /// What it is for.
    pub why: &'static str,
    /// Whether the role is of no use without it. A managed service may refuse the others.
    pub needed: bool,
    /// Who may run it, should the administrator not be allowed to.
    pub run_as: String,
    /// Whether what it makes is there already.
    pub unchanged: bool,
    /// What takes it back, where that is not this role's own matter.
    pub undo: Option<String>,
    /// A query whose one answer is whether what it makes is there.
    pub(super) holds: Option<String>,
    /// What does the same in parts, so that one part that is refused does not keep the others away.
    pub(super) parts: Vec<Statement>,
}

impl Statement {
    pub(super) fn needed(sql: String, why: &'static str, run_as: &str) -> Self {
        let run_as = run_as.to_owned();
        Self { sql, why, needed: true, run_as, unchanged: false, undo: None, holds: None, parts: Vec::new() }
    }

    pub(super) fn useful(sql: String, why: &'static str, run_as: &str) -> Self {
        Self { needed: false, ..Self::needed(sql, why, run_as) }
    }

    /// It need not run where this condition on the catalogue is true.
    pub(super) fn unless(self, condition: &str) -> Self {
        Self { holds: Some(format!("SELECT coalesce(({condition}), false)")), ..self }
    }

    pub(super) fn in_parts(self, parts: Vec<Self>) -> Self {
        Self { parts, ..self }
    }

    pub(super) fn undone_by(self, undo: String) -> Self {
        Self { undo: Some(undo), ..self }
    }

    /// Whether it gives the role its password.
    #[must_use]
    pub fn sets_password(&self) -> bool {
        self.sql.contains(" PASSWORD ")
    }

    /// What is being done, for errors. A statement that sets a password holds its verifier, which has no business there.
    pub(super) fn doing(&self) -> String {
        match self.sets_password() {
            true => self.why.to_owned(),
            false => format!("{} (`{}`)", self.why, self.sql),
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};  -- {}", self.sql, self.why)
    }
}

/// A statement that the server did not accept, or that had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The statement.
    pub statement: Statement,
    /// What the server said.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statement, reason } = self;
        write!(f, "{}: {reason}; to be run by {}:\n    {};", statement.why, statement.run_as, statement.sql)
    }
}
