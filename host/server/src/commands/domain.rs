//! `airlock domain`: packs drafted, checked, loaded, listed and compared.

mod diff;
mod init;
mod keep;
mod list;
mod load;
pub(super) mod patch;

use std::collections::BTreeMap;
use std::path::Path;

use airlock_knowledge::{Pack, PackReport};
use airlock_pipeline::DomainDrift;
use anyhow::Context;
use serde_json::json;

use super::present;
use crate::cli::Domain;
use crate::config::Config;
use crate::exit::Exit;
use crate::{boot, drift, output};

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
    present(dir)?;
    // What is wrong with the files keeps nobody from hearing what the catalogue says of the rest.
    let (read, wrong) = Pack::read_what_holds(dir);
    let Some((pack, _)) = read else { return refuse(&wrong, json) };
    if !wrong.is_empty() {
        return refuse(&wrong.clone().and(against_catalogue(&pack, config).await.unwrap_or_default()), json);
    }
    let config = config()?;
    if !config.sources.contains_key(&pack.settings.source) {
        return right(
            &pack,
            "its files (its source is not configured, so not against a catalogue)",
            None,
            json,
        );
    }
    let opened = boot::open_whole(&config, &mut BTreeMap::new(), &pack)
        .await
        .context("the pack's files are right; its data source could not be looked at")?;
    let drift = drift::of_pack(&config, &pack).await;
    match opened {
        Ok(_) => right(&pack, "its files and the live catalogue", drift.as_ref(), json),
        Err(report) => {
            let exit = refuse(&report, json)?;
            tell_drift(drift.as_ref(), json)?;
            Ok(exit)
        }
    }
}

/// What the catalogue says of a pack whose files are wrong, where it can be asked.
async fn against_catalogue(
    pack: &Pack,
    config: impl Fn() -> anyhow::Result<Config>,
) -> anyhow::Result<PackReport> {
    let config = config()?;
    if !config.sources.contains_key(&pack.settings.source) {
        return Ok(PackReport::default());
    }
    let opened = boot::open_whole(&config, &mut BTreeMap::new(), pack).await?;
    Ok(opened.err().unwrap_or_default())
}

fn right(pack: &Pack, against: &str, drift: Option<&DomainDrift>, json: bool) -> anyhow::Result<Exit> {
    if json {
        output::json(
            &json!({"ok": true, "domain": pack.name, "hash": pack.hash, "against": against, "drift": drift}),
        )?;
    } else {
        output::line(format!("{} is right: {against}.", pack.name))?;
        tell_drift(drift, json)?;
    }
    Ok(Exit::Done)
}

/// What became of the schema since people wrote about it: a pack may be right and its documents and lessons of yesterday.
fn tell_drift(drift: Option<&DomainDrift>, json: bool) -> anyhow::Result<()> {
    match drift.filter(|drift| !drift.changes.is_empty()) {
        Some(drift) if json => output::json(&json!({"drift": drift})),
        Some(drift) => output::line(drift::in_words(drift)),
        None => Ok(()),
    }
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
