//! Why there is no evaluation.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Nothing was asked, or not all of it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// Questions that cannot be asked or graded, a line each.
    #[error("{}", list(.0))]
    Questions(Vec<String>),
    /// A file of a run cannot be read or written.
    #[error("{file}: {error}")]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// No folder of a run can be made where it was to be.
    #[error("no run can be kept in {folder}: {error}; name a folder that can be written to")]
    Out {
        /// Where.
        folder: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A folder is not that of a run, or one of another version.
    #[error("{folder} is not the folder of a run: {why}")]
    NoRun {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Two runs that cannot be held against each other.
    #[error("{first} and {second} cannot be compared: {why}")]
    NothingShared {
        /// The first run.
        first: String,
        /// The second.
        second: String,
        /// What they do not share.
        why: &'static str,
    },
    /// Somebody else writes to the run.
    #[error("{0}: another evaluation is writing to this run")]
    InUse(PathBuf),
    /// The run was begun under other conditions.
    #[error("{folder} cannot be gone on with: what has changed since it began is {}; begin a new run", .changed.join(", "))]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// Parts of the manifest.
        changed: Vec<&'static str>,
    },
    /// Something was down.
    #[error("{0}")]
    Infrastructure(String),
    /// The domain cannot be opened without what was to be left out.
    #[error("{0}")]
    Domain(String),
}

impl EvaluationError {
    pub(crate) fn file(file: &Path, error: io::Error) -> Self {
        Self::File { file: file.to_owned(), error }
    }

    /// A folder that cannot be made, for a run inside of `out`: the place is at fault unless the machine is.
    pub(crate) fn out(out: &Path, folder: &Path, error: io::Error) -> Self {
        let place = matches!(
            error.kind(),
            ErrorKind::AlreadyExists
                | ErrorKind::NotADirectory
                | ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::InvalidInput
                | ErrorKind::InvalidFilename
        );
        if place { Self::Out { folder: out.to_owned(), error } } else { Self::file(folder, error) }
    }

    /// Whether whoever called can mend it.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Questions(_)
                | Self::Out { .. }
                | Self::NoRun { .. }
                | Self::NothingShared { .. }
                | Self::InUse(_)
                | Self::Changed { .. }
        )
    }
}

/// Problems shown at once; the rest is counted.
const SHOWN: usize = 200;

fn list(problems: &[String]) -> String {
    let mut text = String::from("the questions cannot be used as they are, and none was asked:");
    for problem in problems.iter().take(SHOWN) {
        text.push_str("\n  ");
        text.push_str(problem);
    }
    if problems.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", problems.len() - SHOWN));
    }
    text
}
