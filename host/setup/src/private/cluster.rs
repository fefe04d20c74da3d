//! The files of a private server: made once, whole or not at all, and freed of what a crash left behind.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::account::Account;
use super::binaries::Binaries;
use super::{Durability, server};
use crate::error::SetupError;
use crate::secret::Secret;

/// UTF-8 with letters beyond ASCII known, where the system has it; else bytes.
const LOCALES: [&str; 2] = ["C.UTF-8", "C"];
/// How long a server that a crashed run left may take to stop, in seconds.
const STOP_SECONDS: &str = "30";

/// The files of one server.
#[derive(Debug)]
pub struct Cluster {
    dir: PathBuf,
    binaries: Binaries,
    account: Account,
    durability: Durability,
}

impl Cluster {
    /// The files below `data_dir`, made or not.
    pub fn new(data_dir: &Path, binaries: Binaries, account: Account, durability: Durability) -> Self {
        Self { dir: binaries.cluster(data_dir), binaries, account, durability }
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Who owns the files.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Whether commits wait for the disk.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// One of PostgreSQL's programs, run by the account of the files.
    pub fn command(&self, program: &str) -> std::process::Command {
        self.account.command(&self.binaries.program(program))
    }

    /// Where one of PostgreSQL's programs is.
    pub fn program(&self, program: &str) -> PathBuf {
        self.binaries.program(program)
    }

    /// A shell, run by the account of the files.
    pub fn shell(&self) -> std::process::Command {
        self.account.command(Path::new("/bin/sh"))
    }

    /// Makes the files if they are not there. They are made beside their place and moved, so that a run which is
    /// interrupted leaves nothing that looks whole.
    pub fn ensure(&self, admin: &str, password: &Secret) -> Result<(), SetupError> {
        if self.dir.join("PG_VERSION").is_file() {
            return Ok(());
        }
        let unfinished = self.dir.with_extension("unfinished");
        let password_file = self.dir.with_extension("password");
        let made = self.initdb(&unfinished, admin, &password_file, password);
        let removed = fs::remove_file(&password_file);
        made?;
        removed.map_err(|error| SetupError::file(&password_file, error))?;
        fs::rename(&unfinished, &self.dir).map_err(|error| SetupError::file(&self.dir, error))
    }

    fn initdb(
        &self,
        dir: &Path,
        admin: &str,
        password_file: &Path,
        password: &Secret,
    ) -> Result<(), SetupError> {
        write_private(password_file, password.reveal())?;
        self.account.own(password_file)?;
        let mut said = String::new();
        for locale in LOCALES {
            remove_dir(dir)?;
            self.account.make_private_dir(dir)?;
            let mut command = self.command("initdb");
            command.arg("--pgdata").arg(dir).arg("--pwfile").arg(password_file);
            command.args([
                "--username",
                admin,
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale",
                locale,
            ]);
            if self.durability == Durability::Demo {
                command.arg("--no-sync");
            }
            let output = command
                .output()
                .map_err(|error| SetupError::file(&self.binaries.program("initdb"), error))?;
            if output.status.success() {
                return Ok(());
            }
            said = words(&output);
        }
        Err(SetupError::Program { program: "initdb", said })
    }

    /// Stops a server that a crashed run left running on these files, and removes a pid file that names a process
    /// which is none. The caller holds the lock, so no living airlock owns that server.
    pub fn clear_leftovers(&self) -> Result<(), SetupError> {
        let pid_file = self.dir.join("postmaster.pid");
        let Ok(content) = fs::read_to_string(&pid_file) else { return Ok(()) };
        let pid: Option<u32> = content.lines().next().and_then(|line| line.trim().parse().ok());
        match pid.map_or(Holder::Other, |pid| self.holder(pid)) {
            // The server itself looks for what a dead predecessor left, shared memory included, before it starts.
            Holder::Gone => Ok(()),
            // After a restart of the machine or container the number may belong to anything.
            Holder::Other => fs::remove_file(&pid_file).map_err(|error| SetupError::file(&pid_file, error)),
            Holder::Server => {
                tracing::warn!(dir = %self.dir.display(), "stopping the private PostgreSQL that an earlier run left behind");
                self.stop("fast").or_else(|_| self.stop("immediate"))
            }
        }
    }

    /// Who has the number that a pid file names. A server's command line names its data folder.
    fn holder(&self, pid: u32) -> Holder {
        if !Path::new("/proc/self").exists() {
            let status = self.command("pg_ctl").args(["status", "--pgdata"]).arg(&self.dir).output();
            return if status.is_ok_and(|output| output.status.success()) {
                Holder::Server
            } else {
                Holder::Gone
            };
        }
        match fs::read(format!("/proc/{pid}/cmdline")) {
            Ok(line) if line.split(|byte| *byte == 0).any(|word| word == self.dir.as_os_str().as_bytes()) => {
                Holder::Server
            }
            // Something else, or a server that has ended and that nobody has buried: its line is empty.
            Ok(_) => Holder::Other,
            Err(error) if error.kind() == ErrorKind::NotFound => Holder::Gone,
            // Not for us to see: never take a living server's files from under it.
            Err(_) => Holder::Server,
        }
    }

    fn stop(&self, mode: &str) -> Result<(), SetupError> {
        let mut command = self.command("pg_ctl");
        command.arg("stop").arg("--pgdata").arg(&self.dir).args([
            "--mode",
            mode,
            "--wait",
            "--timeout",
            STOP_SECONDS,
        ]);
        let output =
            command.output().map_err(|error| SetupError::file(&self.binaries.program("pg_ctl"), error))?;
        if output.status.success() {
            return Ok(());
        }
        Err(SetupError::Program { program: "pg_ctl", said: words(&output) })
    }
}

enum Holder {
    Server,
    Other,
    Gone,
}

/// The administrator's password of a data folder, made at the first call. Its file is readable by this account alone.
pub fn password(data_dir: &Path) -> Result<Secret, SetupError> {
    let path = data_dir.join("admin.secret");
    if path.is_file() {
        return known_password(data_dir);
    }
    let clusters = fs::read_dir(data_dir).map_err(|error| SetupError::file(data_dir, error))?;
    let has_cluster = clusters.flatten().any(|entry| entry.path().join("PG_VERSION").is_file());
    if has_cluster {
        let reason = "it is lost, and the databases beside it open with nothing else: put it back, or remove the folder";
        return Err(SetupError::file(&path, reason));
    }
    let password = Secret::random();
    let unfinished = path.with_extension("unfinished");
    write_private(&unfinished, password.reveal())?;
    fs::rename(&unfinished, &path).map_err(|error| SetupError::file(&path, error))?;
    Ok(password)
}

/// The administrator's password of a data folder that has one.
pub fn known_password(data_dir: &Path) -> Result<Secret, SetupError> {
    let path = data_dir.join("admin.secret");
    let text = fs::read_to_string(&path).map_err(|error| SetupError::file(&path, error))?;
    if text.trim().is_empty() {
        return Err(SetupError::file(&path, "it is empty"));
    }
    Ok(Secret::new(&text))
}

fn write_private(path: &Path, content: &str) -> Result<(), SetupError> {
    let wrong = |error: std::io::Error| SetupError::file(path, error);
    if path.exists() {
        fs::remove_file(path).map_err(wrong)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(wrong)?;
    writeln!(file, "{content}").map_err(wrong)
}

fn remove_dir(dir: &Path) -> Result<(), SetupError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(SetupError::file(dir, error)),
        _ => Ok(()),
    }
}

fn words(output: &Output) -> String {
    server::last_part(&String::from_utf8_lossy(&output.stderr))
}
