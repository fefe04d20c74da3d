//! Obtaining a compiler for wasm32-unknown-unknown: from rustup, else Debian's with a standard library built once.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use airlock_kit::toolchain::{
    DEBIAN_CARGO, DEBIAN_LINKER, DEBIAN_RUSTC, TARGET, Toolchain, cargo_home, clean,
    debian_compiler_is_there, has_std, libraries, remapped, std_folder, version_of,
};
use anyhow::{Context, Result, bail};

use crate::install::Apt;
use crate::progress::Step;
use crate::workspace::on_path;

const RUSTUP_LIMIT: Duration = Duration::from_secs(180);

/// Which compiler to use; chosen by itself unless asked.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    /// The active rustup toolchain.
    Rustup,
    /// Debian's `rustc-web`.
    Debian,
}

/// Finds one, or obtains it. `None` when it cannot be installed from here: how to has been printed.
pub fn obtain(source: Option<Source>, apt: &mut Apt, no_install: bool) -> Result<Option<Toolchain>> {
    let rustup = source != Some(Source::Debian);
    let debian = source != Some(Source::Rustup);
    if rustup && let Some(active) = Toolchain::active() {
        return Ok(Some(active));
    }
    if debian && let Some(built) = Toolchain::debian()? {
        return Ok(Some(built));
    }
    if rustup && on_path("rustup").is_some() {
        eprintln!("  $ rustup target add {TARGET}");
        if !no_install && rustup_target_add()? {
            let active = Toolchain::active().map(Some);
            return active.context("rustup added the target, and yet rustc does not have it");
        }
    }
    if !debian {
        bail!("rustup could not add {TARGET}");
    }
    if !install_debian(apt)? {
        return Ok(None);
    }
    build_std()?;
    Toolchain::debian()?.context("the standard library was built, and yet it is not in the cache").map(Some)
}

fn rustup_target_add() -> Result<bool> {
    let step = Step::begin(format!("obtain the standard library for {TARGET}"), "stages are WebAssembly");
    let mut command = Command::new("rustup");
    command.args(["target", "add", TARGET]);
    let status = step.quietly(command, RUSTUP_LIMIT)?;
    if status.success() {
        step.done();
    } else {
        eprintln!("    rustup could not fetch it; Debian's compiler will do");
    }
    Ok(status.success())
}

/// Whether Debian's compiler is there now; `false` when the commands were only printed.
fn install_debian(apt: &mut Apt) -> Result<bool> {
    let why = "a compiler for WebAssembly, since rustup has no standard library for it here";
    if !debian_compiler_is_there() {
        apt.install(&["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm"], why)?;
        if apt.only_prints() {
            return Ok(false);
        }
    }
    // The compiler names the version of its linker by a link, which dangles until that package is there.
    if !Path::new(DEBIAN_LINKER).exists() {
        let linker = fs::read_link(DEBIAN_LINKER).context("rustc-web brought no /usr/bin/rust-lld")?;
        let package = linker.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        apt.install(&[&package], "its linker")?;
        if apt.only_prints() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Builds the standard library from Debian's sources into the cache. Whole or not at all: it is moved there when done.
fn build_std() -> Result<()> {
    let step = Step::begin(
        format!("build the standard library for {TARGET}"),
        "Debian ships its sources only; about a minute, once, kept in the cache",
    );
    let sysroot = std_folder(&version_of(Path::new(DEBIAN_RUSTC))?);
    let sysroot = sysroot.context("neither XDG_CACHE_HOME nor HOME is set")?;
    let work = sysroot.with_extension(format!("{}.work", std::process::id()));
    fs::create_dir_all(work.join("crate/src"))?;
    fs::write(work.join("crate/src/lib.rs"), "")?;
    let manifest = "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(work.join("crate/Cargo.toml"), manifest)?;

    let mut command = Command::new(DEBIAN_CARGO);
    clean(&mut command);
    command.env_remove("RUSTUP_TOOLCHAIN").env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1");
    command.env("CARGO_ENCODED_RUSTFLAGS", remapped(&[(cargo_home(), "cargo")]).join("\x1f"));
    command.current_dir(work.join("crate")).args(["build", "-Zbuild-std=std,panic_abort", "--release"]);
    command.args(["--target", TARGET, "--target-dir"]).arg(work.join("target"));
    let status = command.status().context(DEBIAN_CARGO)?;
    if !status.success() {
        bail!("the standard library did not build ({status})");
    }

    let ready = work.join("sysroot");
    fs::create_dir_all(libraries(&ready))?;
    for entry in fs::read_dir(work.join("target").join(TARGET).join("release/deps"))? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "rlib") {
            fs::copy(&file, libraries(&ready).join(file.file_name().unwrap_or_default()))?;
        }
    }
    // Another process may have been quicker; its copy is as good.
    if !has_std(&libraries(&sysroot)) {
        fs::rename(&ready, &sysroot)
            .with_context(|| format!("{} could not be put in place", sysroot.display()))?;
    }
    fs::remove_dir_all(&work)?;
    step.done();
    Ok(())
}
