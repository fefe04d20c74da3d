//! `[log]`: what of the asks is kept in the store, and how long.

use std::time::Duration;

use airlock_pipeline::JournalOptions;
use serde::Deserialize;

use super::{ConfigError, within};

/// The section as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogTable {
    asks: bool,
    record: bool,
    retention_days: Option<u64>,
}

impl Default for LogTable {
    fn default() -> Self {
        let JournalOptions { asks, record } = JournalOptions::default();
        Self { asks, record, retention_days: None }
    }
}

/// What is logged, and how long it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSettings {
    /// Whether asks are logged.
    pub asks: bool,
    /// Whether what a replay needs is kept with them.
    pub record: bool,
    /// How long asks, signals, verdicts and conversations are kept.
    pub retention: Duration,
}

const DAY: u64 = 24 * 60 * 60;

impl LogTable {
    pub(super) fn resolve(self) -> Result<LogSettings, ConfigError> {
        let days = within(self.retention_days, 90, 1, 3_650, "log.retention_days".to_owned())?;
        Ok(LogSettings { asks: self.asks, record: self.record, retention: Duration::from_secs(days * DAY) })
    }
}

impl LogSettings {
    /// What the journal is told.
    #[must_use]
    pub const fn journal(&self) -> JournalOptions {
        JournalOptions { asks: self.asks, record: self.record }
    }

    /// How many days are kept.
    #[must_use]
    pub const fn retention_days(&self) -> u64 {
        self.retention.as_secs() / DAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_are_logged_for_ninety_days_unless_it_says_otherwise() {
        for (text, want) in [
            ("", Ok((true, true, 90))),
            ("asks = false", Ok((false, true, 90))),
            ("record = false\nretention_days = 7", Ok((true, false, 7))),
            ("retention_days = 0", Err("log.retention_days must be from 1 to 3650")),
        ] {
            let table: LogTable = toml::from_str(text).unwrap();
            let got = table.resolve().map(|log| (log.asks, log.record, log.retention_days()));
            assert_eq!(got.map_err(|error| error.to_string()), want.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn the_documented_section_is_the_default() {
        let page = include_str!("../../../../docs/operations.md");
        let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let table: toml::Table = example.parse().unwrap();
        let log: LogTable = table["log"].clone().try_into().unwrap();
        assert_eq!(log.resolve().unwrap(), LogTable::default().resolve().unwrap());
    }
}
