//! Values whose types do not fit.

use std::ops::Range;

use airlock_plugin_sdk::Host;

use super::arithmetic::operand;
use super::calls::UNITS;
use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::tokens::{Kind, Tokens, inside, literal};

/// Edits for a type mismatch.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    [operator(case), interval(case), empty_text(case), separators(case), coalesced(case)]
        .into_iter()
        .flatten()
        .collect()
}

/// `operator does not exist: text = integer`, where a cast of one side is beyond doubt.
pub fn operator(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let place = case.place?;
    if tokens.is_operator(place, "==") {
        let doubled = (0..tokens.all.len()).filter(|index| tokens.is_operator(*index, "=="));
        return Some(Proposal {
            edits: doubled.filter_map(|index| Some(Edit::replace(case.span(index)?, "="))).collect(),
            change: "== is now =.".into(),
            reason: "PostgreSQL compares with one sign.".into(),
        });
    }
    let said = case.failure.message.split("does not exist: ").nth(1)?;
    let symbol = case.tokens.written(place);
    let shown = match symbol.to_ascii_uppercase().as_str() {
        "LIKE" => "~~",
        "ILIKE" => "~~*",
        _ => symbol,
    };
    let (left_type, right_type) = said.split_once(&format!(" {shown} "))?;
    let right_type = right_type.trim_end_matches('.').trim();
    let (left, right) = (operand_before(tokens, place)?, operand(tokens, place + 1)?);
    let edit =
        |range: &Range<usize>, with: String| tokens.bytes(range).map(|bytes| Edit::replace(bytes, with));
    let as_text = |range: &Range<usize>| match (tokens.kind(range.start), range.len()) {
        (Some(Kind::Number), 1) => edit(range, literal(tokens.slice(range))),
        _ => edit(range, format!("({})::text", tokens.slice(range))),
    };
    let truth = |range: &Range<usize>| match tokens.slice(range) {
        "1" => edit(range, "true".into()),
        "0" => edit(range, "false".into()),
        _ => None,
    };
    let equality = ["=", "<>", "!="].contains(&symbol);
    let comparison = equality || ["<", ">", "<=", ">="].contains(&symbol);
    let (edit, change) = match (family(left_type), family(right_type)) {
        (Family::Text, Family::Text) if symbol == "+" => {
            (Edit::replace(case.span(place)?, "||"), "Texts are joined by || now.".to_owned())
        }
        // As texts, 9 is more than 10.
        (Family::Text, Family::Number) if equality => (as_text(&right)?, cast(tokens, &right, "text")),
        (Family::Number, Family::Text) if equality => (as_text(&left)?, cast(tokens, &left, "text")),
        (Family::Truth, Family::Number) if comparison => {
            (truth(&right)?, "The number is now a truth value.".to_owned())
        }
        (Family::Time, Family::Number) if comparison && is_year(tokens.slice(&right)) => {
            let written = tokens.slice(&left);
            (
                edit(&left, format!("EXTRACT(YEAR FROM {written})"))?,
                format!("The year of {written} is compared."),
            )
        }
        (Family::Text, Family::Time) if comparison => (
            edit(&left, format!("({})::{right_type}", tokens.slice(&left)))?,
            cast(tokens, &left, right_type),
        ),
        (Family::Time, Family::Text) if comparison => (
            edit(&right, format!("({})::{left_type}", tokens.slice(&right)))?,
            cast(tokens, &right, left_type),
        ),
        (Family::Number | Family::Time | Family::Truth, _) if shown.starts_with("~~") => {
            (as_text(&left)?, cast(tokens, &left, "text"))
        }
        _ => return None,
    };
    Some(Proposal {
        edits: vec![edit],
        change,
        reason: format!("PostgreSQL has no {left_type} {shown} {right_type}."),
    })
}

/// `CURRENT_DATE - '1 month'`: a length of time that is read as a moment.
fn interval(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let place = case.place.filter(|place| tokens.kind(*place) == Some(Kind::Text))?;
    let before = place.checked_sub(1)?;
    let (count, unit) = inside(tokens.written(place)).split_once(' ')?;
    let length = count.parse::<f64>().is_ok()
        && UNITS
            .iter()
            .any(|known| known.trim_end_matches('S').eq_ignore_ascii_case(unit.trim_end_matches(['s', 'S'])));
    let added = tokens.is_operator(before, "+") || tokens.is_operator(before, "-");
    (length && added).then(|| case.span(place)).flatten().map(|span| Proposal {
        edits: vec![Edit::insert(span.start, "INTERVAL ")],
        change: format!("{} is now an interval.", tokens.written(place)),
        reason: "Without the word, PostgreSQL reads the text as a moment.".into(),
    })
}

