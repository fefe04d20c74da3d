//! `airlock plugin check`: what a host would find out about a component, before any host does.

use std::path::Path;

use airlock_conformance::{Library, Outcome, library, play, suite};
use airlock_kit::component::{interfaces, short_name};
use airlock_runtime::contract::{PACKAGE, VERSION};
use airlock_runtime::{Component, LoadErrorKind, Runtime};
use airlock_types::ContentHash;
use serde::Serialize;
use serde_json::json;

use super::granted::{self, Tried};
use super::read_component;
use crate::exit::Exit;
use crate::output;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Line {
    check: &'static str,
    ok: bool,
    what: String,
}

/// Checks one component.
///
/// # Errors
/// When a file cannot be read.
pub async fn run(file: &Path, grants: Option<&Path>, json: bool) -> anyhow::Result<Exit> {
    let bytes = read_component(file)?;
    let mut lines = Vec::new();
    let found = granted::find(file, &bytes, grants)?;
    look(&bytes, found, &mut lines).await?;
    let ok = lines.iter().all(|line| line.ok);
    if json {
        output::json(
            &json!({"ok": ok, "digest": ContentHash::of(&bytes), "bytes": bytes.len(), "checks": lines}),
        )?;
    } else {
        for Line { check, ok, what } in &lines {
            output::line(format!("{}  {check:<12} {what}", if *ok { "ok" } else { "NO" }))?;
        }
    }
    Ok(if ok { Exit::Done } else { Exit::No })
}

/// Looks at one thing after the other, and stops at the first that makes the rest pointless.
async fn look(bytes: &[u8], found: Result<Tried, String>, lines: &mut Vec<Line>) -> anyhow::Result<()> {
    let mut add = |check, ok, what: String| lines.push(Line { check, ok, what });
    let runtime = crate::boot::runtime_of_authors()?;
    let (tried, none) = match found {
        Ok(tried) => (tried, None),
        // The rest is looked at under no grant of anybody's.
        Err(why) => (Tried { grant: granted::asked_for_bytes(bytes), from: String::new() }, Some(why)),
    };
    let loaded = runtime.load(bytes, &tried.grant);
    let problem = loaded.as_ref().err().map(|error| (place(&error.kind), error.kind.to_string()));
    let at = |check: &str| problem.as_ref().filter(|(place, _)| *place == check).map(|(_, why)| why.clone());
    if let Some(why) = at("file") {
        add("file", false, why);
        return Ok(());
    }
    add(
        "file",
        true,
        format!(
            "a component of {} bytes, at most {} are accepted",
            bytes.len(),
            runtime.config().max_component_bytes
        ),
    );
    let (imports, exports) = interfaces(bytes).unwrap_or_default();
    let short = |names: &[String]| match names {
        [] => "nothing".to_owned(),
        names => names.iter().map(|name| short_name(name)).collect::<Vec<_>>().join(", "),
    };
    for (check, good) in [
        ("contract", format!("built for {PACKAGE}@{VERSION}")),
        ("imports", short(&imports)),
        ("exports", short(&exports)),
    ] {
        match at(check) {
            Some(why) => add(check, false, why),
            None => add(check, true, good),
        }
    }
    match (none, at("grant")) {
        (Some(why), _) | (None, Some(why)) => add("grant", false, why),
        (None, None) => add("grant", true, tried.from.clone()),
    }
    if let Some(why) = at("start") {
        add("start", false, why);
    }
    let Ok(component) = loaded else { return Ok(()) };
    add("start", true, format!("an instance starts, compiled in {} ms", component.load_time().as_millis()));
    let outcomes = tried_out(&runtime, &component).await;
    for (check, ok, what) in [limits(&component, &outcomes), determinism(&outcomes)] {
        add(check, ok, what);
    }
    Ok(())
}

/// Which check a reason for not loading belongs to.
fn place(kind: &LoadErrorKind) -> &'static str {
    match kind {
        LoadErrorKind::NotAComponent { .. }
        | LoadErrorKind::Precompiled
        | LoadErrorKind::TooLarge { .. }
        | LoadErrorKind::Compile(_) => "file",
        LoadErrorKind::ContractVersion { .. } | LoadErrorKind::Shape(_) => "contract",
        LoadErrorKind::NotGranted { .. } | LoadErrorKind::Digest { .. } => "grant",
        LoadErrorKind::MissingStage { .. } | LoadErrorKind::Program { .. } => "exports",
        LoadErrorKind::DoesNotFit { .. } | LoadErrorKind::DoesNotStart(_) => "start",
        // What it wants of the host, and whatever a later host refuses.
        _ => "imports",
    }
}

async fn tried_out(runtime: &Runtime, component: &Component) -> Vec<Outcome> {
    let services = Library::of(library());
    let mut outcomes = Vec::new();
    for stage in component.stages() {
        for case in suite(*stage, &[]) {
            outcomes.push(play(runtime, component, *stage, &services, &case).await);
        }
    }
    outcomes
}

fn limits(component: &Component, outcomes: &[Outcome]) -> (&'static str, bool, String) {
    let limits = component.limits();
    let over = outcomes.iter().find(|outcome| !outcome.passed && outcome.what.starts_with("limit `"));
    if let Some(outcome) = over {
        return ("limits", false, format!("case `{}`: {}", outcome.case, outcome.what));
    }
    let compute = outcomes.iter().map(|outcome| outcome.compute_ms).fold(0.0, f64::max);
    let memory = outcomes.iter().map(|outcome| outcome.memory).max().unwrap_or_default();
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let what = format!(
        "the dearest call took {compute:.2} ms of {} and {:.1} MiB of {:.0}",
        limits.compute.as_millis(),
        mib(memory),
        mib(limits.memory)
    );
    ("limits", true, what)
}

fn determinism(outcomes: &[Outcome]) -> (&'static str, bool, String) {
    match outcomes.iter().find(|outcome| !outcome.same) {
        Some(outcome) => ("determinism", false, format!("case `{}`: {}", outcome.case, outcome.what)),
        None => {
            let calls: u32 = outcomes.iter().map(|outcome| outcome.calls / 2).sum();
            ("determinism", true, format!("{calls} inputs, each twice in fresh instances, the same results"))
        }
    }
}
