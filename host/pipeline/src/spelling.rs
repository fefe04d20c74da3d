//! Values that a text compares with and that the data spells otherwise, or does not have.

mod alike;

use std::time::{Duration, Instant};

use airlock_gate::{Approved, ComparedLiteral, Facts};
use airlock_runtime::contract::repair::ProbeFinding;
use airlock_runtime::contract::types::Attribute;
use airlock_types::catalogue::{Column, TypeFamily};
use airlock_types::{ColumnRef, ErrorType, Failure};
use serde_json::Value;

use self::alike::{FEW, as_folded, finds, finds_nothing, is_pattern, nearest, unabbreviated};
use crate::ask::Ask;
use crate::convert;
use crate::fault::Fault;
use crate::inspect::{cell, probe, quoted, words};
use crate::took::Took;

/// Spellings that are worth showing.
const SPELLINGS: usize = 5;
/// Values of a column that are told where one that it does not have is looked for.
const TOLD: usize = 8;
/// Texts of a query that are looked for in one diagnostic.
const SUSPECTS: usize = 32;
/// How much longer than its text, twice over, the values of a result with rows are looked for: nobody asked for that.
const COURTESY: Duration = Duration::from_secs(1);

/// The values that rows are chosen by and that their columns do not have. There are rows all the same, and fewer or more of
/// them than were asked for. Looking for them is a courtesy: it takes little time, and what comes of it changes no answer
/// that stands.
pub(crate) async fn absent(ask: &mut Ask<'_>, approved: &Approved, took: Took) -> Vec<ProbeFinding> {
    let facts = approved.facts();
    let is_indexed = |literal: &ComparedLiteral| {
        ask.domain.knowledge().values_of(&literal.column).any(|value| finds(literal, value))
    };
    let compared: Vec<&ComparedLiteral> = texts(ask, facts)
        .filter(|literal| chooses(literal) || leaves_out(literal))
        .filter(|literal| !literal.literal.trim().is_empty())
        .filter(|literal| !ignores_case(ask, literal) && !is_indexed(literal))
        .take(SUSPECTS)
        .collect();
    if compared.is_empty() || every_row_has(approved.text(), facts) {
        return Vec::new();
    }
    let until = Instant::now() + COURTESY + Duration::from_millis(took.running.saturating_mul(2));
    match look_up(ask, &compared, Some(until)).await {
        Ok(true) => {}
        Ok(false) => return Vec::new(),
        Err(fault) => {
            tracing::info!(%fault, "whether the values of a query are in the data is not known");
            return Vec::new();
        }
    }
    missing(ask, facts, &compared).into_iter().filter(|finding| matters(finding, facts)).collect()
}

/// Whether it makes a difference that a value is not there: what is left out and is not there at all is left out all the
/// same, and a list that has every spelling of a value has the value.
fn matters(finding: &ProbeFinding, facts: &Facts) -> bool {
    let chosen = |spelling: &String| {
        let other = ProbeFinding { literal: spelling.clone(), ..finding.clone() };
        facts.literals.iter().any(|literal| is_about(&other, literal))
    };
    if finding.spellings.is_empty() {
        return facts.literals.iter().any(|literal| is_about(finding, literal) && chooses(literal));
    }
    !finding.spellings.iter().all(chosen)
}

fn chooses(literal: &ComparedLiteral) -> bool {
    matches!(literal.operator.as_str(), "=" | "IN" | "CASE" | "IS NOT DISTINCT FROM" | "LIKE" | "ILIKE")
}

fn leaves_out(literal: &ComparedLiteral) -> bool {
    matches!(literal.operator.as_str(), "<>" | "NOT IN" | "IS DISTINCT FROM" | "NULLIF")
}

/// Whether a column compares without regard to case.
fn ignores_case(ask: &Ask<'_>, literal: &ComparedLiteral) -> bool {
    column(ask, literal).is_some_and(|column| column.type_name.name == "citext")
}

