//! Whether a column may move into a sum over joined tables: a row that a join repeats counts each time it is there.

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::catalog::TableDetail;

use super::grouping::is_aggregate;
use crate::block::Block;
use crate::case::{Case, Reference, Relation};
use crate::tokens::Kind;

/// Aggregates to which a row that is there twice is as good as once.
const INDIFFERENT: [&str; 6] = ["min", "max", "bool_and", "bool_or", "every", "any_value"];

/// Whether a place that is to hold a column of `only` is inside an aggregate that counts repeated rows, while `only` may be
/// repeated by what the block joins to it.
pub fn counted_again(
    case: &Case<'_, impl Host>,
    block: &Block,
    only: &Relation,
    reference: &Reference,
) -> bool {
    let mut places = case.occurrences(block, reference).into_iter();
    places.any(|found| summed(case, block, found.column)) && !is_the_many(case, block, only)
}

/// Whether a token is inside an aggregate of the block to which it matters how often a row is there.
fn summed(case: &Case<'_, impl Host>, block: &Block, index: usize) -> bool {
    let tokens = &case.tokens;
    (block.range.start..index).any(|name| {
        let inside = tokens.closing(name + 1).is_some_and(|close| close > index);
        let word = tokens.name(name);
        is_aggregate(tokens, name)
            && inside
            && !tokens.is(name + 2, "DISTINCT")
            && tokens.kind(name + 1) == Some(Kind::Open)
            && !word.is_some_and(|word| INDIFFERENT.contains(&word.as_str()))
    })
}

/// Whether each row of `only` is there at most once: every other table of the block is reached from it by joins that give a
/// row at most one partner.
fn is_the_many(case: &Case<'_, impl Host>, block: &Block, only: &Relation) -> bool {
    let relations = case.relations(block);
    let others = relations.iter().filter(|other| other.source != only.source);
    let Some(start) = &only.detail else { return false };
    let mut left: Vec<Option<&TableDetail>> = others.map(|other| other.detail.as_ref()).collect();
    let mut reached = vec![start];
    while let Some(from) = reached.pop() {
        left.retain(|other| {
            let one = other.filter(|to| one_partner(from, to));
            reached.extend(one);
            one.is_none()
        });
    }
    left.is_empty()
}

/// Whether a row of the first has at most one partner in the second.
fn one_partner(from: &TableDetail, to: &TableDetail) -> bool {
    let (here, there) = (&from.summary.table, &to.summary.table);
    here != there && from.joins.iter().any(|join| join.many_to_one && &join.from == here && &join.to == there)
}
