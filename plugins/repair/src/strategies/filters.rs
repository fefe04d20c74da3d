//! Conditions that stand where rows are filtered and speak of groups or windows.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::failure::same_text;

use super::grouping::{is_aggregate, output};
use crate::block::{Block, Clause};
use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::tokens::{Kind, Tokens, identifier};

/// Words that a condition on a window may have beside the window.
const PLAIN: [&str; 9] = ["AND", "OR", "NOT", "BETWEEN", "IN", "IS", "NULL", "TRUE", "FALSE"];

/// Moves the conditions on aggregates from WHERE to HAVING, where they are the only ones of their kind and nothing but AND
/// joins them to the others.
pub fn aggregates(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let (block, filter) = filter(case)?;
    let own = |index: usize| is_aggregate(tokens, index) && case.block(index).as_ref() == Some(&block);
    let (moved, kept): (Vec<Range<usize>>, Vec<Range<usize>>) =
        conjuncts(tokens, filter.clone())?.into_iter().partition(|part| part.clone().any(own));
    if moved.is_empty() || moved.iter().any(|part| is_of_itself(tokens, part.clone())) {
        return None;
    }
    let said = joined(tokens, &moved);
    let having = match block.clause(Clause::Having) {
        Some(range) => {
            conjuncts(tokens, range.clone())?;
            Edit::insert(tokens.bytes(range)?.end, format!(" AND {said}"))
        }
        None => Edit::insert(block.end_of(tokens, Clause::GroupBy)?, format!(" HAVING {said}")),
    };
    Some(Proposal {
        edits: vec![narrowed(tokens, &filter, &kept)?, having],
        change: format!("The condition {said} is now in HAVING."),
        reason: "Rows are filtered before they are aggregated, groups afterwards.".into(),
    })
}

/// Whether a condition compares a column with an aggregate of the same: of a group that has one value of the column that
/// says nothing, and the row with the extreme of all is meant.
pub fn is_of_itself(tokens: &Tokens<'_>, part: Range<usize>) -> bool {
    let mut inside: Vec<String> = Vec::new();
    let mut outside: Vec<String> = Vec::new();
    let mut end = part.start;
    for at in part {
        if is_aggregate(tokens, at) && at >= end {
            end = tokens.closing(at + 1).unwrap_or(at);
        }
        let named = tokens.name(at).filter(|_| tokens.kind(at + 1) != Some(Kind::Dot));
        if let Some(name) = named.filter(|_| !is_aggregate(tokens, at)) {
            if at < end { &mut inside } else { &mut outside }.push(name);
        }
    }
    outside.iter().any(|name| inside.contains(name))
}

/// Computes the windows of WHERE in a subquery and filters outside.
pub fn windows(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let (block, filter) = filter(case)?;
    let select = block.range.start;
    let grouped =
        [Clause::GroupBy, Clause::Having, Clause::Window].map(|clause| block.clause(clause).is_some());
    if grouped.contains(&true) || tokens.is_any(select + 1, &["DISTINCT", "ALL"]) {
        return None;
    }
    let (moved, kept): (Vec<Range<usize>>, Vec<Range<usize>>) = conjuncts(tokens, filter.clone())?
        .into_iter()
        .partition(|part| part.clone().any(|index| tokens.is(index, "OVER")));
    let single = |item: &Range<usize>| !item.clone().any(|index| is_aggregate(tokens, index));
    if moved.is_empty() || !block.items(tokens).iter().all(single) {
        return None;
    }
    let rest = if kept.is_empty() { String::new() } else { format!(" WHERE {}", joined(tokens, &kept)) };
    let from = tokens.slice(block.clause(Clause::From)?);
    computed(case, &block, &format!("{from}{rest}"), &moved, &[])
}

/// Moves the condition of a QUALIFY to where the windows that it filters are computed already.
pub fn qualify(case: &Case<'_, impl Host>, block: &Block) -> Option<Proposal> {
    let tokens = &case.tokens;
    if tokens.is_any(block.range.start + 1, &["DISTINCT", "ALL"]) {
        return None;
    }
    let range = block.clause(Clause::Qualify)?.clone();
    let body = block.clause(Clause::From)?.start..range.start.checked_sub(1)?;
    // A name is of the select list only where it cannot be another column of what is read.
    let relations = case.relations(block);
    let known = relations.iter().all(|relation| relation.detail.is_some());
    let outputs: Vec<String> = block
        .items(tokens)
        .into_iter()
        .filter_map(|item| {
            let (expression, alias) = output(tokens, item);
            let own = case.reference_at(expression.start).filter(|found| found.range == expression);
            let own = own.and_then(|found| tokens.name(found.column));
            let name = alias.or_else(|| own.clone())?;
            let other = !known || relations.iter().any(|relation| relation.has(&name));
            (own.as_ref() == Some(&name) || !other).then_some(name)
        })
        .collect();
    computed(case, block, tokens.slice(&body), &[range], &outputs)
}

