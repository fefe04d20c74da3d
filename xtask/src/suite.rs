//! `cargo xtask test`: every test there is; the last line is the runner's own summary.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::demo::{exit_code, prepare};
use crate::progress::Step;
use crate::workspace::{Workspace, on_path};
use crate::{Obtain, languages};

/// The whole suite.
#[derive(clap::Args)]
pub struct Suite {
    #[command(flatten)]
    obtain: Obtain,
    /// Passed on to the test runner: a name to filter by, or its own options after `--`.
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
    runner: Vec<String>,
}

impl Suite {
    /// Prepares and runs the tests.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        if !prepare(&workspace, self.obtain)? {
            return Ok(ExitCode::FAILURE);
        }
        // Missing languages skip their tests, which was told.
        languages::build(&workspace, self.obtain)?;
        // The end-to-end tests run the program itself.
        let step = Step::begin("build the server", "minutes the first time, seconds later");
        if !workspace.cargo().args(["build", "--workspace", "--bin", "airlock"]).status()?.success() {
            bail!("the server did not build");
        }
        step.done();
        let mut command = workspace.cargo();
        // nextest is quicker, but not worth compiling for one run.
        let runner = if on_path("cargo-nextest").is_some() {
            command.args(["nextest", "run", "--workspace"]);
            "cargo nextest"
        } else {
            command.args(["test", "--workspace"]);
            "cargo test"
        };
        let _step =
            Step::begin(format!("test with {runner}"), "minutes the first time, most of it compiling");
        command.args(&self.runner).env("AIRLOCK_COMPONENTS", workspace.components());
        Ok(exit_code(command.status().context("cargo could not be started")?))
    }
}
