//! A table that the query speaks of and does not read: joined to it, where there is one table and one way to join it.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::catalog::{Join, TableDetail};
use airlock_plugin_sdk::words::identifier_words;

use super::grouping::is_aggregate;
use crate::block::{Block, Clause, Source, blocks, with_names};
use crate::case::{Case, Proposal, Relation};
use crate::edit::Edit;
use crate::near::abbreviates;
use crate::tokens::{Kind, identifier};

/// Aggregates that a row counts in as often as a join repeats it.
const SUMS: [&str; 4] = ["sum", "avg", "stddev", "variance"];
/// Words that begin a join, before its JOIN.
const BEFORE_JOIN: [&str; 4] = ["INNER", "LEFT", "OUTER", "CROSS"];

/// What the query writes of the table that is not there.
struct Wanted {
    /// What stands before its columns; none when they stand alone.
    qualifier: Option<String>,
    /// Its columns.
    columns: Vec<String>,
    /// The tokens that speak of it.
    places: Vec<usize>,
}

/// How sure it is that a table is the one a qualifier means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// By its name.
    Whole,
    /// By a part, or the first letters, of its name.
    Abbreviated,
    /// Only by its columns: `t2` says nothing.
    Not,
}

/// A table with the one join that brings it in.
struct Way<'r> {
    table: TableDetail,
    join: Join,
    /// What it is joined to.
    to: &'r Relation,
}

/// Joins the table that a qualifier means.
pub fn qualifier(case: &Case<'_, impl Host>, index: usize) -> Option<Proposal> {
    let reference = case.reference_at(index)?;
    let name = case.tokens.name(reference.qualifier?)?;
    let block = outermost(case, index, &name)?;
    let places = case.qualifiers(&block, &name);
    let columns = places.iter().filter_map(|at| case.tokens.name(at + 2)).collect();
    let wanted = Wanted { qualifier: Some(name.clone()), columns, places };
    let levels: &[Named] = if says_nothing(&name) {
        &[Named::Whole, Named::Abbreviated, Named::Not]
    } else {
        &[Named::Whole, Named::Abbreviated]
    };
    joined(case, &block, &wanted, levels)
}

/// Joins the table that has a column which nothing in the query has.
pub fn column(case: &Case<'_, impl Host>, block: &Block, index: usize) -> Option<Proposal> {
    let reference = case.reference_at(index).filter(|reference| reference.qualifier.is_none())?;
    let name = case.tokens.name(reference.column)?;
    let places = case.occurrences(block, &reference).into_iter().map(|found| found.column).collect();
    joined(case, block, &Wanted { qualifier: None, columns: vec![name], places }, &[Named::Not])
}

/// The outermost block around a token that itself speaks of the name: what is read there, its subqueries see.
fn outermost(case: &Case<'_, impl Host>, index: usize, name: &str) -> Option<Block> {
    let speaks = |block: &Block| {
        let mut places = case.qualifiers(block, name).into_iter();
        places.any(|at| case.block(at).as_ref() == Some(block))
    };
    let around = blocks(&case.tokens).into_iter().filter(|block| block.range.contains(&index));
    around.filter(speaks).max_by_key(|block| block.range.len())
}

/// One letter, or one with digits.
fn says_nothing(name: &str) -> bool {
    name.trim_end_matches(|c: char| c.is_ascii_digit()).chars().count() < 2
}

