//! The times that a text names, and the rows that they are of.

use std::collections::BTreeSet;
use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::question::{moments, tokens::tokenize};
use airlock_plugin_sdk::time::{Date, Days, MONTHS, month_number};
use airlock_plugin_sdk::words::{Word, words};

use crate::column::{Column, Part};
use crate::period::{Unit, date};
use crate::query::Query;

/// A time in a text: the parts of it that are said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    pub span: Range<usize>,
    year: Option<i32>,
    quarter: Option<u8>,
    month: Option<u8>,
    day: Option<u8>,
}

/// Where a time comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The query keeps to it.
    Query,
    /// These rows have it.
    Rows(BTreeSet<usize>),
    /// Nowhere, or nobody knows which of several it is.
    Nowhere,
}

/// The times of a text: years, quarters and months by name or as `2026-03`, with their days. A year stands alone behind a word
/// such as `in`; else it is a number.
pub fn times(text: &str) -> Vec<Time> {
    let found = words(text);
    let number = |at: usize, digits: Range<usize>| -> Option<i32> {
        let word = found.get(at)?;
        let plain = digits.contains(&word.text.len()) && word.text.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| word.text.parse().ok()).flatten()
    };
    let year = |at: usize| number(at, 4..5).filter(|year| (1900..2100).contains(year));
    // `2026-03` and `March, 2026`, but not `March. 2026`
    let gap = |at: usize| -> &str {
        let end = at.checked_sub(1).and_then(|before| found.get(before)).map_or(0, |word| word.span.end);
        found.get(at).and_then(|word| text.get(end..word.span.start)).unwrap_or_default()
    };
    let near = |at: usize| [" ", ", ", " of "].contains(&gap(at));
    // What follows a dash: `-03`
    let written = |at: usize, most: u8| -> Option<u8> {
        let number = number(at, 2..3).filter(|_| gap(at) == "-")?;
        u8::try_from(number).ok().filter(|number| (1..=most).contains(number))
    };
    let mut times: Vec<Time> = Vec::new();
    let mut at = 0;
    while let Some(word) = found.get(at) {
        let mut time = Time { span: word.span.clone(), year: None, quarter: None, month: None, day: None };
        let mut end = at + 1;
        if let Some(month) = month_number(&word.text) {
            time.month = Some(month);
            // `17 May`, `17th of May`
            let of = at > 0 && found.get(at - 1).is_some_and(|word| word.text == "of");
            let before = at.checked_sub(1 + usize::from(of)).filter(|_| near(at) || gap(at) == "-");
            let ahead = before.and_then(|before| Some((before, day(found.get(before)?)?)));
            if let Some((before, day)) = ahead {
                time.day = Some(day);
                time.span.start = found.get(before).map_or(time.span.start, |word| word.span.start);
            } else if near(end)
                && let Some(day) = found.get(end).and_then(day)
                && (year(end + 1).is_some()
                    || found.get(end).is_some_and(|word| word.text.ends_with(char::is_alphabetic)))
            {
                time.day = Some(day);
                end += 1;
            }
            if (near(end) || gap(end) == "-")
                && let Some(said) = year(end)
            {
                time.year = Some(said);
                end += 1;
            }
        } else if let (Some(said), Some(month)) = (year(at), written(end, 12)) {
            (time.year, time.month) = (Some(said), Some(month));
            end += 1;
            if let Some(day) = written(end, 31) {
                time.day = Some(day);
                end += 1;
            }
        } else if let Some(quarter) = quarter(&word.text) {
            time.quarter = Some(quarter);
            if near(end)
                && let Some(said) = year(end)
            {
                time.year = Some(said);
                end += 1;
            }
        } else if let Some(said) = year(at).filter(|_| opens_year(&found, at)) {
            time.year = Some(said);
        } else {
            at += 1;
            continue;
        }
        time.span.end = found.get(end - 1).map_or(time.span.end, |word| word.span.end);
        times.push(time);
        at = end;
    }
    times
}

fn opens_year(found: &[Word], at: usize) -> bool {
    const BEFORE: [&str; 17] = [
        "after", "and", "before", "between", "by", "during", "for", "from", "fy", "in", "of", "since",
        "through", "to", "until", "versus", "year",
    ];
    at.checked_sub(1)
        .and_then(|before| found.get(before))
        .is_some_and(|word| BEFORE.contains(&word.text.as_str()))
}

/// `17`, `17th`
fn day(word: &Word) -> Option<u8> {
    let digits = word.text.trim_end_matches(char::is_alphabetic);
    let tail = word.text.get(digits.len()..).unwrap_or_default();
    let number = digits.parse::<u8>().ok().filter(|day| (1..=31).contains(day))?;
    ["", "st", "nd", "rd", "th"].contains(&tail).then_some(number)
}

fn quarter(word: &str) -> Option<u8> {
    word.strip_prefix('q')?.parse().ok().filter(|quarter| (1..=4).contains(quarter))
}

