//! Kills a process that learns, again and again, and looks at the store each time; `cargo xtask kill-learning` runs it.
//!
//! The process hands in candidates, lets a pass of the gate rule on them, approves, sets back, rejects and edits, as fast as
//! it can. It is killed at a random moment with no warning. What must hold whenever anybody looks must hold then, too: no
//! half promotion, no lost candidate, no decision without its item, and the next pass can begin.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement fails by panicking"
)]

use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use airlock_tests::PATIENCE;
use airlock_tests::laboratory::Laboratory;
use airlock_tests::learner::{self, INVARIANTS};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

/// What the process that learns is told of the store by.
const ROLES: &str = "AIRLOCK_KILL_ROLES";

#[tokio::main]
async fn main() -> ExitCode {
    if let Ok(roles) = std::env::var(ROLES) {
        learner::learn(&serde_json::from_str(&roles).unwrap()).await;
        return ExitCode::SUCCESS;
    }
    let mut times = 200;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--times" => times = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(times),
            other => {
                eprintln!("`{other}` is not --times N");
                return ExitCode::from(2);
            }
        }
    }
    let laboratory = Laboratory::start(30_000).await;
    let roles = laboratory.store_roles("kill").await;
    airlock_tests::laboratory::store_at(&roles).migrate().await.unwrap();
    let admin = laboratory.admin("kill").await;
    let (begun, told) = (Instant::now(), serde_json::to_string(&roles).unwrap());
    let (mut broken, mut wait) = (0, 1_u64);
    for time in 1..=times {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(ROLES, &told)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        assert_eq!(ready.expect("it begins in time").unwrap().as_deref(), Some(learner::READY));
        // From the first transaction to some hundred of them.
        wait = wait * 7_919 % 397;
        tokio::time::sleep(Duration::from_millis(wait)).await;
        child.kill().await.unwrap();
        for (what, query) in INVARIANTS {
            let found: i64 = admin.query_one(query, &[]).await.unwrap().get(0);
            if found != 0 {
                broken += 1;
                println!("killed {time} times: not so: {what} ({found})");
            }
        }
        if time % 20 == 0 {
            eprintln!("{time} of {times}, {} s", begun.elapsed().as_secs());
        }
    }
    let count = async |query: &str| -> i64 { admin.query_one(query, &[]).await.unwrap().get(0) };
    let candidates = count("SELECT count(*) FROM airlock.candidates").await;
    let decisions = count("SELECT count(*) FROM airlock.decisions").await;
    let promoted = count("SELECT count(*) FROM airlock.candidates WHERE state = 'promoted'").await;
    println!(
        "killed {times} times; {candidates} candidates, {decisions} decisions, {promoted} promoted; {broken} broken invariants"
    );
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
