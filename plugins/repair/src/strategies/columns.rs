//! A column that is not where the query looks: quoted texts, output aliases, wrong qualifiers, near names.

use std::iter;
use std::ops::Range;

use airlock_plugin_sdk::{Host, words};

use super::grouping::output;
use super::{Proposals, functions, keywords, left_out, repeated, tables};
use crate::block::{Block, Clause, blocks};
use crate::case::{Case, Proposal, Reference, Relation};
use crate::edit::{Edit, apply};
use crate::near::{believable, nearest};
use crate::tokens::{Kind, Tokens, identifier, inside, literal};

/// Edits for an unknown column, the surest first.
pub fn propose<'c>(case: &'c Case<'_, impl Host>) -> Proposals<'c> {
    let Some(reference) = case.reference() else { return Box::new(iter::empty()) };
    let at = reference.range.start;
    let block = match reference.qualifier.and_then(|index| case.tokens.name(index)) {
        // A qualifier that nothing in scope has is what is wrong, whatever column stands behind it.
        Some(name) => match case.block_with(at, &name) {
            Some(block) => block,
            None => return tables::propose(case),
        },
        None => match case.block(at) {
            Some(block) => block,
            None => return Box::new(iter::empty()),
        },
    };
    let relations = case.relations(&block);
    let here = [
        functions::with_unit(case, &reference),
        keywords::distinct(case, &reference),
        quoted_text(case, &reference),
        output_alias(case, &block, &reference),
    ]
    .into_iter()
    .flatten()
    .chain(other_name(case, &block, &relations, &reference));
    Box::new(here.chain(iter::once_with(move || left_out::column(case, &block, at)).flatten()))
}

/// The very column of another table, or else one of another name: a name that exists is no misspelt one.
fn other_name(
    case: &Case<'_, impl Host>,
    block: &Block,
    relations: &[Relation],
    reference: &Reference,
) -> Vec<Proposal> {
    let Some(wanted) = case.tokens.name(reference.column) else { return Vec::new() };
    let around =
        blocks(&case.tokens).into_iter().filter(|outer| outer.range.contains(&reference.range.start));
    let visible: Vec<Relation> = around.flat_map(|outer| case.relations(&outer)).collect();
    let having: Vec<&Relation> = visible.iter().filter(|relation| relation.has(&wanted)).collect();
    match having.as_slice() {
        [only] if reference.qualifier.is_some() => {
            elsewhere(case, block, only, reference, &wanted).into_iter().collect()
        }
        [_, _, ..] if reference.qualifier.is_some() => Vec::new(),
        _ => {
            let named =
                [suggested(case, block, relations, reference), near(case, block, relations, reference)];
            named.into_iter().flatten().collect()
        }
    }
}

/// `status = "PAID"`: a name where a text is meant.
fn quoted_text(case: &Case<'_, impl Host>, reference: &Reference) -> Option<Proposal> {
    let tokens = &case.tokens;
    let index = reference.column;
    if reference.qualifier.is_some() || tokens.kind(index) != Some(Kind::Quoted) || !compared(case, index) {
        return None;
    }
    let text_of = |index: usize| inside(tokens.written(index)).replace("\"\"", "\"");
    let text = text_of(index);
    let listed = |name: &str| {
        let mut blocks = blocks(tokens).into_iter();
        blocks.any(|block| case.relations(&block).iter().any(|relation| relation.has(name)))
    };
    // Who writes one text so writes all of them so.
    let all = (0..tokens.all.len()).filter(|at| {
        let alone = tokens.kind(*at) == Some(Kind::Quoted) && tokens.kind(at + 1) != Some(Kind::Dot);
        *at == index || (alone && compared(case, *at) && !listed(&text_of(*at)))
    });
    Some(Proposal {
        edits: all.filter_map(|at| Some(Edit::replace(case.span(at)?, literal(&text_of(at))))).collect(),
        change: format!("{} is now the text {}.", tokens.written(index), literal(&text)),
        reason: "Double quotes name a column in PostgreSQL; a text stands in single quotes.".into(),
    })
}

/// Whether a token is what something is compared with: behind a comparison, or in the list of IN.
fn compared(case: &Case<'_, impl Host>, index: usize) -> bool {
    let tokens = &case.tokens;
    let Some(before) = index.checked_sub(1) else { return false };
    let operator = tokens.kind(before) == Some(Kind::Operator)
        && ["=", "<>", "!=", "<", ">", "<=", ">=", "~", "~*"].contains(&tokens.written(before));
    if operator || tokens.is_any(before, &["LIKE", "ILIKE"]) {
        return true;
    }
    let depth = tokens.get(index).map(|token| token.depth);
    let open = (0..index).rev().find(|open| {
        tokens.kind(*open) == Some(Kind::Open) && tokens.get(*open).map(|token| token.depth + 1) == depth
    });
    open.and_then(|open| open.checked_sub(1)).is_some_and(|word| tokens.is(word, "IN"))
}

/// An output alias used where PostgreSQL does not see it yet: its expression can stand there.
fn output_alias(case: &Case<'_, impl Host>, block: &Block, reference: &Reference) -> Option<Proposal> {
    let tokens = &case.tokens;
    let clause = block.clause_at(reference.column)?;
    if reference.qualifier.is_some() || !matches!(clause, Clause::Where | Clause::Having) {
        return None;
    }
    let name = tokens.name(reference.column)?;
    let items = block.items(tokens).into_iter();
    let expression = items
        .map(|item| output(tokens, item))
        .find_map(|(expression, alias)| (alias.as_deref() == Some(&name)).then_some(expression))?;
    let moved = clause == Clause::Having || !aggregates(case, &expression);
    if !moved || expression.clone().any(|index| tokens.is(index, "OVER")) {
        return None;
    }
    let written = tokens.slice(&expression);
    let edits = case
        .occurrences(block, reference)
        .into_iter()
        .filter(|found| block.clause_at(found.column) == Some(clause));
    Some(Proposal {
        edits: edits
            .filter_map(|found| Some(Edit::replace(tokens.bytes(&found.range)?, format!("({written})"))))
            .collect(),
        change: format!("{name} is written out as ({written}) where the rows are filtered."),
        reason: "An output name is not known yet where rows or groups are filtered.".into(),
    })
}

