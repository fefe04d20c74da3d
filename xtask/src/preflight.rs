//! What a build and a private PostgreSQL need of the machine; only what is missing is obtained.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::install::Apt;
use crate::workspace::on_path;

/// The oldest PostgreSQL that airlock serves.
const OLDEST_POSTGRES: u32 = 13;

/// Something that must be there.
struct Need {
    why: &'static str,
    packages: &'static [&'static str],
    is_there: fn() -> bool,
}

const BUILD_NEEDS: [Need; 3] = [
    Need {
        why: "compiling PostgreSQL's grammar",
        packages: &["gcc", "libc6-dev"],
        is_there: || c_compiler("cc", "gcc"),
    },
    Need { why: "compiling the C++ parts", packages: &["g++"], is_there: || c_compiler("c++", "g++") },
    Need {
        why: "reading the C headers of PostgreSQL's grammar",
        packages: &["libclang-dev"],
        is_there: libclang,
    },
];

/// Obtains what is missing. `false` when something is and cannot be installed from here: how to is printed.
pub fn ensure(apt: &mut Apt) -> Result<bool> {
    let missing: Vec<&Need> = BUILD_NEEDS.iter().filter(|need| !(need.is_there)()).collect();
    if !missing.is_empty() {
        let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages.iter().copied()).collect();
        let why: Vec<&str> = missing.iter().map(|need| need.why).collect();
        apt.install(&packages, &why.join("; "))?;
    }
    let no_postgres = postgres().is_none();
    if no_postgres {
        install_postgres(apt)?;
    }
    if apt.only_prints() {
        return Ok(missing.is_empty() && !no_postgres);
    }
    if let Some(need) = missing.iter().find(|need| !(need.is_there)()) {
        bail!("installed {}, and yet it is not to be found ({})", need.packages.join(", "), need.why);
    }
    if no_postgres && postgres().is_none() {
        bail!(
            "installed PostgreSQL, and yet no server binaries of {OLDEST_POSTGRES} or later are to be found"
        );
    }
    Ok(true)
}

/// Installs the server's binaries without the cluster that Debian's package would create and start.
fn install_postgres(apt: &mut Apt) -> Result<()> {
    const WHY: &str = "a private PostgreSQL; no server of yours is touched, and no cluster is created";
    const ONLY_BINARIES: &str = "/etc/postgresql-common/createcluster.d/airlock.conf";
    let prepare = format!(
        "mkdir -p /etc/postgresql-common/createcluster.d && echo 'create_main_cluster = false' > {ONLY_BINARIES}"
    );
    apt.run(&["sh", "-c", &prepare], "ask Debian for the binaries only", WHY)?;
    let installed = apt.install(&["postgresql"], WHY);
    let undone = apt.run(
        &["rm", "-f", ONLY_BINARIES],
        "take that setting back",
        "later installations are yours to shape",
    );
    installed.and(undone)
}

fn c_compiler(generic: &str, gnu: &str) -> bool {
    on_path(generic).is_some() || on_path(gnu).is_some()
}

/// The library that bindgen loads, and the headers of the compiler it comes from (Debian can have one without the
/// other). Whoever sets `LIBCLANG_PATH` knows.
fn libclang() -> bool {
    if env::var_os("LIBCLANG_PATH").is_some() {
        return true;
    }
    let mut folders: Vec<PathBuf> = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from).into();
    folders.push(PathBuf::from(format!("/usr/lib/{}-linux-gnu", env::consts::ARCH)));
    folders.extend(children("/usr/lib").filter(|dir| named(dir, "llvm")).map(|dir| dir.join("lib")));
    let library =
        |file: PathBuf| named(&file, "libclang.so") || (named(&file, "libclang-") && has(&file, ".so"));
    let headers = |version: PathBuf| version.join("include/stddef.h").is_file();
    folders.iter().any(|folder| children(folder).any(library))
        && folders.iter().any(|folder| children(folder.join("clang")).any(headers))
}

fn children(folder: impl AsRef<Path>) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn named(path: &Path, start: &str) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(start))
}

fn has(path: &Path, part: &str) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.contains(part))
}

/// The folder of server binaries that are new enough.
fn postgres() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> =
        children("/usr/lib/postgresql").map(|version| version.join("bin")).collect();
    folders.extend(children("/usr").filter(|dir| named(dir, "pgsql-")).map(|dir| dir.join("bin")));
    folders.extend(on_path("postgres").and_then(|file| file.parent().map(Path::to_owned)));
    folders
        .into_iter()
        .find(|bin| bin.join("initdb").is_file() && major(bin).is_some_and(|it| it >= OLDEST_POSTGRES))
}

fn major(bin: &Path) -> Option<u32> {
    let output = Command::new(bin.join("postgres")).arg("--version").output().ok()?;
    major_in(&String::from_utf8_lossy(&output.stdout))
}

/// `postgres (PostgreSQL) 15.18 (Debian ..)`: 15; `17beta1`: 17.
fn major_in(version: &str) -> Option<u32> {
    let number = version.split_whitespace().nth(2)?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (text, want) in [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 17beta1", Some(17)),
            ("postgres (PostgreSQL) 9.6.24", Some(9)),
            ("postgres", None),
            ("", None),
        ] {
            assert_eq!(major_in(text), want, "{text}");
        }
    }
}
