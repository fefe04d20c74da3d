//! Two things exist in one file each: making a store, and `unsafe`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Files of the host that name `about` somewhere, by name, with a line of code that holds one of these.
fn files_with(about: &str, needles: &[&str]) -> Vec<String> {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for room in fs::read_dir(&host).unwrap() {
        let src = room.unwrap().path().join("src");
        if src.is_dir() {
            sources(&src, &mut files);
        }
    }
    assert!(files.len() > 20, "the host's sources were not found");
    let code = |line: &&str| !line.trim_start().starts_with("//");
    let holds = |path: &&PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.contains(about)
            && text.lines().filter(code).any(|line| needles.iter().any(|needle| line.contains(needle)))
    };
    let name = |path: &PathBuf| {
        let parts: Vec<_> =
            path.components().rev().take(3).map(|part| part.as_os_str().to_string_lossy()).collect();
        parts.into_iter().rev().collect::<Vec<_>>().join("/")
    };
    files.iter().filter(holds).map(name).collect()
}

#[test]
fn stores_are_made_in_one_file() {
    // What is learned is kept in a store, too; it is none of the engine's.
    assert_eq!(files_with("wasmtime", &["Store::new(", "Store::try_new("]), ["runtime/src/store.rs"]);
}

#[test]
fn unsafe_is_in_one_file() {
    assert_eq!(
        files_with("", &["unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe_code"]),
        ["runtime/src/cache.rs"]
    );
}
