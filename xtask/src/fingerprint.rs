//! The content of files, in one hash, so that what is unchanged is not built again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// A hash over named pieces, in the order in which they are added.
#[derive(Default)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Adds a piece; length-prefixed, so that no two different lists of pieces are equal.
    pub fn add(&mut self, name: &str, content: &[u8]) -> &mut Self {
        for part in [name.as_bytes(), content] {
            self.0.update(part.len().to_le_bytes());
            self.0.update(part);
        }
        self
    }

    /// Adds a file, or all files below a folder by their paths relative to `root`.
    pub fn add_tree(&mut self, root: &Path, below: &str) -> Result<&mut Self> {
        let mut files = Vec::new();
        collect(&root.join(below), &mut files)?;
        files.sort();
        for file in files {
            let content = fs::read(&file).with_context(|| file.display().to_string())?;
            self.add(&file.strip_prefix(root).unwrap_or(&file).to_string_lossy(), &content);
        }
        Ok(self)
    }

    /// The hash, as hexadecimal digits.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| path.display().to_string())? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pieces: &[(&str, &str)]) -> String {
        let mut print = Fingerprint::default();
        for (name, content) in pieces {
            print.add(name, content.as_bytes());
        }
        print.finish()
    }

    #[test]
    fn another_name_content_or_border_is_another_hash() {
        let base = of(&[("a", "bc")]);
        assert_eq!(base, of(&[("a", "bc")]));
        for other in [of(&[("ab", "c")]), of(&[("a", "b"), ("", "c")]), of(&[("a", "bd")]), of(&[])] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn a_tree_is_its_files_whatever_the_folder_it_lies_in() {
        let of_tree = |content: &str| {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join("plugins/one/src")).unwrap();
            fs::write(dir.path().join("plugins/one/src/lib.rs"), content).unwrap();
            let mut print = Fingerprint::default();
            print.add_tree(dir.path(), "plugins").unwrap();
            print.finish()
        };
        assert_eq!(of_tree("x"), of_tree("x"));
        assert_ne!(of_tree("x"), of_tree("y"));
    }
}
