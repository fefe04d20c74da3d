//! Numbers of a sentence against what it says they are: a count, a sum, a difference, a share, a value of this column or that.

use std::collections::BTreeSet;
use std::ops::Range;

use airlock_plugin_sdk::question::stems::stem;
use airlock_plugin_sdk::words;

use super::Claims;
use super::kinds::{APART, Claim, DOWN, LESS, MORE, TOTALS, UP, claimed, is_one_of};
use super::sentence::Sentence;
use crate::column::Part;
use crate::decimal::Decimal;
use crate::refs::{Ref, names, rows_with};
use crate::trace::{Mention, is_derived_percentage, of_cell};

/// How a number follows from the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Computed {
    /// The sum of a column.
    Sum,
    /// The sum of the rows that are named.
    Group,
    /// A difference.
    Apart,
}

impl Claims<'_> {
    /// How a number that stands in no row follows from those that a sentence speaks of.
    pub(super) fn computed(&self, said: &Sentence<'_>, number: &Mention) -> Option<Computed> {
        let spoken = said.rows();
        let is = |(_, amount): (usize, Decimal)| number.stands_for(amount);
        if self.derived.sums().any(is) {
            return Some(Computed::Sum);
        }
        if self.derived.sums_of(&spoken).any(is) {
            return Some(Computed::Group);
        }
        let told: Vec<usize> = if spoken.is_empty() && self.input.rows.len() < 3 {
            (0..self.input.rows.len()).collect()
        } else {
            spoken.into_iter().collect()
        };
        let pairs =
            told.iter().enumerate().flat_map(|(at, a)| told.iter().skip(at + 1).map(move |b| (*a, *b)));
        let apart = pairs.into_iter().any(|(a, b)| self.derived.between(a, b).any(is));
        (apart || told.iter().any(|row| self.derived.across(*row).any(|amount| number.stands_for(amount))))
            .then_some(Computed::Apart)
    }

    /// A number that is said to be what it is not: a sum without a word for it, a difference of nothing, as many as were read
    /// for as many as there are.
    pub(super) fn uncounted(&self, said: &Sentence<'_>) -> Option<String> {
        let has = |lists: &[&str]| {
            said.words.iter().any(|word| lists.iter().any(|list| is_one_of(list, &word.text)))
        };
        let totals = has(&[TOTALS]) || said.text.contains("in all");
        let compares = has(&[MORE, LESS, UP, DOWN, APART]);
        let named = self.names_of(said);
        let wrong = said.numbers.iter().filter(|number| !number.marker && !number.percent).find(|number| {
            if said.time(number.at) == Some(true)
                || said.cells.iter().any(|(cell, _)| cell.contains(&number.at))
            {
                return false;
            }
            if let Some(counted) = self.counted(said, number) {
                return !counted;
            }
            let cells = self.input.rows.iter().flatten().flatten();
            let held =
                cells.into_iter().any(|cell| of_cell(cell).iter().any(|has| number.stands_for(has.value)));
            // By how much one row lies above another is the value of none.
            let step = number.step && self.input.rows.len() > 1 && !self.holds_changes();
            let held = held && !step;
            if held || self.given.asked.iter().any(|asked| number.stands_for(*asked)) {
                return false;
            }
            match self.computed(said, number) {
                Some(Computed::Sum) => {
                    let every = named.len() == self.input.rows.len();
                    !(every || totals || named.is_empty())
                        || (self.given.cut() && !every && !self.points(said))
                }
                Some(Computed::Group) => !totals,
                Some(Computed::Apart) => !compares,
                None => step,
            }
        });
        wrong.map(|number| number.written.clone())
    }

    /// The rows that a sentence names.
    fn names_of(&self, said: &Sentence<'_>) -> BTreeSet<usize> {
        names(said.text, self.given).unwrap_or_default().iter().map(|name| name.row).collect()
    }

    /// Whether a sentence says that it is about the rows at hand and no others.
    fn points(&self, said: &Sentence<'_>) -> bool {
        const POINTING: &str = "first following listed shown their them these they those top";
        said.words.iter().any(|word| is_one_of(POINTING, &word.text))
            || said.numbers.iter().any(|number| self.is_count(number))
    }

    /// Of the number of rows: whether it may be said as it stands. Absent for other numbers.
    fn counted(&self, said: &Sentence<'_>, number: &Mention) -> Option<bool> {
        let is =
            |count: u64| Decimal::parse(&count.to_string()).is_some_and(|count| count.equals(number.value));
        let (all, here) = (self.input.row_count, self.input.rows.len() as u64);
        let at = said.words.iter().position(|word| word.span.start == number.at)?;
        let before = at.checked_sub(1).map_or("", |before| said.word(before));
        let is_bound = (0..at).any(|word| {
            matches!(claimed(said, word), Some(Claim::Bound { above: true }))
                && said.number_behind(word).is_some_and(|bound| bound.at == number.at)
        });
        let own = || {
            let rows = rows_with(number, self.input);
            let named = said.refs.iter().filter(|found| found.at != number.at);
            !rows.is_empty()
                && (self.input.row_count == 1 || named.into_iter().any(|found| rows.contains(&found.row)))
        };
        if self.input.truncated && is(all) {
            return Some(is_bound || before == "first" || own());
        }
        if is(here) && here != all {
            return (!own()).then_some(before == "first");
        }
        if !is(all) || !rows_with(number, self.input).is_empty() {
            return None;
        }
        let next = said.word(at + 1);
        if all == 1 && self.columns.iter().all(|column| column.part == Part::Measure) {
            return Some(is_one_of("row rows result results", next));
        }
        // Twelve rows of five customers are no twelve customers.
        let repeats = self.columns.iter().enumerate().filter(|(_, column)| column.part != Part::Measure).any(
            |(at, column)| {
                let values: Vec<_> = self.input.rows.iter().filter_map(|row| row.get(at)?.as_ref()).collect();
                let distinct: BTreeSet<_> = values.iter().collect();
                distinct.len() < values.len() && column.label.split(' ').any(|part| words::same(part, next))
            },
        );
        if repeats {
            return Some(false);
        }
        let there = said.word(0) == "there" && said.refs.iter().all(|found| found.at == number.at);
        let pointed = is_one_of("all first following of the these those top", before);
        (self.given.cut()).then_some(!there && pointed)
    }

    /// A number beside the name of a column that it is not of: `a total of 12` where 12 is the count.
    pub(super) fn mislabelled(&self, said: &Sentence<'_>) -> Option<String> {
        let labels = self.labelled(said);
        let told: Vec<&Mention> = said
            .numbers
            .iter()
            .filter(|number| number.in_digits && !number.marker && !number.percent)
            .collect();
        let spoken = said.rows();
        let computed = |number: &Mention| -> Vec<usize> {
            let sums = self.derived.sums().chain(self.derived.sums_of(&spoken));
            sums.filter(|(_, sum)| number.stands_for(*sum)).map(|(at, _)| at).collect()
        };
        let wrong = told.iter().find(|number| {
            let holders: BTreeSet<usize> = self
                .measures
                .iter()
                .map(|(at, _)| *at)
                .filter(|at| {
                    let cells = self.input.rows.iter().filter_map(|row| row.get(*at)?.as_deref());
                    cells.filter_map(crate::ground::number).any(|exact| number.stands_for(exact))
                })
                .chain(computed(number))
                .collect();
            let region = region(said, number.at);
            let between = |a: usize, b: usize| {
                told.iter().any(|other| other.at != number.at && (a.min(b)..a.max(b)).contains(&other.at))
            };
            let behind = |number: &Mention| {
                let end = number.at + number.written.len();
                let gap = said.text.get(end..).map_or(0, |text| text.len() - text.trim_start().len());
                end + gap
            };
            // `400 bills` speaks of bills whatever stands before it; `400 total bills` has that word between.
            let next = labels.iter().find(|(at, _)| *at == behind(number));
            let total = said.text.get(behind(number)..).is_some_and(|text| text.starts_with("total"));
            if let Some((_, columns)) = next.filter(|_| !total && !holders.is_empty()) {
                return columns.is_disjoint(&holders);
            }
            // The word behind another number is of that.
            let free = |at: usize| !told.iter().any(|other| other.at != number.at && behind(other) == at);
            if let Some(subject) =
                subject(said, number.at, &labels, &told, &free).filter(|_| !holders.is_empty())
            {
                return subject.is_disjoint(&holders);
            }
            let near: Vec<&BTreeSet<usize>> = [
                labels.iter().rfind(|(at, _)| region.contains(at) && *at < number.at && free(*at)),
                labels.iter().find(|(at, _)| region.contains(at) && *at > number.at),
            ]
            .into_iter()
            .flatten()
            .filter(|(at, _)| !between(*at, number.at))
            .map(|(_, columns)| columns)
            .collect();
            !holders.is_empty()
                && !near.is_empty()
                && near.iter().all(|columns| columns.is_disjoint(&holders))
        });
        wrong.map(|number| number.written.clone())
    }

    /// The words of a sentence that speak of one measure and no other column, with the measures.
    fn labelled(&self, said: &Sentence<'_>) -> Vec<(usize, BTreeSet<usize>)> {
        let own = self.words_of_columns();
        let columns_of = |word: &str| -> BTreeSet<usize> {
            // `together` says how, and names no column.
            let part = stem(if word.starts_with("total") { "total" } else { word });
            own.iter().filter(|(_, words)| words.contains(&part)).map(|(at, _)| *at).collect()
        };
        said.words
            .iter()
            .filter(|word| !said.cells.iter().any(|(cell, _)| cell.contains(&word.span.start)))
            .map(|word| (word.span.start, columns_of(&word.text)))
            .filter(|(_, columns)| !columns.is_empty())
            .collect()
    }

    /// For each measure, stems of the words that speak of it and of no other column.
    fn words_of_columns(&self) -> Vec<(usize, BTreeSet<String>)> {
        let all: Vec<(usize, BTreeSet<String>)> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let name = self.input.columns.get(at).map_or("", |named| named.name.as_str());
                let label = crate::label::generic(name).unwrap_or(column.label.as_str());
                let mut stems: BTreeSet<String> = label.split(' ').map(stem).collect();
                if column.part == Part::Measure {
                    stems.extend(self.given.query.target(at).into_iter().flatten().cloned());
                }
                (at, stems)
            })
            .collect();
        let named = |at: usize| self.columns.get(at).is_some_and(|column| column.part != Part::Other);
        let alone = |at: usize, word: &String| {
            all.iter().all(|(other, words)| *other == at || !named(*other) || !words.contains(word))
        };
        all.iter()
            .filter(|(at, _)| self.columns.get(*at).is_some_and(|column| column.part == Part::Measure))
            .map(|(at, words)| (*at, words.iter().filter(|word| alone(*at, word)).cloned().collect()))
            .collect()
    }

    /// A percentage that is not what the rows beside it are of all, or by how much they differ.
    pub(super) fn unshared(&self, said: &Sentence<'_>) -> Option<String> {
        let wrong = said
            .numbers
            .iter()
            .filter(|number| is_derived_percentage(number, self.given))
            .filter(|number| !self.given.asked.iter().any(|asked| number.stands_for(*asked)))
            .find(|number| !self.is_borne_percentage(said, number));
        wrong.map(|number| number.written.clone())
    }

    fn is_borne_percentage(&self, said: &Sentence<'_>, number: &Mention) -> bool {
        let clause = said.clause(number.at);
        let labels = self.labelled(said);
        // What the clause speaks of, else what the sentence does; `of the total` is of no other column than it is a share of.
        let of = |span: Option<&Range<usize>>| -> BTreeSet<usize> {
            let within = labels.iter().filter(|(at, _)| span.is_none_or(|span| span.contains(at)));
            within.flat_map(|(_, columns)| columns.iter().copied()).collect()
        };
        let among = Some(of(Some(&clause))).filter(|among| !among.is_empty()).unwrap_or_else(|| of(None));
        let moved =
            said.words.iter().enumerate().filter(|(_, word)| clause.contains(&word.span.start)).find_map(
                |(at, _)| match claimed(said, at) {
                    Some(Claim::Trend { up }) => Some(up),
                    Some(Claim::Compared { above }) => Some(above),
                    _ => None,
                },
            );
        let rows =
            said.course(said.words.iter().position(|word| word.span.start == number.at).unwrap_or_default());
        if let Some(above) = moved {
            return match rows.as_slice() {
                [] => self.input.rows.len() == 2 && self.is_change(number, (0, 1), above, &among),
                [a, b] => self.is_change(number, (*a, *b), above, &among),
                _ => false,
            };
        }
        let spoken = self.spoken_of(said, number.at);
        let share =
            |rows: &BTreeSet<usize>| self.derived.is_share(number.value, rows, &among) && !self.partial(said);
        match spoken.iter().collect::<Vec<_>>().as_slice() {
            [] => self.input.rows.len() == 1 && self.derived.is_ratio(number.value, 0),
            [row] => share(&spoken) || self.derived.is_ratio(number.value, **row),
            _ => share(&spoken),
        }
    }

    /// By how much one of two rows lies above the other, whichever it is.
    fn is_change(
        &self,
        number: &Mention,
        (a, b): (usize, usize),
        above: bool,
        among: &BTreeSet<usize>,
    ) -> bool {
        [(a, b), (b, a)].iter().any(|pair| self.derived.is_change(number.value, *pair, above, among))
    }

    /// Whether the rows are a part that the sentence takes for all.
    fn partial(&self, said: &Sentence<'_>) -> bool {
        self.given.cut() && !self.points(said)
    }

    /// The rows that stand beside a percentage: those named before it since the percentage before, else those behind it up to
    /// the next.
    fn spoken_of(&self, said: &Sentence<'_>, at: usize) -> BTreeSet<usize> {
        let percents = || said.numbers.iter().filter(|number| number.percent);
        let from = percents().rfind(|number| number.at < at).map_or(0, |number| number.at + 1);
        let until = percents().find(|number| number.at > at).map_or(said.text.len(), |number| number.at);
        let within = |span: Range<usize>| -> BTreeSet<usize> {
            let own =
                |found: &&Ref| span.contains(&found.at) && !percents().any(|number| number.at == found.at);
            said.refs.iter().filter(own).map(|found| found.row).collect()
        };
        let before = within(from..at);
        if !before.is_empty() {
            return before;
        }
        let behind = within(at..until);
        if behind.is_empty() { said.before.last().copied().into_iter().collect() } else { behind }
    }
}

