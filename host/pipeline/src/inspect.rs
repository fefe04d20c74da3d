//! Reading what came back: is an empty result the truth, a value that was spelt another way, or something that PostgreSQL
//! left out?
//!
//! One diagnostic, never a loop. Zero rows can be a right answer, and retrying until rows appear would answer another
//! question. An aggregate over nothing (one row of NULL or 0) is the same trap.

use airlock_database::ResultSet;
use airlock_gate::{Approved, ComparedLiteral, NodeKind};
use airlock_runtime::contract::repair::ProbeFinding;
use airlock_types::catalogue::{Column, TypeFamily};
use airlock_types::{ErrorType, Failure};
use serde_json::Value;

use crate::ask::Ask;
use crate::convert;
use crate::fault::Fault;
use crate::timeline::Doing;

/// Spellings that are worth showing.
const SPELLINGS: usize = 5;
/// Texts of a query that are looked for in one diagnostic.
const SUSPECTS: usize = 4;

/// What a result turned out to be.
pub(crate) enum Inspection {
    /// Rows.
    Fine,
    /// Nothing, and that is the answer; what was looked at, if anything.
    Empty(Option<ProbeFinding>),
    /// Nothing, because a value is spelt differently in the data.
    Misspelt(ProbeFinding),
    /// Nothing, and the text leaves something out that may be what was asked for.
    Lossy(Option<ProbeFinding>),
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
    // What is looked for because it is missing is rightly empty, and nothing else explains it.
    if looks_for_absence(approved.text()) {
        return Ok(Inspection::Empty(None));
    }
    Ok(match emptied(ask, approved, result).await? {
        Inspection::Empty(probe) if !approved.facts().losses.is_empty() => Inspection::Lossy(probe),
        other => other,
    })
}

/// Why a result says nothing, by one probe.
async fn emptied(ask: &Ask<'_>, approved: &Approved, result: &ResultSet) -> Result<Inspection, Fault> {
    let suspects = suspects(ask, approved);
    if suspects.is_empty() {
        return without(ask, approved, result).await;
    }
    let Some(found) = probe(ask, &question_of(&suspects)).await? else {
        return Ok(Inspection::Empty(None));
    };
    let mut missing = None;
    for (at, literal) in suspects.into_iter().enumerate() {
        let mut values: Vec<String> = found.rows.iter().filter_map(|row| spelling(row, at)).collect();
        // The value is there as it was written: whatever emptied the result, it was not this spelling.
        if values.contains(&literal.literal) {
            continue;
        }
        if values.is_empty() {
            values.extend(near(ask, literal));
        }
        let finding = ProbeFinding {
            column: convert::column(&literal.column),
            literal: literal.literal.clone(),
            spellings: values,
            rows_without: None,
        };
        if !finding.spellings.is_empty() {
            return Ok(Inspection::Misspelt(finding));
        }
        missing = missing.or(Some(finding));
    }
    Ok(Inspection::Empty(missing))
}

/// The spelling in a row of the probe, when the row is about this suspect.
fn spelling(row: &[Value], at: usize) -> Option<String> {
    let of = row.first().and_then(cell)?;
    row.get(1).and_then(cell).filter(|_| of == at.to_string())
}

/// Runs a diagnostic; none when it cannot be run. It is a courtesy: when it fails, the empty result stands as it is.
async fn probe(ask: &Ask<'_>, text: &str) -> Result<Option<ResultSet>, Fault> {
    let mark = ask.desk.timeline.open(|| Doing::Gate { attempt: None, rejected: None });
    let verdict = ask.domain.gate().check(text);
    ask.desk.timeline.checked(mark, &verdict);
    let Ok(approved) = verdict else { return Ok(None) };
    match ask.run_approved(&approved, true).await.result {
        Ok(found) => Ok(Some(found)),
        Err(failure) if failure.error_type.is_infrastructure() => Err(Fault::Database(failure)),
        Err(failure) => {
            tracing::info!(message = failure.message, "the probe of an empty result failed");
            Ok(None)
        }
    }
}

