//! From an author's project to a component, and the grant it asks for.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::component::{Encoded, encode, interfaces, is_module, short_name};
use crate::error::KitError;
use crate::project::{Build, BuildCommand, Project};
use crate::toolchain::{TARGET, Toolchain, cargo_home, remapped, sha256};

/// A component that was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Built {
    /// Its name.
    pub component: String,
    /// The stage it is for.
    pub stage: &'static str,
    /// Its file.
    pub file: PathBuf,
    /// Bytes of the file.
    pub bytes: usize,
    /// SHA-256 of the file.
    pub digest: String,
    /// Interfaces that it calls, by their short names.
    pub imports: Vec<String>,
    /// Interfaces that it serves, by their short names.
    pub exports: Vec<String>,
    /// The file of the grant that it asks for.
    pub grant: PathBuf,
}

/// Builds a project. What its compiler says goes to stderr.
///
/// # Errors
/// When a compiler is missing, the source does not compile, or what it makes is not a component of its stage.
pub fn build(project: &Project) -> Result<Built, KitError> {
    let made = match &project.build {
        Build::Rust => cargo(project)?,
        Build::Command(build) => command(project, build)?,
    };
    let bytes = fs::read(&made).map_err(KitError::read(&made))?;
    let Encoded { bytes, imports, exports } = if is_module(&bytes) {
        encode(&bytes)?
    } else {
        let (imports, exports) = interfaces(&bytes)?;
        Encoded { bytes, imports, exports }
    };
    let short = |names: &[String]| names.iter().map(|name| short_name(name).to_owned()).collect::<Vec<_>>();
    let (imports, exports) = (short(&imports), short(&exports));
    if !exports.iter().any(|name| name == project.stage.interface) {
        return Err(KitError::OtherStage {
            stage: project.stage.stage.to_owned(),
            interface: project.stage.interface.to_owned(),
            exports: if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") },
        });
    }
    let (file, grant) = (project.component(), project.grant_file());
    write_whole(&file, &bytes)?;
    let digest = sha256(&bytes);
    write_whole(&grant, grant_text(project, &digest, &imports)?.as_bytes())?;
    Ok(Built {
        component: project.name.clone(),
        stage: project.stage.stage,
        file,
        bytes: bytes.len(),
        digest,
        imports,
        exports,
        grant,
    })
}

/// The grant that the component asks for, to be reviewed by whoever runs the host.
fn grant_text(project: &Project, digest: &str, imports: &[String]) -> Result<String, KitError> {
    let mut grant = toml::Table::new();
    grant.insert("component".to_owned(), project.name.clone().into());
    grant.insert("digest".to_owned(), digest.into());
    grant.insert("stage".to_owned(), vec![project.stage.stage].into());
    grant.insert("domains".to_owned(), vec!["*"].into());
    // What is not of the contract is no import that a grant names.
    let known = imports.iter().filter(|name| !name.contains(':')).cloned().collect::<Vec<_>>();
    grant.insert("imports".to_owned(), known.into());
    for (key, value) in &project.grant {
        grant.insert(key.clone(), value.clone());
    }
    let file = toml::Table::from_iter([("grant".to_owned(), toml::Value::Array(vec![grant.into()]))]);
    let body = toml::to_string(&file).map_err(|error| KitError::Project {
        path: project.folder.join(crate::project::FILE),
        reason: format!("grant: {error}"),
    })?;
    Ok(format!(
        "# What this component asks for, written by `airlock plugin build`. An operator who agrees puts it into the grants of\n\
         # the host; what it asks for beyond its imports stands in plugin.toml.\n\n{body}"
    ))
}

/// Compiles a project in Rust; the module it makes.
fn cargo(project: &Project) -> Result<PathBuf, KitError> {
    let folder = &project.folder;
    let toolchain = Toolchain::find()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder.join("target"), PathBuf::from);
    let mut command = toolchain.cargo(folder, &[(cargo_home(), "cargo")]);
    command.args(["rustc", "--lib", "--release", "--target", TARGET, "--target-dir"]).arg(&target);
    command.arg("--message-format=json-render-diagnostics").arg("--");
    // Of this crate alone: flags of all would make every project compile what they share anew.
    command.args(remapped(&[(folder.clone(), "")]));
    let missing = |source| KitError::Program {
        program: "cargo".to_owned(),
        source,
        remedy: "install Rust, as rust-lang.org/tools/install says".to_owned(),
    };
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(missing)?;
    let manifest = folder.join("Cargo.toml");
    let mut module = None;
    if let Some(messages) = child.stdout.take() {
        for line in BufReader::new(messages).lines().map_while(Result::ok) {
            if let Some(artifact) = Artifact::of(&line)
                && same_file(&artifact.manifest, &manifest)
            {
                module = Some(artifact.module);
            }
        }
    }
    let status = child.wait().map_err(KitError::read(folder))?;
    if !status.success() {
        return Err(KitError::DidNotBuild(format!("cargo: {status}")));
    }
    let hint = "Cargo.toml must say `crate-type = [\"cdylib\", \"rlib\"]` under [lib]";
    module.ok_or_else(|| KitError::NoModule(hint.to_owned()))
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Runs the command of a project; the file it makes.
fn command(project: &Project, build: &BuildCommand) -> Result<PathBuf, KitError> {
    let [program, arguments @ ..] = build.command.as_slice() else {
        return Err(KitError::NoModule("build.command names no program".to_owned()));
    };
    let output = project.folder.join(&build.output);
    // What an earlier build left must not pass for what this one made.
    match fs::remove_file(&output) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(KitError::write(output)(error));
        }
        _ => {}
    }
    let stderr = std::io::stderr().as_fd().try_clone_to_owned().map_err(KitError::write("stderr"))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&project.folder).stdin(Stdio::null()).stdout(stderr);
    let status = command.status().map_err(|source| KitError::Program {
        program: program.clone(),
        source,
        remedy: build.needs.clone().unwrap_or_else(|| "install it, or change build.command".to_owned()),
    })?;
    if !status.success() {
        // A program that starts may still miss what it loads.
        let needs = build.needs.as_ref().map(|needs| format!("; it needs: {needs}")).unwrap_or_default();
        return Err(KitError::DidNotBuild(format!("{program}: {status}{needs}")));
    }
    if !output.is_file() {
        return Err(KitError::NoModule(format!("{} is not there", output.display())));
    }
    Ok(output)
}

