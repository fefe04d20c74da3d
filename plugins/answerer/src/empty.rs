//! Nothing found, told with what was checked.

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::contract::repair::ProbeFinding;

use crate::decimal::grouped;
use crate::label::label;
use crate::question::sentence as ended;
use crate::table;

/// Spellings that are named.
const SPELLINGS: usize = 5;

/// The sentence for no rows, and for the one row of NULL that an aggregate over nothing gives. Absent when there is
/// something to tell.
pub fn sentence(input: &AnswerInput) -> Option<String> {
    let head = if input.row_count == 0 {
        "No row matches the question.".to_owned()
    } else if input.row_count == 1 && aggregate_of_nothing(input) {
        let labels: Vec<String> = input
            .columns
            .iter()
            .map(|column| label(&column.name, input))
            .filter(|label| !label.is_empty())
            .collect();
        let why = if divides_by_nothing(input) {
            "no row with a value matched, or what it would be divided by is 0"
        } else {
            "no row with a value matched"
        };
        match labels.as_slice() {
            [label] => format!("There is no value for {label}: {why}."),
            _ => format!("There is no value: {why}."),
        }
    } else if input.row_count == 1 && counted_nothing(input) && input.probe.is_some() {
        table::sentence(input)
    } else {
        return None;
    };
    Some(match &input.probe {
        Some(probe) => format!("{head} {}", finding(probe)),
        None => head,
    })
}

/// What the host's diagnostic found, in words.
fn finding(probe: &ProbeFinding) -> String {
    let column = format!("{}.{}", probe.column.table.name, probe.column.column);
    let literal = probe.literal.trim_matches('\'');
    let spellings: Vec<String> =
        probe.spellings.iter().take(SPELLINGS).map(|spelling| format!("'{spelling}'")).collect();
    match (spellings.is_empty(), probe.rows_without) {
        (false, _) => ended(&format!(
            "The query looked for '{literal}' in {column}, which is stored there as {}",
            spellings.join(", ")
        )),
        (true, Some(0)) => ended(&format!(
            "It was checked without the condition on {column} ({literal}) too, and there is none then either"
        )),
        (true, Some(rows)) => ended(&format!(
            "Without the condition on {column} ({literal}) there would be {} {}",
            grouped(&rows.to_string()),
            if rows == 1 { "row" } else { "rows" }
        )),
        (true, None) => ended(&format!(
            "It was checked that {column} has no value like '{literal}', whatever its case and outer spaces"
        )),
    }
}

fn aggregate_of_nothing(input: &AnswerInput) -> bool {
    input.rows.first().is_some_and(|row| !row.is_empty() && row.iter().all(Option::is_none))
}

/// Whether the query makes a division by zero no value.
fn divides_by_nothing(input: &AnswerInput) -> bool {
    input.sql.as_ref().is_some_and(|sql| sql.to_ascii_lowercase().contains("nullif"))
}

fn counted_nothing(input: &AnswerInput) -> bool {
    matches!(input.rows.first().map(Vec::as_slice), Some([Some(value)]) if value == "0")
}
