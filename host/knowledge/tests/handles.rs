//! A handle of the store does what it is for and nothing else: programs that try more do not compile.
//!
//! They are handed to rustc with the library this test was linked with.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that was built last, in the folder of compiled dependencies.
fn library(folder: &Path) -> PathBuf {
    let newest = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rlib"))
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libairlock_knowledge-"))
        })
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok());
    newest.unwrap()
}

/// What rustc says to a program.
fn compile(program: &str) -> (bool, String) {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused").join(program);
    // A real folder: rustc replaces what it writes to, and would replace a device as well.
    let made = tempfile::tempdir().unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--out-dir"])
        .arg(made.path());
    rustc.arg("-L").arg(format!("dependency={}", folder.display()));
    rustc.arg("--extern").arg(format!("airlock_knowledge={}", library(&folder).display()));
    let output = rustc.arg(source).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn no_handle_does_what_another_is_for() {
    for (program, complaint) in [
        ("control.rs", None),
        ("recall_candidates.rs", Some("error[E0599]: no method named `candidates`")),
        ("recall_writes.rs", Some("error[E0599]: no method named `add`")),
        ("distill_writes.rs", Some("error[E0599]: no method named `add`")),
        ("distill_reads.rs", Some("error[E0599]: no method named `candidate`")),
        ("distill_promotes.rs", Some("error[E0308]: mismatched types")),
        ("handle_made_up.rs", Some("error[E0616]: field `pool`")),
        ("curation_made_up.rs", Some("error[E0639]")),
    ] {
        let (compiled, said) = compile(program);
        assert_eq!(compiled, complaint.is_none(), "{program}: {said}");
        assert!(said.contains(complaint.unwrap_or_default()), "{program}: {said}");
    }
}
