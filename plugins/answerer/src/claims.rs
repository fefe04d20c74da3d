//! Whether what a sentence claims is borne out by the rows, and each of its other words comes from somewhere.
//!
//! Words are of three kinds. Some say nothing of the data (`vocabulary`). Some count, compare, rank, deny or tell of a change:
//! each of these is checked against the rows, or must stand as the question has it. Every other word must be one of the rows,
//! the question, the query, its columns or what was assumed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::question::stems::stem;
use airlock_plugin_sdk::time::{Date, MONTHS};
use airlock_plugin_sdk::words::{self, Word};

use crate::arithmetic::Derived;
use crate::column::{Column, Part, columns};
use crate::decimal::Decimal;
use crate::ground::{number, occurrences};
use crate::label::generic;
use crate::names;
use crate::refs::{Ref, refs};
use crate::trace::{Mention, numbers, power};
use crate::vocabulary::is_plain;

const NONE: &str =
    "cannot lack lacked lacking lacks neither never nil no nobody none nor not nothing nowhere without zero";
/// How often one amount is in another.
const MULTIPLES: &str = "double doubled doubles doubling dozen half halved halves quadruple quadrupled thrice triple tripled twice";
/// Quantities that no row can bear out.
const VAGUE: &str = "\
    bulk countless couple dozens few handful hundreds lots majority many millions minority much multiple \
    numerous plenty several some thousands various";
const HIGH: &str = "\
    best biggest dominates dominated greatest highest largest lead leader leaders leading leads led maximum peak \
    peaked strongest top topped tops";
const LOW: &str = "bottom cheapest fewest lowest minimum smallest weakest worst";
/// Verbs whose subject stands before them.
const LEADS: &str = "dominated dominates lead leads led topped tops";
const LATE: &str = "latest newest recent";
const EARLY: &str = "earliest oldest";
const MORE: &str = "\
    above ahead better beyond bigger exceed exceeded exceeding exceeds greater higher larger more outperformed outsold \
    over surpassed surpasses";
const LESS: &str = "behind below fewer less lower smaller under worse";
const SAME: &str = "alike equal equalled equally equals identical same tie tied ties";
const UP: &str = "\
    climb climbed climbing climbs gain gained gains grew grow growing grown grows growth improved improvement increase \
    increased increases increasing jumped rise risen rises rising rose soared surged up";
const DOWN: &str = "\
    decline declined declines declining decrease decreased decreases decreasing down drop dropped dropping drops fall \
    fallen falling falls fell plunged reduced reduction shrank shrunk";
const TOTALS: &str =
    "altogether combined overall sum sums together total totaled totaling totalled totalling totals";
const NEGATIVE: &str = "deficit loss losses lost minus negative";
const ORDER: &str = "follow followed follows next then";
const UNITS: &str = "day days month months quarter quarters week weeks year years";
const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
/// Words that open a question for a yes or a no.
const AUXILIARIES: &str = "are can could did do does had has have is should was were will would";

/// What a word claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// There is none of something.
    None,
    /// Something is so.
    Yes,
    /// A number is below zero.
    Negative,
    /// Exactly one.
    One,
    /// Nothing that rows could say by themselves.
    Asked,
    Vague,
    /// The row at the upper end, or a quantity.
    Most,
    /// The row at an end of a measure.
    Extreme {
        high: bool,
        verb: bool,
    },
    /// The row at an end of time.
    Moment {
        late: bool,
    },
    /// The row at a place of the result.
    Place(Option<usize>),
    /// A number is a bound: above it, or below it.
    Bound {
        above: bool,
    },
    Exactly,
    /// One row is above or below another.
    Compared {
        above: bool,
    },
    Than,
    Same,
    Both,
    All,
    Only,
    Each,
    Total,
    Order,
    Trend {
        up: bool,
    },
}

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
    input: &'a AnswerInput,
    columns: Vec<Column>,
    /// Columns of numbers that were counted or measured, with the number of each row.
    measures: Vec<(usize, Vec<f64>)>,
    /// Whether these rows are all there are.
    whole: bool,
    /// Stems of the words that stand somewhere.
    known: BTreeSet<String>,
    /// Words that stand one behind another in the question, what was assumed, and the columns' names.
    phrases: Vec<(String, String)>,
    /// Columns whose name is one word.
    labels: Vec<String>,
    months: Vec<String>,
    derived: Derived,
    /// Texts of the rows in small letters, longer ones first, and the rows that have them.
    texts: Vec<(String, BTreeSet<usize>)>,
}

/// A sentence, in small letters, and what was said before it.
struct Sentence<'a> {
    text: &'a str,
    words: Vec<Word>,
    numbers: Vec<Mention>,
    refs: Vec<Ref>,
    clauses: Vec<Range<usize>>,
    /// Texts of the rows, by their places in [`Claims::texts`].
    cells: Vec<(Range<usize>, usize)>,
    /// The rows that earlier sentences speak of.
    before: Vec<usize>,
}

