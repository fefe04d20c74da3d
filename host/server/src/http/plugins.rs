//! `/api/plugins`: what serves, what happened, and the operators' changes. Every one of them needs the scope `operate`.
//!
//! A swap names a component that lies in the configured folder of components, by its file name: over HTTP nobody makes the
//! host read a path of their choosing, and nobody uploads code. The socket of the operators takes any path, because who
//! can open it is the user the host runs as.

use std::path::{Path as FsPath, PathBuf};

use airlock_runtime::{DomainScope, Stage};
use airlock_types::DomainName;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::body::Body;
use super::problem::Problem;
use crate::access::{Caller, Scope};
use crate::operator::{Cases, Reply, Request, Status};
use crate::plugins::{Entry, Event, read as read_history};
use crate::service::Service;

/// Entries of a page when nothing is said.
const PAGE: usize = 50;
/// Entries of a page at most.
const MOST: usize = 200;

/// Which part of the history.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Only this stage.
    #[param(value_type = Option<String>)]
    stage: Option<Stage>,
    /// Entries of the page, 1 to 200; 50 when left out.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page before ended: its `next_cursor`.
    cursor: Option<String>,
}

/// A page of the history, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct EntryPage {
    /// What happened: swaps, refusals, rollbacks, quarantines, shadows.
    items: Vec<Value>,
    /// What goes on after this page; null at the end.
    next_cursor: Option<String>,
}

/// Another component for a stage.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Swapping {
    /// The stage.
    #[schema(value_type = String)]
    stage: Stage,
    /// File name of the component in the configured folder of components, such as `repair-2.wasm`. Its digest must have a
    /// grant.
    component: String,
    /// Only for this domain; for all when left out.
    #[schema(value_type = Option<String>)]
    domain: Option<DomainName>,
    /// Replay the golden cases of the domains' packs on both first, and refuse when one gets worse.
    #[serde(default)]
    verify: bool,
    /// Swap although golden cases get worse; this is logged.
    #[serde(default)]
    force: bool,
    /// Do not swap: run it beside what serves this many times, and compare.
    #[schema(minimum = 1, maximum = 100_000)]
    shadow: Option<u32>,
}

/// What served a stage before.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollingBack {
    /// The stage.
    #[schema(value_type = String)]
    stage: Stage,
    /// Only for this domain; for all when left out.
    #[schema(value_type = Option<String>)]
    domain: Option<DomainName>,
}

/// What a change is about: one domain, which must be the caller's, or all, for whoever is bound to none.
fn scope(caller: &Caller, domain: Option<DomainName>) -> Result<DomainScope, Problem> {
    match domain {
        Some(domain) => {
            caller.may_in(Scope::Operate, &domain)?;
            Ok(DomainScope::Only(domain))
        }
        None if !caller.is_bound() => Ok(DomainScope::Any),
        None => {
            Err(Problem::of_field("domain", "domain: this key is for some domains only: name one of them."))
        }
    }
}

/// Whether what happens to a component that serves there is told to a caller.
fn concerns(caller: &Caller, domains: &DomainScope) -> bool {
    match domains {
        DomainScope::Any => true,
        DomainScope::Only(domain) => caller.sees(domain),
    }
}

/// What of it a caller may see. A caller who is bound to some domains gets nothing of others, and of what serves all of them
/// none of the words that may be about another: why it failed, and which results differ.
fn seen(status: &mut Status, caller: &Caller) {
    if !caller.is_bound() {
        return;
    }
    for listed in &mut status.components {
        listed.serves.retain(|serving| concerns(caller, &serving.domains));
    }
    status.components.retain(|listed| !listed.serves.is_empty());
    status.quarantined.retain(|quarantined| concerns(caller, &quarantined.domains));
    status.shadows.retain(|report| concerns(caller, &report.domains));
    let quarantined = status.quarantined.iter_mut();
    quarantined.filter(|one| one.domains == DomainScope::Any).for_each(|one| one.reason.clear());
    let shadows = status.shadows.iter_mut();
    shadows.filter(|one| one.domains == DomainScope::Any).for_each(|one| one.differences.clear());
}

