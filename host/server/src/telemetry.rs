//! What operators see of a host: its metrics, and its traces where a collector is configured.

use std::sync::Arc;
use std::time::Duration;

use airlock_pipeline::Host;
use airlock_telemetry::{Metrics, Traces};

use crate::config::Config;
use crate::exit::usage;

/// How long traces are waited for when a command ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// The observers of a host. Cheap to clone.
#[derive(Clone)]
pub struct Telemetry {
    /// What is counted.
    pub metrics: Arc<Metrics>,
    traces: Option<Traces>,
    trace_url: Option<String>,
}

impl Telemetry {
    /// As configured: metrics always, traces where they have somewhere to go.
    ///
    /// # Errors
    /// When what is configured is nothing that traces can be sent to.
    pub fn begin(config: &Config) -> anyhow::Result<Self> {
        let settings = &config.telemetry;
        let traces = settings.traces.as_ref().map(Traces::begin).transpose().map_err(usage)?;
        let counts = traces.as_ref().map(|traces| Arc::clone(traces.counts()));
        Ok(Self { metrics: Arc::new(Metrics::new(counts)), traces, trace_url: settings.trace_url.clone() })
    }

    /// The host of a server, seen by both.
    pub fn observe(&self, host: Host) -> Host {
        self.trace(host).with_observer(Arc::<Metrics>::clone(&self.metrics))
    }

    /// The host of a command that nobody scrapes: traced, where traces go anywhere.
    pub fn trace(&self, host: Host) -> Host {
        let host = match &self.trace_url {
            Some(template) => host.with_trace_url(template.clone()),
            None => host,
        };
        match &self.traces {
            Some(traces) => host.with_observer(Arc::new(traces.clone())),
            None => host,
        }
    }

    /// Waits until traces are sent, for a while.
    pub async fn settled(&self) {
        if let Some(traces) = &self.traces {
            traces.settled(PATIENCE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::Environment;

    #[test]
    fn the_examples_of_the_pages_are_read() {
        let environment = Environment::of(&[
            ("OTLP_HEADERS", "authorization=Basic%20YQ=="),
            ("SHOP_READER_URL", "host=/run/postgresql dbname=shop"),
        ]);
        for (page, traced) in [
            (include_str!("../../../docs/telemetry.md"), true),
            (include_str!("../../../docs/deploy.md"), false),
        ] {
            let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("airlock.toml");
            std::fs::write(&file, example).unwrap();
            // The passwords of a store are in a file of their own.
            std::fs::write(folder.path().join("store.credentials"), "").unwrap();
            let config = Config::read(Some(&file), &environment).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(config.telemetry.traces.is_some(), traced);
        }
    }
}
