//! Arithmetic on civil dates: months, quarters, weeks and fiscal years as half-open ranges.

use std::fmt;

use crate::contract::types::{Clock, TimeRange};

/// English month names, January first.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A day of the proleptic Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i32,
    month: u8,
    day: u8,
}

impl Date {
    /// The day, if the calendar has it. Years from -9999 to 9999.
    #[must_use]
    pub fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let known = (-9999..=9999).contains(&year) && (1..=12).contains(&month);
        (known && day >= 1 && day <= days_in_month(year, month)).then_some(Self { year, month, day })
    }

    /// The day of the ask on the domain's calendar.
    #[must_use]
    pub fn of(clock: &Clock) -> Option<Self> {
        Self::new(i32::from(clock.local.year), clock.local.month, clock.local.day)
    }

    /// Reads `YYYY-MM-DD`, with or without a time behind it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let date = text.split(['T', ' ']).next()?;
        let mut parts = date.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || year.len() != 4 || month.len() != 2 || day.len() != 2 {
            return None;
        }
        Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.year
    }

    /// The month, 1 to 12.
    #[must_use]
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month.
    #[must_use]
    pub fn day(self) -> u8 {
        self.day
    }

    /// The quarter of the calendar year, 1 to 4.
    #[must_use]
    pub fn quarter(self) -> u8 {
        (self.month - 1) / 3 + 1
    }

    /// 1 is Monday, 7 is Sunday.
    #[must_use]
    pub fn weekday(self) -> u8 {
        // 1970-01-01 was a Thursday.
        (self.days() + 3).rem_euclid(7) as u8 + 1
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn days(self) -> i64 {
        let year = i64::from(self.year) - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month = (i64::from(self.month) + 9) % 12;
        let day_of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
    }

    /// The day that lies `days` after 1970-01-01; the calendar's ends are not crossed.
    #[must_use]
    pub fn from_days(days: i64) -> Self {
        let days = days.clamp(FIRST.days(), LAST.days()) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * month + 2) / 5 + 1) as u8;
        let month = if month < 10 { month + 3 } else { month - 9 } as u8;
        let year = (year_of_era + era * 400 + i64::from(month <= 2)) as i32;
        Self { year, month, day }
    }

    /// This many days later, or earlier when negative.
    #[must_use]
    pub fn add_days(self, days: i64) -> Self {
        Self::from_days(self.days().saturating_add(days))
    }

    /// This many months later, or earlier when negative; the 31st becomes the month's last day where it must.
    #[must_use]
    pub fn add_months(self, months: i32) -> Self {
        let count = i64::from(self.year) * 12 + i64::from(self.month) - 1 + i64::from(months);
        let year = count.div_euclid(12).clamp(-9999, 9999) as i32;
        let month = count.rem_euclid(12) as u8 + 1;
        Self { year, month, day: self.day.min(days_in_month(year, month)) }
    }

    /// The first day of the month.
    #[must_use]
    pub fn first_of_month(self) -> Self {
        Self { day: 1, ..self }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

const FIRST: Date = Date { year: -9999, month: 1, day: 1 };
const LAST: Date = Date { year: 9999, month: 12, day: 31 };

/// Days `[from, until)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// The first day.
    pub from: Date,
    /// The day after the last one.
    pub until: Date,
}

impl Days {
    /// One day.
    #[must_use]
    pub fn day(date: Date) -> Self {
        Self { from: date, until: date.add_days(1) }
    }

    /// The week from Monday to Sunday around a day.
    #[must_use]
    pub fn week(date: Date) -> Self {
        let from = date.add_days(1 - i64::from(date.weekday()));
        Self { from, until: from.add_days(7) }
    }

    /// The month around a day.
    #[must_use]
    pub fn month(date: Date) -> Self {
        Self::months(date.first_of_month(), 1)
    }

    /// The quarter of the calendar year around a day.
    #[must_use]
    pub fn quarter(date: Date) -> Self {
        Self::months(Date { month: (date.quarter() - 1) * 3 + 1, day: 1, ..date }, 3)
    }

    /// The calendar year around a day.
    #[must_use]
    pub fn year(date: Date) -> Self {
        Self::months(Date { month: 1, day: 1, ..date }, 12)
    }

