//! `airlock serve`: the HTTP API and the page until a signal.

use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;

use airlock_pipeline::Host;
use serde_json::json;
use tokio::sync::watch;

use crate::cli::Serve;
use crate::config::{Config, parse_listen};
use crate::exit::{Exit, usage};
use crate::operator::Operator;
use crate::store::{self, OpenStore, Purpose};
use crate::{boot, http, output};

/// How long asks in flight are waited for when the server stops.
const GRACE: Duration = Duration::from_secs(15);

/// Serves until Ctrl-C or a termination signal.
///
/// # Errors
/// When the host cannot be put in service or the address is taken.
pub async fn run(serve: Serve, config: Config, as_json: bool) -> anyhow::Result<Exit> {
    let listen = match &serve.listen {
        Some(text) => parse_listen(text).map_err(usage)?,
        None => config.listen,
    };
    let bound = http::bind(listen).await?;
    let (host, store) = boot::host_with_store(&config, Purpose::Serve).await?;
    let host = Arc::new(host);
    // From here on the store is closed in order, whatever happens.
    let served = tokio::select! {
        served = serve_with(&config, bound, &host, as_json) => served,
        never = settled(&store, &config) => match never {},
    };
    host.learning_settled().await;
    drop(host);
    store.close().await?;
    served
}

/// Does what the store was not there for, and then nothing for ever.
async fn settled(store: &OpenStore, config: &Config) -> std::convert::Infallible {
    store::settle(store, config).await;
    std::future::pending().await
}

async fn serve_with(
    config: &Config,
    bound: http::Bound,
    host: &Arc<Host>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let _following = (host.follow_store(), host.follow_values(config.values_refresh));
    let operator = Operator::open(config, host)?;
    let page = format!("http://{}/", bound.address());
    if as_json {
        output::json(&json!({"page": page}))?;
    } else {
        output::line(format!("Serving on {page}"))?;
    }
    until_stopped(bound, Arc::clone(host), Some(operator)).await;
    Ok(Exit::Done)
}

/// Serves until a signal, then finishes asks in flight, within a grace. Operators are heard as long as asks are.
pub async fn until_stopped(bound: http::Bound, host: Arc<Host>, operator: Option<Operator>) {
    let heard = operator.map(Operator::serve);
    // Asks do not wait for vectors: until they are there, keywords answer.
    let embedding = tokio::spawn({
        let host = Arc::clone(&host);
        async move { host.embed_domains().await }
    });
    serve_until_stopped(bound, host).await;
    embedding.abort();
    if let Some(heard) = heard {
        heard.stop().await;
    }
}

async fn serve_until_stopped(bound: http::Bound, host: Arc<Host>) {
    let (told, mut stop) = watch::channel(false);
    let serving = bound.serve(host, async move {
        let _ = stop.wait_for(|stop| *stop).await;
    });
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        () = &mut serving => return,
        () = signal() => eprintln!("stopping by a signal; asks in flight are finished first"),
    }
    let _ = told.send(true);
    if tokio::time::timeout(GRACE, serving).await.is_err() {
        tracing::warn!("asks were still running after the grace and were cancelled");
    }
}

/// Done at Ctrl-C or a termination signal, also at one that came since this was first waited for: a signal between two
/// waits must not be lost.
pub async fn signal() {
    static CAME: OnceLock<watch::Receiver<bool>> = OnceLock::new();
    let mut came = CAME.get_or_init(listen).clone();
    // The sender goes with the process.
    let _ = came.wait_for(|came| *came).await;
}

fn listen() -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        next_signal().await;
        let _ = sender.send(true);
        sender.closed().await;
    });
    receiver
}

async fn next_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}