/// Whether a row can only be there when it has every value that the text compares with: no condition has another beside it
/// that will do, and nothing is counted where nothing is.
fn every_row_has(text: &str, facts: &Facts) -> bool {
    let selects = words(text).iter().filter(|word| *word == "SELECT").count();
    facts.literals.iter().all(|literal| matches!(literal.operator.as_str(), "=" | "LIKE" | "ILIKE"))
        && !comes_otherwise(text)
        && selects == 1
        && (facts.functions.is_empty() || words(text).iter().any(|word| word == "GROUP"))
}

/// Whether a row may be there although one of the conditions that a text has is not true of it.
pub(crate) fn comes_otherwise(text: &str) -> bool {
    const OTHERWISE: [&str; 14] = [
        "OR",
        "CASE",
        "FILTER",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "LEFT",
        "RIGHT",
        "FULL",
        "EXISTS",
        "NOT",
        "ANY",
        "ALL",
        "LATERAL",
    ];
    words(text).iter().any(|word| OTHERWISE.contains(&word.as_str()))
}

/// Whether this ask looked for all these values before.
pub(crate) fn are_known(ask: &Ask<'_>, suspects: &[&ComparedLiteral]) -> bool {
    suspects.iter().all(|literal| is_known(ask, literal))
}

/// Whether this ask looked for a value before, or found it as a spelling of another. What the index alone has near another is
/// not found yet.
fn is_known(ask: &Ask<'_>, literal: &ComparedLiteral) -> bool {
    ask.looked_for.iter().any(|finding| {
        let found = || {
            finding.spellings.iter().any(|spelling| finds(literal, spelling))
                && folded(&finding.literal) == folded(&literal.literal)
        };
        finding.column == convert::column(&literal.column) && (finding.literal == literal.literal || found())
    })
}

/// A text without its case and outer spaces, in which spellings of one value agree.
fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Looks for values in their columns, in one query: those that this ask did not look for before. False when it cannot be
/// done.
pub(crate) async fn look_up(
    ask: &mut Ask<'_>,
    suspects: &[&ComparedLiteral],
    until: Option<Instant>,
) -> Result<bool, Fault> {
    let mut unknown: Vec<&ComparedLiteral> = Vec::new();
    for literal in suspects {
        let twice =
            |other: &&ComparedLiteral| other.column == literal.column && other.literal == literal.literal;
        if !is_known(ask, literal) && !unknown.iter().any(twice) {
            unknown.push(literal);
        }
    }
    if unknown.is_empty() {
        return Ok(true);
    }
    let Some(found) = probe(ask, &question_of(&unknown), until).await?.filter(|found| !found.truncated)
    else {
        return Ok(false);
    };
    for (at, literal) in unknown.into_iter().enumerate() {
        let mut spellings: Vec<String> = found.rows.iter().filter_map(|row| spelling(row, at)).collect();
        spellings.sort_unstable();
        if spellings.is_empty() {
            spellings.extend(near(ask, literal));
        }
        ask.looked_for.push(ProbeFinding {
            column: convert::column(&literal.column),
            literal: literal.literal.clone(),
            spellings,
            rows_without: None,
        });
    }
    Ok(true)
}

/// What is not in the data as it is compared, each once, with the spellings that would be found. What is there was not what
/// emptied a result.
pub(crate) fn missing(ask: &Ask<'_>, facts: &Facts, suspects: &[&ComparedLiteral]) -> Vec<ProbeFinding> {
    let mut missing: Vec<ProbeFinding> = Vec::new();
    for literal in suspects {
        let Some(finding) = ask.looked_for.iter().find(|finding| is_about(finding, literal)) else {
            continue;
        };
        // The same text may be compared in another way elsewhere, and found: nobody can tell which of the two is meant.
        let is_found = |other: &ComparedLiteral| {
            is_about(finding, other) && finding.spellings.iter().any(|spelling| finds(other, spelling))
        };
        if facts.literals.iter().any(is_found) || missing.iter().any(|other| is_about(other, literal)) {
            continue;
        }
        let mut spellings: Vec<String> = if !is_pattern(literal) {
            finding.spellings.iter().map(|spelling| literal.folded.of(spelling)).collect()
        } else if finds_nothing(literal) && !finding.spellings.is_empty() {
            vec![as_folded(literal)]
        } else {
            finding.spellings.clone()
        };
        spellings.dedup();
        missing.push(ProbeFinding { spellings, ..finding.clone() });
    }
    missing
}

