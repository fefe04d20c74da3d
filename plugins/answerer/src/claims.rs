//! Whether what a sentence claims is borne out by the rows, and each of its other words comes from somewhere.
//!
//! Words are of three kinds. Some say nothing of the data (`vocabulary`). Some count, compare, rank, deny or tell of a change:
//! each of these is checked against the rows, or must stand as the question has it. Every other word must be one of the rows,
//! the question, the query, its columns or what was assumed.

mod amounts;
mod kinds;
mod placed;
mod scope;
mod sentence;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::words;

use self::amounts::Computed;
use self::kinds::{AUXILIARIES, COMPOSING, Claim, DOWN, MULTIPLES, NEGATIVE, RATED, claimed, is_one_of};
use self::sentence::{Sentence, clauses};
use crate::arithmetic::Derived;
use crate::column::{Column, Part};
use crate::decimal::Decimal;
use crate::given::{Given, stems_of};
use crate::ground::{number, occurrences};
use crate::label::generic;
use crate::refs::refs;
use crate::times::Origin;
use crate::trace::{Mention, numbers};
use crate::vocabulary::is_plain;

/// Whether a claim is borne out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    /// The rows do not say; the question may.
    Open,
    Wrong,
}

impl Verdict {
    const fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Wrong }
    }

    const fn or_open(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Open }
    }
}

/// A result, and what may be said of it.
pub struct Claims<'a> {
    given: &'a Given<'a>,
    input: &'a AnswerInput,
    columns: &'a [Column],
    /// Columns of numbers that were counted or measured, with the number of each row.
    measures: Vec<(usize, Vec<f64>)>,
    /// Whether these rows are all there are.
    whole: bool,
    /// Words that stand one behind another in what was assumed and the columns' names.
    phrases: Vec<(String, String)>,
    /// Words that stand one behind another in the question.
    asked: Vec<(String, String)>,
    /// Columns whose name is one word.
    labels: Vec<String>,
    derived: Derived,
    /// Texts of the rows in small letters, longer ones first, and the rows that have them.
    texts: Vec<(String, BTreeSet<usize>)>,
}

impl<'a> Claims<'a> {
    /// Of this result.
    pub fn of(given: &'a Given<'a>) -> Self {
        let input = given.input;
        let columns = given.columns.as_slice();
        let measured = |at: usize| {
            let cells = input.rows.iter().map(|row| row.get(at)?.as_deref()?.parse().ok());
            cells.collect::<Option<Vec<f64>>>()
        };
        let measures = columns.iter().enumerate().filter(|(_, column)| column.part == Part::Measure);
        let measures = measures.filter_map(|(at, _)| Some((at, measured(at)?))).collect();
        let named = || input.columns.iter().zip(columns).filter(|(_, column)| !column.label.is_empty());
        let generic = input.columns.iter().filter_map(|column| Some(generic(&column.name)?.to_owned()));
        let labels: Vec<String> = named()
            .map(|(_, column)| column.label.clone())
            .chain(named().map(|(named, _)| words::identifier_words(&named.name).join(" ")))
            .chain(generic)
            .collect();
        let told = input.assumptions.iter().chain(&labels).flat_map(|text| neighbours(text)).collect();
        Self {
            given,
            input,
            measures,
            whole: given.whole(),
            phrases: told,
            asked: if may_echo(input) { neighbours(&input.question) } else { Vec::new() },
            labels: labels.into_iter().filter(|label| !label.contains(' ')).collect(),
            derived: Derived::of(given),
            texts: texts_of(input),
            columns,
        }
    }

