//! `airlock serve`: the HTTP API and the page until a signal.

use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;

use airlock_knowledge::store::Store;
use airlock_pipeline::Host;
use serde_json::json;
use tokio::sync::watch;

use crate::cli::Serve;
use crate::config::{Config, parse_listen};
use crate::exit::{Exit, usage};
use crate::operator::Operator;
use crate::service::Service;
use crate::store::{self, OpenStore, Purpose};
use crate::telemetry::Telemetry;
use crate::upkeep::Upkeep;
use crate::{boot, http, output};

/// How long asks in flight are waited for when the server stops.
const GRACE: Duration = Duration::from_secs(15);

/// Serves until Ctrl-C or a termination signal.
///
/// # Errors
/// When the host cannot be put in service or the address is taken.
pub async fn run(serve: Serve, config: Config, as_json: bool) -> anyhow::Result<Exit> {
    let config = Arc::new(config);
    let listen = match &serve.listen {
        Some(text) => parse_listen(text).map_err(usage)?,
        None => config.listen,
    };
    let bound = http::bind(listen, &config.access).await?;
    let telemetry = Telemetry::begin(&config)?;
    let (host, store) = boot::host_with_store(&config, Purpose::Serve).await?;
    let host = Arc::new(telemetry.observe(host));
    let knowledge = store.store().cloned();
    // From here on the store is closed in order, whatever happens.
    let served = tokio::select! {
        served = serve_with(&config, bound, &host, knowledge, &telemetry, as_json) => served,
        never = settled(&store, &config) => match never {},
    };
    telemetry.settled().await;
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
    config: &Arc<Config>,
    bound: http::Bound,
    host: &Arc<Host>,
    store: Option<Store>,
    telemetry: &Telemetry,
    as_json: bool,
) -> anyhow::Result<Exit> {
    bound.guarded(store.as_ref()).await?;
    let _following = (host.follow_store(), host.follow_values(config.values_refresh));
    let operator = Operator::open(config, host)?;
    let page = bound.page();
    if as_json {
        output::json(&json!({"page": page}))?;
    } else {
        output::line(format!("Serving on {page}"))?;
    }
    let (host, desk, config) = (Arc::clone(host), operator.desk(), Arc::clone(config));
    let service = Service { host, store, desk, config, upkeep: Arc::default(), telemetry: telemetry.clone() };
    until_stopped(bound, service, operator).await;
    Ok(Exit::Done)
}

/// Serves until a signal, then finishes asks in flight, within a grace. Operators are heard as long as asks are.
pub async fn until_stopped(bound: http::Bound, service: Service, operator: Operator) {
    let heard = operator.serve();
    let upkeep = Upkeep::begin(&service);
    let drift = tokio::spawn(crate::drift::follow(service.clone()));
    // Asks do not wait for vectors: until they are there, keywords answer.
    let embedding = tokio::spawn({
        let host = Arc::clone(&service.host);
        async move { host.embed_domains().await }
    });
    serve_until_stopped(bound, service).await;
    embedding.abort();
    drift.abort();
    drop(upkeep);
    heard.stop().await;
}

async fn serve_until_stopped(bound: http::Bound, service: Service) {
    let stop = async {
        signal().await;
        output::progress("stopping by a signal; asks in flight are finished first");
    };
    bound.serve(service, stop, GRACE).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_between_two_waits_is_not_lost() {
        // The first wait is over before the signal comes, the second begins after it.
        assert!(tokio::time::timeout(Duration::from_millis(200), signal()).await.is_err());
        let own = std::process::id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &own]).status().unwrap().success());
        tokio::time::timeout(Duration::from_secs(30), signal()).await.unwrap();
    }
}
