//! Keywords that are missing or misspelt, and parentheses that nothing closes: the one place where the text can be read.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::words::edit_distance;

use crate::case::{Case, Proposal, Reference};
use crate::edit::{Edit, apply};
use crate::tokens::Kind;

/// Keywords that a query is made of and that are long enough to be misspelt recognisably.
const LONG: [&str; 22] = [
    "SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "JOIN", "INNER",
    "LEFT", "OUTER", "UNION", "BETWEEN", "LIKE", "ILIKE", "CASE", "WHEN", "THEN", "ELSE", "EXISTS",
];
/// Keywords that may be missing. OR is among them so that where it would do as well as AND neither is chosen.
const MISSING: [&str; 9] = ["BY", "ON", "FROM", "WHERE", "THEN", "END", "AND", "OR", "SELECT"];
/// Tokens before the failure that may have been read as something else.
const BEFORE: usize = 3;
/// Places for a parenthesis that are tried.
const PLACES: usize = 200;

/// The one keyword that makes the text readable.
pub fn propose(case: &Case<'_, impl Host>) -> Option<Proposal> {
    // A second statement is for the gate to refuse, and not for a repair to make readable.
    let tokens = &case.tokens;
    let single =
        (0..tokens.all.len().saturating_sub(1)).all(|index| tokens.kind(index) != Some(Kind::Semicolon));
    if single { misspelt(case).or_else(|| missing(case)) } else { None }
}

/// Where the text stopped being readable, and the tokens just before.
fn places(case: &Case<'_, impl Host>) -> Vec<usize> {
    let place = case.place.unwrap_or(case.tokens.all.len());
    (place.saturating_sub(BEFORE)..=place).rev().collect()
}

/// The keyword that a word is nearly, and no keyword as it is.
fn meant(word: &str) -> Option<&'static str> {
    let upper = word.to_ascii_uppercase();
    if word.len() < 3 || LONG.contains(&upper.as_str()) {
        return None;
    }
    let near = |keyword: &&&str| edit_distance(&upper, keyword) <= if word.len() < 7 { 1 } else { 2 };
    let mut found = LONG.iter().filter(near);
    let first = found.next()?;
    // LIKE and LIMIT: the nearer one, if there is one.
    found.try_fold(*first, |best, other| {
        match edit_distance(&upper, best).cmp(&edit_distance(&upper, other)) {
            std::cmp::Ordering::Less => Some(best),
            std::cmp::Ordering::Greater => Some(*other),
            std::cmp::Ordering::Equal => None,
        }
    })
}

fn misspelt(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    places(case).into_iter().find_map(|index| {
        let word = tokens.written(index);
        let keyword = (tokens.kind(index) == Some(Kind::Word)).then(|| meant(word)).flatten()?;
        let edits = vec![Edit::replace(case.span(index)?, keyword)];
        readable(case, &edits).then(|| Proposal {
            edits,
            change: format!("{word} is now {keyword}."),
            reason: format!("{word} is close to the keyword, and with it the query can be read."),
        })
    })
}

/// `SELECT DISTICNT name`: a misspelt keyword that is read as a column with an alias.
pub fn distinct(case: &Case<'_, impl Host>, reference: &Reference) -> Option<Proposal> {
    let tokens = &case.tokens;
    let at = reference.column;
    let first =
        reference.qualifier.is_none() && at.checked_sub(1).is_some_and(|before| tokens.is(before, "SELECT"));
    let followed = matches!(tokens.kind(at + 1), Some(Kind::Word | Kind::Quoted))
        && !tokens.is_any(at + 1, &["AS", "FROM"]);
    let keyword = meant(tokens.written(at)).filter(|keyword| first && followed && *keyword == "DISTINCT")?;
    Some(Proposal {
        edits: vec![Edit::replace(case.span(at)?, keyword)],
        change: format!("{} is now {keyword}.", tokens.written(at)),
        reason: "It is close to the keyword and names no column.".into(),
    })
}

/// Whether the text can be read with these edits; what it reads is the gate's to judge.
fn readable(case: &Case<'_, impl Host>, edits: &[Edit]) -> bool {
    apply(case.tokens.text, edits.to_vec()).is_some_and(|text| case.host.outline(&text).is_ok())
}

fn approved(case: &Case<'_, impl Host>, edits: &[Edit]) -> bool {
    apply(case.tokens.text, edits.to_vec())
        .is_some_and(|text| case.host.outline(&text).is_ok() && case.host.check(&text).is_ok())
}

/// The one keyword that is missing at one place; none where two would do.
fn missing(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for index in places(case) {
        let at = case.span(index).map_or_else(|| case.tokens.end(), |span| span.start);
        for keyword in MISSING {
            if approved(case, &[Edit::insert(at, format!(" {keyword} "))]) {
                found.push((at, keyword));
            }
        }
    }
    let [(at, keyword)] = found.as_slice() else { return None };
    Some(Proposal {
        edits: vec![Edit::insert(*at, format!(" {keyword} "))],
        change: format!("The missing {keyword} is added."),
        reason: "It is the one keyword and the one place with which the query can be read.".into(),
    })
}

/// Where a parenthesis is missing.
pub enum Missing {
    /// None is, or nowhere would it help.
    No,
    /// In one place, or in several that come to the same.
    Here(Option<Proposal>),
    /// In one of several places that mean different things.
    Unclear,
}

/// The one place for a missing parenthesis.
pub fn parenthesis(case: &Case<'_, impl Host>) -> Missing {
    let tokens = &case.tokens;
    let count = |kind| tokens.all.iter().filter(|token| token.kind == kind).count();
    if count(Kind::Open) != count(Kind::Close) + 1 {
        return Missing::No;
    }
    let end = case.place.unwrap_or(tokens.all.len());
    let Some(first) = (0..end).find(|index| tokens.kind(*index) == Some(Kind::Open)) else {
        return Missing::No;
    };
    let range: Range<usize> = first.max(end.saturating_sub(PLACES))..end;
    let closing = |index: usize| case.span(index).map(|span| vec![Edit::insert(span.end, ")")]);
    let found: Vec<usize> =
        range.filter(|index| closing(*index).is_some_and(|edits| approved(case, &edits))).collect();
    let (Some(from), Some(to)) = (found.first(), found.last()) else { return Missing::No };
    let joined = |index: usize| {
        tokens.is_any(index, &["AND", "OR"])
            || matches!(tokens.kind(index), Some(Kind::Operator | Kind::Comma))
    };
    if from != to {
        let differ = (from + 1..=*to).any(joined);
        return if differ { Missing::Unclear } else { Missing::Here(None) };
    }
    Missing::Here(closing(*from).map(|edits| Proposal {
        edits,
        change: format!("A parenthesis is closed behind {}.", tokens.written(*from)),
        reason: "It is the one place where closing it makes a query that can run.".into(),
    }))
}
