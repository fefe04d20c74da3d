//! The adapter against what the host's gate says of real texts, recorded in `recorded.json`.

use std::collections::BTreeSet;

use airlock_plugin_sdk::contract::domain::Severity;
use airlock_plugin_sdk::harness::{Recorded, clock};

use super::*;

/// Texts over the fleet, and the codes of what is to be said of them.
const CASES: [(&str, &[&str]); 34] = [
    // Serials belong to the governed key.
    ("SELECT count(*) FROM work_orders WHERE machine_key = 'MK-00412'", &[]),
    ("SELECT machine_key, plate_text FROM machines", &[]),
    ("SELECT count(*) FROM work_orders WHERE complaint_text ILIKE '%hydraulic%'", &[]),
    ("SELECT count(*) FROM work_orders WHERE complaint_text LIKE '%1/2 inch%'", &[]),
    ("SELECT count(*) FROM work_orders WHERE complaint_text IS NULL AND order_no = 'WO-24-0412'", &[]),
    ("SELECT machine_key FROM machines WHERE plate_text = 'SN-00412'", &["raw-serial-scan"]),
    ("SELECT machine_key FROM machines WHERE plate_text LIKE '%412%'", &["raw-serial-scan"]),
    ("SELECT machine_key FROM machines WHERE plate_text IN ('sn 412', 'SN-00412')", &["raw-serial-scan"]),
    ("SELECT machine_key FROM machines m WHERE upper(m.plate_text) = 'SN-00412'", &["raw-serial-scan"]),
    ("SELECT machine_key FROM machines WHERE plate_text ~ '0*412'", &["raw-serial-scan"]),
    (
        "SELECT machine_key FROM machines WHERE regexp_replace(plate_text, '[^0-9]', '', 'g')::integer = 412",
        &["raw-serial-scan"],
    ),
    ("SELECT count(*) FROM work_orders WHERE complaint_text ILIKE '%sn 412%'", &["raw-serial-scan"]),
    (
        "SELECT count(*) FROM work_orders WHERE strpos(lower(complaint_text), 'sn 412') > 0",
        &["raw-serial-scan"],
    ),
    ("SELECT count(*) FILTER (WHERE complaint_text LIKE '%00412%') FROM work_orders", &["raw-serial-scan"]),
    ("SELECT count(*) FROM inspections WHERE findings_text LIKE '%S/N 00412-A%'", &["raw-serial-scan"]),
    (
        "SELECT o.order_no FROM work_orders o JOIN machines m ON o.complaint_text LIKE '%' || m.plate_text WHERE m.machine_key = 'MK-00412'",
        &["raw-serial-scan"],
    ),
    ("SELECT sum(\"CostEUR\") FROM \"LegacyServiceLog\" WHERE \"SerialNo\" = 'sn 412'", &["raw-serial-scan"]),
    ("SELECT sum(\"CostEUR\") FROM \"LegacyServiceLog\" WHERE \"MachineKey\" = 'MK-00412'", &[]),
    (
        "SELECT l.\"LogId\" FROM \"LegacyServiceLog\" l JOIN machines m ON m.plate_text = l.\"SerialNo\"",
        &["raw-serial-scan"],
    ),
    // Readings have a range of time.
    ("SELECT sum(hours_run) FROM meter_readings", &["unbounded-time"]),
    ("SELECT max(read_on) FROM meter_readings WHERE machine_key = 'MK-00412'", &["unbounded-time"]),
    ("SELECT sum(hours_run) FROM meter_readings WHERE read_on >= DATE '2026-01-01'", &[]),
    ("SELECT sum(hours_run) FROM meter_readings WHERE read_on BETWEEN '2026-01-01' AND '2026-06-30'", &[]),
    ("SELECT sum(hours_run) FROM meter_readings WHERE read_on > current_date - 30", &[]),
    ("SELECT sum(hours_run) FROM meter_readings WHERE extract(year FROM read_on) = 2026", &[]),
    (
        "SELECT m.model_code, sum(r.hours_run) FROM machines m JOIN meter_readings r ON r.machine_key = m.machine_key AND r.read_on >= DATE '2026-01-01' GROUP BY 1",
        &[],
    ),
    (
        "SELECT a.machine_key FROM meter_readings a JOIN meter_readings b ON a.read_on = b.read_on AND a.machine_key < b.machine_key",
        &["unbounded-time"],
    ),
    (
        "SELECT sum(CASE WHEN read_on >= DATE '2026-01-01' THEN hours_run END) FROM meter_readings WHERE machine_key = 'MK-00412'",
        &["unbounded-time"],
    ),
    ("SELECT sum(counter_hours) FROM meter_readings WHERE read_on >= DATE '2026-01-01'", &["summed-counter"]),
    ("SELECT max(counter_hours) FROM meter_readings WHERE read_on >= DATE '2026-01-01'", &[]),
    // What is only doubted.
    ("SELECT sum(net_amount) FROM invoices", &["all-invoice-states"]),
    ("SELECT sum(net_amount) FROM invoices WHERE state IN ('sent', 'paid')", &[]),
    ("SELECT avg(utilisation) FROM machine_months", &["month-not-closed"]),
    (
        "SELECT avg(utilisation) FROM machine_months WHERE month >= DATE '2025-01-01' AND month < DATE '2026-01-01'",
        &[],
    ),
];

