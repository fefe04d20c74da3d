//! Stored knowledge over HTTP: `/api/examples`, `/api/lessons` and `/api/golden`, looked at, authored and decided on.
//!
//! Everybody who may read sees both shelves. Deciding is the scope `curate`; golden cases, which grade the rest, are an
//! admin's; who may author examples decides on those that agents proposed and on no others.

mod decide;
mod look;

use std::sync::Arc;

use airlock_knowledge::store::{ItemId, Kind, Store, StoreError};
use airlock_pipeline::Domain;
use axum::http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::Problem;
use crate::access::Caller;
use crate::curation::{Item, find};
use crate::service::Service;

/// The routes of stored knowledge.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(look::examples::list, decide::author))
        .routes(routes!(look::examples::one))
        .routes(routes!(decide::examples::decide))
        .routes(routes!(decide::examples::edit))
        .routes(routes!(look::lessons::list))
        .routes(routes!(look::lessons::one))
        .routes(routes!(decide::lessons::decide))
        .routes(routes!(decide::lessons::edit))
        .routes(routes!(look::golden::list))
        .routes(routes!(look::golden::one))
        .routes(routes!(decide::golden::decide))
        .routes(routes!(decide::golden::edit))
}

/// The store of a server.
pub(super) fn store(service: &Service) -> Result<&Store, Problem> {
    service.store.as_ref().ok_or_else(|| {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "no-store",
            "This server keeps nothing: its configuration has `store.off`, so there is nothing to look at or decide on.",
        )
    })
}

/// Whether an item is there for a caller. Of a key that row policies are about, what came of the asks of others is not:
/// they were answered over other rows.
fn opens(caller: &Caller, item: &Item) -> bool {
    !caller.is_bound_to_rows() || !item.was_proposed()
}

/// An item of a kind in one of the domains that a caller sees, with that domain.
async fn found(
    service: &Service,
    caller: &Caller,
    kind: Kind,
    id: &str,
) -> Result<(Arc<Domain>, Item), Problem> {
    let nothing = |detail: String| Problem::new(StatusCode::NOT_FOUND, "unknown-item", format!("{detail}."));
    let id: ItemId = id.parse().map_err(|error| nothing(format!("{error}")))?;
    let promote = store(service)?.promote();
    for domain in service.host.domains().filter(|domain| caller.sees(domain.name())) {
        match find(&promote, domain.name(), id).await {
            Ok(item) if !opens(caller, &item) => {}
            Ok(item) if item.kind() == kind => return Ok((domain, item)),
            Ok(item) => return Err(nothing(format!("`{id}` is of kind {}, not {kind}", item.kind()))),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(nothing(format!("There is no {kind} `{id}` here")))
}
