//! The HTTP API, agents over HTTP, and the page.

#![allow(unused_qualifications, reason = "the macro of utoipa writes the names of parameters in full")]

mod accept;
mod ask;
mod body;
mod bound;
mod caller;
mod codes;
mod context;
mod cookie;
mod docs;
mod evals;
mod feedback;
mod guard;
mod health;
mod history;
mod knowledge;
mod listen;
mod mcp;
mod names;
mod notices;
mod once;
mod openapi;
mod pace;
mod page;
mod patience;
mod plugins;
mod problem;
mod query;
mod report;
mod request;
mod schema;
mod session;
mod stats;
mod table;
mod telemetry;
mod tls;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use airlock_pipeline::Host;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef};
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::service::Service;
use crate::service::records::Watched;

pub use bound::{Bound, bind};
pub use context::block as context_block;
pub use health::report as health_report;

/// Most bytes of a request's body: SQL has at most 64 KiB, and JSON may take more for a character than the text does.
const BODY_LIMIT: usize = 256 * 1024;

/// Time between two pieces of a request's body.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Time for a request beside that of the ask in it.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// What the routes share.
#[derive(Clone)]
struct App {
    service: Service,
    last: health::LastReport,
    watched: Watched,
    door: guard::Door,
    mcp: mcp::Mcp,
    summaries: evals::Summaries,
}

impl FromRef<App> for Service {
    fn from_ref(app: &App) -> Self {
        app.service.clone()
    }
}

impl FromRef<App> for Arc<Host> {
    fn from_ref(app: &App) -> Self {
        Self::clone(&app.service.host)
    }
}

impl FromRef<App> for guard::Door {
    fn from_ref(app: &App) -> Self {
        app.door.clone()
    }
}

impl FromRef<App> for mcp::Mcp {
    fn from_ref(app: &App) -> Self {
        app.mcp.clone()
    }
}

impl FromRef<App> for evals::Summaries {
    fn from_ref(app: &App) -> Self {
        app.summaries.clone()
    }
}

impl FromRef<App> for Watched {
    fn from_ref(app: &App) -> Self {
        app.watched.clone()
    }
}

impl FromRef<App> for health::LastReport {
    fn from_ref(app: &App) -> Self {
        app.last.clone()
    }
}

/// The routes over a service, behind its door.
fn router(service: Service, door: guard::Door, mcp: mcp::Mcp) -> Router {
    let time = request::Patience(service.config.ask_deadline + REQUEST_TIME);
    let metrics = Arc::clone(&service.telemetry.metrics);
    // What `http/openapi.rs` asks of a route is said there.
    let (api, document) = OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(ask::ask))
        .routes(routes!(context::context))
        .routes(routes!(query::query))
        .routes(routes!(query::check))
        .routes(routes!(history::history))
        .routes(routes!(schema::schema))
        .routes(routes!(schema::domains))
        .routes(routes!(stats::stats))
        .routes(routes!(health::health))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(telemetry::metrics))
        .routes(routes!(session::open, session::close))
        .routes(routes!(session::me))
        .merge(knowledge::routes())
        .routes(routes!(feedback::feedback))
        .routes(routes!(evals::list))
        .routes(routes!(evals::run))
        .routes(routes!(plugins::list))
        .routes(routes!(plugins::entries))
        .routes(routes!(plugins::swap))
        .routes(routes!(plugins::rollback))
        .split_for_parts();
    let document = openapi::finish(document);
    api.route("/api/openapi.json", get(|| document.serve()))
        .route(mcp::PATH, post(mcp::answer).delete(mcp::answer))
        .route("/docs", get(docs::index))
        .route("/docs/{file}", get(docs::part))
        .route("/problems", get(docs::problems))
        .route("/problems/{code}", get(docs::problem))
        .route("/", get(page::index))
        .route("/page/{file}", get(page::file))
        .method_not_allowed_fallback(problem::method_not_allowed)
        .fallback(problem::not_found)
        .layer(axum::middleware::from_fn(telemetry::follow))
        .layer(axum::middleware::from_fn_with_state(once::Once::default(), once::once))
        // Around everything that reads a body.
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(axum::middleware::from_fn(body::declared))
        .layer(axum::middleware::from_fn_with_state(door.clone(), guard::check))
        .layer(axum::middleware::from_fn(patience::whole_body))
        .layer(RequestBodyTimeoutLayer::new(BODY_TIME))
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(axum::middleware::from_fn_with_state(time, request::identify))
        .layer(axum::middleware::from_fn_with_state(metrics, telemetry::count))
        .with_state(App {
            service,
            last: health::LastReport::default(),
            watched: Watched::default(),
            door,
            mcp,
            summaries: evals::Summaries::default(),
        })
}
