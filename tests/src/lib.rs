//! The harness of the end-to-end tests: the demo of the real binary, and a model that says what it is told to say.
//!
//! Each [`Airlock`] has a private PostgreSQL, data folder and port of its own, so tests run beside each other. The model
//! is the one thing that is scripted, by a server that speaks the real protocol on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

pub mod collector;
pub mod corpus;
pub mod cross_encoder;
pub mod gate;
mod guest;
mod host;
pub mod laboratory;
pub mod learner;
mod model;
pub mod vanishing;
pub mod variants;
mod waiting;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use guest::adapter_that_traps;
pub use host::Host;
pub use model::{Said, ScriptedModel};
pub use waiting::{PATIENCE, REQUEST, end_connections, eventually, heard, soon};

/// The moment the committed questions are asked for.
pub const NOW: &str = "2026-11-29T12:00:00Z";

/// The longest that a demo may take to stop: its requests' grace, what the store must still take, its server's end.
const STOPPING: Duration = Duration::from_secs(120);

/// The workspace's folder.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The corpora: `$AIRLOCK_CORPORA`, or `../shared/corpora` beside the workspace, where there are any.
#[must_use]
pub fn corpora() -> Option<PathBuf> {
    let beside = workspace().join("../shared/corpora");
    let folder = std::env::var_os("AIRLOCK_CORPORA").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The folder that holds `debug/`: this test binary lies in its `debug/deps`.
fn target() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().find(|folder| folder.join("deps").is_dir()).unwrap().parent().unwrap().to_path_buf()
}

/// The binary under test: `$AIRLOCK_BINARY`, or what `cargo xtask test` built before the tests run.
#[must_use]
pub fn binary() -> PathBuf {
    let binary =
        std::env::var_os("AIRLOCK_BINARY").map_or_else(|| target().join("debug/airlock"), PathBuf::from);
    assert!(binary.is_file(), "{} is missing: run the tests by `cargo xtask test`", binary.display());
    binary
}

/// A command of the binary under test, whose configuration is what a test gives it and nothing of the surroundings.
#[must_use]
pub fn under_test() -> Command {
    without_ours(Command::new(binary()))
}

