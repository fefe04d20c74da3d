//! `airlock plugin`: components listed, and checked against their grants.

use airlock_runtime::{Component, Grants};
use airlock_types::ContentHash;
use anyhow::Context;
use serde_json::{Value, json};

use crate::cli::Plugin;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Lists or checks components.
///
/// # Errors
/// When there are no grants, or the file cannot be read.
pub fn run(plugin: Plugin, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let runtime = boot::runtime()?;
    match plugin {
        Plugin::List => {
            for component in boot::load_all(&runtime, &config.components)? {
                show(&component, json)?;
            }
            Ok(Exit::Done)
        }
        Plugin::Check { file } => {
            let bytes = std::fs::read(&file)
                .with_context(|| format!("{} cannot be read", file.display()))
                .map_err(|error| usage(format!("{error:#}")))?;
            let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let grants = Grants::read(&config.components.join("grants.toml")).map_err(usage)?;
            let digest = ContentHash::of(&bytes);
            let Some(grant) = grants.find(&name, digest) else {
                let message = format!(
                    "no grant names `{name}` with the digest {digest}: add one to grants.toml after reading it"
                );
                return refuse(&message, json);
            };
            match runtime.load(&bytes, grant) {
                Ok(component) => {
                    show(&component, json)?;
                    Ok(Exit::Done)
                }
                Err(error) => refuse(&error.to_string(), json),
            }
        }
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

fn show(component: &Component, json: bool) -> anyhow::Result<()> {
    if json {
        return output::json(&describe(component));
    }
    let words = |items: Vec<String>| items.join(", ");
    output::line(format!(
        "{:<10} {}  {:>7} bytes  serves {}  imports {}",
        component.name(),
        component.digest().short(),
        component.size(),
        words(component.stages().iter().map(ToString::to_string).collect()),
        words(component.imports().iter().map(|import| import.as_str().to_owned()).collect()),
    ))?;
    Ok(())
}

fn describe(component: &Component) -> Value {
    json!({
        "ok": true,
        "component": component.name(),
        "digest": component.digest(),
        "bytes": component.size(),
        "stages": component.stages(),
        "imports": component.imports(),
        "model_roles": component.grant().model_roles,
    })
}
