//! `cargo xtask gate-report`: the gate's corpora through the binary, and the page with the numbers.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::Obtain;
use crate::demo::hand_over;
use crate::install::Apt;
use crate::preflight;
use crate::progress::Step;
use crate::workspace::{Workspace, forget_cargo_run};

/// The gate's corpora through the binary, and docs/gate.md with the numbers.
#[derive(clap::Args)]
pub struct GateReport {
    #[command(flatten)]
    obtain: Obtain,
    /// Folder of the corpora; `../shared/corpora` beside the repository when left out.
    #[arg(long, value_name = "DIR", env = "AIRLOCK_CORPORA")]
    corpora: Option<PathBuf>,
}

impl GateReport {
    /// Builds what is not built and becomes the report.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        let corpora = self.corpora.clone().unwrap_or_else(|| workspace.root.join("../shared/corpora"));
        if !corpora.is_dir() {
            bail!("there are no corpora at {}: name their folder with --corpora", corpora.display());
        }
        if !preflight::ensure(&mut Apt::new(self.obtain.no_install))? {
            return Ok(ExitCode::FAILURE);
        }
        let step = Step::begin("build the binary and the report", "minutes the first time, seconds later");
        let arguments = ["build", "--workspace", "--bin", "airlock", "--bin", "gate-report"];
        if !workspace.cargo().args(arguments).status()?.success() {
            bail!("it did not build");
        }
        step.done();
        let mut report = Command::new(workspace.target.join("debug/gate-report"));
        forget_cargo_run(&mut report);
        report.arg(std::path::absolute(corpora)?).current_dir(&workspace.root);
        hand_over(report)
    }
}
