//! Divisors that may be zero.

use std::ops::Range;

use airlock_plugin_sdk::Host;

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
    let list = divisors.iter().map(|range| tokens.slice(range)).collect::<Vec<_>>().join(", ");
    vec![Proposal {
        edits,
        change: format!("Where {list} is zero, the quotient is now NULL."),
        reason: "A number cannot be divided by zero.".into(),
    }]
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
