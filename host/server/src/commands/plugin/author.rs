//! `airlock plugin new`, `build`, `keygen` and `sign`: an author's work, which needs no host and no configuration.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use airlock_kit::KitError;
use airlock_kit::compile::{self, Built};
use airlock_kit::project::{Project, grant_beside};
use airlock_kit::template::NewProject;
use airlock_runtime::signature::{SecretKey, Signed};
use airlock_runtime::{Grant, Grants};
use airlock_types::ContentHash;
use anyhow::Context;
use serde_json::json;

use super::read_component;
use crate::cli::NewPlugin;
use crate::exit::{Exit, usage};
use crate::output;
use crate::plugins::beside;

/// Makes a project.
///
/// # Errors
/// When it cannot be made.
pub fn new(new: NewPlugin, json: bool) -> anyhow::Result<Exit> {
    let wanted = NewProject {
        name: new.name,
        stage: new.stage,
        language: new.language,
        folder: new.dir,
        sdk: new.sdk,
    };
    let created = wanted.create().map_err(usage)?;
    if json {
        output::json(&json!({"ok": true, "dir": created.folder, "files": created.files}))?;
        return Ok(Exit::Done);
    }
    let dir = created.folder.display();
    output::line(format!("made {dir}: {}", created.files.join(", ")))?;
    output::line(format!("next: airlock plugin build {dir}"))?;
    Ok(Exit::Done)
}

/// Builds a project and tells of it.
///
/// # Errors
/// When there is no project, or a compiler is missing.
pub fn build(dir: &Path, json: bool) -> anyhow::Result<Exit> {
    let project = Project::read(dir).map_err(usage)?;
    match compile::build(&project) {
        Ok(built) => {
            show(&built, json)?;
            Ok(Exit::Done)
        }
        Err(error) => not_built(&error, json),
    }
}

/// Tells why there is no component: a source that does not compile is a no, what this machine lacks is the user's to mend.
pub fn not_built(error: &KitError, json: bool) -> anyhow::Result<Exit> {
    if !error.is_the_sources_fault() {
        return Err(usage(error));
    }
    if json {
        output::json(&json!({"ok": false, "error": error.to_string()}))?;
    } else {
        output::line(format!("not built: {error}"))?;
    }
    Ok(Exit::No)
}

/// A component that was built.
pub fn show(built: &Built, json: bool) -> anyhow::Result<()> {
    if json {
        return output::json(&json!({
            "ok": true, "component": built.component, "stage": built.stage, "file": built.file, "bytes": built.bytes,
            "digest": built.digest, "imports": built.imports, "exports": built.exports, "grant": built.grant,
        }));
    }
    let words = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    output::line(format!("{}  {} bytes", built.file.display(), built.bytes))?;
    output::line(format!("digest   {}", built.digest))?;
    output::line(format!("exports  {}", words(&built.exports)))?;
    output::line(format!("imports  {}", words(&built.imports)))?;
    output::line(format!("grant    {}  (what it asks for; an operator decides)", built.grant.display()))
}

/// Makes a key to sign with.
///
/// # Errors
/// When the file is there already, or cannot be written.
pub fn keygen(file: &Path, json: bool) -> anyhow::Result<Exit> {
    let mut seed = [0; 32];
    let entropy = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut seed));
    entropy.context("the system's entropy cannot be read")?;
    let key = SecretKey::from_entropy(&seed);
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let mut opened =
        opened.map_err(|error| usage(format!("the key cannot be put into {}: {error}", file.display())))?;
    opened
        .write_all(key.reveal().as_bytes())
        .and_then(|()| opened.sync_all())
        .context("the key cannot be written")?;
    if json {
        output::json(&json!({"ok": true, "file": file, "public": key.public()}))?;
    } else {
        output::line(format!("secret key in {}; keep it to yourself", file.display()))?;
        output::line(format!("public key {}", key.public()))?;
        output::line("a host that is to trust it names the public key in plugins.trusted_keys")?;
    }
    Ok(Exit::Done)
}

/// Signs what a component may be and have, in a file beside it.
///
/// # Errors
/// When the key or the component cannot be read, or no grant is about the component.
pub fn sign(file: &Path, key_file: &Path, grants: Option<&Path>, json: bool) -> anyhow::Result<Exit> {
    let key = read_key(key_file)?;
    let bytes = read_component(file)?;
    let digest = ContentHash::of(&bytes);
    let grant = grant_to_sign(file, digest, grants)?;
    let path = beside(file);
    let text = Signed::new(&grant, &key).to_json()?;
    compile::write_whole(&path, text.as_bytes()).map_err(usage)?;
    if json {
        output::json(&json!({"ok": true, "file": path, "key": key.public(), "grant": grant}))?;
    } else {
        let stages: Vec<&str> = grant.stages.iter().map(|stage| stage.as_str()).collect();
        output::line(format!("{}  signed by {}", path.display(), key.public()))?;
        output::line(format!("states that {} may serve {}", digest.short(), stages.join(", ")))?;
    }
    Ok(Exit::Done)
}

fn read_key(file: &Path) -> anyhow::Result<SecretKey> {
    let wrong = |why: &dyn std::fmt::Display| usage(format!("--key: {}: {why}", file.display()));
    let meta = std::fs::metadata(file).map_err(|error| wrong(&error))?;
    if meta.mode() & 0o077 != 0 {
        return Err(wrong(&"others may read it, so it is no secret: `chmod 600` it, or make a new one"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
    text.parse().map_err(|error: airlock_runtime::signature::KeyError| wrong(&error))
}

/// The grant that is signed: of a file that was named, else of the one beside the component, else of the folder's.
fn grant_to_sign(file: &Path, digest: ContentHash, named: Option<&Path>) -> anyhow::Result<Grant> {
    let beside = [grant_beside(file), file.with_file_name("grants.toml")];
    let files: Vec<PathBuf> = named.map_or_else(|| beside.to_vec(), |named| vec![named.to_owned()]);
    for path in &files {
        if named.is_none() && !path.exists() {
            continue;
        }
        let grants = Grants::read(path).map_err(usage)?;
        if let Some(grant) = grants.iter().find(|grant| grant.digest == digest) {
            return Ok(grant.clone());
        }
    }
    let looked: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    Err(usage(format!(
        "no grant names the digest {digest}, so there is nothing to sign: looked in {}; `airlock plugin build` writes one, --grants names another",
        looked.join(" and ")
    )))
}
