//! `cargo xtask lint`: formatting, the rules of the tree, clippy.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::Obtain;
use crate::install::Apt;
use crate::progress::Step;
use crate::workspace::Workspace;
use crate::{preflight, tidy};

/// Formatting, clippy and the rules of the tree.
#[derive(clap::Args)]
pub struct Lint {
    #[command(flatten)]
    obtain: Obtain,
}

impl Lint {
    /// Checks all three; fails if any does.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        let mut failed = Vec::new();

        let step = Step::begin("tidy", "the rules of the tree");
        let findings = tidy::check(&workspace.root)?;
        for finding in &findings {
            eprintln!("    {finding}");
        }
        if !findings.is_empty() {
            failed.push("tidy");
        }
        step.done();

        let step = Step::begin("cargo fmt --check", "one format");
        let status = workspace.cargo().args(["fmt", "--all", "--check"]).status();
        if !status.context("cargo could not be started")?.success() {
            failed.push("fmt");
        }
        step.done();

        let mut apt = Apt::new(self.obtain.no_install);
        if !preflight::ensure(&mut apt)? {
            bail!("clippy compiles the workspace: run the commands above, then try again");
        }
        let step = Step::begin("cargo clippy", "the lints of Cargo.toml, as errors");
        let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        if !workspace.cargo().args(clippy).status()?.success() {
            failed.push("clippy");
        }
        step.done();

        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(ExitCode::SUCCESS)
    }
}
