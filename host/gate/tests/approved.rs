//! Nobody but the gate can make an `Approved`: programs that try do not compile.
//!
//! They are handed to rustc with the library this test was linked with. A harness that builds them as a project of their
//! own would compile both parsers a second time, which takes minutes.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of compiled dependencies, and the library in it that was built last.
fn library() -> (PathBuf, PathBuf) {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let newest = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rlib"))
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libairlock_gate-"))
        })
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok());
    (folder, newest.unwrap())
}

/// What rustc says to a program.
fn compile(program: &str) -> (bool, String) {
    let (folder, library) = library();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused").join(program);
    // A real folder: rustc replaces what it writes to, and would replace a device as well.
    let made = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--emit", "metadata", "--out-dir"])
        .arg(made.path())
        .arg("-L")
        .arg(format!("dependency={}", folder.display()))
        .arg("--extern")
        .arg(format!("airlock_gate={}", library.display()))
        .arg(source)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn approval_cannot_be_forged() {
    for (program, complaints) in [
        ("control.rs", &[][..]),
        ("literal.rs", &["error[E0451]", "private"]),
        ("change.rs", &["error[E0616]", "private"]),
        ("default.rs", &["error[E0277]", "error[E0599]"]),
    ] {
        let (compiled, said) = compile(program);
        assert_eq!(compiled, complaints.is_empty(), "{program}: {said}");
        for complaint in complaints {
            assert!(said.contains(complaint), "{program}: {complaint} is not in {said}");
        }
    }
}
