//! Faults of values: types, literals, quotients, ranges of time.

use airlock_types::catalogue::TypeFamily;

use super::class::Broken;
use super::query::{Chance, Named, Query, misspell};
use super::scan::Kind;

pub fn cast_left_out(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let mut found: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for at in 0..query.tokens.len() {
        if query.word(at) == "::" {
            let end = if query.word(at + 2) == "(" { query.behind(at + 2)? } else { at + 2 };
            found.push((at..end, String::new()));
        } else if query.is(at, "CAST") && query.word(at + 1) == "(" {
            let end = query.behind(at + 1)?;
            let depth = query.depth(at) + 1;
            let r#as = (at + 2..end).find(|i| query.is(*i, "AS") && query.depth(*i) == depth)?;
            found.push((at..end, query.slice(at + 2..r#as).to_owned()));
        }
    }
    let (range, other) = chance.pick(&found)?;
    Broken::of(query.instead(range, &other))
}

/// A column that is compared with the literal behind it.
fn compared<'a>(query: &Query<'a>, family: TypeFamily, kind: Kind) -> Vec<(Named<'a>, usize)> {
    query
        .columns()
        .into_iter()
        .filter(|named| named.columns.iter().all(|column| column.family == family))
        .filter(|named| query.word(named.at + 1) == "=" && query.kind(named.at + 2) == Some(kind))
        .map(|named| (named.clone(), named.at + 2))
        .collect()
}

/// A number where the column is a text.
pub fn text_as_number(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let numbers: Vec<usize> = compared(query, TypeFamily::Text, Kind::Text)
        .into_iter()
        .map(|(_, at)| at)
        .filter(|at| {
            query
                .word(*at)
                .trim_matches('\'')
                .parse::<u32>()
                .is_ok_and(|n| query.word(*at) == format!("'{n}'"))
        })
        .collect();
    if let Some(at) = chance.pick(&numbers) {
        return Broken::of(query.instead(at..at + 1, query.word(at).trim_matches('\'')));
    }
    let (relation, _) = chance.pick(&query.reads)?;
    let texts: Vec<&str> = relation
        .columns
        .iter()
        .filter(|column| column.family == TypeFamily::Text)
        .map(|column| column.name.as_str())
        .collect();
    let (text, number) = (chance.pick(&texts)?, 1 + chance.below(99));
    let query = |literal: String| {
        Some(format!("SELECT COUNT(*) AS n FROM {} WHERE {text} <> {literal}", relation.table.name))
    };
    Broken::beside(query(number.to_string()), query(format!("'{number}'")))
}

/// A pattern where the column is a number.
pub fn number_like(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let (relation, _) = chance.pick(&query.reads)?;
    let numbers: Vec<&str> = relation
        .columns
        .iter()
        .filter(|column| column.family == TypeFamily::Number || column.sql_type == "date")
        .map(|column| column.name.as_str())
        .collect();
    let (number, digit) = (chance.pick(&numbers)?, 1 + chance.below(9));
    let query = |operand: String| {
        Some(format!("SELECT COUNT(*) AS n FROM {} WHERE {operand} LIKE '{digit}%'", relation.table.name))
    };
    Broken::beside(query(number.to_owned()), query(format!("{number}::text")))
}

pub fn interval_left_out(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let found: Vec<usize> = (0..query.tokens.len())
        .filter(|at| query.is(*at, "INTERVAL") && query.kind(at + 1) == Some(Kind::Text))
        .collect();
    let at = chance.pick(&found)?;
    Broken::of(query.instead(at..at + 1, ""))
}

/// A guarded divisor without its guard; one that is zero where the query has none.
pub fn division_by_zero(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let counts: Vec<usize> = ["COUNT", "SUM"]
        .iter()
        .flat_map(|name| query.calls(name))
        .map(|(at, _)| at)
        .filter(|at| query.depth(*at) == 0)
        .collect();
    let (_, list) = query.clause(&["SELECT"])?;
    let at = chance.pick(&counts).filter(|at| list.contains(at))?;
    let end = query.behind(at + 1)?;
    if query.is(end, "OVER") || query.is(end, "FILTER") || query.word(end) == "::" {
        return None;
    }
    let call = query.slice(at..end);
    Broken::beside(
        query.instead(at..end, &format!("{call} / (COUNT(*) - COUNT(*))")),
        query.instead(at..end, &format!("{call} / NULLIF(COUNT(*) - COUNT(*), 0)")),
    )
}

fn other_literal(
    query: &Query<'_>,
    chance: &mut Chance,
    other: impl Fn(&str, &mut Chance) -> Option<String>,
) -> Option<Broken> {
    let (_, at) = chance.pick(&compared(query, TypeFamily::Text, Kind::Text))?;
    let text = query.word(at).strip_prefix('\'')?.strip_suffix('\'')?;
    let wrong = other(text, chance).filter(|wrong| wrong != text)?;
    Broken::of(query.instead(at..at + 1, &format!("'{wrong}'")))
}

pub fn literal_case(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    other_literal(query, chance, |text, chance| {
        chance.pick(&[text.to_lowercase(), text.to_uppercase(), text.to_lowercase()])
    })
}

pub fn literal_space(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    other_literal(query, chance, |text, _| Some(format!("{text} ")))
}

pub fn literal_misspelt(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    other_literal(query, chance, misspell)
}

/// A whole last day that ends at its first moment.
pub fn between_timestamps(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let (relation, _) = chance.pick(&query.reads)?;
    let moment = relation.columns.iter().find(|column| column.sql_type.starts_with("timestamp"))?;
    let (table, moment) = (&relation.table.name, &moment.name);
    let last = format!("(SELECT MAX({moment})::date FROM {table})");
    let first = format!("{last} - {}", 10 + chance.below(300));
    Broken::beside(
        Some(format!("SELECT COUNT(*) AS n FROM {table} WHERE {moment} BETWEEN {first} AND {last}")),
        Some(format!(
            "SELECT COUNT(*) AS n FROM {table} WHERE {moment} >= {first} AND {moment} < {last} + 1"
        )),
    )
}

/// A day whose first moment is compared with.
pub fn one_day_of_timestamps(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let (relation, _) = chance.pick(&query.reads)?;
    let moment = relation.columns.iter().find(|column| column.sql_type.starts_with("timestamp"))?;
    let (table, moment) = (&relation.table.name, &moment.name);
    let day = format!("(SELECT MAX({moment})::date FROM {table})");
    let compared = chance.pick(&[format!("= {day}"), format!("BETWEEN {day} AND {day}")])?;
    Broken::beside(
        Some(format!("SELECT COUNT(*) AS n FROM {table} WHERE {moment} {compared}")),
        Some(format!("SELECT COUNT(*) AS n FROM {table} WHERE {moment} >= {day} AND {moment} < {day} + 1")),
    )
}

/// A share of two counts that drops what is behind the point.
pub fn integer_division(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let (relation, _) = chance.pick(&query.reads)?;
    let texts: Vec<&str> = relation
        .columns
        .iter()
        .filter(|column| column.family == TypeFamily::Text)
        .map(|column| column.name.as_str())
        .collect();
    let (table, text) = (&relation.table.name, chance.pick(&texts)?);
    let share = |cast: &str| {
        Some(format!("SELECT COUNT(DISTINCT {text}){cast} / NULLIF(COUNT(*) + 1, 0) AS share FROM {table}"))
    };
    Broken::beside(share(""), share("::numeric"))
}
