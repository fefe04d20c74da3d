//! The shape of a trace and what it holds, and that a queue that is full drops and counts.

use std::collections::BTreeMap;

use airlock_pipeline::golden::{Judged, Verdict};
use airlock_pipeline::{Grade, TraceParent};
use opentelemetry::InstrumentationScope;
use opentelemetry::trace::{SpanId, Status};
use opentelemetry_sdk::trace::SpanData;

use super::spans::Shape;
use super::*;
use crate::settings::SqlText;
use crate::testing::{QUESTION, repaired};

fn shape(sql: SqlText, content: bool) -> Shape {
    Shape { scope: InstrumentationScope::builder("airlock").build(), sql, content }
}

fn attributes(span: &SpanData) -> BTreeMap<String, String> {
    span.attributes.iter().map(|pair| (pair.key.to_string(), pair.value.to_string())).collect()
}

#[test]
fn a_trace_is_shaped_like_the_ask() {
    let observed = repaired();
    let spans = shape(SqlText::Masked, false).spans(&observed);
    let parent = |span: &SpanData| {
        let parent = spans.iter().find(|other| other.span_context.span_id() == span.parent_span_id);
        parent.map(|parent| parent.name.to_string())
    };
    let seen: Vec<(String, Option<String>)> =
        spans.iter().map(|span| (span.name.to_string(), parent(span))).collect();
    let seen: Vec<(&str, Option<&str>)> =
        seen.iter().map(|(name, parent)| (name.as_str(), parent.as_deref())).collect();
    let root = Some("invoke_agent airlock");
    assert_eq!(
        seen,
        [
            ("invoke_agent airlock", None),
            ("prepare", root),
            ("generator", root),
            ("chat large", Some("generator")),
            ("gate", root),
            ("connection", root),
            ("SELECT shop.bills", root),
            ("repair", root),
            ("repair rewrite", root),
            ("gate", root),
            ("SELECT shop.bills", root),
        ]
    );
    let ids: std::collections::BTreeSet<_> =
        spans.iter().map(|span| span.span_context.span_id().to_bytes()).collect();
    assert_eq!(ids.len(), spans.len());
    assert!(!ids.contains(&SpanId::INVALID.to_bytes()));
    for span in &spans {
        assert_eq!(span.span_context.trace_id().to_string(), observed.answer.trace_id);
        assert!(span.start_time >= spans[0].start_time && span.end_time <= spans[0].end_time, "{span:?}");
    }
    let red: Vec<&str> = spans
        .iter()
        .filter(|span| matches!(span.status, Status::Error { .. }))
        .map(|span| span.name.as_ref())
        .collect();
    assert_eq!(red, ["SELECT shop.bills", "gate"]);
    assert_eq!(attributes(&spans[6])["error.type"], "42703");
    assert_eq!(attributes(&spans[9])["error.type"], "unknown-column");
    let model = attributes(&spans[3]);
    for (key, want) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "anthropic"),
        ("gen_ai.request.model", "large"),
        ("gen_ai.usage.input_tokens", "100"),
        ("langfuse.observation.type", "generation"),
        ("langfuse.observation.cost_details", "{\"total\":0.25}"),
        ("airlock.requests", "2"),
    ] {
        assert_eq!(model[key], want, "{key}");
    }
}

#[test]
fn what_was_asked_and_said_is_in_a_trace_only_where_it_is_wanted() {
    for (sql, content, names, question) in [
        (SqlText::None, false, false, false),
        (SqlText::Masked, false, false, false),
        (SqlText::Full, false, true, false),
        (SqlText::Masked, true, true, true),
    ] {
        let spans = shape(sql, content).spans(&repaired());
        let text = format!("{spans:?}");
        assert_eq!(text.contains("Ziegelbauer"), names, "{sql:?} {content}");
        assert_eq!(text.contains(QUESTION), question, "{sql:?} {content}");
        let query = attributes(&spans[6]).get("db.query.text").cloned();
        assert_eq!(query.is_some(), sql != SqlText::None);
        if sql == SqlText::Masked {
            assert!(query.unwrap().contains("b.name = $1"));
        }
    }
}

#[test]
fn a_grade_is_an_event_and_another_service_a_link() {
    let judged = |verdict| Judged { verdict, first: None, presentation: None };
    for (verdict, label, score) in [
        (Verdict::Right, "right", Some("1")),
        (Verdict::Wrong { why: "two rows".to_owned() }, "wrong", Some("0")),
        (Verdict::Undecided { why: "cut".to_owned() }, "undecided", None),
    ] {
        let grade = Grade { case: "q1".to_owned(), judged: judged(verdict) };
        let observed = Observed { grade: Some(grade), asker: None, ..repaired() };
        let spans = shape(SqlText::Masked, false).spans(&observed);
        let event = &spans[0].events[0];
        assert_eq!(event.name, "gen_ai.evaluation.result");
        let of = |key: &str| {
            let found = event.attributes.iter().find(|pair| pair.key.as_str() == key);
            found.map(|pair| pair.value.to_string())
        };
        assert_eq!(of("gen_ai.evaluation.score.label").as_deref(), Some(label));
        assert_eq!(of("gen_ai.evaluation.score.value").as_deref(), score);
        assert_eq!(of("gen_ai.evaluation.explanation"), None);
    }
    let mut observed = repaired();
    let parent: TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().unwrap();
    observed.asker.as_mut().unwrap().trace = Some(parent);
    let spans = shape(SqlText::Masked, false).spans(&observed);
    let link = &spans[0].links[0].span_context;
    assert_eq!(link.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert!(link.is_remote());
    assert_eq!(spans[0].parent_span_id, SpanId::INVALID);
}

#[tokio::test]
async fn a_collector_that_does_not_listen_costs_traces_and_nothing_else() {
    // Taken, and never accepted from: what connects waits.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = TraceSettings {
        endpoint: format!("http://{}/v1/traces", silent.local_addr().unwrap()),
        headers: std::collections::HashMap::new(),
        service_name: "airlock".to_owned(),
        sql: SqlText::Masked,
        content: false,
    };
    let traces = Traces::begin(&settings).unwrap();
    let observed = Arc::new(repaired());
    for _ in 0..WAITING * 3 {
        traces.ended(&observed);
    }
    let counts = traces.counts();
    assert!(counts.dropped() >= (WAITING - 2 * 64) as u64, "{counts:?}");
    assert_eq!(counts.sent(), 0);
    assert!(counts.held.load(Ordering::Relaxed) <= BYTES, "what waits is bounded: {counts:?}");
}
