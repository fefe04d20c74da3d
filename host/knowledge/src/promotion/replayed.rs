//! The table of a replay, and the rule that reads it.

use serde::{Deserialize, Serialize};

/// How often a flip must repeat.
pub const REPEATS: usize = 3;

/// How a golden case came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Right.
    Right,
    /// Wrong.
    Wrong,
    /// It cannot be said: the case, or something that was down.
    Undecided,
}

/// A golden case, asked without a candidate and with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseReplay {
    /// The case.
    pub case: String,
    /// Its question.
    pub question: String,
    /// Without the candidate.
    pub without: Grade,
    /// With it, each time it was asked.
    pub with: Vec<Grade>,
}

impl CaseReplay {
    /// Whether it fails without and is right with the candidate, each time.
    #[must_use]
    pub fn is_flip(&self) -> bool {
        self.without == Grade::Wrong
            && self.with.len() >= REPEATS
            && self.with.iter().all(|grade| *grade == Grade::Right)
    }

    /// Whether it is right without and not with the candidate.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.without == Grade::Right && self.with.contains(&Grade::Wrong)
    }

    /// Whether it is right without, and it cannot be said whether with.
    fn is_open(&self) -> bool {
        self.without == Grade::Right && self.with.contains(&Grade::Undecided)
    }
}

/// What both arms gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// The cases that were asked with the candidate.
    pub cases: Vec<CaseReplay>,
    /// Golden cases the domain has.
    pub of: usize,
    /// Asks that were made.
    pub asks: usize,
}

/// What a table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// At least one flip that repeats, and no regression.
    Helps,
    /// A case that was right is wrong with it.
    Harms,
    /// Nothing shows that it helps.
    Unproven,
}

impl Replayed {
    /// Cases that flip.
    #[must_use]
    pub fn flips(&self) -> usize {
        self.cases.iter().filter(|case| case.is_flip()).count()
    }

    /// Cases that get worse.
    #[must_use]
    pub fn regressions(&self) -> usize {
        self.cases.iter().filter(|case| case.is_regression()).count()
    }

    /// What it says, and why.
    #[must_use]
    pub fn ruling(&self) -> (Ruling, String) {
        let (flips, regressions) = (self.flips(), self.regressions());
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let said = format!("{}, {}", count(flips, "flip"), count(regressions, "regression"));
        if self.of == 0 {
            return (
                Ruling::Unproven,
                "the domain has no golden case that could show that it helps".to_owned(),
            );
        }
        if regressions > 0 {
            return (Ruling::Harms, said);
        }
        if flips == 0 {
            return (Ruling::Unproven, format!("{said}: no golden case shows that it helps"));
        }
        if self.cases.iter().any(CaseReplay::is_open) {
            return (Ruling::Unproven, format!("{said}, and cases that could not be graded: replay again"));
        }
        (Ruling::Helps, said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_flip_that_repeats_without_a_regression_helps() {
        use Grade::{Right, Undecided, Wrong};
        type Case = (Grade, &'static [Grade]);
        let cases: [(&[Case], Ruling); 9] = [
            (&[], Ruling::Unproven),
            (&[(Wrong, &[Right, Right, Right])], Ruling::Helps),
            (&[(Wrong, &[Right, Right, Right]), (Right, &[Right])], Ruling::Helps),
            (&[(Wrong, &[Right, Right, Wrong])], Ruling::Unproven),
            (&[(Wrong, &[Right])], Ruling::Unproven),
            (&[(Undecided, &[Right, Right, Right])], Ruling::Unproven),
            (&[(Wrong, &[Right, Right, Right]), (Right, &[Wrong])], Ruling::Harms),
            (&[(Right, &[Wrong])], Ruling::Harms),
            (&[(Wrong, &[Right, Right, Right]), (Right, &[Undecided])], Ruling::Unproven),
        ];
        for (cases, want) in cases {
            let cases = cases.iter().map(|(without, with)| CaseReplay {
                case: "a".to_owned(),
                question: "q".to_owned(),
                without: *without,
                with: with.to_vec(),
            });
            let table = Replayed { cases: cases.collect(), of: 3, asks: 3 };
            assert_eq!(table.ruling().0, want, "{table:?}");
        }
        let none = Replayed { cases: Vec::new(), of: 0, asks: 0 };
        assert!(none.ruling().1.contains("no golden case"));
    }
}