/// `quantity = ''`: a type without an empty text has NULL for it.
fn empty_text(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let place = case.place.filter(|place| tokens.written(*place) == "''")?;
    let before = place.checked_sub(1)?;
    let with = match tokens.written(before) {
        "=" => "IS NULL",
        "<>" | "!=" => "IS NOT NULL",
        _ => return None,
    };
    Some(Proposal {
        edits: vec![Edit::replace(tokens.bytes(&(before..place + 1))?, with)],
        change: format!("The comparison with an empty text is now {with}."),
        reason: "A value of this type cannot be an empty text; what is missing is NULL.".into(),
    })
}

/// `'1,000'` where a number is meant.
fn separators(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let place = case.place.filter(|place| tokens.kind(*place) == Some(Kind::Text))?;
    let text = inside(tokens.written(place));
    let number = text.replace(',', "");
    in_thousands(text).then(|| case.span(place)).flatten().map(|span| Proposal {
        edits: vec![Edit::replace(span, number.clone())],
        change: format!("'{text}' is now {number}."),
        reason: "A number has no separators between thousands.".into(),
    })
}

/// Whether commas part the thousands of a number, and nothing else: elsewhere a comma begins its decimals.
fn in_thousands(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let mut groups = whole.split(',');
    let first = groups.next().is_some_and(|group| digits(group) && group.len() <= 3);
    let mut rest = groups.peekable();
    first
        && rest.peek().is_some()
        && rest.all(|group| digits(group) && group.len() == 3)
        && decimals.is_none_or(digits)
}

/// `COALESCE(amount, 'none')`: with a text among them, all are told as texts.
fn coalesced(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let place = case.place?;
    let depth = tokens.get(place)?.depth;
    let open = (0..place).rev().find(|open| {
        tokens.kind(*open) == Some(Kind::Open)
            && tokens.get(*open).is_some_and(|token| token.depth + 1 == depth)
    })?;
    if !open.checked_sub(1).is_some_and(|name| tokens.is(name, "COALESCE")) {
        return None;
    }
    let arguments = tokens.arguments(open)?;
    let is_literal =
        |argument: &Range<usize>| argument.len() == 1 && tokens.kind(argument.start) == Some(Kind::Text);
    let mixed = arguments.iter().any(is_literal) || case.failure.message.contains("text");
    let edits: Vec<Edit> = arguments
        .iter()
        .filter(|argument| mixed && !is_literal(argument))
        .filter_map(|argument| {
            Some(Edit::replace(tokens.bytes(argument)?, format!("({})::text", tokens.slice(argument))))
        })
        .collect();
    (!edits.is_empty()).then(|| Proposal {
        edits,
        change: "What COALESCE chooses from is cast to text.".into(),
        reason: "All that COALESCE chooses from must have one type.".into(),
    })
}

/// The operand that ends before a token.
fn operand_before(tokens: &Tokens<'_>, end: usize) -> Option<Range<usize>> {
    (0..end).rev().find_map(|start| {
        let range = operand(tokens, start)?;
        let part = start.checked_sub(1).is_some_and(|before| {
            tokens.kind(before) == Some(Kind::Dot)
                || tokens.is_operator(before, "::")
                // A parenthesis behind a name is a call's.
                || (tokens.kind(start) == Some(Kind::Open) && tokens.name(before).is_some() && !tokens.is_any(before, &["AND", "OR", "NOT", "WHERE", "ON", "SELECT", "WHEN", "HAVING", "BY"]))
        });
        (range.end == end && !part).then_some(range)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Text,
    Number,
    Time,
    Truth,
    Other,
}

fn family(sql_type: &str) -> Family {
    match sql_type.trim() {
        "text" | "character varying" | "character" | "unknown" => Family::Text,
        "smallint" | "integer" | "bigint" | "numeric" | "real" | "double precision" => Family::Number,
        "date" | "timestamp without time zone" | "timestamp with time zone" => Family::Time,
        "boolean" => Family::Truth,
        _ => Family::Other,
    }
}

fn is_year(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|year| (1_900..2_200).contains(&year))
}

fn cast(tokens: &Tokens<'_>, range: &Range<usize>, to: &str) -> String {
    format!("{} is now compared as {to}.", tokens.slice(range))
}
