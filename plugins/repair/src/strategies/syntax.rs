//! Other dialects' syntax, and what a model leaves around a query.

use airlock_plugin_sdk::Host;

use super::keywords::{self, Missing};
use super::{calls, filters, tables};
use crate::block::{Clause, blocks};
use crate::case::{Case, Proposal};
use crate::edit::{Edit, apply};
use crate::tokens::{Kind, Tokens, identifier, inside};

/// One rule: the edits it wants, and what it says about them.
type Rule = (fn(&Tokens<'_>) -> Vec<Edit>, &'static str);

const RULES: [Rule; 11] = [
    (prose_behind, "What follows the semicolon is left out."),
    (backticks, "Names in backticks are written as PostgreSQL writes names."),
    (brackets, "Names in brackets are written as PostgreSQL writes names."),
    (top, "TOP is now LIMIT."),
    (limit_pair, "LIMIT with two numbers is now LIMIT and OFFSET."),
    (double_equals, "== is now =."),
    (regexp, "REGEXP is now ~*."),
    (call_separators, "Calls of another dialect are now PostgreSQL's."),
    (intervals, "The interval is now a text."),
    (stray_commas, "A comma before nothing is left out."),
    (parentheses, "The parentheses are balanced."),
];

/// The parenthesis PostgreSQL points at first, then all rules together: a query of another dialect seldom breaks one rule only.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    // The word would be read as an alias, and its condition as anything that a further word makes of it.
    if let Some(block) = blocks(&case.tokens).iter().find(|block| block.clause(Clause::Qualify).is_some()) {
        return filters::qualify(case, block).into_iter().collect();
    }
    let closed = match keywords::parenthesis(case) {
        Missing::Unclear => return Vec::new(),
        Missing::Here(closed) => closed,
        Missing::No => None,
    };
    let known = [closed, unclosed(case), dialect(case)];
    known.into_iter().flatten().chain(reserved_table(case)).chain(keywords::propose(case)).collect()
}

/// `FROM order`: a table whose name is nearly a word that cannot be one.
fn reserved_table(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    let tokens = &case.tokens;
    let read = case
        .place
        .filter(|place| tokens.kind(*place) == Some(Kind::Word))
        .and_then(|place| place.checked_sub(1));
    if read.is_some_and(|before| tokens.is_any(before, &["FROM", "JOIN"])) {
        tables::propose(case).collect()
    } else {
        Vec::new()
    }
}

fn dialect(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let original = case.tokens.text;
    let mut text = original.to_owned();
    let mut changes: Vec<&str> = Vec::new();
    for (rule, change) in RULES {
        if let Some(edited) = apply(&text, rule(&Tokens::of(&text))) {
            text = edited;
            changes.push(change);
        }
    }
    (!changes.is_empty()).then(|| Proposal {
        edits: vec![Edit::replace(0..original.len(), text)],
        change: changes.join(" "),
        reason: "PostgreSQL's grammar has no such form.".into(),
    })
}