/// One run without a condition on a number or a time, to tell a range that holds nothing from data that has nothing.
async fn without(ask: &Ask<'_>, approved: &Approved, result: &ResultSet) -> Result<Inspection, Fault> {
    let Some((literal, text)) = widened(ask, approved) else {
        return Ok(Inspection::Empty(None));
    };
    // PostgreSQL counts: the rows that are read are cut at the cap. Of an aggregate only a count is a number of rows.
    let text = if result.rows.is_empty() {
        counting(&text)
    } else if approved.facts().functions.iter().all(|name| name.eq_ignore_ascii_case("count")) {
        text
    } else {
        return Ok(Inspection::Empty(None));
    };
    let Some(found) = probe(ask, &text).await? else {
        return Ok(Inspection::Empty(None));
    };
    let rows = match found.rows.as_slice() {
        [row] => match row.as_slice() {
            [only] => cell(only).and_then(|count| count.parse().ok()),
            _ => None,
        },
        _ => None,
    };
    Ok(Inspection::Empty(rows.map(|rows| ProbeFinding {
        column: convert::column(&literal.column),
        literal: literal.literal.clone(),
        spellings: Vec::new(),
        rows_without: Some(rows),
    })))
}

/// How many rows a text gives. The line break ends a comment that the text ends with.
fn counting(text: &str) -> String {
    format!("SELECT count(*) FROM (\n{}\n) AS widened", text.trim_end_matches([';', ' ', '\n', '\t', '\r']))
}

/// The first literal that is compared with a number or a time, and the text without that comparison.
fn widened<'a>(ask: &Ask<'_>, approved: &'a Approved) -> Option<(&'a ComparedLiteral, String)> {
    let literal = approved.facts().literals.iter().find(|literal| {
        let family = column(ask, literal).map(|column| column.family);
        matches!(family, Some(TypeFamily::Number | TypeFamily::Date | TypeFamily::Timestamp))
            && ask.domain.may_look_up(&literal.column)
    })?;
    let text = approved.text();
    let nodes = airlock_gate::outline(text).ok()?;
    let at = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
    let comparison = nodes
        .iter()
        .filter(|node| {
            node.kind == NodeKind::Operator
                && at(node.start) <= literal.span.start
                && literal.span.end <= at(node.end)
                && node.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(&literal.operator))
        })
        .min_by_key(|node| node.end - node.start)?;
    let (before, behind) = (text.get(..at(comparison.start))?, text.get(at(comparison.end)..)?);
    Some((literal, format!("{before}TRUE{behind}")))
}

/// Whether a text asks for what is not there: an anti-join, NOT EXISTS, NOT IN, EXCEPT.
fn looks_for_absence(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .collect();
    let follows = |first: &str, second: &str| {
        words.windows(2).any(|pair| matches!(pair, [a, b] if a == first && b == second))
    };
    let outer = follows("LEFT", "JOIN") || follows("LEFT", "OUTER");
    follows("NOT", "EXISTS")
        || words
            .windows(3)
            .any(|three| matches!(three, [a, b, c] if a == "NOT" && b == "IN" && c == "SELECT"))
        || words.iter().any(|word| word == "EXCEPT")
        || (outer && follows("IS", "NULL"))
}

/// The one indexed value of the column that is a letter or two from the literal.
fn near(ask: &Ask<'_>, literal: &ComparedLiteral) -> Option<String> {
    nearest(&literal.literal, ask.domain.knowledge().values_of(&literal.column)).map(str::to_owned)
}

/// The one value that is near enough to be meant; none when several are. A number more or less is another thing.
fn nearest<'a>(wanted: &str, values: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (folded, numbers) = (wanted.to_lowercase(), digits(wanted));
    let length = folded.chars().count();
    let allowed = (length / 4).min(2);
    let mut near = values.filter(|value| {
        // The length is cheap to compare, and a column may have thousands of values.
        let value = value.to_lowercase();
        value.chars().count().abs_diff(length) <= allowed
            && digits(&value) == numbers
            && edit_distance(&value, &folded) <= allowed
    });
    let only = near.next()?;
    near.all(|other| other == only).then_some(only)
}

