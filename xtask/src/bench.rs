//! `cargo xtask bench-gate`: what a verdict costs, with sqlglot in the same run.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::Obtain;
use crate::progress::Step;
use crate::workspace::{Workspace, on_path};

/// The version the numbers in `docs/performance.md` are from.
const SQLGLOT: &str = "sqlglot==30.30.0";

const DOWNLOAD_LIMIT: Duration = Duration::from_secs(5 * 60);

/// What the gate's verdicts cost: medians, 99th percentiles, and sqlglot parsing the same statements.
#[derive(clap::Args)]
pub struct Bench {
    #[command(flatten)]
    obtain: Obtain,
}

impl Bench {
    /// Makes a Python with sqlglot, if it can, and runs the benchmark.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        let mut bench = workspace.cargo();
        bench.args(["bench", "-p", "airlock-gate", "--bench", "gate"]);
        if let Some(python) = self.python(&workspace.target.join("bench-python"))? {
            bench.env("AIRLOCK_BENCH_PYTHON", python);
        }
        let status = bench.status().context("cargo could not be started")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// A Python with sqlglot in a folder of its own. Without one the benchmark says what it skips.
    fn python(&self, folder: &Path) -> Result<Option<PathBuf>> {
        let python = folder.join("bin/python");
        if has_sqlglot(&python) {
            return Ok(Some(python));
        }
        let Some(system) = on_path("python3") else {
            eprintln!("    no python3 on the PATH: sqlglot will be skipped");
            return Ok(None);
        };
        let mut make = Command::new(system);
        make.args(["-m", "venv"]).arg(folder);
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", SQLGLOT]);
        if self.obtain.no_install {
            println!("python3 -m venv {}", folder.display());
            println!("{} -m pip install {SQLGLOT}", python.display());
            return Ok(None);
        }
        let step = Step::begin(format!("install {SQLGLOT}"), "the parser to compare with");
        for command in [make, install] {
            if !step.quietly(command, DOWNLOAD_LIMIT)?.success() {
                eprintln!("    that failed: sqlglot will be skipped");
                return Ok(None);
            }
        }
        step.done();
        Ok(Some(python))
    }
}

fn has_sqlglot(python: &Path) -> bool {
    let (_, version) = SQLGLOT.split_once("==").unwrap_or_default();
    let question = format!("import sqlglot; raise SystemExit(sqlglot.__version__ != '{version}')");
    Command::new(python).args(["-c", &question]).output().is_ok_and(|output| output.status.success())
}