fn aggregates(case: &Case<'_, impl Host>, range: &Range<usize>) -> bool {
    range.clone().any(|index| super::grouping::is_aggregate(&case.tokens, index))
}

/// PostgreSQL's own suggestion, when it makes exactly one.
fn suggested(
    case: &Case<'_, impl Host>,
    block: &Block,
    relations: &[Relation],
    reference: &Reference,
) -> Option<Proposal> {
    let hint = case.failure.hint.as_deref()?;
    // Of a relation, it is for another strategy.
    if hint.contains("relation") || hint.contains("table alias") {
        return None;
    }
    // What stands in double quotes; the qualifier may be part of it.
    let mut names: Vec<&str> = hint.split('"').skip(1).step_by(2).collect();
    names.dedup();
    let [name] = names.as_slice() else { return None };
    let (qualifier, column) = match name.rsplit_once('.') {
        Some((qualifier, column)) => (Some(qualifier), column),
        None => (None, *name),
    };
    let wanted = case.tokens.name(reference.column)?;
    if wanted != column && !believable(&wanted, column) {
        return None;
    }
    let own = reference.qualifier.and_then(|index| case.tokens.name(index));
    let mut having = relations.iter().filter(|relation| relation.has(column));
    let qualifier = match (qualifier, &own) {
        (Some(_), None) if relations.len() < 2 => None,
        // Another table's column may be repeated by what the writer joined to it.
        (Some(other), Some(own)) if other != own => {
            let only = relations.iter().find(|relation| relation.source.visible() == Some(other))?;
            (!repeated::counted_again(case, block, only, reference)).then_some(other)?;
            Some(other)
        }
        (Some(qualifier), _) => Some(qualifier),
        (None, Some(own)) => Some(own.as_str()),
        (None, None) => match (having.next(), having.next()) {
            // Two of them would make it ambiguous.
            (Some(_), Some(_)) => return None,
            (Some(only), None) if relations.len() > 1 => only.source.visible(),
            _ => None,
        },
    };
    replace(case, block, reference, qualifier, column, "PostgreSQL suggests this column.")
}

/// The very column, in the one other relation that can be seen.
fn elsewhere(
    case: &Case<'_, impl Host>,
    block: &Block,
    only: &Relation,
    reference: &Reference,
    wanted: &str,
) -> Option<Proposal> {
    if repeated::counted_again(case, block, only, reference) {
        return None;
    }
    let reason = "Of the tables the query reads, only this one has the column.";
    let proposal = replace(case, block, reference, only.source.visible(), wanted, reason)?;
    // A condition between two tables is no condition on one of them.
    let text = apply(case.tokens.text, proposal.edits.clone())?;
    (Tokens::of(&text).compared_within(false) <= case.tokens.compared_within(false)).then_some(proposal)
}

/// The one column in scope whose name, or a synonym of it, is close.
fn near(
    case: &Case<'_, impl Host>,
    block: &Block,
    relations: &[Relation],
    reference: &Reference,
) -> Option<Proposal> {
    let wanted = case.tokens.name(reference.column)?;
    let qualifier = reference.qualifier.and_then(|index| case.tokens.name(index));
    let scope: Vec<&Relation> = match &qualifier {
        Some(name) => relations.iter().filter(|relation| relation.source.visible() == Some(name)).collect(),
        None => relations.iter().collect(),
    };
    // What a subquery gives is not in the catalogue, so nearness cannot be judged.
    if scope.is_empty() || scope.iter().any(|relation| relation.detail.is_none()) {
        return None;
    }
    let columns =
        || scope.iter().flat_map(|relation| relation.detail.iter().flat_map(|detail| &detail.columns));
    let name = match nearest(&wanted, columns().map(|column| column.name.as_str())) {
        Some(name) => name.to_owned(),
        None => {
            let said = words::identifier_words(&wanted).join(" ");
            let mut known =
                columns().filter(|column| column.synonyms.iter().any(|synonym| words::same(synonym, &said)));
            let (Some(only), None) = (known.next(), known.next()) else { return None };
            only.name.clone()
        }
    };
    // A column that two tables have would be ambiguous.
    let mut having = scope.iter().filter(|relation| relation.has(&name));
    let (Some(only), None) = (having.next(), having.next()) else { return None };
    let qualifier = only.source.visible().filter(|_| relations.len() > 1 || qualifier.is_some());
    let reason = format!("It is the one column in scope that is close to {wanted}.");
    replace(case, block, reference, qualifier, &name, &reason)
}

/// Writes another column everywhere the block has the wrong one.
fn replace(
    case: &Case<'_, impl Host>,
    block: &Block,
    reference: &Reference,
    qualifier: Option<&str>,
    column: &str,
    reason: &str,
) -> Option<Proposal> {
    let with = match qualifier {
        Some(qualifier) => format!("{}.{}", identifier(qualifier), identifier(column)),
        None => identifier(column),
    };
    let before = case.tokens.slice(&reference.range);
    let edits = case.occurrences(block, reference).into_iter();
    Some(Proposal {
        edits: edits
            .filter_map(|found| Some(Edit::replace(case.tokens.bytes(&found.range)?, with.clone())))
            .collect(),
        change: format!("{before} is now {with}."),
        reason: reason.into(),
    })
}
