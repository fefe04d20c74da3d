//! A question as the index reads it: its words in order, each with the forms it may be found by.

use super::abbreviations::expansions;
use super::kindred::kindred;
use super::words::{Word, is_stop_word, words};

/// Words of a question that are looked for; what comes after is ignored.
pub const QUERY_WORDS: usize = 128;

/// How much a form counts that is not the word itself.
pub const SOFT: f32 = 0.7;

/// Words that ask for a meaning.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "mean", "means", "meant", "meaning", "define", "defines", "defined", "definition", "explain", "explained", "calculate", "calculated",
    "compute", "computed", "term", "word", "call", "called", "understand", "understood", "rule", "rules", "policy",
];

/// A question's words.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    text: &'a str,
    /// All words, stop words too: phrases are matched over them.
    pub words: Vec<Word>,
    /// The words that carry meaning.
    pub terms: Vec<QueryTerm>,
}

/// A word that carries meaning.
#[derive(Debug, Clone)]
pub struct QueryTerm {
    /// Index in [`Query::words`].
    pub word: usize,
    /// Stems it may be found by, and how much each counts.
    pub forms: Vec<(String, f32)>,
    /// Stems of other words that it may also stand for.
    pub(crate) kin: Vec<String>,
}

impl<'a> Query<'a> {
    /// Reads a question.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let mut all = words(text);
        all.truncate(QUERY_WORDS);
        let meaning = all.iter().any(|word| !is_stop_word(&word.folded));
        let mut terms: Vec<QueryTerm> = Vec::new();
        for (index, word) in all.iter().enumerate() {
            // A question of nothing but stop words is looked for as it is.
            if meaning && is_stop_word(&word.folded) {
                continue;
            }
            if terms.iter().any(|term| term.forms.first().is_some_and(|(stem, _)| *stem == word.stem)) {
                continue;
            }
            let mut forms = vec![(word.stem.clone(), 1.0)];
            for long in expansions(&word.folded) {
                forms.extend(words(long).into_iter().map(|word| (word.stem, SOFT)));
            }
            terms.push(QueryTerm { word: index, forms, kin: kindred(&word.folded) });
        }
        Self { text, words: all, terms }
    }

    /// The same without the words that ask for a meaning and do not name it: a text is not about churn because it says
    /// what something else means. A question of nothing but these stays as it is.
    pub(crate) fn about(mut self) -> Self {
        let words = &self.words;
        let names = |term: &QueryTerm| {
            words.get(term.word).is_some_and(|word| !ASKING.contains(&word.folded.as_str()))
        };
        if self.terms.iter().any(names) {
            self.terms.retain(names);
        }
        self
    }

    /// The question.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// The word as the question has it.
    #[must_use]
    pub fn written(&self, word: usize) -> &'a str {
        self.span(word, word)
    }

    /// The text of the question from one word to another.
    #[must_use]
    pub fn span(&self, first: usize, last: usize) -> &'a str {
        match (self.words.get(first), self.words.get(last)) {
            (Some(first), Some(last)) => self.text.get(first.start..last.end).unwrap_or_default(),
            _ => "",
        }
    }

    /// The first place where these stems stand one after another.
    #[must_use]
    pub fn find_phrase(&self, stems: &[String]) -> Option<(usize, usize)> {
        if stems.is_empty() {
            return None;
        }
        let at = self
            .words
            .windows(stems.len())
            .position(|window| window.iter().zip(stems).all(|(word, stem)| word.stem == *stem))?;
        Some((at, at + stems.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_ask_for_a_meaning_name_nothing() {
        for (question, want) in [
            ("What does churned mean?", &["churned"][..]),
            ("How is net revenue calculated?", &["net", "revenue"]),
            ("Explain the definition of churn", &["churn"]),
            ("What does it mean?", &["mean"]),
        ] {
            let query = Query::new(question).about();
            let terms: Vec<&str> = query.terms.iter().map(|term| query.written(term.word)).collect();
            assert_eq!(terms, want, "{question}");
        }
    }

    #[test]
    fn stop_words_are_for_phrases_only() {
        let query = Query::new("What is the total qty of Teflon tapes?");
        let terms: Vec<&str> = query.terms.iter().map(|term| query.written(term.word)).collect();
        assert_eq!(terms, ["total", "qty", "Teflon", "tapes"]);
        assert!(query.terms[1].forms.iter().any(|(stem, weight)| stem == "quantiti" && *weight < 1.0));
        let phrase = ["teflon".to_owned(), "tape".to_owned()];
        assert_eq!(query.find_phrase(&phrase).map(|(a, b)| query.span(a, b)), Some("Teflon tapes"));
        assert_eq!(Query::new("who is it").terms.len(), 3);
    }
}
