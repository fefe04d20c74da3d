//! How sure a count can be: intervals of shares, a paired test, the middle and the tail of times.

use serde::{Deserialize, Serialize};

/// The normal quantile of a two-sided 95 percent interval.
const Z: f64 = 1.959_963_984_540_054;

/// Below this probability a difference is not called noise.
pub const SIGNIFICANT: f64 = 0.05;

/// A share of questions with its 95 percent interval (Wilson's).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// How many.
    pub right: usize,
    /// Of how many.
    pub of: usize,
    /// The one by the other; absent of nothing.
    pub rate: Option<f64>,
    /// Lower bound.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
}

#[allow(clippy::cast_precision_loss, reason = "counts of questions are far below 2^52")]
const fn real(count: usize) -> f64 {
    count as f64
}

/// To four places, so that a summary reads.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Wilson's score interval.
fn wilson(right: usize, of: usize) -> (f64, f64) {
    let (n, p) = (real(of), real(right) / real(of));
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

impl Share {
    /// A share with its interval.
    #[must_use]
    pub fn new(right: usize, of: usize) -> Self {
        if of == 0 {
            return Self { right, of, rate: None, low: None, high: None };
        }
        let (low, high) = wilson(right, of);
        let some = |value| Some(rounded(value));
        Self { right, of, rate: some(real(right) / real(of)), low: some(low), high: some(high) }
    }
}

/// The same questions graded twice: how many changed, and whether that is more than chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// Questions that were graded both times.
    pub questions: usize,
    /// Right both times.
    pub both: usize,
    /// Right the first time alone.
    pub only_first: usize,
    /// Right the second time alone.
    pub only_second: usize,
    /// Wrong both times.
    pub neither: usize,
    /// Share of the second less that of the first.
    pub difference: Option<f64>,
    /// Lower bound of the difference, 95 percent (Newcombe's for paired shares).
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
    /// Probability of a split at least as uneven when nothing but chance decides (McNemar's exact test, two-sided).
    pub p: f64,
    /// Whether that is small enough not to be called noise.
    pub significant: bool,
}

/// A probability to three places. None of a split that happened is zero.
fn told(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("= {p:.3}") }
}

impl Paired {
    /// From whether each question was right, the first time and the second.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let (mut both, mut only_first, mut only_second, mut neither) = (0, 0, 0, 0);
        for pair in pairs {
            *match pair {
                (true, true) => &mut both,
                (true, false) => &mut only_first,
                (false, true) => &mut only_second,
                (false, false) => &mut neither,
            } += 1;
        }
        let questions = both + only_first + only_second + neither;
        let p = mcnemar(only_first, only_second);
        let interval = (questions > 0).then(|| newcombe(both, only_first, only_second, neither));
        let difference =
            (questions > 0).then(|| rounded((real(only_second) - real(only_first)) / real(questions)));
        Self {
            questions,
            both,
            only_first,
            only_second,
            neither,
            difference,
            low: interval.map(|(low, _)| rounded(low)),
            high: interval.map(|(_, high)| rounded(high)),
            p: rounded(p),
            significant: p < SIGNIFICANT,
        }
    }

    /// What it comes to, in words.
    #[must_use]
    pub fn says(&self, first: &str, second: &str) -> String {
        let (a, b) = (self.only_first, self.only_second);
        let flips = a + b;
        let flipped = format!(
            "Of {} questions {b} {} right in {second} alone and {a} in {first} alone (p {}).",
            self.questions,
            if b == 1 { "is" } else { "are" },
            told(self.p)
        );
        if self.questions == 0 {
            return "No question was graded in both.".to_owned();
        }
        if flips == 0 {
            return format!(
                "Both {first} and {second} are right on the same {} of {} questions.",
                self.both, self.questions
            );
        }
        if !self.significant {
            return format!(
                "{flipped} That can be chance: the difference is noise until more questions say otherwise."
            );
        }
        let (better, worse) = if b > a { (second, first) } else { (first, second) };
        format!("{flipped} That is hardly chance: {better} is better than {worse}.")
    }
}

/// McNemar's exact test: the two tails of a fair coin over the questions that changed.
fn mcnemar(only_first: usize, only_second: usize) -> f64 {
    let (n, least) = (only_first + only_second, only_first.min(only_second));
    // Terms by their logarithms: 2^-n alone would vanish for large n.
    let mut term = -real(n) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..=least {
        tail += term.exp();
        term += (real(n - k)).ln() - (real(k + 1)).ln();
    }
    (2.0 * tail).min(1.0)
}

