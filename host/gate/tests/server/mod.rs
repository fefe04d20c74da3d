//! A private PostgreSQL for the tests: started in a temporary folder on a socket, thrown away at the end.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use airlock_types::Catalogue;

/// A running server; it stops when this is dropped.
pub struct Server {
    binaries: PathBuf,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts one; none when the machine has no PostgreSQL. That there is one and it does not start is a failure.
    pub fn start() -> Option<Self> {
        let Some(binaries) = binaries() else {
            eprintln!("SKIPPED: no PostgreSQL binaries under /usr/lib/postgresql or in PG_BIN");
            return None;
        };
        Some(Self::start_with(binaries).unwrap_or_else(|why| panic!("PostgreSQL does not start: {why}")))
    }

    fn start_with(binaries: PathBuf) -> Result<Self, String> {
        let folder =
            tempfile::Builder::new().prefix("gate").tempdir_in("/var/tmp").map_err(|e| e.to_string())?;
        let server = Self { binaries, folder };
        if server.is_root() {
            let owned = Command::new("chown").arg("postgres").arg(server.folder.path()).status();
            owned
                .map_err(|e| e.to_string())?
                .success()
                .then_some(())
                .ok_or("cannot give the folder to postgres")?;
        }
        let data = server.data();
        server.run(
            "initdb",
            &["-D", &data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
        )?;
        let options = format!("-c listen_addresses='' -c fsync=off -c timezone=UTC -k {}", server.socket());
        let log = server.folder.path().join("log");
        server.run("pg_ctl", &["-D", &data, "-w", "-l", &log.to_string_lossy(), "-o", &options, "start"])?;
        Ok(server)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").to_string_lossy().into_owned()
    }

    fn socket(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }

    fn is_root(&self) -> bool {
        Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let path = self.binaries.join(program);
        let mut command = if self.is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        // pg_ctl hands its pipes on to the server, which would keep them open: complaints go to a file.
        let complaints = self.folder.path().join("complaints");
        let file = std::fs::File::create(&complaints).map_err(|e| e.to_string())?;
        let status = command.args(arguments).current_dir("/").stdout(Stdio::null()).stderr(file).status();
        if status.map_err(|e| e.to_string())?.success() {
            return Ok(());
        }
        Err(format!("{program}: {}", std::fs::read_to_string(&complaints).unwrap_or_default()))
    }

    /// Runs a script with psql; what it printed, and what it complained about.
    pub fn psql(&self, database: &str, user: &str, script: &str) -> (String, String) {
        let mut child = Command::new(self.binaries.join("psql"))
            .args(["-q", "-X", "-A", "-t", "-h", &self.socket(), "-U", user, "-d", database])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let script = script.to_owned();
        let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    }

    /// Makes a database from a script.
    pub fn load(&self, database: &str, search_path: &str, script: &Path) {
        self.psql("postgres", "owner", &format!("CREATE DATABASE {database}"));
        let path = format!("ALTER DATABASE {database} SET search_path = {search_path}");
        self.psql("postgres", "owner", &path);
        self.psql(database, "owner", &std::fs::read_to_string(script).unwrap());
    }

    /// The catalogue of a database; all relations of the path are listed when `listed` is empty.
    pub fn catalogue(&self, database: &str, search_path: &str, listed: &[&str]) -> Catalogue {
        let set = format!("SET airlock.path = '{search_path}'; SET airlock.listed = '{}';", listed.join(","));
        let (json, complaints) =
            self.psql(database, "owner", &format!("{set}\n{}", include_str!("../catalogue.sql")));
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {complaints}"))
    }

    /// Plans each statement; the complaints of those that PostgreSQL refuses.
    pub fn explain(&self, database: &str, user: &str, statements: &[&str]) -> Vec<(usize, String)> {
        let mut script = String::from("\\set VERBOSITY sqlstate\n");
        for (index, statement) in statements.iter().enumerate() {
            script.push_str(&format!("\\warn {index}\nEXPLAIN {statement}\n;\n"));
        }
        let (_, complaints) = self.psql(database, user, &script);
        let mut index = 0;
        let mut refused = Vec::new();
        for line in complaints.lines() {
            match line.parse() {
                Ok(number) => index = number,
                Err(_) if line.contains("ERROR") => refused.push((index, line.to_owned())),
                Err(_) => {}
            }
        }
        refused
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "stop"]);
    }
}

fn binaries() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("PG_BIN") {
        return Some(folder.into());
    }
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    versions.retain(|folder| folder.join("initdb").exists());
    versions.sort();
    versions.pop()
}
