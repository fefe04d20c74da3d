//! Where the socket is: a path short enough for the system, in a folder that only the server's account may enter.

use std::env;
use std::path::{Path, PathBuf};

use airlock_types::ContentHash;

use super::account::Account;
use crate::error::SetupError;

/// A socket's address holds 107 bytes; the folder is followed by `/.s.PGSQL.5432`.
const LONGEST_DIR: usize = 107 - 14;

/// The folder for the server of this data folder; the same each time.
pub fn choose(data_dir: &Path) -> Result<PathBuf, SetupError> {
    let name = format!("airlock-{}", ContentHash::of(data_dir.to_string_lossy().as_bytes()).short());
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let mut candidates = vec![data_dir.join("socket")];
    candidates.extend(runtime.map(|dir| dir.join(&name)));
    candidates.push(env::temp_dir().join(&name));
    candidates.push(Path::new("/tmp").join(&name));
    let short = |dir: &PathBuf| dir.as_os_str().len() <= LONGEST_DIR;
    candidates
        .into_iter()
        .find(short)
        .ok_or_else(|| SetupError::file(data_dir, "no short folder for a socket"))
}

/// Makes the folder. One that is there already must be the account's own: in a shared folder another user may have
/// been quicker.
pub fn make(dir: &Path, account: &Account) -> Result<(), SetupError> {
    account.make_private_dir(dir)?;
    if !account.is_private(dir) {
        return Err(SetupError::file(
            dir,
            "it is not a folder that the server's account alone may enter: remove it",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_data_folder_gets_a_short_socket() {
        let near = Path::new("/var/lib/airlock");
        assert_eq!(choose(near).unwrap(), near.join("socket"));
        let (far, farther) =
            (PathBuf::from(format!("/{}", "a".repeat(200))), PathBuf::from(format!("/{}", "b".repeat(200))));
        assert!(choose(&far).unwrap().as_os_str().len() <= LONGEST_DIR);
        assert_ne!(choose(&far).unwrap(), choose(&farther).unwrap());
    }
}
