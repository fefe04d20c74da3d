//! The operators' socket: open to the user that runs the host and to nobody else.

use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::exit::usage;

/// Longest path of a socket, on every system that has them.
const PATH_LIMIT: usize = 100;

/// A socket that is listened on. Its file is removed with it.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens at a path. The file that a dead host left is replaced.
    ///
    /// # Errors
    /// When a live host listens there, or something that is no socket is there.
    pub fn bind(path: &Path) -> anyhow::Result<Self> {
        let wrong = |why: String| usage(format!("server.operator_socket: {}: {why}", path.display()));
        if path.as_os_str().len() > PATH_LIMIT {
            return Err(wrong(format!("a socket's path has at most {PATH_LIMIT} bytes; name a shorter one")));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
            wrong(format!("its folder cannot be made ({error}); name one that this user may write"))
        })?;
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(error.to_string())),
            Ok(found) if !found.file_type().is_socket() => {
                return Err(wrong("something that is no socket is there; name another path".to_owned()));
            }
            Ok(_) => match std::os::unix::net::UnixStream::connect(path) {
                // Nobody listens: its host is dead.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(wrong(format!("who listens there cannot be told ({error})"))),
                Ok(_) => {
                    return Err(wrong(
                        "a running host listens there; stop it, or give this one a path and a `data` of its own"
                            .to_owned(),
                    ));
                }
            },
        }
        // Made beside its place and moved there, so that it never lies there with other permissions.
        let part = path.with_extension(format!("{}.part", std::process::id()));
        let made = UnixListener::bind(&part).and_then(|listener| {
            std::fs::set_permissions(&part, std::fs::Permissions::from_mode(0o600))?;
            std::fs::rename(&part, path)?;
            Ok(listener)
        });
        match made {
            Ok(listener) => Ok(Self { listener, path: path.to_owned() }),
            Err(error) => {
                let _ = std::fs::remove_file(&part);
                Err(wrong(format!("it cannot be listened on: {error}")))
            }
        }
    }

    /// The listener.
    pub const fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dead_hosts_socket_is_replaced_and_a_live_ones_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub").join("operator.sock");
        let live = Socket::bind(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let refused = Socket::bind(&path).err().unwrap().to_string();
        assert!(refused.contains("a running host listens there"), "{refused}");
        // A host that is killed removes nothing.
        drop(std::os::unix::net::UnixListener::bind(folder.path().join("dead.sock")).unwrap());
        drop(Socket::bind(&folder.path().join("dead.sock")).unwrap());
        drop(live);
        assert!(!path.exists());
        std::fs::write(&path, "notes").unwrap();
        let refused = Socket::bind(&path).err().unwrap().to_string();
        assert!(refused.contains("no socket"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"notes");
        let long = folder.path().join("x".repeat(120));
        assert!(Socket::bind(&long).err().unwrap().to_string().contains("shorter"));
    }
}
