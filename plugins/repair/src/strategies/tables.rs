//! A relation or an alias that is not there.

use std::iter;

use airlock_plugin_sdk::{Host, TableRef, words};

use super::{Proposals, left_out};
use crate::block::{Block, Source, blocks};
use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::near::nearest;
use crate::tokens::identifier;

/// How many relations the retrieval is asked for.
const NEAR: u32 = 5;

/// Edits for an unknown table.
pub fn propose<'c>(case: &'c Case<'_, impl Host>) -> Proposals<'c> {
    let Some(index) = place(case) else { return Box::new(iter::empty()) };
    let Some(block) = case.block(index) else { return Box::new(iter::empty()) };
    let sources = block.sources(&case.tokens);
    let source = sources.iter().find(|source| source.name.as_ref().is_some_and(|name| name.contains(&index)));
    match source {
        Some(source) => Box::new(relation(case, source).into_iter()),
        None => {
            let near = qualifier(case, &block, &sources, index).into_iter();
            Box::new(near.chain(iter::once_with(move || left_out::qualifier(case, index)).flatten()))
        }
    }
}

/// The token the failure speaks of.
fn place(case: &Case<'_, impl Host>) -> Option<usize> {
    case.place.or_else(|| {
        let named = case.named()?;
        let name = named.rsplit('.').next()?.to_owned();
        (0..case.tokens.all.len()).find(|index| case.tokens.name(*index).as_deref() == Some(name.as_str()))
    })
}

/// A relation of FROM: the listed one with the same name elsewhere, a close name, or this word as its synonym.
fn relation(case: &Case<'_, impl Host>, source: &Source) -> Option<Proposal> {
    let wanted = source.relation.as_deref()?;
    let tables: Vec<TableRef> = case
        .host
        .tables()
        .into_iter()
        .map(|summary| summary.table)
        .filter(|table| Some(table.schema.as_str()) != source.schema.as_deref() || table.name != wanted)
        .collect();
    let found = match nearest(wanted, tables.iter().map(|table| table.name.as_str())) {
        Some(name) => {
            let mut named = tables.iter().filter(|table| table.name == name);
            let (Some(only), None) = (named.next(), named.next()) else { return None };
            only.clone()
        }
        None => synonym(case, wanted)?,
    };
    // A table that notes call dead is no better than one that does not exist.
    if !case.host.describe(&found)?.in_use {
        return None;
    }
    let before = case.tokens.slice(source.name.as_ref()?);
    let with = left_out::written(&found, source.schema.is_some());
    // Who has a name wrong has it wrong wherever it is read.
    let mut edits = Vec::new();
    for other in blocks(&case.tokens) {
        let same = other.sources(&case.tokens).into_iter();
        let same =
            same.filter(|read| read.relation.as_deref() == Some(wanted) && read.schema == source.schema);
        for read in same {
            let named = read.alias.is_none() && !case.qualifiers(&other, wanted).is_empty();
            let alias = if named { format!(" AS {}", identifier(wanted)) } else { String::new() };
            let bytes = case.tokens.bytes(read.name.as_ref()?)?;
            edits.push(Edit::replace(bytes, format!("{with}{alias}")));
        }
    }
    Some(Proposal {
        edits,
        change: format!("{before} is now {with}."),
        reason: format!("It is the one listed table that is close to {before}."),
    })
}

fn synonym(case: &Case<'_, impl Host>, wanted: &str) -> Option<TableRef> {
    let said = words::identifier_words(wanted).join(" ");
    let hits = case.host.near_tables(&said, NEAR).into_iter();
    let mut known = hits.filter(|hit| {
        case.host
            .describe(&hit.table)
            .is_some_and(|table| table.synonyms.iter().any(|synonym| words::same(synonym, &said)))
    });
    let (Some(only), None) = (known.next(), known.next()) else { return None };
    Some(only.table)
}

/// A qualifier that no source has: the alias of the table it names, a close one, or the table it abbreviates.
fn qualifier(
    case: &Case<'_, impl Host>,
    block: &Block,
    sources: &[Source],
    index: usize,
) -> Option<Proposal> {
    let reference = case.reference_at(index)?;
    let wanted = case.tokens.name(reference.qualifier?)?;
    let column = case.tokens.name(reference.column)?;
    let hidden = hidden(case, index, &wanted);
    let mut hidden = hidden.iter();
    // An alias of a letter or two is near to anything that is abbreviated, and what has not the column is not meant.
    let relations = case.relations(block);
    let lacks = |source: &Source| {
        let known = relations.iter().find(|relation| relation.source == *source);
        known.is_some_and(|known| known.detail.is_some() && !known.has(&column))
    };
    let visible = sources.iter().filter(|source| !lacks(source));
    let visible = visible.filter_map(Source::visible).filter(|name| name.len() > 2);
    let (name, reason) = match (hidden.next(), hidden.next()) {
        (Some(only), None) => {
            (only.visible()?.to_owned(), format!("The query reads {wanted} under this name."))
        }
        (Some(_), Some(_)) => return None,
        (None, _) => match nearest(&wanted, visible) {
            Some(name) => (name.to_owned(), format!("It is the one name in FROM that is close to {wanted}.")),
            None => (
                abbreviated(case, block, &wanted, &column)?,
                format!(
                    "It is the one table of the query that {wanted} can stand for and that has {column}."
                ),
            ),
        },
    };
    if name == wanted {
        return None;
    }
    let edits = case.qualifiers(block, &wanted).into_iter();
    Some(Proposal {
        edits: edits.filter_map(|at| Some(Edit::replace(case.span(at)?, identifier(&name)))).collect(),
        change: format!("{wanted} is now {name} before its columns."),
        reason,
    })
}

/// What reads the relation under another name: of the blocks around a place the innermost that has such.
fn hidden(case: &Case<'_, impl Host>, index: usize, wanted: &str) -> Vec<Source> {
    let mut around: Vec<Block> = blocks(&case.tokens);
    around.retain(|block| block.range.contains(&index));
    around.sort_by_key(|block| block.range.len());
    let reading = around.into_iter().map(|block| {
        let sources = block.sources(&case.tokens).into_iter();
        sources.filter(|source| source.relation.as_deref() == Some(wanted)).collect::<Vec<_>>()
    });
    reading.into_iter().find(|sources| !sources.is_empty()).unwrap_or_default()
}

/// `c.name` where FROM says `customers` and no alias.
fn abbreviated(case: &Case<'_, impl Host>, block: &Block, wanted: &str, column: &str) -> Option<String> {
    let relations = case.relations(block);
    let mut fitting = relations.iter().filter(|relation| {
        relation.source.alias.is_none()
            && relation.has(column)
            && relation.source.relation.as_ref().is_some_and(|name| name.starts_with(wanted))
    });
    let (Some(only), None) = (fitting.next(), fitting.next()) else { return None };
    only.source.relation.clone()
}
