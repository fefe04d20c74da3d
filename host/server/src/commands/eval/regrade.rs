//! `airlock eval regrade`: a finished run graded by today's rules.

use std::path::Path;

use airlock_evaluation::{Folder, regrade};

use super::progress::Bar;
use super::{failure, show};
use crate::boot;
use crate::cli::Regrade;
use crate::commands::serve::signal;
use crate::config::Config;
use crate::exit::Exit;

/// Grades a run again in a folder of its own.
///
/// # Errors
/// When the folder is not that of a run, or a database does not answer.
pub async fn run(options: Regrade, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let before = Folder::open(&options.run).map_err(failure)?;
    let host = boot::host(config).await?;
    let beside = options.run.parent().unwrap_or(Path::new(".")).to_owned();
    let out = options.out.unwrap_or(beside);
    let mut bar = Bar::new(before.manifest().questions.count, "grading");
    let folder = tokio::select! {
        graded = regrade(&host, &before, &out, |step| bar.step(&step)) => graded.map_err(failure)?,
        () = signal() => anyhow::bail!("stopped by a signal: the new folder has a part of the run, grade it again"),
    };
    bar.done();
    show(&folder, json)
}
