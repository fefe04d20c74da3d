//! Runs the gate's corpora through the binary and writes `docs/gate.md`; `cargo xtask gate-report` runs it.

use std::path::PathBuf;
use std::process::ExitCode;

use airlock_tests::gate::{page, score};
use airlock_tests::{corpora, workspace};

#[tokio::main]
async fn main() -> ExitCode {
    let named = std::env::args_os().nth(1).map(PathBuf::from);
    let Some(corpora) = named.filter(|folder| folder.is_dir()).or_else(corpora) else {
        eprintln!("gate-report: there are no corpora: name their folder, or set AIRLOCK_CORPORA");
        return ExitCode::from(2);
    };
    let score = score(&corpora).await;
    let text = page(&score);
    let file = workspace().join("docs/gate.md");
    if let Err(error) = std::fs::write(&file, &text) {
        eprintln!("gate-report: {} cannot be written: {error}", file.display());
        return ExitCode::from(3);
    }
    let summary = text.split("\n- **refused**").next().unwrap_or_default();
    println!("{summary}\nWritten to {}", file.display());
    for wrong in score.wrong() {
        println!("WRONG {wrong}");
    }
    if score.wrong().next().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
