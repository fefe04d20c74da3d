//! `cargo xtask fault-bench`: right queries broken on purpose, and what repair heals without a model, from a fresh clone.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::Obtain;
use crate::demo::{hand_over, prepare};
use crate::progress::Step;
use crate::workspace::{Workspace, forget_cargo_run};

/// The right queries of ten public databases broken on purpose in a private PostgreSQL, by class.
#[derive(clap::Args)]
pub struct FaultBench {
    #[command(flatten)]
    obtain: Obtain,
    /// Folder of the corpora; `../shared/corpora` beside the repository when left out.
    #[arg(long, value_name = "DIR", env = "AIRLOCK_CORPORA")]
    corpora: Option<PathBuf>,
    /// Where the folder of the run is made.
    #[arg(long, value_name = "DIR", default_value = "evaluations")]
    out: PathBuf,
    /// Options of `airlock eval faults`, after `--`: `--seed`, `--limit`, `--json`.
    #[arg(last = true)]
    rest: Vec<String>,
}

impl FaultBench {
    /// Builds what is not built and becomes the bench. Without corpora it says so and does nothing.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        let corpora = self.corpora.clone().unwrap_or_else(|| workspace.root.join("../shared/corpora"));
        if !corpora.join("eval").is_dir() {
            eprintln!(
                "SKIPPED: there is no {}: name the corpora with --corpora",
                corpora.join("eval").display()
            );
            return Ok(ExitCode::SUCCESS);
        }
        if !prepare(&workspace, self.obtain)? {
            return Ok(ExitCode::FAILURE);
        }
        let step = Step::begin("build the binary and the loader", "minutes the first time, seconds later");
        let arguments = ["build", "--workspace", "--bin", "airlock", "--bin", "fault-bench"];
        if !workspace.cargo().args(arguments).status()?.success() {
            bail!("it did not build");
        }
        step.done();
        let mut bench = Command::new(workspace.target.join("debug/fault-bench"));
        forget_cargo_run(&mut bench);
        bench.arg("--corpora").arg(std::path::absolute(corpora)?);
        bench.arg("--out").arg(std::path::absolute(&self.out)?);
        bench.args(&self.rest);
        hand_over(bench)
    }
}
