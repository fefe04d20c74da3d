//! Tables by what is said about them, what they are called, which values they hold, and what lies beside them.

use std::collections::{BTreeMap, BTreeSet};

use airlock_types::TableRef;

use super::affixes::Affixes;
use super::bm25f::Bm25f;
use super::cohesion::{Cohesion, Evidence};
use super::documents;
use super::query::Query;
use super::values::ValueHit;
use super::vectors::Near;
use super::weights::{weight, without_operations};
use super::words::{is_stop_word, name_parts};
use crate::joins::Join;
use crate::pack::BoundTerm;
use crate::records::TableHit;
use crate::tables::TableView;

/// What a table's name is worth beside everything that is said about it.
const NAME_FACTOR: f32 = 2.0;
/// How near the parts of a name must stand in a question to say it, in words that carry meaning: `status of the order` says
/// `order_status`, a question of orders that ends with somebody's status does not.
const TOGETHER: usize = 3;
/// Tables that a vector speaks for.
const NEAREST: usize = 20;
/// What the table nearest by its vector is worth beside what words say.
const VECTOR_FACTOR: f32 = 3.0;
/// What a value must score to speak for its table: a word in passing does not.
const VALUE_FLOOR: f64 = 0.5;
/// What a value scores that the question spells out.
const SPELLED: f64 = 0.9;
/// Shortest number that can be the name of something.
const NUMBER: usize = 3;

/// The index of tables.
#[derive(Debug)]
pub(crate) struct TableIndex {
    tables: Vec<TableRef>,
    /// The stems of each table's name, and of each of its synonyms.
    names: Vec<Vec<Vec<String>>>,
    said: Bm25f,
    called: Bm25f,
    cohesion: Cohesion,
}

impl TableIndex {
    pub(crate) fn new(views: &[TableView], terms: &[BoundTerm], joins: &[Join]) -> Self {
        let affixes = Affixes::of(views);
        let stems = |name: &str| name_parts(name).into_iter().map(|part| part.stem).collect::<Vec<String>>();
        Self {
            tables: views.iter().map(|view| view.table.clone()).collect(),
            names: views
                .iter()
                .map(|view| {
                    let name = std::iter::once(affixes.table(&view.table));
                    name.chain(view.synonyms.iter().map(String::as_str)).map(stems).collect()
                })
                .collect(),
            said: documents::tables(views, terms, &affixes),
            called: documents::table_names(views, &affixes),
            cohesion: Cohesion::new(views, joins),
        }
    }

    /// Tables near to a question by its words, the values they name and, where there are any, vectors (best first); the
    /// result best first, equal scores by schema and name.
    pub(crate) fn search(&self, query: &Query<'_>, values: &[ValueHit], near: &[Near]) -> Vec<TableHit> {
        let mut evidence: BTreeMap<usize, Evidence> = BTreeMap::new();
        let named = self.words(query, &mut evidence);
        let spans = self.spans(query, values, &mut evidence);
        directions(near, query.terms.len() + spans.len(), &mut evidence);
        let mut hits: Vec<(usize, f32)> = self.cohesion.scores(&evidence, &named).into_iter().collect();
        // Tables are in the order of their names, so that equal scores stay in it.
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.into_iter()
            .filter_map(|(number, score)| {
                let words = evidence.get(&number).into_iter().flat_map(BTreeMap::keys);
                let matched = words.filter_map(|word| match word.checked_sub(query.terms.len()) {
                    None => Some(query.written(query.terms.get(*word)?.word).to_owned()),
                    Some(span) => spans.get(span).map(|span| (*span).to_owned()),
                });
                Some(TableHit {
                    table: self.tables.get(number)?.clone(),
                    score: f64::from(score),
                    matched: matched.collect(),
                })
            })
            .collect()
    }

