//! BM25F: documents of weighted fields, scored by the words of a question; what a word adds is computed when the index is
//! built, so that a query only adds up.

use std::collections::HashMap;

use super::compounds::Compounds;
use super::query::{Query, QueryTerm};
use super::words::Word;

/// How soon more of the same word stops counting.
const K1: f32 = 1.2;
/// How much a name counts that a word is the beginning or the end of.
const COMPOUND: f32 = 0.5;
/// How much a form counts that was found by spelling alone.
const FUZZY: f32 = 0.5;
/// How much a word counts that another may stand for.
const KIN: f32 = 0.35;
/// Shortest word that is looked for by spelling.
const FUZZY_LENGTH: usize = 5;
/// Longest one: what is longer is no word.
const FUZZY_LONGEST: usize = 40;
/// Shortest word that another may begin with.
const FUZZY_PREFIX: usize = 4;

/// Documents from which an index is large, and the share of them, one in so many, from which a word of it is common.
const LARGE: usize = 10_000;
const COMMON: usize = 20;

/// How a field counts.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// How much a word in it counts.
    pub weight: f32,
    /// How much a long field is worth less: 0 not at all, 1 in full.
    pub length: f32,
}

/// An index being filled.
#[derive(Debug)]
pub struct Builder {
    fields: Vec<Field>,
    terms: HashMap<String, Vec<Occurrence>>,
    /// Words as they are spelled, and their stems.
    spellings: HashMap<String, String>,
    compounds: Compounds,
    /// Words of each field of each document.
    lengths: Vec<Vec<f32>>,
}

#[derive(Debug, Clone, Copy)]
struct Occurrence {
    document: u32,
    field: u8,
    count: f32,
}

impl Builder {
    /// An empty index of documents with these fields.
    #[must_use]
    pub fn new(fields: &[Field]) -> Self {
        Self {
            fields: fields.to_vec(),
            terms: HashMap::new(),
            spellings: HashMap::new(),
            compounds: Compounds::default(),
            lengths: Vec::new(),
        }
    }

    /// Begins the next document; its number is how many there were.
    pub fn document(&mut self) {
        self.lengths.push(vec![0.0; self.fields.len()]);
    }

    /// Adds a word to a field of the document that was begun last. A soft form counts less than one.
    pub fn add(&mut self, field: u8, word: &Word, count: f32) {
        let stem = word.stem.as_str();
        if !self.spellings.contains_key(&word.folded) {
            self.spellings.insert(word.folded.clone(), word.stem.clone());
        }
        let Some(document) = self.lengths.len().checked_sub(1).and_then(|last| u32::try_from(last).ok())
        else {
            return;
        };
        let Some(length) = self.lengths.last_mut().and_then(|lengths| lengths.get_mut(usize::from(field)))
        else {
            return;
        };
        *length += count;
        let occurrences = match self.terms.get_mut(stem) {
            Some(occurrences) => occurrences,
            None => self.terms.entry(stem.to_owned()).or_default(),
        };
        match occurrences
            .iter_mut()
            .rev()
            .take_while(|seen| seen.document == document)
            .find(|seen| seen.field == field)
        {
            Some(seen) => seen.count += count,
            None => occurrences.push(Occurrence { document, field, count }),
        }
    }

    /// Adds a part of a name, which may be several words run together.
    pub fn add_part(&mut self, field: u8, word: &Word, count: f32) {
        self.add(field, word, count);
        self.compounds.add(&word.stem);
    }