/// The same of an entry of the history.
fn seen_entry(entry: &mut Entry, caller: &Caller) {
    if !caller.is_bound() || entry.domains != DomainScope::Any {
        return;
    }
    match &mut entry.event {
        Event::Swapped { verified: Some(verified), .. } | Event::Refused { verified, .. } => {
            verified.regressions.clear();
        }
        Event::Quarantined { quarantined } => quarantined.reason.clear(),
        Event::Shadowed { report } => report.differences.clear(),
        Event::Swapped { verified: None, .. } | Event::RolledBack { .. } => {}
    }
}

/// The components in service, those in quarantine, those that run beside others, and the files that a swap can name. Who is
/// bound to some domains gets what serves there, and no files; of what serves all domains the reason of a quarantine and the
/// differences of a shadow are empty, because they may tell of other domains.
#[utoipa::path(get, path = "/api/plugins", tag = "operators", responses((status = 200, body = Value)))]
pub async fn list(State(service): State<Service>, caller: Caller) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Operate)?;
    let mut reply = service.desk.carry_out_for(Request::Status, caller.name.clone()).await;
    if let Reply::Status(status) = &mut reply {
        seen(status, &caller);
    }
    let Json(mut status) = answer(reply)?;
    let folder = service.config.components.clone();
    let files = if !caller.is_bound() {
        tokio::task::spawn_blocking(move || files(&folder)).await.unwrap_or_default()
    } else {
        Vec::new()
    };
    if let Some(status) = status.as_object_mut() {
        status.insert("files".to_owned(), json!(files));
    }
    Ok(Json(status))
}

/// Files of one folder that are told.
const FILES: usize = 500;

/// Names of the components in the folder of components, each of which a swap takes.
fn files(folder: &FsPath) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| component(folder, name).is_ok()).collect();
    names.sort();
    names.truncate(FILES);
    names
}

/// What served when: swaps, rollbacks, quarantines, shadows, the newest first. To who is bound to some domains the regressions,
/// reasons and differences of what serves all domains are empty.
#[utoipa::path(get, path = "/api/plugins/history", tag = "operators", params(Wanted),
    responses((status = 200, body = EntryPage)))]
pub async fn entries(
    State(service): State<Service>,
    caller: Caller,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<EntryPage>, Problem> {
    caller.may(Scope::Operate)?;
    let Query(Wanted { stage, limit, cursor }) = wanted?;
    let limit = limit.unwrap_or(PAGE);
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::of_field("limit", format!("limit: it is from 1 to {MOST}.")));
    }
    // The history only grows, so its place from the beginning is a place for ever.
    let before: Option<usize> = match cursor.as_deref().map(str::parse).transpose() {
        Ok(before) => before,
        Err(_) => return Err(Problem::of_field("cursor", "cursor: it is no cursor of this list.")),
    };
    let data = service.config.data.clone();
    let read = tokio::task::spawn_blocking(move || read_history(&data)).await;
    let all = read.map_err(|_| Problem::internal())?.map_err(|error| {
        tracing::warn!(error = format!("{error:#}"), "the history of components cannot be read");
        Problem::internal()
    })?;
    let mut wanted = all
        .into_iter()
        .enumerate()
        .filter(|(at, entry)| {
            before.is_none_or(|before| *at < before)
                && stage.is_none_or(|stage| entry.stage == stage)
                && concerns(&caller, &entry.domains)
        })
        .rev();
    let mut page: Vec<_> = wanted.by_ref().take(limit).collect();
    page.iter_mut().for_each(|(_, entry)| seen_entry(entry, &caller));
    let next_cursor = wanted.next().and(page.last().map(|(at, _)| at.to_string()));
    let items = page.iter().map(|(_, entry)| serde_json::to_value(entry)).collect::<Result<_, _>>();
    Ok(Json(EntryPage { items: items.map_err(|_| Problem::internal())?, next_cursor }))
}

