//! Keys and joins that nobody declared, guessed from names: told as an assumption whenever one is used.

use crate::schema::{Column, Edge, Family, Table};

/// Adds a key to each table without one, and the joins that names leave no doubt about.
pub fn complete(tables: &mut [Table]) {
    // Where one join of a table is declared, its others are too.
    let undeclared: Vec<bool> = (0..tables.len())
        .map(|at| {
            let points = tables.get(at).is_some_and(|table| table.edges.iter().any(|edge| edge.verified));
            let pointed =
                tables.iter().any(|table| table.edges.iter().any(|edge| edge.to == at && edge.verified));
            !points && !pointed
        })
        .collect();
    let keys: Vec<Option<usize>> = (0..tables.len())
        .map(|at| {
            tables
                .get(at)
                .filter(|table| table.key.is_empty())
                .and_then(|table| identifier(tables, at, table))
        })
        .collect();
    for (table, key) in tables.iter_mut().zip(keys) {
        if let Some(id) = key {
            table.key = vec![id];
        }
    }
    let found: Vec<(usize, Edge)> = (0..tables.len())
        .flat_map(|from| columns(tables, from).into_iter().map(move |column| (from, column)))
        .filter_map(|(from, column)| {
            let target = target(tables, &undeclared, from, column)?;
            let key = *tables.get(target)?.key.first()?;
            let edge = Edge {
                from: vec![column],
                to: target,
                to_columns: vec![key],
                optional: tables.get(from)?.columns.get(column)?.nullable,
                verified: false,
            };
            Some((from, edge))
        })
        .collect();
    for (from, edge) in found {
        if let Some(table) = tables.get_mut(from) {
            for column in &edge.from {
                if let Some(column) = table.columns.get_mut(*column) {
                    column.key = true;
                }
            }
            table.edges.push(edge);
        }
    }
}

/// The column that tells a table's rows apart by its name: `business_id` of businesses, `id`, `pid` of publications, or a
/// first `aid`; and the first column of a table of nothing but words, such as the cities with their regions.
fn identifier(tables: &[Table], at: usize, table: &Table) -> Option<usize> {
    let elsewhere = |column: &Column| {
        tables.iter().enumerate().any(|(other, detail)| other != at && refers(column, detail))
    };
    let named = table.columns.iter().position(|column| refers(column, table));
    let plain = table.columns.iter().position(|column| column.name.eq_ignore_ascii_case("id"));
    let first = table
        .columns
        .first()
        .filter(|column| column.name.to_lowercase().ends_with("id") && !elsewhere(column))
        .map(|_| 0);
    // A table of pairs has no identifier: both of its columns point elsewhere.
    let pairs = table.columns.len() <= 2;
    let identified = |column: &Column| column.name.to_lowercase().ends_with("id");
    let words = table.columns.len() > 1
        && table.columns.iter().all(|column| column.family == Family::Text && !identified(column));
    let initial = table.columns.iter().position(|column| initialed(column, table));
    named
        .or(plain)
        .or(initial.filter(|_| !pairs || !table.columns.iter().all(identified)))
        .or(first.filter(|_| !pairs))
        .or(words.then_some(0))
}

/// True when a name is a table's name and `id`, with or without a separator.
fn refers(column: &Column, table: &Table) -> bool {
    let joined = column.names.iter().any(|name| {
        let name = name.concat();
        table.names.iter().any(|own| name == format!("{}id", own.concat()))
    });
    joined
        || column.names.iter().any(|name| match name.split_last() {
            Some((last, rest)) if last == "id" && !rest.is_empty() => {
                table.names.iter().any(|own| own == rest)
            }
            _ => false,
        })
}

/// `pid` of publications: the initial of the table and `id`.
fn initialed(column: &Column, table: &Table) -> bool {
    let initial = table.reference.name.chars().next().map(|c| c.to_ascii_lowercase());
    initial.is_some_and(|initial| column.name.eq_ignore_ascii_case(&format!("{initial}id")))
}

/// Columns that may point elsewhere: named as identifiers or as the key of a table of words is, no key of their own
/// table, in no declared join.
fn columns(tables: &[Table], at: usize) -> Vec<usize> {
    let Some(table) = tables.get(at) else { return Vec::new() };
    (0..table.columns.len())
        .filter(|column| {
            let name =
                table.columns.get(*column).map(|column| column.name.to_lowercase()).unwrap_or_default();
            let words = tables.iter().enumerate().any(|(other, detail)| {
                other != at
                    && matches!(detail.key.as_slice(), [key] if detail.columns.get(*key).is_some_and(|key| key.name.eq_ignore_ascii_case(&name)))
            });
            (name.ends_with("id") || words)
                && table.key != [*column]
                && !table.edges.iter().any(|edge| edge.from.contains(column))
        })
        .collect()
}

/// The one table a column points to; only tables in no declared join are guessed about.
fn target(tables: &[Table], undeclared: &[bool], from: usize, column: usize) -> Option<usize> {
    let pointer = tables.get(from)?.columns.get(column)?;
    let fits = |(at, table): &(usize, &Table)| {
        let key = table.key.as_slice();
        let [key] = key else { return false };
        let Some(key) = table.columns.get(*key) else { return false };
        let kind = key.family == pointer.family && matches!(key.family, Family::Number | Family::Text);
        let bare = ["id", "name", "code", "type"].iter().any(|bare| key.name.eq_ignore_ascii_case(bare));
        let same = key.name.eq_ignore_ascii_case(&pointer.name) && !bare;
        let free = |at: usize| undeclared.get(at) == Some(&true);
        *at != from && free(*at) && free(from) && kind && (same || refers(pointer, table))
    };
    let found: Vec<usize> = tables.iter().enumerate().filter(fits).map(|(at, _)| at).collect();
    let owners: Vec<usize> = found
        .iter()
        .copied()
        .filter(|at| tables.get(*at).is_some_and(|table| refers(pointer, table)))
        .collect();
    match (owners.as_slice(), found.as_slice()) {
        ([only], _) | ([], [only]) => Some(*only),
        _ => None,
    }
}
