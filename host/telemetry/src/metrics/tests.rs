//! What is counted of an ask, and that nothing that was asked is a label.

use airlock_pipeline::Grade;
use airlock_pipeline::golden::{Judged, Verdict};

use super::*;
use crate::testing::{QUESTION, repaired};

fn text(metrics: &Metrics) -> String {
    let mut text = String::new();
    prometheus_text::encode(&mut text, &metrics.registry).unwrap();
    text
}

#[test]
fn an_ask_is_counted_by_its_ending_its_stages_and_its_attempts() {
    let metrics = Metrics::new(None);
    metrics.ended(&Arc::new(repaired()));
    let text = text(&metrics);
    for want in [
        "airlock_asks_total{domain=\"shop\",surface=\"http\",mode=\"agent\",outcome=\"answered\"} 1",
        "airlock_ask_attempts_sum{domain=\"shop\",outcome=\"answered\"} 2",
        "airlock_stage_seconds_count{stage=\"generator\",outcome=\"ok\"} 1",
        "airlock_gate_checks_total{outcome=\"approved\"} 1",
        "airlock_gate_rejections_total{code=\"unknown-column\"} 1",
        "airlock_attempt_errors_total{error_type=\"unknown_column\"} 1",
        "airlock_repairs_total{action=\"rewrite\"} 1",
        "airlock_model_seconds_count{role=\"reasoning\",outcome=\"replied\"} 1",
        "airlock_statement_seconds_count{kind=\"attempt\",outcome=\"error\"} 1",
        "airlock_connection_wait_seconds_count{outcome=\"ok\"} 1",
        // 30 ms, of which 8 were a model's, 1 was waited and 6 were PostgreSQL's.
        "airlock_ask_own_seconds_sum 0.015",
    ] {
        assert!(text.contains(want), "{want}\n{text}");
    }
    assert!(!text.contains("Ziegelbauer") && !text.contains(QUESTION), "{text}");
}

#[test]
fn golden_cases_are_not_counted_as_questions() {
    let metrics = Metrics::new(None);
    let judged = Judged { verdict: Verdict::Right, first: None, presentation: None };
    let grade = Some(Grade { case: "q1".to_owned(), judged });
    metrics.ended(&Arc::new(Observed { grade, asker: None, ..repaired() }));
    assert!(!text(&metrics).contains("shop"));
}

#[test]
fn a_path_that_is_no_route_is_no_label() {
    let metrics = Metrics::new(None);
    metrics.request(None, "BREW", 404, Duration::ZERO);
    metrics.request(Some("/api/examples/{id}"), "GET", 200, Duration::ZERO);
    let text = text(&metrics);
    assert!(
        text.contains("airlock_http_requests_total{route=\"none\",method=\"other\",status=\"404\"} 1"),
        "{text}"
    );
    assert!(text.contains("route=\"/api/examples/{id}\",method=\"GET\",status=\"200\"} 1"), "{text}");
}
