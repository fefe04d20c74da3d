//! A sentence: its words and numbers, the rows that it speaks of, and the clauses that it does so in.

use std::collections::BTreeSet;
use std::ops::Range;

use airlock_plugin_sdk::words::{self, Word};

use crate::refs::Ref;
use crate::times::{Origin, Time};
use crate::trace::{Mention, numbers, power};

/// A sentence, in small letters, and what was said before it.
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
    pub(super) words: Vec<Word>,
    pub(super) numbers: Vec<Mention>,
    pub(super) refs: Vec<Ref>,
    pub(super) clauses: Vec<Range<usize>>,
    /// Texts of the rows, by their places in [`Claims::texts`].
    pub(super) cells: Vec<(Range<usize>, usize)>,
    /// The rows that earlier sentences speak of.
    pub(super) before: Vec<usize>,
    /// Stems of the words.
    pub(super) stems: BTreeSet<String>,
    pub(super) times: Vec<(Time, Origin)>,
    /// Phrases that name exactly the days which the query keeps to.
    pub(super) phrases: Vec<Range<usize>>,
}

impl<'a> Sentence<'a> {
    /// A text that speaks of no row.
    pub(super) fn alone(text: &'a str) -> Self {
        let (words, numbers) = (words::words(text), numbers(text));
        Self {
            text,
            words,
            numbers,
            refs: Vec::new(),
            clauses: Vec::new(),
            cells: Vec::new(),
            before: Vec::new(),
            stems: BTreeSet::new(),
            times: Vec::new(),
            phrases: Vec::new(),
        }
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    pub(super) fn start(&self, at: usize) -> usize {
        self.words.get(at).map_or(self.text.len(), |word| word.span.start)
    }

    /// The rows that a change is told of: those of its clause, with the one before where it has one alone; else all.
    pub(super) fn course(&self, at: usize) -> Vec<usize> {
        let clause = self.clause(self.start(at));
        let mut rows: BTreeSet<usize> =
            self.refs.iter().filter(|found| clause.contains(&found.at)).map(|found| found.row).collect();
        if rows.len() == 1 {
            let before = self.refs.iter().rfind(|found| found.at < clause.start);
            // `between February and March`
            let between = self.text.get(clause.clone()).is_some_and(|text| text.contains("between "));
            let behind = self.refs.iter().find(|found| between && found.at >= clause.end);
            rows.extend(behind.or(before).map(|found| found.row));
        }
        if rows.is_empty() {
            rows = self.rows();
        }
        rows.into_iter().collect()
    }

    /// Whether what stands at a byte is a time, and if so whether it comes from somewhere.
    pub(super) fn time(&self, at: usize) -> Option<bool> {
        if self.phrases.iter().any(|phrase| phrase.contains(&at)) {
            return Some(true);
        }
        let found = self.times.iter().find(|(time, _)| time.span.contains(&at));
        found.map(|(_, origin)| *origin != Origin::Nowhere)
    }

    /// What the clause around a byte speaks of; where it has nothing, what is spoken of next, else what was last.
    pub(super) fn refs_near(&self, at: usize) -> Vec<Ref> {
        let clause = self.clause(at);
        let here: Vec<Ref> = self.refs.iter().filter(|found| clause.contains(&found.at)).copied().collect();
        if !here.is_empty() {
            return here;
        }
        let next = self.refs.iter().find(|found| found.at >= clause.end);
        next.or_else(|| self.refs.iter().rfind(|found| found.at < clause.start))
            .copied()
            .into_iter()
            .collect()
    }

    /// The clause that a byte stands in.
    pub(super) fn clause(&self, at: usize) -> Range<usize> {
        self.clauses.iter().find(|clause| clause.contains(&at)).cloned().unwrap_or(0..self.text.len())
    }

    /// Whether a word belongs to the number before it: `1.2 crore`.
    pub(super) fn scales(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |at| self.word(at));
        before.starts_with(|c: char| c.is_ascii_digit()) && power(self.word(at)).is_some()
    }

    /// The rows that it speaks of.
    pub(super) fn rows(&self) -> BTreeSet<usize> {
        self.refs.iter().map(|found| found.row).collect()
    }

    /// The number that a word is about: right behind it, but for words that come between.
    pub(super) fn number_behind(&self, at: usize) -> Option<&Mention> {
        const BETWEEN: [&str; 8] = ["a", "about", "all", "just", "of", "than", "the", "to"];
        let mut next = at + 1;
        while BETWEEN.contains(&self.word(next)) || ["least", "most", "first"].contains(&self.word(next)) {
            next += 1;
        }
        let start = self.start(next);
        self.numbers.iter().find(|number| number.at == start)
    }

    /// The rows of the clause that a word stands in; where it has none, the row that was spoken of last, else the next.
    pub(super) fn rows_near(&self, at: usize) -> Vec<usize> {
        let here = self.start(at);
        let clause = self.clause(here);
        let mut rows: Vec<usize> = Vec::new();
        for found in self.refs.iter().filter(|found| clause.contains(&found.at)) {
            if !rows.contains(&found.row) {
                rows.push(found.row);
            }
        }
        if rows.is_empty() {
            let last = self.refs.iter().rfind(|found| found.at < clause.start).map(|found| found.row);
            let next = self.refs.iter().find(|found| found.at >= clause.end).map(|found| found.row);
            rows.extend(last.or(next).or(self.before.last().copied()));
        }
        rows
    }

    /// The row that a verb is about.
    pub(super) fn subject(&self, at: usize) -> Vec<usize> {
        let here = self.start(at);
        let clause = self.clause(here);
        let before = self.refs.iter().rfind(|found| clause.contains(&found.at) && found.at < here);
        before.map_or_else(|| self.rows_near(at), |found| vec![found.row])
    }
}

/// The parts of a sentence that speak of one thing each.
pub(super) fn clauses(text: &str, cells: &[(Range<usize>, usize)]) -> Vec<Range<usize>> {
    const BREAKS: [&str; 8] = [", ", "; ", ": ", " and ", " but ", " while ", " whereas ", " with "];
    let mut cuts: Vec<usize> = BREAKS
        .iter()
        .flat_map(|piece| text.match_indices(piece).map(|(at, piece)| at + piece.len() - 1))
        .filter(|cut| !cells.iter().any(|(cell, _)| cell.contains(cut)))
        .collect();
    cuts.sort_unstable();
    let mut clauses = Vec::new();
    let mut start = 0;
    for cut in cuts.into_iter().chain([text.len()]) {
        clauses.push(start..cut);
        start = cut;
    }
    clauses
}