/// The stored value that a comparison finds, as far as it was looked for.
pub(crate) fn held(ask: &Ask<'_>, literal: &ComparedLiteral) -> String {
    let about = ask.looked_for.iter().filter(|finding| is_about(finding, literal));
    let mut stored = about.flat_map(|finding| &finding.spellings).filter(|stored| finds(literal, stored));
    stored.next().unwrap_or(&literal.literal).clone()
}

pub(crate) fn is_about(finding: &ProbeFinding, literal: &ComparedLiteral) -> bool {
    finding.literal == literal.literal && finding.column == convert::column(&literal.column)
}

/// Whether a value that is not there is there in one other spelling that is the same but for case and outer space.
pub(crate) fn is_certain(finding: &ProbeFinding) -> bool {
    matches!(finding.spellings.as_slice(), [only] if folded(only) == folded(&finding.literal))
}

/// The spelling in a row of the probe, when the row is about this suspect.
fn spelling(row: &[Value], at: usize) -> Option<String> {
    let of = row.first().and_then(cell)?;
    row.get(1).and_then(cell).filter(|_| of == at.to_string())
}

/// The one indexed value of the column that is a letter or two from the literal, or that the literal abbreviates.
fn near(ask: &Ask<'_>, literal: &ComparedLiteral) -> Option<String> {
    if is_pattern(literal) {
        return None;
    }
    let values = || ask.domain.knowledge().values_of(&literal.column);
    let few: Vec<&str> = values().take(FEW + 1).collect();
    nearest(&literal.literal, values()).or_else(|| unabbreviated(&literal.literal, &few)).map(str::to_owned)
}

/// The indexed values of a column, where they are few enough to be told.
pub(crate) fn told_values<'a>(ask: &'a Ask<'_>, column: &ColumnRef) -> Vec<&'a str> {
    let values: Vec<&str> = ask.domain.knowledge().values_of(column).take(TOLD + 1).collect();
    if values.len() > TOLD { Vec::new() } else { values }
}

/// The failure that misspelt literals are, for repair.
pub(crate) fn misspelt(findings: &[ProbeFinding], sql: &str) -> Failure {
    let in_quotes = |spelling: &String| format!("'{spelling}'");
    let told = findings.iter().map(|finding| {
        let spellings: Vec<String> = finding.spellings.iter().map(in_quotes).collect();
        format!(
            "No row matches '{}' in {}.{}; what it is compared with is spelt {}.",
            finding.literal,
            finding.column.table.name,
            finding.column.column,
            spellings.join(" or ")
        )
    });
    let mut failure = Failure::new(ErrorType::EmptyResult, told.collect::<Vec<_>>().join(" "), sql);
    let hints: Vec<String> =
        findings.iter().filter_map(|finding| finding.spellings.first()).map(in_quotes).collect();
    failure.hint = (!hints.is_empty()).then(|| format!("Write {}.", hints.join(", ")));
    failure
}

/// What a repair component is told of a misspelt literal.
pub(crate) fn attribute(finding: &ProbeFinding) -> Attribute {
    let ProbeFinding { column, literal, spellings, .. } = finding;
    let value = serde_json::json!({
        "schema": column.table.schema, "table": column.table.name, "column": column.column,
        "literal": literal, "spellings": spellings,
    });
    Attribute { key: "misspelt".to_owned(), value: value.to_string() }
}

