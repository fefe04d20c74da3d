//! Debian packages: each command is printed, then run, with root or sudo.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::progress::Step;
use crate::workspace::on_path;

const DOWNLOAD_LIMIT: Duration = Duration::from_secs(15 * 60);

/// Obtains packages by apt, or prints how.
pub struct Apt {
    /// What comes before a command that needs root. `None`: commands are printed, none is run.
    prefix: Option<&'static [&'static str]>,
    /// Whether the update of the lists was printed.
    announced: bool,
    /// Whether it was run.
    updated: bool,
}

impl Apt {
    /// Prints only, if told so, and where nothing can be installed: without apt, root or sudo.
    pub fn new(no_install: bool) -> Self {
        let prefix = if no_install || on_path("apt-get").is_none() { None } else { privilege() };
        Self { prefix, announced: false, updated: false }
    }

    /// Whether commands are only printed, so that what is missing stays missing.
    pub fn only_prints(&self) -> bool {
        self.prefix.is_none()
    }

    /// Installs these packages, `why` telling what they are for.
    pub fn install(&mut self, packages: &[&str], why: &str) -> Result<()> {
        // Packages that a person chose are never removed to make room.
        let mut install = vec!["apt-get", "install", "-y", "--no-install-recommends", "--no-remove"];
        install.extend(packages);
        self.run(&install, &format!("install {}", packages.join(" ")), why)
    }

    /// Runs a command as root: printed, then run.
    pub fn run(&mut self, command: &[&str], what: &str, why: &str) -> Result<()> {
        self.print(command, why);
        let Some(prefix) = self.prefix else { return Ok(()) };
        if !self.updated {
            self.updated = true;
            let step = Step::begin("update the lists of packages", "they may be older than the mirror");
            let status = step.quietly(as_root(prefix, &["apt-get", "update", "-q"]), DOWNLOAD_LIMIT)?;
            if status.success() {
                step.done();
            } else {
                eprintln!("    apt-get update failed; trying with the lists that are there");
            }
        }
        let step = Step::begin(what, why);
        let status = step.quietly(as_root(prefix, command), DOWNLOAD_LIMIT)?;
        if !status.success() {
            bail!("`{}` failed ({status}); what it said stands above", command.join(" "));
        }
        step.done();
        Ok(())
    }

    fn print(&mut self, command: &[&str], why: &str) {
        let prefix = self.prefix.unwrap_or(if is_root() { &[] } else { &["sudo"] });
        let line = |words: &[&str]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        eprintln!("# {why}");
        if !self.announced {
            self.announced = true;
            eprintln!("  $ {}", line(&[prefix, &["apt-get", "update"]].concat()));
        }
        eprintln!("  $ {}", line(&[prefix, command].concat()));
    }
}

/// Nothing for root, `sudo` where there is one.
fn privilege() -> Option<&'static [&'static str]> {
    if is_root() {
        return Some(&[]);
    }
    on_path("sudo").map(|_| ["sudo"].as_slice())
}

/// Whether this process is root, as the kernel tells it.
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    uids.and_then(|uids| uids.split_whitespace().nth(1)) == Some("0")
}

fn as_root(prefix: &[&str], words: &[&str]) -> Command {
    let mut all = prefix.iter().chain(["env", "DEBIAN_FRONTEND=noninteractive"].iter()).chain(words);
    let mut command = Command::new(all.next().copied().unwrap_or("env"));
    command.args(all);
    command
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
