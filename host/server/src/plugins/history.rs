//! What served when: a file that only grows, and a copy of each component that was swapped in.
//!
//! `plugins/history.jsonl` in the host's data folder holds an entry a line; `plugins/components/SHA256.wasm` the copies. One
//! host writes them; any number may read.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use airlock_pipeline::{Quarantined, Served, ShadowReport};
use airlock_runtime::{DomainScope, Stage};
use airlock_types::ContentHash;
use anyhow::Context;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::signature::beside;
use crate::exit::usage;
use crate::operator::Verified;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// The stage.
    pub stage: Stage,
    /// The domains.
    pub domains: DomainScope,
    /// Who: the user of the operator's socket, or the host itself.
    pub by: String,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// An operator put a component in service.
    Swapped {
        /// What served before.
        from: Option<Served>,
        /// What serves since.
        to: Served,
        /// The difference of their grants.
        grant: Vec<String>,
        /// How both did on golden cases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verified: Option<Verified>,
        /// Whether it went in although something got worse.
        #[serde(default)]
        forced: bool,
    },
    /// A swap was refused because golden cases got worse.
    Refused {
        /// What goes on serving.
        from: Option<Served>,
        /// What does not.
        to: Served,
        /// How both did.
        verified: Verified,
    },
    /// An operator went back.
    RolledBack {
        /// What served.
        from: Option<Served>,
        /// What serves since; nothing when the domain has none of its own any more and there is none for all.
        to: Option<Served>,
    },
    /// The host took a component out of service.
    Quarantined {
        /// Which and why.
        quarantined: Quarantined,
    },
    /// A candidate ran beside what serves.
    Shadowed {
        /// How it compares.
        report: ShadowReport,
    },
}

/// The history of the host that holds it open.
pub struct History {
    folder: PathBuf,
    file: Mutex<Book>,
    /// Held as long as the history is open.
    _lock: File,
}

/// The file, and lines that it had no room for.
struct Book {
    file: File,
    /// Whole lines that are written before the next one.
    owed: Vec<u8>,
}

/// Bytes that are owed at most; what is more is lost with this host.
const OWED_LIMIT: usize = 1 << 20;

impl Book {
    /// Writes what is owed and then this, on disk before this returns; all of it or nothing.
    fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        let before = self.file.metadata()?.len();
        let text = [self.owed.as_slice(), line].concat();
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // A full disk took a part; what follows must not be glued to it. Shrinking needs no room.
            self.file.set_len(before)?;
        } else {
            self.owed.clear();
        }
        written
    }
}

fn folder(data: &Path) -> PathBuf {
    data.join("plugins")
}

fn path(data: &Path) -> PathBuf {
    folder(data).join("history.jsonl")
}

/// Where the copy of a component is.
pub fn copy(data: &Path, digest: ContentHash) -> PathBuf {
    folder(data).join("components").join(format!("{digest}.wasm"))
}

/// Reads the history in a data folder, oldest first; empty when there is none.
///
/// # Errors
/// When it cannot be read, or a line of it is no entry. A last line that was not written to its end does not count.
pub fn read(data: &Path) -> anyhow::Result<Vec<Entry>> {
    read_file(&path(data))
}

fn read_file(path: &Path) -> anyhow::Result<Vec<Entry>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    let whole = text.rfind('\n').map_or("", |end| text.get(..end).unwrap_or_default());
    let mut entries = Vec::new();
    for (line, number) in whole.lines().zip(1..) {
        entries.push(serde_json::from_str(line).map_err(|error| {
            usage(format!(
                "{}:{number}: not an entry of the history ({error}); what serves follows from it, so mend the line or move \
                 the file away",
                path.display()
            ))
        })?);
    }
    Ok(entries)
}

