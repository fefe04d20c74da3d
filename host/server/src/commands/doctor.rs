//! `airlock doctor`: every claim of the installation, tried.

use serde_json::Value;

use crate::config::Config;
use crate::exit::Exit;
use crate::{boot, http, output};

/// Tries every claim; the answer is no when one does not hold.
///
/// # Errors
/// When the host cannot be put in service at all.
pub async fn run(config: &Config, json: bool) -> anyhow::Result<Exit> {
    // Also a host that would refuse to serve: telling why is what this command is for.
    let host = boot::host_with(config, boot::Credentials::Any).await?;
    let report = http::health_report(&host).await;
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
