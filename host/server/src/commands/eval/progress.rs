//! How far an evaluation is, on stderr, where somebody looks.

use airlock_evaluation::Step;
use airlock_pipeline::golden::Verdict;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar with what came out so far.
pub(super) struct Bar {
    bar: ProgressBar,
    right: usize,
    wrong: usize,
    other: usize,
}

impl Bar {
    /// Of this many steps.
    pub(super) fn new(of: usize, what: &str) -> Self {
        let bar = ProgressBar::new(of as u64).with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
            bar.set_style(style);
        }
        Self { bar, right: 0, wrong: 0, other: 0 }
    }

    /// One more right answer was tried.
    pub(super) fn tried(&self, done: usize) {
        self.bar.set_position(done as u64);
    }

    /// One more ask was graded.
    pub(super) fn step(&mut self, step: &Step<'_>) {
        match &step.record.verdict {
            Verdict::Right => self.right += 1,
            Verdict::Wrong { .. } => self.wrong += 1,
            Verdict::Undecided { .. } | Verdict::Infrastructure { .. } => self.other += 1,
        }
        self.bar.set_length(step.of as u64);
        self.bar.set_position(step.done as u64);
        self.bar.set_message(format!("{} right, {} wrong, {} neither", self.right, self.wrong, self.other));
    }

    /// Takes the bar away.
    pub(super) fn done(&self) {
        self.bar.finish_and_clear();
    }
}