fn host() -> Recorded {
    Recorded::from_json(include_str!("recorded.json")).unwrap()
}

fn codes(host: &Recorded, sql: &str) -> BTreeSet<String> {
    let facts = host.checks[sql].clone().unwrap();
    let findings = EquipmentFleet::review(host, sql.into(), facts, clock("2026-11-29")).unwrap();
    for finding in &findings {
        let blocks = !matches!(finding.code.as_str(), "all-invoice-states" | "month-not-closed");
        assert_eq!(finding.severity == Severity::Block, blocks, "{finding:?}");
        assert!(!blocks || finding.hint.is_some(), "what is blocked says what to write instead: {finding:?}");
    }
    findings.into_iter().map(|finding| finding.code).collect()
}

#[test]
fn every_text_gets_its_findings_and_no_others() {
    let host = host();
    for (sql, want) in CASES {
        assert_eq!(codes(&host, sql), want.iter().map(|code| (*code).to_owned()).collect(), "{sql}");
    }
}

#[test]
fn serials_of_a_question_become_keys() {
    let found = EquipmentFleet::canonicalize(
        &host(),
        "Downtime of sn 412 and S/N 00423-A?".into(),
        clock("2026-11-29"),
    )
    .unwrap();
    let told: Vec<(&str, &str, &str)> =
        found.iter().map(|it| (it.kind.as_str(), it.matched.as_str(), it.key.as_str())).collect();
    assert_eq!(told, [("machine", "sn 412", "MK-00412"), ("machine", "S/N 00423-A", "MK-00423")]);
}

#[test]
fn a_text_without_an_outline_is_not_waved_through() {
    let sql = "SELECT machine_key FROM machines";
    let host = Recorded::new().unreadable(sql);
    let facts =
        Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals: Vec::new() };
    assert!(EquipmentFleet::review(&host, sql.into(), facts, clock("2026-11-29")).is_err());
}

#[test]
fn a_candidate_that_names_or_scans_for_a_raw_serial_is_rejected() {
    let host = host();
    let judged = |text: &str, sql: Option<&str>| {
        let candidate = Candidate { kind: "example".into(), text: text.into(), sql: sql.map(str::to_owned) };
        EquipmentFleet::judge(&host, candidate).unwrap()
    };
    let scan = "SELECT machine_key FROM machines WHERE plate_text = 'SN-00412'";
    let good = "SELECT count(*) FROM work_orders WHERE machine_key = 'MK-00412'";
    for (text, sql, rejected) in [
        ("Downtime of MK-00412 in 2025", Some(good), false),
        ("Restrict read_on", None, false),
        ("Downtime of sn 412 in 2025", Some(good), true),
        ("Plates of serial #412 are worn", None, true),
        ("Which machine is it?", Some(scan), true),
    ] {
        assert_eq!(matches!(judged(text, sql), Opinion::Reject(_)), rejected, "{text}");
    }
}

#[test]
fn seed_lessons_would_pass_their_own_judge() {
    let host = host();
    for lesson in EquipmentFleet::seed_lessons(&host).unwrap() {
        let candidate = Candidate { kind: "lesson".into(), text: lesson.text.clone(), sql: None };
        assert_eq!(EquipmentFleet::judge(&host, candidate).unwrap(), Opinion::NoObjection, "{}", lesson.text);
    }
}
