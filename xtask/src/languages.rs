//! `cargo xtask languages`: the toolchains of other languages in the target directory, and a domain's adapter in each.
//!
//! Python and Node come from Debian, the two tools that make components by pip and npm at fixed versions. A host needs
//! none of them, and a suite without them says so and goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::Obtain;
use crate::fingerprint::Fingerprint;
use crate::install::Apt;
use crate::progress::Step;
use crate::workspace::{Workspace, on_path};

const COMPONENTIZE_PY: &str = "componentize-py==0.25.1";
const COMPONENTIZE_JS: &str = "@bytecodealliance/componentize-js@0.23.0";
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(10 * 60);
const BUILD_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Build the adapters that are not written in Rust.
#[derive(clap::Args)]
pub struct Languages {
    #[command(flatten)]
    obtain: Obtain,
}

impl Languages {
    /// Builds and tells where the components are.
    pub fn run(&self) -> Result<ExitCode> {
        let complete = build(&Workspace::find()?, self.obtain)?;
        Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// A language that is not Rust.
#[derive(Clone, Copy)]
enum Language {
    Python,
    JavaScript,
}

impl Language {
    const fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
        }
    }

    /// The sources of its adapter, from the root of the repository.
    fn sources(self) -> String {
        format!("domains/equipment-fleet/adapter-{}", self.name())
    }

    const fn tool(self) -> &'static str {
        match self {
            Self::Python => COMPONENTIZE_PY,
            Self::JavaScript => COMPONENTIZE_JS,
        }
    }
}

/// Brings `<target>/languages/equipment-fleet-*.wasm` up to date. `false` when a language is missing, which was told.
pub fn build(workspace: &Workspace, obtain: Obtain) -> Result<bool> {
    let folder = workspace.target.join("languages");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut complete = true;
    for language in [Language::Python, Language::JavaScript] {
        let component = folder.join(format!("equipment-fleet-{}.wasm", language.name()));
        let stamp = component.with_extension("built-from");
        let built_from = built_from(workspace, language)?;
        if component.is_file() && fs::read_to_string(&stamp).is_ok_and(|known| known == built_from) {
            continue;
        }
        let home = folder.join(language.name());
        if let Err(error) = obtain_tool(language, &home, obtain)
            .and_then(|()| componentize(workspace, language, &home, &component))
        {
            eprintln!(
                "    SKIPPED: no {} adapter, so nothing that needs one is tested: {error:#}",
                language.name()
            );
            complete = false;
            continue;
        }
        fs::write(&stamp, built_from)?;
    }
    Ok(complete)
}

fn built_from(workspace: &Workspace, language: Language) -> Result<String> {
    let mut print = Fingerprint::default();
    print.add("tool", language.tool().as_bytes());
    print.add_tree(&workspace.root, "wit")?.add_tree(&workspace.root, &language.sources())?;
    Ok(print.finish())
}

/// The tool that makes components of a language, in a folder of its own.
fn obtain_tool(language: Language, home: &Path, obtain: Obtain) -> Result<()> {
    if tool(language, home).is_file() {
        return Ok(());
    }
    let (program, package) = match language {
        Language::Python => ("python3", "python3-venv"),
        Language::JavaScript => ("npm", "npm"),
    };
    if on_path(program).is_none() {
        let why = format!("components written in {} are made with it", language.name());
        Apt::new(obtain.no_install).install(&[package], &why)?;
    }
    anyhow::ensure!(!obtain.no_install && on_path(program).is_some(), "`{program}` is not on the PATH");
    fs::create_dir_all(home)?;
    let step = Step::begin(format!("install {}", language.tool()), "it makes components");
    let commands = match language {
        Language::Python => {
            let mut make = Command::new(program);
            make.args(["-m", "venv"]).arg(home);
            let mut install = Command::new(home.join("bin/python"));
            install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", COMPONENTIZE_PY]);
            vec![make, install]
        }
        Language::JavaScript => {
            fs::write(home.join("package.json"), "{\"private\": true}\n")?;
            let mut install = Command::new(program);
            install.current_dir(home).args([
                "install",
                "--no-audit",
                "--no-fund",
                "--silent",
                COMPONENTIZE_JS,
            ]);
            vec![install]
        }
    };
    for command in commands {
        let name = command.get_program().to_string_lossy().into_owned();
        let status = step.quietly(command, DOWNLOAD_LIMIT)?;
        anyhow::ensure!(status.success(), "`{name}` failed ({status})");
    }
    step.done();
    Ok(())
}

fn tool(language: Language, home: &Path) -> PathBuf {
    match language {
        Language::Python => home.join("bin/componentize-py"),
        Language::JavaScript => {
            home.join("node_modules/@bytecodealliance/componentize-js/src/componentize.js")
        }
    }
}

fn componentize(workspace: &Workspace, language: Language, home: &Path, component: &Path) -> Result<()> {
    let (sources, wit) = (workspace.root.join(language.sources()), workspace.root.join("wit"));
    let part = component.with_extension("part");
    let mut command = match language {
        Language::Python => {
            let mut command = Command::new(tool(language, home));
            // A world of its own: bindings import all that a world does.
            command.arg("-q").arg("-d").arg(&wit).arg("-d").arg(sources.join("world.wit"));
            command.args(["-w", "equipment-fleet:adapter/adapter", "componentize", "--stub-wasi"]);
            // Sources stay as they are: without this, compiled files would lie among them.
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            command.arg("-p").arg(&sources).arg("-o").arg(&part).arg("adapter");
            command
        }
        Language::JavaScript => {
            let mut command = Command::new("node");
            command.arg(sources.join("build.mjs")).args([home, &wit, &part]);
            command
        }
    };
    command.current_dir(home);
    let step = Step::begin(
        format!("make a component of {}", language.sources()),
        "half a minute: it carries the language's engine",
    );
    let status = step.quietly(command, BUILD_LIMIT)?;
    anyhow::ensure!(status.success(), "it did not build ({status})");
    fs::rename(&part, component).with_context(|| component.display().to_string())?;
    step.done();
    Ok(())
}
