//! `airlock doctor`: every claim of the installation, tried.

use airlock_pipeline::Journal;
use serde_json::Value;

use crate::config::Config;
use crate::exit::Exit;
use crate::store::{self, Purpose};
use crate::{boot, http, output};

/// Tries every claim; the answer is no when one does not hold.
///
/// # Errors
/// When the host cannot be put in service at all.
pub async fn run(config: &Config, json: bool) -> anyhow::Result<Exit> {
    // Also a host that would refuse to serve: telling why is what this command is for.
    let host = boot::host_with(config, boot::Credentials::Any).await?;
    let store = store::open(config, Purpose::Command).await?;
    let host = match store.store() {
        Some(store) => {
            let journal = Journal::new(store.log(), config.log.journal());
            host.with_store(store.recall()).with_journal(journal)
        }
        None => host,
    };
    host.try_encoders().await;
    let mut report = serde_json::to_value(http::health_report(&host, store.store()).await)?;
    let claims = store.checks().await;
    store.close().await?;
    let store_ok = claims.iter().all(|check| check.get("outcome").and_then(Value::as_str) == Some("passed"));
    if let Some(checks) = report.get_mut("checks").and_then(Value::as_array_mut) {
        checks.extend(claims);
    }
    if let Some(ok) = report.get_mut("ok").filter(|_| !store_ok) {
        *ok = Value::Bool(false);
    }
    if json {
        output::json(&report)?;
    } else {
        for check in report.get("checks").and_then(Value::as_array).into_iter().flatten() {
            say(check)?;
        }
    }
    let ok = report.get("ok").and_then(Value::as_bool).unwrap_or(false);
    Ok(if ok { Exit::Done } else { Exit::No })
}

fn say(check: &Value) -> anyhow::Result<()> {
    let text = |key: &str| check.get(key).and_then(Value::as_str).unwrap_or_default();
    let domain = if text("domain").is_empty() { String::new() } else { format!("{}: ", text("domain")) };
    output::line(format!("{:<8} {domain}{}: {}", text("outcome"), text("name"), text("found")))?;
    if !text("remedy").is_empty() {
        output::line(format!("         {}", text("remedy")))?;
    }
    Ok(())
}
