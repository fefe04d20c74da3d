//! A private PostgreSQL for one test: a copy of a cluster made once, on a socket of its own, gone when the test ends.

#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// How long something that must happen may take before a test gives it up. It says nothing about how long it should take.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A running server. It ends with this value.
pub struct Postgres {
    // First, because fields are dropped in their order: the server ends before its folder does.
    program: Program,
    directory: tempfile::TempDir,
    binaries: PathBuf,
    port: String,
}

/// A program of the database's user. It ends with this value, and with the process even when that is killed: the shell
/// around it waits for the end of its standard input.
pub struct Program {
    shell: Child,
    stdin: Option<ChildStdin>,
}

impl Program {
    /// Starts a command line, which is ended with `signal`.
    pub fn start(command: &str, signal: &str, log: &Path) -> Self {
        let script = format!(
            "{command} >{} 2>&1 </dev/null & pid=$!; read _; kill -{signal} $pid; wait $pid",
            log.display()
        );
        let mut shell = as_postgres("sh").arg("-c").arg(script).stdin(Stdio::piped()).spawn().unwrap();
        let stdin = shell.stdin.take();
        Self { shell, stdin }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.shell.wait();
    }
}

impl Postgres {
    /// Starts a server on a socket.
    pub fn start() -> Self {
        Self::with_settings(&[])
    }

    /// Starts a server with further `name=value` settings.
    pub fn with_settings(settings: &[&str]) -> Self {
        Self::with_files(settings, |_| {})
    }

    /// Starts a server on a port of TCP as well. Between a look for a free port and the server's taking it somebody else may
    /// take it; then there is another one.
    pub fn on_a_port(settings: &[&str], prepare: impl Fn(&Path)) -> (Self, u16) {
        for _ in 0..20 {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let setting = format!("port={free}");
            let settings: Vec<&str> = settings.iter().copied().chain([setting.as_str()]).collect();
            if let Some(server) = Self::try_with_files(&settings, &prepare) {
                return (server, free);
            }
        }
        panic!("every port was taken");
    }

    /// Starts a server after `prepare` has changed its data directory.
    pub fn with_files(settings: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        Self::try_with_files(settings, prepare).unwrap()
    }

