//! The account of the words: each must be what something in the query is called by.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::grammar::Op;
use airlock_plugin_sdk::question::stems;

use crate::annotate::Mention;
use crate::build::{Built, Context};
use crate::frame::Frame;
use crate::schema::Family;
use crate::times;

/// Words that nothing in the query explains,
/// and verbs that only relate the tables it joins.
pub fn missing(context: &Context<'_>, frame: &Frame, built: &Built) -> (Vec<String>, Vec<String>) {
    let mut known: BTreeSet<&String> = BTreeSet::new();
    for table in built.tables.iter().filter_map(|table| context.schema.table(*table)) {
        known.extend(&table.text);
    }
    for column in built.columns.iter().filter_map(|(table, column)| context.schema.column(*table, *column)) {
        known.extend(&column.text);
    }
    let mut terms: BTreeSet<String> = BTreeSet::new();
    for term in built.terms.iter().filter_map(|term| context.glossary.terms.get(*term)) {
        terms.extend(term.names.iter().flat_map(|name| name.words.iter().chain(&name.given)).cloned());
        terms.extend(stems::content_stems(&term.definition));
    }
    let explained = |stem: &String| {
        known.contains(stem)
            || terms.contains(stem)
            || known.iter().any(|text| stems::kin(text, stem))
            || terms.iter().any(|text| stems::kin(text, stem))
    };
    let (mut missing, mut relations) = (Vec::new(), Vec::new());
    for chunk in context.reading.chunks.iter().filter(|chunk| matches!(chunk.op, Op::Word | Op::Quoted)) {
        let Some(token) = context.reading.tokens.get(chunk.first) else { continue };
        // `signed up` for `signup_date`.
        let next = context.reading.tokens.get(chunk.end).map_or("", |token| token.stem.as_str());
        let joined = format!("{}{next}", token.stem);
        let light = stems::is_light(&token.lower) && !(is_present(&token.lower) && ends(context, built));
        let happened = stems::is_relation(&token.stem)
            && !frame.moments.is_empty()
            && begins(context, built)
            && built.tables.len() == 1
            && !frame.used.contains(&chunk.first);
        if happened && !dated_by(context, built, &token.stem) {
            missing.push(token.lower.clone());
            continue;
        }
        let began = times::begins(&token.stem) && begins(context, built);
        let compares = matches!(
            token.lower.as_str(),
            "vs" | "versus" | "compare" | "compared" | "comparing" | "against"
        ) && times::compared(context, frame).is_some();
        let accounted = began
            || compares
            || frame.used.contains(&chunk.first)
            || light
            || explained(&token.stem)
            || known.contains(&joined);
        if accounted {
            continue;
        }
        let list = if built.tables.len() > 1 && stems::is_relation(&token.stem) {
            &mut relations
        } else {
            &mut missing
        };
        if !list.contains(&token.lower) {
            list.push(token.lower.clone());
        }
    }
    (missing, relations)
}

/// Words that ask for what is so today.
fn is_present(word: &str) -> bool {
    matches!(word, "current" | "currently" | "still" | "now")
}

/// True when a table of the query dates how its rows end: who is there today is then a part of its rows.
fn ends(context: &Context<'_>, built: &Built) -> bool {
    const ENDS: &[&str] =
        &["leave", "left", "end", "until", "terminat", "clos", "close", "resign", "exit", "cancel", "retir"];
    built.tables.iter().filter_map(|table| context.schema.table(*table)).any(|table| {
        table.columns.iter().any(|column| {
            column.family == Family::Time
                && column.nullable
                && column.names.iter().flatten().any(|stem| ENDS.contains(&stem.as_str()))
        })
    })
}

/// True when the query goes by the date on which its things came to be: what they did then is another date.
fn begins(context: &Context<'_>, built: &Built) -> bool {
    let columns = built.columns.iter().filter_map(|(table, column)| context.schema.column(*table, *column));
    let mut dates = columns.filter(|column| column.family == Family::Time);
    dates.any(|column| column.names.iter().flatten().any(|stem| times::begins(stem)))
}

/// True when a date of the query is called by the verb: what happened is then what is dated.
fn dated_by(context: &Context<'_>, built: &Built, stem: &str) -> bool {
    let mut columns =
        built.columns.iter().filter_map(|(table, column)| context.schema.column(*table, *column));
    let mut tables = built.tables.iter().filter_map(|table| context.schema.table(*table));
    columns.any(|column| column.names.iter().flatten().any(|name| stems::kin(name, stem)))
        || tables.any(|table| table.names.iter().flatten().any(|name| stems::kin(name, stem)))
}

/// Content words that no name, note or term of the schema at hand knows.
pub fn unknown(context: &Context<'_>, mentions: &[Mention]) -> Vec<String> {
    let mut known: BTreeSet<&String> = BTreeSet::new();
    for table in &context.schema.tables {
        known.extend(&table.text);
        known.extend(table.columns.iter().flat_map(|column| &column.text));
    }
    known.extend(context.glossary.terms.iter().flat_map(|term| &term.names).flat_map(|name| &name.words));
    context
        .reading
        .chunks
        .iter()
        .filter(|chunk| chunk.op == Op::Word)
        .filter(|chunk| {
            !mentions.iter().any(|mention| {
                (mention.first..mention.end).contains(&chunk.first) || mention.also.contains(&chunk.first)
            })
        })
        .filter_map(|chunk| context.reading.tokens.get(chunk.first))
        .filter(|token| !stems::is_light(&token.lower) && !stems::is_relation(&token.stem))
        .filter(|token| !known.iter().any(|text| stems::kin(text, &token.stem)))
        .map(|token| token.lower.clone())
        .take(16)
        .collect()
}
