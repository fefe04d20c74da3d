//! `cargo xtask plugins`: the built-in stages and the domains' adapters as components, with their grants beside them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use airlock_kit::compile::Artifact;
use airlock_kit::component::{Encoded, encode, short_name};
use airlock_kit::toolchain::{TARGET, Toolchain, cargo_home, sha256};
use anyhow::{Context, Result, bail};

use crate::Obtain;
use crate::fingerprint::Fingerprint;
use crate::grants::{Grant, Grants, adapters};
use crate::install::Apt;
use crate::progress::Step;
use crate::wasm::{self, Source};
use crate::workspace::Workspace;

const PROFILE: &str = "plugin";
const STAMP: &str = ".built-from";
/// What a component is made from, beside the compiler.
const INPUTS: [&str; 6] = ["plugins", "wit", "Cargo.toml", "Cargo.lock", "xtask/src", "host/kit/src"];

/// Build the built-in stages and the domains' adapters into components.
#[derive(clap::Args)]
pub struct Plugins {
    #[command(flatten)]
    obtain: Obtain,
    /// The compiler to build with, whatever else is there.
    #[arg(long, value_enum)]
    compiler: Option<Source>,
    /// Only these components; the rest stays as it is.
    #[arg(long = "only", value_name = "NAME")]
    only: Vec<String>,
}

