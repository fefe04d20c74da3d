//! A column name that several tables of a query have.

use std::ops::Range;

use airlock_plugin_sdk::Host;

use super::filters::conjuncts;
use super::grouping::output;
use crate::block::{Block, Clause, Source};
use crate::case::{Case, Proposal, Reference, Relation};
use crate::edit::Edit;
use crate::tokens::{Kind, Tokens, identifier};

const BY_GROUP: &str = "The rows are grouped by the column of this table, and another could not be selected.";

/// Qualifies the column, where it cannot matter which table it comes from or the linker has said which one is meant.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    qualify(case).into_iter().collect()
}

fn qualify(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let reference = case.reference()?;
    if reference.qualifier.is_some() {
        return None;
    }
    let column = case.tokens.name(reference.column)?;
    let block = case.block(reference.column)?;
    let relations = case.relations(&block);
    if relations.iter().any(|relation| relation.detail.is_none()) {
        return None;
    }
    let having: Vec<&Relation> = relations.iter().filter(|relation| relation.has(&column)).collect();
    let (name, reason) = match equal_on(case, &block, &having, &column) {
        Equal::Everywhere(name) => {
            (name, "The tables are joined by equality on it, so that it is the same in both.")
        }
        Equal::WherePaired(sides) => return side_by_side(case, &block, &having, &reference, &sides),
        Equal::No => match other_side(case, &block, &having, &column) {
            Some(name) => {
                (name, "It is joined with the other table, and a condition that joins speaks of both.")
            }
            None => match grouped(case, &block, &having, &column) {
                Some(name) => (name, BY_GROUP),
                None => {
                    let name = selected(case, &having, &column)?;
                    (name, "Of the tables the query reads, it was chosen from this one.")
                }
            },
        },
    };
    let with = format!("{}.{}", identifier(&name), identifier(&column));
    let edits = case.occurrences(&block, &reference).into_iter();
    Some(Proposal {
        edits: edits
            .filter_map(|found| Some(Edit::replace(case.tokens.bytes(&found.range)?, with.clone())))
            .collect(),
        change: format!("{column} is now {with}."),
        reason: reason.into(),
    })
}

/// Whether tables that have a column have the same value of it.
enum Equal {
    No,
    /// In every row; the first of them.
    Everywhere(String),
    /// Where a row has a partner.
    WherePaired(Sides),
}

/// The two sides of a LEFT JOIN.
struct Sides {
    /// The one whose rows are all kept.
    kept: String,
    /// The one that is NULL beside a row without a partner; none where there are several such.
    filled: Option<String>,
}