    /// What each word of the question says for each table; gives the tables whose name it says in full.
    fn words(&self, query: &Query<'_>, evidence: &mut BTreeMap<usize, Evidence>) -> BTreeSet<usize> {
        let operations = without_operations(query.text());
        let weights: Vec<f32> = query
            .terms
            .iter()
            .map(|term| {
                let operation = operations.get(term.word).copied().unwrap_or(false);
                let word = query.words.get(term.word);
                if operation { 0.0 } else { word.map_or(0.0, |word| weight(&word.folded)) }
            })
            .collect();
        // A question of nothing but such words is looked for as it is.
        let all = weights.iter().all(|weight| *weight == 0.0);
        let mut named: BTreeMap<usize, Vec<(usize, f32)>> = BTreeMap::new();
        let mut forms: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); query.terms.len()];
        // The same without what a word may only also stand for.
        let mut sure = forms.clone();
        for (index, term) in query.terms.iter().enumerate() {
            let weight = if all { 1.0 } else { weights.get(index).copied().unwrap_or(0.0) };
            if weight == 0.0 {
                continue;
            }
            for (document, adds) in self.said.adds(&self.said.forms_and_kin(query, term)) {
                *evidence.entry(document as usize).or_default().entry(index).or_default() += adds * weight;
            }
            let known = self.called.forms_and_kin(query, term);
            for (document, adds) in self.called.adds(&known) {
                named.entry(document as usize).or_default().push((index, adds * weight));
            }
            if let Some(sure) = sure.get_mut(index) {
                sure.extend(self.called.forms(query, term).into_iter().map(|(form, _)| form));
            }
            if let Some(forms) = forms.get_mut(index) {
                forms.extend(known.iter().map(|(form, _)| *form));
            }
        }
        let places = places(query);
        let mut in_full: BTreeSet<usize> = BTreeSet::new();
        for (table, words) in named {
            let said = |parts: &[String], forms: &[BTreeSet<&str>]| {
                let mut at: Vec<(usize, usize)> = Vec::new();
                for (index, _) in &words {
                    let known =
                        |part: &String| forms.get(*index).is_some_and(|forms| forms.contains(part.as_str()));
                    for (number, _) in parts.iter().enumerate().filter(|(_, part)| known(part)) {
                        at.extend(places.get(*index).into_iter().flatten().map(|place| (*place, number)));
                    }
                }
                together(at, parts.len())
            };
            let names = || self.names.get(table).into_iter().flatten().filter(|parts| !parts.is_empty());
            // A name that the question says in full is meant; one of which it says a part may be.
            let share = names().map(|parts| said(parts, &forms).max(1) as f32 / parts.len() as f32);
            let share = share.fold(0.0, f32::max);
            if names().any(|parts| said(parts, &sure) == parts.len()) {
                in_full.insert(table);
            }
            for (index, adds) in words {
                *evidence.entry(table).or_default().entry(index).or_default() +=
                    NAME_FACTOR * adds * share * share;
            }
        }
        in_full
    }

    /// What the values that a question names say for their tables: words of their own, after those of the question.
    fn spans<'v>(
        &self,
        query: &Query<'_>,
        values: &'v [ValueHit],
        evidence: &mut BTreeMap<usize, Evidence>,
    ) -> Vec<&'v str> {
        let by_span = by_span(values);
        for (at, tables) in by_span.values().enumerate() {
            // Words that are a value of few tables say more than words that are one of many.
            let rarity = (1.0 + self.tables.len() as f64 / tables.len() as f64).ln();
            for (table, score) in tables {
                if let Ok(number) = self.tables.binary_search(table) {
                    let words = evidence.entry(number).or_default();
                    words.insert(query.terms.len() + at, (score * rarity) as f32);
                }
            }
        }
        by_span.into_keys().collect()
    }
}

/// Where each word that is looked for stands, counted in words that carry meaning.
fn places(query: &Query<'_>) -> Vec<Vec<usize>> {
    // A question of nothing but stop words is looked for as it is.
    let all = query.words.iter().all(|word| is_stop_word(&word.folded));
    let content: Vec<&str> = query
        .words
        .iter()
        .filter(|word| all || !is_stop_word(&word.folded))
        .map(|word| word.stem.as_str())
        .collect();
    let of =
        |stem: &str| content.iter().enumerate().filter(|(_, at)| **at == stem).map(|(at, _)| at).collect();
    query
        .terms
        .iter()
        .map(|term| query.words.get(term.word).map_or_else(Vec::new, |word| of(&word.stem)))
        .collect()
}

