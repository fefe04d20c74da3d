//! Debian packages: each command is printed, then run, with root or sudo.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::progress::Step;
use crate::workspace::on_path;

const DOWNLOAD_LIMIT: Duration = Duration::from_secs(15 * 60);

/// Obtains packages by apt.
pub struct Apt {
    no_install: bool,
    updated: bool,
}

impl Apt {
    /// With `no_install` commands are printed only.
    pub fn new(no_install: bool) -> Self {
        Self { no_install, updated: false }
    }

    /// Installs these packages, `why` telling what they are for. Fails when that could not be done.
    pub fn install(&mut self, packages: &[&str], why: &str) -> Result<()> {
        if on_path("apt-get").is_none() {
            bail!("missing for {why}: install what your system calls {} and try again", packages.join(", "));
        }
        // Packages that a person chose are never removed to make room.
        let mut install = vec!["apt-get", "install", "-y", "--no-install-recommends", "--no-remove"];
        install.extend(packages);
        self.run(&install, &format!("install {}", packages.join(" ")), why)
    }

    /// Runs a command as root: printed, then run.
    pub fn run(&mut self, command: &[&str], what: &str, why: &str) -> Result<()> {
        let Some(prefix) = privilege() else {
            self.print(&["sudo"], command);
            bail!(
                "missing for {why}, and this is neither root nor a user with sudo: have the commands above run, then try again"
            );
        };
        self.print(&prefix, command);
        if self.no_install {
            return Ok(());
        }
        if !self.updated {
            self.updated = true;
            let step = Step::begin("update the lists of packages", "they may be older than the mirror");
            let status = step.quietly(as_root(&prefix, &["apt-get", "update", "-q"]), DOWNLOAD_LIMIT)?;
            if status.success() {
                step.done();
            } else {
                eprintln!("    apt-get update failed; trying with the lists that are there");
            }
        }
        let step = Step::begin(what, why);
        let status = step.quietly(as_root(&prefix, command), DOWNLOAD_LIMIT)?;
        if !status.success() {
            bail!("`{}` failed ({status}); what it said stands above", command.join(" "));
        }
        step.done();
        Ok(())
    }

    fn print(&self, prefix: &[&str], command: &[&str]) {
        if !self.updated {
            eprintln!("  $ {}", [prefix, &["apt-get", "update"]].concat().join(" "));
        }
        eprintln!(
            "  $ {}",
            [prefix, command].concat().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        );
    }
}

/// Nothing for root, `sudo` where there is one.
fn privilege() -> Option<Vec<&'static str>> {
    if is_root() {
        return Some(Vec::new());
    }
    on_path("sudo").map(|_| vec!["sudo"])
}

/// Whether this process is root, as the kernel tells it.
pub fn is_root() -> bool {
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
