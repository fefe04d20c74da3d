//! The HTTP API and the page.

mod ask;
mod caller;
mod context;
mod guard;
mod health;
mod listen;
mod page;
mod problem;
mod schema;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use airlock_pipeline::Host;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;

use crate::exit::usage;
use crate::service::Service;

pub use context::block as context_block;
pub use health::report as health_report;

/// Most bytes of a request's body: a question has at most 4,000 characters.
const BODY_LIMIT: usize = 64 * 1024;

/// Time between two pieces of a request's body.
const BODY_TIME: Duration = Duration::from_secs(10);

/// What the routes share.
#[derive(Clone)]
struct App {
    service: Service,
    last: health::LastReport,
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

impl FromRef<App> for health::LastReport {
    fn from_ref(app: &App) -> Self {
        app.last.clone()
    }
}

/// The routes over a service. `allowed` are the names a `Host` header may carry.
pub fn router(service: Service, allowed: guard::Names) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/page/{file}", get(page::file))
        .route("/api/ask", post(ask::ask))
        .route("/api/context", post(context::context))
        .route("/api/schema", get(schema::schema))
        .route("/api/domains", get(schema::domains))
        .route("/api/health", get(health::health))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .method_not_allowed_fallback(problem::method_not_allowed)
        .fallback(problem::not_found)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(axum::middleware::from_fn_with_state(allowed, guard::check))
        .layer(RequestBodyTimeoutLayer::new(BODY_TIME))
        .layer(CatchPanicLayer::custom(problem::panicked))
        .with_state(App { service, last: health::LastReport::default() })
}

/// A server that is listening but not yet serving.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

/// Takes the address.
///
/// # Errors
/// When it is not a loopback address (there are no keys yet to guard another one), or is taken.
pub async fn bind(address: SocketAddr) -> anyhow::Result<Bound> {
    if !address.ip().is_loopback() {
        return Err(usage(format!(
            "server.listen: {address} can be reached from other machines, and this server has no keys to guard it: listen \
             on a loopback address such as 127.0.0.1:8080 and put a proxy that authenticates in front"
        )));
    }
    let listener = TcpListener::bind(address).await.map_err(|error| {
        usage(format!("server.listen: {address} cannot be listened on ({error}): choose another port, or 0 for a free one"))
    })?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address })
}

impl Bound {
    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is done; asks in flight are finished first.
    pub async fn serve(self, service: Service, stop: impl Future<Output = ()>) {
        listen::serve(self.listener, router(service, guard::Names::of(self.address)), stop).await;
    }
}
