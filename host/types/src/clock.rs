//! The only clock an ask has: fixed when it begins, so that a replay sees the same one.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use thiserror::Error;

/// The months by their English names, in their order.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// `now` in a domain's time zone.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    now: ZonedDateTime,
    zone: String,
    fiscal_year_start: u8,
}

/// Why there is no such clock.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClockError {
    /// Not an IANA time zone.
    #[error("`{0}` is not a time zone: use an IANA name such as `Europe/Berlin`, or `UTC`")]
    Zone(String),
    /// Not a time.
    #[error("`{0}` is not a time: use RFC 3339, such as 2026-07-15T12:00:00Z, or a date such as 2026-07-15")]
    Now(String),
    /// Not a month.
    #[error("{0} is not a month: the fiscal year begins in a month from 1 to 12")]
    Month(u8),
}

impl Clock {
    /// The clock of an ask at `now` in the zone with this IANA name.
    ///
    /// # Errors
    /// When the zone is unknown or the month is not one.
    pub fn new(now: Timestamp, zone: &str, fiscal_year_start: u8) -> Result<Self, ClockError> {
        if !(1..=12).contains(&fiscal_year_start) {
            return Err(ClockError::Month(fiscal_year_start));
        }
        let tz = TimeZone::get(zone).map_err(|_| ClockError::Zone(zone.to_owned()))?;
        Ok(Self { now: now.to_zoned_datetime(tz), zone: zone.to_owned(), fiscal_year_start })
    }

    /// Reads the `now` of a request: an instant in RFC 3339, or a date, which means its noon in `zone`.
    ///
    /// # Errors
    /// When it is neither, or the zone is unknown.
    pub fn parse_now(text: &str, zone: &str) -> Result<Timestamp, ClockError> {
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Ok(instant);
        }
        let wrong = || ClockError::Now(text.chars().take(64).collect());
        let date = text.parse::<jiff::civil::Date>().map_err(|_| wrong())?;
        let tz = TimeZone::get(zone).map_err(|_| ClockError::Zone(zone.to_owned()))?;
        date.at(12, 0, 0, 0).to_zoned_datetime(tz).map(|noon| noon.timestamp()).map_err(|_| wrong())
    }

    /// The instant, RFC 3339 in UTC, to the second.
    #[must_use]
    pub fn instant(&self) -> String {
        self.now.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// The calendar of the zone at that instant.
    #[must_use]
    pub fn local(&self) -> DateTime {
        self.now.datetime()
    }

    /// The zone's IANA name.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.zone
    }

    /// The month in which the fiscal year begins, 1 to 12.
    #[must_use]
    pub const fn fiscal_year_start(&self) -> u8 {
        self.fiscal_year_start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_the_calendar_of_its_zone() {
        let now = Clock::parse_now("2026-06-30T22:30:00Z", "UTC").unwrap();
        let clock = Clock::new(now, "Asia/Kolkata", 4).unwrap();
        assert_eq!(clock.local().to_string(), "2026-07-01T04:00:00");
        assert_eq!(clock.instant(), "2026-06-30T22:30:00Z");
    }

    #[test]
    fn what_is_no_time_or_zone_is_told_apart() {
        assert!(matches!(Clock::parse_now("yesterday", "UTC"), Err(ClockError::Now(_))));
        assert!(matches!(Clock::parse_now("2026-07-15", "Mars/Base"), Err(ClockError::Zone(_))));
        assert!(matches!(Clock::new(Timestamp::UNIX_EPOCH, "UTC", 13), Err(ClockError::Month(13))));
        assert_eq!(Clock::parse_now("2026-07-15", "UTC").unwrap().to_string(), "2026-07-15T12:00:00Z");
    }
}
