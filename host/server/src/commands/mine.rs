//! `airlock knowledge mine` and `audit`: patterns in how a domain is used, and how much there is of what from where.

use airlock_pipeline::learning::{MineReport, mine as patterns};
use serde_json::json;

use super::curation::{Curator, failure};
use crate::cli::Of;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Mines a domain.
///
/// # Errors
/// When the store or the source does not answer.
pub async fn mine(of: &Of, dry_run: bool, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let curator = Curator::open(config, of, json).await?;
    let done = async {
        let host = boot::host(config).await?.with_store(curator.store().recall());
        let domain = host.caught_up(Some(&curator.domain)).await.map_err(usage)?;
        let store = curator.store();
        let report = patterns(&domain, &store.report(), &store.distill(), dry_run).await.map_err(failure)?;
        if json {
            output::json(&json!(report))?;
        } else {
            output::line(told(&report))?;
        }
        Ok(Exit::Done)
    };
    let done = done.await;
    curator.close(done).await
}

fn told(report: &MineReport) -> String {
    let mut text = format!(
        "{} asks and queries and {} verdicts on {}: {} patterns, {}.",
        report.signals,
        report.verdicts,
        report.domain,
        report.patterns.len(),
        if report.dry_run {
            "nothing was handed in".to_owned()
        } else {
            format!("{} new candidates", report.stored)
        }
    );
    for pattern in &report.patterns {
        let kind = serde_json::to_value(pattern.kind).unwrap_or_default();
        let kind = kind.as_str().unwrap_or_default();
        text.push_str(&format!("\n{kind} ({} times): {}", pattern.seen, pattern.says));
    }
    text
}

/// Counts what there is, by kind, state and source.
///
/// # Errors
/// When the store does not answer.
pub async fn audit(of: &Of, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let curator = Curator::open(config, of, json).await?;
    let done = async {
        let counts = curator.promote().counts(Some(&curator.domain)).await.map_err(failure)?;
        if json {
            output::json(&json!({"domain": curator.domain, "counts": counts}))?;
            return Ok(Exit::Done);
        }
        if counts.is_empty() {
            output::line("There is nothing in the store of this domain.")?;
        }
        for one in &counts {
            let line = format!(
                "{:>7}  {:<8} {:<15} from {:<10} ({})",
                one.count,
                one.kind.as_str(),
                one.state,
                one.origin.as_str(),
                one.shelf
            );
            output::line(line)?;
        }
        Ok(Exit::Done)
    };
    let done = done.await;
    curator.close(done).await
}
