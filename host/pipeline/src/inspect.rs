//! Reading what came back: is an empty result the truth, a value that was spelt another way, or something that PostgreSQL
//! left out? And are rows chosen by values that the data does not have?
//!
//! One diagnostic, never a loop: are the values there that the text looks for; when it looks for none, what is there without
//! one condition, or at all. Zero rows can be a right answer, and retrying until rows appear would answer another question.
//! An aggregate over nothing (one row of NULL or 0) is the same trap. A row that is there, with a value of 0 or none, is not.

mod conditions;
mod nothing;

use std::time::Instant;

use airlock_database::ResultSet;
use airlock_gate::{Approved, ComparedLiteral, Node};
use airlock_runtime::contract::repair::ProbeFinding;
use airlock_runtime::contract::types::Attribute;
use airlock_types::catalogue::TypeFamily;
use airlock_types::{ColumnRef, TableRef};
use serde_json::Value;

use self::conditions::{Cut, asks_for_none, compared_with_null, cuts, left_out, not_among, suspicion};
use self::nothing::{counts_rows, may_be_of_nothing};
use crate::ask::Ask;
use crate::convert;
use crate::fault::Fault;
use crate::losses::may_empty;
use crate::spelling::{absent, are_known, column, held, is_about, look_up, missing, suspects, told_values};
use crate::timeline::Doing;
use crate::took::Took;

/// Tables of which it is looked up whether they have rows.
const TABLES: usize = 4;

/// What a result turned out to be.
pub(crate) enum Inspection {
    /// Rows, and which of the values that they are chosen by are not in the data.
    Fine(Vec<ProbeFinding>),
    /// Nothing, and that is the answer; what was looked at.
    Empty(Looked),
    /// Nothing, because values are spelt differently in the data.
    Misspelt(Vec<ProbeFinding>),
    /// Nothing, and the text leaves something out that may be what was asked for.
    Lossy(Looked),
}

/// What was looked at because a result says nothing, and why no more was. It holds only what was run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looked {
    /// A value that is not there, or what there is without a condition.
    pub(crate) finding: Option<ProbeFinding>,
    /// The rest, for the answerer: `empty:held` and `empty:missing` (COLUMN, a tab, VALUE), `empty:values`
    /// (COLUMN and a few values that it has, with tabs between), `empty:rows`, `empty:no-rows` and
    /// `empty:none-visible` (a table), `empty:null` (a comparison), `empty:among` (how many NULLs NOT IN is compared with), `empty:none` (LIMIT 0),
    /// `empty:without` (HAVING or OFFSET, a tab, the rows without it), `empty:beside` (one that was not looked at),
    /// `empty:unchecked` (a reason).
    pub(crate) notes: Vec<Attribute>,
}

impl Looked {
    fn note(&mut self, key: &str, value: impl Into<String>) {
        self.notes.push(Attribute { key: format!("empty:{key}"), value: value.into() });
    }

    /// Names what may have left none too, and was not looked at.
    fn beside(&mut self, cuts: &[Cut], but: Option<&Cut>) {
        for cut in cuts.iter().filter(|cut| but.is_none_or(|but| but.written != cut.written)) {
            self.note("beside", cut.written.clone());
        }
    }

    fn nothing_because(why: &str) -> Self {
        let mut looked = Self::default();
        looked.note("unchecked", why);
        looked
    }
}

/// Inspects a result. Runs at most one probe, through the gate like everything else.
pub(crate) async fn inspect(
    ask: &mut Ask<'_>,
    approved: &Approved,
    result: &ResultSet,
    took: Took,
) -> Result<Inspection, Fault> {
    if !is_empty(result) {
        return Ok(Inspection::Fine(absent(ask, approved, took).await));
    }
    let nodes = airlock_gate::outline(approved.text()).unwrap_or_default();
    let loses = approved.facts().losses.iter().any(may_empty);
    if let [row] = result.rows.as_slice()
        && !may_be_of_nothing(&nodes, approved.text(), row)
    {
        return Ok(if loses {
            Inspection::Lossy(Looked::default())
        } else {
            Inspection::Fine(absent(ask, approved, took).await)
        });
    }
    if let Some(limit) = asks_for_none(&nodes, approved.text()).filter(|_| result.rows.is_empty()) {
        let mut looked = Looked::default();
        looked.note("none", limit);
        return Ok(Inspection::Empty(looked));
    }
    // What is looked for because it is missing is rightly empty. Only a NULL that NOT IN is compared with explains it too.
    if looks_for_absence(approved.text()) {
        let Some(among) = not_among(&nodes, approved.text()) else {
            return Ok(Inspection::Empty(Looked::nothing_because("absence")));
        };
        let found = probe(ask, &among, None).await?.and_then(|found| counted(&found));
        let mut looked = Looked::default();
        match found {
            Some(nulls) => looked.note("among", nulls.to_string()),
            // A query that speaks of the rows around it does not run alone.
            None => looked.note("unchecked", "among"),
        }
        return Ok(Inspection::Empty(looked));
    }
    Ok(match emptied(ask, approved, result, &nodes).await? {
        Inspection::Empty(looked) if loses => Inspection::Lossy(looked),
        other => other,
    })
}

