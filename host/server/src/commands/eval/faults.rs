//! `airlock eval faults`: right queries broken on purpose, and what repair makes of them without a model.

use airlock_evaluation::{Wanted, break_and_mend, prepare};
use airlock_knowledge::pack::PackReport;
use airlock_types::DomainName;

use super::failure;
use super::progress::Bar;
use super::run::{of_pack, readable};
use crate::cli::Faults;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Breaks, mends and counts.
///
/// # Errors
/// When a question cannot be used, or a database does not answer.
pub async fn run(options: Faults, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let domain: Option<DomainName> = options
        .domain
        .as_deref()
        .map(|name| name.parse().map_err(|error| usage(format!("--domain: {error}"))))
        .transpose()?;
    let given = options.questions.as_deref().map(readable).transpose()?;
    let host = boot::host(config).await?;
    let (cases, unread) = match given {
        Some(given) => given,
        None => (of_pack(&host, domain.as_ref())?.1, PackReport::default()),
    };
    // A right query that does not run here cannot be broken.
    let wanted = Wanted { domain, limit: options.limit, skip_bad: true, unread, ..Wanted::default() };
    let mut bar = Bar::new(cases.len(), "trying the right queries");
    let prepared = prepare(&host, cases, &wanted, |tried| bar.tried(tried)).await.map_err(failure)?;
    bar.done();
    bar = Bar::new(prepared.questions.len(), "breaking and mending");
    let report =
        break_and_mend(&host, &prepared.questions, options.seed, &options.out, |tried| bar.tried(tried));
    let report = report.await.map_err(failure)?;
    bar.done();
    if json {
        output::json(&report)?;
    } else {
        output::line(report.shown())?;
        output::line(format!("Every fault and what became of it: {}", report.folder.display()))?;
    }
    Ok(if report.fails() { Exit::No } else { Exit::Done })
}
