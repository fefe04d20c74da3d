//! `airlock eval compare`: two runs beside each other.

use airlock_evaluation::{Comparison, Folder, report};

use super::failure;
use crate::cli::Compare;
use crate::exit::Exit;
use crate::output;

/// Compares two runs. A second run that is worse, and not by chance, is a no.
///
/// # Errors
/// When a folder is not that of a run.
pub fn run(options: &Compare, json: bool) -> anyhow::Result<Exit> {
    let first = Folder::open(&options.first).map_err(failure)?;
    let second = Folder::open(&options.second).map_err(failure)?;
    let comparison = Comparison::of(&first, &second).map_err(failure)?;
    if json {
        output::json(&comparison)?;
    } else {
        output::line(report::comparison(&comparison))?;
    }
    Ok(if comparison.is_worse() { Exit::No } else { Exit::Done })
}
