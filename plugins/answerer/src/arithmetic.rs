//! Numbers that follow from the rows by a step that anybody can check: a sum, a difference, a share, a change.

use std::collections::BTreeSet;

use crate::column::Part;
use crate::decimal::Decimal;
use crate::given::Given;

/// The numbers of the rows, to compute with.
pub struct Derived {
    columns: Vec<Measured>,
}

/// A column of numbers.
struct Measured {
    /// Its place in the result.
    at: usize,
    /// None where a row has no value, or one below zero: a sign is not read.
    values: Vec<Option<Decimal>>,
    /// Its sum, where all rows are here.
    sum: Option<Decimal>,
}

impl Derived {
    /// Of these rows.
    pub fn of(given: &Given<'_>) -> Self {
        // A sum of what is shown is no sum of what there is.
        let all = given.whole();
        let measured = given.columns.iter().enumerate().filter(|(_, column)| column.part == Part::Measure);
        let columns = measured.map(|(at, _)| {
            let cells = given.input.rows.iter().map(|row| row.get(at)?.as_deref().and_then(Decimal::parse));
            let values: Vec<Option<Decimal>> = cells.collect();
            let every = values.iter().copied().collect::<Option<Vec<Decimal>>>();
            let sum =
                every.filter(|values| all && values.len() > 1).and_then(|values| sum(values.into_iter()));
            Measured { at, values, sum }
        });
        Self { columns: columns.collect() }
    }

    /// The sums of the columns over all rows, with the places of the columns.
    pub fn sums(&self) -> impl Iterator<Item = (usize, Decimal)> {
        self.columns.iter().filter_map(|column| Some((column.at, column.sum?)))
    }

    /// The sums of the columns over several of the rows.
    pub fn sums_of<'a>(
        &'a self,
        rows: &'a BTreeSet<usize>,
    ) -> impl Iterator<Item = (usize, Decimal)> + use<'a> {
        let several = self.columns.iter().filter(|_| rows.len() > 1);
        several.filter_map(|column| Some((column.at, some(&column.values, rows)?)))
    }

    /// How far two rows are apart in each column.
    pub fn between(&self, a: usize, b: usize) -> impl Iterator<Item = (usize, Decimal)> {
        self.columns.iter().filter_map(move |column| {
            let value = |row: usize| column.values.get(row).copied().flatten();
            Some((column.at, value(a)?.apart(value(b)?)?))
        })
    }

    /// How far two columns of a row are apart.
    pub fn across(&self, row: usize) -> impl Iterator<Item = Decimal> {
        self.columns.iter().enumerate().flat_map(move |(at, left)| {
            let others = self.columns.iter().skip(at + 1);
            others.filter_map(move |right| {
                left.values.get(row).copied()??.apart(right.values.get(row).copied()??)
            })
        })
    }

    /// Whether a percentage is what these rows are of the sum of a column, of one of `among` where it has any.
    pub fn is_share(&self, percent: Decimal, rows: &BTreeSet<usize>, among: &BTreeSet<usize>) -> bool {
        let columns = self.columns.iter().filter(|column| among.is_empty() || among.contains(&column.at));
        columns
            .filter_map(|column| Some((some(&column.values, rows)?, column.sum?)))
            .any(|(part, whole)| percent.is_percent_of(part, whole))
    }

    /// Whether a percentage is what one column of a row is of another.
    pub fn is_ratio(&self, percent: Decimal, row: usize) -> bool {
        let pairs = |at: usize| (0..self.columns.len()).filter(move |other| *other != at);
        (0..self.columns.len()).any(|at| {
            pairs(at).any(|other| {
                let value = |at: usize| self.columns.get(at)?.values.get(row).copied()?;
                value(at).zip(value(other)).is_some_and(|(part, whole)| percent.is_percent_of(part, whole))
            })
        })
    }

    /// Whether a percentage is how far a row lies above (or below) another, in one of `among` where it has any.
    pub fn is_change(
        &self,
        percent: Decimal,
        (from, to): (usize, usize),
        above: bool,
        among: &BTreeSet<usize>,
    ) -> bool {
        let columns = self.columns.iter().filter(|column| among.is_empty() || among.contains(&column.at));
        columns.map(|column| &column.values).any(|values| {
            let value = |row: usize| values.get(row).copied().flatten();
            let (Some(from), Some(to)) = (value(from), value(to)) else { return false };
            let lies = if above { from.is_below(to) } else { to.is_below(from) };
            lies && from.apart(to).is_some_and(|apart| percent.is_percent_of(apart, from))
        })
    }
}

