//! `airlock replay`: a finished ask again, from its record.

use airlock_pipeline::account::Account;
use airlock_pipeline::{Host, Rerun, RerunError};
use airlock_runtime::{Component, Stage};
use airlock_types::{AskId, ContentHash, DomainName};
use serde_json::{Value, json};

use super::curation::failure;
use crate::cli::Replay;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::store::{OpenStore, Purpose};
use crate::{boot, output, plugins};

/// Runs an ask again; the answer is no at the first difference.
///
/// # Errors
/// When the ask was not recorded, or no host can be put in service.
pub async fn run(replay: Replay, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let (host, open) = boot::host_with_store(config, Purpose::Command).await?;
    host.embed_domains().await;
    let done = rerun(replay.ask, config, &host, &open).await;
    host.learning_settled().await;
    open.close().await?;
    let rerun = done?;
    if json {
        output::json(&json!({"ask": replay.ask, "rerun": rerun}))?;
    } else {
        say(&rerun)?;
    }
    Ok(if rerun.same { Exit::Done } else { Exit::No })
}

async fn rerun(ask: AskId, config: &Config, host: &Host, open: &OpenStore) -> anyhow::Result<Rerun> {
    let Some(store) = open.store() else {
        return Err(usage("there is no knowledge store, so no ask was recorded: configure [store]"));
    };
    let account = match store.report().record(ask).await.map_err(failure)? {
        None => {
            return Err(usage(format!(
                "there is no ask `{ask}` in the log: it was never finished, was not logged, or is too old"
            )));
        }
        Some(Value::Null) => {
            return Err(usage(format!(
                "the ask `{ask}` was logged without what a replay needs: `[log] record` was off, or it was asked with an \
                 identity"
            )));
        }
        Some(record) => Account::read(record)
            .ok_or_else(|| usage(format!("the record of `{ask}` is of another version of airlock")))?,
    };
    let domain = account.domain().ok_or_else(|| usage("the record names no domain"))?;
    let (stages, notes) =
        host.stages_at(&account, &domain, |stage, digest| kept(host, config, stage, digest, &domain));
    let mut rerun = host.rerun(ask, &account, stages).await.map_err(|error| match error {
        RerunError::Ask(_) | RerunError::NotWhole(_) | RerunError::Request(_) => usage(error),
        other => other.into(),
    })?;
    rerun.notes.splice(0..0, notes);
    Ok(rerun)
}

/// A component that served once: of the folder of components, or of the copies in the operators' history.
fn kept(
    host: &Host,
    config: &Config,
    stage: Stage,
    digest: ContentHash,
    domain: &DomainName,
) -> Option<Component> {
    let folders = (config.components.as_path(), config.data.as_path());
    match plugins::kept(host.runtime(), &boot::reviewed(config), folders, digest, (stage, domain)) {
        Ok(component) => Some(component),
        Err(why) => {
            tracing::info!(%stage, %digest, why, "a component is not at hand");
            None
        }
    }
}

fn say(rerun: &Rerun) -> anyhow::Result<()> {
    for note in &rerun.notes {
        output::line(format!("note: {note}"))?;
    }
    let Some(difference) = &rerun.difference else {
        return output::line(format!("same: {} steps of {}", rerun.steps, rerun.of));
    };
    output::line(format!("different at step {} of {}: {}", difference.at, rerun.of, difference.what))?;
    output::line(format!("  was: {}", difference.was))?;
    output::line(format!("  is:  {}", difference.is))
}
