//! Several rows as a sentence.

use std::collections::BTreeSet;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::words;

use crate::column::{Column, Part};
use crate::decimal::grouped;
use crate::label::capital;
use crate::question::{plural_of, wants_the_top};
use crate::row;

/// Rows that are all told.
const FEW: usize = 10;
/// Rows that are told of many.
const HEAD: usize = 3;
/// Characters of rows that are all told.
const SHORT: usize = 900;
/// Names that read as one phrase.
const PHRASE: usize = 3;

/// The rows in one sentence.
pub fn sentence(input: &AnswerInput, columns: &[Column]) -> String {
    let rows = input.rows.as_slice();
    let whole = !input.truncated && rows.len() as u64 == input.row_count;
    let measured = Measured::of(columns);
    if whole && let Some(measured) = &measured {
        let ranked = measured.falls(rows) && wants_the_top(&input.question);
        if rows.len() <= FEW {
            return if ranked { measured.led(rows) } else { measured.listed(rows) };
        }
        if let Some(text) = measured.ends(rows, &things(input, columns)) {
            return text;
        }
    }
    let told = |row: &Vec<Option<String>>| row::told(columns, row);
    let all: Vec<String> = rows.iter().take(FEW).map(told).collect();
    let short = all.iter().map(|text| text.chars().count()).sum::<usize>() <= SHORT;
    if whole && rows.len() <= FEW && short {
        return match columns {
            [_] if all.len() <= PHRASE => format!("{}.", phrase(&all)),
            _ => format!("{}: {}.", things(input, columns), all.join("; ")),
        };
    }
    let head = all.get(..HEAD).unwrap_or(&all);
    let more = if input.truncated { "More than " } else { "" };
    let rest = if input.truncated { "" } else { "; all of them are in the table" };
    format!("{more}{}, starting with {}{rest}.", things(input, columns), phrase(head))
}

/// How many rows there are, by the question's word for them where each row is another of them.
fn things(input: &AnswerInput, columns: &[Column]) -> String {
    let count = grouped(&input.row_count.to_string());
    let head = row::head(columns);
    let label = head.and_then(|head| columns.get(head)).map_or("", |column| column.label.as_str());
    let plural = plural_of(&input.question, label).filter(|_| {
        let names: BTreeSet<Vec<&str>> = input
            .rows
            .iter()
            .filter_map(|row| {
                let last = head.and_then(|head| row::last_name(columns, head));
                [head, last].into_iter().flatten().map(|at| row.get(at)?.as_deref()).collect()
            })
            .collect();
        names.len() == input.rows.len()
    });
    format!("{count} {}", plural.as_deref().unwrap_or("rows"))
}

/// `A`, `A and B`, `A, B and C`; with semicolons where a name has a comma or an `and` of its own.
fn phrase(names: &[String]) -> String {
    if names.iter().any(|name| name.contains(", ") || name.contains(" and ")) {
        return names.join("; ");
    }
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        names => names.join(", "),
    }
}

/// Rows of a name and one measure.
struct Measured<'a> {
    name: &'a Column,
    measure: &'a Column,
    /// Where name and measure stand in a row.
    at: (usize, usize),
}

impl<'a> Measured<'a> {
    fn of(columns: &'a [Column]) -> Option<Self> {
        let [a, b] = columns else { return None };
        match (a.part, b.part) {
            (Part::Measure, Part::Measure) => None,
            (_, Part::Measure) => Some(Self { name: a, measure: b, at: (0, 1) }),
            (Part::Measure, _) => Some(Self { name: b, measure: a, at: (1, 0) }),
            _ => None,
        }
    }

    /// `PPC Cement leads with 962 units sold, followed by Hammer (900) and Nails (850).`
    fn led(&self, rows: &[Vec<Option<String>>]) -> String {
        let Some((first, rest)) = rows.split_first() else { return String::new() };
        let (_, value) = self.pair(first);
        let leads = match value {
            Some(value) if self.measure.counts(value) => {
                format!("leads with {}", self.measure.told(Some(value)))
            }
            value => format!("leads ({})", self.measure.told(value)),
        };
        let rest: Vec<String> = rest.iter().map(|row| self.point(row)).collect();
        format!("{} {leads}, followed by {}.", self.name_of(first), phrase(&rest))
    }

    /// `Revenue by category: Cement (962.00); Nails (850.00).`
    fn listed(&self, rows: &[Vec<Option<String>>]) -> String {
        let points: Vec<String> = rows.iter().map(|row| self.point(row)).collect();
        format!("{}{}.", self.title(), points.join("; "))
    }

    /// How many there are and the highest and lowest of them; absent where two share an end or one has no value.
    fn ends(&self, rows: &[Vec<Option<String>>], things: &str) -> Option<String> {
        let mut sorted: Vec<(f64, &Vec<Option<String>>)> =
            rows.iter().map(|row| Some((self.number(row)?, row))).collect::<Option<_>>()?;
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ([lowest, low, ..], [.., high, highest]) = (sorted.as_slice(), sorted.as_slice()) else {
            return None;
        };
        (lowest.0 < low.0 && high.0 < highest.0).then(|| {
            let (high, low) = (self.point(highest.1), self.point(lowest.1));
            format!("{}{things}; the highest is {high}, the lowest {low}.", self.title())
        })
    }

    /// Whether the measure falls from row to row and the first stands alone.
    fn falls(&self, rows: &[Vec<Option<String>>]) -> bool {
        let numbers: Option<Vec<f64>> = rows.iter().map(|row| self.number(row)).collect();
        numbers.is_some_and(|numbers| {
            let alone = matches!(numbers.as_slice(), [first, second, ..] if first > second);
            alone && numbers.is_sorted_by(|a, b| a >= b)
        })
    }

    fn title(&self) -> String {
        let name = ["name", "title"].iter().fold(self.name.label.as_str(), |label, tail| {
            label.strip_suffix(tail).map(str::trim_end).filter(|rest| !rest.is_empty()).unwrap_or(label)
        });
        match (self.measure.label.as_str(), name) {
            ("", _) => String::new(),
            (measure, "") => format!("{}: ", capital(measure)),
            (measure, name) if words::same(measure, name) => format!("{}: ", capital(measure)),
            (measure, name) => format!("{} by {name}: ", capital(measure)),
        }
    }

    fn point(&self, row: &[Option<String>]) -> String {
        format!("{} ({})", self.name_of(row), self.measure.said(self.pair(row).1))
    }

    fn name_of(&self, row: &[Option<String>]) -> String {
        self.name.said(self.pair(row).0)
    }

    fn number(&self, row: &[Option<String>]) -> Option<f64> {
        self.pair(row).1?.parse().ok()
    }

    fn pair<'r>(&self, row: &'r [Option<String>]) -> (Option<&'r str>, Option<&'r str>) {
        let value = |at: usize| row.get(at).and_then(Option::as_deref);
        (value(self.at.0), value(self.at.1))
    }
}