    /// The finished index.
    #[must_use]
    pub fn build(mut self) -> Bm25f {
        self.compounds.sort();
        let total = self.lengths.len() as f32;
        let mut average = vec![0.0f32; self.fields.len()];
        for lengths in &self.lengths {
            for (sum, length) in average.iter_mut().zip(lengths) {
                *sum += length / total.max(1.0);
            }
        }
        let weigh = |seen: &Occurrence| -> f32 {
            let at = usize::from(seen.field);
            let (Some(field), Some(average)) = (self.fields.get(at), average.get(at)) else { return 0.0 };
            let length = self.lengths.get(seen.document as usize).and_then(|lengths| lengths.get(at));
            let ratio = length.map_or(1.0, |length| length / average.max(f32::MIN_POSITIVE));
            field.weight * seen.count / (1.0 - field.length + field.length * ratio)
        };
        let postings = self
            .terms
            .iter()
            .map(|(term, occurrences)| {
                let mut weights: Vec<(u32, f32)> = Vec::new();
                for seen in occurrences {
                    match weights.last_mut() {
                        Some((document, weight)) if *document == seen.document => *weight += weigh(seen),
                        _ => weights.push((seen.document, weigh(seen))),
                    }
                }
                let rarity = inverse_frequency(weights.len() as f32, total);
                for (_, weight) in &mut weights {
                    *weight = rarity * *weight * (K1 + 1.0) / (K1 + *weight);
                }
                (term.clone(), weights)
            })
            .collect();
        let mut spellings: HashMap<char, Vec<(String, String)>> = HashMap::new();
        for (spelled, stem) in self.spellings {
            if let Some(first) = spelled.chars().next() {
                spellings.entry(first).or_default().push((spelled, stem));
            }
        }
        Bm25f { documents: self.lengths.len(), postings, spellings, compounds: self.compounds }
    }
}

fn inverse_frequency(found: f32, total: f32) -> f32 {
    (1.0 + (total - found + 0.5) / (found + 0.5)).ln()
}

/// A finished index.
#[derive(Debug, Default)]
pub struct Bm25f {
    documents: usize,
    /// By stem: documents in their order and what the stem adds to each.
    postings: HashMap<String, Vec<(u32, f32)>>,
    /// By the first character: words as they are spelled, and their stems.
    spellings: HashMap<char, Vec<(String, String)>>,
    compounds: Compounds,
}

/// A document that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its number.
    pub document: usize,
    /// The sum of what its words add.
    pub score: f32,
    /// Which terms of the query matched, one bit each.
    terms: u128,
}

impl Match {
    /// The words of the question that matched, in their order, as they are written there.
    #[must_use]
    pub fn words(&self, query: &Query<'_>) -> Vec<String> {
        let hit = |index: &usize| self.terms & bit(*index) != 0;
        (0..query.terms.len())
            .filter(hit)
            .filter_map(|index| Some(query.written(query.terms.get(index)?.word).to_owned()))
            .collect()
    }
}

fn bit(index: usize) -> u128 {
    u32::try_from(index).ok().and_then(|index| 1u128.checked_shl(index)).unwrap_or(0)
}

impl Bm25f {
    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Every document that has a word of the query, best first; equal scores in the order the documents were added.
    #[must_use]
    pub fn search(&self, query: &Query<'_>) -> Vec<Match> {
        self.best(query, usize::MAX)
    }

    /// The same, and no more than the best `keep`. In a large index a word that very many documents have only orders those
    /// that a rarer word found.
    #[must_use]
    pub fn best(&self, query: &Query<'_>, keep: usize) -> Vec<Match> {
        let mut terms: Vec<(usize, Forms<'_>, usize)> = Vec::with_capacity(query.terms.len());
        for (index, term) in query.terms.iter().enumerate() {
            let postings = |(form, weight): (&str, f32)| Some((self.postings.get(form)?.as_slice(), weight));
            let forms: Forms<'_> = self.forms(query, term).into_iter().filter_map(postings).collect();
            let documents = forms.iter().map(|(documents, _)| documents.len()).sum();
            terms.push((index, forms, documents));
        }
        let large = self.documents > LARGE;
        if large {
            terms.sort_by_key(|(.., documents)| *documents);
        }
        let mut found = Dense::new(self.documents);
        for (index, forms, documents) in &terms {
            let common = large && documents * COMMON > self.documents;
            if common && !found.touched.is_empty() {
                found.order(bit(*index), forms);
            } else {
                found.add(bit(*index), forms);
            }
        }
        found.matches(keep)
    }

    /// What forms of one word add to each document.
    pub(crate) fn adds(&self, forms: &[(&str, f32)]) -> HashMap<u32, f32> {
        let mut best: HashMap<u32, f32> = HashMap::new();
        for (form, weight) in forms {
            for (document, adds) in self.postings.get(*form).into_iter().flatten() {
                // Of several forms of one word the best counts: `qty` and `quantity` are not two matches.
                let seen = best.entry(*document).or_default();
                *seen = seen.max(adds * weight);
            }
        }
        best
    }

    /// The same as [`Self::forms`] with what the word may also stand for.
    pub(crate) fn forms_and_kin<'t>(&'t self, query: &Query<'_>, term: &'t QueryTerm) -> Vec<(&'t str, f32)> {
        let mut forms = self.forms(query, term);
        for kin in &term.kin {
            if self.postings.contains_key(kin) && !forms.iter().any(|(form, _)| form == kin) {
                forms.push((kin.as_str(), KIN));
            }
        }
        forms
    }