/// What an answer with rows says of a value that its column does not have.
pub(crate) fn warning(finding: &ProbeFinding) -> String {
    let ProbeFinding { column, literal, spellings, .. } = finding;
    let told =
        format!("{}.{} has no value '{literal}' as the query compares it", column.table.name, column.column);
    let spellings: Vec<String> = spellings.iter().map(|spelling| format!("'{spelling}'")).collect();
    if spellings.is_empty() {
        format!("{told}: what is compared with it matches no row.")
    } else {
        format!("{told}; it has {}.", spellings.join(" and "))
    }
}

/// The literals to doubt, the first one first: texts compared for equality, then texts in a LIKE.
pub(crate) fn suspects<'a>(ask: &Ask<'_>, approved: &'a Approved) -> Vec<&'a ComparedLiteral> {
    let rank = |literal: &ComparedLiteral| match literal.operator.to_ascii_uppercase().as_str() {
        "=" | "IN" | "CASE" | "IS NOT DISTINCT FROM" => Some(0),
        "LIKE" | "ILIKE" if !is_pattern(literal) || finds_nothing(literal) => Some(1),
        _ => None,
    };
    let mut ranked: Vec<(u8, &ComparedLiteral)> = texts(ask, approved.facts())
        .filter_map(|literal| rank(literal).map(|rank| (rank, literal)))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(SUSPECTS).map(|(_, literal)| literal).collect()
}

/// The literals that are compared with columns of texts whose values may be told.
fn texts<'a>(ask: &Ask<'_>, facts: &'a Facts) -> impl Iterator<Item = &'a ComparedLiteral> {
    facts.literals.iter().filter(|literal| {
        column(ask, literal).is_some_and(|column| column.family == TypeFamily::Text)
            && ask.domain.may_tell(&literal.column)
    })
}

pub(crate) fn column<'a>(ask: &'a Ask<'_>, literal: &ComparedLiteral) -> Option<&'a Column> {
    ask.domain.catalogue().relation(&literal.column.table)?.column(&literal.column.column)
}

/// How the data spells each of these values, in one query that reads each column once, and once more for patterns. The value
/// as it is written goes before its other spellings. The cast keeps the case functions off types that have none (enums).
fn question_of(suspects: &[&ComparedLiteral]) -> String {
    let mut columns: Vec<(&ColumnRef, bool)> = Vec::new();
    for literal in suspects {
        let read = (&literal.column, is_pattern(literal));
        if !columns.contains(&read) {
            columns.push(read);
        }
    }
    let part = |(of, patterns): &(&ColumnRef, bool)| {
        let here = |literal: &ComparedLiteral| literal.column == **of && is_pattern(literal) == *patterns;
        let wanted = suspects.iter().enumerate().filter(|(_, literal)| here(literal));
        let wanted: Vec<String> = wanted
            .map(|(at, literal)| format!("({at}, '{}')", literal.literal.replace('\'', "''")))
            .collect();
        let column = format!("t.{}::text", quoted(&of.column));
        let (differs, matches) = if *patterns {
            ("spelling NOT LIKE wanted", format!("{column} ILIKE s.wanted"))
        } else {
            ("spelling <> wanted", format!("lower(btrim({column})) = lower(btrim(s.wanted))"))
        };
        format!(
            "SELECT suspect, spelling FROM (SELECT suspect, spelling, \
             row_number() OVER (PARTITION BY suspect ORDER BY {differs}, spelling) AS place \
             FROM (SELECT DISTINCT s.suspect, s.wanted, {column} AS spelling \
             FROM (VALUES {}) AS s(suspect, wanted) JOIN {}.{} AS t \
             ON {matches}) AS spelt) AS placed WHERE place <= {SPELLINGS}",
            wanted.join(", "),
            quoted(&of.table.schema),
            quoted(&of.table.name),
        )
    };
    columns.iter().map(part).collect::<Vec<_>>().join(" UNION ALL ")
}

#[cfg(test)]
mod tests {
    use super::alike::tests::compared;
    use super::*;

