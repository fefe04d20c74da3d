//! What every measurement needs first: what is built, the program that measures, and the public corpora where it is over
//! them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::Obtain;
use crate::demo::prepare;
use crate::progress::Step;
use crate::workspace::{Workspace, forget_cargo_run};

/// Where the corpora are, and how what is missing is obtained.
#[derive(clap::Args)]
pub struct Corpora {
    #[command(flatten)]
    obtain: Obtain,
    /// Folder of the corpora; `../shared/corpora` beside the repository when left out.
    #[arg(long, value_name = "DIR", env = "AIRLOCK_CORPORA")]
    corpora: Option<PathBuf>,
}

/// A program that measures, or how the command ends without one.
pub enum Measure {
    /// Built, and told by `AIRLOCK_CORPORA` where the corpora are, if it is over them.
    Ready(Command),
    /// Nothing is measured: there are no corpora, or something that is needed is missing. It was told.
    Over(ExitCode),
}

impl Corpora {
    /// Builds what is not built, `program` of the tests' crate among it. Without corpora it says so and does nothing.
    ///
    /// # Errors
    /// When the workspace is not found or does not build.
    pub fn measure(&self, program: &str) -> Result<Measure> {
        let workspace = Workspace::find()?;
        let corpora = self.corpora.clone().unwrap_or_else(|| workspace.root.join("../shared/corpora"));
        if !corpora.join("eval").is_dir() {
            let missing = corpora.join("eval");
            eprintln!("SKIPPED: there is no {}: name the corpora with --corpora", missing.display());
            return Ok(Measure::Over(ExitCode::SUCCESS));
        }
        Ok(match built(program, self.obtain)? {
            Measure::Ready(mut command) => {
                command.env("AIRLOCK_CORPORA", std::path::absolute(corpora)?);
                Measure::Ready(command)
            }
            over => over,
        })
    }
}

/// Builds what is not built, `program` of the tests' crate among it.
///
/// # Errors
/// When the workspace is not found or does not build.
pub fn built(program: &str, obtain: Obtain) -> Result<Measure> {
    let workspace = Workspace::find()?;
    if !prepare(&workspace, obtain)? {
        return Ok(Measure::Over(ExitCode::FAILURE));
    }
    let step = Step::begin("build the binary and the measurement", "minutes the first time, seconds later");
    let arguments = ["build", "--workspace", "--bin", "airlock", "--bin", program];
    if !workspace.cargo().args(arguments).status()?.success() {
        bail!("it did not build");
    }
    step.done();
    let mut command = Command::new(workspace.target.join(Path::new("debug").join(program)));
    forget_cargo_run(&mut command);
    Ok(Measure::Ready(command))
}