/// The block as a subquery that computes the windows of some conditions, filtered by these outside. `body` is what the
/// subquery reads.
fn computed(
    case: &Case<'_, impl Host>,
    block: &Block,
    body: &str,
    moved: &[Range<usize>],
    outputs: &[String],
) -> Option<Proposal> {
    let tokens = &case.tokens;
    let items = named(case, block)?;
    let mut windows: Vec<&str> = Vec::new();
    let mut conditions = Vec::new();
    for part in moved {
        conditions.push(outside(tokens, part, &mut windows, outputs)?);
    }
    let names: Vec<&str> = items.iter().map(|(_, name)| name.as_str()).collect();
    let order = order(case, block, &items)?;
    let inner: Vec<String> = items
        .iter()
        .map(|(written, _)| (*written).to_owned())
        .chain(windows.iter().enumerate().map(|(n, window)| format!("{window} AS window_{}", n + 1)))
        .collect();
    let limit = block.clause(Clause::Limit).map(|range| range.start.saturating_sub(1)..range.end);
    let limit = limit.map(|range| format!(" {}", tokens.slice(&range))).unwrap_or_default();
    let conditions = conditions.join(" AND ");
    let with = format!(
        "SELECT {} FROM (SELECT {} FROM {body}) AS computed WHERE {conditions}{order}{limit}",
        names.join(", "),
        inner.join(", "),
    );
    let what =
        if windows.is_empty() { "What the rows are filtered by".to_owned() } else { windows.join(", ") };
    Some(Proposal {
        edits: vec![Edit::replace(tokens.bytes(&block.range)?, with)],
        change: format!("{what} is computed in a subquery, and its rows are filtered outside."),
        reason: "Rows are filtered before windows are computed over them.".into(),
    })
}

/// The block whose WHERE the failure points into, and that WHERE.
fn filter(case: &Case<'_, impl Host>) -> Option<(Block, Range<usize>)> {
    let place = case.place?;
    let block = case.block(place)?;
    let filter = block.clause(Clause::Where)?.clone();
    filter.contains(&place).then_some((block, filter))
}

/// The conditions that AND joins; none where OR joins some of them.
pub fn conjuncts(tokens: &Tokens<'_>, range: Range<usize>) -> Option<Vec<Range<usize>>> {
    let depth = tokens.get(range.start)?.depth;
    let (mut parts, mut start) = (Vec::new(), range.start);
    let (mut cases, mut between) = (0_usize, false);
    for index in range.clone() {
        if tokens.get(index).is_none_or(|token| token.depth != depth) {
            continue;
        }
        if tokens.is(index, "CASE") {
            cases += 1;
        } else if tokens.is(index, "END") {
            cases = cases.saturating_sub(1);
        } else if cases == 0 && tokens.is(index, "OR") {
            return None;
        } else if cases == 0 && tokens.is(index, "BETWEEN") {
            between = true;
        } else if cases == 0 && tokens.is(index, "AND") && !std::mem::take(&mut between) {
            parts.push(start..index);
            start = index + 1;
        }
    }
    parts.push(start..range.end);
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

/// Conditions as written, joined by AND.
pub fn joined(tokens: &Tokens<'_>, parts: &[Range<usize>]) -> String {
    parts.iter().map(|part| tokens.slice(part)).collect::<Vec<_>>().join(" AND ")
}

/// WHERE with these conditions alone, or without it.
fn narrowed(tokens: &Tokens<'_>, filter: &Range<usize>, kept: &[Range<usize>]) -> Option<Edit> {
    if kept.is_empty() {
        return Some(Edit::remove(tokens.bytes(&(filter.start.checked_sub(1)?..filter.end))?));
    }
    Some(Edit::replace(tokens.bytes(filter)?, joined(tokens, kept)))
}

/// The items of the select list as written, each with the name it has outside; none when one has no name of its own.
fn named<'a>(case: &'a Case<'_, impl Host>, block: &Block) -> Option<Vec<(&'a str, String)>> {
    let tokens = &case.tokens;
    let mut items: Vec<(&str, String)> = Vec::new();
    for item in block.items(tokens) {
        let (expression, alias) = output(tokens, item.clone());
        let name = match alias {
            Some(alias) => alias,
            None => {
                let reference = case.reference_at(expression.start)?;
                (reference.range == expression).then(|| tokens.name(reference.column)).flatten()?
            }
        };
        let name = identifier(&name);
        if items.iter().any(|(_, known)| *known == name) {
            return None;
        }
        items.push((tokens.slice(&item), name));
    }
    Some(items)
}

