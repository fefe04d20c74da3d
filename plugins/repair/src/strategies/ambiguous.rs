//! A column name that several tables of a query have.

use airlock_plugin_sdk::Host;

use crate::block::Block;
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
        None => {
            (selected(case, &having, &column)?, "Of the tables the query reads, it was chosen from this one.")
        }
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
