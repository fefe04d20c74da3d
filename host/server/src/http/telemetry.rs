//! `GET /metrics`, and what every request leaves behind: a count by its route, and the trace that it came from.

use std::sync::Arc;
use std::time::Instant;

use airlock_pipeline::TraceParent;
use airlock_telemetry::Metrics;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use crate::access::{Caller, Scope};
use crate::service::Service;

/// The metrics as Prometheus reads them.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "health",
    responses((status = 200, description = "The text format of Prometheus.", body = String)),
)]
pub async fn metrics(State(service): State<Service>, caller: Caller) -> Result<Response, Problem> {
    caller.may(Scope::Read)?;
    if caller.is_bound() {
        let detail = "Metrics are of every domain at once: scrape with a key that is bound to none.";
        return Err(Problem::new(StatusCode::FORBIDDEN, "missing-scope", detail));
    }
    let text = service.telemetry.metrics.render(&service.host);
    Ok(([(CONTENT_TYPE, airlock_telemetry::metrics::CONTENT_TYPE)], text).into_response())
}

/// Counts a request by the pattern of its route, the refused ones too.
pub async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let response = next.run(request).await;
    let route = route.as_ref().map(MatchedPath::as_str);
    metrics.request(route, method.as_str(), response.status().as_u16(), begun.elapsed());
    response
}

/// Lets the ask in a request know which trace of another service it came from. Runs behind the door.
pub async fn follow(mut request: Request, next: Next) -> Response {
    let parent = parent(request.headers());
    if let (Some(parent), Some(caller)) = (parent, request.extensions_mut().get_mut::<Caller>()) {
        caller.asker.trace = Some(parent);
    }
    next.run(request).await
}

/// What the header says; one that is wrong, or there twice, says nothing.
fn parent(headers: &HeaderMap) -> Option<TraceParent> {
    let mut given = headers.get_all("traceparent").iter();
    match (given.next(), given.next()) {
        (Some(one), None) => one.to_str().ok()?.parse().ok(),
        _ => None,
    }
}