/// A command that no `AIRLOCK_` variable reaches from here.
#[must_use]
pub fn without_ours(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"AIRLOCK_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The components, built by `cargo xtask test` before the tests run.
#[must_use]
pub fn components() -> PathBuf {
    let components = target().join("components");
    assert!(components.is_dir(), "{} is missing: run the tests by `cargo xtask test`", components.display());
    components
}

/// A running demo.
pub struct Airlock {
    child: Child,
    /// Where it serves, such as `http://127.0.0.1:40123`.
    pub url: String,
    /// Its data folder, private PostgreSQL included.
    pub data: tempfile::TempDir,
    client: reqwest::Client,
}

impl Airlock {
    /// A demo with no model.
    pub async fn demo() -> Self {
        Self::with(&[]).await
    }

    /// A demo whose model is this one.
    pub async fn with_model(model: &ScriptedModel) -> Self {
        Self::with(&[("AIRLOCK_MODEL_URL", &model.url), ("AIRLOCK_MODEL", "scripted")]).await
    }

    /// A demo with these environment variables.
    pub async fn with(variables: &[(&str, &str)]) -> Self {
        Self::of_pack("hardware-shop", &components(), variables).await
    }

    /// A demo of this pack, with components from this folder and these environment variables.
    pub async fn of_pack(pack: &str, components: &Path, variables: &[(&str, &str)]) -> Self {
        let data = tempfile::Builder::new().prefix("airlock").tempdir().unwrap();
        Self::over(data, pack, components, variables).await
    }

    /// A demo over a data folder, which an earlier one may have left.
    pub async fn over(
        data: tempfile::TempDir,
        pack: &str,
        components: &Path,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut child = under_test()
            .args([
                "demo",
                "--json",
                "--listen",
                "127.0.0.1:0",
                "--question",
                "How many customers do we have?",
                "--pack",
                pack,
            ])
            .arg("--components")
            .arg(components)
            .arg("--domains")
            .arg(workspace().join("domains"))
            .arg("--data")
            .arg(data.path())
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        // The first line says where it serves; the rest is read so that the pipe never fills.
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines();
            let first = lines.next().and_then(Result::ok);
            let _ = sender.send(first);
            lines.for_each(drop);
        });
        let first = tokio::time::timeout(PATIENCE, receiver).await.expect("the demo starts in time");
        let first = first.unwrap().expect("the demo says where it serves");
        let said: Value = serde_json::from_str(&first).expect(&first);
        let url = said["page"].as_str().expect(&first).trim_end_matches('/').to_owned();
        Self { child, url, data, client: client() }
    }

    /// Asks over HTTP: status and body.
    pub async fn ask(&self, question: &str) -> (u16, Value) {
        self.post(&json!({"question": question, "now": NOW})).await
    }

    /// Asks until the knowledge store was heard: a host that does not hear it within a moment goes on without, and says so.
    pub async fn ask_with_store(&self, question: &str) -> Value {
        heard(async || self.ask(question).await.1).await
    }

    /// Posts a body to `/api/ask`.
    pub async fn post(&self, body: &Value) -> (u16, Value) {
        self.post_text(&body.to_string()).await
    }

    /// Posts a text as JSON to `/api/ask`.
    pub async fn post_text(&self, body: &str) -> (u16, Value) {
        let request =
            self.client.post(format!("{}/api/ask", self.url)).header("content-type", "application/json");
        let response = request.body(body.to_owned()).send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}")))
    }

    /// Gets a path: status and body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        let response = self.client.get(format!("{}{path}", self.url)).send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Runs a command of the binary against this demo's configuration.
    pub fn command(&self, arguments: &[&str], stdin: &str) -> Output {
        let mut child = under_test()
            .args(arguments)
            .env("AIRLOCK_CONFIG", self.data.path().join("airlock.toml"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that does not read its input may close it first.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Its process id.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Process id of its private PostgreSQL.
    #[must_use]
    pub fn postmaster(&self) -> u32 {
        let file =
            find(self.data.path(), "postmaster.pid").expect("a running PostgreSQL has a postmaster.pid");
        std::fs::read_to_string(file).unwrap().lines().next().unwrap().trim().parse().unwrap()
    }

    /// Whether its private PostgreSQL is there: one that has ended took its own file along.
    #[must_use]
    pub fn serves_data(&self) -> bool {
        find(self.data.path(), "postmaster.pid").is_some()
    }

    /// Process ids of its PostgreSQL's client connections.
    #[must_use]
    pub fn backends(&self) -> Vec<u32> {
        self.sessions(|_| true)
    }

    /// Process ids of the client connections that run a SELECT now.
    #[must_use]
    pub fn reading(&self) -> Vec<u32> {
        self.sessions(|title| title.trim_end().ends_with(" SELECT"))
    }

    /// Client connections of its PostgreSQL whose process title is as wanted.
    fn sessions(&self, wanted: impl Fn(&str) -> bool) -> Vec<u32> {
        let parent = self.postmaster().to_string();
        let output = Command::new("ps").args(["-o", "pid=,args=", "--ppid", &parent]).output().unwrap();
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| line.contains("[local]") && wanted(line))
            .filter_map(|line| line.split_whitespace().next()?.parse().ok())
            .collect()
    }

    /// Its private PostgreSQL.
    #[must_use]
    pub fn server(&self) -> PostgresProcesses {
        PostgresProcesses { postmaster: self.postmaster() }
    }

    /// Stops it as Ctrl-C does and gives its exit code.
    pub fn interrupt(mut self) -> Option<i32> {
        signal(self.child.id(), "INT");
        self.child.wait().unwrap().code()
    }

    /// Kills it, as a crash would, leaving its PostgreSQL behind.
    pub fn kill(mut self) -> tempfile::TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.data, tempfile::tempdir().unwrap())
    }
}

impl Drop for Airlock {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            signal(self.child.id(), "INT");
            let begun = Instant::now();
            while let Ok(None) = self.child.try_wait() {
                if begun.elapsed() > STOPPING {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    assert!(std::thread::panicking(), "the demo does not stop within {STOPPING:?}");
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// The first file of this name at or below a folder.
pub(crate) fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries
        .iter()
        .find(|path| path.file_name().is_some_and(|found| found == name))
        .cloned()
        .or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, name)))
}

/// A client that keeps no connection open: a test that waits for a command does not see that the server closed one.
#[must_use]
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().pool_max_idle_per_host(0).timeout(REQUEST).build().unwrap()
}

/// The processes of a PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub struct PostgresProcesses {
    postmaster: u32,
}

/// A PostgreSQL whose processes stand where they stood. They go on when this ends.
#[derive(Debug)]
pub struct Silenced(Vec<u32>);

impl PostgresProcesses {
    /// Stops all of them: what connects then is taken by the system and answered by nobody.
    #[must_use]
    pub fn silenced(self) -> Silenced {
        // First the one that starts others, so that none is started meanwhile.
        signal(self.postmaster, "STOP");
        let parent = self.postmaster.to_string();
        let output = Command::new("ps").args(["-o", "pid=", "--ppid", &parent]).output().unwrap();
        let children = String::from_utf8_lossy(&output.stdout);
        let mut all: Vec<u32> = children.split_whitespace().filter_map(|id| id.parse().ok()).collect();
        all.iter().for_each(|child| signal(*child, "STOP"));
        all.push(self.postmaster);
        Silenced(all)
    }
}

impl Drop for Silenced {
    fn drop(&mut self) {
        self.0.iter().for_each(|process| signal(*process, "CONT"));
    }
}

/// Sends a signal by its name.
pub fn signal(process: u32, name: &str) {
    Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).status().unwrap();
}
