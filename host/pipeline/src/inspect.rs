//! Reading what came back: is an empty result the truth, or a value that was spelt another way?
//!
//! One diagnostic, never a loop. Zero rows can be a right answer, and retrying until rows appear would answer another
//! question. An aggregate over nothing (one row of NULL or 0) is the same trap.

use airlock_database::ResultSet;
use airlock_gate::{Approved, ComparedLiteral};
use airlock_knowledge::ColumnClass;
use airlock_runtime::contract::repair::ProbeFinding;
use airlock_types::catalogue::TypeFamily;
use airlock_types::{ErrorType, Failure};
use serde_json::Value;

use crate::ask::Ask;
use crate::convert;
use crate::fault::Fault;

/// Spellings that are worth showing.
const SPELLINGS: usize = 5;

/// What a result turned out to be.
pub(crate) enum Inspection {
    /// Rows.
    Fine,
    /// Nothing, and that is the answer; what was looked at, if anything.
    Empty(Option<ProbeFinding>),
    /// Nothing, because a value is spelt differently in the data.
    Misspelt(ProbeFinding),
}

/// Inspects a result. Runs at most one probe, through the gate like everything else.
pub(crate) async fn inspect(
    ask: &Ask<'_>,
    approved: &Approved,
    result: &ResultSet,
) -> Result<Inspection, Fault> {
    if !is_empty(result) {
        return Ok(Inspection::Fine);
    }
    let Some(literal) = suspect(ask, approved) else {
        return Ok(Inspection::Empty(None));
    };
    let Ok(probe) = ask.domain.gate().check(&question_of(literal)) else {
        return Ok(Inspection::Empty(None));
    };
    let found = match ask.domain.source().run(&probe, &ask.run_options()).await {
        Ok(found) => found,
        Err(failure) if failure.error_type.is_infrastructure() => return Err(Fault::Database(failure)),
        // The probe is a courtesy: when it fails, the empty result stands as it is.
        Err(failure) => {
            tracing::info!(message = failure.message, "the probe of an empty result failed");
            return Ok(Inspection::Empty(None));
        }
    };
    let values: Vec<String> = found.rows.iter().filter_map(|row| row.first().and_then(cell)).collect();
    // The value is there as it was written: whatever emptied the result, it was not the spelling.
    if values.contains(&literal.literal) {
        return Ok(Inspection::Empty(None));
    }
    let finding = ProbeFinding {
        column: convert::column(&literal.column),
        literal: literal.literal.clone(),
        spellings: values,
        rows_without: None,
    };
    Ok(if finding.spellings.is_empty() {
        Inspection::Empty(Some(finding))
    } else {
        Inspection::Misspelt(finding)
    })
}

/// The failure a misspelt literal is, for repair.
pub(crate) fn misspelt(probe: &ProbeFinding, sql: &str) -> Failure {
    let spellings: Vec<String> = probe.spellings.iter().map(|spelling| format!("'{spelling}'")).collect();
    let mut failure = Failure::new(
        ErrorType::EmptyResult,
        format!(
            "No row matches '{}' in {}.{}; the column spells it {}.",
            probe.literal,
            probe.column.table.name,
            probe.column.column,
            spellings.join(" or ")
        ),
        sql,
    );
    failure.hint = spellings.first().map(|spelling| format!("Write {spelling}."));
    failure
}

/// Whether a result says nothing: no row, or one row of NULL and zero.
fn is_empty(result: &ResultSet) -> bool {
    match result.rows.as_slice() {
        [] => true,
        [row] => row.iter().all(|value| match value {
            Value::Null => true,
            Value::Number(number) => number.as_f64() == Some(0.0),
            // Exact numbers travel as text.
            Value::String(text) => text.parse::<f64>().is_ok_and(|number| number == 0.0),
            _ => false,
        }),
        _ => false,
    }
}

/// The literal to doubt first: text compared for equality, then text in a LIKE.
fn suspect<'a>(ask: &Ask<'_>, approved: &'a Approved) -> Option<&'a ComparedLiteral> {
    let rank = |literal: &ComparedLiteral| match literal.operator.to_ascii_uppercase().as_str() {
        "=" | "IN" => Some(0),
        "LIKE" | "ILIKE" if !literal.literal.contains(['%', '_']) => Some(1),
        _ => None,
    };
    approved
        .facts()
        .literals
        .iter()
        .filter(|literal| {
            let family = ask
                .domain
                .catalogue()
                .relation(&literal.column.table)
                .and_then(|r| r.column(&literal.column.column));
            family.is_some_and(|column| column.family == TypeFamily::Text)
                && ask.domain.class(&literal.column) != ColumnClass::Secret
        })
        .filter_map(|literal| rank(literal).map(|rank| (rank, literal)))
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, literal)| literal)
}

/// How the data spells a value. The cast keeps the case functions off types that have none (enums).
fn question_of(literal: &ComparedLiteral) -> String {
    let name = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let column = format!("t.{}::text", name(&literal.column.column));
    format!(
        "SELECT DISTINCT {column} AS spelling FROM {}.{} AS t WHERE lower(btrim({column})) = lower(btrim('{}')) ORDER BY 1 LIMIT {SPELLINGS}",
        name(&literal.column.table.schema),
        name(&literal.column.table.name),
        literal.literal.replace('\'', "''"),
    )
}

/// A cell as text; NULL is absent.
pub(crate) fn cell(value: &Value) -> Option<String> {
    airlock_types::cell::text(value)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_aggregate_over_nothing_is_empty_too() {
        for (rows, want) in [
            (json!([]), true),
            (json!([[null]]), true),
            (json!([[0]]), true),
            (json!([["0.00", null]]), true),
            (json!([[""]]), false),
            (json!([["0", "PAID"]]), false),
            (json!([[0], [0]]), false),
            (json!([[7]]), false),
            (json!([[false]]), false),
        ] {
            let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
            let result = ResultSet {
                columns: Vec::new(),
                rows: rows.clone(),
                truncated: false,
                duration: Duration::ZERO,
            };
            assert_eq!(is_empty(&result), want, "{rows:?}");
        }
    }
}
