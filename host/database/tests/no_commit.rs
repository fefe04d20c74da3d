//! Nothing this crate sends can keep a change.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

fn sources(directory: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let of_tests = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !of_tests {
            sources(&path, found);
        } else if path.is_file() && !of_tests {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn no_transaction_of_this_crate_is_kept() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 20, "the sources are read");
    for (path, text) in found {
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let ends = ["COMMIT", "END", "PREPARE"].contains(&word.to_ascii_uppercase().as_str());
            // `CASE ... END` is the only END there is, and it stands in upper case within SQL.
            let of_case = word == "END" && text.contains("CASE");
            assert!(!ends || of_case || word == "end", "{path}: {word}");
        }
        assert!(
            !text.contains("simple_query") && !text.contains("frontend::query("),
            "{path}: several statements in one"
        );
    }
}
