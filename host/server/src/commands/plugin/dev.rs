//! `airlock plugin dev`: build on save, and put what was built in service on a running host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use airlock_kit::compile::{self, Built, write_whole};
use airlock_kit::project::Project;
use airlock_runtime::{DomainScope, Grants};
use serde_json::json;

use super::{author, change, parse_stage, scope};
use crate::cli::DevPlugin;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::operator::{self, Request};
use crate::{boot, output};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(250);
/// Files of a project that are looked at.
const MOST_FILES: usize = 10_000;
/// Folders that hold what was made, not what is written.
const MADE: [&str; 5] = ["target", "node_modules", "__pycache__", "dist", ".git"];

/// Goes on until it is interrupted.
///
/// # Errors
/// When there is no project, or no host runs.
pub async fn run(dev: DevPlugin, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let project = Project::read(&dev.dir).map_err(usage)?;
    let scope = scope(dev.domain)?;
    if operator::ask(config, &Request::Status, |_| {}).await?.is_none() {
        return Err(operator::nobody(&config.operator_socket));
    }
    let interrupted = tokio::signal::ctrl_c();
    let cycles = cycles(project.folder, &scope, dev.write_grants, config, json);
    tokio::select! {
        _ = interrupted => {
            if !json {
                output::line("stopped; what was put in service last serves until `airlock plugin rollback`")?;
            }
            Ok(Exit::Done)
        }
        ended = cycles => ended,
    }
}

async fn cycles(
    folder: PathBuf,
    scope: &DomainScope,
    write_grants: bool,
    config: &Config,
    json: bool,
) -> anyhow::Result<Exit> {
    let mut seen = None;
    let mut served: Option<String> = None;
    loop {
        let now = files(&folder);
        if seen.as_ref() == Some(&now) {
            tokio::time::sleep(LOOK).await;
            continue;
        }
        seen = Some(now);
        let began = Instant::now();
        match built(folder.clone()).await? {
            Err(why) if json => output::json(&json!({"cycle": "not built", "why": why}))?,
            Err(why) => output::line(format!("not built: {why}"))?,
            Ok(built) if served.as_ref() == Some(&built.digest) => {
                tell(&built, "unchanged", began, json)?;
            }
            Ok(built) => {
                tell(&built, "built", began, json)?;
                if write_grants {
                    put_grant(&built, config)?;
                }
                let request = Request::Swap {
                    stage: parse_stage(built.stage)?,
                    domains: scope.clone(),
                    file: built.file.clone(),
                    verify: None,
                    force: false,
                    shadow: None,
                };
                if change::ask(&request, config, json).await? == Exit::Done {
                    served = Some(built.digest);
                }
            }
        }
    }
}

/// Builds on a thread that may block; what is wrong with the source is told, and the next save tries again.
async fn built(folder: PathBuf) -> anyhow::Result<Result<Built, String>> {
    let build = tokio::task::spawn_blocking(move || {
        Project::read(&folder).and_then(|project| compile::build(&project))
    });
    match build.await? {
        Ok(built) => Ok(Ok(built)),
        Err(error @ airlock_kit::KitError::Toolchain(_)) => Err(usage(error)),
        Err(error) => Ok(Err(error.to_string())),
    }
}

fn tell(built: &Built, what: &str, began: Instant, json: bool) -> anyhow::Result<()> {
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    if json {
        output::json(&json!({"cycle": what, "digest": built.digest, "ms": ms}))?;
        return if what == "built" { author::show(built, true) } else { Ok(()) };
    }
    let digest = built.digest.get(..12).unwrap_or_default();
    output::line(format!("{what}: {} {digest}, {} bytes, in {ms} ms", built.component, built.bytes))
}

/// Writes the grant of what was built into the operators' file, in the place of the last one that this command wrote.
fn put_grant(built: &Built, config: &Config) -> anyhow::Result<()> {
    let path = boot::reviewed(config).own;
    let old = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(usage(format!("{} cannot be read: {error}", path.display()))),
    };
    let grant = std::fs::read_to_string(&built.grant)?;
    let text = replaced(&old, &built.component, &grant);
    Grants::parse(&text).map_err(|why| usage(format!("{} would be wrong: {why}", path.display())))?;
    write_whole(&path, text.as_bytes()).map_err(usage)
}

fn replaced(old: &str, component: &str, grant: &str) -> String {
    let (open, close) = (
        format!("# airlock plugin dev: {component}\n"),
        format!("# airlock plugin dev: end of {component}\n"),
    );
    // Without the line that ends it, nobody can tell what is ours: then nothing is taken away.
    let ours = old.split_once(&open).and_then(|(before, rest)| Some((before, rest.split_once(&close)?.1)));
    let (before, after) = ours.unwrap_or((old, ""));
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{gap}{open}{}\n{close}{after}", grant.trim_end())
}

/// The files of a project as they are: name, size, and when they were written.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let made =
                [".wasm", ".part", ".grant.toml", ".sig", "Cargo.lock"].iter().any(|end| name.ends_with(end));
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() && !MADE.contains(&name.as_str()) && !name.starts_with('.') {
                folders.push(path);
            } else if meta.is_file() && !made && found.len() < MOST_FILES {
                found.insert(path, (meta.len(), meta.modified().ok()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_grant_of_ours_stands_in_the_file() {
        let first = replaced("# mine\n[[grant]]\n", "a", "one\n");
        let other = replaced(&first, "b", "two\n");
        let again = replaced(&other, "a", "three\n");
        assert!(again.starts_with("# mine\n[[grant]]\n"), "{again}");
        assert!(again.contains("three") && again.contains("two") && !again.contains("one"), "{again}");
        assert_eq!(again.matches("# airlock plugin dev: a\n").count(), 1);
        let torn = "# airlock plugin dev: a\none\n# an operator's\n";
        assert!(replaced(torn, "a", "two").starts_with(torn), "an operator's grants are never taken away");
    }

    #[test]
    fn what_is_made_is_not_what_is_written() {
        let here = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = here.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("src/lib.rs", "a");
        let before = files(here.path());
        for made in ["a.wasm", "a.grant.toml", "target/x", "Cargo.lock", "node_modules/x/y.js"] {
            write(made, "x");
            assert_eq!(files(here.path()), before, "{made}");
        }
        write("src/lib.rs", "ab");
        assert_ne!(files(here.path()), before);
    }
}
