//! From the queue to the collector: finished asks become spans in batches, and a batch that is not taken is lost and counted.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanExporter as _;
use tokio::sync::{mpsc, oneshot};

use super::client::Client;
use super::spans::Shape;
use super::{Counts, Order, TracesError, Waiting};
use crate::settings::TraceSettings;

/// Asks in one batch.
const BATCH: usize = 64;
/// How long a batch waits for company.
const LINGER: Duration = Duration::from_millis(500);
/// How long the collector may take for one.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long after a failure a batch is sent again, once.
const AGAIN: Duration = Duration::from_secs(1);

/// Sends what is in the queue.
pub(super) struct Sender {
    exporter: SpanExporter,
    shape: Arc<Shape>,
    counts: Arc<Counts>,
    /// Whether the last batch was not taken: it is told once.
    down: bool,
}

impl Sender {
    pub(super) fn new(settings: &TraceSettings, counts: Arc<Counts>) -> Result<Self, TracesError> {
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new(TIMEOUT)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&settings.endpoint)
            .with_headers(settings.headers.clone())
            .with_timeout(TIMEOUT)
            // Its own would put the thread to sleep.
            .with_retry_policy(RetryPolicy::disabled())
            .build()
            .map_err(|_| TracesError::Exporter)?;
        let resource = Resource::builder()
            .with_service_name(settings.service_name.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        exporter.set_resource(&resource);
        let scope = InstrumentationScope::builder("airlock").with_version(env!("CARGO_PKG_VERSION")).build();
        let shape = Arc::new(Shape { scope, sql: settings.sql, content: settings.content });
        Ok(Self { exporter, shape, counts, down: false })
    }

    /// Sends until nobody hands over any more.
    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut batch = Vec::new();
        while let Some(order) = orders.recv().await {
            let mut settled = self.take(order, &mut batch);
            let until = tokio::time::Instant::now() + LINGER;
            while settled.is_none() && batch.len() < BATCH {
                match tokio::time::timeout_at(until, orders.recv()).await {
                    Ok(Some(order)) => settled = self.take(order, &mut batch),
                    Ok(None) | Err(_) => break,
                }
            }
            self.send(std::mem::take(&mut batch)).await;
            if let Some(settled) = settled {
                let _ = settled.send(());
            }
        }
    }

    fn take(&self, order: Order, batch: &mut Vec<Waiting>) -> Option<oneshot::Sender<()>> {
        match order {
            Order::Send(waiting) => {
                batch.push(waiting);
                None
            }
            Order::Settle(done) => Some(done),
        }
    }

    async fn send(&mut self, batch: Vec<Waiting>) {
        let asks = batch.len() as u64;
        if asks == 0 {
            return;
        }
        let shape = Arc::clone(&self.shape);
        // Masking literals reads each text by the grammar.
        let made = tokio::task::spawn_blocking(move || {
            batch.iter().flat_map(|waiting| shape.spans(&waiting.observed)).collect::<Vec<_>>()
        });
        let Ok(spans) = made.await else {
            self.counts.failed.fetch_add(asks, Ordering::Relaxed);
            return;
        };
        let mut sent = self.exporter.export(spans.clone()).await;
        if sent.is_err() {
            tokio::time::sleep(AGAIN).await;
            sent = self.exporter.export(spans).await;
        }
        let counter = if sent.is_ok() { &self.counts.sent } else { &self.counts.failed };
        counter.fetch_add(asks, Ordering::Relaxed);
        let was_down = std::mem::replace(&mut self.down, sent.is_err());
        match (was_down, self.down) {
            (false, true) => {
                tracing::warn!("the collector does not take traces: they are lost until it does")
            }
            (true, false) => tracing::info!("the collector takes traces again"),
            _ => {}
        }
    }
}
