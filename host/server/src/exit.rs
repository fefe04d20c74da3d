//! Exit codes that mean something.

use std::fmt;
use std::process::ExitCode;

use airlock_types::Outcome;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: the answer is no (refused, clarification, gave up, rejected).
    No,
    /// 2: the command line, the configuration or the input is wrong.
    Usage,
    /// 3: something other than the input was at fault.
    Infrastructure,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answered => Self::Done,
            Outcome::Clarification | Outcome::Refused | Outcome::GaveUp => Self::No,
            Outcome::Failed => Self::Infrastructure,
        }
    }
}

/// Marks an error as the user's to mend, so that it ends with 2 rather than 3.
#[derive(Debug)]
pub struct Usage;

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the command cannot be carried out as given")
    }
}

impl std::error::Error for Usage {}

/// An error that the user can mend.
pub fn usage(error: impl fmt::Display) -> anyhow::Error {
    anyhow::Error::new(Usage).context(error.to_string())
}

impl Exit {
    /// The number that a shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Infrastructure => 3,
        }
    }

    /// The exit code of an error.
    pub fn of(error: &anyhow::Error) -> Self {
        if error.downcast_ref::<Usage>().is_some() || error.chain().any(|cause| cause.is::<Usage>()) {
            Self::Usage
        } else {
            Self::Infrastructure
        }
    }
}
