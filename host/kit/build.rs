//! Puts the templates, the SDK and the contract into the binary: an author has no tree of ours.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = here.join("../..");
    let mut code = String::new();
    // Name of the table, folder, and where its files stand in an author's project.
    for (table, folder, under) in [
        ("TEMPLATES", here.join("templates"), ""),
        ("SDK", root.join("plugins/sdk/src"), "vendor/plugins/sdk/src/"),
        ("WIT", root.join("wit"), "vendor/wit/"),
    ] {
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files)?;
        // What an author builds for is the contract of today.
        files.retain(|file| !file.starts_with(root.join("wit/released")));
        files.sort();
        // Writing to a String does not fail.
        let _ = writeln!(code, "pub(crate) const {table}: &[(&str, &str)] = &[");
        for file in files {
            let name = file.strip_prefix(&folder).unwrap_or(&file).to_string_lossy();
            let _ = writeln!(code, "    ({:?}, include_str!({:?})),", format!("{under}{name}"), file);
        }
        code.push_str("];\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("embedded.rs"), code)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
