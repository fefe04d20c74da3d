//! The stage on a small shop.

use airlock_plugin_sdk::Attribute;
use airlock_plugin_sdk::harness::{Recorded, clock, drive};

use super::*;

fn input(evidence: &[&str], sql: Option<&str>, attributes: &[(&str, &str)]) -> DistillInput {
    let attribute = |(key, value): &(&str, &str)| Attribute { key: (*key).into(), value: (*value).into() };
    DistillInput {
        question: "How many bills were raised?".into(),
        clock: clock("2026-07-15"),
        outcome: "answered".into(),
        sql: sql.map(str::to_owned),
        answer: None,
        attempts: Vec::new(),
        evidence: evidence.iter().map(|text| (*text).to_owned()).collect(),
        model_available: true,
        attributes: attributes.iter().map(attribute).collect(),
    }
}

#[test]
fn without_positive_evidence_there_is_no_lesson_and_no_model_is_asked() {
    let host = Recorded::new();
    for input in [
        input(&[], Some("SELECT count(*) FROM bills"), &[]),
        input(
            &[],
            Some("SELECT count(*) FROM bills"),
            &[("verdict", "corrected"), ("note", "TSC = total sales")],
        ),
        input(&["too little"], Some("SELECT count(*) FROM bills"), &[]),
    ] {
        let played = drive([], |exchanges| Distill::run(&host, input.clone(), exchanges));
        assert_eq!(played.end, Ok(DistillStep::Done(Vec::new())));
        assert!(played.requests.is_empty());
    }
}

#[test]
fn a_note_beside_a_correction_is_kept_in_its_words() {
    let host = Recorded::new();
    let input = input(&["corrected"], None, &[("verdict", "corrected"), ("note", "TSC = total sales count")]);
    let Ok(DistillStep::Done(lessons)) = Distill::run(&host, input, Vec::new()) else { panic!() };
    assert_eq!(lessons.len(), 1);
    assert_eq!((lessons[0].text.as_str(), lessons[0].trigger.as_str()), ("TSC = total sales count.", "TSC"));
}
