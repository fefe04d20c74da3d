//! Moments that a question names: `in July 2026`, `last quarter`, `between 2023 and 2024`, resolved against the clock of the ask.

mod points;
use super::stems::number;
use super::tokens::{Token, TokenKind};
use crate::time::{Date, MONTHS, month_number};
use crate::{Clock, TimeRange};

/// A half-open period of days; a side that is absent is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// First day.
    pub from: Option<Date>,
    /// Day after the last.
    pub until: Option<Date>,
}

impl Period {
    fn closed(from: Date, until: Date) -> Self {
        Self { from: Some(from), until: Some(until) }
    }

    fn months(from: Date, count: i32) -> Self {
        Self::closed(from, from.add_months(count))
    }

    /// True when it is one or more whole calendar years, or open at year ends.
    pub fn whole_years(&self) -> bool {
        let start = |date: Option<Date>| date.is_none_or(|date| month_of(date) == 1 && day_of(date) == 1);
        start(self.from) && start(self.until)
    }
}

/// A time that the question names, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The days it means.
    pub period: Period,
    /// The words of the question.
    pub label: String,
    /// First token.
    pub first: usize,
    /// Token after the last.
    pub end: usize,
    /// What was taken for granted to resolve it, in one sentence.
    pub assumption: Option<String>,
}

impl Found {
    /// The range as the contract has it.
    pub fn range(&self) -> TimeRange {
        TimeRange {
            label: self.label.clone(),
            from: self.period.from.map(|date| date.to_string()),
            until: self.period.until.map(|date| date.to_string()),
        }
    }
}

/// Today on the calendar of the clock.
pub fn today(clock: &Clock) -> Date {
    Date::of(clock).unwrap_or(Date::from_days(0))
}

/// All times of a question in order; spans do not overlap.
pub fn find(tokens: &[Token], clock: &Clock) -> Vec<Found> {
    let reader =
        Reader { tokens, today: today(clock), fiscal: i32::from(clock.fiscal_year_start.clamp(1, 12)) };
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        match reader.expression(i) {
            Some((point, end)) => {
                let label: Vec<&str> =
                    tokens.get(i..end).unwrap_or_default().iter().map(|t| t.text.as_str()).collect();
                found.push(Found {
                    period: point.period,
                    label: label.join(" ").replace(" - ", "-").replace(" ,", ","),
                    first: i,
                    end,
                    assumption: point.assumption,
                });
                i = end;
            }
            None => i += 1,
        }
    }
    found
}

/// A resolved piece of time.
#[derive(Debug, Clone)]
struct Point {
    period: Period,
    /// The year was not said.
    guessed_year: bool,
    assumption: Option<String>,
}

impl Point {
    fn new(period: Period) -> Self {
        Self { period, guessed_year: false, assumption: None }
    }

    fn assuming(period: Period, assumption: String) -> Self {
        Self { period, guessed_year: false, assumption: Some(assumption) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Half,
    Year,
    FiscalYear,
}

struct Reader<'a> {
    tokens: &'a [Token],
    today: Date,
    fiscal: i32,
}

impl Reader<'_> {
    fn word(&self, i: usize) -> &str {
        self.tokens
            .get(i)
            .filter(|token| token.kind != TokenKind::Quoted)
            .map_or("", |token| token.lower.as_str())
    }

    fn before(&self, i: usize) -> &str {
        i.checked_sub(1).map_or("", |i| self.word(i))
    }

    fn any(&self, i: usize, words: &[&str]) -> bool {
        words.contains(&self.word(i))
    }

    /// Skips one of the words if it is there.
    fn skip(&self, i: usize, words: &[&str]) -> usize {
        if self.any(i, words) { i + 1 } else { i }
    }

    fn integer(&self, i: usize) -> Option<i32> {
        let token = self.tokens.get(i).filter(|token| token.kind == TokenKind::Number)?;
        token.text.parse().ok()
    }

