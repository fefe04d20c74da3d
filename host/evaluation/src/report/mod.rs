//! The pages of a run: a table for a terminal or a pull request, and every question with its attempts for a browser.

mod html;
mod markdown;

use std::path::PathBuf;

use crate::compare::Comparison;
use crate::error::EvaluationError;
use crate::folder::Folder;
use crate::statistics::Share;
use crate::summary::Summary;

/// Writes `report.md`, `report.html` and `summary.json` of a run; gives the page for a browser.
///
/// # Errors
/// When the folder cannot be read or written.
pub fn write(folder: &Folder) -> Result<PathBuf, EvaluationError> {
    let (questions, records) = (folder.questions()?, folder.records()?);
    let summary =
        Summary::count(folder.manifest(), &folder.path().display().to_string(), &questions, &records);
    folder.page("report.md", &markdown::summary(&summary))?;
    let json = serde_json::to_string_pretty(&summary).unwrap_or_default();
    folder.page("summary.json", &format!("{json}\n"))?;
    folder.page("report.html", &html::page(folder.manifest(), &summary, &questions, &records))
}

/// A run in tables.
#[must_use]
pub fn summary(summary: &Summary) -> String {
    markdown::summary(summary)
}

/// Two runs in tables.
#[must_use]
pub fn comparison(comparison: &Comparison) -> String {
    markdown::comparison(comparison)
}

/// `23 of 30 (76.7 %, 59.1 to 88.2)`
fn share(share: &Share) -> String {
    let percent = |value: f64| format!("{:.1}", value * 100.0);
    match (share.rate, share.low, share.high) {
        (Some(rate), Some(low), Some(high)) => format!(
            "{} of {} ({} %, {} to {})",
            share.right,
            share.of,
            percent(rate),
            percent(low),
            percent(high)
        ),
        _ => "none".to_owned(),
    }
}

fn milliseconds(time: Option<u64>) -> String {
    time.map_or_else(|| "none".to_owned(), |time| format!("{time} ms"))
}

fn dollars(cost: Option<f64>) -> String {
    cost.map_or_else(|| "unknown".to_owned(), |cost| format!("{cost:.4} USD"))
}
