//! Columns of months, quarters, years, weeks and days, and how a person writes them.

use airlock_plugin_sdk::contract::answerer::ResultColumn;
use airlock_plugin_sdk::time::{Date, MONTHS};

/// What one row of a series stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

const UNITS: [(&str, Unit); 5] = [
    ("day", Unit::Day),
    ("week", Unit::Week),
    ("month", Unit::Month),
    ("quarter", Unit::Quarter),
    ("year", Unit::Year),
];

impl Unit {
    /// The unit of a column, when its label or the query's `date_trunc` names one and all its values fit.
    pub fn of<'a>(
        column: &ResultColumn,
        label: &str,
        sql: &str,
        values: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let sql = sql.to_lowercase();
        let mut parts = label.rsplit(' ');
        let last = parts.next().unwrap_or_default();
        let short = parts.count() < 2;
        let unit = match label {
            "date trunc" | "date part" | "extract" | "period" => {
                let mut named = UNITS.iter().filter(|(name, _)| takes(&sql, name));
                named.next().filter(|_| named.next().is_none())
            }
            _ => UNITS.iter().find(|(name, _)| short && *name == last),
        };
        let (name, unit) = *unit?;
        // A small whole number is a month only where the query took it out of a date.
        let numbered = !column.sql_type.starts_with("date") && !column.sql_type.starts_with("timestamp");
        let extracted =
            !numbered || unit == Self::Year || column.sql_type.starts_with("text") || takes(&sql, name);
        let mut values = values.peekable();
        let fits = extracted && values.peek().is_some() && values.all(|value| unit.rank(value).is_some());
        fits.then_some(unit)
    }

    /// The unit for several.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Day => "days",
            Self::Week => "weeks",
            Self::Month => "months",
            Self::Quarter => "quarters",
            Self::Year => "years",
        }
    }

    /// Where a value stands in time, to compare it with others of its column.
    pub fn rank(self, value: &str) -> Option<i64> {
        if let Some(date) = date(value) {
            let aligned = match self {
                Self::Day => true,
                Self::Week => date.weekday() == 1,
                Self::Month => date.day() == 1,
                Self::Quarter => date.day() == 1 && date.month() % 3 == 1,
                Self::Year => date.day() == 1 && date.month() == 1,
            };
            return aligned.then(|| date.days());
        }
        let number = value.parse::<i64>().ok()?;
        let range = match self {
            Self::Month => 1..=12,
            Self::Quarter => 1..=4,
            Self::Year => 1000..=9999,
            Self::Day | Self::Week => return None,
        };
        range.contains(&number).then_some(number)
    }

    /// A value as a person writes it. Quarters are told by their months where the fiscal year is no calendar year.
    pub fn said(self, value: &str, fiscal_year_start: u8) -> Option<String> {
        let Some(date) = date(value) else {
            let number = self.rank(value)?;
            return match self {
                Self::Month => month(u8::try_from(number).ok()?).map(str::to_owned),
                Self::Quarter => Some(format!("Q{number}")),
                _ => Some(number.to_string()),
            };
        };
        self.rank(value)?;
        let (year, first) = (date.year(), month(date.month())?);
        Some(match self {
            Self::Day => day(date)?,
            Self::Week => format!("the week of {}", day(date)?),
            Self::Month => format!("{first} {year}"),
            Self::Quarter if fiscal_year_start == 1 => format!("Q{} {year}", date.quarter()),
            Self::Quarter => {
                let last = month(date.month() + 2)?;
                format!("{}–{} {year}", first.get(..3)?, last.get(..3)?)
            }
            Self::Year => year.to_string(),
        })
    }
}

/// `17 May 2026`.
pub fn day(date: Date) -> Option<String> {
    Some(format!("{} {} {}", date.day(), month(date.month())?, date.year()))
}

fn month(number: u8) -> Option<&'static str> {
    MONTHS.get(usize::from(number).checked_sub(1)?).copied()
}

/// A day, or a month as `YYYY-MM`.
pub fn date(value: &str) -> Option<Date> {
    Date::parse(value).or_else(|| Date::parse(&format!("{value}-01")).filter(|_| value.len() == 7))
}

/// Whether the query takes this unit out of a date.
fn takes(sql: &str, unit: &str) -> bool {
    [format!("date_trunc('{unit}'"), format!("extract({unit} "), format!("date_part('{unit}'")]
        .iter()
        .any(|call| sql.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_periods_are_known() {
        let trunc = "SELECT date_trunc('month', d)::date, sum(x) FROM t GROUP BY 1";
        let extract = "SELECT extract(month FROM d) AS month, sum(x) FROM t GROUP BY 1";
        for (label, sql_type, sql, value, want) in [
            ("month", "date", "", "2026-01-01", Some(Unit::Month)),
            ("month", "timestamp with time zone", "", "2026-01-01T00:00:00+05:30", Some(Unit::Month)),
            ("month", "date", "", "2026-01-17", None),
            ("month", "text", "", "2026-01", Some(Unit::Month)),
            ("month", "numeric", extract, "3", Some(Unit::Month)),
            ("this month", "bigint", "", "3", None),
            ("date trunc", "date", trunc, "2026-01-01", Some(Unit::Month)),
            ("bill date", "date", trunc, "2026-01-01", None),
            ("quarter", "date", "", "2026-04-01", Some(Unit::Quarter)),
            ("quarter", "date", "", "2026-05-01", None),
            ("year", "integer", "", "2026", Some(Unit::Year)),
            ("revenue this year", "integer", "", "2026", None),
            ("fiscal year", "date", "", "2026-04-01", None),
        ] {
            let column = ResultColumn { name: label.into(), sql_type: sql_type.into() };
            assert_eq!(
                Unit::of(&column, label, sql, [value].into_iter()),
                want,
                "{label} {sql_type} {value}"
            );
        }
    }

    #[test]
    fn periods_are_written_as_people_do() {
        for (unit, value, fiscal, want) in [
            (Unit::Day, "2026-05-17", 1, "17 May 2026"),
            (Unit::Week, "2026-11-30", 1, "the week of 30 November 2026"),
            (Unit::Month, "2026-05-01T00:00:00Z", 1, "May 2026"),
            (Unit::Month, "5", 1, "May"),
            (Unit::Quarter, "2026-04-01", 1, "Q2 2026"),
            (Unit::Quarter, "2026-04-01", 4, "Apr–Jun 2026"),
            (Unit::Year, "2026-01-01", 1, "2026"),
            (Unit::Year, "2026", 1, "2026"),
        ] {
            assert_eq!(unit.said(value, fiscal).as_deref(), Some(want), "{value}");
        }
    }
}
