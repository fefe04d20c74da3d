//! Faults of names: of columns, tables and aliases.

use airlock_types::catalogue::Relation;

use super::class::Broken;
use super::query::{Chance, Named, Query, misspell};

fn wrong_column(
    query: &Query<'_>,
    chance: &mut Chance,
    wrong: impl Fn(&str, &mut Chance) -> Option<String>,
) -> Option<Broken> {
    let columns = query.columns();
    let named = chance.pick(&columns)?;
    let right = query.word(named.at);
    let other = wrong(right, chance)?;
    if query.has_column(&other.to_ascii_lowercase()) && !other.starts_with('"') {
        return None;
    }
    // Who has a name wrong has it wrong everywhere.
    let same = |at: usize| columns.iter().any(|column| column.at == at) && query.is(at, right);
    Broken::of(query.everywhere(|at| same(at).then(|| other.clone())))
}

pub fn column_misspelt(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    wrong_column(query, chance, misspell)
}

fn other_number(name: &str) -> Option<String> {
    match name.strip_suffix(['s', 'S']) {
        Some(one) if one.len() > 2 && !one.ends_with(['s', 'S']) => Some(one.to_owned()),
        _ if name.len() > 2 && name.ends_with(|c: char| c.is_ascii_alphabetic()) => Some(format!("{name}s")),
        _ => None,
    }
}

pub fn column_plural(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    wrong_column(query, chance, |name, _| other_number(name))
}

fn other_case(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let mut parts = name.split('_').map(|part| {
        let (first, rest) = part.split_at_checked(1).unwrap_or((part, ""));
        format!("{}{rest}", first.to_ascii_uppercase())
    });
    let first = parts.next()?;
    Some(format!("\"{}\"", parts.fold(first, |all, part| format!("{all}_{part}"))))
}

pub fn column_case(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    wrong_column(query, chance, |name, _| other_case(name))
}

fn wrong_table(
    query: &Query<'_>,
    chance: &mut Chance,
    wrong: impl Fn(&str, &mut Chance) -> Option<String>,
) -> Option<Broken> {
    let tables = query.tables();
    let right = query.word(chance.pick(&tables)?);
    let other = wrong(right, chance)?;
    let qualifies = |at: usize| query.word(at + 1) == "." && query.is(at, right);
    Broken::of(query.everywhere(|at| {
        (tables.contains(&at) && query.is(at, right) || qualifies(at)).then(|| other.clone())
    }))
}

pub fn table_misspelt(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    wrong_table(query, chance, misspell)
}

pub fn table_plural(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    wrong_table(query, chance, |name, _| other_number(name))
}

pub fn table_case(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    wrong_table(query, chance, |name, _| other_case(name))
}

fn qualified<'a>(query: &Query<'a>) -> Vec<(Named<'a>, usize)> {
    query.columns().into_iter().filter_map(|named| Some((named.clone(), named.qualifier?))).collect()
}

/// The column is said to be of a table that has none of its name.
pub fn column_elsewhere(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let (named, qualifier) = chance.pick(&qualified(query))?;
    let name = query.word(named.at).to_ascii_lowercase();
    let others: Vec<&(&Relation, String)> = query
        .reads
        .iter()
        .filter(|(relation, visible)| !query.is(qualifier, visible) && relation.column(&name).is_none())
        .collect();
    let (_, visible) = chance.pick(&others)?;
    Broken::of(query.instead(qualifier..qualifier + 1, visible))
}

