//! Phrases that a written rule gives a meaning to.

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::question::grammar::{Op, Reading};
use airlock_plugin_sdk::question::stems;

use super::{Candidate, Mention, Target};
use crate::glossary::{Glossary, Term};
use crate::print;
use crate::rules::{Meaning, Place, Rules, found};
use crate::schema::{Family, Schema};

/// What a rule says outranks what a name says.
const RULED: f64 = 1.3;

/// The phrases of rules that stand in the question. A condition becomes a term of the glossary.
pub fn ruled(
    host: &impl Host,
    rules: &Rules,
    reading: &Reading,
    schema: &Schema,
    glossary: &mut Glossary,
) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    for rule in &rules.rules {
        let Some((first, end)) = found(&rule.words, &reading.tokens) else { continue };
        let Some((first, end)) = trimmed(reading, schema, first, end) else { continue };
        let targets = match rule.meanings.as_slice() {
            [Meaning::Column(place)] => columns(schema, place)
                .into_iter()
                .filter(|(table, column)| !labelled(reading, schema, *table, *column, first, end))
                .map(|(table, column)| Target::Column(table, column))
                .collect(),
            [Meaning::Equals(place, value)] => columns(schema, place)
                .into_iter()
                .filter(|(table, column)| {
                    schema.column(*table, *column).is_some_and(|column| column.family == Family::Text)
                })
                .map(|(table, column)| spelled(host, schema, table, column, value))
                .collect(),
            meanings => condition(schema, glossary, &rule.words, meanings).into_iter().collect::<Vec<_>>(),
        };
        let named = |target: &Target| match target {
            Target::Value(_, _, value) | Target::Text(_, _, value) => {
                stems::content_words(value) != rule.words
            }
            _ => false,
        };
        let candidates: Vec<Candidate> = targets
            .into_iter()
            .map(|target| Candidate { named: named(&target), ..Candidate::new(target, RULED) })
            .collect();
        let words = content(reading, first, end);
        if !candidates.is_empty() && words > 0 {
            mentions.push(Mention { first, end, words, also: Vec::new(), candidates });
        }
    }
    mentions
}

fn content(reading: &Reading, first: usize, end: usize) -> usize {
    let tokens = reading.tokens.get(first..end).unwrap_or_default();
    tokens.iter().filter(|token| !stems::is_function_word(&token.lower)).count()
}

/// The phrase without the nouns that name a table: `female patients` leaves the patients to be counted; and without words
/// that ask for something.
fn trimmed(reading: &Reading, schema: &Schema, first: usize, end: usize) -> Option<(usize, usize)> {
    let noun = |at: usize| {
        reading.tokens.get(at).is_some_and(|token| {
            let stem = std::slice::from_ref(&token.stem);
            schema.tables.iter().any(|table| table.names.iter().any(|name| name.as_slice() == stem))
        })
    };
    let asks = |at: usize| {
        reading.chunks.iter().any(|chunk| {
            chunk.first == at
                && matches!(chunk.op, Op::Which | Op::Who | Op::List | Op::Aggregate(_) | Op::Link)
        })
    };
    let (mut first, mut end) = (first, end);
    while first < end && (noun(first) || asks(first)) && content(reading, first, end) > 1 {
        first += 1;
    }
    while first < end && (noun(end - 1) || asks(end - 1)) && content(reading, first, end) > 1 {
        end -= 1;
    }
    (first < end).then_some((first, end))
}

/// True when the phrase names a table whose rows the column names: the grammar knows that by itself.
fn labelled(
    reading: &Reading,
    schema: &Schema,
    table: usize,
    column: usize,
    first: usize,
    end: usize,
) -> bool {
    schema.table(table).is_some_and(|detail| {
        detail.label == [column]
            && (first..end).any(|at| {
                reading.tokens.get(at).is_some_and(|token| {
                    detail.names.iter().any(|name| name.as_slice() == std::slice::from_ref(&token.stem))
                })
            })
    })
}

fn columns(schema: &Schema, place: &Place) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, table) in schema.tables.iter().enumerate() {
        let named = place.table.as_ref().is_none_or(|name| table.reference.name.eq_ignore_ascii_case(name));
        if let Some(column) =
            table.columns.iter().position(|column| named && column.name.eq_ignore_ascii_case(&place.column))
        {
            found.push((at, column));
        }
    }
    found
}

/// The value as the index spells it, else whatever its case.
fn spelled(host: &impl Host, schema: &Schema, table: usize, column: usize, value: &str) -> Target {
    let name = schema.column(table, column).map_or("", |column| column.name.as_str());
    let own = schema.table(table).map(|table| &table.reference);
    let known = host.near_values(value, 50).into_iter().find(|hit| {
        Some(&hit.column.table) == own && hit.column.column == name && hit.value.eq_ignore_ascii_case(value)
    });
    match known {
        Some(hit) => Target::Value(table, column, hit.value),
        None => Target::Text(table, column, value.to_owned()),
    }
}

/// A term for conditions that all speak of one table.
fn condition(
    schema: &Schema,
    glossary: &mut Glossary,
    words: &[String],
    meanings: &[Meaning],
) -> Option<Target> {
    let place = |meaning: &Meaning| match meaning {
        Meaning::Column(place)
        | Meaning::Equals(place, _)
        | Meaning::Compare(place, _, _)
        | Meaning::Null(place) => place.clone(),
    };
    let tables: Vec<usize> = (0..schema.tables.len())
        .filter(|at| {
            meanings
                .iter()
                .all(|meaning| columns(schema, &place(meaning)).iter().any(|(table, _)| table == at))
        })
        .collect();
    let [table] = tables.as_slice() else { return None };
    let mut parts = Vec::new();
    for meaning in meanings {
        let (_, column) = columns(schema, &place(meaning)).into_iter().find(|(own, _)| own == table)?;
        let name = print::identifier(&schema.column(*table, column)?.name);
        parts.push(match meaning {
            Meaning::Column(_) => return None,
            Meaning::Equals(_, value) => format!("lower({name}) = lower({})", print::text(value)),
            Meaning::Compare(_, comparison, value) => {
                format!("{name} {} {}", comparison.sql(), print::number(*value))
            }
            Meaning::Null(_) => format!("{name} IS NULL"),
        });
    }
    glossary.terms.push(Term {
        name: words.join(" "),
        names: Vec::new(),
        definition: String::new(),
        metrics: Vec::new(),
        conditions: vec![(*table, parts.join(" AND "))],
        table: Some(*table),
    });
    Some(Target::Condition(glossary.terms.len() - 1))
}