    /// A count of units in digits or words.
    fn count(&self, i: usize) -> Option<i32> {
        let value = number(self.word(i))?;
        // Larger counts than this are no window of time.
        (value.fract() == 0.0 && (1.0..=5_000.0).contains(&value)).then_some(value as i32)
    }

    /// A whole expression with the preposition that belongs to it.
    fn expression(&self, i: usize) -> Option<(Point, usize)> {
        self.spanning(i).or_else(|| self.bounded(i)).or_else(|| {
            let lead = match self.word(i) {
                "in" | "during" | "on" | "for" | "within" | "over" | "of" | "from" | "at" | "throughout"
                | "across" => i + 1,
                _ => i,
            };
            let (point, end) = self.to_date(lead).or_else(|| self.point(lead, lead > i))?;
            Some((point, self.skip(end, &[])))
        })
    }

    /// `between X and Y`, `from X to Y`, `X to Y`.
    fn spanning(&self, i: usize) -> Option<(Point, usize)> {
        let (start, joins): (usize, &[&str]) = match self.word(i) {
            "between" => (i + 1, &["and"]),
            "from" | "in" | "during" | "for" => (i + 1, &["to", "until", "till", "through", "-", "thru"]),
            _ => (i, &["to", "until", "till", "through", "thru"]),
        };
        let led = start > i;
        let (mut first, middle) = self.point(start, led)?;
        let middle = self.skip(middle, &[","]);
        if !self.any(middle, joins) {
            return None;
        }
        // `from 2023 to now`, `till date`: until today.
        if self.any(middle + 1, &["now", "today", "date", "present"]) {
            let period = Period { from: first.period.from, until: Some(self.today.add_days(1)) };
            return Some((Point { period, ..first }, middle + 2));
        }
        let (second, end) = self.point(middle + 1, true)?;
        if first.guessed_year && !second.guessed_year {
            let (from, until) = (first.period.from?, second.period.from?);
            let year = if month_of(from) > month_of(until) { year_of(until) - 1 } else { year_of(until) };
            let moved = civil(year, month_of(from), day_of(from));
            first = Point::new(Period::closed(moved, moved));
        }
        let (from, until) = (first.period.from?, second.period.until?);
        if from >= until {
            return None;
        }
        let mut point = Point::new(Period::closed(from, until));
        point.assumption = second.assumption.or(first.assumption);
        let end = if self.word(end) == "(" && self.word(end + 1) == "inclusive" {
            self.after_parenthesis(end)
        } else {
            end
        };
        Some((point, end))
    }

    fn after_parenthesis(&self, i: usize) -> usize {
        (i..self.tokens.len().min(i + 12)).find(|j| self.word(*j) == ")").map_or(i, |j| j + 1)
    }

    /// `since X`, `after X`, `before X`, `until X`, `on or after X`.
    fn bounded(&self, i: usize) -> Option<(Point, usize)> {
        let phrase =
            |words: &[&str]| words.iter().enumerate().all(|(step, word)| self.word(i + step) == *word);
        #[derive(Clone, Copy)]
        enum Side {
            From,
            After,
            Before,
            Until,
        }
        let leads: &[(&[&str], Side)] = &[
            (&["on", "or", "after"], Side::From),
            (&["on", "or", "before"], Side::Until),
            (&["prior", "to"], Side::Before),
            (&["starting", "from"], Side::From),
            (&["starting", "in"], Side::From),
            (&["up", "to"], Side::Until),
            (&["since"], Side::From),
            (&["after"], Side::After),
            (&["before"], Side::Before),
            (&["until"], Side::Until),
            (&["till"], Side::Until),
            (&["through"], Side::Until),
            (&["later", "than"], Side::After),
            (&["earlier", "than"], Side::Before),
            (&["as", "of"], Side::Until),
            (&["by", "the", "end", "of"], Side::Until),
            (&["up", "until"], Side::Until),
        ];
        let (words, side) = leads.iter().find(|(words, _)| phrase(words))?;
        let (mut point, end) = self.point(i + words.len(), true)?;
        let Period { from, until } = point.period;
        point.period = match side {
            Side::From => Period { from, until: None },
            Side::After => Period { from: until, until: None },
            Side::Before => Period { from: None, until: from },
            Side::Until => Period { from: None, until },
        };
        Some((point, end))
    }