fn sum(mut values: impl Iterator<Item = Decimal>) -> Option<Decimal> {
    values.try_fold(Decimal::ZERO, Decimal::plus)
}

/// The sum over some rows.
fn some(values: &[Option<Decimal>], rows: &BTreeSet<usize>) -> Option<Decimal> {
    let parts: Vec<Decimal> = rows.iter().map(|row| values.get(*row).copied()?).collect::<Option<_>>()?;
    sum(parts.into_iter()).filter(|_| !rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{given, input};

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn sums_differences_and_shares_follow_from_all_rows() {
        let rows: &[&[Option<&str>]] =
            &[&[Some("Hammer"), Some("75.50")], &[Some("Nails"), Some("20")], &[Some("Saw"), Some("4.5")]];
        let mut data = input("?", &[("name", "text"), ("units", "numeric")], rows);
        let derived = Derived::of(&given(&data));
        let any = BTreeSet::new();
        let texts = |amounts: Vec<(usize, Decimal)>, want: &[&str]| {
            assert_eq!(amounts.len(), want.len());
            for ((_, amount), want) in amounts.iter().zip(want) {
                assert!(amount.equals(number(want)), "{want}");
            }
        };
        texts(derived.sums().collect(), &["100"]);
        texts(derived.sums_of(&BTreeSet::from([0, 1])).collect(), &["95.5"]);
        texts(derived.sums_of(&BTreeSet::from([0])).collect(), &[]);
        texts(derived.between(0, 1).collect(), &["55.5"]);
        for (percent, rows, want) in [
            ("75.5", &[0][..], true),
            ("76", &[0], true),
            ("20", &[0], false),
            ("20", &[1], true),
            ("95.5", &[0, 1], true),
            ("75", &[0], false),
        ] {
            let rows = rows.iter().copied().collect();
            assert_eq!(derived.is_share(number(percent), &rows, &any), want, "{percent}");
        }
        for (percent, from, to, above, want) in [
            ("277.5", 1, 0, true, true),
            ("277.5", 0, 1, true, false),
            ("73.5", 0, 1, false, true),
            ("73.5", 1, 0, true, false),
        ] {
            assert_eq!(derived.is_change(number(percent), (from, to), above, &any), want, "{percent}");
        }
        // Of a part there is no sum.
        data.row_count = 40;
        let part = Derived::of(&given(&data));
        assert_eq!(part.sums().count(), 0);
        assert!(!part.is_share(number("75.5"), &BTreeSet::from([0]), &any));
    }

    #[test]
    fn the_columns_of_a_row_are_set_against_each_other() {
        let rows: &[&[Option<&str>]] = &[&[Some("Pune"), Some("12"), Some("48")]];
        let derived = Derived::of(&given(&input(
            "?",
            &[("city", "text"), ("paid", "bigint"), ("bills", "bigint")],
            rows,
        )));
        assert!(derived.is_ratio(number("25"), 0));
        assert!(!derived.is_ratio(number("75"), 0));
        assert!(derived.across(0).any(|amount| amount.equals(number("36"))));
    }

    #[test]
    fn a_value_that_is_no_plain_number_has_no_part_in_it() {
        let rows: &[&[Option<&str>]] = &[&[Some("-5")], &[Some("3")], &[Some("4")], &[None]];
        let derived = Derived::of(&given(&input("?", &[("x", "numeric")], rows)));
        assert_eq!(derived.sums().count(), 0);
        assert_eq!(derived.sums_of(&BTreeSet::from([0, 1])).count(), 0);
        assert!(derived.sums_of(&BTreeSet::from([1, 2])).all(|(_, sum)| sum.equals(number("7"))));
        assert_eq!(derived.between(1, 3).count(), 0);
        assert_eq!(derived.between(1, 2).count(), 1);
    }
}