    /// The forms of a term that the index knows; by spelling when it knows none.
    pub(crate) fn forms<'t>(&'t self, query: &Query<'_>, term: &'t QueryTerm) -> Vec<(&'t str, f32)> {
        let mut known: Vec<(&str, f32)> = term
            .forms
            .iter()
            .filter(|(form, _)| self.postings.contains_key(form))
            .map(|(form, weight)| (form.as_str(), *weight))
            .collect();
        if let Some((stem, _)) = term.forms.first() {
            known.extend(self.compounds.with(stem).map(|compound| (compound, COMPOUND)));
        }
        if !known.is_empty() {
            return known;
        }
        query.words.get(term.word).map(|word| self.spelled_like(&word.folded)).unwrap_or_default()
    }

    /// Stems of words one slip away from an unknown one, or that one of the two begins with.
    fn spelled_like(&self, unknown: &str) -> Vec<(&str, f32)> {
        let length = unknown.chars().count();
        if !(FUZZY_LENGTH..=FUZZY_LONGEST).contains(&length)
            || unknown.bytes().any(|byte| byte.is_ascii_digit())
        {
            return Vec::new();
        }
        let mut near: Vec<(&str, f32)> = self
            .spellings
            .get(&unknown.chars().next().unwrap_or_default())
            .into_iter()
            .flatten()
            .filter(|(known, _)| {
                let other = known.chars().count();
                let begins = other >= FUZZY_PREFIX
                    && (known.starts_with(unknown) || unknown.starts_with(known.as_str()));
                begins || (other.abs_diff(length) <= 1 && strsim::osa_distance(known, unknown) == 1)
            })
            .map(|(_, stem)| (stem.as_str(), FUZZY))
            .collect();
        near.sort_by_key(|(stem, _)| *stem);
        near.dedup();
        near
    }
}

/// The documents of each form of a word, and how much the form counts.
type Forms<'a> = Vec<(&'a [(u32, f32)], f32)>;

/// Scores by the number of the document.
struct Dense {
    scores: Vec<f32>,
    terms: Vec<u128>,
    /// Documents that have a word.
    touched: Vec<u32>,
}

impl Dense {
    fn new(documents: usize) -> Self {
        Self { scores: vec![0.0; documents], terms: vec![0; documents], touched: Vec::new() }
    }

    fn score(&mut self, document: u32, term: u128, adds: f32) {
        let at = document as usize;
        if let (Some(score), Some(mask)) = (self.scores.get_mut(at), self.terms.get_mut(at)) {
            if *mask == 0 {
                self.touched.push(document);
            }
            *score += adds;
            *mask |= term;
        }
    }

    /// What a word adds to every document that has it. Of several forms the best counts: `qty` and `quantity` are not two
    /// matches.
    fn add(&mut self, term: u128, forms: &Forms<'_>) {
        if let [(documents, weight)] = forms.as_slice() {
            for (document, adds) in *documents {
                self.score(*document, term, adds * weight);
            }
            return;
        }
        let mut best: HashMap<u32, f32> = HashMap::new();
        for (documents, weight) in forms {
            for (document, adds) in *documents {
                let seen = best.entry(*document).or_default();
                *seen = seen.max(adds * weight);
            }
        }
        for (document, adds) in best {
            self.score(document, term, adds);
        }
    }

