//! A compiler for wasm32-unknown-unknown: the active toolchain's, else Debian's with a standard library built once.
//!
//! Here they are found and used; obtaining one is `cargo xtask`'s work, or a command that the author is told.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};
use thiserror::Error;

/// The target of components.
pub const TARGET: &str = "wasm32-unknown-unknown";
/// Debian's compiler.
pub const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
/// Its cargo.
pub const DEBIAN_CARGO: &str = "/usr/bin/cargo";
/// Its linker.
pub const DEBIAN_LINKER: &str = "/usr/bin/rust-lld";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";

/// Why there is no compiler.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolchainError {
    /// None carries the target.
    #[error(
        "no compiler here can build for {TARGET}: run `rustup target add {TARGET}` and try again (without rustup, on Debian: \
         `cargo xtask plugins` in airlock's own tree prepares Debian's compiler, which is then found here)"
    )]
    Missing,
    /// A compiler does not say what it is.
    #[error("{program} does not say its version: {reason}")]
    Version {
        /// Which.
        program: String,
        /// Why.
        reason: String,
    },
}

/// A compiler that can build for [`TARGET`].
#[derive(Debug, Clone)]
pub enum Toolchain {
    /// The active toolchain carries the target.
    Active {
        /// What `rustc -vV` prints.
        version: String,
    },
    /// Debian's compiler and the folder of a standard library for it.
    Debian {
        /// What `rustc -vV` prints.
        version: String,
        /// The folder.
        sysroot: PathBuf,
    },
}

impl Toolchain {
    /// The one that is here, the active one first.
    ///
    /// # Errors
    /// [`ToolchainError::Missing`], which says what to run.
    pub fn find() -> Result<Self, ToolchainError> {
        match Self::active() {
            Some(active) => Ok(active),
            None => Self::debian()?.ok_or(ToolchainError::Missing),
        }
    }

    /// The active toolchain, if it carries the target.
    #[must_use]
    pub fn active() -> Option<Self> {
        let version = version_of(Path::new("rustc")).ok()?;
        let arguments = ["--print", "target-libdir", "--target", TARGET];
        let output = Command::new("rustc").args(arguments).output().ok()?;
        let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        has_std(&folder).then_some(Self::Active { version })
    }

    /// Debian's compiler, if the standard library for it is in the cache.
    ///
    /// # Errors
    /// When it is there and does not say its version.
    pub fn debian() -> Result<Option<Self>, ToolchainError> {
        if !debian_compiler_is_there() || !Path::new(DEBIAN_LINKER).exists() {
            return Ok(None);
        }
        let version = version_of(Path::new(DEBIAN_RUSTC))?;
        let Some(sysroot) = std_folder(&version) else { return Ok(None) };
        Ok(has_std(&libraries(&sysroot)).then_some(Self::Debian { version, sysroot }))
    }

    /// What tells this compiler from another.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::Active { version } | Self::Debian { version, .. } => version,
        }
    }

    /// Its cargo, free of variables meant for another build, in `folder`. `remaps` are path prefixes that the
    /// components must not carry.
    #[must_use]
    pub fn cargo(&self, folder: &Path, remaps: &[(PathBuf, &str)]) -> Command {
        let mut flags = remapped(remaps);
        let mut command = match self {
            Self::Active { .. } => Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
            Self::Debian { sysroot, .. } => {
                flags.push(format!("--sysroot={}", sysroot.display()));
                Command::new(DEBIAN_CARGO)
            }
        };
        clean(&mut command);
        if let Self::Debian { .. } = self {
            command.env_remove("RUSTUP_TOOLCHAIN").env("RUSTC", DEBIAN_RUSTC);
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).current_dir(folder);
        command
    }
}

/// Takes away what a caller's environment says about other builds; what says where things are fetched from stays.
pub fn clean(command: &mut Command) {
    const KEPT: [&str; 7] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
        "CARGO_BUILD_JOBS",
    ];
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let about_builds = ["CARGO", "__CARGO", "RUSTC", "RUSTFLAGS", "RUSTDOCFLAGS", "LD_LIBRARY_PATH"];
        let about_builds = about_builds.iter().any(|prefix| text.starts_with(prefix));
        if about_builds && !KEPT.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
}

/// Cargo's folder of fetched sources.
#[must_use]
pub fn cargo_home() -> PathBuf {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default()
}

/// What outlives a target directory: `$XDG_CACHE_HOME/airlock`, else `~/.cache/airlock`.
#[must_use]
pub fn cache() -> Option<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME").filter(|dir| Path::new(dir).is_absolute()).map(PathBuf::from);
    let base = base.or_else(|| env::home_dir().map(|home| home.join(".cache")));
    base.map(|base| base.join("airlock"))
}

/// Flags that replace path prefixes in what is compiled: a component must not tell on whose machine it was built.
#[must_use]
pub fn remapped(prefixes: &[(PathBuf, &str)]) -> Vec<String> {
    prefixes.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect()
}

/// Whether a folder of libraries holds a standard library.
#[must_use]
pub fn has_std(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with("libstd-"))
}

/// What a compiler says it is.
///
/// # Errors
/// When it says nothing.
pub fn version_of(rustc: &Path) -> Result<String, ToolchainError> {
    let wrong = |reason: String| ToolchainError::Version { program: rustc.display().to_string(), reason };
    let mut command = Command::new(rustc);
    clean(&mut command);
    if rustc == Path::new(DEBIAN_RUSTC) {
        command.env_remove("RUSTUP_TOOLCHAIN");
    }
    let output = command.arg("-vV").output().map_err(|error| wrong(error.to_string()))?;
    if !output.status.success() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether Debian's compiler and the sources of its standard library are installed.
#[must_use]
pub fn debian_compiler_is_there() -> bool {
    [DEBIAN_RUSTC, DEBIAN_CARGO, DEBIAN_SOURCES].iter().all(|file| Path::new(file).is_file())
}

/// Where the standard library for a version of Debian's compiler is kept; `None` without a home.
#[must_use]
pub fn std_folder(version: &str) -> Option<PathBuf> {
    Some(cache()?.join("wasm-std").join(sha256(version.as_bytes()).get(..16)?))
}

/// The libraries of a sysroot.
#[must_use]
pub fn libraries(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(TARGET).join("lib")
}

/// SHA-256, in lower-case hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a String does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
