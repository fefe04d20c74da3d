//! The rules of the tree that no compiler knows: file heads, file sizes, nothing of anybody's machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A longer file needs a line in [`LONG`].
const LONGEST: usize = 600;

/// Files that are longer for a reason.
const LONG: [(&str, &str); 0] = [];

/// Texts that name a machine or a service no reader has, and why they may not stand in the tree. Written in parts so
/// that this file does not find itself.
const FOREIGN: [(&str, &str); 6] = [
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/tmp/", "bash_jobs"), "a path of one machine"),
    (concat!("static.crates", ".io"), "a registry's host: cargo knows it"),
    (concat!("index.crates", ".io"), "a registry's host: cargo knows it"),
    (concat!("files.python", "hosted.org"), "a registry's host: pip knows it"),
];

/// Everything that is wrong, a line each.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in tracked(root)? {
        // Not text: nothing to say about it. A tracked file may be deleted and not yet committed.
        let Ok(text) = fs::read_to_string(root.join(&file)) else { continue };
        findings.extend(judge(&file.to_string_lossy(), &text));
    }
    for (path, _) in LONG {
        if !root.join(path).is_file() {
            findings.push(format!("{path}: listed as a long file, and not there"));
        }
    }
    Ok(findings)
}

/// The files git knows or would know; never build products.
fn tracked(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    let output = git.output().context("git is not on the PATH")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
    Ok(names.split_terminator('\0').map(PathBuf::from).collect())
}

fn judge(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if path.ends_with(".rs") {
        if !text.starts_with("//!") {
            findings.push(format!("{path}:1: begin with a `//!` line that says the file's one subject"));
        }
        let lines = text.lines().count();
        if lines > LONGEST && !LONG.iter().any(|(long, _)| *long == path) {
            findings.push(format!("{path}: {lines} lines: split it, or give a reason in xtask/src/tidy.rs"));
        }
    }
    // The lock file names the registry of each dependency; that is cargo's own spelling.
    if path != "Cargo.lock" {
        for (number, line) in text.lines().enumerate() {
            for (foreign, why) in FOREIGN {
                if line.contains(foreign) {
                    findings.push(format!("{path}:{}: `{foreign}`: {why}", number + 1));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_finds_its_fault() {
        let long = format!("//! Long.\n{}", "\n".repeat(LONGEST));
        let machine = format!("//! Paths.\nconst P: &str = \"{}x\";\n", FOREIGN[0].0);
        for (path, text, want) in [
            ("a.rs", "//! Good.\nfn main() {}\n", 0),
            ("a.rs", "fn main() {}\n", 1),
            ("a.rs", long.as_str(), 1),
            ("a.md", long.as_str(), 0),
            ("a.rs", machine.as_str(), 1),
            ("notes.toml", machine.as_str(), 1),
            ("Cargo.lock", machine.as_str(), 0),
        ] {
            assert_eq!(judge(path, text).len(), want, "{path}: {:?}", judge(path, text));
        }
    }

    #[test]
    fn this_tree_is_tidy() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        assert_eq!(check(root).unwrap(), Vec::<String>::new());
    }
}
