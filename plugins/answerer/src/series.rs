//! Rows that follow one another in time.

use airlock_plugin_sdk::contract::answerer::AnswerInput;

use crate::column::{Column, Part};
use crate::decimal::grouped;
use crate::period::Unit;
use crate::row;

/// Fewer rows are told one by one.
const LEAST: usize = 4;
/// Periods that are told of a series whose end is not at hand.
const HEAD: usize = 3;

/// The series in one sentence: its ends and its peak. Absent when the rows are none.
pub fn sentence(input: &AnswerInput, columns: &[Column]) -> Option<String> {
    let rows = input.rows.as_slice();
    let (at, unit) = axis(columns)?;
    let ranks: Option<Vec<i64>> = rows.iter().map(|row| unit.rank(row.get(at)?.as_deref()?)).collect();
    let ranks = ranks.filter(|ranks| ranks.len() >= LEAST)?;
    let falls = ranks.is_sorted_by(|a, b| a > b);
    if !falls && !ranks.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let count = grouped(&input.row_count.to_string());
    let units = unit.plural();
    if input.truncated || rows.len() as u64 != input.row_count {
        let head: Vec<String> = rows.iter().take(HEAD).map(|row| point(columns, row)).collect();
        let more = if input.truncated { "More than " } else { "" };
        return Some(format!("{more}{count} {units}, starting with {}.", head.join(", ")));
    }
    let (first, last) = if falls { (rows.last()?, rows.first()?) } else { (rows.first()?, rows.last()?) };
    let ends = format!("{count} {units}, from {} to {}", point(columns, first), point(columns, last));
    Some(match peak(columns, rows) {
        Some(peak) => format!("{ends}; the highest is {}.", point(columns, peak)),
        None => format!("{ends}."),
    })
}

/// The column of periods, where all others are measures.
fn axis(columns: &[Column]) -> Option<(usize, Unit)> {
    let (at, unit) = columns.iter().enumerate().find_map(|(at, column)| match column.part {
        Part::Period(unit) => Some((at, unit)),
        _ => None,
    })?;
    let mut rest = columns.iter().enumerate().filter(|(index, _)| *index != at);
    (columns.len() > 1 && rest.all(|(_, column)| column.part == Part::Measure)).then_some((at, unit))
}

/// `May 2026 (292,341.00)`; with labels where there are several measures.
fn point(columns: &[Column], row: &[Option<String>]) -> String {
    match columns {
        [period, measure] if matches!(period.part, Part::Period(_)) => {
            let value = |index: usize| row.get(index).and_then(Option::as_deref);
            format!("{} ({})", period.said(value(0)), measure.said(value(1)))
        }
        columns => row::told(columns, row),
    }
}

/// The one row whose measure is above all others, where there is one measure.
fn peak<'a>(columns: &[Column], rows: &'a [Vec<Option<String>>]) -> Option<&'a Vec<Option<String>>> {
    let measures: Vec<usize> =
        columns.iter().enumerate().filter(|(_, c)| c.part == Part::Measure).map(|(index, _)| index).collect();
    let [measure] = measures.as_slice() else { return None };
    let value = |row: &Vec<Option<String>>| row.get(*measure)?.as_deref()?.parse::<f64>().ok();
    let highest = rows.iter().filter_map(value).reduce(f64::max)?;
    let mut at_top = rows.iter().filter(|row| value(row).is_some_and(|value| value >= highest));
    at_top.next().filter(|_| at_top.next().is_none())
}