/// A column that several tables have, without saying whose.
pub fn column_unqualified(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let shared: Vec<(Named<'_>, usize)> = qualified(query)
        .into_iter()
        .filter(|(named, _)| {
            let name = query.word(named.at).to_ascii_lowercase();
            query.reads.iter().filter(|(relation, _)| relation.column(&name).is_some()).count() > 1
        })
        .collect();
    let (named, qualifier) = chance.pick(&shared)?;
    Broken::of(query.instead(qualifier..named.at, ""))
}

fn aliased<'a>(query: &'a Query<'a>) -> Vec<&'a (&'a Relation, String)> {
    query.reads.iter().filter(|(relation, visible)| relation.table.name != *visible).collect()
}

/// The table's own name before a column, where it has an alias.
pub fn alias_unused(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let (relation, visible) = chance.pick(&aliased(query))?;
    let at = chance.pick(
        &qualified(query).iter().map(|(_, at)| *at).filter(|at| query.is(*at, visible)).collect::<Vec<_>>(),
    )?;
    Broken::of(query.instead(at..at + 1, &relation.table.name))
}

/// A name before a column that is nearly one of FROM.
pub fn alias_misspelt(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let long: Vec<usize> =
        qualified(query).iter().map(|(_, at)| *at).filter(|at| query.word(*at).len() > 3).collect();
    let at = chance.pick(&long)?;
    let other = misspell(query.word(at), chance)?;
    Broken::of(query.instead(at..at + 1, &other))
}

/// A join is forgotten and its columns are not.
pub fn join_left_out(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let joins: Vec<usize> = (0..query.tokens.len()).filter(|at| query.is(*at, "JOIN")).collect();
    let join = chance.pick(&joins)?;
    let ends = [
        "JOIN", "INNER", "LEFT", "RIGHT", "CROSS", "FULL", "WHERE", "GROUP", "ORDER", "LIMIT", "HAVING", ")",
    ];
    let end = (join + 1..query.tokens.len())
        .find(|at| query.depth(*at) <= query.depth(join) && ends.iter().any(|word| query.is(*at, word)))
        .unwrap_or(query.tokens.len());
    let before = |at: usize| ["INNER", "LEFT", "OUTER"].iter().any(|word| query.is(at, word));
    let start = (0..join).rev().find(|at| !before(*at)).map_or(join, |at| at + 1);
    Broken::of(query.instead(start..end, ""))
}

/// Expressions of the select list with their aliases.
fn outputs(query: &Query<'_>) -> Vec<(std::ops::Range<usize>, String)> {
    let Some((_, list)) = query.clause(&["SELECT"]) else { return Vec::new() };
    let items = query.split(list).into_iter();
    items
        .filter_map(|item| {
            let last = item.end.checked_sub(1)?;
            let named = query.is(last.checked_sub(1)?, "AS");
            named.then(|| (item.start..last - 1, query.word(last).to_owned()))
        })
        .collect()
}

fn alias_in(query: &Query<'_>, chance: &mut Chance, clause: &str) -> Option<Broken> {
    let (_, body) = query.clause(&[clause])?;
    let mut found = Vec::new();
    for (expression, alias) in outputs(query) {
        let written = query.slice(expression.clone());
        for start in body.clone() {
            let same = start + expression.len() <= body.end
                && query.slice(start..start + expression.len()).eq_ignore_ascii_case(written);
            if same && !query.has_column(&alias.to_ascii_lowercase()) {
                found.push((start..start + expression.len(), alias.clone()));
            }
        }
    }
    let (range, alias) = chance.pick(&found)?;
    Broken::of(query.instead(range, &alias))
}

/// A column under the name that the select list gives it, where rows are filtered.
pub fn alias_in_where(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    if let Some(broken) = alias_in(query, chance, "WHERE") {
        return Some(broken);
    }
    // Gives a selected column a name, and filters by the name.
    let (_, list) = query.clause(&["SELECT"])?;
    let (_, body) = query.clause(&["WHERE"])?;
    let columns = query.columns();
    let item = query.split(list).into_iter().find(|item| {
        let shared = columns.iter().any(|named| named.at + 1 == item.end);
        item.len() <= 3
            && shared
            && body
                .clone()
                .any(|at| query.slice(at..at + item.len()).eq_ignore_ascii_case(query.slice(item.clone())))
    })?;
    let written = query.slice(item.clone());
    let at = body.clone().find(|at| query.slice(*at..at + item.len()).eq_ignore_ascii_case(written))?;
    let filtered = query.instead(at..at + item.len(), "picked")?;
    let span = query.bytes(item.clone())?;
    Broken::of(Some(format!("{} AS picked{}", filtered.get(..span.end)?, filtered.get(span.end..)?)))
}

/// An aggregate under the name that the select list gives it, where groups are filtered.
pub fn alias_in_having(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    alias_in(query, chance, "HAVING")
}
