//! `GET /api/evals` and `GET /api/evals/{run}`: what `airlock eval run` measured, read from its folders.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path as FsPath, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use airlock_evaluation::{Folder, ModeSummary, Record, Summary};
use airlock_types::DomainName;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::problem::Problem;
use crate::access::{Caller, Scope};
use crate::service::Service;

/// Runs of a page when nothing is said.
const PAGE: usize = 20;
/// Runs or failures of a page at most.
const MOST: usize = 200;
/// Summaries that are kept in memory.
const KEPT: usize = 500;
/// Characters of a run's name.
const NAME: usize = 64;

/// What of a list is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Entries of the page, 1 to 200; 20 when left out.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page before ended: its `next_cursor`.
    cursor: Option<String>,
}

/// A page of runs, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunPage {
    /// Runs in numbers, each beside the count it is of.
    items: Vec<Value>,
    /// What goes on after this page; null at the end.
    next_cursor: Option<String>,
}

impl Wanted {
    fn limit(&self) -> Result<usize, Problem> {
        let limit = self.limit.unwrap_or(PAGE);
        if (1..=MOST).contains(&limit) {
            return Ok(limit);
        }
        Err(Problem::of_field("limit", format!("limit: it is from 1 to {MOST}.")))
    }
}

/// The name of a run, which is that of its folder. No path can be made of it but one beside the other runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RunName(String);

impl FromStr for RunName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let rest = text.strip_prefix("run-").ok_or(())?;
        let plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if plain && !rest.is_empty() && text.len() <= NAME { Ok(Self(text.to_owned())) } else { Err(()) }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Summaries that were made, so that a list does not read every run again. A run that goes on is counted again.
#[derive(Clone, Default)]
pub struct Summaries(Arc<Mutex<BTreeMap<RunName, (Stamp, Counted)>>>);

/// When and how large the results of a run were.
type Stamp = (SystemTime, u64);

/// A run, counted.
#[derive(Clone)]
struct Counted {
    domains: Vec<DomainName>,
    value: Arc<Value>,
}

fn stamp(folder: &FsPath) -> Option<Stamp> {
    let found = std::fs::metadata(folder.join("results.jsonl")).ok()?;
    Some((found.modified().ok()?, found.len()))
}

impl Summaries {
    /// A run in numbers; `None` for a folder that holds none that this version reads.
    fn of(&self, folder: &FsPath, name: &RunName) -> Option<Counted> {
        let path = folder.join(&name.0);
        let now = stamp(&path)?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some((_, counted)) = known.filter(|(then, _)| *then == now) {
            return Some(counted);
        }
        let counted = count(&path).inspect_err(|error| {
            tracing::info!(run = %name, error, "a folder of an evaluation cannot be read");
        });
        let counted = counted.ok()?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(name.clone(), (now, counted.clone()));
        while kept.len() > KEPT {
            kept.pop_first();
        }
        Some(counted)
    }
}

fn count(path: &FsPath) -> Result<Counted, String> {
    let folder = Folder::open(path).map_err(|error| error.to_string())?;
    let summary = Summary::of(&folder).map_err(|error| error.to_string())?;
    let manifest = folder.manifest();
    let mode = |mode: &ModeSummary| {
        json!({
            "answerable": mode.answerable, "refusals": mode.refusals, "clarifications": mode.clarifications,
            "false_refusals": mode.false_refusals, "undecided": mode.undecided, "infrastructure": mode.infrastructure, "healed": mode.healed,
            "broken": mode.broken, "attempts": mode.attempts, "cost": mode.cost, "latency_ms": mode.latency_ms,
        })
    };
    let value = json!({
        "run": manifest.run, "begun": manifest.begun, "airlock": manifest.airlock,
        "from": manifest.questions.from, "questions": summary.questions, "skipped": summary.skipped,
        "missing": summary.missing, "regrade_of": manifest.regrade_of,
        "domains": manifest.domains.iter().map(|domain| &domain.name).collect::<Vec<_>>(),
        "models": manifest.models, "components": manifest.components.len(),
        "agent": summary.agent.as_ref().map(mode), "baseline": summary.baseline.as_ref().map(mode),
        "paired": summary.paired, "says": summary.says,
    });
    let domains = manifest.domains.iter().map(|domain| domain.name.clone()).collect();
    Ok(Counted { domains, value: Arc::new(value) })
}

/// Whether a caller may see a run: all its domains are theirs.
fn sees(caller: &Caller, domains: &[DomainName]) -> bool {
    domains.iter().all(|domain| caller.sees(domain))
}

/// The names of the runs in a folder, the newest first. A folder that is not there holds none.
fn names(folder: &FsPath) -> std::io::Result<Vec<RunName>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<RunName> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names)
}

async fn reading<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Problem::internal())
}

/// Evaluation runs, the newest first, in numbers.
#[utoipa::path(get, path = "/api/evals", tag = "evaluations", params(Wanted),
    responses((status = 200, body = RunPage)))]
