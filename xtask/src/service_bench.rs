//! `cargo xtask service-bench`: what one host answers in a second, from a fresh clone.

use std::process::ExitCode;

use anyhow::Result;

use crate::Obtain;
use crate::corpora::{Measure, built};
use crate::demo::hand_over;

/// The demo's shop asked over HTTP by many at once, with a scripted model that never thinks.
#[derive(clap::Args)]
pub struct ServiceBench {
    #[command(flatten)]
    obtain: Obtain,
    /// How long.
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// How many ask at once.
    #[arg(long, value_name = "N", default_value_t = 16)]
    askers: usize,
    /// Let the composer write the SQL.
    #[arg(long)]
    no_model: bool,
}

impl ServiceBench {
    /// Builds what is not built and becomes the bench.
    pub fn run(&self) -> Result<ExitCode> {
        let mut bench = match built("service-bench", self.obtain)? {
            Measure::Ready(program) => program,
            Measure::Over(code) => return Ok(code),
        };
        bench.args(["--seconds", &self.seconds.to_string(), "--askers", &self.askers.to_string()]);
        if self.no_model {
            bench.arg("--no-model");
        }
        hand_over(bench)
    }
}
