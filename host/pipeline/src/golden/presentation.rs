//! Whether a wrong result may be the right one written differently. Nothing here makes it right: what is suspected is listed
//! apart, for a person to look at.

use airlock_database::ResultSet;
use airlock_types::clock::MONTHS;
use serde_json::Value;

use super::compare::{Comparison, compare};

/// What two results that differ may differ in alone, and how each of the two is read; tried in this order and both ways round.
/// Two numbers are never both made coarser: they would be alike without being the same number.
const SUSPICIONS: [(&str, Reading, Reading); 5] = [
    ("letter case, outer space or the way a date is written", plain, plain),
    ("names of months or weekdays and their numbers", named, named),
    ("a fraction and a percentage", of_hundred, unsigned),
    ("rounding to whole units", rounded, plain),
    ("NULL and 0", zeroed, zeroed),
];

type Reading = fn(&ResultSet) -> ResultSet;

/// Whole numbers from here on are not all told apart by a float.
const INEXACT: f64 = 1e15;

/// Says in what, when a looser comparison finds two different results equal.
pub(super) fn suspect(got: &ResultSet, gold: &ResultSet, ordered: bool) -> Option<&'static str> {
    let same = |got: &ResultSet, gold: &ResultSet| compare(got, gold, None) == Comparison::Same;
    if ordered && same(got, gold) {
        return Some("the order of the rows");
    }
    let alike =
        |one: &Reading, other: &Reading| same(&one(got), &other(gold)) || same(&other(got), &one(gold));
    if let Some((what, ..)) = SUSPICIONS.iter().find(|(_, one, other)| alike(one, other)) {
        return Some(what);
    }
    // Every column of the answer is one of the right ones, and some are missing.
    let fewer = !got.columns.is_empty() && got.columns.len() < gold.columns.len() && !got.rows.is_empty();
    (fewer && same(gold, got)).then_some("columns that are left out")
}

fn plain(result: &ResultSet) -> ResultSet {
    loosened(result, text)
}

fn named(result: &ResultSet) -> ResultSet {
    loosened(result, names)
}

fn rounded(result: &ResultSet) -> ResultSet {
    loosened(result, whole)
}

fn zeroed(result: &ResultSet) -> ResultSet {
    loosened(result, nulls)
}

fn unsigned(result: &ResultSet) -> ResultSet {
    loosened(result, without_sign)
}

/// Columns of fractions as the percentages that they are; a count is none.
fn of_hundred(result: &ResultSet) -> ResultSet {
    let mut read = unsigned(result);
    for at in 0..read.columns.len() {
        let values = || result.rows.iter().filter_map(|row| row.get(at));
        if values().any(|value| fraction(value).is_some()) {
            for value in read.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                *value = number(value).map_or_else(|| value.clone(), |number| of(number * 100.0));
            }
        }
    }
    read
}

fn loosened(result: &ResultSet, loosen: fn(&Value) -> Value) -> ResultSet {
    let mut result = result.clone();
    for value in result.rows.iter_mut().flatten() {
        *value = loosen(value);
    }
    for column in &mut result.columns {
        // What reads as a number is compared as one, whatever the column's type.
        "numeric".clone_into(&mut column.sql_type);
    }
    result
}

/// Lower case, no outer space; a moment that is the start of a day is the day, the first of a month the month.
fn text(value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    let mut text = text.trim().to_lowercase();
    for midnight in ["+00:00", "+00", " 00:00:00", "t00:00:00"] {
        if text.starts_with(|c: char| c.is_ascii_digit())
            && let Some(day) = text.strip_suffix(midnight)
        {
            text = day.to_owned();
        }
    }
    let month = text.strip_suffix("-01").filter(|month| is_month(month));
    Value::String(month.map(str::to_owned).unwrap_or(text))
}

fn is_month(text: &str) -> bool {
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    text.split_once('-').is_some_and(|(year, month)| digits(year, 4) && digits(month, 2))
}

