//! `airlock eval`: one file a command.

mod compare;
mod conditions;
mod faults;
mod link;
mod progress;
mod recording;
mod regrade;
mod run;

use airlock_evaluation::{EvaluationError, Folder, Summary, report};

use crate::cli::Eval;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::output;

/// Runs the command.
///
/// # Errors
/// Whatever kept it from numbers.
pub async fn run(
    eval: Eval,
    config: impl Fn() -> anyhow::Result<Config>,
    json: bool,
) -> anyhow::Result<Exit> {
    match eval {
        Eval::Run(options) => run::run(options, config()?, json).await,
        Eval::Regrade(options) => regrade::run(options, &config()?, json).await,
        Eval::Link(options) => link::run(options, &config()?, json).await,
        Eval::Faults(options) => faults::run(options, &config()?, json).await,
        Eval::Compare(options) => compare::run(&options, json),
    }
}

fn failure(error: EvaluationError) -> anyhow::Error {
    if error.is_usage() { usage(error) } else { anyhow::Error::new(error) }
}

/// Writes the pages of a run and shows its numbers.
fn show(folder: &Folder, json: bool) -> anyhow::Result<Exit> {
    let page = report::write(folder).map_err(failure)?;
    let summary = Summary::of(folder).map_err(failure)?;
    if json {
        output::json(&summary)?;
    } else {
        output::line(report::summary(&summary))?;
        output::line(format!("Every question with its attempts: {}", page.display()))?;
    }
    // What was down says nothing about the answers; asked again, it may.
    Ok(if summary.has_gaps() { Exit::Infrastructure } else { Exit::Done })
}