    /// The first word of `sentence` that claims what the rows do not bear out, or that comes from nowhere. `before` is what
    /// was said already.
    pub fn unborne(&self, sentence: &str, before: &str) -> Option<String> {
        let text = sentence.to_lowercase();
        let cells = self.cells(&text);
        let (times, phrases) = self.given.dated(&text);
        let said = Sentence {
            words: words::words(&text),
            numbers: numbers(&text),
            refs: refs(&text, self.given),
            clauses: clauses(&text, &cells),
            stems: stems_of(&text),
            cells,
            times,
            phrases,
            before: refs(&before.to_lowercase(), self.given).iter().map(|found| found.row).collect(),
            text: &text,
        };
        if let Some(sign) = foreign_currency(&text, self.input) {
            return Some(sign.to_string());
        }
        let word = (0..said.words.len()).find_map(|at| {
            let word = said.words.get(at)?;
            if said.cells.iter().any(|(cell, _)| cell.contains(&word.span.start)) {
                return None;
            }
            match said.time(word.span.start) {
                Some(true) => return None,
                Some(false) if !word.text.starts_with(char::is_numeric) => return Some(word.text.clone()),
                _ => {}
            }
            if word.text.starts_with(char::is_numeric) {
                return (!self.is_number(&said, &word.text)).then(|| word.text.clone());
            }
            let borne = match claimed(&said, at) {
                Some(_) if self.is_in_label(&said, at) => true,
                Some(claim) => match self.judge(&said, at, claim) {
                    Verdict::Holds => true,
                    Verdict::Open => self.echoes(&said, at, claim),
                    Verdict::Wrong => false,
                },
                None => self.is_known(&said, &word.text) || said.scales(at) || goes_with(&said, at),
            };
            (!borne).then(|| word.text.clone())
        });
        word.or_else(|| self.unsigned(&said))
            .or_else(|| self.misplaced(&said))
            .or_else(|| self.unplaced(&said))
            .or_else(|| self.uncounted(&said))
            .or_else(|| self.mislabelled(&said))
            .or_else(|| self.unshared(&said))
            .or_else(|| self.unscoped(&said))
    }