impl Time {
    /// The days it means in a year.
    fn days(&self, year: i32) -> Option<Days> {
        let first = Date::new(year, 1, 1)?;
        Some(match (self.quarter, self.month, self.day) {
            (_, Some(month), Some(day)) => Days::day(Date::new(year, month, day)?),
            (_, Some(month), None) => Days::month(Date::new(year, month, 1)?),
            (Some(quarter), None, _) => Days::quarter(first.add_months(i32::from(quarter - 1) * 3)),
            (None, None, _) => Days::year(first),
        })
    }

    /// Whether it is all that the query keeps to of time.
    fn is_of(&self, query: &Query) -> bool {
        let lasts = |days: Days| query.lasts(Some(days.from), Some(days.until));
        match (self.year, self.month, self.day) {
            (Some(year), ..) => self.days(year).is_some_and(lasts),
            (None, Some(month), None) => query.keeps_to_month(month),
            (None, ..) => query.years().into_iter().filter_map(|year| self.days(year)).any(lasts),
        }
    }

    /// Whether the query has its year and its month somewhere.
    pub fn is_near(&self, query: &Query) -> bool {
        self.year.is_none_or(|year| query.years().contains(&year))
            && self.month.is_none_or(|month| query.has_month(month))
    }

    /// The year of a row that it fits.
    fn fits(&self, row: &[Option<String>], columns: &[Column], query: &Query) -> Option<Option<i32>> {
        let cells = || columns.iter().zip(row).filter_map(|(column, cell)| Some((column, cell.as_deref()?)));
        let same = |said: Option<i64>, has: i64| said.is_none_or(|said| said == has);
        let (year, month, day) =
            (self.year.map(i64::from), self.month.map(i64::from), self.day.map(i64::from));
        let of_date = |(column, cell): (&Column, &str)| {
            let found = date(cell)?;
            let unit = match column.part {
                Part::Period(unit) => unit,
                _ if cell.len() == 7 => Unit::Month,
                _ => Unit::Day,
            };
            let in_month = match unit {
                // `Apr–Jun 2026`
                Unit::Quarter => month.is_none_or(|month| {
                    [found.month(), found.month() + 2].contains(&u8::try_from(month).unwrap_or_default())
                }),
                Unit::Year => month.is_none(),
                _ => same(month, i64::from(found.month())),
            };
            let on_day = match unit {
                Unit::Day | Unit::Week => same(day, i64::from(found.day())),
                _ => day.is_none(),
            };
            let in_quarter = self.quarter.is_none_or(|quarter| quarter == found.quarter());
            (same(year, i64::from(found.year())) && in_month && on_day && in_quarter)
                .then(|| Some(found.year()))
        };
        if let Some(found) = cells().find_map(of_date) {
            return Some(found);
        }
        // Numbers of periods, each in a column of its own.
        let numbered = |unit: Unit, said: Option<i64>| {
            cells().any(|(column, cell)| {
                column.part == Part::Period(unit) && said.is_some() && cell.parse::<i64>().ok() == said
            })
        };
        let parts = [
            (Unit::Year, year),
            (Unit::Quarter, self.quarter.map(i64::from)),
            (Unit::Month, month),
            (Unit::Day, day),
        ];
        let by_query =
            |unit: Unit| unit == Unit::Year && self.year.is_some_and(|year| keeps_to_year(query, year));
        let fits = parts
            .iter()
            .filter(|(_, said)| said.is_some())
            .all(|(unit, said)| numbered(*unit, *said) || by_query(*unit));
        let some = parts.iter().any(|(unit, said)| numbered(*unit, *said));
        (fits && some).then_some(self.year)
    }

    /// Where it comes from.
    fn origin(&self, input: &AnswerInput, columns: &[Column], query: &Query) -> Origin {
        let fitting: Vec<(usize, Option<i32>)> = input
            .rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| Some((at, self.fits(row, columns, query)?)))
            .collect();
        let of_query = self.is_of(query);
        if fitting.is_empty() || (of_query && fitting.len() == input.rows.len()) {
            return if of_query { Origin::Query } else { Origin::Nowhere };
        }
        // Of two years' Marches nobody knows which is meant.
        let years: BTreeSet<Option<i32>> = fitting.iter().map(|(_, year)| *year).collect();
        if years.len() > 1 && self.year.is_none() {
            return if of_query { Origin::Query } else { Origin::Nowhere };
        }
        Origin::Rows(fitting.into_iter().map(|(at, _)| at).collect())
    }
}

fn keeps_to_year(query: &Query, year: i32) -> bool {
    Date::new(year, 1, 1).map(Days::year).is_some_and(|days| query.lasts(Some(days.from), Some(days.until)))
}

/// A phrase that names days: `from January to March 2026`, `after March`, `last month`.
struct Phrase {
    span: Range<usize>,
    /// Whether they are exactly the days that the query keeps to.
    kept: bool,
    /// Whether a time in it is not meant as it stands there: it is where the days begin or end.
    turned: bool,
}

/// Words before a time that make it the end of other days, or of all others.
const TURNING: [&str; 17] = [
    "after",
    "before",
    "beyond",
    "but",
    "by",
    "except",
    "excluding",
    "not",
    "onwards",
    "outside",
    "past",
    "since",
    "than",
    "through",
    "till",
    "until",
    "without",
];