/// A module that cargo made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The target's name, with hyphens.
    pub name: String,
    /// The manifest of its package.
    pub manifest: PathBuf,
    /// The module.
    pub module: PathBuf,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    target: Option<MessageTarget>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct MessageTarget {
    name: String,
}

impl Artifact {
    /// The module that one of cargo's messages tells of.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        let message: Message = serde_json::from_str(line).ok()?;
        let mut files = message.filenames.into_iter();
        let module = files.find(|file| file.extension().is_some_and(|end| end == "wasm"))?;
        (message.reason == "compiler-artifact").then_some(())?;
        Some(Self { name: message.target?.name.replace('_', "-"), manifest: message.manifest_path, module })
    }
}

/// A reader sees the old content or the new, never a part.
///
/// # Errors
/// When it cannot be written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), KitError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, content).map_err(KitError::write(&part))?;
    fs::rename(&part, path).map_err(KitError::write(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_among_cargos_messages() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","target":{"name":"airlock_stage_planner"},"filenames":["/t/p.wasm","/t/p.rlib"]}"#;
        let want = Artifact {
            name: "airlock-stage-planner".to_owned(),
            manifest: PathBuf::from("/p/Cargo.toml"),
            module: PathBuf::from("/t/p.wasm"),
        };
        assert_eq!(Artifact::of(line), Some(want));
        for other in [
            "warning: text",
            r#"{"reason":"build-finished","success":true}"#,
            r#"{"reason":"compiler-artifact","target":{"name":"serde"},"filenames":["/t/libserde.rlib"]}"#,
        ] {
            assert_eq!(Artifact::of(other), None, "{other}");
        }
    }

    fn project(folder: &Path, script: &str) -> Project {
        let text = format!(
            "name = \"a\"\nstage = \"repair\"\nlanguage = \"shell\"\n[build]\ncommand = [\"sh\", \"-c\", {script:?}]\noutput = \"out.wasm\"\nneeds = \"get a shell\"\n"
        );
        fs::write(folder.join("plugin.toml"), text).unwrap();
        Project::read(folder).unwrap()
    }

    #[test]
    fn a_command_that_makes_nothing_good_is_told_so() {
        let here = tempfile::tempdir().unwrap();
        for (script, want) in [
            ("exit 3", "did not build (sh: exit status: 3; it needs: get a shell)"),
            ("true", "out.wasm is not there"),
            ("echo hello > out.wasm", "its interfaces do not read"),
            ("printf '\\000asm\\001\\000\\000\\000' > out.wasm", "exports no stage"),
        ] {
            let error = build(&project(here.path(), script)).unwrap_err();
            assert!(error.to_string().contains(want), "{script}: {error}");
            assert!(error.is_the_sources_fault(), "{script}");
            assert!(!here.path().join("a.wasm").exists());
        }
        let text = fs::read_to_string(here.path().join("plugin.toml")).unwrap();
        fs::write(here.path().join("plugin.toml"), text.replace("\"sh\"", "\"no-such-shell\"")).unwrap();
        let error = build(&Project::read(here.path()).unwrap()).unwrap_err();
        assert!(error.to_string().contains("get a shell"), "{error}");
    }

    #[test]
    fn a_grant_names_what_it_imports_and_what_the_project_says() {
        let here = tempfile::tempdir().unwrap();
        let mut project = project(here.path(), "true");
        project.grant =
            "model_roles = [\"fast\"]\ndomains = [\"shop\"]\n[limits]\nmemory_mib = 128".parse().unwrap();
        let text =
            grant_text(&project, "00", &["log".to_owned(), "wasi:random/random@0.2.0".to_owned()]).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let grant = &table["grant"][0];
        assert_eq!(grant["imports"], vec!["log"].into());
        assert_eq!(grant["domains"], vec!["shop"].into());
        assert_eq!(grant["limits"]["memory_mib"], 128.into());
    }
}
