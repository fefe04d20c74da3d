//! Whether a sentence says what the rows say.

use std::collections::BTreeSet;
use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::time::{Date, MONTHS};

use crate::decimal::Decimal;
use crate::trace::{Mention, numbers};

/// Whether at least one value of the rows appears in `text`: a number in digits, exact or rounded as a trace allows; a
/// text as it is but for case; a date in digits or with its month's name; a truth as yes or no.
pub fn says_a_value(text: &str, input: &AnswerInput) -> bool {
    let mentions: Vec<Mention> =
        numbers(text).into_iter().filter(|mention| mention.in_digits && !mention.marker).collect();
    let text = folded(text);
    input.rows.iter().any(|row| {
        input.columns.iter().zip(row).any(|(column, value)| {
            value.as_deref().is_some_and(|value| match column.sql_type.as_str() {
                "boolean" | "bool" => says_truth(&text, value),
                _ => says(&text, &mentions, value),
            })
        })
    })
}

/// Rows that `text` names, by the first column whose texts tell the rows apart; absent when there is none.
pub fn rows_named(text: &str, input: &AnswerInput) -> Option<usize> {
    let text = folded(text);
    (0..input.columns.len()).find_map(|at| {
        let values: Option<BTreeSet<String>> = input
            .rows
            .iter()
            .map(|row| row.get(at)?.as_deref().map(folded).filter(|value| number(value).is_none()))
            .collect();
        let values = values.filter(|values| values.len() == input.rows.len())?;
        Some(values.iter().filter(|value| holds(&text, value)).count())
    })
}

fn says(text: &str, mentions: &[Mention], value: &str) -> bool {
    if let Some(exact) = number(value) {
        return mentions.iter().any(|mention| mention.stands_for(exact));
    }
    holds(text, &folded(value)) || Date::parse(value).is_some_and(|date| says_date(text, mentions, date))
}

/// A value that is one number, whatever its sign or currency. With a letter it is a name: `Hammer 500 g`.
pub fn number(value: &str) -> Option<Decimal> {
    if value.contains(char::is_alphabetic) {
        return None;
    }
    let value = value.trim_matches(|c: char| !c.is_ascii_digit());
    (!value.is_empty()).then(|| Decimal::parse(value)).flatten()
}

fn says_date(text: &str, mentions: &[Mention], date: Date) -> bool {
    let month = MONTHS.get(usize::from(date.month()) - 1).map(|name| name.to_lowercase());
    let has = |number: i64| {
        Decimal::parse(&number.to_string())
            .is_some_and(|exact| mentions.iter().any(|mention| mention.value.equals(exact)))
    };
    // The first day of a month may stand for the month.
    let day = date.day() == 1 || has(i64::from(date.day()));
    month.is_some_and(|month| holds(text, &month)) && has(i64::from(date.year())) && day
}

fn says_truth(text: &str, value: &str) -> bool {
    let words: [&str; 2] = if value.starts_with(['t', 'T']) { ["yes", "true"] } else { ["no", "false"] };
    words.iter().any(|word| holds(text, word))
}

/// Whether `value` stands in `text` with no letter or digit right before or behind it.
fn holds(text: &str, value: &str) -> bool {
    occurrences(text, value).next().is_some()
}

/// Where `value` stands in `text` with no letter or digit right before or behind it.
pub fn occurrences<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let found = text.match_indices(value).map(|(at, found)| at..at + found.len());
    found.filter(move |span| {
        let before = text.get(..span.start).and_then(|head| head.chars().next_back());
        let behind = text.get(span.end..).and_then(|tail| tail.chars().next());
        !span.is_empty() && outside(before) && outside(behind)
    })
}

/// Lower case, with single spaces.
fn folded(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::input;

    #[test]
    fn a_sentence_says_a_value_or_not() {
        for (sql_type, value, text, want) in [
            ("bigint", "60", "There are 60 customers.", true),
            ("bigint", "60", "There are sixty customers.", false),
            ("bigint", "60", "There are many customers.", false),
            ("bigint", "1", "1. There are customers.", false),
            ("bigint", "1311", "We have 1,311 customers.", true),
            ("numeric", "-42.50", "It fell by 42.5.", true),
            ("numeric", "3428.8677098", "The average is 3,428.87.", true),
            ("numeric", "3428.8677098", "The average is 3,428.90.", false),
            ("money", "$1,234.50", "It is worth 1234.50.", true),
            ("text", "PPC Cement  50 kg", "ppc cement 50 KG leads.", true),
            ("text", "PPC Cement 50 kg", "PPC Cement leads.", false),
            ("text", "Hammer 500 g", "It was 500 in all.", false),
            ("text", "A", "A customer leads.", true),
            ("text", "A", "All customers lead.", false),
            ("date", "2026-05-17", "It was on 17 May 2026.", true),
            ("date", "2026-05-17", "It was in May 2026.", false),
            ("date", "2026-05-01", "It was May 2026.", true),
            ("date", "2026-05-17", "It was on 2026-05-17.", true),
            ("boolean", "true", "Yes, it is open.", true),
            ("boolean", "false", "Yes, it is open.", false),
        ] {
            let input = input("?", &[("value", sql_type)], &[&[Some(value)]]);
            assert_eq!(says_a_value(text, &input), want, "{value}: {text}");
        }
        let rows =
            input("?", &[("a", "text"), ("b", "bigint")], &[&[None, Some("5")], &[Some("Nails"), None]]);
        assert!(says_a_value("Nails come second.", &rows));
        assert!(!says_a_value("Nothing much.", &rows));
    }

    #[test]
    fn rows_are_known_by_the_texts_that_tell_them_apart() {
        let columns = [("city", "text"), ("units", "bigint"), ("name", "text")];
        let rows = input(
            "?",
            &columns,
            &[
                &[Some("Pune"), Some("5"), Some("Hammer 500 g")],
                &[Some("Pune"), Some("6"), Some("Nails")],
                &[Some("Pune"), Some("7"), Some("Saw")],
            ],
        );
        assert_eq!(rows_named("hammer 500 g and Saw sold.", &rows), Some(2));
        assert_eq!(rows_named("In Pune 18 were sold.", &rows), Some(0));
        let numbers = input("?", &[("units", "bigint")], &[&[Some("5")], &[Some("6")]]);
        assert_eq!(rows_named("5 and 6.", &numbers), None);
    }
}