impl<'a> Claims<'a> {
    /// Of this result.
    pub fn of(input: &'a AnswerInput) -> Self {
        let columns = columns(input);
        let measured = |at: usize| {
            let cells = input.rows.iter().map(|row| row.get(at)?.as_deref()?.parse().ok());
            cells.collect::<Option<Vec<f64>>>()
        };
        let measures = columns.iter().enumerate().filter(|(_, column)| column.part == Part::Measure);
        let measures = measures.filter_map(|(at, _)| Some((at, measured(at)?))).collect();
        let mut known: BTreeSet<String> = names::known(input).iter().map(|word| stem(word)).collect();
        let said = input
            .rows
            .iter()
            .flat_map(|row| columns.iter().zip(row).map(|(column, cell)| column.said(cell.as_deref())));
        let generic = input.columns.iter().filter_map(|column| Some(generic(&column.name)?.to_owned()));
        let labels: Vec<String> = columns
            .iter()
            .map(|column| column.label.clone())
            .chain(input.columns.iter().map(|column| words::identifier_words(&column.name).join(" ")))
            .chain(generic.clone())
            .collect();
        for text in said.chain(generic) {
            known.extend(words::words(&text).iter().map(|word| stem(&word.text)));
        }
        let asked = may_echo(input).then_some(input.question.as_str());
        let texts = asked.into_iter().chain(input.assumptions.iter().map(String::as_str));
        let mut phrases = Vec::new();
        for text in texts.chain(labels.iter().map(String::as_str)) {
            let found = words::words(text);
            phrases.extend(found.windows(2).filter_map(|pair| match pair {
                [a, b] => Some((a.text.clone(), b.text.clone())),
                _ => None,
            }));
        }
        Self {
            input,
            measures,
            whole: !input.truncated && input.rows.len() as u64 == input.row_count,
            known,
            phrases,
            labels: labels.into_iter().filter(|label| !label.contains(' ')).collect(),
            months: names::months(input),
            derived: Derived::of(input),
            texts: texts_of(input),
            columns,
        }
    }