/// A condition with its windows replaced by their names outside; none when it speaks of anything else than these and the
/// outputs that may be named in it.
fn outside<'a>(
    tokens: &'a Tokens<'_>,
    part: &Range<usize>,
    windows: &mut Vec<&'a str>,
    outputs: &[String],
) -> Option<String> {
    let foreign = |index: usize| {
        let name = tokens.name(index).filter(|_| !tokens.is_any(index, &PLAIN));
        name.is_some_and(|name| !outputs.contains(&name) || tokens.kind(index + 1) == Some(Kind::Open))
    };
    let mut out = Vec::new();
    let mut index = part.start;
    while index < part.end {
        let call = tokens.kind(index) == Some(Kind::Word) && tokens.kind(index + 1) == Some(Kind::Open);
        let over = call.then(|| tokens.closing(index + 1)).flatten().map(|close| close + 1);
        match over.filter(|over| tokens.is(*over, "OVER")) {
            Some(over) => {
                let end = tokens.closing(over + 1).filter(|_| tokens.kind(over + 1) == Some(Kind::Open))? + 1;
                let window = tokens.slice(&(index..end));
                let known = windows.iter().position(|known| same_text(known, window));
                let number = known.unwrap_or_else(|| {
                    windows.push(window);
                    windows.len() - 1
                });
                out.push(format!("window_{}", number + 1));
                index = end;
            }
            None if foreign(index) => return None,
            None => {
                out.push(tokens.written(index).to_owned());
                index += 1;
            }
        }
    }
    Some(out.join(" "))
}

/// ORDER BY as it is outside; none when it orders by what is not selected.
fn order(case: &Case<'_, impl Host>, block: &Block, items: &[(&str, String)]) -> Option<String> {
    let tokens = &case.tokens;
    let Some(range) = block.clause(Clause::OrderBy) else { return Some(String::new()) };
    let selected = block.items(tokens);
    let mut parts = Vec::new();
    for part in tokens.split(range.clone()) {
        let end =
            part.clone().find(|index| tokens.is_any(*index, &["ASC", "DESC", "NULLS"])).unwrap_or(part.end);
        let written = tokens.slice(&(part.start..end));
        let at = selected.iter().zip(items).find(|(item, (_, name))| {
            same_text(tokens.slice(&output(tokens, (*item).clone()).0), written)
                || name.eq_ignore_ascii_case(written)
        });
        let name = match at {
            Some((_, (_, name))) => name.clone(),
            None => written.parse::<usize>().ok()?.to_string(),
        };
        parts.push(format!("{name} {}", tokens.slice(&(end..part.end))).trim_end().to_owned());
    }
    Some(format!(" ORDER BY {}", parts.join(", ")))
}

