//! `cargo xtask learning-bench`: whether learning helps, with no model, from a fresh clone.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::Obtain;
use crate::demo::{hand_over, prepare};
use crate::progress::Step;
use crate::workspace::{Workspace, forget_cargo_run};

/// Public questions over ten databases in halves: asked, told what is right, promoted by replay, and asked again.
#[derive(clap::Args)]
pub struct LearningBench {
    #[command(flatten)]
    obtain: Obtain,
    /// Folder of the corpora; `../shared/corpora` beside the repository when left out.
    #[arg(long, value_name = "DIR", env = "AIRLOCK_CORPORA")]
    corpora: Option<PathBuf>,
    /// Ways to split the questions.
    #[arg(long, value_name = "N", default_value_t = 3)]
    splits: usize,
    /// The rules that belong to the questions as terms of the glossary.
    #[arg(long)]
    instructions: bool,
}

impl LearningBench {
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
        let step = Step::begin("build the binary and the bench", "minutes the first time, seconds later");
        let arguments = ["build", "--workspace", "--bin", "airlock", "--bin", "learning-bench"];
        if !workspace.cargo().args(arguments).status()?.success() {
            bail!("it did not build");
        }
        step.done();
        let mut bench = Command::new(workspace.target.join("debug/learning-bench"));
        forget_cargo_run(&mut bench);
        bench.env("AIRLOCK_CORPORA", std::path::absolute(corpora)?);
        bench.args(["--splits", &self.splits.to_string()]);
        if self.instructions {
            bench.arg("--instructions");
        }
        hand_over(bench)
    }
}