    /// The first word of `sentence` that claims what the rows do not bear out, or that comes from nowhere. `before` is what
    /// was said already.
    pub fn unborne(&self, sentence: &str, before: &str) -> Option<String> {
        let text = sentence.to_lowercase();
        let cells = self.cells(&text);
        let said = Sentence {
            words: words::words(&text),
            numbers: numbers(&text),
            refs: refs(&text, self.input),
            clauses: clauses(&text, &cells),
            cells,
            before: refs(&before.to_lowercase(), self.input).iter().map(|found| found.row).collect(),
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
            if word.text.starts_with(char::is_numeric) {
                return (!self.is_number(&word.text)).then(|| word.text.clone());
            }
            let borne = match claimed(&said, at) {
                Some(claim) => match self.judge(&said, at, claim) {
                    Verdict::Holds => true,
                    Verdict::Open => self.echoes(&said, at),
                    Verdict::Wrong => false,
                },
                None => self.is_known(&word.text) || said.scales(at),
            };
            (!borne).then(|| word.text.clone())
        });
        word.or_else(|| self.unsigned(&said)).or_else(|| self.misplaced(&said))
    }

    /// Whether what begins with a digit is a number, or stands in the rows as it is: `2x` claims what 2 does not.
    fn is_number(&self, word: &str) -> bool {
        let tail = word.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | ','));
        let exponent = tail.strip_prefix('e').is_some_and(|power| power.parse::<u8>().is_ok());
        ["", "k", "m"].contains(&tail) || exponent || self.known.contains(&stem(word))
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
                let elsewhere = numbers(&self.input.question)
                    .iter()
                    .any(|asked| number.stands_for(asked.value))
                    || self.derived.amounts.iter().any(|amount| number.stands_for(*amount))
                    || self.is_count(number)
                    || cells().any(|cell| {
                        !is_negative(cell) && numbers(cell).iter().any(|told| number.stands_for(told.value))
                    });
                !elsewhere && cells().any(|cell| is_negative(cell) && stands(number, cell))
            });
        wrong.map(|number| number.written.clone())
    }

    /// A text of the rows in a clause that speaks of other rows: the city of somebody else.
    fn misplaced(&self, said: &Sentence<'_>) -> Option<String> {
        let asked = self.input.question.to_lowercase();
        let wrong = said.cells.iter().find(|(span, text)| {
            let Some((text, holders)) = self.texts.get(*text) else { return false };
            let clause = said.clause(span.start);
            let here: Vec<&Ref> = said.refs.iter().filter(|found| clause.contains(&found.at)).collect();
            let is_name = here.iter().any(|found| found.at == span.start);
            let held = here.iter().any(|found| holders.contains(&found.row));
            !here.is_empty() && !is_name && !held && !asked.contains(text)
        });
        wrong.and_then(|(_, text)| self.texts.get(*text)).map(|(text, _)| text.clone())
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

    fn is_known(&self, word: &str) -> bool {
        if MONTHS.iter().any(|month| month.eq_ignore_ascii_case(word)) {
            return self.months.iter().any(|month| month == word) || self.known.contains(&stem(word));
        }
        let short_month = word.len() > 2 && self.months.iter().any(|month| month.starts_with(word));
        // What `trace` reads as a number is its to judge.
        is_plain(word) || words::number(word).is_some() || short_month || self.known.contains(&stem(word))
    }

    /// Whether the word stands beside the same neighbour in the question, in what was assumed or in a column's name.
    fn echoes(&self, said: &Sentence<'_>, at: usize) -> bool {
        let word = said.word(at);
        let pairs =
            [at.checked_sub(1).map(|before| (said.word(before), word)), Some((word, said.word(at + 1)))];
        let stands = |(a, b): (&str, &str)| {
            self.phrases.iter().any(|(first, second)| words::same(first, a) && words::same(second, b))
        };
        pairs.into_iter().flatten().any(stands) || self.labels.iter().any(|label| label == word)
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
                let ends = article || (at > 0 && said.word(at + 1) != "of" && self.echoes(said, at));
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
            Claim::Both => Verdict::of(self.input.row_count == 2),
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
            Claim::Trend { up } => self.trend(said, at, up),
        }
    }

    /// `no`, `none`, `not`: each row that is spoken of has a zero, nothing, or a no; without any, all rows have.
    fn none(&self, said: &Sentence<'_>, at: usize) -> Verdict {
        let has_none = |row: &Vec<Option<String>>| {
            row.iter().zip(&self.input.columns).any(|(cell, column)| match cell.as_deref() {
                None => true,
                Some(value) if ["boolean", "bool"].contains(&column.sql_type.as_str()) => {
                    value.starts_with(['f', 'F'])
                }
                Some(value) => value.parse::<f64>().is_ok_and(|number| number == 0.0),
            })
        };
        let mut rows = said.rows_near(at);
        if rows.is_empty() {
            rows = (0..self.input.rows.len()).collect();
        }
        let rows: Vec<_> = rows.iter().filter_map(|row| self.input.rows.get(*row)).collect();
        Verdict::or_open(rows.iter().all(|row| has_none(row)))
    }

    /// `yes`: each row that is spoken of says so.
    fn yes(&self, said: &Sentence<'_>, at: usize) -> Verdict {
        let says = |row: &Vec<Option<String>>| {
            row.iter().zip(&self.input.columns).any(|(cell, column)| {
                ["boolean", "bool"].contains(&column.sql_type.as_str())
                    && cell.as_deref().is_some_and(|value| value.starts_with(['t', 'T']))
            })
        };
        let mut rows = said.rows_near(at);
        if rows.is_empty() {
            rows = (0..self.input.rows.len()).collect();
        }
        let rows: Vec<_> = rows.iter().filter_map(|row| self.input.rows.get(*row)).collect();
        Verdict::or_open(!rows.is_empty() && rows.iter().all(|row| says(row)))
    }

    /// The row or rows at one end of a measure, and nobody else.
    fn extreme(&self, said: &Sentence<'_>, at: usize, high: bool, verb: bool) -> Verdict {
        let rows = if verb && said.word(at + 1) != "by" { said.subject(at) } else { said.rows_near(at) };
        let asked = self.asks_for_end(high);
        if self.input.rows.len() < 2 {
            return Verdict::or_open(asked && self.input.row_count == 1);
        }
        // `The top 3 are A, B and C`, in whatever order they come, or in the lines below.
        let several = said.words.iter().any(|word| ["are", "were"].contains(&word.text.as_str()));
        let counts = || said.number_behind(at).is_some_and(|number| self.is_count(number));
        let every = said.rows().len() == self.input.rows.len() || (said.rows().is_empty() && counts());
        if asked && several && self.whole && every {
            return Verdict::Holds;
        }
        if self.measures.is_empty() {
            return Verdict::Open;
        }
        if rows.is_empty() {
            return Verdict::or_open(self.whole && said.rows().is_empty() && self.says_an_end(said, high));
        }
        let sign = if high { 1.0 } else { -1.0 };
        let is_end = |values: &[f64]| {
            let end = values.iter().map(|value| value * sign).fold(f64::NEG_INFINITY, f64::max);
            let at_end = |row: &usize| values.get(*row).is_some_and(|value| value * sign >= end);
            let others = (0..values.len()).filter(at_end).all(|row| said.rows().contains(&row));
            let known = self.whole || values.is_sorted_by(|a, b| a * sign >= b * sign);
            known && others && rows.iter().all(at_end)
        };
        let measures = self.measures_of(said, &rows);
        Verdict::of(!measures.is_empty() && measures.iter().all(|values| is_end(values)))
    }

    /// Whether a number of the sentence is the end of a measure: `the most was 1,200`.
    fn says_an_end(&self, said: &Sentence<'_>, high: bool) -> bool {
        self.measures.iter().any(|(at, values)| {
            let end = values.iter().copied().reduce(if high { f64::max } else { f64::min });
            let row = values.iter().position(|value| Some(*value) == end);
            let cell = row.and_then(|row| self.input.rows.get(row)?.get(*at)?.as_deref());
            cell.and_then(number).is_some_and(|end| said.numbers.iter().any(|number| number.stands_for(end)))
        })
    }

    /// Whether the question, or the query, asks for this end of an order.
    fn asks_for_end(&self, high: bool) -> bool {
        let list = if high { HIGH } else { LOW };
        let asked = words::words(&self.input.question);
        let word = if high { "most" } else { "least" };
        let named = |text: &str| is_one_of(list, text) || text == word;
        let sql = self.input.sql.as_deref().unwrap_or_default().to_lowercase();
        asked.iter().any(|word| named(&word.text)) || sql.contains(if high { "max(" } else { "min(" })
    }

    /// The row at an end of time.
    fn moment(&self, said: &Sentence<'_>, at: usize, late: bool) -> Verdict {
        let rows = said.rows_near(at);
        let ranks = |column: usize| -> Option<Vec<i64>> {
            let unit = match self.columns.get(column)?.part {
                Part::Period(unit) => Some(unit),
                _ => None,
            };
            let rank = |cell: &str| match unit {
                Some(unit) => unit.rank(cell),
                None => Date::parse(cell).map(Date::days),
            };
            self.input.rows.iter().map(|row| rank(row.get(column)?.as_deref()?)).collect()
        };
        let Some(ranks) = (0..self.columns.len()).find_map(ranks).filter(|ranks| ranks.len() > 1) else {
            return Verdict::Open;
        };
        let end = if late { ranks.iter().max() } else { ranks.iter().min() };
        if rows.is_empty() || !self.whole {
            return Verdict::Open;
        }
        Verdict::of(rows.iter().all(|row| ranks.get(*row) == end))
    }

    /// `first`, `third`, `last`: the place of the row that is spoken of. With a number behind it, a part of the rows.
    fn place(&self, said: &Sentence<'_>, at: usize, place: Option<usize>) -> Verdict {
        if is_one_of(UNITS, said.word(at + 1)) && said.rows_near(at).is_empty() {
            return Verdict::Open;
        }
        if said.number_behind(at).is_some() {
            return Verdict::or_open(place == Some(0));
        }
        let rows = said.rows_near(at);
        let wanted = place.or_else(|| self.input.rows.len().checked_sub(1).filter(|_| self.whole));
        match (rows.as_slice(), wanted) {
            ([], _) | (_, None) => Verdict::Open,
            (rows, Some(wanted)) => Verdict::of(rows.iter().all(|row| *row == wanted)),
        }
    }

    /// `more than 1.2 million`: a number of the rows that was rounded this way, or a bound of the question.
    fn bound(&self, said: &Sentence<'_>, at: usize, above: bool) -> Verdict {
        let Some(bound) = said.number_behind(at) else { return Verdict::Open };
        if above && self.input.truncated && self.is_count(bound) {
            return Verdict::Holds;
        }
        let lies = |exact: Decimal| {
            if above { bound.value.is_below(exact) } else { exact.is_below(bound.value) }
        };
        let rounds = |cell: &str| number(cell).is_some_and(|exact| bound.stands_for(exact) && lies(exact));
        if self.input.rows.iter().flatten().flatten().any(|cell| rounds(cell)) {
            return Verdict::Holds;
        }
        let asked = self.input.question.to_lowercase();
        let asked = Sentence::alone(&asked);
        let same = |at: usize| {
            matches!(claimed(&asked, at), Some(Claim::Bound { above: same }) if same == above)
                && asked.number_behind(at).is_some_and(|number| number.value.equals(bound.value))
        };
        Verdict::of((0..asked.words.len()).any(same))
    }

    /// One row above or below another, by their names.
    fn compared(&self, said: &Sentence<'_>, at: usize, above: bool) -> Verdict {
        let word = said.word(at);
        if word == "more"
            && said.word(at + 1) == "in"
            && said.word(at + 2) == "the"
            && said.word(at + 3) == "table"
        {
            return Verdict::Holds;
        }
        if word == "more" && said.word(at + 1) != "than" && self.input.truncated {
            return Verdict::Holds;
        }
        let here = said.start(at);
        let left = said
            .refs
            .iter()
            .rfind(|found| found.at < here)
            .map(|found| found.row)
            .or(said.before.last().copied());
        // `Ravi has a higher value (99) than Asha`
        let than = (at + 1..said.words.len()).find(|next| said.word(*next) == "than");
        let there = than.map_or(here, |than| said.start(than));
        let right = said.refs.iter().find(|found| found.at > there).map(|found| found.row);
        let (Some(left), Some(right)) = (left, right) else {
            return if self.measures.is_empty() { Verdict::Open } else { Verdict::Wrong };
        };
        let measures = self.measures_of(said, &[left, right]);
        let lies = |values: &[f64]| match (values.get(left), values.get(right)) {
            (Some(left), Some(right)) => {
                if above {
                    left > right
                } else {
                    left < right
                }
            }
            _ => false,
        };
        if self.measures.is_empty() {
            return Verdict::Open;
        }
        Verdict::of(left != right && !measures.is_empty() && measures.iter().all(|values| lies(values)))
    }

    /// The rows that are spoken of are equal in what is spoken of.
    fn same(&self, said: &Sentence<'_>) -> Verdict {
        let mut rows: Vec<usize> = said.rows().into_iter().collect();
        if rows.is_empty() && self.whole {
            rows = (0..self.input.rows.len()).collect();
        }
        if rows.len() < 2 || self.measures.is_empty() {
            return Verdict::Open;
        }
        let measures = self.measures_of(said, &rows);
        let equal = |values: &[f64]| {
            let mut values = rows.iter().filter_map(|row| values.get(*row));
            let first = values.next();
            values.all(|value| Some(value) == first)
        };
        Verdict::of(!measures.is_empty() && measures.iter().all(|values| equal(values)))
    }

    /// A sum of a column, or the number of rows; of one row, what its query summed.
    fn total(&self, said: &Sentence<'_>) -> Verdict {
        if self.input.rows.len() < 2 {
            return Verdict::or_open(
                ["sum", "total", "count"].iter().any(|word| self.known.contains(&stem(word))),
            );
        }
        let sums = |number: &&Mention| {
            self.derived.sums.iter().any(|sum| number.stands_for(*sum)) || self.is_count(number)
        };
        Verdict::or_open(said.numbers.iter().any(|number| sums(&number)))
    }

    /// The rows are told in the order they came in, or in that of a measure.
    fn order(&self, said: &Sentence<'_>) -> Verdict {
        let mut told: Vec<usize> = Vec::new();
        for row in said.before.iter().copied().chain(said.refs.iter().map(|found| found.row)) {
            if !told.contains(&row) {
                told.push(row);
            }
        }
        if told.len() < 2 || said.refs.is_empty() {
            return Verdict::Open;
        }
        let falls = |values: &Vec<f64>| {
            let told: Vec<f64> = told.iter().filter_map(|row| values.get(*row).copied()).collect();
            told.is_sorted_by(|a, b| a >= b)
        };
        Verdict::of(told.is_sorted() || self.measures.iter().any(|(_, values)| falls(values)))
    }

    /// A change: between two periods of the rows, over all of them, or in a column that holds changes.
    fn trend(&self, said: &Sentence<'_>, at: usize, up: bool) -> Verdict {
        let rows = said.course(at);
        let sign = if up { 1.0 } else { -1.0 };
        let axis = self.columns.iter().enumerate().find_map(|(at, column)| match column.part {
            Part::Period(unit) => Some((at, unit)),
            _ => None,
        });
        if let Some((at, unit)) = axis.filter(|_| self.input.rows.len() > 1) {
            let rank = |row: usize| unit.rank(self.input.rows.get(row)?.get(at)?.as_deref()?);
            let mut order: Vec<usize> =
                if rows.len() > 1 { rows.clone() } else { (0..self.input.rows.len()).collect() };
            order.sort_by_key(|row| rank(*row));
            let moves = |values: &[f64]| {
                let told: Vec<f64> = order.iter().filter_map(|row| Some(values.get(*row)? * sign)).collect();
                told.len() > 1 && told.is_sorted_by(|a, b| a < b)
            };
            let measures = self.measures_of(said, &rows);
            let known = rows.len() > 1 || self.whole;
            return Verdict::of(known && !measures.is_empty() && measures.iter().all(|values| moves(values)));
        }
        const CHANGES: [&str; 6] = ["change", "delta", "diff", "difference", "growth", "increase"];
        let change = self.measures.iter().find(|(at, _)| {
            let name = self.input.columns.get(*at).map_or("", |column| column.name.as_str());
            words::identifier_words(name).iter().any(|word| CHANGES.contains(&word.as_str()))
        });
        if let Some((_, values)) = change {
            let all = (0..values.len()).collect();
            let told = if rows.is_empty() { all } else { rows };
            return Verdict::of(
                told.iter().all(|row| values.get(*row).is_some_and(|value| value * sign > 0.0)),
            );
        }
        // A number that is told without its sign may have moved the other way.
        let falls = self.measures.iter().any(|(_, values)| values.iter().any(|value| *value < 0.0));
        if falls { Verdict::Wrong } else { Verdict::Open }
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
        Decimal::parse(&self.input.row_count.to_string()).is_some_and(|count| count.equals(number.value))
    }

    fn exact(&self, said: &Mention) -> bool {
        let cells = self.input.rows.iter().flatten().flatten().filter_map(|cell| number(cell));
        self.is_count(said) || cells.into_iter().any(|exact| exact.equals(said.value))
    }

    fn has_exactly(&self, wanted: f64) -> bool {
        let cells = self.input.rows.iter().flatten().flatten();
        cells.into_iter().any(|cell| cell.parse::<f64>().is_ok_and(|number| number == wanted))
            || words::words(&self.input.question).iter().any(|word| word.text.parse() == Ok(wanted))
    }
}