fn joined(case: &Case<'_, impl Host>, block: &Block, wanted: &Wanted, levels: &[Named]) -> Option<Proposal> {
    let tokens = &case.tokens;
    let relations = case.relations(block);
    let common = with_names(tokens);
    // What a subquery gives is not in the catalogue: the table may be joined with that, or be that.
    let unknown = relations.iter().any(|relation| relation.detail.is_none());
    let unread = |name: &String| {
        let mut all = blocks(tokens).into_iter().flat_map(|block| block.sources(tokens));
        !all.any(|source| source.relation.as_ref() == Some(name))
    };
    let outer = block.range.clone().any(|index| tokens.is_any(index, &["RIGHT", "FULL", "NATURAL"]));
    if unknown || outer || common.iter().any(unread) {
        return None;
    }
    let place = Place::of(case, block, wanted)?;
    let way = way(case, &relations, &place, wanted, levels)?;
    if changes_meaning(case, block, wanted, &way) {
        return None;
    }
    let name = written(&way.table);
    let alias = wanted.qualifier.as_ref().filter(|alias| **alias != way.table.summary.table.name);
    let alias = alias.map(|alias| format!(" AS {}", identifier(alias))).unwrap_or_default();
    let own = wanted.qualifier.as_deref().unwrap_or(&way.table.summary.table.name);
    let condition = condition(&way, own)?;
    let (change, reason) = (
        format!("{} is joined on {condition}.", way.table.summary.table.name),
        match &wanted.qualifier {
            Some(qualifier) => {
                format!(
                    "The query speaks of {qualifier} and does not read it, and there is one way to join it."
                )
            }
            None => format!(
                "Nothing that the query reads has {}, and one table that can be joined in one way does.",
                wanted.columns.join(", ")
            ),
        },
    );
    let edit = match place.before {
        Some(join) => Edit::insert(case.span(join)?.start, format!("JOIN {name}{alias} ON {condition} ")),
        None => {
            let segment = place.segments.iter().find(|part| holds(part, &way.to.source))?;
            Edit::insert(tokens.bytes(segment)?.end, format!(" JOIN {name}{alias} ON {condition}"))
        }
    };
    Some(Proposal { edits: vec![edit], change, reason })
}

/// Where a join can be put.
struct Place {
    /// The parts of FROM between its commas.
    segments: Vec<Range<usize>>,
    /// The first word of the join whose condition speaks of the table: it must be there before.
    before: Option<usize>,
}

impl Place {
    fn of(case: &Case<'_, impl Host>, block: &Block, wanted: &Wanted) -> Option<Self> {
        let tokens = &case.tokens;
        let from = block.clause(Clause::From)?;
        let segments = tokens.split(from.clone());
        let first = wanted.places.iter().filter(|place| from.contains(place)).min();
        let before = match first {
            None => None,
            Some(first) => {
                let own = |at: &usize| tokens.get(*at).is_some_and(|token| token.depth == block.depth);
                let join = (from.start..*first).rev().filter(own).find(|at| tokens.is(*at, "JOIN"))?;
                let begins =
                    (from.start..join).rev().take_while(|at| tokens.is_any(*at, &BEFORE_JOIN)).last();
                Some(begins.unwrap_or(join))
            }
        };
        Some(Self { segments, before })
    }

    /// Whether the table can be joined to a source: one of the same part of FROM, and named before.
    fn reaches(&self, source: &Source) -> bool {
        self.before.is_none_or(|join| {
            let part = self.segments.iter().find(|part| part.contains(&join));
            part.is_some_and(|part| holds(part, source))
                && source.name.as_ref().is_some_and(|name| name.start < join)
        })
    }
}

fn holds(part: &Range<usize>, source: &Source) -> bool {
    source.name.as_ref().is_some_and(|name| part.contains(&name.start))
}

/// The only table and join that bring in what is wanted. Of those that the name fits better only the better ones count.
fn way<'r>(
    case: &Case<'_, impl Host>,
    relations: &'r [Relation],
    place: &Place,
    wanted: &Wanted,
    levels: &[Named],
) -> Option<Way<'r>> {
    let has_all = |detail: &TableDetail| {
        wanted.columns.iter().all(|name| detail.columns.iter().any(|column| column.name == *name))
    };
    let listed = case.host.tables().into_iter().filter_map(|summary| case.host.describe(&summary.table));
    let fitting: Vec<TableDetail> = listed.filter(|detail| detail.in_use && has_all(detail)).collect();
    for level in levels {
        let here = fitting
            .iter()
            .filter(|table| *level == named(table, wanted.qualifier.as_deref()) || *level == Named::Not);
        let mut ways: Vec<Way<'r>> = Vec::new();
        for table in here {
            let read = relations.iter().any(|relation| {
                relation.detail.as_ref().is_some_and(|detail| detail.summary.table == table.summary.table)
            });
            if read {
                // The name may mean what is read already.
                if *level == Named::Not {
                    continue;
                }
                return None;
            }
            for to in relations.iter().filter(|relation| place.reaches(&relation.source)) {
                let joins = table.joins.iter().filter(|join| join.verified && connects(join, table, to));
                ways.extend(joins.map(|join| Way { table: table.clone(), join: join.clone(), to }));
            }
        }
        if !ways.is_empty() {
            let only = ways.pop()?;
            return ways.is_empty().then_some(only);
        }
        if *level == Named::Whole
            && fitting.iter().any(|table| named(table, wanted.qualifier.as_deref()) == *level)
        {
            return None;
        }
    }
    None
}

