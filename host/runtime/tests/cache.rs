//! Compiled code is reused when it can be believed, and made again when there is any doubt.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use airlock_runtime::{Runtime, RuntimeConfig, RuntimeError};
use support::{HONEST, honest, load, planner, runtime};

fn at(dir: &Path) -> Runtime {
    runtime(|config| config.cache_dir = Some(dir.to_owned()))
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "compiled"))
        .collect();
    found.sort();
    found
}

#[test]
fn a_second_start_does_not_compile() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("compiled");
    assert!(!load(&at(&dir), &honest()).from_cache());
    assert!(load(&at(&dir), &honest()).from_cache());
    for (path, mode) in [(dir.clone(), 0o700), (dir.join("key"), 0o600), (entries(&dir).remove(0), 0o600)] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
}

#[test]
fn any_doubt_compiles_again() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("compiled");
    load(&at(&dir), &honest());
    let entry = entries(&dir).remove(0);
    let good = fs::read(&entry).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (what, bytes) in [
        ("an empty file", Vec::new()),
        ("a cut file", good[..good.len() / 2].to_vec()),
        ("a longer file", [&good[..], b"x"].concat()),
        ("another MAC", flipped(0)),
        ("other code", flipped(good.len() - 1)),
        ("no MAC", good[32..].to_vec()),
    ] {
        fs::write(&entry, bytes).unwrap();
        assert!(!load(&at(&dir), &honest()).from_cache(), "{what}");
        assert!(load(&at(&dir), &honest()).from_cache(), "made again after {what}");
    }
}

#[test]
fn an_entry_stands_for_one_component_and_one_key() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("compiled");
    let other = planner("", &format!("(nop) {HONEST}"));
    load(&at(&dir), &honest());
    let first = entries(&dir).remove(0);
    load(&at(&dir), &other);
    let second = entries(&dir).into_iter().find(|path| *path != first).unwrap();
    fs::copy(&first, &second).unwrap();
    assert!(!load(&at(&dir), &other).from_cache(), "another component's code");
    fs::write(dir.join("key"), [7; 32]).unwrap();
    assert!(!load(&at(&dir), &honest()).from_cache(), "another key's code");
}

#[test]
fn a_folder_others_may_enter_is_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let config = RuntimeConfig { cache_dir: Some(home.path().to_owned()), ..RuntimeConfig::default() };
    let error = Runtime::new(config).unwrap_err();
    assert!(
        matches!(&error, RuntimeError::Cache { .. }) && error.to_string().contains("chmod 700"),
        "{error}"
    );
}