impl<'a> Sentence<'a> {
    /// A text that speaks of no row.
    fn alone(text: &'a str) -> Self {
        let (words, numbers) = (words::words(text), numbers(text));
        Self {
            text,
            words,
            numbers,
            refs: Vec::new(),
            clauses: Vec::new(),
            cells: Vec::new(),
            before: Vec::new(),
        }
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    fn start(&self, at: usize) -> usize {
        self.words.get(at).map_or(self.text.len(), |word| word.span.start)
    }

    /// The rows that a change is told of: those of its clause, with the one before where it has one alone; else all.
    fn course(&self, at: usize) -> Vec<usize> {
        let clause = self.clause(self.start(at));
        let mut rows: BTreeSet<usize> =
            self.refs.iter().filter(|found| clause.contains(&found.at)).map(|found| found.row).collect();
        if rows.len() == 1 {
            let before = self.refs.iter().rfind(|found| found.at < clause.start);
            rows.extend(before.map(|found| found.row));
        }
        if rows.is_empty() {
            rows = self.rows();
        }
        rows.into_iter().collect()
    }

    /// The clause that a byte stands in.
    fn clause(&self, at: usize) -> Range<usize> {
        self.clauses.iter().find(|clause| clause.contains(&at)).cloned().unwrap_or(0..self.text.len())
    }

    /// Whether a word belongs to the number before it: `1.2 crore`.
    fn scales(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |at| self.word(at));
        before.starts_with(|c: char| c.is_ascii_digit()) && power(self.word(at)).is_some()
    }

