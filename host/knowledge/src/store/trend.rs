//! The drift signal: whether answers have lately taken more attempts, or been given up more often, than before.
//!
//! A renamed column breaks no test and stops no server. What changes is that drafts begin to fail: answers take another
//! attempt, or none is found. The last days are held against the days before them, and a difference counts when it is large
//! enough to matter and too large for chance.

use serde::Serialize;

/// Days that are looked at.
pub const RECENT_DAYS: u32 = 7;
/// Days before them that they are held against.
pub const BEFORE_DAYS: u32 = 28;
/// Least asks of the last days.
const RECENT_LEAST: i64 = 20;
/// Least asks of the days before.
const BEFORE_LEAST: i64 = 40;
/// Attempts per answer more than before that matter.
const ATTEMPTS: f64 = 0.25;
/// Share of give-ups more than before that matters.
const GAVE_UP: f64 = 0.10;
/// Standard errors that are more than chance.
const ERRORS: f64 = 3.0;

/// The rule in words, shown wherever an alert is.
pub const RULE: &str = "the last 7 days against the 28 before, agent mode: an alert when an answer by SQL takes at least 0.25 \
     attempts more on average, or at least 10 in 100 more of the asks with a draft are given up, by more than 3 standard \
     errors; with fewer than 20 asks now or 40 before there is no verdict";

/// What was counted in some days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Days.
    pub days: u32,
    /// Asks answered by SQL.
    pub answered: i64,
    /// Attempts of those.
    pub attempts: i64,
    /// Their squares, for the spread.
    #[serde(skip)]
    pub squares: i64,
    /// Asks with at least one attempt that were answered or given up.
    pub drafted: i64,
    /// Those that were given up.
    pub gave_up: i64,
}

/// What the signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendState {
    /// Too little was asked to say anything.
    TooFew,
    /// As before.
    Steady,
    /// It takes more than before: something changed underneath.
    Alert,
}

/// What rose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rise {
    /// `attempts_per_success` or `give_up_rate`.
    pub what: &'static str,
    /// In the days before.
    pub before: f64,
    /// In the last days.
    pub recent: f64,
}

/// The drift signal, with what it was made from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trend {
    /// The verdict.
    pub state: TrendState,
    /// What rose; empty unless it is an alert.
    pub rises: Vec<Rise>,
    /// Attempts per answer in the last days.
    pub attempts_per_success: Option<f64>,
    /// In the days before.
    pub attempts_per_success_before: Option<f64>,
    /// The last days.
    pub recent: Window,
    /// The days before.
    pub before: Window,
    /// The rule.
    pub rule: &'static str,
}

#[allow(clippy::cast_precision_loss, reason = "counts of asks are far below 2^52")]
const fn real(count: i64) -> f64 {
    count as f64
}

/// A part of a whole, unless there is nothing it could be a part of.
pub(super) fn share(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| real(part) / real(whole))
}

impl Window {
    fn attempts_per_success(&self) -> Option<f64> {
        share(self.attempts, self.answered)
    }

    /// Square of the standard error of the mean of attempts.
    fn error_of_attempts(&self) -> f64 {
        let n = real(self.answered);
        let mean = real(self.attempts) / n;
        (real(self.squares) / n - mean * mean).max(0.0) / n
    }

    /// Square of the standard error of the share of give-ups.
    fn error_of_give_ups(&self) -> f64 {
        let n = real(self.drafted);
        let share = real(self.gave_up) / n;
        share * (1.0 - share) / n
    }
}

/// A rise that is large enough and no chance.
fn rise(what: &'static str, [before, recent]: [f64; 2], least: f64, error: f64) -> Option<Rise> {
    let by = recent - before;
    (by >= least && by > ERRORS * error.sqrt()).then_some(Rise { what, before, recent })
}

