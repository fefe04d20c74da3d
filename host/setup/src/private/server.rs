//! The process of a private server, from start to stop.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Durability;
use super::cluster::Cluster;
use crate::error::SetupError;

/// How long each way of stopping may take before a ruder one is tried.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// This much of the end of a log is worth telling.
const TOLD: usize = 1500;

/// Small, since a private server serves one host; the rest is PostgreSQL's default.
const SETTINGS: [&str; 6] = [
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "max_connections=100",
    "shared_buffers=64MB",
    "logging_collector=off",
    // Its compiler needs most of what a process may have, and ends a session where it is refused memory.
    "jit=off",
];

/// What a demo does without; documented at [`Durability::Demo`].
const HASTY: [&str; 4] =
    ["fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum_naptime=5min"];

/// Limits the address space of this shell and all that comes of it, in KiB, and becomes what follows.
const LIMITED: &str = "ulimit -S -v \"$1\" 2>/dev/null; shift; exec \"$@\"";

/// A child process that is stopped when this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    cluster: Cluster,
    log: PathBuf,
}

impl Server {
    /// Starts the server. It may not answer yet.
    pub fn spawn(
        cluster: Cluster,
        socket_dir: &Path,
        port: u16,
        log: &Path,
        memory: Option<u64>,
    ) -> Result<Self, SetupError> {
        let wrong = |error: std::io::Error| SetupError::file(log, error);
        let output = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(log)
            .map_err(wrong)?;
        let mut command = match memory {
            None => cluster.command("postgres"),
            // The shell sets the limit for itself and becomes the server, so that the process is the same. A stricter limit
            // that is there stays.
            Some(bytes) => {
                let mut command = cluster.shell();
                command.args(["-c", LIMITED, "sh"]).arg((bytes / 1024).to_string());
                command.arg(cluster.program("postgres"));
                command
            }
        };
        command.arg("-D").arg(cluster.dir()).arg("-p").arg(port.to_string());
        // The setting is a list of quoted names.
        let quoted = format!("\"{}\"", socket_dir.to_string_lossy().replace('"', "\"\""));
        command.arg("-c").arg(format!("unix_socket_directories={quoted}"));
        let hasty: &[&str] = if cluster.durability() == Durability::Demo { &HASTY } else { &[] };
        for setting in SETTINGS.iter().chain(hasty) {
            command.arg("-c").arg(setting);
        }
        command.stdin(Stdio::null()).stdout(output.try_clone().map_err(wrong)?).stderr(output);
        // A Ctrl-C in the terminal is for airlock, which stops the server in order.
        command.process_group(0);
        let child = command.spawn();
        let child = child.map_err(|error| SetupError::file(Path::new(command.get_program()), error))?;
        Ok(Self { child, cluster, log: log.to_owned() })
    }

    /// Says why, if the process is no more.
    pub fn fail_if_it_ended(&mut self) -> Result<(), SetupError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            _ => Err(SetupError::Program { program: "postgres", said: self.log_tail() }),
        }
    }

    /// The end of its log.
    pub fn log_tail(&self) -> String {
        last_part(&String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()))
    }

    /// Stops it: clients are disconnected and the files left in order; if that takes too long, less kindly.
    pub fn stop(&mut self) -> Result<(), SetupError> {
        for signal in ["INT", "QUIT"] {
            if self.has_ended()? {
                return Ok(());
            }
            let mut kill = self.cluster.command("pg_ctl");
            kill.args(["kill", signal])
                .arg(self.child.id().to_string())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            // Should it fail, the process is waited for and then ended below.
            let _ = kill.status();
            let begun = Instant::now();
            while begun.elapsed() < PATIENCE {
                if self.has_ended()? {
                    return Ok(());
                }
                thread::sleep(POLL);
            }
        }
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map(|_| ()).map_err(|error| SetupError::file(self.cluster.dir(), error))
    }

    fn has_ended(&mut self) -> Result<bool, SetupError> {
        let ended = self.child.try_wait().map_err(|error| SetupError::file(self.cluster.dir(), error))?;
        Ok(ended.is_some())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::warn!(%error, "the private PostgreSQL did not stop");
        }
    }
}

/// The end of a text, cut at a line.
pub fn last_part(text: &str) -> String {
    let text = text.trim();
    let mut from = text.len().saturating_sub(TOLD);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let end = text.get(from..).unwrap_or(text);
    let cut = if from == 0 { 0 } else { end.find('\n').map_or(0, |at| at + 1) };
    end.get(cut..).unwrap_or(end).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_whole_lines() {
        assert_eq!(last_part(" one\ntwo \n"), "one\ntwo");
        let long = format!("{}\nlast é", "é".repeat(2000));
        assert_eq!(last_part(&long), "last é");
        assert!(last_part(&"é".repeat(3000)).len() <= TOLD);
    }
}