    /// The rows that it speaks of.
    fn rows(&self) -> BTreeSet<usize> {
        self.refs.iter().map(|found| found.row).collect()
    }

    /// The number that a word is about: right behind it, but for words that come between.
    fn number_behind(&self, at: usize) -> Option<&Mention> {
        const BETWEEN: [&str; 8] = ["a", "about", "all", "just", "of", "than", "the", "to"];
        let mut next = at + 1;
        while BETWEEN.contains(&self.word(next)) || ["least", "most", "first"].contains(&self.word(next)) {
            next += 1;
        }
        let start = self.start(next);
        self.numbers.iter().find(|number| number.at == start)
    }

    /// The rows of the clause that a word stands in; where it has none, the row that was spoken of last, else the next.
    fn rows_near(&self, at: usize) -> Vec<usize> {
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
    fn subject(&self, at: usize) -> Vec<usize> {
        let here = self.start(at);
        let clause = self.clause(here);
        let before = self.refs.iter().rfind(|found| clause.contains(&found.at) && found.at < here);
        before.map_or_else(|| self.rows_near(at), |found| vec![found.row])
    }
}

/// What the word at a place claims, if anything.
fn claimed(said: &Sentence<'_>, at: usize) -> Option<Claim> {
    let word = said.word(at);
    let before = at.checked_sub(1).map_or("", |at| said.word(at));
    let behind = said.word(at + 1);
    let bound = said.number_behind(at).is_some();
    Some(match word {
        "t" if said.text.get(..said.start(at)).is_some_and(|text| text.ends_with(['\'', '’'])) => {
            Claim::None
        }
        "one" | "single" => Claim::One,
        "true" | "yes" => Claim::Yes,
        "false" => Claim::None,
        // `A quarter of them`
        "quarter" | "third" | "fourth" | "fifth" | "tenth" if before == "a" && behind == "of" => Claim::Asked,
        "least" | "most" if before == "at" => Claim::Bound { above: word == "least" },
        "most" if is_one_of(LATE, behind) => Claim::Moment { late: true },
        "most" => Claim::Most,
        "least" => Claim::Extreme { high: false, verb: false },
        "almost" | "nearly" => Claim::Bound { above: false },
        "exactly" | "precisely" => Claim::Exactly,
        "up" if behind == "to" => Claim::Bound { above: false },
        "this" | "next" if is_one_of(UNITS, behind) => Claim::Asked,
        "than" => Claim::Than,
        "both" => Claim::Both,
        "all" => Claim::All,
        "only" => Claim::Only,
        "each" | "every" => Claim::Each,
        "any" => Claim::Asked,
        "last" | "final" => Claim::Place(None),
        _ if ORDINALS.contains(&word) => Claim::Place(ORDINALS.iter().position(|ordinal| *ordinal == word)),
        _ if is_one_of(NONE, word) => Claim::None,
        _ if is_one_of(NEGATIVE, word) => Claim::Negative,
        _ if is_one_of(MULTIPLES, word) => Claim::Asked,
        _ if is_one_of(VAGUE, word) => Claim::Vague,
        _ if is_one_of(HIGH, word) => Claim::Extreme { high: true, verb: is_one_of(LEADS, word) },
        _ if is_one_of(LOW, word) => Claim::Extreme { high: false, verb: false },
        _ if is_one_of(LATE, word) => Claim::Moment { late: true },
        _ if is_one_of(EARLY, word) => Claim::Moment { late: false },
        _ if is_one_of(MORE, word) && bound => Claim::Bound { above: true },
        _ if is_one_of(LESS, word) && bound => Claim::Bound { above: false },
        _ if is_one_of(MORE, word) => Claim::Compared { above: true },
        _ if is_one_of(LESS, word) => Claim::Compared { above: false },
        _ if is_one_of(SAME, word) => Claim::Same,
        _ if is_one_of(TOTALS, word) => Claim::Total,
        _ if is_one_of(ORDER, word) => Claim::Order,
        _ if is_one_of(UP, word) => Claim::Trend { up: true },
        _ if is_one_of(DOWN, word) => Claim::Trend { up: false },
        _ => return None,
    })
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
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

/// The parts of a sentence that speak of one thing each.
fn clauses(text: &str, cells: &[(Range<usize>, usize)]) -> Vec<Range<usize>> {
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

/// A sign of a currency that stands nowhere in what was given.
fn foreign_currency(text: &str, input: &AnswerInput) -> Option<char> {
    let given = |sign: char| {
        let cells = input.rows.iter().flatten().flatten();
        let texts = cells.chain(&input.sql).chain(&input.assumptions).chain([&input.question]);
        texts.into_iter().any(|text| text.contains(sign))
    };
    text.chars().find(|c| matches!(c, '$' | '€' | '£' | '¥' | '₹') && !given(*c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::input;

    /// The first word that is not borne out of each text, where it is another than wanted.
    fn hold(data: &AnswerInput, cases: &[(&str, Option<&str>)]) {
        let claims = Claims::of(data);
        for (text, want) in cases {
            assert_eq!(claims.unborne(text, "").as_deref(), *want, "{text}");
        }
    }

    fn products() -> AnswerInput {
        let rows: &[&[Option<&str>]] = &[
            &[Some("Hammer"), Some("1200")],
            &[Some("Nails"), Some("900")],
            &[Some("Saw"), Some("900")],
            &[Some("Tape"), Some("0")],
        ];
        input("Which products sold most?", &[("product", "text"), ("units", "bigint")], rows)
    }

    #[test]
    fn words_come_from_somewhere_or_say_nothing() {
        hold(
            &products(),
            &[
                ("Hammer sold 1,200 units.", None),
                ("The products and their units are listed in the table.", None),
                ("It was acme with 1,200.", Some("acme")),
                ("Hammer sold 1,200 units in germany.", Some("germany")),
                ("Hammer sold 1,200 units in february.", Some("february")),
                ("Hammer sold 1,200 units because of rain.", Some("because")),
                ("Hammer sold a healthy 1,200 units.", Some("healthy")),
                ("Hammer brought $1,200.", Some("$")),
                ("Hammer brought 1.2 thousand.", None),
                ("Hammer sold 4x.", Some("4x")),
                ("Hammer sold 4 times the units of Nails.", Some("times")),
                ("A quarter of the units is of Nails.", Some("quarter")),
            ],
        );
        let cities = input(
            "Customers by city?",
            &[("name", "text"), ("city", "text"), ("balance", "numeric")],
            &[&[Some("Asha"), Some("Pune"), Some("5")], &[Some("Ravi"), Some("Surat"), Some("-7")]],
        );
        hold(
            &cities,
            &[
                ("Asha is from Pune, Ravi is from Surat.", None),
                ("Asha is from Surat.", Some("surat")),
                ("Ravi has a balance of -7.", None),
                ("Ravi has a negative balance of 7.", None),
                ("Ravi has a balance of 7.", Some("7")),
                ("Asha has a negative balance of 5.", Some("negative")),
            ],
        );
        let truths = input(
            "Who is active?",
            &[("name", "text"), ("active", "boolean")],
            &[&[Some("Asha"), Some("true")], &[Some("Ravi"), Some("false")]],
        );
        hold(
            &truths,
            &[
                ("Asha: yes, Ravi: no.", None),
                ("Asha is active: no.", Some("no")),
                ("Ravi is active: yes.", Some("yes")),
                ("It is true of Ravi.", Some("true")),
            ],
        );
    }

    #[test]
    fn none_is_said_of_what_has_none() {
        hold(
            &products(),
            &[
                ("Tape sold none.", None),
                ("Hammer sold 1,200, Tape none.", None),
                ("No units of Tape were sold.", None),
                ("Hammer sold none.", Some("none")),
                ("No products were sold.", Some("no")),
                ("Nails isn't sold.", Some("t")),
                ("Hammer sold zero units.", Some("zero")),
                ("Nothing was sold.", Some("nothing")),
            ],
        );
        let mut never = input(
            "Which customers have never paid?",
            &[("customer", "text")],
            &[&[Some("Asha")], &[Some("Ravi")]],
        );
        hold(
            &never,
            &[
                ("Asha and Ravi have never paid.", None),
                ("Asha and Ravi have not paid.", Some("not")),
                ("Asha never came.", Some("never")),
                ("No customers have paid.", Some("no")),
            ],
        );
        never.question = "Did Asha pay?".into();
        never.columns = vec![airlock_plugin_sdk::contract::answerer::ResultColumn {
            name: "paid".into(),
            sql_type: "boolean".into(),
        }];
        never.row_count = 1;
        for (value, yes, no) in [("false", Some("not"), None), ("true", None, Some("not"))] {
            never.rows = vec![vec![Some(value.into())]];
            let _ = yes;
            hold(&never, &[("Asha did not pay.", no)]);
        }
        let unknown = input("Who is the manager of Asha?", &[("manager", "text")], &[&[None]]);
        hold(&unknown, &[("Asha has no manager.", None)]);
    }

    #[test]
    fn quantities_in_words_are_counted() {
        hold(
            &products(),
            &[
                ("Hundreds of units were sold.", Some("hundreds")),
                ("Dozens of products were sold.", Some("dozens")),
                ("Most products sold 900.", Some("most")),
                ("The majority sold 900.", Some("majority")),
                ("Half of the products sold 900.", Some("half")),
                ("Hammer sold twice as much.", Some("twice")),
                ("Several products sold 900.", Some("several")),
                ("One product sold 1,200.", Some("one")),
                ("All products sold 900.", Some("all")),
                ("All 4 products are in the table.", None),
                ("All 3 products are in the table.", Some("all")),
                ("Both products are in the table.", Some("both")),
                ("Only Hammer was sold.", Some("only")),
            ],
        );
        let one = input("Which product sold most?", &[("product", "text")], &[&[Some("Hammer")]]);
        hold(&one, &[("The one product is Hammer.", None), ("Only Hammer sold most.", None)]);
        let twice = input(
            "Which customers came twice?",
            &[("customer", "text")],
            &[&[Some("Asha")], &[Some("Ravi")]],
        );
        hold(&twice, &[("Asha and Ravi came twice.", None), ("Asha brought twice as much.", Some("twice"))]);
    }

    #[test]
    fn ends_of_an_order_are_where_the_rows_have_them() {
        hold(
            &products(),
            &[
                ("Hammer leads with 1,200 units.", None),
                ("The leader is Hammer.", None),
                ("Hammer sold most.", None),
                ("The most was 1,200.", None),
                ("The highest is Hammer (1,200), the lowest Tape (0).", None),
                ("The lowest is Nails (900).", Some("lowest")),
                ("Nails leads with 900 units.", Some("leads")),
                ("Nails leads, Hammer comes after it.", Some("leads")),
                ("The best is Nails with 900.", Some("best")),
                ("Nails sold most, at 900.", Some("most")),
                ("Hammer leads, followed by Nails and Saw.", None),
                ("Hammer leads, followed by Tape and Saw.", Some("followed")),
                ("Nails is second with 900.", None),
                ("Saw is second with 900.", Some("second")),
                ("The first is Hammer.", None),
                ("The last is Saw.", Some("last")),
                ("The last is Tape.", None),
                ("Hammer led the last quarter.", Some("last")),
                ("The cheapest is Hammer.", Some("cheapest")),
            ],
        );
        // Nobody stands alone at the top.
        let tie = input(
            "Top products?",
            &[("product", "text"), ("units", "bigint")],
            &[&[Some("Nails"), Some("5")], &[Some("Saw"), Some("5")]],
        );
        hold(&tie, &[("Nails leads with 5.", Some("leads")), ("Nails and Saw are the top products.", None)]);
        let unsorted = input(
            "Which 2 products sold most?",
            &[("product", "text"), ("units", "bigint")],
            &[&[Some("Nails"), Some("5")], &[Some("Saw"), Some("9")]],
        );
        hold(
            &unsorted,
            &[
                ("The 2 products that sold most are Nails and Saw.", None),
                ("The product that sold most is Nails.", Some("most")),
            ],
        );
        let one = input("Which product sold most?", &[("product", "text")], &[&[Some("Hammer")]]);
        hold(&one, &[("Hammer sold most.", None), ("Hammer sold least.", Some("least"))]);
        let asked_low = input("Which product is worst?", &[("product", "text")], &[&[Some("Hammer")]]);
        hold(&asked_low, &[("Hammer is worst.", None), ("Hammer is best.", Some("best"))]);
    }

    #[test]
    fn comparisons_are_those_of_the_rows() {
        hold(
            &products(),
            &[
                ("Hammer sold more than Nails.", None),
                ("Nails sold more than Hammer.", Some("more")),
                ("Nails sold fewer units than Hammer.", None),
                ("Hammer sold fewer units than Nails.", Some("fewer")),
                ("Hammer is 300 ahead of Nails.", None),
                ("Nails is 300 ahead of Hammer.", Some("ahead")),
                ("Nails and Saw sold the same number.", None),
                ("Hammer and Saw sold the same number.", Some("same")),
                ("Nails and Saw sold 900 each.", None),
                ("The products are equal.", Some("equal")),
                ("Hammer sold more than 900.", Some("more")),
                ("Hammer sold at least 1,200.", Some("least")),
                ("Hammer sold exactly 1,200.", None),
                ("Hammer sold nearly 1,200.", Some("nearly")),
                ("Hammer sold more.", Some("more")),
                ("Hammer has a higher number of units (1,200) than Nails (900).", None),
                ("Nails has a higher number of units (900) than Hammer (1,200).", Some("higher")),
            ],
        );
        let big = input(
            "Which customers have more than 5 bills?",
            &[("customer", "text"), ("worth", "numeric")],
            &[&[Some("Asha"), Some("1234567.89")]],
        );
        hold(
            &big,
            &[
                ("Asha has more than 5 bills.", None),
                ("Asha has fewer than 5 bills.", Some("fewer")),
                ("Asha has over 5 bills.", None),
                ("Asha brought more than 1.23 million.", None),
                ("Asha brought nearly 1.23 million.", Some("nearly")),
                ("Asha brought nearly 1,234,568.", None),
            ],
        );
    }

    #[test]
    fn a_change_is_one_of_the_rows() {
        let months = |values: [&str; 3]| {
            let rows: Vec<[Option<&str>; 2]> = ["2026-01-01", "2026-02-01", "2026-03-01"]
                .iter()
                .zip(values)
                .map(|(month, value)| [Some(*month), Some(value)])
                .collect();
            let rows: Vec<&[Option<&str>]> = rows.iter().map(|row| row.as_slice()).collect();
            input("Revenue by month?", &[("month", "date"), ("revenue", "numeric")], &rows)
        };
        hold(
            &months(["10", "20", "30"]),
            &[
                ("Revenue rose to 30.", None),
                ("Revenue fell to 10.", Some("fell")),
                ("Revenue rose from 10 in January 2026 to 30 in March 2026.", None),
                ("Revenue rose from last year.", Some("last")),
            ],
        );
        hold(
            &months(["10", "30", "20"]),
            &[
                ("Revenue rose.", Some("rose")),
                ("Revenue rose from 10 in January 2026 to 30 in February 2026.", None),
                ("Revenue fell from 30 in February 2026 to 20 in March 2026.", None),
                ("Revenue rose from 30 in February 2026 to 20 in March 2026.", Some("rose")),
                ("Revenue is up.", Some("up")),
                (
                    "Revenue rose from 10 in January 2026 to 30 in February 2026, then fell to 20 in March 2026.",
                    None,
                ),
                (
                    "Revenue rose from 10 in January 2026 to 30 in February 2026, then rose to 20 in March 2026.",
                    Some("rose"),
                ),
                ("Revenue fell to 20 in March 2026.", Some("fell")),
            ],
        );
        let single = |question: &str, column: &str, value: &str| {
            input(question, &[(column, "numeric")], &[&[Some(value)]])
        };
        hold(
            &single("Revenue in 2026?", "revenue", "5"),
            &[
                ("Revenue rose to 5.", Some("rose")),
                ("Revenue was 5, up from last year.", Some("up")),
                ("Revenue was 5.", None),
            ],
        );
        hold(
            &single("By how much did revenue grow?", "growth", "-5"),
            &[("Revenue grew by 5.", Some("grew")), ("Revenue fell by 5.", None)],
        );
        let risen = input(
            "Which products rose in price?",
            &[("product", "text")],
            &[&[Some("Nails")], &[Some("Saw")]],
        );
        hold(
            &risen,
            &[("Nails and Saw rose in price.", None), ("Nails and Saw fell in price.", Some("fell"))],
        );
        let whether = single("Did revenue increase in May?", "revenue", "5");
        hold(&whether, &[("Revenue increased in May to 5.", Some("increased"))]);
    }
}
