//! Values of columns that match words of a question: "paid" finds `PAID`, "teflon tape" finds the product.

use std::collections::{BTreeMap, HashMap};

use airlock_types::ColumnRef;
use airlock_types::text::{Place, find_hidden};

use super::query::Query;
use super::words::{folded, is_stop_word, words};
use crate::exposure::{VALUE_CHARACTERS, VALUES};

/// Most values of a domain that are indexed.
pub const TOTAL: usize = 500_000;
/// A word that more values than this have tells none of them apart.
const COMMON: usize = 5_000;
/// A value of more words is prose, not the name of anything.
const NAME_WORDS: usize = 12;
/// What a value scores that is nothing but what a word of the question may also stand for.
const KIN: f64 = 0.5;
/// Least share of a value's words, by weight, that a question must name.
const SHARE: f64 = 0.34;

/// A value that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueHit {
    /// Its column.
    pub column: ColumnRef,
    /// The value as the column has it.
    pub value: String,
    /// 1 for the value spelled out in the question, less for less.
    pub score: f64,
    /// The words of the question it matched.
    pub matched: String,
}

/// All indexed values of a domain.
#[derive(Debug, Default)]
pub struct ValueIndex {
    columns: Vec<ColumnRef>,
    values: Vec<Entry>,
    /// By stem: the values that have it.
    by_stem: HashMap<String, Vec<u32>>,
}

#[derive(Debug)]
struct Entry {
    column: usize,
    value: String,
    folded: String,
    stems: Vec<String>,
}

impl ValueIndex {
    /// Indexes distinct values. What has hidden characters, is longer than a name or says nothing is left out.
    #[must_use]
    pub fn new(values: &[(ColumnRef, Vec<String>)]) -> Self {
        let mut index = Self::default();
        for (column, values) in values {
            let number = index.columns.len();
            index.columns.push(column.clone());
            for value in values.iter().take(VALUES) {
                index.add(number, value);
            }
        }
        index
    }

    fn add(&mut self, column: usize, value: &str) {
        if self.values.len() >= TOTAL
            || value.chars().count() > VALUE_CHARACTERS
            || find_hidden(value, Place::Prose).is_some()
        {
            return;
        }
        let stems: Vec<String> = words(value).into_iter().map(|word| word.stem).collect();
        let Ok(number) = u32::try_from(self.values.len()) else { return };
        if stems.is_empty() || stems.len() > NAME_WORDS {
            return;
        }
        for stem in &stems {
            let numbers = self.by_stem.entry(stem.clone()).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
        self.values.push(Entry { column, value: value.to_owned(), folded: folded(value), stems });
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The indexed values of one column.
    pub fn of_column<'a>(&'a self, column: &ColumnRef) -> impl Iterator<Item = &'a str> + use<'a> {
        let number = self.columns.iter().position(|known| known == column);
        let entries = self.values.iter().filter(move |entry| Some(entry.column) == number);
        entries.map(|entry| entry.value.as_str())
    }

    /// Values that words of the question name, best first; equal scores by column and value.
    #[must_use]
    pub fn search(&self, query: &Query<'_>) -> Vec<ValueHit> {
        let mut candidates: BTreeMap<u32, ()> = BTreeMap::new();
        for word in &query.words {
            match self.by_stem.get(&word.stem) {
                Some(numbers) if numbers.len() <= COMMON && !is_stop_word(&word.folded) => {
                    candidates.extend(numbers.iter().map(|number| (*number, ())));
                }
                _ => {}
            }
        }
        let mut hits: Vec<ValueHit> = candidates
            .into_keys()
            .filter_map(|number| self.hit(self.values.get(number as usize)?, query))
            .collect();
        hits.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.column.cmp(&b.column))
                .then_with(|| a.value.cmp(&b.value))
        });
        hits
    }

    /// Values that are nothing but what a word of the question may also stand for: `Speed` for "the fastest". They speak for
    /// their tables; nobody named them.
    pub(crate) fn kin(&self, query: &Query<'_>) -> Vec<ValueHit> {
        let mut hits = Vec::new();
        for term in &query.terms {
            for number in term.kin.iter().filter_map(|kin| self.by_stem.get(kin)).flatten() {
                let entry = self.values.get(*number as usize).filter(|entry| entry.stems.len() == 1);
                if let Some(entry) = entry
                    && let Some(column) = self.columns.get(entry.column)
                {
                    hits.push(ValueHit {
                        column: column.clone(),
                        value: entry.value.clone(),
                        score: KIN,
                        matched: query.written(term.word).to_owned(),
                    });
                }
            }
        }
        hits
    }

    fn hit(&self, entry: &Entry, query: &Query<'_>) -> Option<ValueHit> {
        let column = self.columns.get(entry.column)?.clone();
        let found = |score, (first, last)| {
            let matched = query.span(first, last).to_owned();
            Some(ValueHit { column: column.clone(), value: entry.value.clone(), score, matched })
        };
        if let Some((first, last)) = query.find_phrase(&entry.stems) {
            let spelled = folded(query.span(first, last)) == entry.folded;
            return found(if spelled { 1.0 } else { 0.9 }, (first, last));
        }
        let mut positions = Vec::new();
        let (mut named, mut total) = (0.0, 0.0);
        for (index, stem) in entry.stems.iter().enumerate() {
            // A word that stands twice in the value is one word to name.
            if entry.stems.iter().take(index).any(|earlier| earlier == stem) {
                continue;
            }
            let weight = self.weight(stem);
            total += weight;
            let at = query.words.iter().position(|word| word.stem == *stem && !is_stop_word(&word.folded));
            if let Some(at) = at {
                named += weight;
                positions.push(at);
            }
        }
        let share = if total > 0.0 { named / total } else { 0.0 };
        let (first, last) = (positions.iter().min().copied()?, positions.iter().max().copied()?);
        // Words that stand apart in the question name the value less surely than words that stand together.
        let together = positions.len() as f64 / (last - first + 1) as f64;
        (share >= SHARE).then_some(())?;
        found(0.8 * share * (0.5 + 0.5 * together), (first, last))
    }

    /// A word that few values have says more.
    fn weight(&self, stem: &str) -> f64 {
        let found = self.by_stem.get(stem).map_or(1, Vec::len) as f64;
        (1.0 + self.values.len() as f64 / found).ln()
    }
}

