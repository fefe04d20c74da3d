//! A process that learns, killed a few times at random: nothing is ever half done. `cargo xtask kill-learning` does it often.

use std::process::Command;

#[test]
fn a_killed_process_leaves_nothing_half_done() {
    let said = Command::new(env!("CARGO_BIN_EXE_kill-learning")).args(["--times", "5"]).output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
    assert!(text.contains("killed 5 times") && text.contains("; 0 broken invariants"), "{text}");
}