    /// The same; none when its port is taken.
    fn try_with_files(settings: &[&str], prepare: impl FnOnce(&Path)) -> Option<Self> {
        let binaries = binaries();
        let template = template(&binaries);
        // The path of a socket must stay short, so the folder is not one of Cargo's.
        let directory =
            tempfile::Builder::new().prefix("airlock-pg").tempdir_in(std::env::temp_dir()).unwrap();
        let data = directory.path().join("data");
        run(Command::new("cp").arg("-r").arg(&template).arg(&data));
        prepare(&data);
        if is_root() {
            run(Command::new("chown").arg("-R").arg("postgres").arg(directory.path()));
        }
        let mut server = vec![
            binaries.join("postgres").display().to_string(),
            format!("-D {}", data.display()),
            format!("-k {}", directory.path().display()),
        ];
        for setting in ["fsync=off", "listen_addresses=", "log_min_messages=fatal", "max_connections=100"]
            .iter()
            .chain(settings)
        {
            server.push(format!("-c '{setting}'"));
        }
        let program = Program::start(&server.join(" "), "QUIT", &directory.path().join("log"));
        let port =
            settings.iter().find_map(|setting| setting.strip_prefix("port=")).unwrap_or("5432").to_owned();
        let server = Self { program, directory, binaries, port };
        let started = Instant::now();
        while server.try_psql("postgres", "SELECT 1").is_err() {
            if server.log().contains("could not bind") {
                return None;
            }
            assert!(started.elapsed() < PATIENCE, "the server did not start: {}", server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    /// Runs SQL as the superuser and gives what psql prints.
    pub fn psql(&self, sql: &str) -> String {
        self.try_psql("postgres", sql).unwrap_or_else(|error| panic!("{error}\n{}", self.log()))
    }

    /// Runs SQL as the superuser and gives what psql prints, or its complaint.
    pub fn try_psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.binaries.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database, "-h"])
            .arg(self.directory.path())
            .args(["-p", &self.port])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A server that is still starting turns psql away before it reads.
        let _ = psql.stdin.take().unwrap().write_all(sql.as_bytes());
        let output = psql.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Waits until nobody but the asker is connected: the server lets a connection go some time after its client did.
    pub async fn alone(&self) {
        let others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        eventually("nobody is connected", async || self.psql(others) == "0").await;
    }

    /// The folder of the socket.
    pub fn socket(&self) -> &Path {
        self.directory.path()
    }

    /// A connection string for a role without a password.
    pub fn url(&self, role: &str) -> String {
        format!("postgresql:///postgres?host={}&user={role}", self.socket().display())
    }

    /// Stops the server and every process of it where they stand, until the value that this gives is dropped: what connects
    /// then is taken by the system and answered by nobody.
    pub fn silenced(&self) -> Silenced {
        let file = fs::read_to_string(self.directory.path().join("data/postmaster.pid")).unwrap();
        let postmaster = file.lines().next().unwrap().trim().to_owned();
        // First the one that starts others, so that none is started meanwhile.
        signal("STOP", std::slice::from_ref(&postmaster));
        let children =
            Command::new("ps").args(["-o", "pid=", "--ppid", &postmaster]).output().unwrap().stdout;
        let children = String::from_utf8_lossy(&children).split_whitespace().map(str::to_owned).collect();
        let silenced = Silenced([children, vec![postmaster]].concat());
        signal("STOP", &silenced.0);
        silenced
    }

    /// The server's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

/// Processes that stand still. They go on when this ends.
pub struct Silenced(Vec<String>);

impl Drop for Silenced {
    fn drop(&mut self) {
        signal("CONT", &self.0);
    }
}

/// Sends a signal; a process may have ended meanwhile.
fn signal(name: &str, processes: &[String]) {
    Command::new("kill").arg(format!("-{name}")).args(processes).stderr(Stdio::null()).status().unwrap();
}

/// Waits for what happens in its own time: a busy machine gets to it late, but it gets to it.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < PATIENCE, "not after {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A cluster made once and copied for each test: `initdb` takes longer than a test.
fn template(binaries: &Path) -> PathBuf {
    let version = Command::new(binaries.join("postgres")).arg("--version").output().unwrap().stdout;
    let version: String =
        String::from_utf8_lossy(&version).chars().filter(char::is_ascii_alphanumeric).collect();
    let ready = std::env::temp_dir().join(format!("airlock-test-cluster-{version}"));
    if !ready.is_dir() {
        let making = tempfile::Builder::new().prefix("airlock-initdb").tempdir().unwrap();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(making.path()));
        }
        let data = making.path().join("data");
        run(as_postgres(&binaries.join("initdb").display().to_string())
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data));
        // Several tests may make one at the same time; the first one's stays.
        if fs::rename(&data, &ready).is_err() {
            assert!(ready.is_dir(), "the cluster cannot be kept at {}", ready.display());
        }
    }
    ready
}

/// Where PostgreSQL's programs are.
fn binaries() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(installed) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(installed.flatten().map(|version| version.path().join("bin")));
    }
    let complete =
        |folder: &&PathBuf| ["postgres", "initdb", "psql"].iter().all(|name| folder.join(name).exists());
    folders
        .iter()
        .find(complete)
        .cloned()
        .expect("these tests need PostgreSQL's server programs: install postgresql")
}

/// A command as a user PostgreSQL accepts: it refuses to run as root.
fn as_postgres(program: &str) -> Command {
    if is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", program]);
        command
    } else {
        Command::new(program)
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap().stdout;
    id.starts_with(b"0")
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