impl History {
    /// Opens the history in a data folder for the one host that writes it.
    ///
    /// # Errors
    /// When the folder cannot be made, or another host has it open.
    pub fn open(data: &Path) -> anyhow::Result<Self> {
        let folder = folder(data);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join("components")).map_err(
            |error| {
                usage(format!(
                    "server.data: {} cannot be made ({error}): name a folder that this user may write",
                    folder.display()
                ))
            },
        )?;
        let open = |name: &str| {
            let path = folder.join(name);
            let opened = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path);
            opened.with_context(|| format!("{} cannot be opened", path.display()))
        };
        let lock = open(".lock")?;
        lock.try_lock().map_err(|_| {
            usage(format!(
                "server.data: another host keeps its history in {}; give each host a folder of its own",
                folder.display()
            ))
        })?;
        let mut file = open("history.jsonl")?;
        drop_torn_line(&mut file).context("the history of components cannot be mended")?;
        Ok(Self { folder, file: Mutex::new(Book { file, owed: Vec::new() }), _lock: lock })
    }

    /// Adds an entry, on disk before this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&self, entry: &Entry) -> std::io::Result<()> {
        let line = line(entry)?;
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write(&line)
    }

    /// Adds an entry about what has happened already. When it cannot be written now, it is with the next one.
    ///
    /// # Errors
    /// When it cannot be written now.
    pub fn append_or_owe(&self, entry: &Entry) -> std::io::Result<()> {
        let line = line(entry)?;
        let mut book = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = book.write(&line);
        if written.is_err() && book.owed.len() + line.len() <= OWED_LIMIT {
            book.owed.extend(line);
        }
        written
    }

    /// Writes what is owed, if there is room by now.
    ///
    /// # Errors
    /// When there is none.
    pub fn settle(&self) -> std::io::Result<()> {
        let mut book = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if book.owed.is_empty() { Ok(()) } else { book.write(&[]) }
    }

    /// Keeps a copy of a component and of the signed statement it came with, on disk before this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, digest: ContentHash, bytes: &[u8], signature: Option<&[u8]>) -> std::io::Result<()> {
        let path = self.folder.join("components").join(format!("{digest}.wasm"));
        if let Some(signature) = signature {
            self.keep_file(digest, &beside(&path), signature)?;
        }
        if std::fs::read(&path).is_ok_and(|kept| ContentHash::of(kept) == digest) {
            return Ok(());
        }
        self.keep_file(digest, &path, bytes)
    }

    fn keep_file(&self, digest: ContentHash, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let folder = self.folder.join("components");
        let part = folder.join(format!(".{digest}.part"));
        let write = || {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&part, path)
        };
        if let Err(error) = write() {
            // Half a copy is of no use, and may be what fills the disk.
            let _ = std::fs::remove_file(&part);
            return Err(error);
        }
        File::open(&folder)?.sync_all()
    }

    /// What was written so far, oldest first.
    ///
    /// # Errors
    /// As [`read`].
    pub fn entries(&self) -> anyhow::Result<Vec<Entry>> {
        read_file(&self.folder.join("history.jsonl"))
    }

    /// Removes the copies that no way back leads to any more. What cannot be removed is only told: it costs room.
    pub fn prune(&self, needed: &BTreeSet<ContentHash>) {
        let folder = self.folder.join("components");
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let stem = name.split('.').next().unwrap_or_default();
            if needed.iter().any(|digest| digest.to_string() == stem) {
                continue;
            }
            if let Err(error) = std::fs::remove_file(entry.path()) {
                tracing::warn!(%error, file = name, "a copy of a component that nothing needs stays");
            }
        }
    }
}

fn line(entry: &Entry) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}

