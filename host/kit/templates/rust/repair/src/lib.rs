//! A repair strategy: a misspelt value is put right, an unknown name is looked for in more tables, and what nobody understands is
//! left alone.

use airlock_plugin_sdk::contract::repair::{RepairInput, RepairStep, Rewrite, Stop, Widen};
use airlock_plugin_sdk::{Exchange, Host, Repairer, StageError, failure};

/// Tables that are looked at when the first ones were not enough.
const WIDE: u32 = 9;

/// The strategy.
pub struct Plugin;

impl Repairer for Plugin {
    fn run(_host: &impl Host, input: RepairInput, _exchanges: Vec<Exchange>) -> Result<RepairStep, StageError> {
        if let Some(rewrite) = spelled(&input) {
            return Ok(RepairStep::Rewrite(rewrite));
        }
        let unknown_name = ["unknown_column", "unknown_table"].contains(&input.failure.error_type.as_str());
        if unknown_name && input.width < WIDE {
            return Ok(RepairStep::Widen(Widen { width: WIDE, instructions: failure::in_words(&input.failure) }));
        }
        // Guessing at a failure that nobody understands is how wrong answers are made.
        let reason = format!("This strategy knows no repair for `{}`.", input.failure.error_type);
        Ok(RepairStep::Stop(Stop { reason: reason.chars().take(200).collect() }))
    }
}

airlock_plugin_sdk::export!(repair: Plugin);

/// The query with the one spelling that the column really has, when the host found out that it was the spelling.
fn spelled(input: &RepairInput) -> Option<Rewrite> {
    let probe = input.probe.as_ref()?;
    let [right] = probe.spellings.as_slice() else { return None };
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let sql = input.failure.sql.replace(&quoted(&probe.literal), &quoted(right));
    (!failure::offered_before(&sql, &input.attempts) && sql != input.failure.sql).then(|| Rewrite {
        sql,
        change: "The value is written as the column has it.".into(),
        reason: "The column has it in another spelling only.".into(),
    })
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::contract::linker::Selection;
    use airlock_plugin_sdk::contract::planner::Plan;
    use airlock_plugin_sdk::contract::repair::ProbeFinding;
    use airlock_plugin_sdk::harness::{Recorded, clock, drive, table_ref};
    use airlock_plugin_sdk::{ColumnRef, Failure};

    use super::*;

    fn repaired(error_type: &str, spellings: &[&str]) -> RepairStep {
        let sql = "SELECT count(*) FROM loans WHERE status = 'out'";
        let input = RepairInput {
            question: "How many loans are out?".into(),
            clock: clock("2026-07-15"),
            plan: Plan {
                intent: "data".into(),
                steps: Vec::new(),
                keywords: Vec::new(),
                measures: Vec::new(),
                filters: Vec::new(),
                time: Vec::new(),
                grouping: Vec::new(),
                order: Vec::new(),
                limit: None,
                assumptions: Vec::new(),
                attributes: Vec::new(),
            },
            selection: Selection { tables: Vec::new(), joins: Vec::new(), attributes: Vec::new() },
            attempts: Vec::new(),
            failure: Failure {
                error_type: error_type.into(),
                message: "something".into(),
                hint: None,
                sqlstate: None,
                position: None,
                repairable: true,
                sql: sql.into(),
            },
            probe: Some(ProbeFinding {
                column: ColumnRef { table: table_ref("loans"), column: "status".into() },
                literal: "out".into(),
                spellings: spellings.iter().map(|&text| text.to_owned()).collect(),
                rows_without: None,
            }),
            context: Vec::new(),
            remaining: 2,
            width: 5,
            model_available: false,
            attributes: Vec::new(),
        };
        drive([], |exchanges| Plugin::run(&Recorded::new(), input.clone(), exchanges)).end.unwrap()
    }

    #[test]
    fn one_spelling_is_put_right_and_two_are_not_chosen_from() {
        let RepairStep::Rewrite(rewrite) = repaired("empty_result", &["OUT"]) else { panic!("no rewrite") };
        assert_eq!(rewrite.sql, "SELECT count(*) FROM loans WHERE status = 'OUT'");
        assert!(matches!(repaired("empty_result", &["OUT", "Out"]), RepairStep::Stop(_)));
        assert!(matches!(repaired("unknown_column", &[]), RepairStep::Widen(_)));
        assert!(matches!(repaired("weather", &[]), RepairStep::Stop(_)));
    }
}
