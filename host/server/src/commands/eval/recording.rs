//! What a folder of recorded replies says beside them: the moment its questions were asked at, which is part of prompts.

use std::path::Path;

use airlock_types::Object;
use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::exit::usage;

const FILE: &str = "recording.json";

#[derive(Debug, Serialize, Deserialize)]
struct Recording {
    format: u32,
    now: String,
}

/// The moment a recording was made for; none where nothing was recorded yet.
///
/// # Errors
/// When the file says something else.
pub(super) fn now(folder: &Path) -> anyhow::Result<Option<String>> {
    let file = folder.join(FILE);
    if !file.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    let Object(recording): Object<Recording> =
        serde_json::from_slice(&bytes).map_err(|error| usage(format!("{}: {error}", file.display())))?;
    Ok(Some(recording.now))
}

/// Keeps the moment, unless there is one.
///
/// # Errors
/// When the folder cannot be written.
pub(super) fn keep(folder: &Path, moment: &str) -> anyhow::Result<()> {
    let file = folder.join(FILE);
    if file.is_file() {
        return Ok(());
    }
    let recording = Recording { format: 1, now: moment.to_owned() };
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, serde_json::to_vec_pretty(&recording).unwrap_or_default()))
        .with_context(|| format!("{} cannot be written", file.display()))
}
