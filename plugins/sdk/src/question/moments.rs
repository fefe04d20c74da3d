//! Moments that a question names: `in July 2026`, `last quarter`, `between 2023 and 2024`, resolved against the clock of the ask.

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

    /// One piece of time. `led` when a word before it, such as `in`, says that time follows.
    fn point(&self, i: usize, led: bool) -> Option<(Point, usize)> {
        let at = self.skip(i, &["the"]);
        let at = if !matches!(self.before(at), "each" | "every" | "per" | "by")
            && self.any(at, &["month", "year", "whole"])
            && self.word(at + 1) == "of"
        {
            at + 2
        } else {
            at
        };
        let at = self.skip(at, &["the"]);
        self.relative(at)
            .or_else(|| self.iso_date(at))
            .or_else(|| self.month_name(at, led))
            .or_else(|| self.day_first(at))
            .or_else(|| self.part_of_year(at))
            .or_else(|| self.fiscal_year(at))
            .or_else(|| self.plain_year(at, led || at > i))
    }

    fn relative(&self, i: usize) -> Option<(Point, usize)> {
        let day = |days: i64, end: usize| {
            let date = self.today.add_days(days);
            Some((Point::new(Period::closed(date, date.add_days(1))), end))
        };
        match self.word(i) {
            "today" => return day(0, i + 1),
            "yesterday" => return day(-1, i + 1),
            "tomorrow" => return day(1, i + 1),
            _ => {}
        }
        if let Some(count) = self.count(i)
            && let Some(unit) = unit_of(self.word(i + 1))
            && self.word(i + 2) == "ago"
        {
            let start = self.unit_start(unit, self.back(unit, count));
            return Some((Point::new(self.unit_period(unit, start)), i + 3));
        }
        let back = match self.word(i) {
            "this" | "current" => 0,
            "last" | "previous" | "past" | "prior" => 1,
            "trailing" | "rolling" => 2,
            "next" => -1,
            _ => return None,
        };
        let at = self.skip(i + 1, &["full", "whole", "complete", "calendar"]);
        let calendar = at > i + 1;
        if back > 0
            && let Some(count) = self.count(at)
        {
            let after = self.skip(at + 1, &["full", "whole", "complete", "calendar"]);
            let unit = unit_of(self.word(after))?;
            return Some(self.window(unit, count, calendar || after > at + 1, after + 1));
        }
        if self.any(at, &["fiscal", "financial"]) && self.word(at + 1) == "year" {
            let start = self.unit_start(Unit::FiscalYear, self.today.add_months(-12 * back.min(1)));
            return Some((Point::new(self.unit_period(Unit::FiscalYear, start)), at + 2));
        }
        let unit = unit_of(self.word(at))
            .filter(|_| self.tokens.get(at).is_some_and(|token| !token.lower.ends_with('s')))?;
        if back == 2 {
            return Some(self.window(unit, 1, false, at + 1));
        }
        let start = self.unit_start(unit, self.back(unit, back));
        Some((Point::new(self.unit_period(unit, start)), at + 1))
    }

    /// `last 30 days`: a rolling window that ends today, or whole units before the current one.
    fn window(&self, unit: Unit, count: i32, calendar: bool, end: usize) -> (Point, usize) {
        let excluding = ["excluding", "not", "exclusive", "without"];
        let open = self.skip(end, &["(", ","]);
        let excluded = (open..open + 6).any(|j| self.any(j, &excluding))
            && (open..open + 8).any(|j| self.word(j) == "current" || self.word(j) == "this");
        if calendar || excluded {
            let until = self.unit_start(unit, self.today);
            let from = self.unit_start(unit, self.back(unit, count));
            let end = if excluded { self.after_exclusion(open) } else { end };
            return (Point::new(Period::closed(from, until)), end);
        }
        let from = self.back(unit, count);
        let until = self.today.add_days(1);
        // `inclusive of today` makes the seven days end with this one.
        if let Some((today, end)) = self.inclusive(open) {
            let from = if today && unit == Unit::Day { from.add_days(1) } else { from };
            return (Point::new(Period::closed(from, until)), end);
        }
        let text = format!("The window is {} to {}, today included.", from, self.today);
        (Point::assuming(Period::closed(from, until), text), end)
    }

    /// `inclusive of today` (true) or `inclusive of 30 days ago` (false), and the token after it.
    fn inclusive(&self, i: usize) -> Option<(bool, usize)> {
        if !matches!((self.word(i), self.word(i + 1)), ("inclusive", "of") | ("including", _)) {
            return None;
        }
        let at = if self.word(i + 1) == "of" { i + 2 } else { i + 1 };
        let (today, end) = if self.word(at) == "today" {
            (true, if self.word(at + 1) == "date" { at + 2 } else { at + 1 })
        } else if self.count(at).is_some() && self.word(at + 2) == "ago" {
            (false, at + 3)
        } else {
            return None;
        };
        Some((today, self.skip(end, &[")"])))
    }

    /// The token after `(not including the current month)`.
    fn after_exclusion(&self, from: usize) -> usize {
        let last = (from..(from + 10).min(self.tokens.len())).find(|j| unit_of(self.word(*j)).is_some());
        last.map_or(from, |last| self.skip(last + 1, &[")"]))
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

    fn year(&self, i: usize) -> Option<i32> {
        let token = self.tokens.get(i)?;
        (token.kind == TokenKind::Number && token.text.len() == 4)
            .then(|| token.text.parse().ok())
            .flatten()
            .filter(|year| (1900..=2100).contains(year))
    }

    /// `2026-07-01`, `2026-07`.
    fn iso_date(&self, i: usize) -> Option<(Point, usize)> {
        let year = self.year(i)?;
        if self.word(i + 1) != "-" {
            return None;
        }
        let month = self.integer(i + 2).filter(|month| (1..=12).contains(month))?;
        if self.word(i + 3) == "-"
            && let Some(day) = self.integer(i + 4)
        {
            let date = checked(year, month, day)?;
            return Some((Point::new(Period::closed(date, date.add_days(1))), i + 5));
        }
        Some((Point::new(Period::months(civil(year, month, 1), 1)), i + 3))
    }

    fn month_at(&self, i: usize) -> Option<i32> {
        let word = self.word(i);
        if word.len() < 3 {
            return None;
        }
        month_number(word).map(i32::from)
    }

    /// `July 2026`, `July 4, 2026`, `July`.
    fn month_name(&self, i: usize, led: bool) -> Option<(Point, usize)> {
        let month = self.month_at(i)?;
        let after = self.skip(i + 1, &["."]);
        if let Some(day) = self.day_of_month(after) {
            let comma = self.skip(after + 1, &[","]);
            let (year, end) = match self.year(comma) {
                Some(year) => (Some(year), comma + 1),
                None => (None, after + 1),
            };
            return self.date(year, month, day, end);
        }
        let next = self.skip(after, &[",", "of", "in", "-"]);
        if let Some(year) = self.year(next) {
            return Some((Point::new(Period::months(civil(year, month, 1), 1)), next + 1));
        }
        // `may` and `march` are words of their own.
        if matches!(self.word(i), "may" | "march" | "mar" | "sat") && !led {
            return None;
        }
        let year = year_of(self.today) - i32::from(month > month_of(self.today));
        let start = civil(year, month, 1);
        let name = MONTHS.get(usize::try_from(month - 1).ok()?)?;
        let text = format!("No year was named for {name}; the latest one, {year}, is meant.");
        Some((Point { period: Period::months(start, 1), guessed_year: true, assumption: Some(text) }, i + 1))
    }

    fn date(&self, year: Option<i32>, month: i32, day: i32, end: usize) -> Option<(Point, usize)> {
        let guessed = year.is_none();
        let year = year.unwrap_or_else(|| {
            year_of(self.today) - i32::from((month, day) > (month_of(self.today), day_of(self.today)))
        });
        let date = checked(year, month, day)?;
        let assumption = guessed.then(|| format!("No year was named; {} is meant.", date));
        Some((
            Point { period: Period::closed(date, date.add_days(1)), guessed_year: guessed, assumption },
            end,
        ))
    }

    /// `4`, `4th`.
    fn day_of_month(&self, i: usize) -> Option<i32> {
        let token =
            self.tokens.get(i).filter(|token| matches!(token.kind, TokenKind::Number | TokenKind::Word))?;
        let digits = ["st", "nd", "rd", "th"]
            .iter()
            .find_map(|suffix| token.lower.strip_suffix(suffix))
            .unwrap_or(&token.lower);
        if digits.len() > 2 {
            return None;
        }
        digits.parse().ok().filter(|day| (1..=31).contains(day))
    }

    /// `4 July 2026`, `1st of April`.
    fn day_first(&self, i: usize) -> Option<(Point, usize)> {
        let day = self.day_of_month(i)?;
        let at = self.skip(i + 1, &["of"]);
        let month = self.month_at(at)?;
        let comma = self.skip(at + 1, &[","]);
        match self.year(comma) {
            Some(year) => self.date(Some(year), month, day, comma + 1),
            None => self.date(None, month, day, at + 1),
        }
    }

    /// `Q1 2023`, `first quarter of 2023`, `H2 2024`, `second half of last year`.
    fn part_of_year(&self, i: usize) -> Option<(Point, usize)> {
        let (size, index, end) = match self.word(i) {
            "q1" | "q2" | "q3" | "q4" => (3, self.word(i).chars().nth(1)?.to_digit(10)?, i + 1),
            "h1" | "h2" => (6, self.word(i).chars().nth(1)?.to_digit(10)?, i + 1),
            "quarter" => (3, u32::try_from(self.integer(i + 1)?).ok()?, i + 2),
            word => {
                let index = match word {
                    "first" | "1st" => 1,
                    "second" | "2nd" => 2,
                    "third" | "3rd" => 3,
                    "fourth" | "4th" => 4,
                    _ => return None,
                };
                match self.word(i + 1) {
                    "quarter" => (3, index, i + 2),
                    "half" => (6, index, i + 2),
                    _ => return None,
                }
            }
        };
        let index = i32::try_from(index).ok().filter(|index| (1..=12 / size).contains(index))?;
        let mut next = end;
        for _ in 0..3 {
            next = self.skip(next, &["of", "in", "the", "year", ",", "for"]);
        }
        let (year, end, assumption) = if let Some(year) = self.year(next) {
            (year, next + 1, None)
        } else if matches!((self.word(next), self.word(next + 1)), ("this" | "current", "year")) {
            (year_of(self.today), next + 2, None)
        } else if matches!((self.word(next), self.word(next + 1)), ("last" | "previous", "year")) {
            (year_of(self.today) - 1, next + 2, None)
        } else {
            let year = year_of(self.today) - i32::from((index - 1) * size + 1 > month_of(self.today));
            (year, end, Some(format!("No year was named; the latest one, {year}, is meant.")))
        };
        let guessed_year = assumption.is_some();
        let period = Period::months(civil(year, (index - 1) * size + 1, 1), size);
        Some((Point { period, guessed_year, assumption }, end))
    }

    /// `fiscal year 2025`, `FY2025`, `FY25`.
    fn fiscal_year(&self, i: usize) -> Option<(Point, usize)> {
        let (year, end) = match self.word(i) {
            "fiscal" | "financial" if self.word(i + 1) == "year" => (self.year(i + 2)?, i + 3),
            "fy" => match self.year(i + 1) {
                Some(year) => (year, i + 2),
                None => (2000 + self.integer(i + 1).filter(|year| (0..100).contains(year))?, i + 2),
            },
            word => match word.strip_prefix("fy")?.parse::<i32>().ok()? {
                year @ 0..100 => (2000 + year, i + 1),
                year @ 1900..=2100 => (year, i + 1),
                _ => return None,
            },
        };
        let end = if self.any(end, &["-", "/"]) && self.integer(end + 1).is_some() { end + 2 } else { end };
        let start = civil(year, self.fiscal, 1);
        let text = format!("Fiscal year {year} is the one that begins on {}.", start);
        Some((Point::assuming(Period::months(start, 12), text), end))
    }

    fn plain_year(&self, i: usize, led: bool) -> Option<(Point, usize)> {
        let named = self.word(i) == "year" && self.year(i + 1).is_some();
        let at = if named { i + 1 } else { i };
        let year = self.year(at)?;
        // `between 1000 and 2000` are numbers.
        let number = |back: usize| {
            at.checked_sub(back).is_some_and(|at| self.integer(at).is_some() && self.year(at).is_none())
        };
        if self.before(at) == "and" && number(2) {
            return None;
        }
        let compared = [
            "than", "over", "above", "below", "under", "least", "most", "exactly", ">", "<", ">=", "<=", "=",
            "id", "number", "top", "code", "equals",
        ];
        let settled = led
            || named
            || at == 0
            || at + 1 >= self.tokens.len()
            || self.tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Mark)
            || self.any(at.wrapping_sub(1), &["and", "vs", "versus", "to", ","]);
        (settled && !compared.contains(&self.before(at)))
            .then(|| (Point::new(Period::months(civil(year, 1, 1), 12)), at + 1))
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
mod tests {
    use super::*;
    use crate::CivilTime;
    use crate::question::tokens::tokenize;

    fn clock() -> Clock {
        Clock {
            now: "2026-08-20T06:00:00Z".into(),
            time_zone: "Asia/Kolkata".into(),
            local: CivilTime { year: 2026, month: 8, day: 20, hour: 11, minute: 30, second: 0, weekday: 4 },
            fiscal_year_start: 4,
        }
    }

    fn read(question: &str) -> String {
        let days = |date: Option<Date>| date.map_or("..".to_owned(), |date| date.to_string());
        find(&tokenize(question), &clock())
            .iter()
            .map(|found| format!("{} {}", days(found.period.from), days(found.period.until)))
            .collect::<Vec<_>>()
            .join(" | ")
    }

    #[test]
    fn times_resolve_against_the_clock() {
        for (question, want) in [
            ("How many bills were raised in July 2026?", "2026-07-01 2026-08-01"),
            ("July 2026 - number of bills?", "2026-07-01 2026-08-01"),
            ("total revenue in 2023", "2023-01-01 2024-01-01"),
            ("For the year 2023, how much", "2023-01-01 2024-01-01"),
            ("sales last month", "2026-07-01 2026-08-01"),
            ("sales last quarter", "2026-04-01 2026-07-01"),
            ("sales this year", "2026-01-01 2027-01-01"),
            ("sales YTD", "2026-01-01 2026-08-21"),
            ("sales year to date", "2026-01-01 2026-08-21"),
            ("trailing twelve months of revenue", "2025-08-20 2026-08-21"),
            ("yesterday", "2026-08-19 2026-08-20"),
            ("between March and May 2025", "2025-03-01 2025-06-01"),
            ("from Jan 1, 2023 to Mar 31, 2023", "2023-01-01 2023-04-01"),
            ("between 2023-04-01 and 2023-04-03", "2023-04-01 2023-04-04"),
            ("since March", "2026-03-01 .."),
            ("after 2022", "2023-01-01 .."),
            ("before 4 July 2024", ".. 2024-07-04"),
            ("on or after Apr 1, 2023", "2023-04-01 .."),
            ("this fiscal year", "2026-04-01 2027-04-01"),
            ("last fiscal year", "2025-04-01 2026-04-01"),
            ("FY25", "2025-04-01 2026-04-01"),
            ("in the 1st quarter of 2023", "2023-01-01 2023-04-01"),
            ("in Q4", "2025-10-01 2026-01-01"),
            ("in the past 30 days", "2026-07-21 2026-08-21"),
            ("last 3 calendar months", "2026-05-01 2026-08-01"),
            ("last week", "2026-08-10 2026-08-17"),
            ("in December", "2025-12-01 2026-01-01"),
            ("the past 7 days, inclusive of today", "2026-08-14 2026-08-21"),
            ("in the past 30 days, inclusive of 30 days ago?", "2026-07-21 2026-08-21"),
            ("two months ago", "2026-06-01 2026-07-01"),
            ("2024 versus 2025", "2024-01-01 2025-01-01 | 2025-01-01 2026-01-01"),
            ("in the first half of last year", "2025-01-01 2025-07-01"),
            ("the last 10 calendar months (not including the current month)", "2025-10-01 2026-08-01"),
        ] {
            assert_eq!(read(question), want, "{question}");
        }
    }

    #[test]
    fn other_numbers_and_words_are_no_times() {
        for question in [
            "more than 2000 points",
            "students who may drop",
            "the last customer",
            "top 5 products",
            "products over 1990 rupees",
            "the most recent order",
            "\"1984\"",
            "with 2020 members or more",
        ] {
            assert_eq!(read(question), "", "{question}");
        }
    }
}
