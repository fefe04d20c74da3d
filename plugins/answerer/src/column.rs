//! A column as a sentence sees it: its label, its part, and its values as a person writes them.

use airlock_plugin_sdk::contract::answerer::{AnswerInput, ResultColumn};
use airlock_plugin_sdk::time::Date;
use airlock_plugin_sdk::words;

use crate::decimal::{grouped, rounded};
use crate::label::{label, names_many};
use crate::period::{Unit, day};
use crate::query::Query;
use crate::times;

/// Characters of one cell.
const CELL: usize = 80;

/// The part a column has in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A time that the row stands for.
    Period(Unit),
    /// What was counted or measured.
    Measure,
    /// What the row is about, in words.
    Name,
    /// Keys, codes, days, truths.
    Other,
}

/// A column of the result.
pub struct Column {
    /// In words; empty when the name says nothing.
    pub label: String,
    pub part: Part,
    sql_type: String,
    /// Whether its numbers were computed, so that their last decimals say nothing.
    computed: bool,
    fiscal_year_start: u8,
}

/// All columns of the result. A name that promises a time which the query does not keep to is no label.
pub fn columns(input: &AnswerInput, query: &Query) -> Vec<Column> {
    let sql = input.sql.as_deref().unwrap_or_default();
    let lower = sql.to_lowercase();
    let computed =
        ["avg(", "sum(", "count(", "stddev", "variance", "/"].iter().any(|call| lower.contains(call));
    let one = |(index, column): (usize, &ResultColumn)| {
        let label =
            Some(label(&column.name, input)).filter(|label| !promises(label, query)).unwrap_or_default();
        let values = input.rows.iter().filter_map(|row| row.get(index)?.as_deref());
        let sql_type = column.sql_type.split('(').next().unwrap_or_default().trim().to_lowercase();
        let part = match Unit::of(column, &label, sql, values) {
            Some(unit) => Part::Period(unit),
            None if is_number(&sql_type) && !names_a_thing(&column.name) => Part::Measure,
            None if is_text(&sql_type) => Part::Name,
            None => Part::Other,
        };
        Column { label, part, sql_type, computed, fiscal_year_start: input.clock.fiscal_year_start }
    };
    input.columns.iter().enumerate().map(one).collect()
}

impl Column {
    /// A value as a person writes it.
    pub fn said(&self, value: Option<&str>) -> String {
        let Some(value) = value else { return "none".into() };
        let special = match self.part {
            Part::Measure => Some(self.number(value)),
            Part::Period(unit) => unit.said(value, self.fiscal_year_start),
            Part::Name | Part::Other => match self.sql_type.as_str() {
                "date" => Date::parse(value).and_then(day),
                "boolean" | "bool" => Some(if value.starts_with(['t', 'T']) { "yes" } else { "no" }.into()),
                _ => None,
            },
        };
        special.unwrap_or_else(|| short(value))
    }

    /// Whether its values are times.
    pub fn is_time(&self) -> bool {
        matches!(self.part, Part::Period(_))
            || self.sql_type.starts_with("date")
            || self.sql_type.starts_with("timestamp")
    }

    /// A value with what it is: `160 units sold`, `revenue 1,234.50`, `status PAID`.
    pub fn told(&self, value: Option<&str>) -> String {
        let said = self.said(value);
        match value {
            _ if self.label.is_empty() => said,
            None => format!("{}: none", self.label),
            Some(value) if self.counts(value) => format!("{said} {}", self.label),
            Some(_) => format!("{} {said}", self.label),
        }
    }

    /// Whether a value is a number of the things that the label names.
    pub fn counts(&self, value: &str) -> bool {
        let whole = value.bytes().all(|b| b.is_ascii_digit()) && value != "1";
        let aggregate = ["average", "total", "highest", "lowest", "maximum", "minimum", "percent"];
        self.part == Part::Measure
            && whole
            && names_many(&self.label)
            && !self.label.split(' ').any(|word| aggregate.contains(&word))
    }

    fn number(&self, value: &str) -> String {
        match rounded(value).filter(|_| self.computed || self.sql_type != "numeric") {
            Some((short, true)) => format!("about {}", grouped(&short)),
            Some((short, false)) => grouped(&short),
            None => grouped(value),
        }
    }
}

/// Whether a label names a time that the query has nothing of: `bills in march 2025`, `revenue 2025`.
fn promises(label: &str, query: &Query) -> bool {
    let years = label.split(' ').map(|word| format!("in {word}"));
    years.chain([label.to_owned()]).any(|text| times::times(&text).iter().any(|time| !time.is_near(query)))
}

/// A text on one line, cut where it is long.
fn short(value: &str) -> String {
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text: String = line.chars().take(CELL).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    if text.is_empty() { "(empty)".into() } else { text }
}

fn is_number(sql_type: &str) -> bool {
    [
        "smallint",
        "integer",
        "bigint",
        "numeric",
        "real",
        "double precision",
        "int2",
        "int4",
        "int8",
        "float4",
        "float8",
    ]
    .contains(&sql_type)
}

fn is_text(sql_type: &str) -> bool {
    ["text", "character varying", "varchar", "character", "char", "bpchar", "name", "citext"]
        .contains(&sql_type)
}

/// Keys, codes and years are numbers that are neither counted nor measured.
fn names_a_thing(name: &str) -> bool {
    let parts = words::identifier_words(name);
    let last = parts.last().map_or("", String::as_str);
    parts.iter().any(|word| ["id", "phone", "pin", "zip"].contains(&word.as_str()))
        || ["no", "code", "number", "extract"].contains(&last)
        || (last == "year" && parts.len() < 3)
}