/// `SELECT DISTINCT a ... ORDER BY b`: the rows stay those of DISTINCT, ordered by the first or last `b` of each. Under a
/// limit other rows might be meant, so that it is not offered there.
pub fn distinct_order(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let block = case.block(case.place?)?;
    let distinct = block.range.start + 1;
    let absent = [Clause::GroupBy, Clause::Having, Clause::Window, Clause::Limit];
    if !tokens.is(distinct, "DISTINCT")
        || tokens.is(distinct + 1, "ON")
        || absent.iter().any(|clause| block.clause(*clause).is_some())
    {
        return None;
    }
    let items: Vec<&str> =
        block.items(tokens).into_iter().map(|item| tokens.slice(&output(tokens, item).0)).collect();
    let names: Vec<Option<String>> =
        block.items(tokens).into_iter().map(|item| output(tokens, item).1).collect();
    let list = block.clause(Clause::Select)?;
    let single = !list.clone().any(|index| is_aggregate(tokens, index) || tokens.is(index, "OVER"));
    // A number would be read as a position.
    let plain = items.iter().all(|item| !item.ends_with('*') && item.parse::<f64>().is_err());
    if !single || !plain {
        return None;
    }
    let mut edits = vec![
        Edit::remove(tokens.get(distinct)?.span.start..tokens.get(distinct + 1)?.span.start),
        Edit::insert(block.end_of(tokens, Clause::Where)?, format!(" GROUP BY {}", items.join(", "))),
    ];
    for part in tokens.split(block.clause(Clause::OrderBy)?.clone()) {
        let end =
            part.clone().find(|index| tokens.is_any(*index, &["ASC", "DESC", "NULLS"])).unwrap_or(part.end);
        let range = part.start..end;
        let written = tokens.slice(&range);
        let selected = items.iter().any(|item| same_text(item, written))
            || names.iter().flatten().any(|name| name.eq_ignore_ascii_case(written))
            || written.parse::<usize>().is_ok();
        if !selected {
            let of_group = if tokens.is(end, "DESC") { "max" } else { "min" };
            edits.push(Edit::replace(tokens.bytes(&range)?, format!("{of_group}({written})")));
        }
    }
    (edits.len() > 2).then(|| Proposal {
        edits,
        change: format!(
            "The rows are made distinct by grouping by {}, and ordered by one value of each group.",
            items.join(", ")
        ),
        reason: "DISTINCT can be ordered only by what it selects.".into(),
    })
}

/// `= (SELECT ...)` that gives several rows: one of them is what is compared with. Only where one comparison can be meant.
pub fn one_of_many(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let mut found = (0..tokens.all.len()).filter(|index| {
        let subquery = tokens.is_operator(*index, "=")
            && tokens.kind(index + 1) == Some(Kind::Open)
            && tokens.is(index + 2, "SELECT");
        subquery && case.block(index + 2).is_some_and(|block| !is_single(tokens, &block))
    });
    let (Some(only), None) = (found.next(), found.next()) else { return None };
    // A subquery elsewhere may be the one that gives several rows.
    let other = (0..tokens.all.len()).any(|index| {
        index != only + 2
            && tokens.is(index, "SELECT")
            && index.checked_sub(1).is_some_and(|open| tokens.kind(open) == Some(Kind::Open))
            && !index.checked_sub(2).is_some_and(|before| {
                tokens.is_any(before, &["IN", "EXISTS", "FROM", "JOIN", "AS", "LATERAL"])
            })
            && case.block(index).is_some_and(|block| !is_single(tokens, &block))
    });
    let block = case.block(only + 2)?;
    // Of each group one row is meant, and under NOT a row that is NULL would hide all others.
    let negated = case.block(only).is_none_or(|around| {
        (around.range.start..only).any(|at| tokens.is(at, "NOT") && case.block(at).as_ref() == Some(&around))
    });
    if other || negated {
        return None;
    }
    if block.clause(Clause::OrderBy).is_some() && block.clause(Clause::Limit).is_none() {
        let end = block.end_of(tokens, Clause::OrderBy)?;
        return Some(Proposal {
            edits: vec![Edit::insert(end, " LIMIT 1".to_owned())],
            change: "The subquery gives its first row alone.".into(),
            reason: "It gives several rows in an order, and one is compared with.".into(),
        });
    }
    let computed = |list: &Range<usize>| list.clone().any(|at| is_aggregate(tokens, at));
    if block.clause(Clause::Select).is_some_and(computed) {
        return None;
    }
    case.span(only).map(|span| Proposal {
        edits: vec![Edit::replace(span, "IN")],
        change: "The comparison with one row is now with each row of the subquery.".into(),
        reason: "The subquery gives several rows, and a row may equal any of them.".into(),
    })
}

/// Whether a subquery gives one row whatever the data: an aggregate without groups, or a limit of one.
fn is_single(tokens: &Tokens<'_>, block: &Block) -> bool {
    let limited = block.clause(Clause::Limit).is_some_and(|range| tokens.slice(range) == "1");
    let aggregated = block.clause(Clause::GroupBy).is_none()
        && block
            .clause(Clause::Select)
            .is_some_and(|list| list.clone().any(|index| is_aggregate(tokens, index)));
    limited || aggregated
}
