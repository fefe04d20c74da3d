//! What is counted, for Prometheus. Every name begins with `airlock_`.
//!
//! What happened is counted as it happens, by an observer of the host and by the HTTP server; how things are now is read
//! when somebody looks ([`state`]). Labels come from closed lists and from the configuration: no text that somebody asked,
//! wrote or was told is ever one.

mod state;

use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_pipeline::timeline::{Doing, Span};
use airlock_pipeline::{Host, Observed, Observer};
use airlock_types::Mode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use crate::traces::Counts;

/// The content type of what [`Metrics::render`] writes.
pub use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

/// Seconds of an ask, of which a model may take most and none may take any.
const LONG: [f64; 16] =
    [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Seconds of what the host does by itself.
const SHORT: [f64; 12] = [0.000_25, 0.000_5, 0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];
/// Texts offered as the answer to one question.
const ATTEMPTS: [f64; 4] = [0.0, 1.0, 2.0, 3.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AskLabels {
    domain: String,
    surface: &'static str,
    mode: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DomainOutcome {
    domain: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StageLabels {
    stage: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabels {
    role: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatementLabels {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Code {
    code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorType {
    error_type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Action {
    action: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// The counts of a server. One of it serves every surface.
pub struct Metrics {
    registry: Registry,
    begun: Instant,
    asks: Family<AskLabels, Counter>,
    ask_seconds: Histograms<DomainOutcome>,
    attempts: Histograms<DomainOutcome>,
    own_seconds: Histogram,
    failures: Family<Kind, Counter>,
    stage_seconds: Histograms<StageLabels>,
    gate_checks: Family<Outcome, Counter>,
    gate_rejections: Family<Code, Counter>,
    attempt_errors: Family<ErrorType, Counter>,
    repairs: Family<Action, Counter>,
    model_seconds: Histograms<ModelLabels>,
    statement_seconds: Histograms<StatementLabels>,
    wait_seconds: Histograms<Outcome>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histograms<Route>,
    traces: Option<Arc<Counts>>,
}

fn long<L: Clone + std::hash::Hash + Eq>() -> Histograms<L> {
    Family::new_with_constructor(|| Histogram::new(LONG))
}

fn short<L: Clone + std::hash::Hash + Eq>() -> Histograms<L> {
    Family::new_with_constructor(|| Histogram::new(SHORT))
}

/// Puts a metric under its name.
fn known<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

impl Metrics {
    /// Nothing counted yet. `traces` says what became of traces, where there are any.
    #[must_use]
    pub fn new(traces: Option<Arc<Counts>>) -> Self {
        let mut registry = Registry::with_prefix("airlock");
        let of = &mut registry;
        let attempts = Family::new_with_constructor((|| Histogram::new(ATTEMPTS)) as fn() -> Histogram);
        Self {
            begun: Instant::now(),
            asks: known(of, "asks", "Asks that ended", Family::default()),
            ask_seconds: known(of, "ask_seconds", "Time from question to record", long()),
            attempts: known(of, "ask_attempts", "Texts offered as the answer to a question", attempts),
            own_seconds: known(
                of,
                "ask_own_seconds",
                "Time of an ask without models, statements and waits for connections",
                Histogram::new(SHORT),
            ),
            failures: known(of, "ask_faults", "Asks that failed, by what was at fault", Family::default()),
            stage_seconds: known(of, "stage_seconds", "Time of a stage, models included", long()),
            gate_checks: known(of, "gate_checks", "Texts that the gate read", Family::default()),
            gate_rejections: known(of, "gate_rejections", "Texts that the gate rejected", Family::default()),
            attempt_errors: known(of, "attempt_errors", "Attempts that failed, by type", Family::default()),
            repairs: known(of, "repairs", "What repair chose to do", Family::default()),
            model_seconds: known(of, "model_seconds", "Time of a question to a model during an ask", long()),
            statement_seconds: known(of, "statement_seconds", "Time of a statement", long()),
            wait_seconds: known(of, "connection_wait_seconds", "Time for a connection to be had", short()),
            requests: known(of, "http_requests", "HTTP requests", Family::default()),
            request_seconds: known(of, "http_request_seconds", "Time to the head of a response", long()),
            traces,
            registry,
        }
    }

    /// Counts a request that got its response. The route is the server's own pattern, never a path as it was sent.
    pub fn request(&self, route: Option<&str>, method: &str, status: u16, took: Duration) {
        let route = route.unwrap_or("none").to_owned();
        let method = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]
            .into_iter()
            .find(|known| *known == method)
            .unwrap_or("other");
        self.requests.get_or_create(&RequestLabels { route: route.clone(), method, status }).inc();
        self.request_seconds.get_or_create(&Route { route }).observe(took.as_secs_f64());
    }

    /// Everything as text: what was counted, and how the host is now.
    #[must_use]
    pub fn render(&self, host: &Host) -> String {
        let mut text = String::new();
        let now = state::registry(host, self.begun.elapsed(), self.traces.as_deref());
        // Writing into memory does not fail.
        let _ = prometheus_text::encode(&mut text, &self.registry);
        let _ = prometheus_text::encode(&mut text, &now);
        text
    }

    fn span(&self, span: &Span) {
        let seconds = span.took.as_secs_f64();
        let outcome = if span.trouble.is_some() { "error" } else { "ok" };
        match &span.doing {
            Doing::Prepare => {
                self.stage_seconds.get_or_create(&StageLabels { stage: "prepare", outcome }).observe(seconds);
            }
            Doing::Rerank { .. } => {
                self.stage_seconds.get_or_create(&StageLabels { stage: "rerank", outcome }).observe(seconds);
            }
            Doing::Stage { stage, .. } => {
                self.stage_seconds.get_or_create(&StageLabels { stage, outcome }).observe(seconds);
            }
            Doing::Model(call) => {
                let outcome = if span.trouble.is_some() { "error" } else { "replied" };
                self.model_seconds.get_or_create(&ModelLabels { role: call.role, outcome }).observe(seconds);
            }
            Doing::Gate { rejected, .. } => {
                let outcome = if rejected.is_some() { "rejected" } else { "approved" };
                self.gate_checks.get_or_create(&Outcome { outcome }).inc();
                if let Some(code) = rejected {
                    self.gate_rejections.get_or_create(&Code { code: (*code).to_owned() }).inc();
                }
            }
            Doing::Wait => {
                self.wait_seconds.get_or_create(&Outcome { outcome }).observe(seconds);
            }
            Doing::Statement(statement) => {
                let kind = if statement.probe { "probe" } else { "attempt" };
                self.statement_seconds.get_or_create(&StatementLabels { kind, outcome }).observe(seconds);
            }
            Doing::Repair { action } => {
                self.repairs.get_or_create(&Action { action }).inc();
            }
            _ => {}
        }
    }
}

impl Observer for Metrics {
    fn ended(&self, observed: &Arc<Observed>) {
        // Golden cases are nobody's questions.
        let Some(asker) = observed.asker.as_ref().filter(|_| observed.grade.is_none()) else { return };
        let answer = &observed.answer;
        let (domain, outcome) = (answer.domain.to_string(), answer.outcome.as_str());
        let mode = if observed.mode == Mode::Agent { "agent" } else { "baseline" };
        let surface = asker.surface.as_str();
        self.asks.get_or_create(&AskLabels { domain: domain.clone(), surface, mode, outcome }).inc();
        let labels = DomainOutcome { domain, outcome };
        self.ask_seconds.get_or_create(&labels).observe(observed.timeline.took.as_secs_f64());
        self.attempts.get_or_create(&labels).observe(f64::from(answer.attempts));
        if let Some(kind) = observed.fault {
            self.failures.get_or_create(&Kind { kind }).inc();
        }
        for error in answer.history.iter().filter_map(|entry| entry.error_type) {
            self.attempt_errors.get_or_create(&ErrorType { error_type: error.as_str() }).inc();
        }
        let mut others = Duration::ZERO;
        for span in &observed.timeline.spans {
            if matches!(span.doing, Doing::Model(_) | Doing::Statement(_) | Doing::Wait) {
                others += span.took;
            }
            self.span(span);
        }
        self.own_seconds.observe(observed.timeline.took.saturating_sub(others).as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
