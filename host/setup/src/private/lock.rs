//! One airlock at a time keeps a private server.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::error::SetupError;

/// Held while this airlock keeps the server. The system gives it up when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a data folder.
    pub fn take(dir: &Path) -> Result<Self, SetupError> {
        let path = dir.join("lock");
        let wrong = |error: std::io::Error| SetupError::file(&path, error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(wrong)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // Who it is helps, but is not needed to say that somebody is.
                let _ = file.read_to_string(&mut owner);
                return Err(SetupError::InUse { dir: dir.to_owned(), owner: owner.trim().to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(wrong(error)),
        }
        file.set_len(0).map_err(wrong)?;
        writeln!(file, "{}", std::process::id()).map_err(wrong)?;
        Ok(Self { _file: file })
    }
}
