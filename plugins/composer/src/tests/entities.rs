//! What the domain's adapter found in a question restricts its governed column, however the question spells it.

use airlock_plugin_sdk::Attribute;
use airlock_plugin_sdk::Generator;
use airlock_plugin_sdk::contract::generator::GenerateStep;
use airlock_plugin_sdk::harness::{Recorded, table};

use super::input;
use crate::Composer;

fn fleet() -> Recorded {
    Recorded::new()
        .table(
            table("fleet.machines")
                .columns(&[("machine_key", "text"), ("model", "text")])
                .primary_key(&["machine_key"]),
        )
        .table(
            table("fleet.downtimes")
                .columns(&[
                    ("order_no", "text"),
                    ("machine_key", "text"),
                    ("down_from", "date"),
                    ("down_hours", "numeric"),
                ])
                .primary_key(&["order_no"])
                .time_column("down_from"),
        )
        .join("fleet.downtimes.machine_key", "fleet.machines.machine_key")
        .metric("downtime", &["hours down"], "fleet.downtimes", "sum(downtimes.down_hours)", "")
}

fn composed(question: &str, matched: Option<&str>) -> String {
    let mut input = input(&fleet(), question);
    if let Some(matched) = matched {
        input.attributes.push(Attribute {
            key: "canonical:machine".into(),
            value: format!(
                r#"{{"key":"MK-00412","matched":"{matched}","columns":[{{"schema":"fleet","table":"machines","column":"machine_key"}}]}}"#
            ),
        });
    }
    match Composer::run(&fleet(), input, Vec::new()).unwrap() {
        GenerateStep::Done(draft) => draft.sql.split_whitespace().collect::<Vec<_>>().join(" "),
        GenerateStep::Refuse(refusal) => format!("refused: {}", refusal.reason),
        GenerateStep::Ask(_) => "asks".into(),
    }
}

#[test]
fn the_key_stands_for_the_words() {
    for matched in ["SN-00412", "sn 412", "S/N 00412-A", "Serial no. 412", "s/n:412"] {
        let sql = composed(&format!("What was the downtime of {matched} in 2025?"), Some(matched));
        assert!(sql.contains("machine_key = 'MK-00412'"), "{matched}: {sql}");
        assert!(sql.contains("2025-01-01") && sql.contains("sum("), "{matched}: {sql}");
    }
}

#[test]
fn without_the_adapter_the_words_are_not_guessed_at() {
    let sql = composed("What was the downtime of sn 412 in 2025?", None);
    assert!(sql.starts_with("refused"), "{sql}");
}
