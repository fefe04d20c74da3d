//! Claims against the rows, kind by kind.

use airlock_plugin_sdk::time::Date;
use airlock_plugin_sdk::words;

use super::amounts::Computed;
use super::kinds::{Claim, RATES, claimed};
use super::sentence::Sentence;
use super::{Claims, Verdict};
use crate::column::Part;
use crate::decimal::Decimal;
use crate::ground::number;
use crate::trace::{Mention, is_derived_percentage};

impl Claims<'_> {
    /// `no`, `none`, `not`: each row that is spoken of has a zero, nothing, or a no; without any, all rows have.
    pub(super) fn none(&self, said: &Sentence<'_>, at: usize) -> Verdict {
        let has_none = |row: &Vec<Option<String>>| {
            row.iter().zip(&self.input.columns).any(|(cell, column)| match cell.as_deref() {
                None => true,
                Some(value) if ["boolean", "bool"].contains(&column.sql_type.as_str()) => {
                    value.starts_with(['f', 'F'])
                }
                Some(value) => value.parse::<f64>().is_ok_and(|number| number == 0.0),
            })
        };
        let mut rows = said.rows_near(at);
        if rows.is_empty() {
            rows = (0..self.input.rows.len()).collect();
        }
        let rows: Vec<_> = rows.iter().filter_map(|row| self.input.rows.get(*row)).collect();
        Verdict::or_open(rows.iter().all(|row| has_none(row)))
    }

    /// `yes`: each row that is spoken of says so.
    pub(super) fn yes(&self, said: &Sentence<'_>, at: usize) -> Verdict {
        let says = |row: &Vec<Option<String>>| {
            row.iter().zip(&self.input.columns).any(|(cell, column)| {
                ["boolean", "bool"].contains(&column.sql_type.as_str())
                    && cell.as_deref().is_some_and(|value| value.starts_with(['t', 'T']))
            })
        };
        let mut rows = said.rows_near(at);
        if rows.is_empty() {
            rows = (0..self.input.rows.len()).collect();
        }
        let rows: Vec<_> = rows.iter().filter_map(|row| self.input.rows.get(*row)).collect();
        Verdict::or_open(!rows.is_empty() && rows.iter().all(|row| says(row)))
    }

    /// The row or rows at one end of a measure, and nobody else.
    pub(super) fn extreme(&self, said: &Sentence<'_>, at: usize, high: bool, verb: bool) -> Verdict {
        let rows = if verb && said.word(at + 1) != "by" { said.subject(at) } else { said.rows_near(at) };
        let asked = self.given.query.sorts(high);
        if self.input.rows.len() < 2 {
            return Verdict::or_open(asked && self.input.row_count == 1);
        }
        // `The top 3 are A, B and C`, in whatever order they come, or in the lines below.
        let several = said.words.iter().any(|word| ["are", "were"].contains(&word.text.as_str()));
        let counts = || said.number_behind(at).is_some_and(|number| self.is_count(number));
        let every = said.rows().len() == self.input.rows.len() || (said.rows().is_empty() && counts());
        if asked && several && self.whole && every {
            return Verdict::Holds;
        }
        if self.measures.is_empty() {
            return Verdict::Open;
        }
        if rows.is_empty() {
            return Verdict::or_open(self.whole && said.rows().is_empty() && self.says_an_end(said, high));
        }
        let sign = if high { 1.0 } else { -1.0 };
        let is_end = |values: &[f64]| {
            let end = values.iter().map(|value| value * sign).fold(f64::NEG_INFINITY, f64::max);
            let at_end = |row: &usize| values.get(*row).is_some_and(|value| value * sign >= end);
            let others = (0..values.len()).filter(at_end).all(|row| said.rows().contains(&row));
            self.knows_end(values, high) && others && rows.iter().all(at_end)
        };
        let measures = self.measures_of(said, &rows);
        Verdict::of(!measures.is_empty() && measures.iter().all(|values| is_end(values)))
    }

    /// Whether a number of the sentence is the end of a measure: `the most was 1,200`.
    pub(super) fn says_an_end(&self, said: &Sentence<'_>, high: bool) -> bool {
        self.measures.iter().filter(|(_, values)| self.knows_end(values, high)).any(|(at, values)| {
            let end = values.iter().copied().reduce(if high { f64::max } else { f64::min });
            let row = values.iter().position(|value| Some(*value) == end);
            let cell = row.and_then(|row| self.input.rows.get(row)?.get(*at)?.as_deref());
            cell.and_then(number).is_some_and(|end| said.numbers.iter().any(|number| number.stands_for(end)))
        })
    }

    /// Whether the end of a measure is among the rows: all are here, or they come in its order.
    fn knows_end(&self, values: &[f64], high: bool) -> bool {
        let sign = if high { 1.0 } else { -1.0 };
        (self.whole && !self.given.cut()) || values.is_sorted_by(|a, b| a * sign >= b * sign)
    }

    /// The row at an end of time.
    pub(super) fn moment(&self, said: &Sentence<'_>, at: usize, late: bool) -> Verdict {
        let rows = said.rows_near(at);
        let ranks = |column: usize| -> Option<Vec<i64>> {
            let unit = match self.columns.get(column)?.part {
                Part::Period(unit) => Some(unit),
                _ => None,
            };
            let rank = |cell: &str| match unit {
                Some(unit) => unit.rank(cell),
                None => Date::parse(cell).map(Date::days),
            };
            self.input.rows.iter().map(|row| rank(row.get(column)?.as_deref()?)).collect()
        };
        let Some(ranks) = (0..self.columns.len()).find_map(ranks).filter(|ranks| ranks.len() > 1) else {
            return Verdict::Open;
        };
        let end = if late { ranks.iter().max() } else { ranks.iter().min() };
        if rows.is_empty() || !self.whole || self.given.cut() {
            return Verdict::Open;
        }
        Verdict::of(rows.iter().all(|row| ranks.get(*row) == end))
    }

    /// `first`, `third`, `last`: the place of the row that is spoken of. With a number behind it, a part of the rows.
    pub(super) fn place(&self, said: &Sentence<'_>, at: usize, place: Option<usize>) -> Verdict {
        if said.number_behind(at).is_some() {
            return Verdict::or_open(place == Some(0));
        }
        let rows = said.rows_near(at);
        let wanted = place.or_else(|| self.input.rows.len().checked_sub(1).filter(|_| self.whole));
        match (rows.as_slice(), wanted) {
            ([], _) | (_, None) => Verdict::Open,
            (rows, Some(wanted)) => Verdict::of(rows.iter().all(|row| *row == wanted)),
        }
    }

    /// `more than 1.2 million`: a number of the rows that was rounded this way, or a bound of the question.
    pub(super) fn bound(&self, said: &Sentence<'_>, at: usize, above: bool) -> Verdict {
        let Some(bound) = said.number_behind(at) else { return Verdict::Open };
        let rows = Decimal::parse(&self.input.row_count.to_string());
        if above && self.input.truncated && rows.is_some_and(|rows| rows.equals(bound.value)) {
            return Verdict::Holds;
        }
        let lies = |exact: Decimal| {
            if above { bound.value.is_below(exact) } else { exact.is_below(bound.value) }
        };
        let rounds = |cell: &str| number(cell).is_some_and(|exact| bound.stands_for(exact) && lies(exact));
        if self.input.rows.iter().flatten().flatten().any(|cell| rounds(cell)) {
            return Verdict::Holds;
        }
        let asked = self.input.question.to_lowercase();
        let asked = Sentence::alone(&asked);
        let same = |at: usize| {
            matches!(claimed(&asked, at), Some(Claim::Bound { above: same }) if same == above)
                && asked.number_behind(at).is_some_and(|number| number.value.equals(bound.value))
        };
        // `At least 5` takes the 5 in, `more than 4` does not take the 4.
        let inclusive = ["least", "most", "up"].contains(&said.word(at));
        let kept = self.given.query.bounds(bound.value, Some((above, inclusive)));
        Verdict::of(kept && (0..asked.words.len()).any(same))
    }

    /// One row above or below another, by their names.
    pub(super) fn compared(&self, said: &Sentence<'_>, at: usize, above: bool) -> Verdict {
        let word = said.word(at);
        if word == "more"
            && said.word(at + 1) == "in"
            && said.word(at + 2) == "the"
            && said.word(at + 3) == "table"
        {
            return Verdict::Holds;
        }
        if word == "more" && said.word(at + 1) != "than" && self.input.truncated {
            return Verdict::Holds;
        }
        let here = said.start(at);
        let left = said.refs.iter().rfind(|found| found.at < here).map(|found| found.row);
        // `Ravi has a higher value (99) than Asha`
        let than = (at + 1..said.words.len()).find(|next| said.word(*next) == "than");
        let there = than.map_or(here, |than| said.start(than));
        let right = said.refs.iter().find(|found| found.at > there).map(|found| found.row);
        // `Sales were higher in March than in April`
        let between =
            || said.refs.iter().find(|found| found.at > here && found.at < there).map(|found| found.row);
        let left = left.or_else(between).or(said.before.last().copied());
        let (Some(left), Some(right)) = (left, right) else {
            return if self.measures.is_empty() { Verdict::Open } else { Verdict::Wrong };
        };
        let measures = self.measures_of(said, &[left, right]);
        let lies = |values: &[f64]| match (values.get(left), values.get(right)) {
            (Some(left), Some(right)) => {
                if above {
                    left > right
                } else {
                    left < right
                }
            }
            _ => false,
        };
        if self.measures.is_empty() {
            return Verdict::Open;
        }
        Verdict::of(left != right && !measures.is_empty() && measures.iter().all(|values| lies(values)))
    }

    /// The rows that are spoken of are equal in what is spoken of.
    pub(super) fn same(&self, said: &Sentence<'_>) -> Verdict {
        let mut rows: Vec<usize> = said.rows().into_iter().collect();
        if rows.is_empty() && self.whole {
            rows = (0..self.input.rows.len()).collect();
        }
        if rows.len() < 2 || self.measures.is_empty() {
            return Verdict::Open;
        }
        let measures = self.measures_of(said, &rows);
        let equal = |values: &[f64]| {
            let mut values = rows.iter().filter_map(|row| values.get(*row));
            let first = values.next();
            values.all(|value| Some(value) == first)
        };
        Verdict::of(!measures.is_empty() && measures.iter().all(|values| equal(values)))
    }

    /// A sum of a column, of the rows that are named, or the number of rows; what a percentage is of; of one row, what its query
    /// summed.
    pub(super) fn total(&self, said: &Sentence<'_>) -> Verdict {
        if self.input.rows.len() < 2 {
            return Verdict::or_open(
                ["sum", "total", "count"].iter().any(|word| self.given.knows(word, &said.stems)),
            );
        }
        let sums = |number: &Mention| {
            // Each percentage is held to its rows by itself.
            (number.percent && (is_derived_percentage(number, self.given) || !self.holds_changes()))
                || self.is_count(number)
                || matches!(self.computed(said, number), Some(Computed::Sum | Computed::Group))
        };
        Verdict::or_open(said.numbers.iter().any(sums))
    }

    /// `per day`, `each month`, `daily`: a column says so, the rows are such times or things, or the query divides by them.
    pub(super) fn per(&self, said: &Sentence<'_>, at: usize) -> Verdict {
        let word = said.word(at);
        let rate = RATES.iter().find(|(rate, _)| *rate == word).map(|(_, unit)| *unit);
        let unit = rate.unwrap_or(if word == "per" { said.word(at + 1) } else { word });
        let labelled = self.columns.iter().any(|column| {
            column.label.split(' ').any(|part| words::same(part, unit) || (rate.is_some() && part == word))
        });
        let divided =
            self.given.query.divides() && (self.given.query.names(unit) || self.given.query.has_unit(unit));
        Verdict::or_open(labelled || divided)
    }

    /// The rows are told in the order they came in, or in that of a measure.
    pub(super) fn order(&self, said: &Sentence<'_>) -> Verdict {
        let mut told: Vec<usize> = Vec::new();
        for row in said.before.iter().copied().chain(said.refs.iter().map(|found| found.row)) {
            if !told.contains(&row) {
                told.push(row);
            }
        }
        if told.len() < 2 || said.refs.is_empty() {
            return Verdict::Open;
        }
        let falls = |values: &Vec<f64>| {
            let told: Vec<f64> = told.iter().filter_map(|row| values.get(*row).copied()).collect();
            told.is_sorted_by(|a, b| a >= b)
        };
        Verdict::of(told.is_sorted() || self.measures.iter().any(|(_, values)| falls(values)))
    }

    /// A change: between two periods of the rows, over all of them, or in a column that holds changes.
    pub(super) fn trend(&self, said: &Sentence<'_>, at: usize, up: bool) -> Verdict {
        let rows = said.course(at);
        let sign = if up { 1.0 } else { -1.0 };
        let axis = self.columns.iter().enumerate().find_map(|(at, column)| match column.part {
            Part::Period(unit) => Some((at, unit)),
            _ => None,
        });
        if let Some((at, unit)) = axis.filter(|_| self.input.rows.len() > 1) {
            let rank = |row: usize| unit.rank(self.input.rows.get(row)?.get(at)?.as_deref()?);
            let mut order: Vec<usize> =
                if rows.len() > 1 { rows.clone() } else { (0..self.input.rows.len()).collect() };
            order.sort_by_key(|row| rank(*row));
            let moves = |values: &[f64]| {
                let told: Vec<f64> = order.iter().filter_map(|row| Some(values.get(*row)? * sign)).collect();
                told.len() > 1 && told.is_sorted_by(|a, b| a < b)
            };
            let measures = self.measures_of(said, &rows);
            let known = rows.len() > 1 || self.whole;
            return Verdict::of(known && !measures.is_empty() && measures.iter().all(|values| moves(values)));
        }
        let change = self.measures.iter().find(|(at, _)| self.is_of_changes(*at));
        if let Some((_, values)) = change {
            let all = (0..values.len()).collect();
            let told = if rows.is_empty() { all } else { rows };
            return Verdict::of(
                told.iter().all(|row| values.get(*row).is_some_and(|value| value * sign > 0.0)),
            );
        }
        // A number that is told without its sign may have moved the other way.
        let falls = self.measures.iter().any(|(_, values)| values.iter().any(|value| *value < 0.0));
        if falls { Verdict::Wrong } else { Verdict::Open }
    }

    /// Whether a column holds changes by its name.
    fn is_of_changes(&self, at: usize) -> bool {
        const CHANGES: [&str; 6] = ["change", "delta", "diff", "difference", "growth", "increase"];
        let name = self.input.columns.get(at).map_or("", |column| column.name.as_str());
        words::identifier_words(name).iter().any(|word| CHANGES.contains(&word.as_str()))
    }

    /// Whether any column does.
    pub(super) fn holds_changes(&self) -> bool {
        self.measures.iter().any(|(at, _)| self.is_of_changes(*at))
    }
}