    #[test]
    fn rows_say_that_a_value_is_there_where_nothing_else_would_do() {
        let facts = |operator: &str, functions: &[&str]| Facts {
            literals: vec![compared("status", operator, "paid")],
            functions: functions.iter().map(|name| (*name).to_owned()).collect(),
            ..Facts::default()
        };
        for (text, operator, functions, want) in [
            ("SELECT a FROM b WHERE status = 'paid' AND c = 1", "=", &[][..], true),
            ("SELECT a, count(*) FROM b WHERE status = 'paid' GROUP BY a", "=", &["count"], true),
            ("SELECT 'x', count(*) FROM b WHERE status = 'paid'", "=", &["count"], false),
            ("SELECT a FROM b WHERE status = 'paid' OR c = 1", "=", &[], false),
            ("SELECT a FROM b WHERE status IN ('paid', 'open')", "IN", &[], false),
            ("SELECT a FROM b WHERE status <> 'paid'", "<>", &[], false),
            ("SELECT a FROM b WHERE c IN (SELECT d FROM e WHERE status = 'paid')", "=", &[], false),
            ("SELECT a FROM b LEFT JOIN e ON status = 'paid'", "=", &[], false),
        ] {
            assert_eq!(every_row_has(text, &facts(operator, functions)), want, "{text}");
        }
    }

    #[test]
    fn a_value_matters_unless_it_changes_nothing_that_it_is_not_there() {
        let facts = |literals: &[(&str, &str)]| Facts {
            literals: literals
                .iter()
                .map(|(operator, literal)| compared("status", operator, literal))
                .collect(),
            ..Facts::default()
        };
        for (literals, spellings, want) in [
            (&[("IN", "paid"), ("IN", "gone")][..], &[][..], true),
            (&[("<>", "gone")], &[], false),
            (&[("<>", "gone")], &["GONE"], true),
            // Written in every spelling, to be sure.
            (&[("IN", "GONE"), ("IN", "gone")], &["GONE"], false),
            (&[("IN", "GONE"), ("IN", "gone")], &["GONE", "Gone"], true),
        ] {
            let finding = ProbeFinding {
                column: convert::column(&compared("status", "=", "").column),
                literal: "gone".into(),
                spellings: spellings.iter().map(|text| (*text).to_owned()).collect(),
                rows_without: None,
            };
            assert_eq!(matters(&finding, &facts(literals)), want, "{literals:?} {spellings:?}");
        }
    }

    #[test]
    fn each_column_is_read_once_and_only_one_spelling_that_is_the_same_is_certain() {
        let suspects = [
            compared("status", "IN", "paid"),
            compared("note", "=", "it's"),
            compared("status", "IN", "open"),
            compared("note", "ILIKE", "it%"),
        ];
        let question = question_of(&suspects.iter().collect::<Vec<_>>());
        assert_eq!(question.matches("JOIN").count(), 3, "{question}");
        assert_eq!(question.matches("ILIKE s.wanted").count(), 1, "{question}");
        assert!(question.contains("(VALUES (0, 'paid'), (2, 'open'))"), "{question}");
        assert!(question.contains("(VALUES (1, 'it''s'))"), "{question}");
        assert!(airlock_gate::outline(&question).is_ok(), "{question}");

        for (spellings, certain, warned) in [
            (&["PAID "][..], true, "it has 'PAID '"),
            (&["Paid", "PAID"], false, "it has 'Paid' and 'PAID'"),
            (&["pain"], false, "it has 'pain'"),
            (&[], false, "matches no row"),
        ] {
            let finding = ProbeFinding {
                column: convert::column(&suspects[0].column),
                literal: "paid".into(),
                spellings: spellings.iter().map(|text| (*text).to_owned()).collect(),
                rows_without: None,
            };
            assert_eq!(is_certain(&finding), certain, "{spellings:?}");
            let told = warning(&finding);
            assert!(told.contains("bills.status has no value 'paid'") && told.contains(warned), "{told}");
        }
    }
}
