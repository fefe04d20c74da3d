//! `cargo xtask recall-bench` and `kill-learning`: what learning costs when much is known, and what a kill leaves behind.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::Obtain;
use crate::demo::{hand_over, prepare};
use crate::progress::Step;
use crate::workspace::{Workspace, forget_cargo_run};

/// What recall adds over 100,000 curated lessons, and how long a pass over 1,000 candidates takes.
#[derive(clap::Args)]
pub struct RecallBench {
    #[command(flatten)]
    obtain: Obtain,
}

impl RecallBench {
    /// Builds what is not built and becomes the bench.
    pub fn run(&self) -> Result<ExitCode> {
        match program(self.obtain, "recall-bench")? {
            Some(bench) => hand_over(bench),
            None => Ok(ExitCode::FAILURE),
        }
    }
}

/// A process that distils, promotes and approves, killed at random moments; the store's invariants are looked at each time.
#[derive(clap::Args)]
pub struct KillLearning {
    #[command(flatten)]
    obtain: Obtain,
    /// Kills.
    #[arg(long, value_name = "N", default_value_t = 200)]
    times: usize,
}

impl KillLearning {
    /// Builds what is not built and becomes the killer.
    pub fn run(&self) -> Result<ExitCode> {
        let Some(mut killer) = program(self.obtain, "kill-learning")? else { return Ok(ExitCode::FAILURE) };
        killer.args(["--times", &self.times.to_string()]);
        hand_over(killer)
    }
}

/// A program of the tests' crate, built; nothing when something that is needed is missing, which was told.
fn program(obtain: Obtain, name: &str) -> Result<Option<Command>> {
    let workspace = Workspace::find()?;
    if !prepare(&workspace, obtain)? {
        return Ok(None);
    }
    let step = Step::begin(format!("build {name}"), "minutes the first time, seconds later");
    if !workspace.cargo().args(["build", "--package", "airlock-tests", "--bin", name]).status()?.success() {
        bail!("it did not build");
    }
    step.done();
    let mut command = Command::new(workspace.target.join(Path::new("debug").join(name)));
    forget_cargo_run(&mut command);
    Ok(Some(command))
}
