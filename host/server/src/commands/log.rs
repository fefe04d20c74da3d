//! `airlock log`: an ask forgotten, what left for models after it, and what is too old let go.

use airlock_knowledge::store::SentRow;
use airlock_types::AskId;
use serde_json::{Map, json};

use super::curation::failure;
use crate::cli::Log;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::store::{self, Purpose};
use crate::{output, retention};

/// Reads or changes the log; the answer is no when another host is at it.
///
/// # Errors
/// When there is no store, it does not answer, or there is nothing of the ask.
pub async fn run(command: Log, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let open = store::open(config, Purpose::Command).await?;
    let done = match (open.store(), command) {
        (None, _) => {
            Err(usage("there is no knowledge store: configure [store], or start `airlock serve` once"))
        }
        (Some(store), Log::Forget { ask }) => match store.janitor().forget_ask(ask).await {
            Ok(rows) => forgotten(ask, rows, json),
            Err(error) => Err(failure(error)),
        },
        (Some(store), Log::Sent { ask }) => match store.report().sent(ask).await {
            Ok(rows) => sent(&rows, json),
            Err(error) => Err(failure(error)),
        },
        (Some(store), Log::Retain) => match retention::sweep(&store.janitor(), &config.log).await {
            Ok(gone) => retained(config, gone, json),
            Err(error) => Err(failure(error)),
        },
    };
    open.close().await?;
    done
}

fn forgotten(ask: AskId, rows: i64, json: bool) -> anyhow::Result<Exit> {
    if rows == 0 {
        return Err(usage(format!(
            "there is nothing of the ask `{ask}` here: it was never logged, or is too old"
        )));
    }
    if json {
        output::json(&json!({"ok": true, "ask": ask, "rows": rows}))?;
    } else {
        output::line(format!(
            "Forgotten: {rows} rows. What was proposed from it names it as `ask {ask}`; `airlock examples list` shows that."
        ))?;
    }
    Ok(Exit::Done)
}

fn sent(rows: &[SentRow], json: bool) -> anyhow::Result<Exit> {
    if json {
        rows.iter().try_for_each(output::json)?;
    } else if rows.is_empty() {
        output::line("Nothing left for a model after this ask, or beside it.")?;
    } else {
        rows.iter().try_for_each(|row| {
            let SentRow { at, purpose, role, model, hash, characters, .. } = row;
            output::line(format!("{at}  {purpose}, {role} ({model}): {characters} characters, {hash}"))
        })?;
    }
    Ok(Exit::Done)
}

fn retained(
    config: &Config,
    gone: Option<Vec<(airlock_knowledge::store::Aged, i64)>>,
    json: bool,
) -> anyhow::Result<Exit> {
    let Some(gone) = gone else {
        if json {
            output::json(&json!({"ok": false, "why": "another host is at it"}))?;
        } else {
            output::line("Another host is at it.")?;
        }
        return Ok(Exit::No);
    };
    if json {
        let rows: Map<_, _> =
            gone.into_iter().map(|(what, rows)| (what.as_str().to_owned(), rows.into())).collect();
        output::json(&json!({"ok": true, "retention_days": config.log.retention_days(), "gone": rows}))?;
        return Ok(Exit::Done);
    }
    output::line(format!("Kept for {} days. Gone:", config.log.retention_days()))?;
    for (what, rows) in gone {
        output::line(format!("  {:<14} {rows}", what.as_str()))?;
    }
    Ok(Exit::Done)
}
