//! `airlock plugin`: components made, checked, tested and signed; listed and swapped on a running host.

mod author;
mod change;
mod check;
mod dev;
mod granted;
mod history;
mod list;
mod test;

use std::path::Path;

use airlock_runtime::DomainScope;
use serde_json::json;

use crate::cli::Plugin;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::operator::Request;
use crate::output;

/// Bytes of a component's file that are read: more than any host accepts.
const COMPONENT_LIMIT: u64 = 256 << 20;

/// Carries out one of the commands. Those of an author read no configuration.
///
/// # Errors
/// When a file cannot be read, or no host runs that could be asked.
pub async fn run(
    plugin: Plugin,
    config: impl FnOnce() -> anyhow::Result<Config>,
    json: bool,
) -> anyhow::Result<Exit> {
    match plugin {
        Plugin::New(new) => author::new(new, json),
        Plugin::Build { dir } => author::build(&dir, json),
        Plugin::Check { file, grants } => check::run(&file, grants.as_deref(), json).await,
        Plugin::Test(test) => test::run(test, config, json).await,
        Plugin::Keygen { file } => author::keygen(&file, json),
        Plugin::Sign { file, key, grants } => author::sign(&file, &key, grants.as_deref(), json),
        Plugin::Dev(dev) => dev::run(dev, &config()?, json).await,
        Plugin::List => list::run(&config()?, json).await,
        Plugin::Swap(swap) => change::swap(swap, &config()?, json).await,
        Plugin::Rollback { stage, domain } => {
            let request = Request::Rollback { stage: parse_stage(&stage)?, domains: scope(domain)? };
            change::ask(&request, &config()?, json).await
        }
        Plugin::History { stage } => {
            let stage = stage.as_deref().map(parse_stage).transpose()?;
            history::run(stage, &config()?, json).await
        }
    }
}

/// The bytes of a component's file.
fn read_component(file: &Path) -> anyhow::Result<Vec<u8>> {
    use std::io::Read;
    let wrong = |why: &dyn std::fmt::Display| usage(format!("{} cannot be read: {why}", file.display()));
    if !std::fs::metadata(file).map_err(|error| wrong(&error))?.is_file() {
        return Err(wrong(&"it is not a file"));
    }
    let opened = std::fs::File::open(file).map_err(|error| wrong(&error))?;
    let mut bytes = Vec::new();
    opened.take(COMPONENT_LIMIT).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    Ok(bytes)
}

fn refuse(message: &str, json: bool) -> anyhow::Result<Exit> {
    if json {
        output::json(&json!({"ok": false, "error": message}))?;
    } else {
        output::line(format!("refused: {message}"))?;
    }
    Ok(Exit::No)
}

/// A stage by its name.
fn parse_stage(text: &str) -> anyhow::Result<airlock_runtime::Stage> {
    let all = airlock_runtime::Stage::ALL;
    all.iter().copied().find(|stage| stage.as_str() == text).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|stage| stage.as_str()).collect();
        usage(format!("`{text}` is no stage: {}", names.join(", ")))
    })
}

/// One domain, or all.
fn scope(domain: Option<String>) -> anyhow::Result<DomainScope> {
    let Some(name) = domain else { return Ok(DomainScope::Any) };
    Ok(DomainScope::Only(name.parse().map_err(|error| usage(format!("--domain: {error}")))?))
}