#[cfg(test)]
mod tests {
    use airlock_types::TableRef;

    use super::*;

    fn index() -> ValueIndex {
        let column = |table: &str, column: &str| ColumnRef {
            table: TableRef::new("public", table),
            column: column.into(),
        };
        let list = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        ValueIndex::new(&[
            (column("orders", "status"), list(&["PAID", "PENDING", "ON HOLD", "A\u{200b}B"])),
            (column("things", "label"), list(&["Teflon Tape 12mm", "Masking Tape", "Hinge 4 inch", "the"])),
        ])
    }

    #[test]
    fn words_of_a_question_find_values() {
        for (question, value, matched, score) in [
            ("How many paid orders?", "PAID", "paid", 1.0),
            ("orders on  hold", "ON HOLD", "on  hold", 1.0),
            ("How much teflon tape did we sell?", "Teflon Tape 12mm", "teflon tape", 0.3),
            ("masking tapes", "Masking Tape", "masking tapes", 0.9),
            ("hinges of 4 inch", "Hinge 4 inch", "hinges of 4 inch", 0.6),
        ] {
            let hits = index().search(&Query::new(question));
            let hit = hits.first().unwrap_or_else(|| panic!("nothing for {question}"));
            assert_eq!((hit.value.as_str(), hit.matched.as_str()), (value, matched), "{question}");
            assert!(hit.score >= score, "{question}: {}", hit.score);
        }
    }

    #[test]
    fn what_a_word_may_also_stand_for_is_found_apart_and_only_whole() {
        let column = ColumnRef { table: TableRef::new("public", "measures"), column: "kind".into() };
        let values = ["Speed", "Speed limit", "Weight"].map(str::to_owned).to_vec();
        let index = ValueIndex::new(&[(column, values)]);
        let query = Query::new("Which is the fastest?");
        assert!(index.search(&query).is_empty());
        let found: Vec<(String, String)> =
            index.kin(&query).into_iter().map(|hit| (hit.value, hit.matched)).collect();
        assert_eq!(found, [("Speed".to_owned(), "fastest".to_owned())]);
        assert!(index.kin(&Query::new("Which is the best?")).is_empty());
    }

    #[test]
    fn the_values_of_a_column_are_its_own() {
        let column = |table: &str, column: &str| ColumnRef {
            table: TableRef::new("public", table),
            column: column.into(),
        };
        let of = |column: &ColumnRef| index().of_column(column).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of(&column("orders", "status")), ["PAID", "PENDING", "ON HOLD"]);
        assert!(of(&column("orders", "label")).is_empty());
    }

    #[test]
    fn what_nobody_named_is_not_found() {
        for question in ["What is the weather?", "holding", "AB", "tap"] {
            let hits = index().search(&Query::new(question));
            assert!(hits.iter().all(|hit| hit.value != "the" && hit.score < 0.9), "{question}: {hits:?}");
        }
        assert_eq!(index().len(), 7, "a value with a hidden character is left out");
    }
}