/// Why a result says nothing.
async fn emptied(
    ask: &mut Ask<'_>,
    approved: &Approved,
    result: &ResultSet,
    nodes: &[Node],
) -> Result<Inspection, Fault> {
    let mut looked = Looked::default();
    if let Some(comparison) = compared_with_null(nodes, approved.text()) {
        looked.note("null", comparison);
    }
    // The one row of an aggregate over nothing passed them.
    let cuts = if result.rows.is_empty() { cuts(nodes, approved.text()) } else { Vec::new() };
    let suspects = suspects(ask, approved);
    if !suspects.is_empty() {
        let known = are_known(ask, &suspects);
        if !look_up(ask, &suspects, None).await? {
            return Ok(Inspection::Empty(Looked::nothing_because("failed")));
        }
        let (misspelt, unknown): (Vec<_>, Vec<_>) = missing(ask, approved.facts(), &suspects)
            .into_iter()
            .partition(|finding| !finding.spellings.is_empty());
        if !misspelt.is_empty() {
            return Ok(Inspection::Misspelt(misspelt));
        }
        // The value is there as it was written: whatever emptied the result, it was not this spelling.
        for literal in
            suspects.iter().filter(|literal| !unknown.iter().any(|finding| is_about(finding, literal)))
        {
            looked.note("held", format!("{}\t{}", named(&literal.column), held(ask, literal)));
        }
        let mut unknown = unknown.into_iter();
        looked.finding = unknown.next();
        for ProbeFinding { column, literal, .. } in unknown {
            looked.note("missing", format!("{}.{}\t{literal}", column.table.name, column.column));
        }
        let about = |literal: &&&ComparedLiteral| {
            looked.finding.as_ref().is_some_and(|finding| is_about(finding, literal))
        };
        if let Some(literal) = suspects.iter().find(about) {
            let values = told_values(ask, &literal.column);
            if !values.is_empty() {
                looked.note("values", format!("{}\t{}", named(&literal.column), values.join("\t")));
            }
            return Ok(Inspection::Empty(looked));
        }
        // What was looked up for a text before this one took no query now.
        if !known {
            looked.beside(&cuts, None);
            return Ok(Inspection::Empty(looked));
        }
    }
    let widened = widened(ask, approved, nodes);
    let cut = match &widened {
        Ok((literal, _)) => cuts.iter().find(|cut| cut.goes_before(rank(ask, literal))),
        Err(_) => cuts.first(),
    };
    if let Some(cut) = cut {
        match probe(ask, &counting(&cut.without), None).await?.and_then(|found| counted(&found)) {
            Some(rows) => looked.note("without", format!("{}\t{rows}", cut.written)),
            None => looked.note("unchecked", "failed"),
        }
        looked.beside(&cuts, Some(cut));
        return Ok(Inspection::Empty(looked));
    }
    looked.beside(&cuts, None);
    match widened {
        Ok((literal, text)) => match telling(nodes, result, text) {
            Some(text) => match probe(ask, &text, None).await?.and_then(|found| without(literal, &found)) {
                Some(finding) => looked.finding = Some(finding),
                None => looked.note("unchecked", "failed"),
            },
            None => tables(ask, approved, &mut looked).await?,
        },
        Err(why) => {
            if let Some(why) = why {
                looked.note("unchecked", why);
            }
            tables(ask, approved, &mut looked).await?;
        }
    }
    Ok(Inspection::Empty(looked))
}

/// A column by its table's name.
fn named(column: &ColumnRef) -> String {
    format!("{}.{}", column.table.name, column.column)
}

/// Runs a diagnostic; none when it cannot be run. It is a courtesy: when it fails, the empty result stands as it is.
pub(crate) async fn probe(
    ask: &Ask<'_>,
    text: &str,
    until: Option<Instant>,
) -> Result<Option<ResultSet>, Fault> {
    let mark = ask.desk.timeline.open(|| Doing::Gate { attempt: None, rejected: None });
    let verdict = ask.domain.gate().check(text);
    ask.desk.timeline.checked(mark, &verdict);
    let Ok(approved) = verdict else { return Ok(None) };
    match ask.run_probe(&approved, until).await.result {
        Ok(found) => Ok(Some(found)),
        Err(failure) if failure.error_type.is_infrastructure() => Err(Fault::Database(failure)),
        Err(failure) => {
            tracing::info!(message = failure.message, "the probe of a result failed");
            Ok(None)
        }
    }
}