/// A host that died while it wrote left half a line; what follows must not be glued to it.
fn drop_torn_line(file: &mut File) -> std::io::Result<()> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut text)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        tracing::warn!(
            "the last entry of the history of components was not written to its end; it is dropped"
        );
        file.set_len(whole as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(to: &str) -> Entry {
        Entry {
            at: "2026-07-01T10:00:00Z".parse().unwrap(),
            stage: Stage::Repair,
            domains: DomainScope::Any,
            by: "uid 0".to_owned(),
            event: Event::RolledBack {
                from: None,
                to: Some(Served { component: to.to_owned(), digest: ContentHash::of(to) }),
            },
        }
    }

    #[test]
    fn entries_outlive_the_host_and_a_torn_line_does_not() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(read(data.path()).unwrap(), []);
        let history = History::open(data.path()).unwrap();
        assert!(History::open(data.path()).is_err(), "one writer");
        history.append(&entry("a")).unwrap();
        drop(history);
        let file = path(data.path());
        let mut text = std::fs::read_to_string(&file).unwrap();
        text.push_str("{\"at\": \"2026");
        std::fs::write(&file, &text).unwrap();
        assert_eq!(read(data.path()).unwrap(), [entry("a")]);
        let history = History::open(data.path()).unwrap();
        history.append(&entry("b")).unwrap();
        assert_eq!(read(data.path()).unwrap(), [entry("a"), entry("b")]);
        std::fs::write(&file, "nonsense\n{}\n").unwrap();
        assert!(read(data.path()).unwrap_err().to_string().contains("history.jsonl:1"));
    }

    #[test]
    fn only_copies_that_are_needed_stay() {
        let data = tempfile::tempdir().unwrap();
        let history = History::open(data.path()).unwrap();
        let [old, new] = [b"old", b"new"].map(ContentHash::of);
        history.keep(old, b"old", Some(b"signed")).unwrap();
        history.keep(new, b"new", Some(b"signed")).unwrap();
        history.prune(&[new].into());
        let mut left: Vec<String> = std::fs::read_dir(data.path().join("plugins/components"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [format!("{new}.wasm"), format!("{new}.wasm.sig")]);
    }

    #[test]
    fn what_there_was_no_room_for_is_written_before_the_next() {
        let data = tempfile::tempdir().unwrap();
        let history = History::open(data.path()).unwrap();
        let good = |path: &Path| OpenOptions::new().read(true).append(true).open(path).unwrap();
        // A file that cannot be written stands for a disk without room.
        let broken = |history: &History, file| history.file.lock().unwrap().file = file;
        history.append(&entry("a")).unwrap();
        broken(&history, File::open(path(data.path())).unwrap());
        history.append_or_owe(&entry("b")).unwrap_err();
        history.append(&entry("never made")).unwrap_err();
        history.append_or_owe(&entry("c")).unwrap_err();
        history.settle().unwrap_err();
        assert_eq!(read(data.path()).unwrap(), [entry("a")]);
        broken(&history, good(&path(data.path())));
        history.append(&entry("d")).unwrap();
        history.settle().unwrap();
        assert_eq!(read(data.path()).unwrap(), ["a", "b", "c", "d"].map(entry));
    }

    /// `/dev/full` takes nothing, as a disk without room.
    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let data = tempfile::tempdir().unwrap();
        let history = History::open(data.path()).unwrap();
        let digest = ContentHash::of(b"bytes");
        let folder = data.path().join("plugins/components");
        std::os::unix::fs::symlink("/dev/full", folder.join(format!(".{digest}.part"))).unwrap();
        history.keep(digest, b"bytes", None).unwrap_err();
        assert!(std::fs::read_dir(folder).unwrap().next().is_none());
    }

    #[test]
    fn a_copy_that_was_damaged_is_written_again() {
        let data = tempfile::tempdir().unwrap();
        let history = History::open(data.path()).unwrap();
        let digest = ContentHash::of(b"bytes");
        history.keep(digest, b"bytes", Some(b"signed")).unwrap();
        let copy = copy(data.path(), digest);
        std::fs::write(&copy, b"other").unwrap();
        history.keep(digest, b"bytes", None).unwrap();
        assert_eq!(std::fs::read(&copy).unwrap(), b"bytes");
        assert_eq!(std::fs::read(beside(&copy)).unwrap(), b"signed");
    }
}
