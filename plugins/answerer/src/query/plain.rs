//! The plainest queries: one value of the rows of one relation, which others only describe.
//!
//! Of these alone it is known what their number is a number of.

use std::collections::BTreeSet;

use super::clauses::{Clauses, Join, Part, Source, alone, filtered};
use super::sides::{Side, bare, call, is_mark, name, uncast, value};
use super::tokens::{Kind, Token};
use super::{is_keyword, name_stems};

/// What the one value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// The number of rows.
    Rows,
    /// The number of rows in which a column has a value.
    Filled(String),
    /// The number of a column's values.
    Distinct(String),
    /// A sum, with the stems of the columns that are summed.
    Sum(BTreeSet<String>),
    Average(BTreeSet<String>),
    End {
        high: bool,
        of: BTreeSet<String>,
    },
    /// A column as it is.
    Stored(BTreeSet<String>),
}

/// A relation of FROM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub name: String,
    pub alias: String,
}

/// A column at one end of a join, behind what its relation is called, where the text says so.
pub type Ended = (Option<String>, String);

/// A query that is one SELECT of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    pub measure: Measure,
    pub relations: Vec<Relation>,
    /// The columns that joins set equal.
    pub links: Vec<[Ended; 2]>,
}

impl Plain {
    /// Of a query whose conditions have all been read; none where it is anything else. `links` are the columns that it sets equal.
    pub(super) fn of(read: &[Token], links: &[(Side, Side)]) -> Option<Self> {
        let clauses = Clauses::of(bare(read))?;
        if clauses.groups || clauses.limits || clauses.sorts || !alone(clauses.targets) {
            return None;
        }
        let depth = clauses.from.first()?.depth;
        let mut relations = Vec::new();
        let mut links: Vec<[Ended; 2]> = links
            .iter()
            .map(|(a, b)| [a, b].map(|side| (side.qualifier.clone(), side.name.clone())))
            .collect();
        for item in clauses.from.split(|token| is_mark(token, ",") && token.depth == depth) {
            for part in Part::all(item)? {
                let (Source::Relation(name), Join::Inner) = (part.source, part.join) else { return None };
                for column in part.using.iter().filter(|token| token.kind == Kind::Word) {
                    let before = (None, column.text.clone());
                    links.push([before, (Some(part.alias.clone()), column.text.clone())]);
                }
                relations.push(Relation { name, alias: part.alias });
            }
        }
        Some(Self { measure: measure(clauses.targets)?, relations, links })
    }
}

/// What a column of the result is: nothing but a call or a column, without what only says how it is written.
fn measure(read: &[Token]) -> Option<Measure> {
    let read = unnamed(read);
    let read = match filtered(read) {
        Some(_) => {
            let at = read.iter().position(|token| token.is("filter"))?;
            // Behind the FILTER nothing more is computed.
            let open = read.get(at + 1)?;
            let close = read.iter().rposition(|token| is_mark(token, ")") && token.depth == open.depth)?;
            if close + 1 != read.len() {
                return None;
            }
            read.get(..at)?
        }
        None => read,
    };
    if let Some(side) = name(read) {
        return Some(Measure::Stored(name_stems(&side.name).collect()));
    }
    let (called, inner) = call(read)?;
    let argument = || -> Option<&[Token]> {
        let depth = inner.first()?.depth;
        inner.split(|token| is_mark(token, ",") && token.depth == depth).next()
    };
    let plain =
        || inner.iter().all(|token| !token.is("distinct") && !token.is("case") && !token.is("select"));
    match called {
        "count" => match inner {
            [star] if is_mark(star, "*") => Some(Measure::Rows),
            [one] if one.kind == Kind::Number => Some(Measure::Rows),
            [distinct, column @ ..] if distinct.is("distinct") => {
                Some(Measure::Distinct(name(bare(column))?.name))
            }
            column => Some(Measure::Filled(name(column)?.name)),
        },
        "sum" => plain().then(|| Measure::Sum(columns(inner))),
        "avg" => plain().then(|| Measure::Average(columns(inner))),
        "max" | "min" => plain().then(|| Measure::End { high: called == "max", of: columns(inner) }),
        // Only decimals are rounded away.
        "round" => {
            let behind = inner.get(argument()?.len()..)?;
            let decimals =
                matches!(behind, []) || matches!(behind, [_, digits] if digits.kind == Kind::Number);
            if decimals { measure(argument()?) } else { None }
        }
        // Nothing summed is 0.
        "coalesce" => {
            let behind = inner.get(argument()?.len() + 1..)?;
            value(behind)?;
            measure(argument()?).filter(|measure| matches!(measure, Measure::Sum(_)))
        }
        _ => None,
    }
}

/// A column of a result without the name that it is given, and without its type.
fn unnamed(read: &[Token]) -> &[Token] {
    let depth = read.first().map_or(0, |token| token.depth);
    let end = match read {
        [.., end, name] if name.kind == Kind::Word && is_mark(end, ")") => read.len() - 1,
        _ => read.iter().rposition(|token| token.is("as") && token.depth == depth).unwrap_or(read.len()),
    };
    uncast(bare(read.get(..end).unwrap_or_default()))
}

/// Stems of the columns that an expression reads.
fn columns(read: &[Token]) -> BTreeSet<String> {
    let named = |at: usize| {
        let token = read.get(at).filter(|token| token.kind == Kind::Word && !is_keyword(&token.text))?;
        let next = read.get(at + 1);
        (!next.is_some_and(|next| is_mark(next, ".") || is_mark(next, "("))).then_some(token)
    };
    (0..read.len()).filter_map(named).flat_map(|token| name_stems(&token.text)).collect()
}
