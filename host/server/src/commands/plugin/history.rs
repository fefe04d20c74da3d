//! `airlock plugin history`: what served when, and how candidates compare.

use airlock_pipeline::quarantine::Consequence;
use airlock_pipeline::{Served, ShadowReport};
use airlock_runtime::Stage;
use serde_json::json;

use crate::config::Config;
use crate::exit::Exit;
use crate::operator::{self, Reply, Request};
use crate::output;
use crate::plugins::{Entry, Event, read};

/// Shows the history, oldest first, then the candidates that still run.
///
/// # Errors
/// When the history cannot be read.
pub async fn run(stage: Option<Stage>, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let wanted = |of: Stage| stage.is_none_or(|stage| stage == of);
    for entry in read(&config.data)?.iter().filter(|entry| wanted(entry.stage)) {
        if json {
            output::json(entry)?;
        } else {
            show(entry)?;
        }
    }
    // Without a host there is nothing that still runs.
    if let Some(Reply::Status(status)) = operator::ask(config, &Request::Status, |_| {}).await? {
        for report in status.shadows.iter().filter(|report| wanted(report.stage)) {
            if json {
                output::json(&json!({
                    "stage": report.stage, "domains": report.domains, "event": "shadowing", "report": report,
                }))?;
            } else {
                output::line(format!(
                    "now  {} of {}  shadowing  {}",
                    report.stage,
                    report.domains,
                    of(report)
                ))?;
                differences(report)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn name(served: &Served) -> String {
    format!("{} {}", served.component, served.digest.short())
}

fn maybe(served: Option<&Served>) -> String {
    served.map_or_else(|| "nothing".to_owned(), name)
}

fn of(report: &ShadowReport) -> String {
    format!(
        "{}: {} of {} runs, {} same, {} different, {} failed",
        name(&report.component),
        report.ran,
        report.wanted,
        report.same,
        report.different,
        report.failed
    )
}

fn differences(report: &ShadowReport) -> anyhow::Result<()> {
    for difference in &report.differences {
        output::line(format!("    serving:   {}", difference.served))?;
        output::line(format!("    candidate: {}", difference.candidate))?;
    }
    Ok(())
}

fn show(entry: &Entry) -> anyhow::Result<()> {
    let (word, what) = match &entry.event {
        Event::Swapped { from, to, grant, verified, forced } => {
            let mut what = format!("{} -> {}", maybe(from.as_ref()), name(to));
            if !grant.is_empty() {
                what.push_str(&format!("  grant: {}", grant.join(", ")));
            }
            if let Some(verified) = verified {
                what.push_str(&format!(
                    "  golden cases: {}, right {} -> {}",
                    verified.cases, verified.right_before, verified.right_after
                ));
            }
            if *forced {
                what.push_str("  BY FORCE");
            }
            ("swapped", what)
        }
        Event::Refused { from, to, verified } => (
            "refused",
            format!(
                "{} -> {}  golden cases: {}, right {} -> {}",
                maybe(from.as_ref()),
                name(to),
                verified.cases,
                verified.right_before,
                verified.right_after
            ),
        ),
        Event::RolledBack { from, to } => {
            ("rolled back", format!("{} -> {}", maybe(from.as_ref()), maybe(to.as_ref())))
        }
        Event::Quarantined { quarantined } => {
            let then = match &quarantined.consequence {
                Consequence::BroughtBack { serves } => name(serves),
                Consequence::StageFails => "nothing, by the policy".to_owned(),
                Consequence::NothingElse => "itself, for want of another".to_owned(),
            };
            let reason = quarantined.reason.lines().next().unwrap_or_default();
            ("QUARANTINED", format!("{} -> {then}  {reason}", name(&quarantined.component)))
        }
        Event::Shadowed { report } => ("shadowed", of(report)),
    };
    output::line(format!(
        "{:.0}  {} of {}  {word}  {what}  ({})",
        entry.at, entry.stage, entry.domains, entry.by
    ))?;
    if let Event::Shadowed { report } = &entry.event {
        differences(report)?;
    }
    Ok(())
}