/// Put another component in service; asks in flight finish on the old one.
#[utoipa::path(post, path = "/api/plugins/swap", tag = "operators", request_body = Swapping,
    responses((status = 200, body = Value)))]
pub async fn swap(
    State(service): State<Service>,
    caller: Caller,
    Body(body): Body<Swapping>,
) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Operate)?;
    let domains = scope(&caller, body.domain)?;
    if body.force && !body.verify {
        return Err(Problem::of_field("force", "force: there is nothing to override without `verify`."));
    }
    if body.shadow.is_some() && body.verify {
        return Err(Problem::of_field("shadow", "shadow: a shadow is not verified: leave one of them out."));
    }
    let file = component(&service.config.components, &body.component)?;
    let verify = body.verify.then_some(Cases::Packs);
    let Swapping { stage, force, shadow, .. } = body;
    let request = Request::Swap { stage, domains, file, verify, force, shadow };
    answer(service.desk.carry_out_for(request, caller.name).await)
}

/// Bring back what served a stage before.
#[utoipa::path(post, path = "/api/plugins/rollback", tag = "operators", request_body = RollingBack,
    responses((status = 200, body = Value)))]
pub async fn rollback(
    State(service): State<Service>,
    caller: Caller,
    Body(body): Body<RollingBack>,
) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Operate)?;
    let domains = scope(&caller, body.domain)?;
    let request = Request::Rollback { stage: body.stage, domains };
    answer(service.desk.carry_out_for(request, caller.name).await)
}

/// The file of a component: one that lies in the folder itself, wherever a link may lead.
fn component(folder: &FsPath, name: &str) -> Result<PathBuf, Problem> {
    let stem = name.strip_suffix(".wasm").unwrap_or_default();
    let plain = stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if stem.is_empty() || stem.starts_with('.') || !plain || name.len() > 128 {
        let detail =
            "component: it is the name of a file in the folder of components, such as repair-2.wasm.";
        return Err(Problem::of_field("component", detail));
    }
    let inside = || {
        let (folder, file) = (folder.canonicalize()?, folder.join(name).canonicalize()?);
        Ok::<_, std::io::Error>((file.parent() == Some(folder.as_path())).then_some(file))
    };
    match inside() {
        Ok(Some(file)) => Ok(file),
        _ => Err(Problem::of_field(
            "component",
            "component: there is no such file in the folder of components.",
        )),
    }
}

/// What an operator is told, over HTTP.
fn answer(reply: Reply) -> Result<Json<Value>, Problem> {
    match &reply {
        Reply::Refused { why, verified } => {
            let now = verified.as_ref().map(|verified| json!({"verified": verified}));
            Err(Problem::new(StatusCode::CONFLICT, "refused", why).beside(now))
        }
        Reply::Failed { why } => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", why)),
        _ => serde_json::to_value(&reply).map(Json).map_err(|_| Problem::internal()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_lies_in_the_folder_itself() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("components");
        std::fs::create_dir(&folder).unwrap();
        for file in ["components/repair-2.wasm", "outside.wasm"] {
            std::fs::write(place.path().join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink("../outside.wasm", folder.join("link.wasm")).unwrap();
        for (name, good) in [
            ("repair-2.wasm", true),
            ("link.wasm", false),
            ("../outside.wasm", false),
            ("/etc/passwd", false),
            ("missing.wasm", false),
            ("repair-2", false),
            (".wasm", false),
            ("..wasm", false),
            ("repair-2.wasm\0", false),
            ("", false),
        ] {
            assert_eq!(component(&folder, name).is_ok(), good, "{name}");
        }
        assert_eq!(files(&folder), ["repair-2.wasm"]);
        assert!(files(&folder.join("none")).is_empty());
    }
}
