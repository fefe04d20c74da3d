//! One trace for each ask, sent to a collector over OTLP.
//!
//! A finished ask is put into a queue and becomes spans elsewhere. The queue is bounded by number and by size: a collector
//! that is down or slow costs traces, which are counted, and never time of an ask.

mod client;
mod export;
mod spans;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use airlock_pipeline::timeline::{Doing, Said};
use airlock_pipeline::{Observed, Observer};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::settings::TraceSettings;

/// Asks that wait to be sent.
const WAITING: usize = 1_024;
/// Bytes of them, by estimate.
const BYTES: usize = 32 << 20;

/// Why there can be no traces.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TracesError {
    /// The client.
    #[error("traces cannot be sent: {0}")]
    Client(#[from] reqwest::Error),
    /// The exporter. What it says of an address may hold a password.
    #[error("traces cannot be sent: the endpoint or a header is not one")]
    Exporter,
}

/// Sends the traces of a host's asks. Cheap to clone.
#[derive(Clone)]
pub struct Traces {
    queue: mpsc::Sender<Order>,
    counts: Arc<Counts>,
    content: bool,
}

/// What became of traces since the start.
#[derive(Debug, Default)]
pub struct Counts {
    sent: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
    /// Bytes that wait.
    held: AtomicUsize,
}

impl Counts {
    /// Taken by the collector.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Left out because too many waited.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Lost because the collector did not take them.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }
}

/// What the sender is told.
enum Order {
    Send(Waiting),
    /// Say when everything that came before is sent, or lost.
    Settle(oneshot::Sender<()>),
}

/// A finished ask on its way, and how much of the queue it takes.
struct Waiting {
    observed: Arc<Observed>,
    bytes: usize,
    counts: Arc<Counts>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.counts.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Traces {
    /// Begins to send. Must be called within a runtime.
    ///
    /// # Errors
    /// [`TracesError`] when the settings describe nothing that can be sent to.
    pub fn begin(settings: &TraceSettings) -> Result<Self, TracesError> {
        let counts = Arc::new(Counts::default());
        let (queue, orders) = mpsc::channel(WAITING);
        let sender = export::Sender::new(settings, Arc::clone(&counts))?;
        tokio::spawn(sender.run(orders));
        Ok(Self { queue, counts, content: settings.content })
    }

    /// What became of traces.
    #[must_use]
    pub const fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// Waits until what was handed over is sent or lost, and no longer than this.
    pub async fn settled(&self, patience: Duration) {
        let (done, settled) = oneshot::channel();
        let told = async {
            if self.queue.send(Order::Settle(done)).await.is_ok() {
                let _ = settled.await;
            }
        };
        if tokio::time::timeout(patience, told).await.is_err() {
            tracing::warn!("the collector did not take all traces in time");
        }
    }
}

impl Observer for Traces {
    fn ended(&self, observed: &Arc<Observed>) {
        let bytes = weight(observed);
        let held = self.counts.held.fetch_add(bytes, Ordering::Relaxed);
        // From here on dropping it gives its room back.
        let waiting = Waiting { observed: Arc::clone(observed), bytes, counts: Arc::clone(&self.counts) };
        if held + bytes > BYTES || self.queue.try_send(Order::Send(waiting)).is_err() {
            let before = self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            if before == 0 {
                tracing::warn!(
                    "too many traces wait for the collector: from now on some are left out and counted"
                );
            }
        }
    }

    fn wants_content(&self) -> bool {
        self.content
    }
}

/// Bytes that an ask takes while it waits, by estimate: its texts, and a little for each span.
fn weight(observed: &Observed) -> usize {
    let said =
        |said: &Said| said.system.len() + said.prompt.len() + said.reply.as_ref().map_or(0, String::len);
    let spans = observed.timeline.spans.iter().map(|span| {
        let own = match &span.doing {
            Doing::Model(call) => call.said.as_ref().map_or(0, said),
            Doing::Statement(statement) => statement.sql.len(),
            _ => 0,
        };
        512 + own + span.trouble.as_ref().map_or(0, |trouble| trouble.message.len())
    });
    let answer = &observed.answer;
    let history = answer.history.iter().map(|entry| 512 + entry.sql.len());
    4_096 + spans.sum::<usize>() + history.sum::<usize>() + answer.answer.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests;
