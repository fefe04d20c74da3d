//! Lists a page at a time, and one item with its history.

use airlock_knowledge::store::{ItemId, Kind, Order, Report};
use airlock_types::DomainName;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::super::problem::Problem;
use super::{found, opens, store};
use crate::access::{Caller, Scope};
use crate::curation::{Item, Listing, Shelf, list as listed};
use crate::service::{Service, reach};

/// Items of a page when nothing is said.
const PAGE: u32 = 50;
/// Items of a page at most.
const MOST: u32 = 200;
/// Decisions that are shown of one item.
const HISTORY: i64 = 200;

/// What of the list is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// The domain; may be left out when the server has only one.
    #[param(value_type = Option<String>)]
    domain: Option<DomainName>,
    /// `candidate` or `curated`; both when left out.
    shelf: Option<String>,
    /// proposed, needs_evidence, duplicate, rejected, promoted; active, stale, superseded, withdrawn.
    state: Option<String>,
    /// person, agent, distilled, mined, adapter, feedback, imported.
    source: Option<String>,
    /// `newest` (the default) or `oldest` first.
    order: Option<String>,
    /// Items of the page, 1 to 200; 50 when left out.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// Where the page before ended: its `next_cursor`.
    cursor: Option<String>,
}

/// A page of items.
#[derive(Debug, Serialize, ToSchema)]
pub struct ItemPage {
    /// Items of both shelves. Each has `id`, `shelf`, `kind`, `state`, `origin`, `hash`, `content` and how often it was used.
    items: Vec<Value>,
    /// What goes on after this page; null at the end.
    next_cursor: Option<String>,
}

fn wrong(field: &'static str, why: &str) -> Problem {
    Problem::of_field(field, format!("{field}: {why}."))
}

impl Wanted {
    fn shelf(&self) -> Result<Shelf, Problem> {
        let shelf = match self.shelf.as_deref() {
            None => Shelf::Both,
            Some("candidate") => Shelf::Candidates(None),
            Some("curated") => Shelf::Curated(None),
            Some(_) => return Err(wrong("shelf", "it is candidate or curated")),
        };
        let Some(word) = self.state.as_deref() else { return Ok(shelf) };
        let state: Shelf = word.parse().map_err(|why: String| wrong("state", &why))?;
        match (shelf, state) {
            (Shelf::Both, state)
            | (Shelf::Candidates(_), state @ Shelf::Candidates(_))
            | (Shelf::Curated(_), state @ Shelf::Curated(_)) => Ok(state),
            _ => Err(wrong("state", "it is one of the other shelf")),
        }
    }

    fn listing(&self, domain: DomainName, kind: Kind) -> Result<Listing, Problem> {
        let limit = self.limit.unwrap_or(PAGE);
        if !(1..=MOST).contains(&limit) {
            return Err(wrong("limit", "it is from 1 to 200"));
        }
        let origin = self.source.as_deref().map(str::parse).transpose();
        let order = match self.order.as_deref() {
            None | Some("newest") => Order::NewestFirst,
            Some("oldest") => Order::OldestFirst,
            Some(_) => return Err(wrong("order", "it is newest or oldest")),
        };
        let after = self.cursor.as_deref().map(str::parse::<ItemId>).transpose();
        Ok(Listing {
            domain,
            kind,
            shelf: self.shelf()?,
            origin: origin.map_err(|why: String| wrong("source", &why))?,
            order,
            limit: i64::from(limit),
            after: after.map_err(|_| wrong("cursor", "it is no cursor of this list"))?,
        })
    }
}

async fn page(
    service: &Service,
    caller: &Caller,
    kind: Kind,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<ItemPage>, Problem> {
    caller.may(Scope::Read)?;
    let Query(wanted) = wanted?;
    let domain = reach::domain(&service.host, caller, wanted.domain.as_ref())?;
    let mut listing = wanted.listing(domain.name().clone(), kind)?;
    let store = store(service)?;
    if caller.is_bound_to_rows() {
        listing.shelf = match listing.shelf {
            Shelf::Candidates(_) => return Ok(Json(ItemPage { items: Vec::new(), next_cursor: None })),
            Shelf::Both => Shelf::Curated(None),
            curated @ Shelf::Curated(_) => curated,
        };
    }
    let (mut found, more) = listed(&store.promote(), &listing).await?;
    let next_cursor = found.last().filter(|_| more).map(|item| item.id().to_string());
    found.retain(|item| opens(caller, item));
    let mut items = Vec::with_capacity(found.len());
    let uses = uses(&store.report(), domain.name(), &found).await?;
    for (item, uses) in found.iter().zip(uses) {
        items.push(shown(item, uses)?);
    }
    Ok(Json(ItemPage { items, next_cursor }))
}

fn shown(item: &Item, uses: Value) -> Result<Value, Problem> {
    let mut value = item.to_json().map_err(|_| Problem::internal())?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("uses".to_owned(), uses);
    }
    Ok(value)
}

