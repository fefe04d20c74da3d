//! A draft on disk: all of it or nothing, and never over something that is there.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Draft;

/// Why a draft was not written. Each says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DraftWriteError {
    /// Something is there.
    #[error("{0} is there already, and nothing is written over it: give a folder that is not there yet")]
    Exists(PathBuf),
    /// The file system refused.
    #[error("{path} cannot be written: {error}")]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Draft {
    /// Writes the pack as the folder `to`, which must not be there.
    ///
    /// # Errors
    /// [`DraftWriteError`]; nothing is left behind then.
    pub fn write(&self, to: &Path) -> Result<(), DraftWriteError> {
        // A link that leads nowhere is something that is there.
        if to.symlink_metadata().is_ok() {
            return Err(DraftWriteError::Exists(to.to_path_buf()));
        }
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error| DraftWriteError::Io { path, error }
        };
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(failed(parent))?;
        let half = parent.join(format!(".{}.{}", self.name(), std::process::id()));
        fs::create_dir(&half).map_err(failed(&half))?;
        let written = self.fill(&half).and_then(|()| {
            // A folder, even an empty one, that somebody made meanwhile would be replaced: `rename` takes that for right.
            if to.symlink_metadata().is_ok() {
                return Err(DraftWriteError::Exists(to.to_path_buf()));
            }
            fs::rename(&half, to).map_err(failed(to))
        });
        if written.is_err() {
            let _ = fs::remove_dir_all(&half);
        }
        written
    }

    fn fill(&self, folder: &Path) -> Result<(), DraftWriteError> {
        for (path, text) in self.files() {
            let file = folder.join(path);
            let write = || -> io::Result<()> {
                if let Some(inside) = file.parent() {
                    fs::create_dir_all(inside)?;
                }
                let mut out = fs::OpenOptions::new().write(true).create_new(true).open(&file)?;
                out.write_all(text.as_bytes())?;
                out.sync_all()
            };
            write().map_err(|error| DraftWriteError::Io { path: file.clone(), error })?;
        }
        Ok(())
    }
}
