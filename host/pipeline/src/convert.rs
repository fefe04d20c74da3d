//! From the host's words to the contract's, where the two differ only in spelling.

use airlock_runtime::contract;
use airlock_types::ask::HistoryEntry;
use airlock_types::{Clock, ColumnRef, Failure, TableRef};
use contract::types;

/// Whether a text is a plain word, as kinds and codes are.
pub(crate) fn is_word(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    plain && !text.is_empty() && text.len() <= airlock_knowledge::pack::limits::KIND
}

pub(crate) fn table(table: &TableRef) -> types::TableRef {
    types::TableRef { schema: table.schema.clone(), name: table.name.clone() }
}

pub(crate) fn column(column: &ColumnRef) -> types::ColumnRef {
    types::ColumnRef { table: table(&column.table), column: column.column.clone() }
}

pub(crate) fn clock(clock: &Clock) -> types::Clock {
    let local = clock.local();
    let byte = |value: i8| u8::try_from(value).unwrap_or_default();
    types::Clock {
        now: clock.instant(),
        time_zone: clock.zone().to_owned(),
        local: types::CivilTime {
            year: local.year(),
            month: byte(local.month()),
            day: byte(local.day()),
            hour: byte(local.hour()),
            minute: byte(local.minute()),
            second: byte(local.second()),
            weekday: byte(local.weekday().to_monday_one_offset()),
        },
        fiscal_year_start: clock.fiscal_year_start(),
    }
}

pub(crate) fn failure(failure: &Failure) -> types::Failure {
    types::Failure {
        error_type: failure.error_type.as_str().to_owned(),
        message: failure.message.clone(),
        hint: failure.hint.clone(),
        sqlstate: failure.sqlstate.clone(),
        position: failure.position,
        repairable: failure.repairable,
        sql: failure.sql.clone(),
    }
}

/// What of these attempts the composer is told: whether it had its turn, and not what a model wrote before it was down.
pub(crate) fn composed(attempts: &[types::Attempt]) -> Vec<types::Attempt> {
    attempts.iter().filter(|attempt| attempt.origin == "composer").cloned().collect()
}

pub(crate) fn attempt(entry: &HistoryEntry, position: Option<u32>) -> types::Attempt {
    types::Attempt {
        sql: entry.sql.clone(),
        origin: entry.origin.clone(),
        failure: entry.error_type.map(|kind| types::Failure {
            error_type: kind.as_str().to_owned(),
            message: entry.message.clone().unwrap_or_default(),
            hint: entry.hint.clone(),
            sqlstate: entry.sqlstate.clone(),
            position,
            repairable: kind.repairable(),
            sql: entry.sql.clone(),
        }),
        row_count: entry.row_count,
        duration_ms: u32::try_from(entry.duration_ms).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_wrote_is_no_turn_of_the_composers() {
        let by = |origin: &str| types::Attempt {
            sql: "SELECT nothing FROM bills".to_owned(),
            origin: origin.to_owned(),
            failure: None,
            row_count: None,
            duration_ms: 1,
        };
        assert!(composed(&[by("generator"), by("repair")]).is_empty());
        let both = composed(&[by("generator"), by("composer"), by("repair")]);
        assert_eq!(both.iter().map(|attempt| &*attempt.origin).collect::<Vec<_>>(), ["composer"]);
    }
}
