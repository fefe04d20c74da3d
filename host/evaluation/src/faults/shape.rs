//! Faults of shape: clauses, grouping, windows, parentheses.

use super::class::Broken;
use super::query::{Chance, Query};
use super::scan::Kind;

pub fn group_by_lacks(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let clauses = query.clauses(&["GROUP", "BY"]);
    let (_, body) = chance.pick(&clauses)?;
    let items = query.split(body.clone());
    if items.len() < 2 {
        return None;
    }
    let out = chance.below(items.len());
    let left: Vec<&str> = items
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != out)
        .map(|(_, item)| query.slice(item.clone()))
        .collect();
    Broken::of(query.instead(body, &left.join(", ")))
}

pub fn no_group_by(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let clauses = query.clauses(&["GROUP", "BY"]);
    let (at, body) = chance.pick(&clauses)?;
    Broken::of(query.instead(at..body.end, ""))
}

/// What HAVING says, said where rows are filtered.
pub fn aggregate_in_where(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let clauses = query.clauses(&["HAVING"]);
    let (having, condition) = chance.pick(&clauses)?;
    let said = query.slice(condition.clone());
    let same = |at: &usize| query.depth(*at) == query.depth(having);
    let group = (0..having).rev().find(|at| same(at) && query.is(*at, "GROUP"))?;
    let select = (0..group).rev().find(|at| same(at) && query.is(*at, "SELECT"))?;
    let filter = (select..group).find(|at| same(at) && query.is(*at, "WHERE"));
    let word = if filter.is_some() { "AND" } else { "WHERE" };
    let without = query.instead(having..condition.end, "")?;
    let at = query.bytes(group..group + 1)?.start;
    Broken::of(Some(format!("{}{word} {said} {}", without.get(..at)?, without.get(at..)?)))
}

/// The first rows by a key, numbered where rows are filtered.
pub fn window_in_where(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let keyed: Vec<_> = query.reads.iter().filter(|(relation, _)| !relation.columns.is_empty()).collect();
    let (relation, _) = chance.pick(&keyed)?;
    let key = if relation.primary_key.is_empty() {
        relation.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>().join(", ")
    } else {
        relation.primary_key.join(", ")
    };
    let shown: Vec<&str> = relation.columns.iter().take(2).map(|column| column.name.as_str()).collect();
    let (table, shown, most) = (&relation.table.name, shown.join(", "), 1 + chance.below(5));
    let window = format!("ROW_NUMBER() OVER (ORDER BY {key})");
    Broken::beside(
        Some(format!("SELECT {shown} FROM {table} WHERE {window} <= {most}")),
        Some(format!(
            "SELECT {shown} FROM (SELECT *, {window} AS place FROM {table}) AS numbered WHERE place <= {most}"
        )),
    )
}

/// An order by what SELECT DISTINCT does not select.
pub fn distinct_order(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    if !query.is(0, "SELECT") || !query.is(1, "DISTINCT") || query.clause(&["ORDER", "BY"]).is_some() {
        return None;
    }
    let (_, list) = query.clause(&["SELECT"])?;
    let (relation, visible) = chance.pick(&query.reads)?;
    let others: Vec<&str> = relation
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|name| !list.clone().any(|at| query.is(at, name)))
        .collect();
    let other = chance.pick(&others)?;
    if query.clause(&["LIMIT"]).is_some() || query.text.contains(';') {
        return None;
    }
    Broken::of(Some(format!("{} ORDER BY {visible}.{other}", query.text)))
}

/// `IN (SELECT ...)` as if it were one value.
pub fn many_rows(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let found: Vec<usize> = (0..query.tokens.len())
        .filter(|at| {
            query.is(*at, "IN")
                && query.word(at + 1) == "("
                && query.is(at + 2, "SELECT")
                && !at.checked_sub(1).is_some_and(|before| query.is(before, "NOT"))
        })
        .collect();
    if let Some(at) = chance.pick(&found) {
        return Broken::of(query.instead(at..at + 1, "="));
    }
    // Rows of one table that another refers to by a column of the same name.
    let pairs: Vec<(&str, &str, &str)> = query
        .reads
        .iter()
        .flat_map(|(left, _)| query.reads.iter().map(move |(right, _)| (left, right)))
        .filter(|(left, right)| left.table != right.table)
        .flat_map(|(left, right)| {
            let shared = left.columns.iter().filter(|column| right.column(&column.name).is_some());
            shared.map(|column| (left.table.name.as_str(), right.table.name.as_str(), column.name.as_str()))
        })
        .collect();
    let (left, right, key) = chance.pick(&pairs)?;
    let text = |compared: &str| {
        Some(format!("SELECT COUNT(*) AS n FROM {left} WHERE {key} {compared} (SELECT {key} FROM {right})"))
    };
    Broken::beside(text("="), text("IN"))
}

pub fn unclosed(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let closing: Vec<usize> = (0..query.tokens.len()).filter(|at| query.word(*at) == ")").collect();
    let at = chance.pick(&closing)?;
    Broken::of(query.instead(at..at + 1, ""))
}

pub fn stray_comma(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let places: Vec<usize> = (1..query.tokens.len())
        .filter(|at| {
            let clause = ["FROM", "WHERE", "ORDER", "HAVING", "LIMIT"].iter().any(|word| query.is(*at, word));
            let extract = at.checked_sub(2).is_some_and(|open| query.word(open) == "(");
            clause && !extract && query.depth(*at) == 0
        })
        .collect();
    let at = chance.pick(&places)?;
    let before = query.bytes(at - 1..at)?.end;
    Broken::of(query.with(before..before, ","))
}

pub fn keyword_left_out(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let words = ["BY", "ON", "FROM", "THEN", "END", "AND", "WHERE"];
    let places: Vec<usize> =
        (0..query.tokens.len()).filter(|at| words.iter().any(|word| query.is(*at, word))).collect();
    let at = chance.pick(&places)?;
    Broken::of(query.instead(at..at + 1, ""))
}

pub fn keyword_misspelt(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let wrong = [
        ("SELECT", "SELCT"),
        ("FROM", "FORM"),
        ("WHERE", "WEHRE"),
        ("GROUP", "GRUOP"),
        ("ORDER", "ODER"),
        ("HAVING", "HAVNIG"),
        ("LIMIT", "LIMT"),
        ("JOIN", "JION"),
        ("DISTINCT", "DISTICNT"),
        ("BETWEEN", "BETWEN"),
    ];
    let places: Vec<(usize, &str)> = (0..query.tokens.len())
        .filter(|at| query.kind(*at) == Some(Kind::Word))
        .filter_map(|at| Some((at, wrong.iter().find(|(word, _)| query.is(at, word))?.1)))
        .collect();
    let (at, other) = chance.pick(&places)?;
    Broken::of(query.instead(at..at + 1, other))
}