impl Trend {
    /// What the last days say against those before.
    #[must_use]
    pub fn of(recent: Window, before: Window) -> Self {
        let (now, then) = (recent.attempts_per_success(), before.attempts_per_success());
        let enough = |recent, before| recent >= RECENT_LEAST && before >= BEFORE_LEAST;
        let attempts = enough(recent.answered, before.answered);
        let give_ups = enough(recent.drafted, before.drafted);
        let mut rises = Vec::new();
        if let (true, Some(now), Some(then)) = (attempts, now, then) {
            let error = recent.error_of_attempts() + before.error_of_attempts();
            rises.extend(rise("attempts_per_success", [then, now], ATTEMPTS, error));
        }
        let shares = (share(recent.gave_up, recent.drafted), share(before.gave_up, before.drafted));
        if let (true, (Some(now), Some(then))) = (give_ups, shares) {
            let error = recent.error_of_give_ups() + before.error_of_give_ups();
            rises.extend(rise("give_up_rate", [then, now], GAVE_UP, error));
        }
        let state = match (attempts || give_ups, rises.is_empty()) {
            (false, _) => TrendState::TooFew,
            (true, true) => TrendState::Steady,
            (true, false) => TrendState::Alert,
        };
        Self {
            state,
            rises,
            attempts_per_success: now,
            attempts_per_success_before: then,
            recent,
            before,
            rule: RULE,
        }
    }

    /// Whether it says that something changed.
    #[must_use]
    pub fn is_alert(&self) -> bool {
        self.state == TrendState::Alert
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers at one, two and three attempts, and give-ups.
    fn window(one: i64, two: i64, three: i64, gave_up: i64) -> Window {
        let answered = one + two + three;
        Window {
            days: 7,
            answered,
            attempts: one + 2 * two + 3 * three,
            squares: one + 4 * two + 9 * three,
            drafted: answered + gave_up,
            gave_up,
        }
    }

    #[test]
    fn an_alert_is_what_matters_and_is_no_chance() {
        use TrendState::{Alert, Steady, TooFew};
        let usual = window(360, 40, 0, 8);
        for (what, recent, before, state, rises) in [
            ("nothing was asked", window(0, 0, 0, 0), window(0, 0, 0, 0), TooFew, vec![]),
            ("nothing before", window(90, 10, 0, 0), window(30, 3, 0, 0), TooFew, vec![]),
            ("little now", window(2, 9, 4, 0), usual, TooFew, vec![]),
            ("as before", window(90, 10, 0, 2), usual, Steady, vec![]),
            ("a little more", window(75, 25, 0, 2), usual, Steady, vec![]),
            ("much more", window(20, 40, 40, 2), usual, Alert, vec!["attempts_per_success"]),
            ("much more, of few", window(5, 10, 5, 0), usual, Alert, vec!["attempts_per_success"]),
            ("more, of few: may be chance", window(14, 3, 3, 0), usual, Steady, vec![]),
            (
                "from never to always",
                window(0, 20, 0, 0),
                window(40, 0, 0, 0),
                Alert,
                vec!["attempts_per_success"],
            ),
            ("better than before", window(100, 0, 0, 0), window(100, 100, 100, 0), Steady, vec![]),
            (
                "given up, and hardly anything answered",
                window(9, 1, 0, 40),
                usual,
                Alert,
                vec!["give_up_rate"],
            ),
            ("given up a little more", window(90, 10, 0, 9), usual, Steady, vec![]),
            ("both", window(10, 20, 20, 50), usual, Alert, vec!["attempts_per_success", "give_up_rate"]),
            ("given up as often as before", window(50, 50, 0, 100), window(200, 200, 0, 400), Steady, vec![]),
        ] {
            let trend = Trend::of(recent, before);
            let rose: Vec<&str> = trend.rises.iter().map(|rise| rise.what).collect();
            assert_eq!((trend.state, rose), (state, rises), "{what}: {trend:?}");
        }
    }

    #[test]
    fn the_rule_says_the_numbers_it_goes_by() {
        for number in [
            RECENT_DAYS.to_string(),
            BEFORE_DAYS.to_string(),
            RECENT_LEAST.to_string(),
            BEFORE_LEAST.to_string(),
            ATTEMPTS.to_string(),
            format!("{} in 100", GAVE_UP * 100.0),
            format!("{ERRORS} standard"),
        ] {
            assert!(RULE.contains(&number), "{number}");
        }
    }
}