/// What a number is said to be by a verb or a colon before it: the columns of the word that heads what stands before that. `The
/// total of bills is` speaks of the total, `the total number of bills is` of the number.
fn subject<'l>(
    said: &Sentence<'_>,
    at: usize,
    labels: &'l [(usize, BTreeSet<usize>)],
    told: &[&Mention],
    free: &dyn Fn(usize) -> bool,
) -> Option<&'l BTreeSet<usize>> {
    const EQUAL: &str = "amounted amounts are be came comes equalled equals is stands stood was were";
    let before = said.text.get(..at)?.trim_end();
    let place = said.words.iter().position(|word| word.span.start == at)?;
    let verb = (0..place)
        .rev()
        .find(|word| !is_one_of("about approximately at exactly just now only to", said.word(*word)))?;
    if !before.ends_with(':') && !is_one_of(EQUAL, said.word(verb)) {
        return None;
    }
    // What was said before another number may be of that.
    let start = told.iter().filter(|other| other.at < at).map(|other| other.at).max().unwrap_or(0);
    let within =
        |range: Range<usize>| labels.iter().position(|(label, _)| range.contains(label) && free(*label));
    let mut head = within(start..at).or_else(|| within(0..at))?;
    let index = |label: usize| {
        said.words.iter().position(|word| Some(word.span.start) == labels.get(label).map(|(at, _)| *at))
    };
    while let (Some(here), Some(next)) = (index(head), index(head + 1))
        && next == here + 1
        && next < verb
    {
        head += 1;
    }
    labels.get(head).map(|(_, columns)| columns)
}

/// The part of a sentence around a byte that speaks of one thing: colons and brackets join a name with its number.
fn region(said: &Sentence<'_>, at: usize) -> Range<usize> {
    const BREAKS: [&str; 7] = [", ", "; ", " and ", " but ", " while ", " whereas ", " with "];
    let cuts = || BREAKS.iter().flat_map(|piece| said.text.match_indices(piece).map(|(at, _)| at));
    let start = cuts().filter(|cut| *cut < at).max().unwrap_or(0);
    let end = cuts().filter(|cut| *cut > at).min().unwrap_or(said.text.len());
    start..end
}
