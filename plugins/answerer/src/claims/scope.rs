//! Whether a sentence about one number says what the query counts: just that, and all of it.
//!
//! Where a result is one number, every word beside it says of what. The words must name what is counted or computed, or a condition
//! that the query surely keeps to; and no condition may be left unsaid by question and sentence, or the number is of less than they
//! say. Of a query that is not of the plainest shape it is not known what its number is of: such a number may only be said under
//! the name that the query gives it.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::stems::{is_function_word, is_light, stem};
use airlock_plugin_sdk::words;

use super::Claims;
use super::kinds::{Claim, EARLY, HIGH, LATE, LESS, LOW, MORE, TOTALS, claimed, is_one_of};
use super::sentence::Sentence;
use crate::column::Part;
use crate::counted::Counted;
use crate::decimal::Decimal;
use crate::given::{NARROWING, stems_of};
use crate::ground::number;
use crate::label::names_many;
use crate::query::{Measure, Said, is_excluding};
use crate::single::neutral;
use crate::times::Origin;
use crate::trace::{Mention, numbers};
use crate::vocabulary::is_plain;

/// Words that compare with a number behind them; they are judged as claims.
const BOUNDING: &str = "all at exactly exceeding least most only than";
/// Words for a mean.
const MEANS: &str = "average averages averaged mean median typical";