/// How often each item took part, and how that went.
async fn uses(report: &Report, domain: &DomainName, items: &[Item]) -> Result<Vec<Value>, Problem> {
    let ids: Vec<ItemId> = items.iter().map(Item::id).collect();
    let counts = if ids.is_empty() { Vec::new() } else { report.uses(domain, Some(&ids), 1_000).await? };
    Ok(ids
        .iter()
        .map(|id| match counts.iter().find(|count| count.item == *id) {
            Some(count) => json!({
                "hits": count.hits, "succeeded": count.succeeded, "failed": count.failed, "last": count.last,
            }),
            None => json!({"hits": 0, "succeeded": 0, "failed": 0, "last": null}),
        })
        .collect())
}

async fn with_history(
    service: &Service,
    caller: &Caller,
    kind: Kind,
    id: &str,
) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Read)?;
    let (domain, item) = found(service, caller, kind, id).await?;
    let report = store(service)?.report();
    let mut history = report.decisions(domain.name(), Some(item.id()), HISTORY).await?;
    // What was decided while it was a candidate is part of its story.
    if let Item::Curated(curated) = &item
        && let Some(candidate) = curated.candidate
    {
        let before = report.decisions(domain.name(), Some(candidate), HISTORY).await?;
        history.extend(before.into_iter().filter(|row| row.curated != Some(curated.id)));
    }
    let uses = uses(&report, domain.name(), std::slice::from_ref(&item)).await?;
    let mut value = shown(&item, uses.into_iter().next().unwrap_or_default())?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("history".to_owned(), json!(history));
    }
    Ok(Json(value))
}

/// The two looks of a kind, as operations of their own in the document.
macro_rules! looks {
    ($module:ident, $kind:expr, $list:tt, $list_id:tt, $one:tt, $one_id:tt) => {
        /// Looking at items of one kind.
        pub mod $module {
            use super::*;

            /// Items, proposed and curated, a page at a time.
            #[utoipa::path(get, path = $list, operation_id = $list_id, tag = "knowledge", params(Wanted),
                responses((status = 200, body = ItemPage)))]
            pub async fn list(
                State(service): State<Service>,
                caller: Caller,
                wanted: Result<Query<Wanted>, QueryRejection>,
            ) -> Result<Json<ItemPage>, Problem> {
                page(&service, &caller, $kind, wanted).await
            }

            /// One item: its content with the hash that a decision names, its uses, and every decision on it, the last first.
            #[utoipa::path(get, path = $one, operation_id = $one_id, tag = "knowledge",
                params(("id" = String, Path, description = "The item.")), responses((status = 200, body = Value)))]
            pub async fn one(
                State(service): State<Service>,
                caller: Caller,
                Path(id): Path<String>,
            ) -> Result<Json<Value>, Problem> {
                with_history(&service, &caller, $kind, &id).await
            }
        }
    };
}

looks!(examples, Kind::Example, "/api/examples", "list_examples", "/api/examples/{id}", "show_example");
looks!(lessons, Kind::Lesson, "/api/lessons", "list_lessons", "/api/lessons/{id}", "show_lesson");
looks!(golden, Kind::Golden, "/api/golden", "list_golden", "/api/golden/{id}", "show_golden");

#[cfg(test)]
mod tests {
    use airlock_knowledge::store::{CandidateState, CurationState};

    use super::*;

    #[test]
    fn what_is_wanted_is_read_once_and_named_when_it_is_wrong() {
        let read = |value: Value| {
            let wanted: Wanted = serde_json::from_value(value).unwrap();
            wanted.listing("shop".parse().unwrap(), Kind::Lesson).map_err(|problem| problem.to_json())
        };
        let listing =
            read(json!({"state": "stale", "shelf": "curated", "order": "oldest", "limit": 7})).unwrap();
        assert_eq!(listing.shelf, Shelf::Curated(Some(CurationState::Stale)));
        assert_eq!((listing.order, listing.limit), (Order::OldestFirst, 7));
        let proposed = read(json!({"state": "proposed"})).unwrap();
        assert_eq!(proposed.shelf, Shelf::Candidates(Some(CandidateState::Proposed)));
        for (value, field) in [
            (json!({"limit": 0}), "limit"),
            (json!({"limit": 201}), "limit"),
            (json!({"state": "new"}), "state"),
            (json!({"state": "active", "shelf": "candidate"}), "state"),
            (json!({"shelf": "both"}), "shelf"),
            (json!({"source": "dream"}), "source"),
            (json!({"order": "random"}), "order"),
            (json!({"cursor": "2"}), "cursor"),
        ] {
            let problem = read(value.clone()).unwrap_err();
            assert!(problem.contains(&format!("\"field\":\"{field}\"")), "{value}: {problem}");
        }
    }
}
