//! The programs of a PostgreSQL server on this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::SetupError;

/// The oldest version that airlock serves.
const OLDEST: u32 = 13;
/// Folders whose children are installations, as distributions lay them out.
const INSTALLATIONS: [&str; 4] =
    ["/usr/lib/postgresql", "/opt/postgresql", "/opt/homebrew/opt", "/usr/local/opt"];

/// One installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// The folder of `initdb`, `postgres` and `pg_ctl`.
    pub dir: PathBuf,
    /// Major version.
    pub major: u32,
}

impl Binaries {
    /// The ones in `wanted`; else of all that are found the version that already has files in `data_dir`, else the newest.
    pub fn find(wanted: Option<&Path>, data_dir: &Path) -> Result<Self, SetupError> {
        let folders = wanted.map_or_else(folders, |dir| vec![dir.to_owned()]);
        let mut found: Vec<Self> = folders.iter().filter_map(|dir| Self::in_folder(dir)).collect();
        found.sort_by_key(|binaries| std::cmp::Reverse(binaries.major));
        let used = found.iter().find(|binaries| binaries.cluster(data_dir).join("PG_VERSION").is_file());
        let none = || SetupError::NoBinaries {
            searched: folders.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", "),
        };
        used.or(found.first()).cloned().ok_or_else(none)
    }

    /// Where the files of a server of this version are.
    pub fn cluster(&self, data_dir: &Path) -> PathBuf {
        data_dir.join(format!("data-{}", self.major))
    }

    /// One of its programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn in_folder(dir: &Path) -> Option<Self> {
        let all = ["initdb", "postgres", "pg_ctl"].iter().all(|name| dir.join(name).is_file());
        let output = all.then(|| Command::new(dir.join("postgres")).arg("--version").output().ok())??;
        let major = major(&String::from_utf8_lossy(&output.stdout)).filter(|major| *major >= OLDEST)?;
        Some(Self { dir: dir.to_owned(), major })
    }
}

fn folders() -> Vec<PathBuf> {
    let children = |dir: &&str| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> =
        INSTALLATIONS.iter().flat_map(children).map(|dir| dir.join("bin")).collect();
    folders.extend((OLDEST..OLDEST + 12).map(|major| PathBuf::from(format!("/usr/pgsql-{major}/bin"))));
    folders.push(PathBuf::from("/usr/local/pgsql/bin"));
    folders.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    folders.retain(|dir| dir.join("initdb").is_file());
    if folders.is_empty() {
        folders = INSTALLATIONS.iter().map(PathBuf::from).chain([PathBuf::from("the PATH")]).collect();
    }
    folders
}

/// `postgres (PostgreSQL) 15.18 (Debian ..)`: 15; `17beta1`: 17.
fn major(version: &str) -> Option<u32> {
    version.split_whitespace().nth(2)?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read() {
        for (text, want) in [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 18beta2", Some(18)),
            ("postgres", None),
        ] {
            assert_eq!(major(text), want, "{text}");
        }
    }

    #[test]
    fn a_folder_without_a_server_is_named() {
        let empty = tempfile::tempdir().unwrap();
        let error = Binaries::find(Some(empty.path()), empty.path()).unwrap_err().to_string();
        assert!(error.contains(&empty.path().display().to_string()), "{error}");
    }
}