fn named(table: &TableDetail, qualifier: Option<&str>) -> Named {
    let Some(qualifier) = qualifier else { return Named::Not };
    let name = table.summary.table.name.to_lowercase();
    if name == qualifier {
        return Named::Whole;
    }
    let short = qualifier.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').to_lowercase();
    let words = identifier_words(&name);
    let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
    let word =
        words.iter().any(|word| short.len() > 1 && (word.starts_with(&short) || abbreviates(&short, word)));
    let abbreviated = !short.is_empty() && (name.starts_with(&short) || initials == short || word);
    if abbreviated { Named::Abbreviated } else { Named::Not }
}

fn connects(join: &Join, table: &TableDetail, to: &Relation) -> bool {
    let Some(other) = &to.detail else { return false };
    let (this, other) = (&table.summary.table, &other.summary.table);
    (join.from == *this && join.to == *other) || (join.to == *this && join.from == *other)
}

/// Whether the join may give other rows than were meant: where rows without a partner seem to be wanted, and where a sum
/// would count rows again.
fn changes_meaning(case: &Case<'_, impl Host>, block: &Block, wanted: &Wanted, way: &Way<'_>) -> bool {
    let tokens = &case.tokens;
    let one = way.join.many_to_one && way.join.to == way.table.summary.table;
    if one && !way.join.optional {
        return false;
    }
    let left = block.clause(Clause::From).is_some_and(|from| from.clone().any(|at| tokens.is(at, "LEFT")));
    let doubted = wanted.places.iter().any(|place| {
        let behind = if wanted.qualifier.is_some() { place + 3 } else { place + 1 };
        let null = tokens.is(behind, "IS");
        let open = (block.range.start..*place).rev().find(|at| {
            tokens.kind(*at) == Some(Kind::Open) && tokens.closing(*at).is_some_and(|close| close > *place)
        });
        let coalesced =
            open.and_then(|open| open.checked_sub(1)).is_some_and(|name| tokens.is(name, "COALESCE"));
        null || coalesced
    });
    left || doubted || (!one && sums_others(case, block, wanted))
}

/// Whether something is summed that is not the table's own.
fn sums_others(case: &Case<'_, impl Host>, block: &Block, wanted: &Wanted) -> bool {
    let tokens = &case.tokens;
    let own = |range: Range<usize>| wanted.places.iter().any(|place| range.contains(place));
    block.range.clone().any(|at| {
        let name = tokens.name(at).unwrap_or_default();
        is_aggregate(tokens, at)
            && SUMS.iter().any(|sum| name.starts_with(sum))
            && tokens.closing(at + 1).is_some_and(|close| !own(at + 1..close))
    })
}

fn written(table: &TableDetail) -> String {
    let table = &table.summary.table;
    if table.schema == "public" {
        identifier(&table.name)
    } else {
        format!("{}.{}", identifier(&table.schema), identifier(&table.name))
    }
}

fn condition(way: &Way<'_>, own: &str) -> Option<String> {
    let from_here = way.join.from == way.table.summary.table;
    let (mine, theirs) = if from_here {
        (&way.join.from_columns, &way.join.to_columns)
    } else {
        (&way.join.to_columns, &way.join.from_columns)
    };
    let other = way.to.source.visible()?;
    let pairs = mine.iter().zip(theirs).map(|(mine, theirs)| {
        format!("{}.{} = {}.{}", identifier(other), identifier(theirs), identifier(own), identifier(mine))
    });
    let written = pairs.collect::<Vec<_>>().join(" AND ");
    (!written.is_empty()).then_some(written)
}
