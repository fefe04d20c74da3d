//! What operators see of asks: traces over OTLP and metrics for Prometheus.
//!
//! Both are observers of a host: [`Traces`] turns each finished ask into one trace, [`Metrics`] counts. Neither can delay or
//! fail an ask: counting is a few additions, and traces leave by a queue that is bounded and drops what finds no room.

pub mod metrics;
mod settings;
#[cfg(test)]
mod testing;
pub mod traces;

pub use metrics::Metrics;
pub use settings::{SqlText, TelemetryError, TelemetrySettings, TelemetryTable, TraceSettings};
pub use traces::{Traces, TracesError};
