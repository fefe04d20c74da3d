//! The files of a pack: found, bounded, hashed. Nothing outside the pack's folder is ever read.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_types::ContentHash;
use airlock_types::text::{Place, find_hidden};

use super::limits;
use super::report::{Findings, Spot, nearest};
use super::tree::line_number;

/// Files a pack may have beside its folders.
pub(crate) const NAMES: [&str; 7] = [
    "domain.toml",
    "notes.toml",
    "glossary.toml",
    "joins.toml",
    "golden.jsonl",
    "evaluation.jsonl",
    "lessons.toml",
];

/// One file.
#[derive(Debug, Clone)]
pub(crate) struct PackFile {
    /// Path inside the pack, with `/`.
    pub(crate) path: Arc<str>,
    pub(crate) bytes: Vec<u8>,
}

impl PackFile {
    /// The file as text without hidden characters outside strings a reader checks itself; else a finding.
    pub(crate) fn text(&self, findings: &Findings) -> Option<&str> {
        match std::str::from_utf8(&self.bytes) {
            // A byte order mark is what an editor leaves at the start, not something hidden.
            Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(error) => {
                let before = self.bytes.get(..error.valid_up_to()).unwrap_or_default();
                let line = line_number(before.iter().filter(|byte| **byte == b'\n').count());
                let spot = Spot { file: Arc::clone(&self.path), line };
                findings.add(&spot, "the file is not UTF-8", "save it as UTF-8");
                None
            }
        }
    }

    /// Bytes the file may have.
    fn limit(path: &str) -> u64 {
        match path.split_once('/') {
            Some(("docs", _)) => limits::DOCUMENT_BYTES,
            Some(("db", _)) => limits::DATABASE_BYTES,
            _ => limits::FILE_BYTES,
        }
    }

    /// Reports a file that is too large.
    pub(crate) fn check_size(&self, findings: &Findings) {
        let limit = Self::limit(&self.path);
        if self.bytes.len() as u64 > limit {
            findings.add(&Spot::file(&self.path), "the file is too large", format!("at most {limit} bytes"));
        }
    }

    /// The text, and a finding for the first hidden character of it.
    pub(crate) fn prose(&self, findings: &Findings) -> Option<&str> {
        let text = self.text(findings)?;
        let Some(found) = find_hidden(text, Place::Prose) else { return Some(text) };
        let before = text.get(..found.offset).unwrap_or_default();
        let line = line_number(before.bytes().filter(|byte| *byte == b'\n').count());
        let spot = Spot { file: Arc::clone(&self.path), line };
        findings.add(&spot, format!("the text holds a {found}"), "type the line again without it");
        None
    }
}

/// SHA-256 over the path and hash of every file; the order in which they were found plays no part.
pub(crate) fn hash(files: &[PackFile]) -> ContentHash {
    let mut lines: Vec<String> =
        files.iter().map(|file| format!("{} {}\n", ContentHash::of(&file.bytes), file.path)).collect();
    lines.sort();
    ContentHash::of(lines.concat())
}

/// Reads the files of the format from a folder; other files are left alone.
pub(crate) fn collect(folder: &Path, findings: &Findings) -> Vec<PackFile> {
    let root = match folder.canonicalize() {
        Ok(root) if root.is_dir() => root,
        _ => {
            let spot = Spot::file(&folder.display().to_string().into());
            findings.add(&spot, "there is no such folder", "give the folder that holds domain.toml");
            return Vec::new();
        }
    };
    let reader = Folder { root, findings };
    let mut files = Vec::new();
    for name in reader.list("") {
        if NAMES.contains(&name.as_str()) {
            files.extend(reader.read(&name));
        } else if let Some(near) = nearest(&name, NAMES) {
            let spot = Spot::file(&name.into());
            findings.add(&spot, "no file of a pack has this name", format!("did you mean `{near}`?"));
        }
    }
    let documents: Vec<String> =
        reader.list("docs").into_iter().filter(|name| name.ends_with(".md")).collect();
    if documents.len() > limits::DOCUMENTS {
        let what = format!("{} documents", documents.len());
        findings.add(&Spot::file(&"docs".into()), what, format!("at most {}", limits::DOCUMENTS));
    }
    for name in documents.into_iter().take(limits::DOCUMENTS) {
        files.extend(reader.read(&format!("docs/{name}")));
    }
    for name in ["schema.sql", "data.sql"] {
        if reader.root.join("db").join(name).exists() {
            files.extend(reader.read(&format!("db/{name}")));
        }
    }
    files
}

/// A folder that nothing may be read outside of.
struct Folder<'a> {
    root: PathBuf,
    findings: &'a Findings,
}

impl Folder<'_> {
    /// Names in a folder, sorted; none when it is not there.
    fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn read(&self, path: &str) -> Option<PackFile> {
        let limit = PackFile::limit(path);
        let path: Arc<str> = path.into();
        let spot = Spot::file(&path);
        let full = self.root.join(&*path);
        // A link may point inside the pack (that is how mounted volumes look), never out of it.
        match full.canonicalize() {
            Ok(real) if real.starts_with(&self.root) && real.is_file() => {}
            Ok(_) => {
                self.findings.add(&spot, "not a file of the pack", "put the file itself into the pack");
                return None;
            }
            Err(error) => {
                self.findings.add(
                    &spot,
                    format!("cannot be read: {error}"),
                    "check the file and its permissions",
                );
                return None;
            }
        }
        let mut bytes = Vec::new();
        let read = fs::File::open(&full).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
        match read {
            // One byte more than may be is read, so that a file that is too large is seen to be.
            Ok(_) => Some(PackFile { path, bytes }),
            Err(error) => {
                self.findings.add(
                    &spot,
                    format!("cannot be read: {error}"),
                    "check the file and its permissions",
                );
                None
            }
        }
    }
}
