//! A function or operator that PostgreSQL does not have for these arguments.

use airlock_plugin_sdk::Host;

use super::{calls, types};
use crate::case::{Case, Proposal, Reference};
use crate::edit::Edit;
use crate::tokens::Kind;

/// Functions of texts; a first argument of another type is cast.
const OF_TEXT: [&str; 15] = [
    "lower",
    "upper",
    "trim",
    "btrim",
    "ltrim",
    "rtrim",
    "length",
    "left",
    "right",
    "substring",
    "substr",
    "replace",
    "split_part",
    "strpos",
    "string_agg",
];

/// Types of other dialects and what PostgreSQL calls them.
const TYPES: [(&str, &str); 13] = [
    ("string", "text"),
    ("nvarchar", "varchar"),
    ("varchar2", "varchar"),
    ("datetime", "timestamp"),
    ("datetime2", "timestamp"),
    ("smalldatetime", "timestamp"),
    ("signed", "bigint"),
    ("unsigned", "bigint"),
    ("int64", "bigint"),
    ("tinyint", "smallint"),
    ("float64", "double precision"),
    ("double", "double precision"),
    ("number", "numeric"),
];

/// Edits for an unknown function or operator.
pub fn propose(case: &Case<'_, impl Host>) -> Vec<Proposal> {
    if case.failure.message.contains("operator") {
        return types::operator(case).into_iter().collect();
    }
    let proposals = [foreign(case), cast_argument(case), foreign_type(case)];
    proposals.into_iter().flatten().collect()
}

/// `DATEDIFF(day, a, b)`: the unit is read as a column before the function is looked for.
pub fn with_unit(case: &Case<'_, impl Host>, reference: &Reference) -> Option<Proposal> {
    let open = reference.range.start.checked_sub(1)?;
    let call = open.checked_sub(1)?;
    let unit = reference.qualifier.is_none()
        && case.tokens.kind(open) == Some(Kind::Open)
        && calls::is_foreign(&case.tokens, call);
    unit.then(|| translated(case, call)).flatten()
}

/// A type of another dialect, in a cast.
fn foreign_type(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let place = case.place?;
    let before = place.checked_sub(1)?;
    let named = tokens.written(place).to_ascii_lowercase();
    let with = TYPES.iter().find(|(foreign, _)| *foreign == named)?.1;
    let cast = tokens.is_operator(before, "::") || tokens.is(before, "AS");
    cast.then(|| case.span(place)).flatten().map(|span| Proposal {
        edits: vec![Edit::replace(span, with)],
        change: format!("The type {named} is now {with}."),
        reason: "The type is another dialect's.".into(),
    })
}

/// The failing call, and all others of another dialect with it.
fn foreign(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let at = call(case)?;
    if !calls::is_foreign(tokens, at) {
        return None;
    }
    translated(case, at)
}

/// All foreign calls, told by the one at a token.
fn translated(case: &Case<'_, impl Host>, at: usize) -> Option<Proposal> {
    let tokens = &case.tokens;
    Some(Proposal {
        edits: vec![Edit::replace(0..tokens.text.len(), calls::translate_all(tokens.text)?)],
        change: format!("{} is written as PostgreSQL writes it.", tokens.written(at).to_ascii_uppercase()),
        reason: "The function is another dialect's.".into(),
    })
}

/// A function that exists, with an argument of another type than it takes.
fn cast_argument(case: &Case<'_, impl Host>) -> Option<Proposal> {
    let tokens = &case.tokens;
    let at = call(case)?;
    let name = tokens.name(at)?;
    // `function round(double precision, integer) does not exist`
    let given = case.failure.message.split_once('(')?.1.split_once(") does not")?.0;
    let types: Vec<&str> = given.split(", ").collect();
    let arguments = tokens.arguments(at + 1)?;
    let first = arguments.first()?;
    let is_text = |given: &str| ["text", "character varying", "character"].contains(&given);
    if (name.as_str(), types.as_slice()) == ("sum", ["boolean"].as_slice()) {
        let close = tokens.closing(at + 1)?;
        return Some(Proposal {
            edits: vec![Edit::replace(
                tokens.bytes(&(at..close + 1))?,
                format!("count(*) FILTER (WHERE {})", tokens.slice(first)),
            )],
            change: "The sum of a truth value is now the count of rows where it is true.".into(),
            reason: "PostgreSQL does not add truth values.".into(),
        });
    }
    let (argument, cast) = match (name.as_str(), types.as_slice()) {
        ("round", ["double precision" | "real", _]) => (first, "numeric"),
        ("sum" | "avg", [given]) if is_text(given) => (first, "numeric"),
        ("date_trunc", [_, given]) if is_text(given) => (arguments.get(1)?, "timestamp"),
        (name, [given, ..]) if OF_TEXT.contains(&name) && !is_text(given) && *given != "unknown" => {
            (first, "text")
        }
        _ => return None,
    };
    let written = tokens.slice(argument);
    Some(Proposal {
        edits: vec![Edit::replace(tokens.bytes(argument)?, format!("({written})::{cast}"))],
        change: format!("{written} is cast to {cast}."),
        reason: format!("PostgreSQL has {name} for that type only."),
    })
}

/// The token of the failing call's name: at the failure's place, else the first call of the message's function.
fn call(case: &Case<'_, impl Host>) -> Option<usize> {
    let tokens = &case.tokens;
    let is_call = |index: usize| tokens.name(index).is_some() && tokens.kind(index + 1) == Some(Kind::Open);
    if let Some(place) = case.place {
        return Some(place).filter(|place| is_call(*place));
    }
    let message = case.failure.message.split("function ").nth(1)?;
    let name = message.split(['(', ' ']).next()?.rsplit('.').next()?.trim_matches('"').to_ascii_lowercase();
    (0..tokens.all.len())
        .find(|index| is_call(*index) && tokens.name(*index).as_deref() == Some(name.as_str()))
}