/// The one number that a result is.
fn counted(found: &ResultSet) -> Option<u64> {
    match found.rows.as_slice() {
        [row] => match row.as_slice() {
            [only] => cell(only).and_then(|count| count.parse().ok()),
            _ => None,
        },
        _ => None,
    }
}

/// What a run without a condition found.
fn without(literal: &ComparedLiteral, found: &ResultSet) -> Option<ProbeFinding> {
    counted(found).map(|rows| ProbeFinding {
        column: convert::column(&literal.column),
        literal: literal.literal.clone(),
        spellings: Vec::new(),
        rows_without: Some(rows),
    })
}

/// Looks whether the tables that a text reads have rows at all.
async fn tables(ask: &Ask<'_>, approved: &Approved, looked: &mut Looked) -> Result<(), Fault> {
    let open = |table: &&TableRef| !ask.domain.knowledge().exposure().is_closed(table);
    let tables: Vec<&TableRef> = approved.facts().tables.iter().filter(open).take(TABLES).collect();
    if tables.is_empty() {
        looked.note("unchecked", if approved.facts().tables.is_empty() { "no-table" } else { "withheld" });
        return Ok(());
    }
    let part = |(at, table): (usize, &&TableRef)| {
        let (schema, name) = (quoted(&table.schema), quoted(&table.name));
        format!("SELECT {at} AS place, EXISTS (SELECT 1 FROM {schema}.{name}) AS has_rows")
    };
    let text = tables.iter().enumerate().map(part).collect::<Vec<_>>().join(" UNION ALL ");
    let Some(found) = probe(ask, &text, None).await? else {
        looked.note("unchecked", "failed");
        return Ok(());
    };
    for (at, table) in tables.into_iter().enumerate() {
        let has_rows = found.rows.iter().find_map(|row| match row.as_slice() {
            [place, Value::Bool(has_rows)] if cell(place)? == at.to_string() => Some(*has_rows),
            _ => None,
        });
        if let Some(has_rows) = has_rows {
            // What a policy hides is not what is not there.
            let hides = ask.domain.hides_rows(table);
            let told = match has_rows {
                true => "rows",
                false if hides => "none-visible",
                false => "no-rows",
            };
            looked.note(told, table.name.clone());
        }
    }
    Ok(())
}

/// The text that tells how many rows a widened text gives. PostgreSQL counts: the rows that are read are cut at the cap. Of an
/// aggregate only a count of rows is a number of rows.
fn telling(nodes: &[Node], result: &ResultSet, widened: String) -> Option<String> {
    if result.rows.is_empty() {
        return Some(counting(&widened));
    }
    counts_rows(nodes).then_some(widened)
}

/// How many rows a text gives. The line break ends a comment that the text ends with.
fn counting(text: &str) -> String {
    format!("SELECT count(*) FROM (\n{}\n) AS widened", text.trim_end_matches([';', ' ', '\n', '\t', '\r']))
}

/// The most suspicious condition that can be left out, by its literal, and the text without it; or why there is none, where
/// there is a condition. Left out is only what holds of each row by itself: inside OR, NOT or CASE the text would ask for
/// something else.
fn widened<'a>(
    ask: &Ask<'_>,
    approved: &'a Approved,
    nodes: &[Node],
) -> Result<(&'a ComparedLiteral, String), Option<&'static str>> {
    let (text, literals) = (approved.text(), &approved.facts().literals);
    let mut why = None;
    let mut best: Option<(u8, &ComparedLiteral, String)> = None;
    for literal in literals {
        if !ask.domain.may_leave_out(&literal.column) {
            why = why.or(Some("withheld"));
            continue;
        }
        let Some(wider) = left_out(nodes, text, &literal.span) else {
            why = Some("nested");
            continue;
        };
        let rank = rank(ask, literal);
        if best.as_ref().is_none_or(|(known, ..)| rank < *known) {
            best = Some((rank, literal, wider));
        }
    }
    best.map(|(_, literal, wider)| (literal, wider)).ok_or(why)
}

/// How much a condition is doubted, the most suspicious first.
fn rank(ask: &Ask<'_>, literal: &ComparedLiteral) -> u8 {
    let family = column(ask, literal).map_or(TypeFamily::Text, |column| column.family);
    suspicion(&literal.operator, family)
}

/// The words of a text, in capitals.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .collect()
}

/// Whether a text asks for what is not there: an anti-join, NOT EXISTS, NOT IN, EXCEPT.
fn looks_for_absence(text: &str) -> bool {
    let words = words(text);
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

pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
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
