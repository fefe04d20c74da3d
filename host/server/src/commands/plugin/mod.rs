//! `airlock plugin`: components listed, checked against their grants, swapped on a running host.

mod change;
mod history;
mod list;

use airlock_runtime::{DomainScope, Grants};
use airlock_types::ContentHash;
use anyhow::Context;
use serde_json::json;

use crate::cli::Plugin;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::operator::Request;
use crate::plugins::Listed;
use crate::{boot, output};

/// Carries out one of the commands.
///
/// # Errors
/// When there are no grants, a file cannot be read, or no host runs that could be asked.
pub async fn run(plugin: Plugin, config: &Config, json: bool) -> anyhow::Result<Exit> {
    match plugin {
        Plugin::List => list::run(config, json).await,
        Plugin::Check { file } => check(&file, config, json),
        Plugin::Swap(swap) => change::swap(swap, config, json).await,
        Plugin::Rollback { stage, domain } => {
            let request = Request::Rollback { stage: parse_stage(&stage)?, domains: scope(domain)? };
            change::ask(&request, config, json).await
        }
        Plugin::History { stage } => {
            let stage = stage.as_deref().map(parse_stage).transpose()?;
            history::run(stage, config, json).await
        }
    }
}

/// Holds one component against its grant.
fn check(file: &std::path::Path, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let runtime = boot::runtime()?;
    let bytes = std::fs::read(file)
        .with_context(|| format!("{} cannot be read", file.display()))
        .map_err(|error| usage(format!("{error:#}")))?;
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let digest = ContentHash::of(&bytes);
    let reviewed = boot::reviewed(config);
    let mut granted = None;
    for path in [&reviewed.built, &reviewed.own] {
        // The operators' own grants need not be there.
        if path == &reviewed.built || path.exists() {
            let grants = Grants::read(path).map_err(usage)?;
            granted = granted.or_else(|| grants.find(&name, digest).cloned());
        }
    }
    let Some(grant) = granted else {
        let message = format!(
            "no grant names `{name}` with the digest {digest}: add one to grants.toml after reading it"
        );
        return refuse(&message, json);
    };
    match runtime.load(&bytes, &grant) {
        Ok(component) => {
            list::show(&Listed::from(&component), json)?;
            Ok(Exit::Done)
        }
        Err(error) => refuse(&error.to_string(), json),
    }
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
