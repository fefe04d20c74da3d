//! Compiled code kept between starts: authenticated, and made anew on any doubt.
//!
//! Compiled code runs with the host's authority, so a file is believed only if it carries a MAC made with a key that
//! lies beside it, readable by this host's user alone. The MAC covers the component's digest and the engine's
//! compatibility hash, so that one entry cannot stand in for another. A wrong, old, cut or foreign file is deleted
//! and the component is compiled again. What was not used for longest goes when the folder holds too much.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use airlock_types::ContentHash;
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::errors::RuntimeError;

const KEY_FILE: &str = "key";
const MAC_BYTES: usize = 32;
/// How the names of compiled components end.
const EXTENSION: &str = "compiled";
/// Bytes of all compiled components that are kept: some hundred of Rust, or a dozen that carry an engine.
const KEPT: u64 = 1 << 30;

/// A folder of compiled components.
pub(crate) struct Cache {
    dir: PathBuf,
    key: [u8; 32],
    /// Of the engine: its version, target and settings.
    engine: ContentHash,
}

impl Cache {
    /// Opens the folder, making it and its key when they are not there.
    pub(crate) fn open(dir: &Path, engine: &Engine) -> Result<Self, RuntimeError> {
        let wrong = |reason: String| RuntimeError::Cache { path: dir.to_owned(), reason };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| wrong(error.to_string()))?;
        check_private(dir).map_err(wrong)?;
        let key = read_or_make_key(&dir.join(KEY_FILE)).map_err(wrong)?;
        Ok(Self { dir: dir.to_owned(), key, engine: compatibility(engine) })
    }

    /// The compiled form of the component with this digest, if there is one that can be believed.
    pub(crate) fn get(&self, digest: ContentHash, engine: &Engine) -> Option<Component> {
        let path = self.path(digest);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(%digest, %error, "a compiled component cannot be read: compiling it again");
                return None;
            }
        };
        match self.open_entry(digest, &bytes, engine) {
            Ok(component) => {
                // If that cannot be noted it only goes earlier.
                drop(
                    fs::File::options()
                        .append(true)
                        .open(&path)
                        .and_then(|file| file.set_modified(SystemTime::now())),
                );
                Some(component)
            }
            Err(reason) => {
                tracing::warn!(%digest, reason, "a compiled component cannot be believed: compiling it again");
                // If it cannot be deleted it is replaced by the next `put`, and not believed until then.
                drop(fs::remove_file(&path));
                None
            }
        }
    }

    fn open_entry(&self, digest: ContentHash, bytes: &[u8], engine: &Engine) -> Result<Component, String> {
        let (mac, code) = bytes.split_at_checked(MAC_BYTES).ok_or("it is cut short")?;
        if !same(mac, &self.mac(digest, code)) {
            return Err("its MAC is wrong".to_owned());
        }
        compiled::load(engine, code).map_err(|error| format!("{error:#}"))
    }

    /// Keeps a compiled component. Failure costs time at the next start and nothing else, so it is only logged.
    pub(crate) fn put(&self, digest: ContentHash, component: &Component) {
        if let Err(reason) = self.write_entry(digest, component) {
            tracing::warn!(%digest, reason, "a compiled component cannot be kept");
        }
        make_room(&self.dir, KEPT);
    }

    fn write_entry(&self, digest: ContentHash, component: &Component) -> Result<(), String> {
        let code = component.serialize().map_err(|error| format!("{error:#}"))?;
        let path = self.path(digest);
        // Written aside and renamed, so that no reader ever sees half a file.
        let aside = path.with_extension(format!("{}.new", std::process::id()));
        drop(fs::remove_file(&aside));
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
            file.write_all(&self.mac(digest, &code))?;
            file.write_all(&code)?;
            fs::rename(&aside, &path)
        };
        write().map_err(|error| {
            drop(fs::remove_file(&aside));
            error.to_string()
        })
    }

    fn path(&self, digest: ContentHash) -> PathBuf {
        self.dir.join(format!("{digest}-{}.{EXTENSION}", self.engine.short()))
    }

    fn mac(&self, digest: ContentHash, code: &[u8]) -> [u8; MAC_BYTES] {
        hmac(&self.key, &[digest.to_string().as_bytes(), self.engine.to_string().as_bytes(), code])
    }
}

