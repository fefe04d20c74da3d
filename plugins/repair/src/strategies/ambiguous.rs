//! A column name that several tables of a query have.

use airlock_plugin_sdk::Host;

use crate::block::{Block, Clause, Source};
use crate::case::{Case, Proposal, Relation};
use crate::edit::Edit;
use crate::tokens::{Kind, identifier};

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
        Some(name) => (name, "The tables are joined by equality on it, so that it is the same in both."),
        None => match other_side(case, &block, &having, &column) {
            Some(name) => {
                (name, "It is joined with the other table, and a condition that joins speaks of both.")
            }
            None => match grouped(case, &block, &having, &column) {
                Some(name) => (
                    name,
                    "The rows are grouped by the column of this table, and another could not be selected.",
                ),
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

/// The first of the tables, when all that have the column are joined by equality on it. The first one is the side
/// that a left join keeps; where another side may be kept, this does not decide.
fn equal_on(case: &Case<'_, impl Host>, block: &Block, having: &[&Relation], column: &str) -> Option<String> {
    let tokens = &case.tokens;
    if block.range.clone().any(|index| tokens.is_any(index, &["RIGHT", "FULL"])) {
        return None;
    }
    let names: Vec<&str> = having.iter().filter_map(|relation| relation.source.visible()).collect();
    let (first, others) = names.split_first()?;
    let mut equal: Vec<&str> = vec![first];
    let pairs = pairs(case, block, column);
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
    (names.len() > 1 && equal.len() == names.len()).then(|| (*first).to_owned())
}

/// `a.column = b.column` in the block, as pairs of qualifiers.
fn pairs(case: &Case<'_, impl Host>, block: &Block, column: &str) -> Vec<(String, String)> {
    let tokens = &case.tokens;
    let qualified = |at: usize| -> Option<String> {
        let names = tokens.kind(at + 1) == Some(Kind::Dot) && tokens.name(at + 2).as_deref() == Some(column);
        names.then(|| tokens.name(at)).flatten()
    };
    let from = block.range.start;
    let equals = block.range.clone().filter(|index| tokens.is_operator(*index, "="));
    equals
        .filter_map(|index| {
            let left = index.checked_sub(3).filter(|left| *left > from)?;
            Some((qualified(left)?, qualified(index + 1)?))
        })
        .collect()
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
