//! One `airlock check-sql` that is kept running and given a line at a time.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::{PATIENCE, under_test};

/// What came of one line.
pub struct Judged {
    /// The binary's line.
    pub line: Value,
    /// How long it took.
    pub took: Duration,
}

impl Judged {
    /// Whether the gate approved it.
    #[must_use]
    pub fn approved(&self) -> bool {
        self.line["verdict"] == "approved"
    }
}

/// A running `airlock check-sql --run`.
pub struct Judge {
    child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Judge {
    /// Starts one for a domain of this configuration.
    pub fn start(config: &Path, domain: &str) -> Self {
        let mut child = Command::from(under_test())
            .arg("--config")
            .arg(config)
            .args(["check-sql", "--json", "--run", "--domain", domain])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, stdout }
    }

    /// Its process id.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Hands in one line of JSON and waits for what is said.
    pub async fn line(&mut self, line: &str) -> Judged {
        let begun = Instant::now();
        self.stdin.write_all(line.as_bytes()).await.unwrap();
        self.stdin.write_all(b"\n").await.unwrap();
        self.stdin.flush().await.unwrap();
        let said = tokio::time::timeout(PATIENCE, self.stdout.next_line()).await;
        let said = said.unwrap_or_else(|_| panic!("no verdict in {PATIENCE:?}: {line}"));
        let said = said.unwrap().unwrap_or_else(|| panic!("check-sql ended at: {line}"));
        Judged { line: serde_json::from_str(&said).expect(&said), took: begun.elapsed() }
    }

    /// Hands in one text.
    pub async fn text(&mut self, sql: &str) -> Judged {
        self.line(&serde_json::json!({"sql": sql}).to_string()).await
    }
}
