//! A compiler for wasm32-unknown-unknown: the active toolchain's, else Debian's with a standard library built once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::fingerprint::sha256;
use crate::install::Apt;
use crate::progress::Step;
use crate::workspace::{cache, on_path};

/// The target of components.
pub const TARGET: &str = "wasm32-unknown-unknown";
const RUSTUP_LIMIT: Duration = Duration::from_secs(180);
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";
const DEBIAN_LINKER: &str = "/usr/bin/rust-lld";

/// Which compiler to use; chosen by itself unless asked.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    /// The active rustup toolchain.
    Rustup,
    /// Debian's `rustc-web`.
    Debian,
}

/// A compiler that can build for [`TARGET`].
pub enum Toolchain {
    /// The active toolchain carries the target.
    Active { version: String },
    /// Debian's compiler and the folder of a standard library for it.
    Debian { version: String, sysroot: PathBuf },
}

impl Toolchain {
    /// Finds one, or obtains it. `None` when it cannot be installed from here: how to has been printed.
    pub fn obtain(source: Option<Source>, apt: &mut Apt, no_install: bool) -> Result<Option<Self>> {
        let rustup = source != Some(Source::Debian);
        let debian = source != Some(Source::Rustup);
        if rustup && let Some(active) = active() {
            return Ok(Some(active));
        }
        if debian && let Some(built) = debian_with_std()? {
            return Ok(Some(built));
        }
        if rustup && on_path("rustup").is_some() {
            eprintln!("  $ rustup target add {TARGET}");
            if !no_install && rustup_target_add()? {
                return active().map(Some).context("rustup added the target, and yet rustc does not have it");
            }
        }
        if !debian {
            bail!("rustup could not add {TARGET}");
        }
        if !install_debian(apt)? {
            return Ok(None);
        }
        build_std()?;
        debian_with_std()?.context("the standard library was built, and yet it is not in the cache").map(Some)
    }

    /// What tells this compiler from another.
    pub fn version(&self) -> &str {
        match self {
            Self::Active { version } | Self::Debian { version, .. } => version,
        }
    }

    /// Its cargo, free of variables meant for another build, in `root`. `remaps` are path prefixes that the
    /// components must not carry.
    pub fn cargo(&self, root: &Path, remaps: &[(PathBuf, &str)]) -> Command {
        let mut flags = remapped(remaps);
        let mut command = match self {
            Self::Active { .. } => Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
            Self::Debian { sysroot, .. } => {
                flags.push(format!("--sysroot={}", sysroot.display()));
                Command::new(DEBIAN_CARGO)
            }
        };
        clean(&mut command);
        if let Self::Debian { .. } = self {
            command.env_remove("RUSTUP_TOOLCHAIN").env("RUSTC", DEBIAN_RUSTC);
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).current_dir(root);
        command
    }
}

/// Takes away what a caller's environment says about other builds; what says where things are fetched from stays.
fn clean(command: &mut Command) {
    const KEPT: [&str; 7] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
        "CARGO_BUILD_JOBS",
    ];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let about_builds = ["CARGO", "__CARGO", "RUSTC", "RUSTFLAGS", "RUSTDOCFLAGS", "LD_LIBRARY_PATH"];
        let about_builds = about_builds.iter().any(|prefix| text.starts_with(prefix));
        if about_builds && !KEPT.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
}

/// Cargo's folder of fetched sources.
pub fn cargo_home() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default()
}

/// Flags that replace path prefixes in what is compiled: a component must not tell on whose machine it was built.
fn remapped(prefixes: &[(PathBuf, &str)]) -> Vec<String> {
    prefixes.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect()
}

/// The active toolchain, if it carries the target.
fn active() -> Option<Toolchain> {
    let version = version_of(Path::new("rustc")).ok()?;
    let output =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    has_std(&folder).then_some(Toolchain::Active { version })
}

fn has_std(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with("libstd-"))
}

fn version_of(rustc: &Path) -> Result<String> {
    let mut command = Command::new(rustc);
    clean(&mut command);
    if rustc == Path::new(DEBIAN_RUSTC) {
        command.env_remove("RUSTUP_TOOLCHAIN");
    }
    let output = command.arg("-vV").output().with_context(|| rustc.display().to_string())?;
    if !output.status.success() {
        bail!("{} -vV: {}", rustc.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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

fn debian_compiler_is_there() -> bool {
    [DEBIAN_RUSTC, DEBIAN_CARGO, DEBIAN_SOURCES].iter().all(|file| Path::new(file).is_file())
}

fn std_folder(version: &str) -> Result<PathBuf> {
    let key: String = sha256(version.as_bytes()).chars().take(16).collect();
    Ok(cache()?.join("wasm-std").join(key))
}

fn libraries(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(TARGET).join("lib")
}

/// Debian's compiler, if the standard library for it is in the cache.
fn debian_with_std() -> Result<Option<Toolchain>> {
    if !debian_compiler_is_there() || !Path::new(DEBIAN_LINKER).exists() {
        return Ok(None);
    }
    let version = version_of(Path::new(DEBIAN_RUSTC))?;
    let sysroot = std_folder(&version)?;
    Ok(has_std(&libraries(&sysroot)).then_some(Toolchain::Debian { version, sysroot }))
}

/// Builds the standard library from Debian's sources into the cache. Whole or not at all: it is moved there when done.
fn build_std() -> Result<()> {
    let step = Step::begin(
        format!("build the standard library for {TARGET}"),
        "Debian ships its sources only; about a minute, once, kept in the cache",
    );
    let sysroot = std_folder(&version_of(Path::new(DEBIAN_RUSTC))?)?;
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
