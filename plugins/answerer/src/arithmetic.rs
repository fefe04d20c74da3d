//! Numbers that follow from the rows by a step that anybody can check: a sum, a difference, a share.

use airlock_plugin_sdk::contract::answerer::AnswerInput;

use crate::decimal::Decimal;

/// Rows of which every pair is subtracted; of more, neighbours only.
const PAIRS: usize = 5;

/// A part and the whole it is a share of.
type Share = (Decimal, Decimal);

/// What can be computed from the rows without choosing among many.
pub struct Derived {
    /// Sums of columns and differences of values.
    pub amounts: Vec<Decimal>,
    /// Sums of columns.
    pub sums: Vec<Decimal>,
    shares: Vec<Share>,
    /// Whether a share without decimals is told apart from the others: among many it would be met by chance.
    few: bool,
}

impl Derived {
    /// Of these rows.
    pub fn of(input: &AnswerInput) -> Self {
        let columns: Vec<Vec<Decimal>> =
            (0..input.columns.len()).filter_map(|at| column(input, at)).collect();
        let few = input.rows.len() <= PAIRS;
        let (mut amounts, mut sums, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for values in &columns {
            // A sum of what is shown is no sum of what there is.
            let all = input.rows.len() as u64 == input.row_count && !input.truncated;
            let total = values.iter().try_fold(Decimal::ZERO, |sum, value| sum.plus(*value)).filter(|_| all);
            if let Some(total) = total.filter(|_| values.len() > 1) {
                amounts.push(total);
                sums.push(total);
                shares.extend(values.iter().map(|value| (*value, total)));
            }
            for (at, value) in values.iter().enumerate() {
                let others = values.iter().skip(at + 1).take(if few { PAIRS } else { 1 });
                for other in others {
                    let Some(difference) = value.apart(*other) else { continue };
                    amounts.push(difference);
                    // Growth, whichever of the two came first.
                    shares.extend([(difference, *value), (difference, *other)]);
                }
            }
        }
        // Of one row: what one amount is of another, or above it.
        for (at, left) in columns.iter().enumerate() {
            for right in columns.iter().skip(at + 1) {
                for (a, b) in left.iter().zip(right) {
                    amounts.extend(a.apart(*b));
                    shares.extend([(*a, *b), (*b, *a)]);
                }
            }
        }
        Self { amounts, sums, shares, few }
    }

    /// Whether a percentage is one of the shares, rounded to the decimals it is told with.
    pub fn is_share(&self, percent: Decimal) -> bool {
        (self.few || percent.decimals() > 0)
            && self.shares.iter().any(|(part, whole)| percent.is_percent_of(*part, *whole))
    }
}

/// The numbers of a column; none when it has anything else, or a sign, which is not read.
fn column(input: &AnswerInput, at: usize) -> Option<Vec<Decimal>> {
    input.rows.iter().map(|row| row.get(at)?.as_deref().and_then(Decimal::parse)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::input;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn sums_differences_and_shares_follow_from_all_rows() {
        let rows: &[&[Option<&str>]] =
            &[&[Some("Hammer"), Some("75.50")], &[Some("Nails"), Some("20")], &[Some("Saw"), Some("4.5")]];
        let mut data = input("?", &[("name", "text"), ("units", "numeric")], rows);
        let has =
            |derived: &Derived, text: &str| derived.amounts.iter().any(|amount| amount.equals(number(text)));
        let derived = Derived::of(&data);
        for (amount, want) in [("100", true), ("55.5", true), ("15.50", true), ("71", true), ("95.5", false)]
        {
            assert_eq!(has(&derived, amount), want, "{amount}");
        }
        for (percent, want) in
            [("75.5", true), ("76", true), ("20", true), ("4.5", true), ("75", false), ("50", false)]
        {
            assert_eq!(derived.is_share(number(percent)), want, "{percent}");
        }
        // Of a part there is no sum.
        data.row_count = 40;
        assert!(!has(&Derived::of(&data), "100"));
    }

    #[test]
    fn a_column_with_anything_but_numbers_gives_none() {
        let rows: &[&[Option<&str>]] = &[&[Some("-5")], &[Some("3")]];
        assert!(Derived::of(&input("?", &[("x", "numeric")], rows)).amounts.is_empty());
        let rows: &[&[Option<&str>]] = &[&[None], &[Some("3")]];
        assert!(Derived::of(&input("?", &[("x", "numeric")], rows)).amounts.is_empty());
    }
}
