//! When upkeep runs: a cron expression in a time zone that is named.

use std::cmp::Ordering;

use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use croner::{CivilDate, CivilDateTime, CivilTime, Cron, CronDateTime, Resolution, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ZonedDateTime};

/// Characters of an expression.
const LONGEST: usize = 100;

/// A time zone by its name.
#[derive(Debug, Clone)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// Finds a time zone, such as `Europe/Berlin`.
    ///
    /// # Errors
    /// When none is called so.
    pub fn named(name: &str) -> Result<Self, String> {
        let rules = TimeZone::get(name)
            .map_err(|_| format!("`{name}` is no time zone, such as UTC or Europe/Berlin"))?;
        Ok(Self { name: name.to_owned(), rules })
    }

    /// The one that never shifts.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }
}

/// A cron expression of five fields, as it is meant.
#[derive(Debug, Clone)]
pub struct Schedule {
    text: String,
    cron: Cron,
    zone: Zone,
}

impl Schedule {
    /// Reads an expression, such as `0 3 * * 1`: Mondays at three.
    ///
    /// # Errors
    /// When it is none, or never comes.
    pub fn parse(text: &str, zone: &Zone) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("an expression has at most {LONGEST} characters"));
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let cron = parser.parse(text).map_err(|error| {
            format!("`{text}` is no cron expression of five fields, such as `0 3 * * 1`: {error}")
        })?;
        let schedule = Self { text: text.to_owned(), cron, zone: zone.clone() };
        match schedule.next(Timestamp::now()) {
            Some(_) => Ok(schedule),
            None => Err(format!("`{text}` never comes")),
        }
    }

    /// The first moment after this one.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let after = Moment(after.to_zoned_datetime(self.zone.rules.clone()));
        self.cron.find_next_occurrence(&after, false).ok().map(|found| found.0.timestamp())
    }

    /// The expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The time zone it is in.
    pub fn zone(&self) -> &str {
        &self.zone.name
    }
}

/// A moment as the expression's reader walks through it.
#[derive(Clone)]
struct Moment(ZonedDateTime);

/// A part of a date or a time, which are all small and not negative.
fn part(value: i8) -> u32 {
    u32::try_from(value).unwrap_or_default()
}

fn small<T: TryFrom<u32>>(value: u32, wrong: CronError) -> Result<T, CronError> {
    T::try_from(value).map_err(|_| wrong)
}

impl CronDateTime for Moment {
    fn to_civil(&self) -> CivilDateTime {
        let now = self.0.datetime();
        CivilDateTime::new(
            CivilDate::from_parts_unchecked(i32::from(now.year()), part(now.month()), part(now.day())),
            CivilTime::from_parts_unchecked(part(now.hour()), part(now.minute()), part(now.second())),
        )
    }

    fn civil_weekday(&self) -> Weekday {
        Weekday::from_days_from_sunday(part(self.0.weekday().to_sunday_zero_offset()))
    }

    fn resolve_civil(&self, civil: CivilDateTime) -> Result<Resolution<Self>, CronError> {
        let year = i16::try_from(civil.year()).map_err(|_| CronError::InvalidDate)?;
        let datetime = jiff::civil::DateTime::new(
            year,
            small(civil.month(), CronError::InvalidDate)?,
            small(civil.day(), CronError::InvalidDate)?,
            small(civil.hour(), CronError::InvalidTime)?,
            small(civil.minute(), CronError::InvalidTime)?,
            small(civil.second(), CronError::InvalidTime)?,
            0,
        )
        .map_err(|_| CronError::InvalidDate)?;
        let found = self.0.time_zone().to_ambiguous_zoned_datetime(datetime);
        let wrong = |_| CronError::InvalidTime;
        Ok(match found.offset() {
            AmbiguousOffset::Unambiguous { .. } => {
                Resolution::Single(Self(found.unambiguous().map_err(wrong)?))
            }
            AmbiguousOffset::Fold { .. } => Resolution::Ambiguous(
                Self(found.clone().earlier().map_err(wrong)?),
                Self(found.later().map_err(wrong)?),
            ),
            AmbiguousOffset::Gap { .. } => Resolution::Gap,
        })
    }

    fn checked_add_seconds(&self, seconds: i64) -> Option<Self> {
        self.0.checked_add(SignedDuration::from_secs(seconds)).ok().map(Self)
    }

    fn cmp_instant(&self, other: &Self) -> Ordering {
        self.0.timestamp().cmp(&other.0.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_read_in_its_own_time_zone() {
        for (text, zone, after, want) in [
            ("0 3 * * 1", "UTC", "2026-11-30T02:00:00Z", "2026-11-30T03:00:00Z"),
            ("0 3 * * 1", "UTC", "2026-11-30T03:00:00Z", "2026-12-07T03:00:00Z"),
            ("0 3 * * MON", "Europe/Berlin", "2026-11-30T01:00:00Z", "2026-11-30T02:00:00Z"),
            // There is no half past two on the day the clocks go forward, and two on the day they go back.
            ("30 2 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", "2027-03-28T01:00:00Z"),
            ("30 2 * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z"),
            ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
            ("*/5 * * * *", "UTC", "2026-11-30T03:04:59Z", "2026-11-30T03:05:00Z"),
        ] {
            let schedule = Schedule::parse(text, &Zone::named(zone).unwrap()).unwrap();
            let next = schedule.next(after.parse().unwrap()).unwrap();
            assert_eq!(next.to_string(), want, "{text} in {zone} after {after}");
        }
    }

    #[test]
    fn what_is_no_schedule_says_so() {
        let long = "0 ".repeat(100);
        for (text, want) in [
            ("weekly", "five fields"),
            ("* * * * * *", "five fields"),
            ("61 3 * * 1", "five fields"),
            ("", "five fields"),
            (long.as_str(), "at most"),
            ("0 0 31 2 *", "never"),
        ] {
            let error = Schedule::parse(text, &Zone::utc()).unwrap_err();
            assert!(error.contains(want), "{text}: {error}");
        }
        assert!(Zone::named("Middle/Earth").unwrap_err().contains("`Middle/Earth` is no time zone"));
    }
}
