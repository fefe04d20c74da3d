//! Divisors that may be zero.

use std::ops::Range;

use airlock_plugin_sdk::Host;

use super::grouping::output;
use crate::block::{Block, Clause, blocks};
use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::tokens::{Kind, Tokens};

/// Wraps every divisor that could be zero in NULLIF.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    let tokens = &case.tokens;
    let divisions = (0..tokens.all.len())
        .filter(|index| tokens.is_operator(*index, "/") || tokens.is_operator(*index, "%"));
    let divisors: Vec<Range<usize>> = divisions
        .filter_map(|index| operand(tokens, index + 1))
        .filter(|range| !settled(tokens, range))
        .collect();
    // A divisor inside another one would need edits inside an edit.
    let nested =
        divisors.iter().any(|a| divisors.iter().any(|b| a != b && a.start <= b.start && b.end <= a.end));
    if divisors.is_empty() || nested {
        return Vec::new();
    }
    let mut edits = Vec::new();
    for range in &divisors {
        let Some(bytes) = tokens.bytes(range) else { return Vec::new() };
        edits.push(Edit::replace(bytes, format!("NULLIF({}, 0)", tokens.slice(range))));
    }
    let last = ordered_downwards(tokens, &divisors);
    let told = if last.is_empty() { "" } else { " and comes last" };
    edits.extend(last.into_iter().map(|at| Edit::insert(at, " NULLS LAST")));
    let list = divisors.iter().map(|range| tokens.slice(range)).collect::<Vec<_>>().join(", ");
    vec![Proposal {
        edits,
        change: format!("Where {list} is zero, the quotient is now NULL{told}."),
        reason: "A number cannot be divided by zero.".into(),
    }]
}

/// The bytes behind each DESC that orders by one of these quotients: PostgreSQL puts NULL before everything else there, and a
/// row without a quotient would be the first one.
fn ordered_downwards(tokens: &Tokens<'_>, divisors: &[Range<usize>]) -> Vec<usize> {
    let divides = |range: &Range<usize>| divisors.iter().any(|divisor| range.contains(&divisor.start));
    let blocks = blocks(tokens);
    // Names of outputs that hold such a quotient, or are made of one that does.
    let mut names: Vec<String> = Vec::new();
    loop {
        let known = names.len();
        for item in blocks.iter().flat_map(|block| block.items(tokens)) {
            let (expression, alias) = output(tokens, item);
            let made = divides(&expression) || mentions(tokens, &expression, &names);
            names.extend(alias.filter(|alias| made && !names.contains(alias)));
        }
        if names.len() == known {
            break;
        }
    }
    let downwards = (0..tokens.all.len()).filter(|at| tokens.is(*at, "DESC") && !tokens.is(at + 1, "NULLS"));
    downwards
        .filter(|at| {
            let item = ordered_item(tokens, *at);
            let placed = || {
                let place = tokens.slice(&item).parse::<usize>().ok()?.checked_sub(1)?;
                let of =
                    |block: &&Block| block.clause(Clause::OrderBy).is_some_and(|range| range.contains(at));
                let block = blocks.iter().filter(of).min_by_key(|block| block.range.len())?;
                let item = block.items(tokens).into_iter().nth(place)?;
                Some(divides(&item) || mentions(tokens, &item, &names))
            };
            divides(&item) || mentions(tokens, &item, &names) || placed().unwrap_or_default()
        })
        .filter_map(|at| tokens.get(at).map(|token| token.span.end))
        .collect()
}

/// Whether one of these names is read in a range of tokens.
fn mentions(tokens: &Tokens<'_>, range: &Range<usize>, names: &[String]) -> bool {
    range.clone().any(|at| {
        let called = tokens.kind(at + 1) == Some(Kind::Open) || tokens.kind(at + 1) == Some(Kind::Dot);
        !called && tokens.name(at).is_some_and(|name| names.contains(&name))
    })
}

/// What DESC at a token orders by: from the comma or BY before it on its own level.
fn ordered_item(tokens: &Tokens<'_>, desc: usize) -> Range<usize> {
    let depth = tokens.get(desc).map(|token| token.depth);
    let begins = (0..desc).rev().find(|at| {
        let own = tokens.get(*at).map(|token| token.depth) == depth;
        own && (tokens.kind(*at) == Some(Kind::Comma) || tokens.is(*at, "BY"))
    });
    begins.map_or(desc, |at| at + 1)..desc
}

/// The operand that begins at a token: a name, a call, a literal or a parenthesis, with its casts.
pub fn operand(tokens: &Tokens<'_>, start: usize) -> Option<Range<usize>> {
    let mut end = match tokens.kind(start)? {
        Kind::Open => tokens.closing(start)? + 1,
        Kind::Number | Kind::Text => start + 1,
        Kind::Word | Kind::Quoted => {
            let mut end = start + 1;
            while tokens.kind(end) == Some(Kind::Dot) && tokens.name(end + 1).is_some() {
                end += 2;
            }
            if tokens.kind(end) == Some(Kind::Open) { tokens.closing(end)? + 1 } else { end }
        }
        _ => return None,
    };
    // CASE and windows have no end that can be seen here.
    if tokens.is_any(start, &["CASE", "NOT", "EXISTS"]) || tokens.is_any(end, &["OVER", "FILTER", "WITHIN"]) {
        return None;
    }
    while tokens.is_operator(end, "::") && tokens.name(end + 1).is_some() {
        end += 2;
        if tokens.kind(end) == Some(Kind::Open) {
            end = tokens.closing(end)? + 1;
        }
    }
    Some(start..end)
}

/// A number is not zero, or the quotient was never meant; NULLIF is guarded already.
fn settled(tokens: &Tokens<'_>, range: &Range<usize>) -> bool {
    let number = range.len() == 1 && tokens.kind(range.start) == Some(Kind::Number);
    number || tokens.is(range.start, "NULLIF")
}
