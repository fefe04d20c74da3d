//! The page in a real browser, driven by Playwright over the demo.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_tests::{Airlock, components, workspace};

/// A program on the PATH, or at one of these places.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

fn is_module(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "mjs")
}

/// One field of what a command of the binary says with `--json`.
fn said(airlock: &Airlock, arguments: &[&str], field: &str) -> String {
    let output = airlock.command(arguments, "");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    value.get(field).and_then(serde_json::Value::as_str).unwrap().to_owned()
}

/// Every scope there is.
const SCOPES: &str = "ask,query,read,feedback,examples:author,curate,operate,admin";

/// The driver, installed once beside the other build products: the tree stays clean.
fn driver(npm: &Path) -> PathBuf {
    let folder = components().parent().unwrap().join("browser");
    std::fs::create_dir_all(&folder).unwrap();
    let source = workspace().join("tests/browser");
    for file in files(&folder).iter().filter(|file| is_module(file)) {
        std::fs::remove_file(file).unwrap();
    }
    for file in files(&source) {
        std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    if !folder.join("node_modules/playwright-core").is_dir() {
        let installed = Command::new(npm)
            .args(["install", "--no-audit", "--no-fund", "--no-package-lock"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(installed.status.success(), "npm install: {}", String::from_utf8_lossy(&installed.stderr));
    }
    folder
}

#[tokio::test]
async fn the_page_works_in_a_browser() {
    let (Some(node), Some(npm), Some(chromium)) = (program("node"), program("npm"), program("chromium"))
    else {
        println!("SKIPPED: the page was not tested, because node, npm or chromium is not installed");
        eprintln!("SKIPPED: the page was not tested, because node, npm or chromium is not installed");
        return;
    };
    let folder = driver(&npm);
    let pictures = folder.join("pictures");
    std::fs::create_dir_all(&pictures).unwrap();
    let airlock = Airlock::demo().await;
    let key = said(&airlock, &["key", "create", "page", "--scope", SCOPES, "--json"], "key");
    let evaluated = said(&airlock, &["eval", "run", "--domain", "hardware-shop", "--json"], "run");
    let mut tests: Vec<PathBuf> =
        files(&folder).into_iter().filter(|file| file.to_string_lossy().ends_with(".spec.mjs")).collect();
    tests.sort();
    assert!(!tests.is_empty());
    let url = airlock.url.clone();
    let run = tokio::task::spawn_blocking(move || {
        Command::new(node)
            // One file after the other: they share the server, and with it the history of its caller.
            .args(["--test", "--test-concurrency=1", "--test-reporter=spec"])
            .args(tests)
            .current_dir(folder)
            .env("AIRLOCK_URL", url)
            .env("AIRLOCK_KEY", key)
            .env("AIRLOCK_RUN", evaluated)
            .env("SHOTS", pictures)
            .env("CHROMIUM", chromium)
            .output()
            .unwrap()
    });
    let output = run.await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("fail 0") && said.contains("skipped 0"), "{said}");
}
