//! One piece of time: a date, a month, a quarter, a year, or one told from today.

use super::*;

impl Reader<'_> {
    /// One piece of time. `led` when a word before it, such as `in`, says that time follows.
    pub(super) fn point(&self, i: usize, led: bool) -> Option<(Point, usize)> {
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
            .or_else(|| self.slashed(at))
            .or_else(|| self.month_name(at, led))
            .or_else(|| self.day_first(at))
            .or_else(|| self.part_of_year(at))
            .or_else(|| self.fiscal_year(at))
            .or_else(|| self.plain_year(at, led || at > i))
    }

    pub(super) fn relative(&self, i: usize) -> Option<(Point, usize)> {
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
        // `the past year` ends today, `last year` with December.
        if back == 2 || self.word(i) == "past" {
            return Some(self.window(unit, 1, false, at + 1));
        }
        let start = self.unit_start(unit, self.back(unit, back));
        // `last week (exclusive of the current week)` says what it means anyway.
        let told = back > 0
            && self.word(at + 1) == "("
            && matches!(self.word(at + 2), "exclusive" | "excluding" | "not")
            && (at + 3..at + 7).any(|j| matches!(self.word(j), "current" | "this"));
        let end = if told { self.after_exclusion(at + 2) } else { at + 1 };
        Some((Point::new(self.unit_period(unit, start)), end))
    }

    /// `last 30 days`: a rolling window that ends today, or whole units before the current one.
    pub(super) fn window(&self, unit: Unit, count: i32, calendar: bool, end: usize) -> (Point, usize) {
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
        let exact = matches!(unit, Unit::Day | Unit::Week);
        // `inclusive of today` makes the seven days end with this one.
        if let Some((today, end)) = self.inclusive(open) {
            let from = if today && exact { from.add_days(1) } else { from };
            return (Point::new(Period::closed(from, until)), end);
        }
        // Thirty days are thirty, this one among them.
        let from = if exact { from.add_days(1) } else { from };
        let text = format!("The window is {} to {}, today included.", from, self.today);
        (Point::assuming(Period::closed(from, until), text), end)
    }

    /// `inclusive of today` (true) or `inclusive of 30 days ago` (false), and the token after it.
    pub(super) fn inclusive(&self, i: usize) -> Option<(bool, usize)> {
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
    pub(super) fn after_exclusion(&self, from: usize) -> usize {
        let last = (from..(from + 10).min(self.tokens.len())).find(|j| unit_of(self.word(*j)).is_some());
        last.map_or(from, |last| self.skip(last + 1, &[")"]))
    }

    pub(super) fn year(&self, i: usize) -> Option<i32> {
        let token = self.tokens.get(i)?;
        (token.kind == TokenKind::Number && token.text.len() == 4)
            .then(|| token.text.parse().ok())
            .flatten()
            .filter(|year| (1900..=2100).contains(year))
    }

    /// `2026-07-01`, `2026-07`.
    pub(super) fn iso_date(&self, i: usize) -> Option<(Point, usize)> {
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

    /// `15/07/2026`, `07/2026`. Of two numbers that could both be months the first is the day, as outside of America.
    pub(super) fn slashed(&self, i: usize) -> Option<(Point, usize)> {
        let mark = self.word(i + 1);
        if !matches!(mark, "/" | "-") {
            return None;
        }
        let first = self.integer(i).filter(|number| (1..=31).contains(number))?;
        if let Some(year) = self.year(i + 2).filter(|_| mark == "/") {
            let month = (first <= 12).then_some(first)?;
            return Some((Point::new(Period::months(civil(year, month, 1), 1)), i + 3));
        }
        let second = self.integer(i + 2).filter(|number| (1..=31).contains(number))?;
        if self.word(i + 3) != mark {
            return None;
        }
        let year = self.year(i + 4)?;
        let (day, month) = if second > 12 { (second, first) } else { (first, second) };
        let date = checked(year, month, day)?;
        let period = Period::closed(date, date.add_days(1));
        if first > 12 || second > 12 || first == second {
            return Some((Point::new(period), i + 5));
        }
        Some((Point::assuming(period, format!("The date was read as day, month, year: {date}.")), i + 5))
    }

    pub(super) fn month_at(&self, i: usize) -> Option<i32> {
        let word = self.word(i);
        if word.len() < 3 {
            return None;
        }
        month_number(word).map(i32::from)
    }

    /// `July 2026`, `July 4, 2026`, `July`.
    pub(super) fn month_name(&self, i: usize, led: bool) -> Option<(Point, usize)> {
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

    pub(super) fn date(&self, year: Option<i32>, month: i32, day: i32, end: usize) -> Option<(Point, usize)> {
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
    pub(super) fn day_of_month(&self, i: usize) -> Option<i32> {
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
    pub(super) fn day_first(&self, i: usize) -> Option<(Point, usize)> {
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
    pub(super) fn part_of_year(&self, i: usize) -> Option<(Point, usize)> {
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
        // `Q1 FY 2026-27`: a quarter of the fiscal year.
        if let Some((fiscal, end)) = self.fiscal_year(next).or_else(|| self.relative_fiscal(next)) {
            let start = fiscal.period.from?.add_months((index - 1) * size);
            let told = fiscal.assumption.unwrap_or_else(|| "The fiscal year is meant.".into());
            return Some((Point::assuming(Period::months(start, size), told), end));
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

    /// `this fiscal year` behind a quarter.
    fn relative_fiscal(&self, i: usize) -> Option<(Point, usize)> {
        let told = matches!(self.word(i), "this" | "current" | "last" | "previous")
            && self.any(i + 1, &["fiscal", "financial"]);
        self.relative(i).filter(|_| told)
    }

    /// `2025-26`: the second number is the year after the first.
    fn two_years(&self, i: usize) -> Option<(i32, usize)> {
        let year = self.year(i)?;
        let next = self.integer(i + 2).filter(|_| self.any(i + 1, &["-", "/"]))?;
        (next > 12 && (next == (year + 1) % 100 || next == year + 1)).then_some((year, i + 3))
    }

    /// `fiscal year 2025`, `FY2025`, `FY25`, `2025-26`.
    pub(super) fn fiscal_year(&self, i: usize) -> Option<(Point, usize)> {
        let (year, end) = match self.word(i) {
            _ if self.two_years(i).is_some() => self.two_years(i)?,
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

    pub(super) fn plain_year(&self, i: usize, led: bool) -> Option<(Point, usize)> {
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
            // `show me 2026 revenue`; `give me 2000 rows` is a number of things.
            || (self.any(at.wrapping_sub(1), &["me", "our"])
                && (!self.word(at + 1).ends_with('s') || self.word(at + 1) == "sales"))
            || self.tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Mark)
            || self.any(at.wrapping_sub(1), &["and", "vs", "versus", "to", ","]);
        (settled && !compared.contains(&self.before(at)))
            .then(|| (Point::new(Period::months(civil(year, 1, 1), 12)), at + 1))
    }
}
