//! `[learning]`: what is proposed, what takes part, and when candidates are ruled on.

use airlock_pipeline::LearningOptions;
use serde::Deserialize;

use super::ConfigError;
use crate::upkeep::{Promotion, Schedule, Scheduled, Zone};

/// When patterns of use are looked for, unless it is said otherwise: not at the hour, when much else begins.
pub const SIX_HOURLY: &str = "40 */6 * * *";

/// The section as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearningTable {
    examples: bool,
    lessons: bool,
    recall: bool,
    schedule: String,
    time_zone: String,
    promote: String,
    mining: String,
}

impl Default for LearningTable {
    fn default() -> Self {
        let LearningOptions { examples, lessons, recall } = LearningOptions::default();
        let (schedule, time_zone, promote) = ("off".to_owned(), "UTC".to_owned(), "none".to_owned());
        let mining = SIX_HOURLY.to_owned();
        Self { examples, lessons, recall, schedule, time_zone, promote, mining }
    }
}

impl LearningTable {
    /// What is learned.
    pub(super) const fn options(&self) -> LearningOptions {
        LearningOptions { examples: self.examples, lessons: self.lessons, recall: self.recall }
    }

    /// When candidates are ruled on, if ever by the clock.
    pub(super) fn scheduled(&self) -> Result<Option<Scheduled>, ConfigError> {
        let wrong = |key, why| ConfigError::Learning { key, why };
        let promotion: Promotion = self.promote.parse().map_err(|why| wrong("promote", why))?;
        let zone = self.zone()?;
        if self.schedule == "off" {
            return Ok(None);
        }
        let schedule = Schedule::parse(&self.schedule, &zone).map_err(|why| wrong("schedule", why))?;
        Ok(Some(Scheduled { schedule, promotion }))
    }

    /// When patterns of use are looked for, if ever by the clock.
    pub(super) fn mining(&self) -> Result<Option<Schedule>, ConfigError> {
        let zone = self.zone()?;
        if self.mining == "off" {
            return Ok(None);
        }
        let schedule = Schedule::parse(&self.mining, &zone);
        schedule.map(Some).map_err(|why| ConfigError::Learning { key: "mining", why })
    }

    /// The time zone of both, which is one even where neither is on.
    fn zone(&self) -> Result<Zone, ConfigError> {
        Zone::named(&self.time_zone).map_err(|why| ConfigError::Learning { key: "time_zone", why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_looked_for_every_six_hours_unless_it_is_said_otherwise() {
        for (text, want) in [
            ("", Some("40 */6 * * *")),
            ("mining = \"off\"", None),
            ("mining = \"0 4 * * *\"", Some("0 4 * * *")),
        ] {
            let table: LearningTable = toml::from_str(text).unwrap();
            assert_eq!(table.mining().unwrap().map(|schedule| schedule.text().to_owned()).as_deref(), want);
        }
        let table: LearningTable = toml::from_str("mining = \"often\"").unwrap();
        assert!(table.mining().unwrap_err().to_string().contains("learning.mining"));
    }

    #[test]
    fn the_clock_is_off_unless_it_is_set() {
        for (text, want) in [
            ("", Ok(false)),
            ("schedule = \"off\"", Ok(false)),
            ("schedule = \"0 3 * * 1\"", Ok(true)),
            ("schedule = \"0 3 * * 1\"\npromote = \"replay\"\ntime_zone = \"Europe/Berlin\"", Ok(true)),
            ("schedule = \"mondays\"", Err("learning.schedule")),
            ("promote = \"auto\"", Err("learning.promote")),
            ("schedule = \"0 3 * * 1\"\ntime_zone = \"x\"", Err("learning.time_zone")),
        ] {
            let table: LearningTable = toml::from_str(text).unwrap();
            match (table.scheduled(), want) {
                (Ok(scheduled), Ok(want)) => assert_eq!(scheduled.is_some(), want, "{text}"),
                (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{text}: {error}"),
                (got, want) => panic!("{text}: {:?}, wanted {want:?}", got.map(|_| ())),
            }
        }
    }
}