/// How many parts of a name stand together, of a place and a part each.
fn together(mut at: Vec<(usize, usize)>, parts: usize) -> usize {
    at.sort_unstable();
    let width = TOGETHER * parts.saturating_sub(1);
    let from = |first: usize| {
        let near = at.iter().filter(|(place, _)| (first..=first + width).contains(place));
        near.map(|(_, part)| part).collect::<BTreeSet<_>>().len()
    };
    at.iter().map(|(first, _)| from(*first)).max().unwrap_or(0)
}

/// What the vectors say: one more word, which the nearest table has in full and the farthest of them not at all.
fn directions(near: &[Near], word: usize, evidence: &mut BTreeMap<usize, Evidence>) {
    let near = near.get(..NEAREST).unwrap_or(near);
    let (Some(first), Some(last)) = (near.first(), near.last()) else { return };
    let range = (first.similarity - last.similarity).max(f32::EPSILON);
    for near in near {
        let share = (near.similarity - last.similarity) / range;
        if share > 0.0 {
            evidence.entry(near.place).or_default().insert(word, VECTOR_FACTOR * share);
        }
    }
}

/// By words of the question: the tables that have a value they name, and how well the best such value fits. A small number
/// names nothing, and words inside of others that are a whole value mean that value.
fn by_span(values: &[ValueHit]) -> BTreeMap<&str, BTreeMap<&TableRef, f64>> {
    let mut spans: BTreeMap<&str, BTreeMap<&TableRef, f64>> = BTreeMap::new();
    let mut counted: BTreeSet<(&TableRef, &str)> = BTreeSet::new();
    for hit in values.iter().filter(|hit| hit.score >= VALUE_FLOOR && !is_small_number(&hit.matched)) {
        // Values come best first: the first of a span is the one that counts.
        if counted.insert((&hit.column.table, &hit.matched)) {
            spans.entry(&hit.matched).or_default().insert(&hit.column.table, hit.score);
        }
    }
    let whole = |tables: &BTreeMap<&TableRef, f64>| tables.values().any(|score| *score >= SPELLED);
    let spelled: Vec<&str> =
        spans.iter().filter(|(_, tables)| whole(tables)).map(|(span, _)| *span).collect();
    spans.retain(|span, _| !spelled.iter().any(|other| is_inside(span, other)));
    spans
}

fn is_small_number(text: &str) -> bool {
    text.len() < NUMBER && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a part of another, by whole words.
fn is_inside(part: &str, whole: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (part, whole) = (words(part), words(whole));
    !part.is_empty() && part.len() < whole.len() && whole.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use airlock_types::ColumnRef;

    use super::*;

    #[test]
    fn the_parts_of_a_name_stand_together_or_say_it_in_part() {
        for (question, want) in [
            ("the status of each order", 2),
            ("order status", 2),
            ("orders of customers in the north and their latest known status", 1),
            ("orders of customers in the north, and every status of an order", 2),
            ("customers", 0),
        ] {
            let query = Query::new(question);
            let places = places(&query);
            let mut at = Vec::new();
            for (term, places) in query.terms.iter().zip(places) {
                let part = ["order", "status"]
                    .iter()
                    .position(|part| term.forms.iter().any(|(form, _)| form == part));
                at.extend(
                    part.into_iter()
                        .flat_map(|part| places.iter().map(move |place| (*place, part)).collect::<Vec<_>>()),
                );
            }
            assert_eq!(together(at, 2), want, "{question}");
        }
    }

    #[test]
    fn a_value_that_is_spelled_out_is_meant_and_not_its_words() {
        let hit = |table: &str, matched: &str, score: f64| ValueHit {
            column: ColumnRef { table: TableRef::new("public", table), column: "name".into() },
            value: matched.to_owned(),
            score,
            matched: matched.to_owned(),
        };
        for (hits, want) in [
            (&[hit("finishes", "Matt Paint", 1.0), hit("goods", "paint", 1.0)][..], &["Matt Paint"][..]),
            (&[hit("finishes", "matt paint", 0.6), hit("goods", "paint", 1.0)], &["matt paint", "paint"]),
            (&[hit("scores", "4", 1.0), hit("years", "2024", 1.0), hit("marks", "B", 1.0)], &["2024", "B"]),
            (&[hit("a", "paints", 1.0), hit("b", "paint", 1.0)], &["paint", "paints"]),
        ] {
            assert_eq!(by_span(hits).into_keys().collect::<Vec<_>>(), want);
        }
    }
}
