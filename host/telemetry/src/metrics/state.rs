//! How the host is now: read when somebody looks, so that nothing has to keep it up to date.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use airlock_pipeline::Host;
use airlock_pipeline::quarantine::Consequence;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::traces::Counts;

type Labels = Vec<(&'static str, String)>;

/// Writes one metric after another.
struct Now(Registry);

impl Now {
    fn gauge(&mut self, name: &str, help: &str, rows: impl IntoIterator<Item = (Labels, f64)>) {
        let family = Family::<Labels, Gauge<f64, AtomicU64>>::default();
        for (labels, value) in rows {
            family.get_or_create(&labels).set(value);
        }
        self.0.register(name, help, family);
    }

    fn counter(&mut self, name: &str, help: &str, rows: impl IntoIterator<Item = (Labels, f64)>) {
        let family = Family::<Labels, Counter<f64, AtomicU64>>::default();
        for (labels, value) in rows {
            family.get_or_create(&labels).inc_by(value);
        }
        self.0.register(name, help, family);
    }
}

fn alone(value: f64) -> [(Labels, f64); 1] {
    [(Vec::new(), value)]
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn of(count: u64) -> f64 {
    count as f64
}

fn size(count: usize) -> f64 {
    of(u64::try_from(count).unwrap_or(u64::MAX))
}

/// Everything that is read now.
pub(super) fn registry(host: &Host, up: Duration, traces: Option<&Counts>) -> Registry {
    let mut now = Now(Registry::with_prefix("airlock"));
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    now.gauge("build_info", "The version that runs", [(version, 1.0)]);
    now.gauge("up_seconds", "Time since the start", alone(up.as_secs_f64()));
    if let Some(bytes) = resident() {
        now.gauge("resident_memory_bytes", "Memory of the process", alone(bytes));
    }
    load(&mut now, host);
    models(&mut now, host);
    sources(&mut now, host);
    components(&mut now, host);
    freshness(&mut now, host);
    drift(&mut now, host);
    log(&mut now, host);
    let became = |result: &str, count: u64| (vec![("result", result.to_owned())], of(count));
    let counts = traces.map(|counts| {
        [
            became("sent", counts.sent()),
            became("dropped", counts.dropped()),
            became("failed", counts.failed()),
        ]
    });
    now.counter("traces", "Traces by what became of them", counts.into_iter().flatten());
    now.0
}

fn drift(now: &mut Now, host: &Host) {
    let drifted = host.drift().into_iter().filter(|drift| drift.since.is_some());
    let rows = drifted.map(|drift| (vec![("domain", drift.domain.to_string())], size(drift.tables())));
    now.gauge("drifted_tables", "Tables that are no longer what people wrote about", rows);
}

fn log(now: &mut Now, host: &Host) {
    let journal = host.journal();
    let state = journal.as_ref().map_or("none", |journal| journal.state);
    let states = ["on", "behind", "off", "none"]
        .map(|each| (vec![("state", each.to_owned())], if each == state { 1.0 } else { 0.0 }));
    now.gauge("log_state", "Whether asks are logged: on, behind, off, or none without a store", states);
    let (written, waiting) = journal.map_or((0, 0), |journal| (journal.written, journal.waiting));
    now.counter("log_written", "Asks that were logged", alone(of(written)));
    now.gauge("log_waiting", "Asks that wait to be logged", alone(of(waiting)));
    let lost = host.unlogged().unwrap_or(0);
    now.counter("log_dropped", "Asks that were not logged, or not learned from", alone(of(lost)));
}

fn load(now: &mut Now, host: &Host) {
    let load = host.load();
    now.gauge("asks_in_flight", "Asks that are worked on", alone(size(load.in_flight)));
    now.gauge("ask_places", "Asks that may be worked on at once", alone(size(load.places)));
    now.counter("asks_turned_away", "Asks that found no place", alone(of(load.turned_away)));
    now.counter("asks_abandoned", "Asks whose asker went away", alone(of(load.abandoned)));
}

/// Everything asked of models, whoever asked: asks, learning, reviews.
fn models(now: &mut Now, host: &Host) {
    let usage = host.models().usage();
    let named = |model: &str| ("model", model.to_owned());
    now.counter(
        "model_calls",
        "Questions to models, by how they ended",
        usage.iter().flat_map(|(model, usage)| {
            usage
                .calls
                .iter()
                .map(move |(ended, count)| (vec![named(model), ("outcome", (*ended).to_owned())], of(*count)))
        }),
    );
    now.counter(
        "model_tokens",
        "Tokens as providers counted them",
        usage.iter().flat_map(|(model, usage)| {
            [("input", usage.tokens.input), ("output", usage.tokens.output)].map(|(direction, count)| {
                (vec![named(model), ("direction", direction.to_owned())], of(count))
            })
        }),
    );
    now.counter(
        "model_cost_dollars",
        "US dollars of the calls whose price is known",
        usage.iter().map(|(model, usage)| (vec![named(model)], usage.cost)),
    );
    now.counter(
        "model_unpriced_calls",
        "Answered calls whose price is not known",
        usage.iter().map(|(model, usage)| (vec![named(model)], of(usage.unpriced))),
    );
}

fn sources(now: &mut Now, host: &Host) {
    let mut seen = BTreeSet::new();
    let (mut connections, mut sizes, mut orphans, mut resting) = (vec![], vec![], vec![], vec![]);
    for domain in host.domains() {
        let name = domain.pack().settings.source.clone();
        // Domains over one source share its connections.
        if !seen.insert(name.clone()) {
            continue;
        }
        let source = domain.source();
        let pool = source.connections();
        let labels = |state: &str| vec![("source", name.clone()), ("state", state.to_owned())];
        connections.push((labels("taken"), size(pool.taken)));
        connections.push((labels("idle"), size(pool.idle)));
        let labels = vec![("source", name)];
        sizes.push((labels.clone(), size(pool.size)));
        orphans.push((labels.clone(), size(source.orphans())));
        resting.push((labels, if source.resting().is_some() { 1.0 } else { 0.0 }));
    }
    now.gauge("pool_connections", "Connections to a data source", connections);
    now.gauge("pool_size", "Connections that a data source may get", sizes);
    now.gauge("source_orphans", "Statements that PostgreSQL cannot stop and that still run", orphans);
    now.gauge("source_resting", "Whether nobody is sent to a data source for a while", resting);
}

fn components(now: &mut Now, host: &Host) {
    let set = host.registry().current();
    let serving = set.iter().map(|(stage, scope, component)| {
        let labels = vec![
            ("stage", stage.as_str().to_owned()),
            ("domains", scope.to_string()),
            ("component", component.name().to_owned()),
            ("digest", component.digest().to_string()),
        ];
        (labels, 1.0)
    });
    now.gauge("component_info", "The components in service", serving);
    let quarantined = host.quarantine().list().into_iter().map(|quarantined| {
        let then = match quarantined.consequence {
            Consequence::BroughtBack { .. } => "brought_back",
            Consequence::StageFails => "stage_fails",
            Consequence::NothingElse => "nothing_else",
        };
        let labels = vec![
            ("stage", quarantined.stage.as_str().to_owned()),
            ("domains", quarantined.domains.to_string()),
            ("component", quarantined.component.component),
            ("consequence", then.to_owned()),
        ];
        (labels, 1.0)
    });
    let quarantined: Vec<(Labels, f64)> = quarantined.collect();
    now.gauge("components_quarantined", "Components in quarantine", alone(size(quarantined.len())));
    now.gauge("quarantine_info", "The components in quarantine", quarantined);
}

fn freshness(now: &mut Now, host: &Host) {
    let all = host.freshness();
    let of = |domain: &airlock_types::DomainName| vec![("domain", domain.to_string())];
    let info =
        all.iter().map(|one| (vec![("domain", one.domain.to_string()), ("hash", one.pack.to_string())], 1.0));
    now.gauge("pack_info", "The packs in service", info);
    let mut ages = |name: &str, help: &str, age: fn(&airlock_pipeline::Freshness) -> Option<Duration>| {
        let rows = all.iter().filter_map(|one| Some((of(&one.domain), age(one)?.as_secs_f64())));
        now.gauge(name, help, rows);
    };
    ages("pack_age_seconds", "Since the pack was put in service", |one| Some(one.pack_age));
    ages("catalogue_age_seconds", "Since the source last said whether its schema changed", |one| {
        Some(one.catalogue_age)
    });
    ages("values_age_seconds", "Since the indexed values were last read", |one| Some(one.values_age));
    ages("vectors_age_seconds", "Since vectors were made; absent without them", |one| one.vectors_age);
}

/// Resident memory, where the system tells: the second number of `statm` counts pages, which are of 4 KiB on the processors
/// that this runs on.
fn resident() -> Option<f64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(of(pages * 4_096))
}
