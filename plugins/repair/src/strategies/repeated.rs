//! How often a row counts: a join gives a row once for each partner, and most aggregates count it each time.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::catalog::TableDetail;

use super::grouping::{has_key, is_aggregate};
use crate::block::{Block, Clause};
use crate::case::{Case, Reference, Relation};
use crate::tokens::Tokens;

/// Aggregates to which a row that is there twice is as good as once.
const INDIFFERENT: [&str; 6] = ["min", "max", "bool_and", "bool_or", "every", "any_value"];

/// Whether a place that is to hold a column of `only` is inside an aggregate that would count rows again: one whose columns,
/// that one included, are all of tables that what the block reads beside them may repeat.
pub fn counted_again(
    case: &Case<'_, impl Host>,
    block: &Block,
    only: &Relation,
    reference: &Reference,
) -> bool {
    let places: Vec<usize> =
        case.occurrences(block, reference).into_iter().map(|found| found.range.start).collect();
    let relations = case.relations(block);
    let reading = Reading { case, relations: &relations, added: None };
    felt(case, block).iter().any(|argument| {
        let mut beside = values(&case.tokens, argument).filter(|at| !places.contains(at));
        places.iter().any(|place| argument.contains(place))
            && !reading.is_the_many(only)
            && !beside.any(|at| reading.is_single(&reading.owner(at)))
    })
}

/// The arguments of the block's own aggregates to which it matters how often a row is there, as tokens.
pub fn felt(case: &Case<'_, impl Host>, block: &Block) -> Vec<Range<usize>> {
    let tokens = &case.tokens;
    let feels = |at: &usize| {
        is_aggregate(tokens, *at)
            && !tokens.is(at + 2, "DISTINCT")
            && tokens.name(*at).is_some_and(|name| !INDIFFERENT.contains(&name.as_str()))
            && case.block(*at).as_ref() == Some(block)
    };
    let argument = |at: usize| {
        let close = tokens.closing(at + 1)?;
        // What a percentile is of stands behind it.
        let within = tokens.is(close + 1, "WITHIN") && tokens.is(close + 2, "GROUP");
        let end = if within { tokens.closing(close + 3)? } else { close };
        Some(at + 2..end)
    };
    block.range.clone().filter(feels).filter_map(argument).collect()
}

/// The tokens of an argument that are its value: of a CASE not what stands between WHEN and THEN, which only picks rows.
pub fn values<'t>(tokens: &'t Tokens<'_>, argument: &Range<usize>) -> impl Iterator<Item = usize> + 't {
    let mut picks = false;
    argument.clone().filter(move |at| {
        picks = (picks || tokens.is(*at, "WHEN")) && !tokens.is(*at, "THEN");
        !picks
    })
}

/// Whose column a token names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// No column, or one that nothing here has.
    Nobody,
    /// One of the relations that are read.
    Read(usize),
    /// The table that is to be joined.
    Added,
    /// A name without a qualifier that both have.
    Both,
}

/// What a block reads, with the table that is to be joined to it.
pub struct Reading<'r, 'a, H> {
    pub case: &'r Case<'a, H>,
    pub relations: &'r [Relation],
    /// The table, and what stands before its columns.
    pub added: Option<(&'r TableDetail, Option<&'r str>)>,
}

impl<H: Host> Reading<'_, '_, H> {
    /// Whose column begins at a token.
    pub fn owner(&self, at: usize) -> Owner {
        let tokens = &self.case.tokens;
        let begins = |reference: &Reference| {
            let named = at.checked_sub(1).is_some_and(|before| tokens.is(before, "AS"));
            reference.range.start == at && !named
        };
        let Some(reference) = self.case.reference_at(at).filter(begins) else { return Owner::Nobody };
        let column = tokens.name(reference.column).unwrap_or_default();
        let read = |is: &dyn Fn(&Relation) -> bool| {
            self.relations.iter().position(is).map_or(Owner::Nobody, Owner::Read)
        };
        let qualifier = reference.qualifier.and_then(|at| tokens.name(at));
        if let Some(qualifier) = qualifier {
            let added = self.added.and_then(|(_, name)| name);
            return if added == Some(qualifier.as_str()) {
                Owner::Added
            } else {
                read(&|relation| relation.source.visible() == Some(&qualifier))
            };
        }
        let added =
            self.added.is_some_and(|(table, _)| table.columns.iter().any(|known| known.name == column));
        match read(&|relation| relation.has(&column)) {
            Owner::Nobody if added => Owner::Added,
            Owner::Read(_) if added => Owner::Both,
            read => read,
        }
    }

