//! Where the repository, its build products and its cache are, and cargo as a person would have called it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

/// The repository and its folders.
pub struct Workspace {
    /// The folder of the root `Cargo.toml`.
    pub root: PathBuf,
    /// Cargo's target directory.
    pub target: PathBuf,
}

#[derive(serde::Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

impl Workspace {
    /// The workspace that this command was called in.
    pub fn find() -> Result<Self> {
        let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output();
        let output = output.context("cargo is not on the PATH")?;
        let metadata: Metadata = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()))?;
        Ok(Self { root: metadata.workspace_root, target: metadata.target_directory })
    }

    /// Where the components and their grants are put.
    pub fn components(&self) -> PathBuf {
        self.target.join("components")
    }

    /// Cargo, in the root of the workspace.
    pub fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root);
        command
    }
}

/// The first file of this name on the PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_cargo_run(&mut command);
    command
}

/// Takes back what `cargo run` told this process about xtask: build scripts watch some of these names, and a crate
/// such as `ring` would be built again whenever the caller changes.
pub fn forget_cargo_run(command: &mut Command) {
    const ABOUT_XTASK: [&str; 5] = [
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_MANIFEST_LINKS",
        "CARGO_CRATE_NAME",
        "CARGO_BIN_NAME",
    ];
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || ABOUT_XTASK.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    match library_path() {
        Some(path) => command.env("LD_LIBRARY_PATH", path),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
}

/// Takes from a command what tells tests and benchmarks where things are: airlock refuses a variable of its name that it
/// does not know.
pub fn forget_measuring(command: &mut Command) {
    const NAMES: [&str; 7] = [
        "AIRLOCK_BINARY",
        "AIRLOCK_COMPONENTS",
        "AIRLOCK_CORPORA",
        "AIRLOCK_EVAL_DATABASE_URL",
        "AIRLOCK_KILL_ROLES",
        "AIRLOCK_RUN",
        "AIRLOCK_URL",
    ];
    const PREFIXES: [&str; 3] = ["AIRLOCK_BENCH_", "AIRLOCK_SETUP_TEST_", "AIRLOCK_WRITE_"];
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if NAMES.contains(&&*text) || PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
}

/// The caller's own library path: without the folders of build products and toolchains that `cargo run` put before it.
fn library_path() -> Option<OsString> {
    let path = env::var_os("LD_LIBRARY_PATH")?;
    let executable = env::current_exe().ok()?;
    let profile = executable.parent()?;
    let own = |dir: &PathBuf| {
        !dir.as_os_str().is_empty()
            && !dir.starts_with(profile)
            && !dir.join("rustlib").is_dir()
            && !dir.components().any(|part| part.as_os_str() == "rustlib")
    };
    let kept: Vec<PathBuf> = env::split_paths(&path).filter(own).collect();
    if kept.is_empty() { None } else { env::join_paths(kept).ok() }
}
