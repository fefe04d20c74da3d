//! `cargo xtask eval-corpora`: public questions over ten databases, asked and graded from a fresh clone.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::Obtain;
use crate::demo::{hand_over, prepare};
use crate::progress::Step;
use crate::workspace::{Workspace, forget_cargo_run};

/// Public questions over ten databases in a private PostgreSQL, by set, with and without the rules that belong to them.
#[derive(clap::Args)]
pub struct EvalCorpora {
    #[command(flatten)]
    obtain: Obtain,
    /// Folder of the corpora; `../shared/corpora` beside the repository when left out.
    #[arg(long, value_name = "DIR", env = "AIRLOCK_CORPORA")]
    corpora: Option<PathBuf>,
    /// Where the folders of the runs are made.
    #[arg(long, value_name = "DIR", default_value = "evaluations")]
    out: PathBuf,
    /// The rules that belong to the questions as terms of the glossary: with, without, or both one after the other.
    #[arg(long, value_name = "WHICH", default_value = "both", value_parser = ["with", "without", "both"])]
    instructions: String,
    /// Options of `airlock eval run`, after `--`: `--baseline`, `--degrade`, `--limit`, `--replies`, `--record`.
    #[arg(last = true)]
    rest: Vec<String>,
}

impl EvalCorpora {
    /// Builds what is not built and becomes the evaluation. Without corpora it says so and does nothing.
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
        let arguments = ["build", "--workspace", "--bin", "airlock", "--bin", "eval-corpora"];
        if !workspace.cargo().args(arguments).status()?.success() {
            bail!("it did not build");
        }
        step.done();
        let mut evaluation = Command::new(workspace.target.join("debug/eval-corpora"));
        forget_cargo_run(&mut evaluation);
        evaluation.arg("--corpora").arg(std::path::absolute(corpora)?);
        evaluation.arg("--out").arg(std::path::absolute(&self.out)?);
        evaluation.args(["--instructions", &self.instructions]).args(&self.rest);
        hand_over(evaluation)
    }
}