impl Phrase {
    fn all(text: &str, input: &AnswerInput, query: &Query) -> Vec<Self> {
        const PLAIN: [&str; 11] =
            ["across", "at", "during", "for", "from", "in", "of", "on", "over", "throughout", "within"];
        let tokens = tokenize(text);
        let read = |found: &moments::Found| {
            let (first, last) = (tokens.get(found.first)?, tokens.get(found.end.checked_sub(1)?)?);
            let span = first.start..last.end;
            let inside: Vec<Time> = times(text)
                .into_iter()
                .filter(|time| span.start <= time.span.start && time.span.end <= span.end)
                .collect();
            let second = tokens.get(found.first + 1).map(|token| token.start);
            let plain = |time: &Time| {
                let led = PLAIN.contains(&first.lower.as_str()) && second == Some(time.span.start);
                (led || first.start == time.span.start) && time.span.end == span.end
            };
            let before = turns(text, &span);
            let kept = !before && query.lasts(found.period.from, found.period.until);
            let turned = before || !matches!(inside.as_slice(), [time] if plain(time));
            Some(Self { span, kept, turned })
        };
        moments::find(&tokens, &input.clock).iter().filter_map(read).collect()
    }
}

/// Whether the word before a time, but for an article, or one behind it makes another time of it: `by March`, `from March on`.
fn turns(text: &str, time: &Range<usize>) -> bool {
    const BEHIND: [&str; 9] =
        ["after", "before", "earlier", "forward", "forwards", "later", "on", "onward", "onwards"];
    let before = words(text.get(..time.start).unwrap_or_default());
    let word = before.iter().rev().find(|word| !["the", "year"].contains(&word.text.as_str()));
    let behind = words(text.get(time.end..).unwrap_or_default());
    let next = behind.iter().find(|word| !["and", "or"].contains(&word.text.as_str()));
    word.is_some_and(|word| TURNING.contains(&word.text.as_str()))
        || next.is_some_and(|word| BEHIND.contains(&word.text.as_str()))
}

/// The times of a text with their origins, and the phrases of it that name exactly the days which the query keeps to: `from
/// January to March 2026`, `last month`.
pub fn dated(
    text: &str,
    input: &AnswerInput,
    columns: &[Column],
    query: &Query,
) -> (Vec<(Time, Origin)>, Vec<Range<usize>>) {
    let phrases = Phrase::all(text, input, query);
    let found = times(text).into_iter().map(|time| {
        let phrase = phrases
            .iter()
            .find(|phrase| phrase.span.start <= time.span.start && time.span.end <= phrase.span.end);
        let kept = phrase.is_some_and(|phrase| phrase.kept);
        let turned = phrase.map_or_else(|| turns(text, &time.span), |phrase| phrase.turned);
        let origin = match time.origin(input, columns, query) {
            // A phrase of several times means all the days between them.
            Origin::Rows(rows) if kept && rows.len() == input.rows.len() => Origin::Query,
            Origin::Nowhere if kept => Origin::Query,
            // `After March` is another time than March.
            Origin::Query if turned && !kept => Origin::Nowhere,
            origin => origin,
        };
        (time, origin)
    });
    let found = found.collect();
    (found, phrases.into_iter().filter(|phrase| phrase.kept).map(|phrase| phrase.span).collect())
}

/// The name of a month in small letters.
pub fn is_month(word: &str) -> bool {
    MONTHS.iter().any(|month| month.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_their_parts() {
        let read = |text: &str| -> Vec<String> {
            let part = |value: Option<i32>| value.map_or("-".to_owned(), |value| value.to_string());
            times(text)
                .iter()
                .map(|time| {
                    let parts = [
                        time.year,
                        time.quarter.map(i32::from),
                        time.month.map(i32::from),
                        time.day.map(i32::from),
                    ];
                    format!("{} {}", text.get(time.span.clone()).unwrap(), parts.map(part).join(" "))
                })
                .collect()
        };
        for (text, want) in [
            ("In March, 400", &["March - - 3 -"][..]),
            ("in march 2026 400", &["march 2026 2026 - 3 -"]),
            ("from Jan to Mar 2026", &["Jan - - 1 -", "Mar 2026 2026 - 3 -"]),
            ("on 17 May 2026", &["17 May 2026 2026 - 5 17"]),
            ("on the 17th of May", &["17th of May - - 5 17"]),
            ("on May 17, 2026", &["May 17, 2026 2026 - 5 17"]),
            ("May 17 were sold", &["May - - 5 -"]),
            ("2026-03 and 2026-04-05", &["2026-03 2026 - 3 -", "2026-04-05 2026 - 4 5"]),
            ("Q2 2026, Q3", &["Q2 2026 2026 2 - -", "Q3 - 3 - -"]),
            ("in 2026 there were 2025 bills", &["2026 2026 - - -"]),
            ("1,200 of 2,000, 2026-42", &[]),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }
}
