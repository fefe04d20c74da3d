//! `cargo xtask bench-gate` and `bench-plugins`: what a verdict and a component cost, each with another product in the same run.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::install::Apt;
use crate::progress::Step;
use crate::workspace::{Workspace, on_path};
use crate::{Obtain, languages, plugins, wasm};

/// The versions the numbers in `docs/performance.md` are from.
const SQLGLOT: &str = "sqlglot==30.30.0";
const EXTISM: &str = "extism==1.1.1";

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
        if let Some(python) = python(&workspace.target.join("bench-python"), SQLGLOT, self.obtain)? {
            bench.env("AIRLOCK_BENCH_PYTHON", python);
        }
        let status = bench.status().context("cargo could not be started")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// What a component's call costs, beside the same natively and through Extism; ends, swaps, loads, and memory.
#[derive(clap::Args)]
pub struct BenchPlugins {
    #[command(flatten)]
    obtain: Obtain,
    /// Make so many calls and tell the resident memory, and nothing else.
    #[arg(long, value_name = "NUMBER")]
    calls: Option<u64>,
}

impl BenchPlugins {
    /// Builds the components, makes a Python with Extism, if it can, and runs the benchmark.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        let mut bench = workspace.cargo();
        // In the profile of the demo and the suite: the engine is optimised there too, and nothing is built twice.
        bench.args(["bench", "--profile", "dev", "-p", "airlock-runtime", "--bench", "plugins"]);
        if let Some(calls) = self.calls {
            bench.env("AIRLOCK_BENCH_CALLS", calls.to_string());
        } else {
            let mut apt = Apt::new(self.obtain.no_install);
            if let Some(toolchain) = wasm::obtain(None, &mut apt, self.obtain.no_install)? {
                plugins::build(&workspace, &toolchain, &[])?;
                bench.env("AIRLOCK_BENCH_COMPONENTS", workspace.components());
            }
            languages::build(&workspace, self.obtain)?;
            bench.env("AIRLOCK_BENCH_LANGUAGES", workspace.target.join("languages"));
            if let Some(python) = python(&workspace.target.join("bench-python"), EXTISM, self.obtain)? {
                bench.env("AIRLOCK_BENCH_PYTHON", python);
            }
        }
        let status = bench.status().context("cargo could not be started")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// A Python with a package in a folder of its own. Without one the benchmark says what it skips.
fn python(folder: &Path, package: &str, obtain: Obtain) -> Result<Option<PathBuf>> {
    let python = folder.join("bin/python");
    if has(&python, package) {
        return Ok(Some(python));
    }
    let Some(system) = on_path("python3") else {
        eprintln!("    no python3 on the PATH: {package} will be skipped");
        return Ok(None);
    };
    let mut make = Command::new(system);
    make.args(["-m", "venv"]).arg(folder);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]);
    if obtain.no_install {
        println!("python3 -m venv {}", folder.display());
        println!("{} -m pip install {package}", python.display());
        return Ok(None);
    }
    let step = Step::begin(format!("install {package}"), "what to compare with");
    for command in [make, install] {
        if !step.quietly(command, DOWNLOAD_LIMIT)?.success() {
            eprintln!("    that failed: {package} will be skipped");
            return Ok(None);
        }
    }
    step.done();
    Ok(Some(python))
}

fn has(python: &Path, package: &str) -> bool {
    let (name, version) = package.split_once("==").unwrap_or_default();
    let question =
        format!("import importlib.metadata as m; raise SystemExit(m.version({name:?}) != {version:?})");
    Command::new(python).args(["-c", &question]).output().is_ok_and(|output| output.status.success())
}
