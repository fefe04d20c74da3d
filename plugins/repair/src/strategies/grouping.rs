//! A selected column that is neither grouped nor aggregated.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::failure::same_text;

use airlock_plugin_sdk::contract::catalog::TableDetail;

use super::filters;
use crate::block::{Block, Clause};
use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::tokens::{Kind, Tokens};

/// Key of the attributes of a relation that name a unique key beside the primary one: its columns, with tabs between.
const UNIQUE_KEY: &str = "unique-key";

/// Functions that make one value of many rows.
const AGGREGATES: [&str; 26] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "string_agg",
    "array_agg",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "jsonb_object_agg",
    "bool_and",
    "bool_or",
    "every",
    "bit_and",
    "bit_or",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
    "corr",
    "percentile_cont",
    "percentile_disc",
    "mode",
];

/// Whether a call of an aggregate begins at a token.
pub fn is_aggregate(tokens: &Tokens<'_>, index: usize) -> bool {
    tokens.kind(index + 1) == Some(Kind::Open)
        && tokens.name(index).is_some_and(|name| AGGREGATES.contains(&name.as_str()))
}

/// Groups by every selected expression that is not aggregated. A column that is only ordered or filtered by is left
/// alone: grouping by it would split rows that the answer keeps together.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    filters::aggregates(case).or_else(|| group(case)).into_iter().collect()
}

fn group(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let reference = case.reference()?;
    let block = case.block(reference.column)?;
    if block.clause_at(reference.column) != Some(Clause::Select) {
        return None;
    }
    let grouped = grouped(case, &block);
    let mut missing: Vec<&str> = Vec::new();
    for item in block.items(tokens) {
        let (expression, alias) = output(tokens, item);
        let aggregated = expression.clone().any(|index| {
            is_aggregate(tokens, index) || tokens.is(index, "OVER") || tokens.is(index, "SELECT")
        });
        let written = tokens.slice(&expression);
        let constant = expression.clone().all(|index| tokens.name(index).is_none());
        let known = grouped.iter().any(|group| same_text(group, written) || alias.as_deref() == Some(group));
        if !aggregated && !constant && !known && !missing.iter().any(|seen| same_text(seen, written)) {
            missing.push(written);
        }
        // `*` stands for columns that cannot be listed here.
        if written.ends_with('*') && !aggregated {
            return None;
        }
    }
    // The failing column may stand beside an aggregate inside one item; then no list of items helps.
    let failing = tokens.slice(&reference.range);
    if missing.is_empty() || !missing.iter().any(|written| written.contains(failing)) {
        return None;
    }
    let having = block.clause(Clause::Having).cloned();
    if having.is_some_and(|having| filters::is_of_itself(tokens, having))
        || gives_any_row(case, &block)
        || splits_to_rows(case, &block, &grouped, &missing)
    {
        return None;
    }
    let list = missing.join(", ");
    let edit = match block.clause(Clause::GroupBy) {
        Some(_) => Edit::insert(block.end_of(tokens, Clause::GroupBy)?, format!(", {list}")),
        None => Edit::insert(block.end_of(tokens, Clause::Where)?, format!(" GROUP BY {list}")),
    };
    Some(Proposal {
        edits: vec![edit],
        change: format!("The rows are grouped by {list} too."),
        reason: "Every selected column that is not aggregated must be grouped.".into(),
    })
}

/// Whether one group of several would be shown, whichever comes first: the text asks for one row and neither groups nor
/// orders.
fn gives_any_row(case: &Case<'_, impl Host>, block: &Block) -> bool {
    let tokens = &case.tokens;
    let absent = |clause| block.clause(clause).is_none();
    let one = block.clause(Clause::Limit).is_some_and(|range| {
        let limit = tokens.is(range.start.saturating_sub(1), "LIMIT") && tokens.slice(range) == "1";
        // FETCH FIRST [1] ROW ONLY
        let fetch = tokens.is_any(range.start, &["FIRST", "NEXT"])
            && (tokens.written(range.start + 1) == "1" || tokens.is_any(range.start + 1, &["ROW", "ROWS"]));
        limit || fetch
    });
    one && absent(Clause::OrderBy) && absent(Clause::GroupBy)
}

