//! The domain adapter of equipment-fleet: serials to their governed key, and rules on checked SQL.
//!
//! It asks the host for the nodes of a text and the gate's verdict, and for nothing else.

mod rules;
mod serial;
mod tree;

use airlock_plugin_sdk::contract::distill::LessonCandidate;
use airlock_plugin_sdk::contract::domain::{Candidate, Canonical, Finding, Opinion};
use airlock_plugin_sdk::contract::sql::Facts;
use airlock_plugin_sdk::{Clock, DomainAdapter, Host, StageError};

use tree::Tree;

/// The kind of entity whose keys are canonical; the pack's notes name the column that holds them.
const MACHINE: &str = "machine";

/// The adapter.
#[derive(Debug, Clone, Copy)]
pub struct EquipmentFleet;

impl DomainAdapter for EquipmentFleet {
    fn canonicalize(
        _host: &impl Host,
        question: String,
        _clock: Clock,
    ) -> Result<Vec<Canonical>, StageError> {
        let found = serial::find(&question).into_iter();
        Ok(found
            .map(|serial| Canonical { kind: MACHINE.into(), matched: serial.matched.into(), key: serial.key })
            .collect())
    }

    fn review(
        host: &impl Host,
        text: String,
        facts: Facts,
        clock: Clock,
    ) -> Result<Vec<Finding>, StageError> {
        Ok(rules::findings(&outlined(host, &text)?, &facts, &clock))
    }

    fn judge(host: &impl Host, candidate: Candidate) -> Result<Opinion, StageError> {
        if let Some(serial) = serial::find(&candidate.text).iter().find(|serial| !serial.is_key()) {
            let (matched, key) = (serial.matched, &serial.key);
            return Ok(Opinion::Reject(format!(
                "It names the machine {key} as `{matched}`; knowledge uses the governed key."
            )));
        }
        let Some(sql) = candidate.sql else { return Ok(Opinion::NoObjection) };
        let facts = match host.check(&sql) {
            Ok(facts) => facts,
            Err(rejection) => {
                return Ok(Opinion::Reject(format!("Its SQL does not pass the gate: {}", rejection.message)));
            }
        };
        let scan = rules::raw_serial_scan(&outlined(host, &sql)?, &facts);
        Ok(scan.map_or(Opinion::NoObjection, |finding| Opinion::Reject(finding.message)))
    }

    fn seed_lessons(_host: &impl Host) -> Result<Vec<LessonCandidate>, StageError> {
        Ok(vec![
            lesson(
                "schema-map",
                "A machine is found by machine_key (MK- and five digits), never by plate_text, complaint_text, memo_text, \
                 findings_text or \"SerialNo\".",
                "a machine named by its serial",
                &["serial", "machine_key"],
            ),
            lesson(
                "perf-guard",
                "Restrict read_on whenever meter_readings is read; machine_months answers whole months without it.",
                "hours, fuel or utilisation over time",
                &["meter_readings", "utilisation"],
            ),
            lesson(
                "resolution-pattern",
                "Add labour and parts up in order_costs: joining labour_entries and part_usages to one work order repeats both.",
                "cost of repairs",
                &["repair cost", "order_costs"],
            ),
        ])
    }
}

airlock_plugin_sdk::export!(domain: EquipmentFleet);

/// The tree of a text. Without one a rule could not see what it is there to block, so it is an error.
fn outlined<'t>(host: &impl Host, text: &'t str) -> Result<Tree<'t>, StageError> {
    match host.outline(text) {
        Ok(nodes) => Ok(Tree::new(text, nodes)),
        Err(rejection) => Err(StageError::Internal(format!("no outline of the text: {}", rejection.message))),
    }
}

fn lesson(kind: &str, text: &str, trigger: &str, tags: &[&str]) -> LessonCandidate {
    LessonCandidate {
        kind: kind.into(),
        text: text.into(),
        trigger: trigger.into(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        attributes: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
