//! Under which account the server runs: this process's own, or an unprivileged one when this process is root.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::SetupError;

/// Accounts that may run a server for root, the best first.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// The account of the server's processes and files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account(Option<Ids>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ids {
    uid: u32,
    gid: u32,
}

impl Account {
    /// This process's own; for root, since PostgreSQL refuses root, an unprivileged one.
    pub fn to_run_as() -> Result<Self, SetupError> {
        if !is_root() {
            return Ok(Self(None));
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let ids = UNPRIVILEGED.iter().find_map(|name| ids_of(&passwd, name));
        ids.map(|ids| Self(Some(ids))).ok_or(SetupError::NoAccount)
    }

    /// A program run by this account, in a folder it may be in, with no setting of the caller's PostgreSQL.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command.env("LC_MESSAGES", "C").env_remove("LC_ALL");
        if let Some(Ids { uid, gid }) = self.0 {
            // Root's supplementary groups are dropped with the change.
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Gives a file or folder to this account.
    pub fn own(&self, path: &Path) -> Result<(), SetupError> {
        match self.0 {
            Some(Ids { uid, gid }) => {
                chown(path, Some(uid), Some(gid)).map_err(|error| SetupError::file(path, error))
            }
            None => Ok(()),
        }
    }

    /// Makes a folder that this account alone may enter.
    pub fn make_private_dir(&self, path: &Path) -> Result<(), SetupError> {
        match DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => self.own(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(SetupError::file(path, error)),
        }
    }

    /// Whether this account, and no other but root, may enter the folder.
    pub fn is_private(&self, path: &Path) -> bool {
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        let owner = self.0.map(|ids| ids.uid).or_else(own_uid);
        metadata.is_dir() && Some(metadata.uid()) == owner && metadata.mode() & 0o077 == 0
    }

    /// Makes the data folder, and sees that this account can reach what is below it. Gives the folder's real path.
    pub fn prepare(&self, dir: &Path) -> Result<PathBuf, SetupError> {
        let file = |error: std::io::Error| SetupError::file(dir, error);
        fs::create_dir_all(dir).map_err(file)?;
        let dir = dir.canonicalize().map_err(file)?;
        let Some(ids) = self.0 else { return Ok(dir) };
        let metadata = fs::metadata(&dir).map_err(file)?;
        if !passes(&metadata, ids) {
            // The folder is this server's alone, and nothing in it is readable by others.
            fs::set_permissions(&dir, Permissions::from_mode(metadata.mode() | 0o011)).map_err(file)?;
        }
        for above in dir.ancestors().skip(1) {
            let metadata = fs::metadata(above).map_err(|error| SetupError::file(above, error))?;
            if !passes(&metadata, ids) {
                let reason = format!(
                    "PostgreSQL does not run as root, and its account (uid {}) may not pass this folder: use a data folder \
                     elsewhere, such as /var/lib/airlock",
                    ids.uid
                );
                return Err(SetupError::file(above, reason));
            }
        }
        Ok(dir)
    }
}

fn passes(folder: &fs::Metadata, ids: Ids) -> bool {
    let mode = folder.mode();
    if folder.uid() == ids.uid {
        mode & 0o100 != 0
    } else if folder.gid() == ids.gid {
        mode & 0o010 != 0
    } else {
        mode & 0o001 != 0
    }
}

/// Whether this process is root.
pub fn is_root() -> bool {
    own_uid() == Some(0)
}

/// This process's effective user.
fn own_uid() -> Option<u32> {
    if let Ok(metadata) = fs::metadata("/proc/self") {
        return Some(metadata.uid());
    }
    let output = Command::new("id").arg("-u").output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn ids_of(passwd: &str, name: &str) -> Option<Ids> {
    let mut fields =
        passwd.lines().map(|line| line.split(':')).find(|fields| fields.clone().next() == Some(name))?;
    let uid = fields.nth(2)?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(Ids { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_from_the_file_of_accounts() {
        let passwd = "root:x:0:0:root:/:/bin/sh\npostgres:x:101:104:PostgreSQL,,,:/var/lib/postgresql:/bin/bash\nbroken:x:\n";
        for (name, want) in
            [("postgres", Some((101, 104))), ("nobody", None), ("broken", None), ("post", None)]
        {
            assert_eq!(ids_of(passwd, name).map(|ids| (ids.uid, ids.gid)), want, "{name}");
        }
    }
}