    /// Whether what joins a column's table to the others leaves each of its rows there once.
    pub fn is_single(&self, owner: &Owner) -> bool {
        let start = match owner {
            Owner::Nobody => return false,
            Owner::Read(at) => return self.relations.get(*at).is_some_and(|read| self.is_the_many(read)),
            // What is read was there first.
            Owner::Both => return self.relations.iter().any(|read| self.is_the_many(read)),
            Owner::Added => self.added,
        };
        start.is_some_and(|(table, _)| reaches(table, self.relations.iter().map(|read| read.detail.as_ref())))
    }

    /// Whether each row of a relation is there at most once: every other table is reached from it by joins that give a row
    /// at most one partner.
    fn is_the_many(&self, only: &Relation) -> bool {
        let others = self.relations.iter().filter(|other| other.source != only.source);
        let others = others.map(|other| other.detail.as_ref());
        let added = self.added.iter().map(|(table, _)| Some(*table));
        only.detail.as_ref().is_some_and(|start| reaches(start, others.chain(added)))
    }

    /// The arguments of the block's aggregates that would be of rows which the join of the added table repeats. `one` says that
    /// what is read has at most one partner in it.
    pub fn repeated(&self, block: &Block, one: bool) -> Vec<Range<usize>> {
        let mut arguments = felt(self.case, block);
        arguments.retain(|argument| {
            let mut owners: Vec<Owner> =
                values(&self.case.tokens, argument).map(|at| self.owner(at)).collect();
            owners.retain(|owner| *owner != Owner::Nobody);
            let touched = !one || owners.contains(&Owner::Added);
            if owners.is_empty() {
                // `count(*)` is of the rows that FROM names.
                owners.extend((0..self.relations.len()).map(Owner::Read));
            }
            touched && !owners.iter().any(|owner| self.is_single(owner))
        });
        arguments
    }

    /// Whether the block says nothing of what it reads, or no more than how many rows there are.
    pub fn says_nothing_of_what_is_read(&self, block: &Block) -> bool {
        let tokens = &self.case.tokens;
        let from = block.clause(Clause::From);
        let within = |at: &usize| from.is_some_and(|from| from.contains(at));
        let read = |at: usize| matches!(self.owner(at), Owner::Read(_) | Owner::Both);
        let all =
            |item: &Range<usize>| item.end.checked_sub(1).is_some_and(|last| tokens.is_operator(last, "*"));
        !block.items(tokens).iter().any(all) && !block.range.clone().filter(|at| !within(at)).any(read)
    }
}

/// Whether all the others are reached from a table by joins that give a row at most one partner.
fn reaches<'t>(start: &'t TableDetail, others: impl Iterator<Item = Option<&'t TableDetail>>) -> bool {
    let mut left: Vec<Option<&TableDetail>> = others.collect();
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

/// Whether a row of the first has at most one partner in the second: by a key of the second, which a foreign key leads to, or
/// which is one itself.
fn one_partner(from: &TableDetail, to: &TableDetail) -> bool {
    let (here, there) = (&from.summary.table, &to.summary.table);
    here != there
        && from.joins.iter().any(|join| {
            let forth = join.many_to_one && &join.from == here && &join.to == there;
            let back = &join.to == here && &join.from == there && has_key(to, &join.from_columns);
            forth || back
        })
}