    /// The fiscal year around a day, when one begins in month `start` (1 to 12).
    #[must_use]
    pub fn fiscal_year(date: Date, start: u8) -> Self {
        let start = start.clamp(1, 12);
        let begun = date.month >= start;
        let from = Date { month: start, day: 1, ..date };
        Self::months(if begun { from } else { from.add_months(-12) }, 12)
    }

    /// `months` months from a day on.
    #[must_use]
    pub fn months(from: Date, months: i32) -> Self {
        Self { from, until: from.add_months(months) }
    }

    /// The range shifted by months: the month before is `-1`, the quarter before `-3`.
    #[must_use]
    pub fn shift_months(self, months: i32) -> Self {
        Self { from: self.from.add_months(months), until: self.until.add_months(months) }
    }

    /// The contract's form of it.
    #[must_use]
    pub fn labelled(self, label: &str) -> TimeRange {
        TimeRange {
            label: label.to_owned(),
            from: Some(self.from.to_string()),
            until: Some(self.until.to_string()),
        }
    }
}

/// The number of a month's English name or its three-letter form (`sept` too), 1 to 12.
#[must_use]
pub fn month_number(word: &str) -> Option<u8> {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    if word == "sept" {
        return Some(9);
    }
    let found = MONTHS.iter().position(|month| {
        let month = month.to_ascii_lowercase();
        month == word || (word.len() == 3 && month.starts_with(&word))
    })?;
    u8::try_from(found + 1).ok()
}

/// Days of a month; 30 for a month that does not exist.
#[must_use]
pub fn days_in_month(year: i32, month: u8) -> u8 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        2 if leap => 29,
        2 => 28,
        _ => 30,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    #[test]
    fn only_real_days_parse() {
        for (text, want) in [
            ("2026-07-15", true),
            ("2026-07-15T10:00:00", true),
            ("2024-02-29", true),
            ("2026-02-29", false),
            ("2026-13-01", false),
            ("2026-00-01", false),
            ("26-07-15", false),
            ("2026-07", false),
            ("yesterday", false),
        ] {
            assert_eq!(Date::parse(text).is_some(), want, "{text}");
        }
    }

    #[test]
    fn days_round_trip_over_the_whole_calendar() {
        let mut day = FIRST.days();
        while day <= LAST.days() {
            assert_eq!(Date::from_days(day).days(), day);
            day += 97;
        }
        assert_eq!(date("1970-01-01").days(), 0);
        assert_eq!(date("2000-03-01").days(), 11_017);
    }

    #[test]
    fn months_clamp_to_their_last_day() {
        for (from, months, want) in [
            ("2026-01-31", 1, "2026-02-28"),
            ("2024-01-31", 1, "2024-02-29"),
            ("2026-03-31", -1, "2026-02-28"),
            ("2026-12-01", 1, "2027-01-01"),
            ("2026-01-15", -13, "2024-12-15"),
        ] {
            assert_eq!(date(from).add_months(months).to_string(), want, "{from} {months}");
        }
    }

    #[test]
    fn weekdays_are_iso() {
        for (day, want) in [("1970-01-01", 4), ("2026-11-29", 7), ("2026-11-30", 1)] {
            assert_eq!(date(day).weekday(), want, "{day}");
        }
    }

    #[test]
    fn ranges_hold_their_day() {
        let day = date("2026-02-15");
        for (range, from, until) in [
            (Days::day(day), "2026-02-15", "2026-02-16"),
            (Days::week(day), "2026-02-09", "2026-02-16"),
            (Days::month(day), "2026-02-01", "2026-03-01"),
            (Days::quarter(day), "2026-01-01", "2026-04-01"),
            (Days::quarter(day).shift_months(-3), "2025-10-01", "2026-01-01"),
            (Days::year(day), "2026-01-01", "2027-01-01"),
            (Days::fiscal_year(day, 4), "2025-04-01", "2026-04-01"),
            (Days::fiscal_year(day, 1), "2026-01-01", "2027-01-01"),
        ] {
            assert_eq!((range.from.to_string().as_str(), range.until.to_string().as_str()), (from, until));
        }
    }

    #[test]
    fn month_names_are_known() {
        for (word, want) in
            [("July", Some(7)), ("jul", Some(7)), ("sept", Some(9)), ("Dec.", Some(12)), ("ju", None)]
        {
            assert_eq!(month_number(word), want, "{word}");
        }
    }
}
