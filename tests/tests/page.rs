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

/// The driver, installed once beside the other build products: the tree stays clean.
fn driver(npm: &Path) -> PathBuf {
    let folder = components().parent().unwrap().join("browser");
    std::fs::create_dir_all(&folder).unwrap();
    let source = workspace().join("tests/browser");
    for file in ["package.json", "page.spec.mjs"] {
        std::fs::copy(source.join(file), folder.join(file)).unwrap();
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
    let airlock = Airlock::demo().await;
    let url = airlock.url.clone();
    let run = tokio::task::spawn_blocking(move || {
        Command::new(node)
            .arg("page.spec.mjs")
            .current_dir(folder)
            .env("AIRLOCK_URL", url)
            .env("CHROMIUM", chromium)
            .output()
            .unwrap()
    });
    let output = run.await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("# fail 0") || said.contains("fail 0"), "{said}");
}
