//! `airlock knowledge decay`, `snapshot` and `restore`: what leaves service, and what is curated as a file and back.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use airlock_pipeline::learning::{DecayOptions, DecayReport, decay as look};
use airlock_types::{Object, Strict};
use anyhow::Context;
use serde_json::json;

use crate::commands::curation::{Curator, by_person, failure, person};
use crate::curation::{Kept, NotDecided, PutBack, put_back, write_down};
use crate::exit::{Exit, usage};
use crate::output;

/// Bytes of a line of a snapshot.
const LINE: u64 = 1 << 20;

/// Takes out of service what does not help any more.
///
/// # Errors
/// When the source or the store does not answer.
pub async fn decay(curator: &Curator<'_>, dry_run: bool, json: bool) -> anyhow::Result<Exit> {
    let domain = curator.live().await?;
    let options = DecayOptions { dry_run, ..DecayOptions::new(&person()) };
    let report = look(&domain, &curator.promote(), &options).await.map_err(failure)?;
    if json {
        output::json(&report)?;
        return Ok(Exit::Done);
    }
    let DecayReport { looked_at, outdated, overtaken, .. } = &report;
    for item in outdated {
        output::line(format!("{} {} becomes {}: {}", item.kind, item.id, item.state, item.why))?;
    }
    output::line(format!(
        "{}{looked_at} in service looked at, {} leave it, {overtaken} overtaken.",
        if dry_run { "Dry run, nothing was written. " } else { "" },
        outdated.len()
    ))?;
    Ok(Exit::Done)
}

/// Writes what is curated of a domain, in whatever state.
///
/// # Errors
/// When the store does not answer, or the file cannot be written or is there already.
pub async fn snapshot(curator: &Curator<'_>, file: &Path, json: bool) -> anyhow::Result<Exit> {
    let to_stdout = file == Path::new("-");
    let mut out: Box<dyn Write> = if to_stdout {
        Box::new(output::stdout())
    } else {
        let opened = File::options().write(true).create_new(true).open(file);
        Box::new(opened.map_err(|error| usage(format!("{} cannot be made: {error}", file.display())))?)
    };
    let count = write_down(&curator.promote(), &curator.domain, &mut out)
        .await
        .with_context(|| format!("{} cannot be written", file.display()))?;
    match (to_stdout, json) {
        (true, _) => {}
        (false, true) => output::json(&json!({"ok": true, "items": count, "file": file}))?,
        (false, false) => output::line(format!("{count} items written to {}", file.display()))?,
    }
    Ok(Exit::Done)
}

/// Brings what is curated back to a snapshot. Every line is read before the first is carried out.
///
/// # Errors
/// When a line is none, or the source or the store does not answer.
pub async fn restore(curator: &Curator<'_>, file: &Path, why: &str, json: bool) -> anyhow::Result<Exit> {
    let lines = read(file)?;
    let domain = curator.live().await?;
    let (promote, by) = (curator.promote(), by_person(why));
    let (mut same, mut done, mut refused) = (0_usize, 0_usize, 0_usize);
    for (kept, content) in lines {
        match put_back(&promote, &domain, &kept, content, &by).await {
            Ok(PutBack::Same) => same += 1,
            Ok(PutBack::Done) => done += 1,
            Err(NotDecided::Store(error)) if !error.is_conflict() => return Err(failure(error)),
            Err(error) => {
                refused += 1;
                if json {
                    let message = error.to_string();
                    output::json(&json!({"ok": false, "id": kept.id, "message": message}))?;
                } else {
                    output::remark("refused", format_args!("{} stays as it is: {error}", kept.id));
                }
            }
        }
    }
    if json {
        let summary = json!({"restored": done, "same": same, "refused": refused});
        output::json(&json!({"summary": summary}))?;
    } else {
        output::line(format!(
            "{done} restored, {same} were as they are in the snapshot, {refused} refused."
        ))?;
    }
    Ok(if refused == 0 { Exit::Done } else { Exit::No })
}

fn read(file: &Path) -> anyhow::Result<Vec<(Kept, airlock_knowledge::store::Content)>> {
    let shown = file.display();
    let opened = File::open(file).map_err(|error| usage(format!("{shown} cannot be read: {error}")))?;
    let mut from = BufReader::new(opened);
    let mut lines = Vec::new();
    for number in 1_usize.. {
        let wrong = |why: &dyn std::fmt::Display| usage(format!("{shown}:{number}: {why}"));
        let mut line = Vec::new();
        let mut bounded = std::io::Read::take(&mut from, LINE);
        bounded.read_until(b'\n', &mut line).map_err(|error| wrong(&error))?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 == LINE {
            return Err(wrong(&format!("a line has at most {LINE} bytes")));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Strict(value) = serde_json::from_slice(&line).map_err(|error| wrong(&error))?;
        let Object(kept): Object<Kept> = serde_json::from_value(value).map_err(|error| wrong(&error))?;
        let content = kept.content().map_err(|why| wrong(&why))?;
        lines.push((kept, content));
    }
    Ok(lines)
}