/// Newcombe's interval for a difference of paired shares (method 10, 1998): Wilson's intervals of the two, squared and added,
/// less what they have in common.
fn newcombe(both: usize, only_first: usize, only_second: usize, neither: usize) -> (f64, f64) {
    let n = both + only_first + only_second + neither;
    let (second, first) = (both + only_second, both + only_first);
    let (p2, p1) = (real(second) / real(n), real(first) / real(n));
    let ((l2, u2), (l1, u1)) = (wilson(second, n), wilson(first, n));
    let margins = real(second) * real(n - second) * real(first) * real(n - first);
    let cross = real(both) * real(neither) - real(only_first) * real(only_second);
    // Correction for continuity, where the two agree more than by chance.
    let cross = if cross > 0.0 { (cross - real(n) / 2.0).max(0.0) } else { cross };
    let phi = if margins > 0.0 { cross / margins.sqrt() } else { 0.0 };
    let joined = |a: f64, b: f64| (a * a - 2.0 * phi * a * b + b * b).max(0.0).sqrt();
    let difference = p2 - p1;
    ((difference - joined(p2 - l2, u1 - p1)).max(-1.0), (difference + joined(u2 - p2, p1 - l1)).min(1.0))
}

/// The middle and the tail of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Half take no longer.
    pub median: Option<u64>,
    /// Of twenty, nineteen take no longer.
    pub p95: Option<u64>,
}

impl Times {
    /// Of these times, in whatever unit they are.
    #[must_use]
    pub fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        // The nearest rank, counted from 1.
        let at = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100);
            times.get(rank.checked_sub(1)?).copied()
        };
        Self { median: at(50), p95: at(95) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) -> bool {
        (got - want).abs() < 0.000_06
    }

    #[test]
    fn wilsons_interval_is_the_textbooks() {
        // Computed by hand from the formula with z = 1.96.
        for (right, of, low, high) in
            [(23, 30, 0.5907, 0.8821), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 2, 0.0945, 0.9055)]
        {
            let share = Share::new(right, of);
            assert!(near(share.low.unwrap(), low) && near(share.high.unwrap(), high), "{share:?}");
        }
        assert_eq!(Share::new(0, 0).rate, None);
    }

    #[test]
    fn the_paired_test_counts_the_coins() {
        // Two-sided: 2 * (sum of C(n, k), k up to the smaller) / 2^n.
        for (first, second, p) in [
            (0, 0, 1.0),
            (1, 5, 14.0 / 64.0),
            (0, 5, 2.0 / 32.0),
            (0, 6, 2.0 / 64.0),
            (3, 3, 1.0),
            (2, 12, 2.0 * 106.0 / 16_384.0),
            // Far beyond what 2^-n can be written as.
            (0, 3_000, 0.0),
        ] {
            assert!(near(mcnemar(first, second), p), "{first} {second}: {}", mcnemar(first, second));
            assert!(near(mcnemar(second, first), p));
        }
    }

    /// Both, first alone, second alone, neither; the difference and its bounds, of which the first two rows stand in Newcombe's
    /// paper and the others were computed apart.
    type Interval = ((usize, usize, usize, usize), f64, f64, f64);
    const INTERVALS: [Interval; 4] = [
        ((36, 2, 12, 0), 0.2, 0.0569, 0.3404),
        ((43, 0, 0, 7), 0.0, -0.0638, 0.0638),
        ((0, 11, 29, 14), 0.3333, 0.1081, 0.5207),
        ((20, 2, 4, 4), 0.0667, -0.1067, 0.2377),
    ];

    #[test]
    fn the_paired_interval_is_the_one_of_the_paper() {
        let pairs = |both: usize, first: usize, second: usize, neither: usize| {
            let times = |n, pair| std::iter::repeat_n(pair, n);
            let all = times(both, (true, true)).chain(times(first, (true, false)));
            Paired::new(all.chain(times(second, (false, true))).chain(times(neither, (false, false))))
        };
        for (counts, difference, low, high) in INTERVALS {
            let (both, first, second, neither) = counts;
            let paired = pairs(both, first, second, neither);
            assert!(near(paired.difference.unwrap(), difference), "{paired:?}");
            assert!(near(paired.low.unwrap(), low) && near(paired.high.unwrap(), high), "{paired:?}");
        }
        let noise = pairs(20, 2, 4, 4).says("baseline", "agent");
        assert!(noise.contains("noise"), "{noise}");
        let better = pairs(20, 0, 9, 1).says("baseline", "agent");
        assert!(better.contains("agent is better than baseline"), "{better}");
        assert!(better.contains("(p = 0.004)"), "{better}");
        let sure = pairs(0, 0, 40, 0).says("a", "b");
        assert!(sure.contains("(p < 0.001)"), "{sure}");
        assert!(pairs(3, 0, 0, 1).says("a", "b").contains("same 3 of 4"));
        assert!(pairs(0, 0, 0, 0).says("a", "b").contains("No question"));
    }

    #[test]
    fn the_middle_and_the_tail_are_values_that_occurred() {
        for (times, median, p95) in [
            (vec![], None, None),
            (vec![7], Some(7), Some(7)),
            (vec![3, 1, 2], Some(2), Some(3)),
            (vec![4, 1, 3, 2], Some(2), Some(4)),
            ((1..=100).collect(), Some(50), Some(95)),
        ] {
            assert_eq!(Times::of(times), Times { median, p95 });
        }
    }
}
