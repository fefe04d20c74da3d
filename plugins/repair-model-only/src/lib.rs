//! A repair stage that edits nothing: every failure goes back to the model, with what PostgreSQL said and what the catalogue
//! has. Beside the built-in stage it shows what edits are worth; without a model it can only stop.

use airlock_plugin_sdk::contract::repair::{Regenerate, RepairInput, RepairStep, Stop, Widen};
use airlock_plugin_sdk::failure::in_words;
use airlock_plugin_sdk::{Exchange, Host, Repairer, StageError};

/// The width that linking is widened to.
const WIDEST: u32 = 9;
/// Columns of a table that are told.
const COLUMNS: usize = 60;
/// Spellings that are told.
const SPELLINGS: usize = 10;

/// Asks, and never edits.
pub struct AskAgain;

impl Repairer for AskAgain {
    fn run(
        host: &impl Host,
        input: RepairInput,
        _exchanges: Vec<Exchange>,
    ) -> Result<RepairStep, StageError> {
        let failure = &input.failure;
        if failure.sql.trim().is_empty() {
            return Err(StageError::BadInput("failure.sql is empty".into()));
        }
        let stop = |reason: &str| Ok(RepairStep::Stop(Stop { reason: reason.to_owned() }));
        if !failure.repairable || failure.error_type == "unknown" {
            return stop("Nothing is known that would repair this failure.");
        }
        if input.remaining == 0 {
            return stop("No attempt is left.");
        }
        let spellings = input.probe.as_ref().map(|probe| probe.spellings.as_slice()).unwrap_or_default();
        // An empty answer that nothing speaks against is an answer.
        if failure.error_type == "empty_result" && spellings.is_empty() {
            return stop(
                "The query ran and found nothing, and no other spelling of what it looks for is in the data.",
            );
        }
        if !input.model_available {
            return stop("This repair asks a model, and none is there.");
        }
        let mut lines = vec![advice(&failure.error_type).to_owned(), in_words(failure)];
        lines.extend(scope(host, &input));
        if !spellings.is_empty() {
            let list: Vec<&str> = spellings.iter().take(SPELLINGS).map(String::as_str).collect();
            lines.push(format!("The data spells it: {}", list.join(", ")));
        }
        let instructions = lines.join("\n");
        let lacks = ["unknown_column", "unknown_table"].contains(&failure.error_type.as_str());
        Ok(if lacks && input.width < WIDEST {
            RepairStep::Widen(Widen { width: WIDEST, instructions })
        } else {
            RepairStep::Regenerate(Regenerate { instructions })
        })
    }
}

airlock_plugin_sdk::export!(repair: AskAgain);

/// What to do differently.
fn advice(error_type: &str) -> &'static str {
    match error_type {
        "unknown_column" | "unknown_table" | "ambiguous_column" => {
            "Use only the tables and columns of the context, and qualify each column by the alias of its table."
        }
        "syntax_error" | "unknown_function" | "ambiguous_function" => {
            "Write the query in PostgreSQL's own dialect."
        }
        "type_mismatch" | "out_of_range" => "Cast values explicitly so that their types fit.",
        "grouping_error" | "windowing_error" | "invalid_reference" => {
            "Mind which clause knows of groups, windows and output names; move what stands too early into a subquery."
        }
        "empty_result" => "Compare with the values as the data spells them, and change nothing else.",
        "timeout" | "resource" | "too_complex" => "Write a simpler query: fewer joins, aggregation first.",
        "duplicate_draft" => "The same query was tried before; write one that differs in what made it fail.",
        _ => "The query failed. Write it again without the mistake.",
    }
}

/// The columns of the selected tables, a line each.
fn scope(host: &impl Host, input: &RepairInput) -> Vec<String> {
    let details = input.selection.tables.iter().filter_map(|selected| host.describe(&selected.table));
    details
        .map(|table| {
            let columns = table.columns.iter().take(COLUMNS);
            let columns: Vec<String> =
                columns.map(|column| format!("{} {}", column.name, column.sql_type)).collect();
            format!("{} has {}", table.summary.table.name, columns.join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::Failure;
    use airlock_plugin_sdk::contract::linker::{SelectedTable, Selection};
    use airlock_plugin_sdk::contract::planner::Plan;
    use airlock_plugin_sdk::harness::{Recorded, clock, drive, table, table_ref};

    use super::*;

    fn run(error_type: &str, change: impl Fn(&mut RepairInput)) -> RepairStep {
        let host =
            Recorded::new().table(table("bills").columns(&[("bill_id", "bigint"), ("status", "text")]));
        let failure = Failure {
            error_type: error_type.into(),
            message: "it was said".into(),
            hint: None,
            sqlstate: None,
            position: None,
            repairable: true,
            sql: "SELECT 1".into(),
        };
        let mut input = RepairInput {
            question: "?".into(),
            clock: clock("2026-07-15"),
            plan: Plan {
                intent: "data".into(),
                steps: vec![],
                keywords: vec![],
                measures: vec![],
                filters: vec![],
                time: vec![],
                grouping: vec![],
                order: vec![],
                limit: None,
                assumptions: vec![],
                attributes: vec![],
            },
            selection: Selection {
                tables: vec![SelectedTable {
                    table: table_ref("bills"),
                    columns: vec![],
                    reason: String::new(),
                    score: 1.0,
                }],
                joins: vec![],
                attributes: vec![],
            },
            attempts: vec![],
            failure,
            probe: None,
            context: vec![],
            remaining: 2,
            width: 5,
            model_available: true,
            attributes: vec![],
        };
        change(&mut input);
        drive([], |exchanges| AskAgain::run(&host, input.clone(), exchanges)).end.unwrap()
    }

    #[test]
    fn every_failure_goes_to_the_model_with_what_is_known() {
        for (error_type, widens) in
            [("syntax_error", false), ("unknown_column", true), ("grouping_error", false)]
        {
            let (told, widened) = match run(error_type, |_| ()) {
                RepairStep::Widen(Widen { instructions, .. }) => (instructions, true),
                RepairStep::Regenerate(Regenerate { instructions }) => (instructions, false),
                other => panic!("{other:?}"),
            };
            assert_eq!(widened, widens, "{error_type}");
            assert!(
                told.contains("it was said") && told.contains("bills has bill_id bigint, status text"),
                "{told}"
            );
        }
    }

    #[test]
    fn it_stops_where_no_model_helps() {
        let stops = |error_type: &str, change: fn(&mut RepairInput)| {
            matches!(run(error_type, change), RepairStep::Stop(_))
        };
        assert!(stops("syntax_error", |input| input.model_available = false));
        assert!(stops("syntax_error", |input| input.remaining = 0));
        assert!(stops("syntax_error", |input| input.failure.repairable = false));
        assert!(stops("empty_result", |_| ()));
        assert!(stops("unknown", |_| ()));
        assert!(!stops("syntax_error", |_| ()));
    }
}