/// Whether all that have the column are joined by equality on it. Of a FULL JOIN, where no side is kept, and of a RIGHT JOIN
/// this does not tell.
fn equal_on(case: &Case<'_, impl Host>, block: &Block, having: &[&Relation], column: &str) -> Equal {
    let tokens = &case.tokens;
    if block.range.clone().any(|index| tokens.is_any(index, &["RIGHT", "FULL"])) {
        return Equal::No;
    }
    let names: Vec<&str> = having.iter().filter_map(|relation| relation.source.visible()).collect();
    let Some((first, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Equal::No;
    };
    let mut equal: Vec<&str> = vec![first];
    let pairs = pairs(tokens, block, column);
    // Each round joins at least one more table, or nothing more can be joined.
    for _ in others {
        for (left, right) in &pairs {
            for name in &names {
                let joins = (equal.contains(&left.as_str()) && name == right)
                    || (equal.contains(&right.as_str()) && name == left);
                if joins && !equal.contains(name) {
                    equal.push(name);
                }
            }
        }
    }
    if equal.len() < names.len() {
        return Equal::No;
    }
    let filled: Vec<&&Relation> =
        having.iter().filter(|relation| is_filled(case, block, having, relation, column)).collect();
    match filled.as_slice() {
        [] => Equal::Everywhere((*first).to_owned()),
        // The first one is kept: what a LEFT JOIN fills stands behind what it keeps.
        [only] => Equal::WherePaired(Sides {
            kept: (*first).to_owned(),
            filled: only.source.visible().filter(|name| name != first).map(str::to_owned),
        }),
        _ => Equal::WherePaired(Sides { kept: (*first).to_owned(), filled: None }),
    }
}

/// Whether a LEFT JOIN makes rows in which a relation is NULL: not where a key that is never NULL leads to it, and nothing
/// else is asked of the partner.
fn is_filled(
    case: &Case<'_, impl Host>,
    block: &Block,
    having: &[&Relation],
    relation: &Relation,
    column: &str,
) -> bool {
    let tokens = &case.tokens;
    let Some(name) = &relation.source.name else { return false };
    let join = name.start.checked_sub(1);
    let left = join
        .and_then(|join| join.checked_sub(1))
        .is_some_and(|before| tokens.is_any(before, &["LEFT", "OUTER"]));
    if !left {
        return false;
    }
    let on = conditions(tokens, block).into_iter().find(|range| range.start > name.start);
    let only = on.is_some_and(|on| on.len() == 7 && pair(tokens, &on, column).is_some());
    let leads = having.iter().filter_map(|other| other.detail.as_ref()).any(|from| {
        from.joins.iter().any(|join| {
            let to = relation.detail.as_ref().is_some_and(|detail| detail.summary.table == join.to);
            let on_it = join.from_columns == [column] && join.to_columns == [column];
            to && on_it
                && join.from == from.summary.table
                && join.verified
                && join.many_to_one
                && !join.optional
        })
    });
    !(only && leads)
}

/// Where the block joins and filters: each ON, and WHERE.
fn conditions(tokens: &Tokens<'_>, block: &Block) -> Vec<Range<usize>> {
    const ENDS: [&str; 7] = ["JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL"];
    let mut found = Vec::new();
    if let Some(from) = block.clause(Clause::From) {
        let own = |at: &usize| tokens.get(*at).is_some_and(|token| token.depth == block.depth);
        for on in from.clone().filter(own).filter(|at| tokens.is(*at, "ON")) {
            let ends = |at: &usize| tokens.is_any(*at, &ENDS) || tokens.kind(*at) == Some(Kind::Comma);
            let end = (on + 1..from.end).filter(own).find(ends).unwrap_or(from.end);
            found.push(on + 1..end);
        }
    }
    found.extend(block.clause(Clause::Where).cloned());
    found
}

/// `a.column = b.column` that must hold of every row of the block, as pairs of qualifiers.
fn pairs(tokens: &Tokens<'_>, block: &Block, column: &str) -> Vec<(String, String)> {
    let parts = conditions(tokens, block).into_iter().filter_map(|range| conjuncts(tokens, range)).flatten();
    parts.filter_map(|part| pair(tokens, &part, column)).collect()
}

/// The two qualifiers of a condition that is `a.column = b.column` and no more, parentheses aside.
fn pair(tokens: &Tokens<'_>, part: &Range<usize>, column: &str) -> Option<(String, String)> {
    let mut part = part.clone();
    while part.len() > 7 && tokens.kind(part.start) == Some(Kind::Open) {
        let close = tokens.closing(part.start).filter(|close| close + 1 == part.end)?;
        part = part.start + 1..close;
    }
    let qualified = |at: usize| -> Option<String> {
        let names = tokens.kind(at + 1) == Some(Kind::Dot) && tokens.name(at + 2).as_deref() == Some(column);
        names.then(|| tokens.name(at)).flatten()
    };
    let shaped = part.len() == 7 && tokens.is_operator(part.start + 3, "=");
    shaped.then(|| Some((qualified(part.start)?, qualified(part.start + 4)?))).flatten()
}

/// Qualifies a column of both sides of a LEFT JOIN, place by place: where it is shown, grouped or ordered by, by the side that
/// has it in every row; where a row is asked to have none, by the other one, if the first is never NULL. In a count, a
/// comparison or an expression the sides give other results, and nothing says which one is meant.
fn side_by_side(
    case: &Case<'_, impl Host>,
    block: &Block,
    having: &[&Relation],
    reference: &Reference,
    sides: &Sides,
) -> Option<Proposal> {
    let column = case.tokens.name(reference.column)?;
    let (shown, shown_for) = match grouped(case, block, having, &column) {
        Some(name) => (name, BY_GROUP.to_owned()),
        None => {
            let told = "The tables are joined by equality on it, and a row without a partner has it on this side alone.";
            (sides.kept.clone(), told.to_owned())
        }
    };
    let never = having.iter().any(|relation| {
        let mut columns = relation.detail.iter().flat_map(|detail| &detail.columns);
        relation.source.visible() == Some(&sides.kept)
            && columns.any(|known| known.name == column && !known.nullable)
    });
    let with = |name: &str| format!("{}.{}", identifier(name), identifier(&column));
    let (mut edits, mut changes, mut reasons): (Vec<Edit>, Vec<String>, Vec<String>) = Default::default();
    for found in case.occurrences(block, reference) {
        let (change, reason, with) = if is_plain(case, block, &found) {
            (format!("{column} is now {}.", with(&shown)), shown_for.clone(), with(&shown))
        } else {
            let filled = sides.filled.as_ref().filter(|_| never && is_missing(case, block, &found))?;
            let change = format!("Where {column} is asked to be NULL it is now {}.", with(filled));
            (change, format!("{} is never NULL.", with(&sides.kept)), with(filled))
        };
        edits.push(Edit::replace(case.tokens.bytes(&found.range)?, with));
        if !changes.contains(&change) {
            changes.push(change);
            reasons.push(reason);
        }
    }
    Some(Proposal { edits, change: changes.join(" "), reason: reasons.join(" ") })
}

/// Whether a column is all of an item that is selected, grouped or ordered by.
fn is_plain(case: &Case<'_, impl Host>, block: &Block, found: &Reference) -> bool {
    let tokens = &case.tokens;
    let items = match block.clause_at(found.column) {
        Some(Clause::Select) => {
            block.items(tokens).into_iter().map(|item| output(tokens, item).0).collect::<Vec<_>>()
        }
        Some(clause @ (Clause::GroupBy | Clause::OrderBy)) => {
            let list = block.clause(clause).cloned().unwrap_or_default();
            let ends = |at: &usize| tokens.is_any(*at, &["ASC", "DESC", "NULLS"]);
            let parts = tokens.split(list).into_iter();
            parts.map(|part| part.start..part.clone().find(ends).unwrap_or(part.end)).collect()
        }
        _ => return false,
    };
    items.contains(&found.range)
}

/// Whether a condition of WHERE is that the column IS NULL, and no more.
fn is_missing(case: &Case<'_, impl Host>, block: &Block, found: &Reference) -> bool {
    let tokens = &case.tokens;
    let parts = block.clause(Clause::Where).and_then(|range| conjuncts(tokens, range.clone()));
    let end = found.range.end;
    let shaped = tokens.is(end, "IS") && tokens.is(end + 1, "NULL");
    shaped && parts.is_some_and(|parts| parts.contains(&(found.range.start..end + 2)))
}

/// `JOIN b ON a.x = x`: of the tables that have the column, the one that is not on the other side of the equality.
fn other_side(
    case: &Case<'_, impl Host>,
    block: &Block,
    having: &[&Relation],
    column: &str,
) -> Option<String> {
    let tokens = &case.tokens;
    let at = case.reference()?.column;
    if block.clause_at(at) != Some(Clause::From) {
        return None;
    }
    let before = at
        .checked_sub(4)
        .filter(|start| tokens.is_operator(start + 3, "=") && tokens.kind(start + 1) == Some(Kind::Dot));
    let behind = Some(at + 2)
        .filter(|start| tokens.is_operator(at + 1, "=") && tokens.kind(start + 1) == Some(Kind::Dot));
    let start = before.or(behind)?;
    let (own, key) = (tokens.name(start)?, tokens.name(start + 2)?);
    // What the catalogue knows of joins comes first.
    let joined = case.relations(block);
    let joined = joined.iter().find(|relation| relation.source.visible() == Some(own.as_str()))?;
    let targets: Vec<&str> = joined
        .detail
        .iter()
        .flat_map(|detail| &detail.joins)
        .filter_map(|join| {
            let forth = join.from.name == joined.source.relation.clone()?
                && join.from_columns == [key.clone()]
                && join.to_columns == [column];
            let back = join.to.name == joined.source.relation.clone()?
                && join.to_columns == [key.clone()]
                && join.from_columns == [column];
            if forth { Some(join.to.name.as_str()) } else { back.then_some(join.from.name.as_str()) }
        })
        .collect();
    // An ON sees what FROM names before it; the table that it joins is the last of that.
    let on = (block.range.start..at).rev().find(|index| tokens.is(*index, "ON"))?;
    let seen = |source: &Source| source.name.as_ref().is_some_and(|name| name.start < on);
    let others = || {
        let others = having.iter().filter(|relation| relation.source.visible() != Some(own.as_str()));
        others.filter(|relation| seen(&relation.source)).copied()
    };
    let known = |relation: &&Relation| {
        relation.source.relation.as_deref().is_some_and(|name| targets.contains(&name))
    };
    let mut meant = others().filter(known);
    if let (Some(only), None) = (meant.next(), meant.next()) {
        return only.source.visible().map(str::to_owned);
    }
    let last = block.sources(tokens).into_iter().rfind(seen)?.visible()?.to_owned();
    if last != own {
        return others().any(|relation| relation.source.visible() == Some(last.as_str())).then_some(last);
    }
    let (mut rest, second) = (others(), others().nth(1));
    if second.is_some() { None } else { rest.next()?.source.visible().map(str::to_owned) }
}

/// The one table by whose column of this name the block is grouped, for a column that is selected beside aggregates; and for
/// one that is grouped by, the one from which it is selected.
fn grouped(case: &Case<'_, impl Host>, block: &Block, having: &[&Relation], column: &str) -> Option<String> {
    let tokens = &case.tokens;
    let place = case.reference()?.column;
    let aggregated = place.checked_sub(1).is_some_and(|open| tokens.kind(open) == Some(Kind::Open));
    let range = match block.clause_at(place)? {
        Clause::Select if !aggregated => block.clause(Clause::GroupBy)?.clone(),
        Clause::GroupBy => block.clause(Clause::Select)?.clone(),
        _ => return None,
    };
    let by = |name: &&str| {
        range.clone().any(|index| {
            tokens.name(index).as_deref() == Some(*name)
                && tokens.kind(index + 1) == Some(Kind::Dot)
                && tokens.name(index + 2).as_deref() == Some(column)
                // What is aggregated is not what is grouped by.
                && index.checked_sub(1).is_none_or(|open| tokens.kind(open) != Some(Kind::Open))
        })
    };
    let mut found = having.iter().filter_map(|relation| relation.source.visible()).filter(by);
    let (Some(only), None) = (found.next(), found.next()) else { return None };
    Some(only.to_owned())
}

/// The one table from which the linker selected the column by name.
fn selected(case: &Case<'_, impl Host>, having: &[&Relation], column: &str) -> Option<String> {
    let mut meant = having.iter().filter(|relation| {
        let Some(detail) = &relation.detail else { return false };
        case.input.selection.tables.iter().any(|selected| {
            selected.table == detail.summary.table && selected.columns.iter().any(|name| name == column)
        })
    });
    let (Some(only), None) = (meant.next(), meant.next()) else { return None };
    only.source.visible().map(str::to_owned)
}
