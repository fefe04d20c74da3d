//! `cargo xtask demo`: from a fresh clone to an answer.

use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result, bail};

use crate::install::Apt;
use crate::progress::Step;
use crate::wasm;
use crate::workspace::{Workspace, forget_cargo_run, forget_measuring};
use crate::{Obtain, model, plugins, preflight};

/// A private PostgreSQL, the demo shop, the server, one question answered.
#[derive(clap::Args)]
pub struct Demo {
    #[command(flatten)]
    obtain: Obtain,
    /// Stop after the answer, with the exit code that tells its outcome.
    #[arg(long)]
    once: bool,
    /// The domain to show.
    #[arg(long, value_name = "NAME")]
    pack: Option<String>,
    /// Ask this instead of the demo's own question.
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
}

impl Demo {
    /// Builds what is not built and runs `airlock demo`.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        if !prepare(&workspace, self.obtain)? {
            return Ok(ExitCode::FAILURE);
        }
        let step = Step::begin(
            "build the server",
            "minutes the first time (the WebAssembly compiler takes most), seconds later",
        );
        // All members resolve together, as the tests build them, so that no dependency is compiled twice.
        let status = workspace.cargo().args(["build", "--workspace", "--bin", "airlock"]).status()?;
        if !status.success() {
            bail!("the server did not build");
        }
        step.done();

        let mut airlock = Command::new(workspace.target.join("debug/airlock"));
        forget_cargo_run(&mut airlock);
        forget_measuring(&mut airlock);
        airlock.current_dir(&workspace.root).arg("demo").arg("--components").arg(workspace.components());
        if let Some(model) = model::fetched() {
            airlock.arg("--embedder").arg(model);
        }
        if self.once {
            airlock.arg("--once");
        }
        if let Some(pack) = &self.pack {
            airlock.arg("--pack").arg(pack);
        }
        if let Some(question) = &self.question {
            airlock.arg("--question").arg(question);
        }
        hand_over(airlock)
    }
}

/// What building and testing need: the machine's tools, then the components. `false` when
/// something is missing that cannot be installed from here.
pub fn prepare(workspace: &Workspace, obtain: Obtain) -> Result<bool> {
    let mut apt = Apt::new(obtain.no_install);
    let tools = preflight::ensure(&mut apt)?;
    let toolchain = wasm::obtain(None, &mut apt, obtain.no_install)?;
    let (true, Some(toolchain)) = (tools, toolchain) else {
        eprintln!(
            "Something is missing: run the commands above, or what does the same on your system, then try again."
        );
        return Ok(false);
    };
    plugins::build(workspace, &toolchain, &[])?;
    Ok(true)
}

/// Becomes the program: its exit code and the terminal's signals are its own.
#[cfg(unix)]
pub fn hand_over(mut program: Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let name = program.get_program().to_string_lossy().into_owned();
    Err(program.exec()).with_context(|| format!("{name} could not be started"))
}

#[cfg(not(unix))]
pub fn hand_over(mut program: Command) -> Result<ExitCode> {
    let name = program.get_program().to_string_lossy().into_owned();
    let status = program.status().with_context(|| format!("{name} could not be started"))?;
    Ok(exit_code(status))
}

/// The exit code of a program that ended; one when a signal ended it.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