impl Plugins {
    /// Builds and tells where the components are.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        let mut apt = Apt::new(self.obtain.no_install);
        let Some(toolchain) = wasm::obtain(self.compiler, &mut apt, self.obtain.no_install)? else {
            return Ok(ExitCode::FAILURE);
        };
        build(&workspace, &toolchain, &self.only)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Brings `<target>/components` up to date: every `*.wasm` and `grants.toml`. Quick when nothing changed.
pub fn build(workspace: &Workspace, toolchain: &Toolchain, only: &[String]) -> Result<()> {
    let folder = workspace.components();
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    // One build at a time: two would put their files in each other's way.
    let lock = File::create(folder.join(".lock"))?;
    lock.lock()?;

    let grants = Grants::reviewed(&workspace.root)?;
    let unknown = only.iter().find(|name| !grants.grants.iter().any(|grant| grant.component == **name));
    if let Some(name) = unknown {
        bail!("no grant names a component `{name}`");
    }
    let built_from = built_from(workspace, toolchain)?;
    if is_current(&folder, &built_from) {
        eprintln!("==> {} components are up to date in {}", grants.grants.len(), folder.display());
        return Ok(());
    }

    let chosen: Vec<&Grant> =
        grants.grants.iter().filter(|grant| only.is_empty() || only.contains(&grant.component)).collect();
    let step = Step::begin(
        format!("build {} components for {TARGET}", chosen.len()),
        "every stage is a sandboxed component; a minute the first time, seconds later",
    );
    let (modules, compiled) = compile(workspace, toolchain, &chosen)?;
    let mut failed: Vec<&str> = Vec::new();
    for grant in &chosen {
        let made = modules.get(&grant.package()).context("it did not compile");
        let made = made.and_then(|module| assemble(module, grant, &folder));
        if let Err(error) = made {
            eprintln!("    {}: {error:#}", grant.component);
            failed.push(&grant.component);
        }
    }
    let complete = write_grants(&grants, &folder)?;
    if !failed.is_empty() || !compiled {
        bail!("not built: {}", if failed.is_empty() { "see above".to_owned() } else { failed.join(", ") });
    }
    if complete && only.is_empty() {
        write_whole(&folder.join(STAMP), stamp(&folder, &built_from)?.as_bytes())?;
    }
    eprintln!("    components and their grants are in {}", folder.display());
    step.done();
    Ok(())
}

/// Compiles the crates; gives the module of each that compiled, and whether all went well.
fn compile(
    workspace: &Workspace,
    toolchain: &Toolchain,
    grants: &[&Grant],
) -> Result<(BTreeMap<String, PathBuf>, bool)> {
    let remaps = [(cargo_home(), "cargo"), (workspace.root.clone(), "airlock")];
    let mut command = toolchain.cargo(&workspace.root, &remaps);
    command.args(["build", "--keep-going", "--lib", "--profile", PROFILE, "--target", TARGET]);
    command.arg("--target-dir").arg(workspace.target.join("wasm"));
    command.arg("--message-format=json-render-diagnostics");
    for grant in grants {
        command.arg("--package").arg(grant.package());
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cargo could not be started")?;
    let mut modules = BTreeMap::new();
    if let Some(messages) = child.stdout.take() {
        for line in BufReader::new(messages).lines() {
            if let Some(artifact) = Artifact::of(&line?) {
                modules.insert(artifact.name, artifact.module);
            }
        }
    }
    Ok((modules, child.wait()?.success()))
}

/// Encodes a module, checks it against its grant and puts it in place.
fn assemble(module: &Path, grant: &Grant, folder: &Path) -> Result<()> {
    let bytes = fs::read(module).with_context(|| module.display().to_string())?;
    let encoded = encode(&bytes)?;
    let excess = grant.excess(&encoded);
    if !excess.is_empty() {
        bail!("beyond its grant: {}", excess.join(", "));
    }
    write_whole(&folder.join(grant.file()), &encoded.bytes)?;
    eprintln!("    {}", summary(grant, &encoded));
    Ok(())
}

fn summary(grant: &Grant, encoded: &Encoded) -> String {
    let list = |names: &[String]| match names {
        [] => "nothing".to_owned(),
        names => names.iter().map(|name| short_name(name)).collect::<Vec<_>>().join(", "),
    };
    format!(
        "{:15} {:>9} bytes  serves {}; imports {}",
        grant.component,
        encoded.bytes.len(),
        list(&encoded.exports),
        list(&encoded.imports)
    )
}

/// Writes the grants of the components that are there, each with its digest; tells whether all are.
fn write_grants(grants: &Grants, folder: &Path) -> Result<bool> {
    let mut there = Vec::new();
    for grant in &grants.grants {
        if let Ok(bytes) = fs::read(folder.join(grant.file())) {
            there.push(Grant { digest: Some(sha256(&bytes)), ..grant.clone() });
        }
    }
    let complete = there.len() == grants.grants.len();
    write_whole(&folder.join("grants.toml"), Grants { grants: there }.to_toml()?.as_bytes())?;
    Ok(complete)
}

fn built_from(workspace: &Workspace, toolchain: &Toolchain) -> Result<String> {
    let mut print = Fingerprint::default();
    print.add("compiler", toolchain.version().as_bytes());
    let adapters = adapters(&workspace.root)?;
    for input in INPUTS.into_iter().chain(adapters.iter().map(String::as_str)) {
        print.add_tree(&workspace.root, input)?;
    }
    Ok(print.finish())
}

/// What was built from what: the second line covers every file, so that a damaged or deleted one is built again.
fn stamp(folder: &Path, built_from: &str) -> Result<String> {
    let mut print = Fingerprint::default();
    let written = Grants::read_built(&folder.join("grants.toml"))?;
    print.add("grants.toml", &fs::read(folder.join("grants.toml"))?);
    for file in written.grants.iter().map(Grant::file) {
        print.add(&file, &fs::read(folder.join(&file))?);
    }
    Ok(format!("{built_from}\n{}\n", print.finish()))
}

fn is_current(folder: &Path, built_from: &str) -> bool {
    let known = fs::read_to_string(folder.join(STAMP));
    let now = stamp(folder, built_from);
    matches!((known, now), (Ok(known), Ok(now)) if known == now)
}

/// A reader sees the old content or the new, never a part.
fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, content).with_context(|| path.display().to_string())?;
    fs::rename(&part, path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_missing_file_is_not_current() {
        let folder = tempfile::tempdir().unwrap();
        let grants = Grants::reviewed(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap();
        for grant in &grants.grants {
            fs::write(folder.path().join(grant.file()), &grant.component).unwrap();
        }
        assert!(write_grants(&grants, folder.path()).unwrap());
        fs::write(folder.path().join(STAMP), stamp(folder.path(), "sources").unwrap()).unwrap();
        assert!(is_current(folder.path(), "sources"));
        assert!(!is_current(folder.path(), "other sources"));
        fs::write(folder.path().join("planner.wasm"), "other").unwrap();
        assert!(!is_current(folder.path(), "sources"));
        fs::remove_file(folder.path().join("planner.wasm")).unwrap();
        assert!(!is_current(folder.path(), "sources"));
        assert!(!write_grants(&grants, folder.path()).unwrap());
    }
}