/// `count(DISTINCT x FROM t`: a clause begins inside a parenthesis that nothing closes.
fn unclosed(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let place = case.place?;
    let before = tokens.get(place.checked_sub(1)?)?;
    let count = |kind| tokens.all.iter().filter(|token| token.kind == kind).count();
    let clause = tokens.is_any(place, &["FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "AS"]);
    let missing = clause && tokens.get(place)?.depth > 0 && count(Kind::Open) == count(Kind::Close) + 1;
    missing.then(|| Proposal {
        edits: vec![Edit::insert(before.span.end, ")")],
        change: format!("A parenthesis is closed before {}.", tokens.written(place)),
        reason: "It was open where the next clause begins.".into(),
    })
}

/// A statement, its semicolon, and words that are no second statement.
fn prose_behind(tokens: &Tokens<'_>) -> Vec<Edit> {
    let Some(end) = (0..tokens.all.len()).find(|index| tokens.kind(*index) == Some(Kind::Semicolon)) else {
        return Vec::new();
    };
    let statement = [
        "SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP",
        "ALTER", "TRUNCATE", "GRANT", "REVOKE", "COPY", "DO", "CALL", "SET", "RESET", "BEGIN", "START",
        "COMMIT", "ROLLBACK", "END", "LOCK", "EXPLAIN", "EXECUTE", "PREPARE", "DECLARE", "FETCH", "LISTEN",
        "NOTIFY", "VACUUM", "ANALYZE", "REFRESH",
    ];
    // A second statement is for the gate to refuse, and not for a repair to hide.
    let prose = tokens.get(end + 1).is_some()
        && !(end + 1..tokens.all.len()).any(|index| tokens.is_any(index, &statement));
    match tokens.get(end) {
        Some(token) if prose && end > 0 => vec![Edit::remove(token.span.start..tokens.text.len())],
        _ => Vec::new(),
    }
}

fn backticks(tokens: &Tokens<'_>) -> Vec<Edit> {
    let quoted = tokens.all.iter().filter(|token| token.kind == Kind::Backticked);
    quoted
        .filter_map(|token| {
            Some(Edit::replace(
                token.span.clone(),
                foreign_name(inside(tokens.text.get(token.span.clone())?)),
            ))
        })
        .collect()
}

/// `[name]`; a subscript follows its array at once.
fn brackets(tokens: &Tokens<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for open in 0..tokens.all.len() {
        let Some(token) = tokens.get(open).filter(|token| token.kind == Kind::OpenBracket) else { continue };
        let subscript = open.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|before| {
            before.span.end == token.span.start
                && !matches!(before.kind, Kind::Dot | Kind::Comma | Kind::Open | Kind::Operator)
        });
        let close = (open + 1..tokens.all.len()).find(|index| tokens.kind(*index) != Some(Kind::Word));
        let Some(close) =
            close.filter(|close| *close > open + 1 && tokens.kind(*close) == Some(Kind::CloseBracket))
        else {
            continue;
        };
        let array = open.checked_sub(1).is_some_and(|before| tokens.is(before, "ARRAY"));
        if !subscript && !array {
            let end = tokens.get(close).map_or(token.span.end, |close| close.span.end);
            let name = tokens.slice(&(open + 1..close));
            edits.push(Edit::replace(token.span.start..end, foreign_name(name)));
        }
    }
    edits
}

/// A name of a dialect that does not fold case: without quotes PostgreSQL folds it, which is what its catalogue has.
fn foreign_name(name: &str) -> String {
    let folded = name.to_ascii_lowercase();
    if identifier(&folded) == folded { name.to_owned() } else { identifier(name) }
}

/// `SELECT TOP 5 ...`, which becomes a LIMIT behind the block.
fn top(tokens: &Tokens<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for block in blocks(tokens) {
        let mut at = block.range.start + 1;
        if tokens.is_any(at, &["ALL", "DISTINCT"]) {
            at += 1;
        }
        let (number, end) =
            if tokens.kind(at + 1) == Some(Kind::Open) { (at + 2, at + 4) } else { (at + 1, at + 2) };
        let shaped = tokens.is(at, "TOP") && tokens.kind(number) == Some(Kind::Number);
        // PERCENT and WITH TIES mean something else.
        if !shaped || tokens.is_any(end, &["PERCENT", "WITH"]) || block.clause(Clause::Limit).is_some() {
            continue;
        }
        let (Some(start), Some(next)) = (tokens.get(at), tokens.get(end)) else { continue };
        let Some(behind) = block.end_of(tokens, Clause::Limit) else { continue };
        edits.push(Edit::remove(start.span.start..next.span.start));
        edits.push(Edit::insert(behind, format!(" LIMIT {}", tokens.written(number))));
    }
    edits
}

/// `LIMIT skip, count`.
fn limit_pair(tokens: &Tokens<'_>) -> Vec<Edit> {
    let limits = (0..tokens.all.len()).filter(|index| tokens.is(*index, "LIMIT"));
    limits
        .filter(|index| {
            [Kind::Number, Kind::Comma, Kind::Number]
                .iter()
                .enumerate()
                .all(|(n, kind)| tokens.kind(index + 1 + n) == Some(*kind))
        })
        .filter_map(|index| {
            let with = format!("{} OFFSET {}", tokens.written(index + 3), tokens.written(index + 1));
            Some(Edit::replace(tokens.bytes(&(index + 1..index + 4))?, with))
        })
        .collect()
}

fn double_equals(tokens: &Tokens<'_>) -> Vec<Edit> {
    let doubled = (0..tokens.all.len()).filter(|index| tokens.is_operator(*index, "=="));
    doubled.filter_map(|index| Some(Edit::replace(tokens.get(index)?.span.clone(), "="))).collect()
}

/// MySQL's REGEXP and RLIKE, which ignore case.
fn regexp(tokens: &Tokens<'_>) -> Vec<Edit> {
    let found = (0..tokens.all.len()).filter(|index| {
        tokens.is_any(*index, &["REGEXP", "RLIKE"]) && tokens.kind(index + 1) == Some(Kind::Text)
    });
    found
        .filter_map(|index| {
            let negated = index.checked_sub(1).filter(|before| tokens.is(*before, "NOT"));
            let range = negated.unwrap_or(index)..index + 1;
            Some(Edit::replace(tokens.bytes(&range)?, if negated.is_some() { "!~*" } else { "~*" }))
        })
        .collect()
}

/// Calls whose arguments PostgreSQL's grammar cannot read.
fn call_separators(tokens: &Tokens<'_>) -> Vec<Edit> {
    match calls::translate_all(tokens.text) {
        Some(text) => vec![Edit::replace(0..tokens.text.len(), text)],
        None => Vec::new(),
    }
}

/// `INTERVAL 7 DAY`.
fn intervals(tokens: &Tokens<'_>) -> Vec<Edit> {
    let found = (0..tokens.all.len()).filter(|index| {
        tokens.is(*index, "INTERVAL")
            && tokens.kind(index + 1) == Some(Kind::Number)
            && tokens.is_any(index + 2, &calls::UNITS)
    });
    found
        .filter_map(|index| {
            let range = index + 1..index + 3;
            Some(Edit::replace(
                tokens.bytes(&range)?,
                format!("'{} {}'", tokens.written(index + 1), tokens.written(index + 2)),
            ))
        })
        .collect()
}

/// A comma with no item behind it.
fn stray_commas(tokens: &Tokens<'_>) -> Vec<Edit> {
    let ends =
        ["FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "SELECT"];
    tokens
        .all
        .iter()
        .enumerate()
        .filter(|(index, token)| {
            let next = index + 1;
            token.kind == Kind::Comma
                && (tokens.is_any(next, &ends)
                    || matches!(tokens.kind(next), None | Some(Kind::Close | Kind::Semicolon)))
        })
        .map(|(_, token)| Edit::remove(token.span.clone()))
        .collect()
}

/// One or two parentheses too many or too few at the very end.
fn parentheses(tokens: &Tokens<'_>) -> Vec<Edit> {
    let open = tokens.all.iter().filter(|token| token.kind == Kind::Open).count();
    let close = tokens.all.iter().filter(|token| token.kind == Kind::Close).count();
    match (open.checked_sub(close), close.checked_sub(open)) {
        (Some(missing @ 1..=2), _) => vec![Edit::insert(tokens.end(), ")".repeat(missing))],
        (_, Some(spare @ 1..=2)) => {
            let last = tokens.all.iter().rev().filter(|token| token.kind != Kind::Semicolon).take(spare);
            let spans: Vec<_> =
                last.filter(|token| token.kind == Kind::Close).map(|token| token.span.clone()).collect();
            if spans.len() == spare { spans.into_iter().map(Edit::remove).collect() } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}