impl Claims<'_> {
    /// The first word of a sentence about one number that says of what it is and is not borne out, or the number where something
    /// goes unsaid.
    pub(super) fn unscoped(&self, said: &Sentence<'_>) -> Option<String> {
        let ([row], [column], [named]) =
            (self.input.rows.as_slice(), self.columns, self.input.columns.as_slice())
        else {
            return None;
        };
        let cell = row.first()?.as_deref();
        let value = cell.and_then(number).filter(|_| column.part == Part::Measure)?;
        if said.text.trim() == neutral(&named.name, column, cell).to_lowercase() {
            return None;
        }
        let is_value = |mention: &&Mention| mention.in_digits && mention.stands_for(value);
        let written =
            said.numbers.iter().find(is_value).map(|mention| mention.written.clone()).unwrap_or_default();
        let bounds: Vec<&Mention> = said
            .numbers
            .iter()
            .filter(|mention| !is_value(mention) && said.time(mention.at).is_none())
            .collect();
        let words: Vec<(usize, &str)> = said
            .words
            .iter()
            .enumerate()
            .filter(|(_, word)| !word.text.starts_with(|c: char| c.is_ascii_digit()))
            .filter(|(_, word)| said.time(word.span.start).is_none())
            .map(|(at, word)| (at, word.text.as_str()))
            .filter(|(_, word)| !says_nothing(word))
            .collect();
        let timed = said.words.iter().any(|word| said.time(word.span.start).is_some());
        if words.is_empty() && bounds.is_empty() && !timed {
            return self.unnamed(said, value);
        }
        let Some(counted) = self.given.counted.as_ref() else {
            // Under its own name, and not as a number of things.
            let label = stems_of(&column.label);
            // What a change is of stands in what it is computed from.
            let changed = self.given.query.target(0).filter(|_| self.holds_changes());
            let own = |at: usize, word: &str| {
                let moves = changed.is_some()
                    && matches!(claimed(said, at), Some(Claim::Trend { .. } | Claim::Negative));
                moves || label.contains(&stem(word)) || changed.is_some_and(|of| of.contains(&stem(word)))
            };
            let foreign = words.iter().find(|(at, word)| !own(*at, word)).map(|(_, word)| (*word).to_owned());
            // An average is called one, and an end of an order too, whatever the query names it.
            let has = |lists: &[&str]| {
                said.words.iter().any(|word| lists.iter().any(|list| is_one_of(list, &word.text)))
            };
            let calls = |function: &str| self.given.query.names(function);
            let called = (has(&[MEANS]) || !calls("average"))
                && (has(&["maximum minimum", HIGH, LOW, LATE, EARLY])
                    || !(calls("maximum") || calls("minimum")));
            let kept = called && bounds.is_empty() && !timed && !names_many(&column.label);
            return foreign.or_else(|| (!kept).then_some(written));
        };
        let asked = self.input.question.to_lowercase();
        let mut stems = stems_of(&asked);
        stems.extend(said.stems.iter().cloned());
        let of_query = |text: &str| {
            let (times, phrases) = self.given.dated(text);
            !phrases.is_empty() || times.iter().any(|(_, origin)| *origin == Origin::Query)
        };
        let told = Said {
            numbers: numbers(&asked)
                .iter()
                .chain(bounds.iter().copied())
                .map(|mention| mention.value)
                .collect(),
            timed: of_query(&asked) || of_query(said.text),
            vouched: counted
                .terms
                .iter()
                .filter(|term| term.stems.is_subset(&stems))
                .filter_map(|term| term.filter.as_ref())
                .collect(),
            stems,
        };
        if self.given.query.leaves_unsaid(&told) {
            return Some(written);
        }
        let mut known = self.given.query.column_stems(&told);
        let named: Vec<&BTreeSet<String>> =
            counted.names.iter().filter(|name| name.is_subset(&said.stems)).collect();
        let termed: Vec<&BTreeSet<String>> =
            counted.terms.iter().map(|term| &term.stems).filter(|name| name.is_subset(&said.stems)).collect();
        known.extend(named.iter().chain(&termed).flat_map(|name| name.iter().cloned()));
        if counted.counts() && !named.is_empty() {
            known.extend(counted.relation.iter().cloned());
        }
        let labelled = !counted.label.is_empty() && counted.label.is_subset(&said.stems);
        if let Some(wrong) = self.miscounted(said, counted, value, &known, !termed.is_empty()) {
            return Some(wrong);
        }
        if labelled {
            known.extend(counted.label.iter().cloned());
        }
        let borne = |at: usize, word: &str| {
            let part = stem(word);
            known.contains(&part)
                || self.given.query.keeps_to(&part, &said.stems)
                || self.given.query.turns_out(&part, &told)
                || is_of(&counted.measure, said, at)
                || [BOUNDING, MORE, LESS, TOTALS].iter().any(|list| is_one_of(list, word))
        };
        let wrong = words.iter().find(|(at, word)| !borne(*at, word)).map(|(_, word)| (*word).to_owned());
        let wrong = wrong.or_else(|| self.turned_round(said, &words, &bounds));
        let free = |mention: &&&Mention| {
            let of_text = self.given.query.keeps_to(&stem(&mention.written), &said.stems);
            let before = said.words.iter().rposition(|word| word.span.start < mention.at);
            let bounding = before.is_some_and(|at| {
                [BOUNDING, MORE, LESS, "between and"].iter().any(|list| is_one_of(list, said.word(at)))
            });
            !(of_text || bounding && self.given.query.bounds(mention.value, None))
        };
        let wrong = wrong.or_else(|| bounds.iter().find(free).map(|mention| mention.written.clone()));
        let nameless = named.is_empty() && termed.is_empty() && !labelled;
        wrong.or_else(|| nameless.then_some(written))
    }

    /// What stands behind a number that says of what it is by no other word: nothing but rows is known of it.
    fn unnamed(&self, said: &Sentence<'_>, value: Decimal) -> Option<String> {
        let mention = said.numbers.iter().find(|mention| mention.stands_for(value))?;
        let at = said.words.iter().position(|word| word.span.start == mention.at)?;
        let behind = said.word(at + 1);
        let rows = is_one_of("entries records results rows", behind);
        (words::singular(behind) != behind && !is_function_word(behind) && !rows).then(|| behind.to_owned())
    }

    /// What is said on the wrong side of a word that leaves something out: behind it stands what the query leaves out, before it
    /// what it keeps to.
    fn turned_round(
        &self,
        said: &Sentence<'_>,
        words: &[(usize, &str)],
        bounds: &[&Mention],
    ) -> Option<String> {
        let excluding = said.words.iter().position(|word| is_excluding(&stem(&word.text)))?;
        let start = said.start(excluding);
        let out = |word: &str| self.given.query.leaves_out(&stem(word));
        let wrong = words.iter().find(|(at, word)| *at != excluding && (*at > excluding) != out(word));
        let timed =
            said.words.iter().find(|word| word.span.start > start && said.time(word.span.start).is_some());
        let bound = bounds.iter().find(|mention| mention.at > start).map(|mention| mention.written.clone());
        wrong.map(|(_, word)| (*word).to_owned()).or_else(|| timed.map(|word| word.text.clone())).or(bound)
    }

    /// A number that is called a mean, an end or a count and is none, or is one and is not called so.
    fn miscounted(
        &self,
        said: &Sentence<'_>,
        counted: &Counted,
        value: Decimal,
        known: &BTreeSet<String>,
        termed: bool,
    ) -> Option<String> {
        let has = |lists: &[&str]| {
            said.words
                .iter()
                .find(|word| lists.iter().any(|list| is_one_of(list, &word.text)))
                .map(|word| word.text.clone())
        };
        let ends = |at: usize| {
            matches!(claimed(said, at), Some(Claim::Extreme { .. } | Claim::Most | Claim::Moment { .. }))
        };
        let ends =
            (0..said.words.len()).any(ends) || has(&["maximum minimum", HIGH, LOW, LATE, EARLY]).is_some();
        let written = || {
            let mention = said.numbers.iter().find(|mention| mention.stands_for(value));
            mention.map(|mention| mention.written.clone()).unwrap_or_default()
        };
        let mean = has(&[MEANS]);
        match &counted.measure {
            Measure::Average(_) if mean.is_none() && !termed => return Some(written()),
            Measure::End { .. } if !ends && !termed => return Some(written()),
            Measure::Average(_) | Measure::Stored(_) => {}
            _ if !termed && mean.is_some() => return mean,
            _ => {}
        }
        if counted.counts() {
            return None;
        }
        // Behind the number stands what there are so many of: what was summed, and not what its rows are.
        let at = said.words.iter().position(|word| {
            said.numbers.iter().any(|mention| mention.at == word.span.start && mention.stands_for(value))
        });
        let behind = at.map_or("", |at| said.word(at + 1));
        let own = known.contains(&stem(behind)) && !counted.relation.contains(&stem(behind));
        let things = !behind.is_empty() && !says_nothing(behind) && !own;
        (things && said.time(said.start(at.unwrap_or_default() + 1)).is_none())
            .then(|| behind.to_owned())
            .or_else(|| has(&["count number numbers"]))
    }
}

/// Whether a word says nothing of what a number is of.
fn says_nothing(word: &str) -> bool {
    !NARROWING.contains(&word) && (is_function_word(word) || is_light(word) || is_plain(word))
}

/// Whether a word says how a number was computed.
fn is_of(measure: &Measure, said: &Sentence<'_>, at: usize) -> bool {
    let word = said.word(at);
    match measure {
        Measure::Rows | Measure::Filled(_) | Measure::Distinct(_) => {
            is_one_of("count number distinct different", word)
        }
        Measure::Sum(_) => is_one_of("sum total", word),
        Measure::Average(_) => is_one_of(MEANS, word) && word != "median",
        Measure::End { high: true, .. } => {
            is_one_of("maximum", word) || is_one_of(HIGH, word) || is_one_of(LATE, word)
        }
        Measure::End { high: false, .. } => {
            is_one_of("minimum", word) || is_one_of(LOW, word) || is_one_of(EARLY, word)
        }
        Measure::Stored(_) => false,
    }
}