    /// Whether what begins with a digit is a number, or stands in the rows as it is: `2x` claims what 2 does not.
    fn is_number(&self, said: &Sentence<'_>, word: &str) -> bool {
        let tail = word.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | ','));
        let exponent = tail.strip_prefix('e').is_some_and(|power| power.parse::<u8>().is_ok());
        ["", "k", "m"].contains(&tail) || exponent || self.given.knows(word, &said.stems)
    }

    /// A number below zero that is told without its sign, and without a word for it.
    fn unsigned(&self, said: &Sentence<'_>) -> Option<String> {
        if said.words.iter().any(|word| is_one_of(NEGATIVE, &word.text) || is_one_of(DOWN, &word.text)) {
            return None;
        }
        let stands =
            |number: &Mention, cell: &str| self::number(cell).is_some_and(|exact| number.stands_for(exact));
        let cells = || self.input.rows.iter().flatten().flatten();
        let wrong =
            said.numbers.iter().filter(|number| number.in_digits && !number.negative).find(|number| {
                let elsewhere = self.given.asked.iter().any(|asked| number.stands_for(*asked))
                    || self.computed(said, number).is_some()
                    || self.is_count(number)
                    || cells().any(|cell| {
                        !is_negative(cell) && numbers(cell).iter().any(|told| number.stands_for(told.value))
                    });
                !elsewhere && cells().any(|cell| is_negative(cell) && stands(number, cell))
            });
        wrong.map(|number| number.written.clone())
    }

    /// A text or a time of the rows in a clause that speaks of other rows: the city of somebody else, another month.
    fn misplaced(&self, said: &Sentence<'_>) -> Option<String> {
        let texts = said.cells.iter().filter_map(|(span, text)| {
            let (text, holders) = self.texts.get(*text)?;
            Some((span.clone(), holders)).filter(|_| !self.given.query.bears_text(text, &said.stems))
        });
        let times = said.times.iter().filter_map(|(time, origin)| match origin {
            Origin::Rows(rows) => Some((time.span.clone(), rows)),
            Origin::Query | Origin::Nowhere => None,
        });
        let wrong = texts.chain(times).find(|(span, holders)| {
            let here = said.refs_near(span.start);
            let is_name = here.iter().any(|found| found.at == span.start);
            let held = here.iter().any(|found| holders.contains(&found.row));
            !here.is_empty() && !is_name && !held
        });
        wrong.and_then(|(span, _)| said.text.get(span)).map(str::to_owned)
    }

    /// Where texts of the rows stand in a text in small letters: the longer ones, not what they hold.
    fn cells(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut found: Vec<(Range<usize>, usize)> = Vec::new();
        for (at, (cell, _)) in self.texts.iter().enumerate() {
            for span in occurrences(text, cell) {
                if !found.iter().any(|(longer, _)| longer.contains(&span.start)) {
                    found.push((span, at));
                }
            }
        }
        found
    }

    fn is_known(&self, said: &Sentence<'_>, word: &str) -> bool {
        // What `trace` reads as a number is its to judge.
        is_plain(word) || words::number(word).is_some() || self.given.knows(word, &said.stems)
    }

    /// Whether the word stands beside the same neighbour in what was assumed or in a column's name, or in the question where the
    /// query bears out the claim.
    fn echoes(&self, said: &Sentence<'_>, at: usize, claim: Claim) -> bool {
        let word = said.word(at);
        let pairs =
            [at.checked_sub(1).map(|before| (said.word(before), word)), Some((word, said.word(at + 1)))];
        let stands = |phrases: &[(String, String)]| {
            pairs.into_iter().flatten().any(|(a, b)| {
                phrases.iter().any(|(first, second)| words::same(first, a) && words::same(second, b))
            })
        };
        self.labels.iter().any(|label| label == word)
            || stands(&self.phrases)
            || (stands(&self.asked) && self.asked_for(word, claim))
    }

    /// Whether the word stands in the name of a column that is said in full: `last bill`.
    fn is_in_label(&self, said: &Sentence<'_>, at: usize) -> bool {
        self.columns.iter().map(|column| column.label.split(' ').collect::<Vec<_>>()).any(|label| {
            let stands = |from: usize| {
                label.iter().enumerate().all(|(step, part)| words::same(said.word(from + step), part))
            };
            label.len() > 1
                && label.iter().enumerate().any(|(step, _)| at.checked_sub(step).is_some_and(stands))
        })
    }

    /// Whether the query asks for what a word of the question claims.
    fn asked_for(&self, word: &str, claim: Claim) -> bool {
        let query = &self.given.query;
        let has = |number: &str| Decimal::parse(number).is_some_and(|number| query.bounds(number, None));
        match claim {
            Claim::None | Claim::Only => query.denies() || query.names(word),
            Claim::Negative => query.compares() || query.names(word),
            Claim::Asked => match word {
                "any" => true,
                "thrice" | "triple" | "tripled" => has("3"),
                "quadruple" | "quadrupled" => has("4"),
                "dozen" => has("12"),
                _ if is_one_of(MULTIPLES, word) => has("2") || has("0.5"),
                _ => query.names(word),
            },
            Claim::Most | Claim::Extreme { high: true, .. } | Claim::Moment { late: true } => {
                query.sorts(true)
            }
            Claim::Extreme { high: false, .. } | Claim::Moment { late: false } => query.sorts(false),
            Claim::Place(_) | Claim::Order => query.sorts(true) || query.sorts(false),
            Claim::Compared { .. } | Claim::Than | Claim::Trend { .. } => query.compares(),
            Claim::Total => query.names("total") || query.names("count"),
            Claim::Apart | Claim::Bound { .. } | Claim::Per | Claim::That | Claim::Unit | Claim::Vague => {
                false
            }
            Claim::Yes
            | Claim::One
            | Claim::Exactly
            | Claim::Same
            | Claim::Both
            | Claim::All
            | Claim::Each => true,
        }
    }

    fn judge(&self, said: &Sentence<'_>, at: usize, claim: Claim) -> Verdict {
        match claim {
            Claim::None => self.none(said, at),
            Claim::Yes => self.yes(said, at),
            Claim::Negative => {
                let below = |values: &[f64], row: &usize| values.get(*row).is_some_and(|value| *value < 0.0);
                let mut rows = said.rows_near(at);
                if rows.is_empty() {
                    rows = (0..self.input.rows.len()).collect();
                }
                let negative = |row: &usize| self.measures.iter().any(|(_, values)| below(values, row));
                Verdict::or_open(!rows.is_empty() && rows.iter().all(negative))
            }
            Claim::One => Verdict::or_open(self.has_exactly(1.0) || self.input.row_count == 1),
            Claim::Asked => Verdict::Open,
            Claim::Vague => Verdict::Wrong,
            Claim::Most => {
                let article = at.checked_sub(1).is_some_and(|before| said.word(before) == "the");
                let ends = article || (at > 0 && said.word(at + 1) != "of" && self.echoes(said, at, claim));
                if ends { self.extreme(said, at, true, false) } else { Verdict::Wrong }
            }
            Claim::Extreme { high, verb } => self.extreme(said, at, high, verb),
            Claim::Moment { late } => self.moment(said, at, late),
            Claim::Place(place) => self.place(said, at, place),
            Claim::Bound { above } => self.bound(said, at, above),
            Claim::Exactly => match said.number_behind(at) {
                Some(number) => Verdict::of(self.exact(number)),
                None => Verdict::Open,
            },
            Claim::Compared { above } => self.compared(said, at, above),
            Claim::Than => {
                let compares = |at: usize| {
                    matches!(
                        claimed(said, at),
                        Some(Claim::Compared { .. } | Claim::Bound { .. } | Claim::Trend { .. })
                    )
                };
                Verdict::or_open((0..at).any(compares))
            }
            Claim::Same => self.same(said),
            // `grew every year` is for the change to say.
            Claim::Each
                if is_one_of(RATED, said.word(at + 1))
                    && (0..at).any(|word| matches!(claimed(said, word), Some(Claim::Trend { .. }))) =>
            {
                Verdict::Holds
            }
            Claim::Each => match self.same(said) {
                Verdict::Wrong => Verdict::Wrong,
                // Of one row, `each` says nothing about others.
                verdict => {
                    if said.rows().len() > 1 {
                        verdict
                    } else {
                        Verdict::Open
                    }
                }
            },
            Claim::Both => Verdict::of(self.input.row_count == 2 && !self.input.truncated),
            Claim::All => match said.number_behind(at) {
                Some(number) => Verdict::of(self.is_count(number)),
                None => Verdict::or_open(said.word(at + 1) == "of" && said.word(at + 2) == "them"),
            },
            Claim::Only => {
                let every = self.whole && said.rows().len() == self.input.rows.len();
                Verdict::or_open(every || said.number_behind(at).is_some())
            }
            Claim::Total => self.total(said),
            Claim::Order => self.order(said),
            Claim::Per => self.per(said, at),
            Claim::Unit => {
                let word = said.word(at);
                let known =
                    self.given.knows(word, &said.stems) || self.given.query.has_unit(&words::singular(word));
                Verdict::or_open(known)
            }
            Claim::That => {
                Verdict::or_open(!said.times.is_empty() || self.columns.iter().any(Column::is_time))
            }
            Claim::Apart => Verdict::of(
                said.numbers.iter().any(|number| self.computed(said, number) == Some(Computed::Apart)),
            ),
            Claim::Trend { up } => self.trend(said, at, up),
        }
    }

    /// The measures that a sentence speaks of: those of its numbers, else the only one, else those that the rows are sorted
    /// by, else all.
    fn measures_of(&self, said: &Sentence<'_>, rows: &[usize]) -> Vec<&[f64]> {
        let all = || self.measures.iter().map(|(_, values)| values.as_slice());
        if self.measures.len() < 2 {
            return all().collect();
        }
        let named: Vec<&[f64]> = self
            .measures
            .iter()
            .filter(|(at, _)| {
                rows.iter().any(|row| {
                    let cell = self.input.rows.get(*row).and_then(|row| row.get(*at)?.as_deref());
                    let exact = cell.and_then(number);
                    exact.is_some_and(|exact| {
                        said.numbers.iter().any(|number| number.in_digits && number.stands_for(exact))
                    })
                })
            })
            .map(|(_, values)| values.as_slice())
            .collect();
        let by_label: Vec<&[f64]> = self
            .measures
            .iter()
            .filter(|(at, _)| {
                let label = self.columns.get(*at).map_or("", |column| column.label.as_str());
                !label.is_empty()
                    && label
                        .split(' ')
                        .all(|part| said.words.iter().any(|word| words::same(&word.text, part)))
            })
            .map(|(_, values)| values.as_slice())
            .collect();
        let sorted = |values: &&[f64]| {
            values.first() != values.last()
                && (values.is_sorted_by(|a, b| a >= b) || values.is_sorted_by(|a, b| a <= b))
        };
        if !by_label.is_empty() {
            by_label
        } else if !named.is_empty() {
            named
        } else if let Some(first) = all().find(sorted) {
            vec![first]
        } else {
            all().collect()
        }
    }

    fn is_count(&self, number: &Mention) -> bool {
        !self.input.truncated
            && Decimal::parse(&self.input.row_count.to_string())
                .is_some_and(|count| count.equals(number.value))
    }

    fn exact(&self, said: &Mention) -> bool {
        let cells = self.input.rows.iter().flatten().flatten().filter_map(|cell| number(cell));
        self.is_count(said) || cells.into_iter().any(|exact| exact.equals(said.value))
    }

    fn has_exactly(&self, wanted: f64) -> bool {
        let cells = self.input.rows.iter().flatten().flatten();
        cells.into_iter().any(|cell| cell.parse::<f64>().is_ok_and(|number| number == wanted))
    }
}

