//! `cargo xtask fault-bench`: right queries broken on purpose, and what repair heals without a model, from a fresh clone.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::corpora::{Corpora, Measure};
use crate::demo::hand_over;

/// The right queries of ten public databases broken on purpose in a private PostgreSQL, by class.
#[derive(clap::Args)]
pub struct FaultBench {
    #[command(flatten)]
    corpora: Corpora,
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
        let mut bench = match self.corpora.measure("fault-bench")? {
            Measure::Ready(program) => program,
            Measure::Over(code) => return Ok(code),
        };
        bench.arg("--out").arg(std::path::absolute(&self.out)?);
        bench.args(&self.rest);
        hand_over(bench)
    }
}