/// Whether every group would be one row of the only relation, because a key of it is among what is grouped by: an aggregate
/// over one row says nothing, so that the writer meant something else. Ordered by an aggregate it still says which rows come
/// first.
fn splits_to_rows(case: &Case<'_, impl Host>, block: &Block, grouped: &[String], missing: &[&str]) -> bool {
    let tokens = &case.tokens;
    let relations = case.relations(block);
    let [only] = relations.as_slice() else { return false };
    let Some(detail) = &only.detail else { return false };
    let column = |written: &str| {
        let read = Tokens::of(written);
        let last = read.all.len().checked_sub(1)?;
        let plain = (0..=last).all(|at| read.name(at).is_some() || read.kind(at) == Some(Kind::Dot));
        plain.then(|| read.name(last)).flatten()
    };
    let own: Vec<String> = grouped.iter().filter_map(|written| column(written)).collect();
    let all: Vec<String> =
        own.iter().cloned().chain(missing.iter().filter_map(|written| column(written))).collect();
    // Where the text itself groups by a key, the other columns of the row split nothing.
    let splits = has_key(detail, &all) && !has_key(detail, &own);
    splits && !ordered_by_aggregate(tokens, block)
}

/// Whether these columns have a whole key of a relation.
pub fn has_key(detail: &TableDetail, columns: &[String]) -> bool {
    let further = detail.attributes.iter().filter(|attribute| attribute.key == UNIQUE_KEY);
    let further = further.map(|attribute| attribute.value.split('\t').map(str::to_owned).collect());
    std::iter::once(detail.primary_key.clone())
        .chain(further)
        .any(|key: Vec<String>| !key.is_empty() && key.iter().all(|part| columns.contains(part)))
}

/// Whether the first thing that the rows are ordered by is an aggregate, written out, by its name or by its place.
fn ordered_by_aggregate(tokens: &Tokens<'_>, block: &Block) -> bool {
    let Some(first) =
        block.clause(Clause::OrderBy).and_then(|range| tokens.split(range.clone()).into_iter().next())
    else {
        return false;
    };
    let aggregated = |range: &Range<usize>| range.clone().any(|at| is_aggregate(tokens, at));
    let items = block.items(tokens);
    let named = items.iter().enumerate().find(|(at, item)| {
        let alias = output(tokens, (*item).clone()).1;
        tokens.written(first.start) == (at + 1).to_string()
            || alias.is_some() && alias == tokens.name(first.start)
    });
    aggregated(&first) || named.is_some_and(|(_, item)| aggregated(item))
}

/// What GROUP BY lists, positions replaced by the items they stand for.
fn grouped(case: &Case<'_, impl Host>, block: &Block) -> Vec<String> {
    let tokens = &case.tokens;
    let Some(range) = block.clause(Clause::GroupBy) else { return Vec::new() };
    let items = block.items(tokens);
    tokens
        .split(range.clone())
        .iter()
        .map(|part| {
            let written = tokens.slice(part);
            let position = written.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            match position.and_then(|index| items.get(index)) {
                Some(item) => tokens.slice(&output(tokens, item.clone()).0).to_owned(),
                None => written.to_owned(),
            }
        })
        .collect()
}

/// A select item without its alias, and the alias.
pub fn output(tokens: &Tokens<'_>, item: Range<usize>) -> (Range<usize>, Option<String>) {
    let Some(last) = item.end.checked_sub(1).filter(|last| *last > item.start) else { return (item, None) };
    let Some(name) = tokens.name(last) else { return (item, None) };
    if tokens.is(last - 1, "AS") {
        return (item.start..last - 1, Some(name));
    }
    // `count(*) n`: a name behind the end of an operand.
    let operand = matches!(
        tokens.kind(last - 1),
        Some(Kind::Word | Kind::Quoted | Kind::Close | Kind::Number | Kind::Text)
    );
    let ends_case = tokens.is(last, "END");
    if operand && !ends_case { (item.start..last, Some(name)) } else { (item, None) }
}
