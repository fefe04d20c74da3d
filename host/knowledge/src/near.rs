//! Keywords and vectors together: the texts of a domain that are embedded, and hits of both methods made one ranking.

use crate::index::bm25f::Match;
use crate::index::fusion::fuse;
use crate::index::vectors::{Kind, Near, Text, Vectors};
use crate::index::words::name_parts;
use crate::records::{Example, Lesson, TermRecord};
use crate::tables::TableView;

/// Hits of vectors that take part in a ranking.
const NEAREST: usize = 50;
/// Characters of what a table's text says of its columns.
const COLUMNS: usize = 900;

/// A question's vector beside the vectors it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Nearby<'a> {
    /// Those of the domain.
    pub vectors: &'a Vectors,
    /// That of the question.
    pub question: &'a [f32],
}

impl Nearby<'_> {
    pub(crate) fn of(&self, kind: Kind) -> Vec<Near> {
        self.vectors.near(kind, self.question, NEAREST)
    }
}

/// One of a fused ranking: the place in its list, its score, and the keyword hit, if it was one.
pub(crate) struct Fused {
    pub place: usize,
    pub score: f64,
    pub keywords: Option<Match>,
}

/// Keyword hits, with those of vectors where there are any. Without vectors the score is that of the keywords.
pub(crate) fn fused(kind: Kind, keywords: Vec<Match>, nearby: Option<Nearby<'_>>) -> Vec<Fused> {
    let near: Vec<usize> = nearby.map_or_else(Vec::new, |nearby| places(&nearby.of(kind)));
    if near.is_empty() {
        let alone = |found: Match| Fused {
            place: found.document,
            score: f64::from(found.score),
            keywords: Some(found),
        };
        return keywords.into_iter().map(alone).collect();
    }
    let by_keywords: Vec<usize> = keywords.iter().map(|found| found.document).collect();
    let ranked = fuse(&[&by_keywords, &near]);
    tracing::debug!(?kind, keywords = ?head(&by_keywords), vectors = ?head(&near), "two rankings are fused");
    ranked
        .into_iter()
        .map(|(place, score)| Fused {
            place,
            score,
            keywords: keywords.iter().find(|found| found.document == place).cloned(),
        })
        .collect()
}

fn places(near: &[Near]) -> Vec<usize> {
    near.iter().map(|near| near.place).collect()
}

fn head(places: &[usize]) -> &[usize] {
    places.get(..10).unwrap_or(places)
}

fn text(kind: Kind, (place, text): (usize, String)) -> Text {
    Text { kind, place, text }
}

fn spoken(name: &str) -> String {
    name_parts(name).into_iter().map(|part| part.folded).collect::<Vec<_>>().join(" ")
}

/// A table as a sentence: its name and synonyms, its note, its columns. Columns by themselves are found by keywords.
pub(crate) fn sentence(view: &TableView) -> String {
    let mut said = spoken(&view.table.name);
    for synonym in &view.synonyms {
        said.push_str(", ");
        said.push_str(synonym);
    }
    let mut columns = view.columns.iter().map(|column| spoken(&column.name)).collect::<Vec<_>>().join(", ");
    if let Some((at, _)) = columns.char_indices().nth(COLUMNS) {
        columns.truncate(at);
    }
    format!("{said}. {} Columns: {columns}", view.description)
}

/// The tables in use.
pub(crate) fn tables(views: &[TableView]) -> Vec<Text> {
    let of = views.iter().enumerate().filter(|(_, view)| view.in_use);
    of.map(|(place, view)| text(Kind::Table, (place, sentence(view)))).collect()
}

pub(crate) fn examples<'a>(examples: impl Iterator<Item = &'a Example>) -> Vec<Text> {
    let texts = examples.map(|example| example.question.clone());
    texts.enumerate().map(|one| text(Kind::Example, one)).collect()
}

pub(crate) fn lessons<'a>(lessons: impl Iterator<Item = &'a Lesson>) -> Vec<Text> {
    let texts = lessons.map(Lesson::sentence);
    texts.enumerate().map(|one| text(Kind::Lesson, one)).collect()
}

pub(crate) fn terms<'a>(terms: impl Iterator<Item = &'a TermRecord>) -> Vec<Text> {
    let texts = terms.map(|term| format!("{}, {}. {}", term.name, term.synonyms.join(", "), term.definition));
    texts.enumerate().map(|one| text(Kind::Term, one)).collect()
}

pub(crate) fn passages<'a>(passages: impl Iterator<Item = &'a str>) -> Vec<Text> {
    passages.map(str::to_owned).enumerate().map(|one| text(Kind::Passage, one)).collect()
}