/// Deletes what was not used for longest until what is left has at most so many bytes. The one used last always stays. Another
/// host may do the same at the same time.
fn make_room(dir: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut kept: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
        .filter_map(|path| {
            let metadata = fs::metadata(&path).ok()?;
            Some((metadata.modified().ok()?, metadata.len(), path))
        })
        .collect();
    kept.sort();
    let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    kept.pop();
    for (_, size, path) in kept {
        if bytes <= most {
            return;
        }
        bytes = bytes.saturating_sub(size);
        drop(fs::remove_file(path));
    }
}

/// Refuses a folder that others may enter or that belongs to another user.
fn check_private(dir: &Path) -> Result<(), String> {
    let metadata = fs::symlink_metadata(dir).map_err(|error| error.to_string())?;
    if !metadata.is_dir() {
        return Err("it is not a folder".to_owned());
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "others may enter it (mode {mode:o}); run `chmod 700` on it, or name another folder"
        ));
    }
    // What we make belongs to us: that is how we learn who we are without a system call of our own.
    let probe = dir.join(format!("owner-{}", std::process::id()));
    let owner = fs::write(&probe, []).and_then(|()| fs::metadata(&probe)).map_err(|error| error.to_string());
    drop(fs::remove_file(&probe));
    if owner?.uid() != metadata.uid() {
        return Err("it belongs to another user; name a folder of your own".to_owned());
    }
    Ok(())
}

fn read_or_make_key(path: &Path) -> Result<[u8; 32], String> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            let mut key = [0; 32];
            fs::File::open("/dev/urandom")
                .and_then(|mut source| source.read_exact(&mut key))
                .and_then(|()| file.write_all(&key))
                .map_err(|error| format!("no key can be made: {error}"))?;
            Ok(key)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(|error| error.to_string())?;
            let bytes = fs::read(path).map_err(|error| error.to_string())?;
            bytes
                .try_into()
                .map_err(|_| "its key is damaged; delete the folder, it is only a cache".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// What must be equal for compiled code to run: a hash over everything the engine says matters.
fn compatibility(engine: &Engine) -> ContentHash {
    struct Sha(Sha256);
    impl Hasher for Sha {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
        // Asked for by the trait; the whole digest is taken below instead.
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut hasher = Sha(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    ContentHash::of(hasher.0.finalize())
}

/// HMAC-SHA-256 (RFC 2104) of some parts, each preceded by its length so that they cannot run into each other.
fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; MAC_BYTES] {
    let padded = |with: u8| -> Vec<u8> {
        key.iter().copied().chain(std::iter::repeat(0)).take(64).map(|byte| byte ^ with).collect()
    };
    let mut inner = Sha256::new_with_prefix(padded(0x36));
    for part in parts {
        inner.update((part.len() as u64).to_le_bytes());
        inner.update(part);
    }
    Sha256::new_with_prefix(padded(0x5c)).chain_update(inner.finalize()).finalize().into()
}

/// Compares in a time that does not depend on where the difference is.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).fold(0, |difference, (l, r)| difference | (l ^ r)) == 0
}

/// The only `unsafe` of the project.
mod compiled {
    use wasmtime::Engine;
    use wasmtime::component::Component;

    /// Turns authenticated compiled code into a component.
    #[allow(unsafe_code, reason = "compiled code cannot be checked, only believed; see SAFETY")]
    pub(super) fn load(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
        // SAFETY: `deserialize` requires bytes that `Component::serialize` made and nobody changed. The caller has
        // just verified an HMAC over them with a key that only this host's user can read, and a file with that MAC
        // is written in one place, from `Component::serialize`. Version and settings are checked by `deserialize`.
        unsafe { Component::deserialize(engine, code) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let dir = tempfile::tempdir().unwrap();
        let names = || {
            let mut names: Vec<String> = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let ages = [("a.compiled", 3), ("b.compiled", 9), ("c.compiled", 1), ("d.compiled", 5), ("key", 99)];
        for (name, minutes) in ages {
            let path = dir.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            let used = SystemTime::now() - Duration::from_secs(60 * minutes);
            fs::File::options().append(true).open(&path).unwrap().set_modified(used).unwrap();
        }
        for (most, want) in [
            (400, vec!["a.compiled", "b.compiled", "c.compiled", "d.compiled", "key"]),
            (399, vec!["a.compiled", "c.compiled", "d.compiled", "key"]),
            (200, vec!["a.compiled", "c.compiled", "key"]),
            (0, vec!["c.compiled", "key"]),
        ] {
            make_room(dir.path(), most);
            assert_eq!(names(), want, "{most}");
        }
    }
}
