//! `airlock domain`: packs drafted, checked, loaded, listed and compared.

mod diff;
mod init;
mod list;
mod load;
pub(super) mod patch;

use std::collections::BTreeMap;
use std::path::Path;

use airlock_knowledge::{Pack, PackReport};
use airlock_pipeline::DomainError;
use anyhow::Context;
use serde_json::json;

use crate::cli::Domain;
use crate::config::Config;
use crate::exit::Exit;
use crate::{boot, output};

/// Drafts, checks, loads, lists or compares packs.
///
/// # Errors
/// When a data source does not answer.
pub async fn run(
    domain: Domain,
    config: impl Fn() -> anyhow::Result<Config>,
    json: bool,
) -> anyhow::Result<Exit> {
    match domain {
        Domain::Init(options) => init::run(&options, json).await,
        Domain::Check { dir } => check(&dir, config, json).await,
        Domain::Load { dirs } => load::run(&dirs, &config()?, json).await,
        Domain::List => list::run(&config()?, json).await,
        Domain::Diff { name } => diff::run(&name, &config()?, json).await,
    }
}

async fn check(dir: &Path, config: impl Fn() -> anyhow::Result<Config>, json: bool) -> anyhow::Result<Exit> {
    let pack = match Pack::read(dir) {
        Ok(pack) => pack,
        Err(report) => return refuse(&report, json),
    };
    let config = config()?;
    let against = if config.sources.contains_key(&pack.settings.source) {
        match boot::open(&config, &mut BTreeMap::new(), &pack).await {
            Ok(_) => "its files and the live catalogue",
            Err(error) => match error.chain().find_map(|cause| cause.downcast_ref::<DomainError>()) {
                Some(DomainError::Pack(report)) => return refuse(report, json),
                _ => {
                    return Err(error)
                        .context("the pack's files are right; its data source could not be looked at");
                }
            },
        }
    } else {
        "its files (its source is not configured, so not against a catalogue)"
    };
    if json {
        output::json(&json!({"ok": true, "domain": pack.name, "hash": pack.hash, "against": against}))?;
    } else {
        output::line(format!("{} is right: {against}.", pack.name))?;
    }
    Ok(Exit::Done)
}

fn refuse(report: &PackReport, json: bool) -> anyhow::Result<Exit> {
    if json {
        for problem in &report.problems {
            output::json(problem)?;
        }
    } else {
        output::line(report)?;
    }
    Ok(Exit::No)
}