/// Letters that are put in, left out, replaced, or swapped with their neighbour.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let mut best =
                (at(&last, j + 1) + 1).min(at(&row, j) + 1).min(at(&last, j) + usize::from(from != to));
            if i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from) {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    at(&last, b.len())
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
pub(crate) fn is_empty(result: &ResultSet) -> bool {
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

/// The literals to doubt, the first one first: texts compared for equality, then texts in a LIKE.
fn suspects<'a>(ask: &Ask<'_>, approved: &'a Approved) -> Vec<&'a ComparedLiteral> {
    let rank = |literal: &ComparedLiteral| match literal.operator.to_ascii_uppercase().as_str() {
        "=" | "IN" => Some(0),
        "LIKE" | "ILIKE" if !literal.literal.contains(['%', '_']) => Some(1),
        _ => None,
    };
    let mut ranked: Vec<(u8, &ComparedLiteral)> = approved
        .facts()
        .literals
        .iter()
        .filter(|literal| {
            column(ask, literal).is_some_and(|column| column.family == TypeFamily::Text)
                && ask.domain.may_look_up(&literal.column)
        })
        .filter_map(|literal| rank(literal).map(|rank| (rank, literal)))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(SUSPECTS).map(|(_, literal)| literal).collect()
}

fn column<'a>(ask: &'a Ask<'_>, literal: &ComparedLiteral) -> Option<&'a Column> {
    ask.domain.catalogue().relation(&literal.column.table)?.column(&literal.column.column)
}

/// How the data spells each of these values, in one query. The cast keeps the case functions off types that have none (enums).
fn question_of(suspects: &[&ComparedLiteral]) -> String {
    let name = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let part = |(at, literal): (usize, &&ComparedLiteral)| {
        let column = format!("t.{}::text", name(&literal.column.column));
        format!(
            "(SELECT DISTINCT {at} AS suspect, {column} AS spelling FROM {}.{} AS t \
             WHERE lower(btrim({column})) = lower(btrim('{}')) ORDER BY 2 LIMIT {SPELLINGS})",
            name(&literal.column.table.schema),
            name(&literal.column.table.name),
            literal.literal.replace('\'', "''"),
        )
    };
    suspects.iter().enumerate().map(part).collect::<Vec<_>>().join(" UNION ALL ")
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
    fn what_is_looked_for_because_it_is_missing_is_left_alone() {
        for (text, want) in [
            ("SELECT 1 FROM a WHERE NOT EXISTS (SELECT 1 FROM b)", true),
            ("SELECT 1 FROM a WHERE x NOT IN (SELECT y FROM b)", true),
            ("SELECT 1 FROM a LEFT JOIN b ON true WHERE b.x IS NULL", true),
            ("SELECT x FROM a EXCEPT SELECT x FROM b", true),
            ("SELECT 1 FROM a WHERE x NOT IN ('y')", false),
            ("SELECT 1 FROM a LEFT JOIN b ON true WHERE b.x = 'y'", false),
            ("SELECT 1 FROM a WHERE x IS NULL", false),
        ] {
            assert_eq!(looks_for_absence(text), want, "{text}");
        }
    }

    #[test]
    fn rows_are_counted_however_the_text_ends() {
        for text in ["SELECT a FROM b", "SELECT a FROM b;", "SELECT a FROM b ; \n", "SELECT a FROM b -- last"]
        {
            let counted = counting(text);
            let parsed = airlock_gate::outline(&counted);
            assert!(parsed.is_ok_and(|nodes| !nodes.is_empty()), "{counted}");
        }
    }

    #[test]
    fn only_one_value_that_is_near_is_meant() {
        let values = ["Machine Learning", "Data Science", "Pune", "Puna", "Model 10", "Model 11"];
        for (wanted, want) in [
            ("Machnie Learning", Some("Machine Learning")),
            ("data sciense", Some("Data Science")),
            ("Pume", Some("Pune")),
            ("Punn", None),
            ("Model 12", None),
            ("Physics", None),
            ("", None),
        ] {
            assert_eq!(nearest(wanted, values.into_iter()), want, "{wanted}");
        }
    }

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