const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// The number of a month or weekday that is named, by its full name or its first three letters.
fn names(value: &Value) -> Value {
    let plain = text(value);
    let Value::String(name) = &plain else { return plain };
    let at =
        |names: &[&str]| names.iter().position(|full| name == full || full.get(..3) == Some(name.as_str()));
    match (at(&MONTHS).map(|at| at + 1), at(&DAYS)) {
        (Some(number), _) | (None, Some(number)) => Value::String(number.to_string()),
        (None, None) => {
            // `2026-03` is the third month too.
            let month = name.split_once('-').filter(|_| is_month(name)).map(|(_, month)| month);
            month.map_or_else(
                || plain.clone(),
                |month| Value::String(month.trim_start_matches('0').to_owned()),
            )
        }
    }
}

/// A number that is small enough to be computed with.
fn number(value: &Value) -> Option<f64> {
    let written = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    written.parse().ok().filter(|number: &f64| number.abs() < INEXACT)
}

/// A number that is not whole.
fn fraction(value: &Value) -> Option<f64> {
    number(value).filter(|number| number.fract() != 0.0)
}

fn of(number: f64) -> Value {
    Value::String(format!("{number}"))
}

/// A percentage without its sign.
fn without_sign(value: &Value) -> Value {
    let plain = text(value);
    let number = plain.as_str().and_then(|text| text.strip_suffix('%'));
    number.map_or_else(|| plain.clone(), |number| Value::String(number.trim_end().to_owned()))
}

fn whole(value: &Value) -> Value {
    fraction(value).map_or_else(|| text(value), |number| of(number.round()))
}

fn nulls(value: &Value) -> Value {
    if value.is_null() { Value::String("0".to_owned()) } else { text(value) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use airlock_types::ask::ResultColumn;
    use serde_json::json;

    use super::*;

    fn result(rows: Value) -> ResultSet {
        let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
        let width = rows.first().map_or(0, Vec::len);
        let column = ResultColumn { name: "c".to_owned(), sql_type: "text".to_owned() };
        ResultSet { columns: vec![column; width], rows, truncated: false, duration: Duration::ZERO }
    }

    #[test]
    fn what_may_be_presentation_is_named_and_what_is_wrong_is_not() {
        for (got, gold, ordered, want) in [
            (json!([["a"], ["b"]]), json!([["b"], ["a"]]), true, Some("order")),
            (json!([["2026-01"]]), json!([["2026-01-01 00:00:00"]]), false, Some("date")),
            (json!([["PAID "]]), json!([["paid"]]), false, Some("case")),
            (json!([["Thursday"]]), json!([["4"]]), false, Some("weekdays")),
            (json!([["Mar"]]), json!([["2026-03-01"]]), false, Some("months")),
            (json!([["0.2512"]]), json!([["25.12"]]), false, Some("percentage")),
            (json!([["25.12%"]]), json!([["0.2512"]]), false, Some("percentage")),
            (json!([["24.6"]]), json!([["25"]]), false, Some("rounding")),
            (json!([["25"], ["3"]]), json!([["24.6000000000000000"], ["3"]]), false, Some("rounding")),
            (json!([["a", null]]), json!([["a", "0"]]), false, Some("NULL")),
            (json!([["a"], ["b"]]), json!([["a", "1"], ["b", "2"]]), false, Some("left out")),
            (json!([["a"]]), json!([["b"]]), false, None),
            (json!([["24"]]), json!([["25"]]), false, None),
            (json!([["0.2512", 1]]), json!([["25.12", 1]]), false, Some("percentage")),
            (json!([["1.5"]]), json!([["150"]]), false, Some("percentage")),
            // Numbers that differ.
            (json!([["10.01"]]), json!([["10.02"]]), false, None),
            (json!([["24.6"]]), json!([["25.4"]]), false, None),
            (json!([["0.01231"]]), json!([["0.01234"]]), false, None),
            (json!([["9007199254740993"]]), json!([["9007199254740992"]]), false, None),
            (json!([[9_007_199_254_740_993_u64]]), json!([["9007199254740992"]]), false, None),
            (json!([["9007199254740993.4"]]), json!([["9007199254740992"]]), false, None),
            (json!([["a"], ["b"]]), json!([["a"]]), false, None),
            (json!([["a"], ["c"]]), json!([["a", "1"], ["b", "2"]]), false, None),
        ] {
            let found = suspect(&result(got.clone()), &result(gold.clone()), ordered);
            match want {
                Some(want) => {
                    assert!(found.is_some_and(|found| found.contains(want)), "{got} {gold}: {found:?}")
                }
                None => assert_eq!(found, None, "{got} {gold}"),
            }
        }
    }
}