pub async fn list(
    State(service): State<Service>,
    State(summaries): State<Summaries>,
    caller: Caller,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<RunPage>, Problem> {
    caller.may(Scope::Read)?;
    let Query(wanted) = wanted?;
    let limit = wanted.limit()?;
    let after = match wanted.cursor.as_deref().map(str::parse::<RunName>).transpose() {
        Ok(after) => after,
        Err(()) => return Err(Problem::of_field("cursor", "cursor: it is no cursor of this list.")),
    };
    let folder = service.config.evaluations.clone();
    reading(move || {
        let all = names(&folder).map_err(|error| {
            tracing::warn!(%error, "the folder of evaluations cannot be read");
            Problem::internal()
        })?;
        let (mut items, mut last) = (Vec::new(), None);
        for name in all.into_iter().filter(|name| after.as_ref().is_none_or(|after| name < after)) {
            if items.len() == limit {
                return Ok(Json(RunPage { items, next_cursor: last }));
            }
            if let Some(counted) = summaries.of(&folder, &name)
                && sees(&caller, &counted.domains)
            {
                items.push(Value::clone(&counted.value));
                last = Some(name.to_string());
            }
        }
        Ok(Json(RunPage { items, next_cursor: None }))
    })
    .await?
}

fn nothing() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown-run", "There is no evaluation run of this name here.")
}

/// One run: everything that is counted, and its questions that did not come out right, a page at a time.
#[utoipa::path(get, path = "/api/evals/{run}", tag = "evaluations",
    params(("run" = String, Path, description = "The run's name, as the list has it."), Wanted),
    responses((status = 200, body = Value)))]
pub async fn run(
    State(service): State<Service>,
    caller: Caller,
    Path(name): Path<String>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Read)?;
    let Query(wanted) = wanted?;
    let limit = wanted.limit()?;
    let skip: usize = match wanted.cursor.as_deref().map(str::parse).transpose() {
        Ok(skip) => skip.unwrap_or(0),
        Err(_) => return Err(Problem::of_field("cursor", "cursor: it is no cursor of this list.")),
    };
    let Ok(name) = name.parse::<RunName>() else { return Err(nothing()) };
    let path: PathBuf = service.config.evaluations.join(&name.0);
    let found = reading(move || whole(&path, &caller, skip, limit)).await?;
    found.map(Json).ok_or_else(nothing)
}

fn whole(path: &FsPath, caller: &Caller, skip: usize, limit: usize) -> Option<Value> {
    let folder = Folder::open(path).ok()?;
    let manifest = folder.manifest();
    let domains: Vec<DomainName> = manifest.domains.iter().map(|domain| domain.name.clone()).collect();
    if !sees(caller, &domains) {
        return None;
    }
    let (questions, records) = (folder.questions().ok()?, folder.records().ok()?);
    let mut summary = serde_json::to_value(Summary::of(&folder).ok()?).ok()?;
    // Where it lies on the server's disk is nobody's business here.
    summary.as_object_mut()?.remove("folder");
    let asked: BTreeMap<&str, &airlock_evaluation::Asked> =
        questions.iter().map(|asked| (asked.case.case.id.value.as_str(), asked)).collect();
    let failed: Vec<&Record> = records.iter().filter(|record| !record.verdict.is_right()).collect();
    let failures: Vec<Value> = failed
        .iter()
        .skip(skip)
        .take(limit)
        .map(|record| {
            let case = asked.get(record.id.as_str()).map(|asked| &asked.case.case);
            json!({
                "id": record.id, "domain": record.domain, "mode": record.mode,
                "question": case.map(|case| case.question.as_str()),
                "kind": case.map(|case| record.kind(case.outcome)),
                "verdict": record.verdict, "presentation": record.presentation, "ended": record.ended,
                "wanted_sql": case.and_then(|case| case.sql.as_ref()).map(|sql| &sql.value),
                "history": record.history,
            })
        })
        .collect();
    let end = skip.saturating_add(limit);
    let next = (end < failed.len()).then(|| end.to_string());
    Some(json!({
        "manifest": manifest, "summary": summary,
        "failures": {"items": failures, "of": failed.len(), "next_cursor": next},
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_run_leads_nowhere_else() {
        for (text, good) in [
            ("run-20261130T030000Z-1a2b3c", true),
            ("run-", false),
            ("..", false),
            ("run-../x", false),
            ("run-a/b", false),
            ("run-a\\b", false),
            ("run-a.b", false),
            ("run-\u{0}", false),
            ("other", false),
            ("", false),
        ] {
            assert_eq!(text.parse::<RunName>().is_ok(), good, "{text}");
        }
        assert!(format!("run-{}", "a".repeat(80)).parse::<RunName>().is_err());
    }

    #[test]
    fn only_folders_named_like_runs_are_listed_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["run-20260101T000000Z-a", "run-20270101T000000Z-b", "notes", ".run-x"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let found: Vec<String> = names(folder.path()).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["run-20270101T000000Z-b", "run-20260101T000000Z-a"]);
        assert!(names(&folder.path().join("nowhere")).unwrap().is_empty());
        let name = "run-20260101T000000Z-a".parse().unwrap();
        assert!(
            Summaries::default().of(folder.path(), &name).is_none(),
            "a folder without results is no run"
        );
    }
}