/// Whether words of the question may be said again as they stand there. What is asked for a yes or a no is what the rows are
/// to tell, unless they say yes.
fn may_echo(input: &AnswerInput) -> bool {
    let found = words::words(&input.question);
    let asks_whether = found.first().is_some_and(|first| is_one_of(AUXILIARIES, &first.text));
    let yes = match (input.rows.as_slice(), input.columns.as_slice()) {
        ([row], [column]) => {
            ["boolean", "bool"].contains(&column.sql_type.as_str())
                && row.iter().flatten().all(|value| value.starts_with(['t', 'T']))
        }
        _ => false,
    };
    !asks_whether || yes
}

/// Whether a cell is a number below zero.
fn is_negative(cell: &str) -> bool {
    cell.starts_with(['-', '(', '\u{2212}']) && number(cell).is_some()
}

/// The words of a text that stand one behind another.
fn neighbours(text: &str) -> Vec<(String, String)> {
    let found = words::words(text);
    let pairs = found.windows(2).filter_map(|pair| match pair {
        [a, b] => Some((a.text.clone(), b.text.clone())),
        _ => None,
    });
    pairs.collect()
}

/// `makes up`, `adds up`: no rise. `Accounts for`: no accounts.
fn goes_with(said: &Sentence<'_>, at: usize) -> bool {
    match said.word(at) {
        "up" => at > 0 && is_one_of(COMPOSING, said.word(at - 1)),
        "account" | "accounted" | "accounting" | "accounts" => said.word(at + 1) == "for",
        _ => false,
    }
}

/// The texts of the rows, with the rows that have them.
fn texts_of(input: &AnswerInput) -> Vec<(String, BTreeSet<usize>)> {
    let mut texts: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (at, row) in input.rows.iter().enumerate() {
        for cell in row.iter().flatten().filter(|cell| cell.contains(char::is_alphabetic)) {
            texts.entry(cell.to_lowercase()).or_default().insert(at);
        }
    }
    let mut texts: Vec<(String, BTreeSet<usize>)> = texts.into_iter().collect();
    texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    texts
}

/// A sign of a currency that stands nowhere in what was given.
fn foreign_currency(text: &str, input: &AnswerInput) -> Option<char> {
    let given = |sign: char| {
        let cells = input.rows.iter().flatten().flatten();
        let columns = input.columns.iter().map(|column| &column.name);
        let texts = cells.chain(&input.sql).chain(&input.assumptions).chain(columns);
        texts.into_iter().any(|text| text.contains(sign))
    };
    text.chars().find(|c| matches!(c, '$' | '€' | '£' | '¥' | '₹') && !given(*c))
}

#[cfg(test)]
mod tests;
