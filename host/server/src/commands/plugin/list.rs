//! `airlock plugin list`: what serves in the running host, or else what the folder of components holds.

use airlock_pipeline::quarantine::Consequence;

use crate::config::Config;
use crate::exit::Exit;
use crate::operator::{self, Reply, Request, Status};
use crate::plugins::Listed;
use crate::{boot, output};

/// Lists components.
///
/// # Errors
/// When the host does not answer, or there are no components.
pub async fn run(config: &Config, json: bool) -> anyhow::Result<Exit> {
    if let Some(reply) = operator::ask(config, &Request::Status, |_| {}).await? {
        let Reply::Status(status) = reply else { anyhow::bail!("the host is of another version") };
        return running(&status, json);
    }
    let runtime = boot::runtime(config.signatures.clone())?;
    for component in boot::load_all(&runtime, &config.components)? {
        show(&Listed::from(&component), json)?;
    }
    Ok(Exit::Done)
}

fn running(status: &Status, json: bool) -> anyhow::Result<Exit> {
    for listed in &status.components {
        show(listed, json)?;
    }
    for quarantined in &status.quarantined {
        if json {
            output::json(&serde_json::json!({"ok": false, "quarantined": quarantined}))?;
            continue;
        }
        let then = match &quarantined.consequence {
            Consequence::BroughtBack { serves } => {
                format!("`{}` {} serves again", serves.component, serves.digest.short())
            }
            Consequence::StageFails => "asks that need this stage fail".to_owned(),
            Consequence::NothingElse => "it goes on serving, for want of another".to_owned(),
        };
        output::line(format!(
            "QUARANTINED: {} {}, for {} of {}, after {} asks: {}; {then}",
            quarantined.component.component,
            quarantined.component.digest.short(),
            quarantined.stage,
            quarantined.domains,
            quarantined.asks,
            quarantined.reason.lines().next().unwrap_or_default(),
        ))?;
    }
    for report in status.shadows.iter().filter(|_| !json) {
        output::line(format!(
            "shadow: {} {}, for {} of {}: {} of {} runs, {} same, {} different, {} failed",
            report.component.component,
            report.component.digest.short(),
            report.stage,
            report.domains,
            report.ran,
            report.wanted,
            report.same,
            report.different,
            report.failed,
        ))?;
    }
    Ok(Exit::Done)
}

/// One component, on a line.
///
/// # Errors
/// When stdout is gone.
pub fn show(listed: &Listed, json: bool) -> anyhow::Result<()> {
    if json {
        return output::json(listed);
    }
    let words = |items: Vec<String>| items.join(", ");
    let serves = if listed.serves.is_empty() {
        words(listed.stages.iter().map(ToString::to_string).collect())
    } else {
        words(listed.serves.iter().map(|at| format!("{} of {}", at.stage, at.domains)).collect())
    };
    output::line(format!(
        "{:<15} {}  {:>7} bytes  serves {serves}  imports {}",
        listed.component,
        listed.digest.short(),
        listed.bytes,
        words(listed.imports.iter().map(|import| import.as_str().to_owned()).collect()),
    ))
}
