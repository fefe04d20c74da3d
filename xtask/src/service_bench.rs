//! `cargo xtask service-bench`: what one host answers in a second, from a fresh clone.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::Obtain;
use crate::corpora::{Measure, built};
use crate::demo::hand_over;
use crate::progress::Step;
use crate::workspace::Workspace;

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
    /// Instead: how long statements run on when this many askers vanish, and how soon the next is answered.
    #[arg(long, value_name = "N")]
    vanish: Option<usize>,
    /// Measure the release build, as operators run it; the first one takes a quarter of an hour.
    #[arg(long)]
    release: bool,
    /// Let the composer write the SQL.
    #[arg(long)]
    no_model: bool,
}

/// Builds the binary as it is released.
fn released() -> Result<PathBuf> {
    let workspace = Workspace::find()?;
    let step = Step::begin("build the release", "a quarter of an hour the first time");
    if !workspace.cargo().args(["build", "--workspace", "--release", "--bin", "airlock"]).status()?.success()
    {
        bail!("it did not build");
    }
    step.done();
    Ok(workspace.target.join("release/airlock"))
}

impl ServiceBench {
    /// Builds what is not built and becomes the bench.
    pub fn run(&self) -> Result<ExitCode> {
        let mut bench = match built("service-bench", self.obtain)? {
            Measure::Ready(program) => program,
            Measure::Over(code) => return Ok(code),
        };
        bench.args(["--seconds", &self.seconds.to_string(), "--askers", &self.askers.to_string()]);
        if let Some(clients) = self.vanish {
            bench.args(["--vanish", &clients.to_string()]);
        }
        if self.release {
            bench.env("AIRLOCK_BINARY", released()?);
        }
        if self.no_model {
            bench.arg("--no-model");
        }
        hand_over(bench)
    }
}