    /// What a word adds to the documents that were found already.
    fn order(&mut self, term: u128, forms: &Forms<'_>) {
        for at in 0..self.touched.len() {
            let Some(document) = self.touched.get(at).copied() else { continue };
            let adds = forms.iter().filter_map(|(documents, weight)| {
                let place = documents.binary_search_by_key(&document, |(document, _)| *document).ok()?;
                documents.get(place).map(|(_, adds)| adds * weight)
            });
            if let Some(adds) = adds.max_by(f32::total_cmp) {
                self.score(document, term, adds);
            }
        }
    }

    fn matches(self, keep: usize) -> Vec<Match> {
        let Self { scores, terms, touched } = self;
        let mut matches: Vec<Match> = touched
            .into_iter()
            .filter_map(|document| {
                let document = document as usize;
                Some(Match { document, score: *scores.get(document)?, terms: *terms.get(document)? })
            })
            .collect();
        if keep == 0 {
            return Vec::new();
        }
        if keep < matches.len() {
            matches.select_nth_unstable_by(keep - 1, better);
            matches.truncate(keep);
        }
        matches.sort_by(better);
        matches
    }
}

/// Best first; equal scores in the order the documents were added.
fn better(a: &Match, b: &Match) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.document.cmp(&b.document))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::words::words;

    const FIELDS: &[Field] = &[Field { weight: 3.0, length: 0.3 }, Field { weight: 1.0, length: 0.75 }];

    fn index(documents: &[(&str, &str)]) -> Bm25f {
        let mut builder = Builder::new(FIELDS);
        for (title, body) in documents {
            builder.document();
            for (field, text) in [(0, title), (1, body)] {
                for word in words(text) {
                    builder.add(field, &word, 1.0);
                }
            }
        }
        builder.build()
    }

    #[test]
    fn the_weightier_field_and_the_rarer_word_win() {
        let index = index(&[
            ("orders", "one row an order, with its customer"),
            ("customers", "who buys"),
            ("stock", "what is there, by customer order"),
        ]);
        for (question, want) in [
            ("customers", &[1, 2, 0][..]),
            ("orders of customers who buy", &[1, 0, 2]),
            ("stock", &[2]),
            ("weather", &[]),
            ("custmers", &[1, 2, 0]),
        ] {
            let got: Vec<usize> = index.search(&Query::new(question)).iter().map(|m| m.document).collect();
            assert_eq!(got, want, "{question}");
        }
    }

    #[test]
    fn equal_documents_keep_their_order_and_say_what_matched() {
        let index = index(&[("a stock", ""), ("b stock", "")]);
        let query = Query::new("Which stocks?");
        let found = index.search(&query);
        assert_eq!(found.iter().map(|m| m.document).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(found[0].words(&query), ["stocks"]);
    }

    #[test]
    fn a_large_index_gives_the_best_by_its_rare_words() {
        let texts: Vec<String> =
            (0..LARGE + 5).map(|at| format!("orders rule{at} thing{}", at % 1_000)).collect();
        let documents: Vec<(&str, &str)> = texts.iter().map(|text| (text.as_str(), "")).collect();
        let index = index(&documents);
        for (question, keep, want) in [
            ("orders of rule77", 5, vec![77]),
            ("thing7 orders", 3, vec![7, 1_007, 2_007]),
            ("rule77 thing78", 1, vec![77]),
            ("orders", 2, vec![0, 1]),
            ("orders", 0, vec![]),
        ] {
            let found = index.best(&Query::new(question), keep);
            assert_eq!(found.iter().map(|m| m.document).collect::<Vec<_>>(), want, "{question}");
        }
    }

    #[test]
    fn an_empty_index_finds_nothing() {
        assert!(index(&[]).search(&Query::new("anything")).is_empty());
        assert!(Bm25f::default().is_empty());
    }
}
