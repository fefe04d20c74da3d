//! What operators see of asks: traces over OTLP and metrics for Prometheus.
