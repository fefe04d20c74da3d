//! `cargo xtask eval-corpora`: public questions over ten databases, asked and graded from a fresh clone.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::corpora::{Corpora, Measure};
use crate::demo::hand_over;

/// Public questions over ten databases in a private PostgreSQL, by set, with and without the rules that belong to them.
#[derive(clap::Args)]
pub struct EvalCorpora {
    #[command(flatten)]
    corpora: Corpora,
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
        let mut evaluation = match self.corpora.measure("eval-corpora")? {
            Measure::Ready(program) => program,
            Measure::Over(code) => return Ok(code),
        };
        evaluation.arg("--out").arg(std::path::absolute(&self.out)?);
        evaluation.args(["--instructions", &self.instructions]).args(&self.rest);
        hand_over(evaluation)
    }
}