    /// `year to date`, `YTD`, `so far this year`.
    fn to_date(&self, i: usize) -> Option<(Point, usize)> {
        let at = self.skip(i, &["the"]);
        let (unit, end) = match (self.word(at), self.word(at + 1), self.word(at + 2), self.word(at + 3)) {
            ("ytd", ..) => (Unit::Year, at + 1),
            ("mtd", ..) => (Unit::Month, at + 1),
            ("qtd", ..) => (Unit::Quarter, at + 1),
            (unit, "to", "date", _) => (unit_of(unit)?, at + 3),
            (unit, "-", "to", "-") if self.word(at + 4) == "date" => (unit_of(unit)?, at + 5),
            ("so", "far", "this", unit) => (unit_of(unit)?, at + 4),
            ("this", unit, "so", "far") => (unit_of(unit)?, at + 4),
            _ => return None,
        };
        let start = self.unit_start(unit, self.today);
        Some((Point::new(Period::closed(start, self.today.add_days(1))), end))
    }

    fn back(&self, unit: Unit, count: i32) -> Date {
        match unit {
            Unit::Day => self.today.add_days(-i64::from(count)),
            Unit::Week => self.today.add_days(-7 * i64::from(count)),
            Unit::Month => self.today.add_months(-count),
            Unit::Quarter => self.today.add_months(-3 * count),
            Unit::Half => self.today.add_months(-6 * count),
            Unit::Year | Unit::FiscalYear => self.today.add_months(-12 * count),
        }
    }

    fn unit_start(&self, unit: Unit, date: Date) -> Date {
        match unit {
            Unit::Day => date,
            Unit::Week => date.add_days(1 - i64::from(date.weekday())),
            Unit::Month => civil(year_of(date), month_of(date), 1),
            Unit::Quarter => civil(year_of(date), (month_of(date) - 1) / 3 * 3 + 1, 1),
            Unit::Half => civil(year_of(date), (month_of(date) - 1) / 6 * 6 + 1, 1),
            Unit::Year => civil(year_of(date), 1, 1),
            Unit::FiscalYear => {
                civil(year_of(date) - i32::from(month_of(date) < self.fiscal), self.fiscal, 1)
            }
        }
    }

    fn unit_period(&self, unit: Unit, start: Date) -> Period {
        match unit {
            Unit::Day => Period::closed(start, start.add_days(1)),
            Unit::Week => Period::closed(start, start.add_days(7)),
            Unit::Month => Period::months(start, 1),
            Unit::Quarter => Period::months(start, 3),
            Unit::Half => Period::months(start, 6),
            Unit::Year | Unit::FiscalYear => Period::months(start, 12),
        }
    }
}

/// A day whose parts are known to be sound; the calendar's own check is in [`checked`].
fn civil(year: i32, month: i32, day: i32) -> Date {
    checked(year, month, day).unwrap_or(Date::from_days(0))
}

fn checked(year: i32, month: i32, day: i32) -> Option<Date> {
    Date::new(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
}

fn year_of(date: Date) -> i32 {
    date.year()
}

fn month_of(date: Date) -> i32 {
    i32::from(date.month())
}

fn day_of(date: Date) -> i32 {
    i32::from(date.day())
}

fn unit_of(word: &str) -> Option<Unit> {
    Some(match word {
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "month" | "months" => Unit::Month,
        "quarter" | "quarters" => Unit::Quarter,
        "half" | "halves" => Unit::Half,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
