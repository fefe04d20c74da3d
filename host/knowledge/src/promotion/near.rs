//! Whether nearly the same is curated: by vectors where the domain has them, else by the words.

use std::collections::BTreeMap;
use std::fmt;

use airlock_gate::canonical;

use super::Embed;
use crate::store::{Content, ItemId, Kind};

/// Something that is curated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// An item of the store.
    Item(ItemId),
    /// Something that comes with the pack, by its name there.
    Pack(String),
}

impl Known {
    pub(super) const fn item(&self) -> Option<ItemId> {
        match self {
            Self::Item(id) => Some(*id),
            Self::Pack(_) => None,
        }
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(id) => write!(f, "{id}"),
            Self::Pack(name) => write!(f, "{name} of the pack"),
        }
    }
}

/// The nearest of what is curated.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// What it is.
    pub known: Known,
    /// Cosine, 0 to 1.
    pub similarity: f64,
    /// `keywords` or the model of the vectors.
    pub method: String,
}

type Bag = BTreeMap<String, f64>;

struct Entry {
    known: Known,
    kind: Kind,
    said: Bag,
    /// Of an example: two are the same only if their SQL is, too.
    sql: Option<Bag>,
    vector: Option<Vec<f32>>,
}

/// What is curated of a domain, to compare candidates with.
pub struct Nearness<'a> {
    embed: Option<&'a dyn Embed>,
    entries: Vec<Entry>,
}

impl<'a> Nearness<'a> {
    /// Over what is curated. When the embedder fails, words alone are compared.
    pub async fn new(curated: Vec<(Known, Content)>, embed: Option<&'a dyn Embed>) -> Self {
        let texts: Vec<String> = curated.iter().map(|(_, content)| embedded(content)).collect();
        let vectors = match embed {
            Some(embed) if !texts.is_empty() => match embed.embed(&texts).await {
                Ok(vectors) if vectors.len() == texts.len() => Some(vectors),
                Ok(_) => None,
                Err(error) => {
                    tracing::warn!(error, "near-duplicates are looked for by keywords alone");
                    None
                }
            },
            Some(_) => Some(Vec::new()),
            None => None,
        };
        let embed = embed.filter(|_| vectors.is_some());
        let mut vectors = vectors.unwrap_or_default().into_iter();
        let entries =
            curated.into_iter().map(|(known, content)| entry(known, &content, vectors.next())).collect();
        Self { embed, entries }
    }

    /// How texts are compared: `keywords`, or the model of the vectors.
    #[must_use]
    pub fn method(&self) -> &str {
        self.embed.map_or("keywords", Embed::model)
    }

    /// One more is curated.
    pub async fn add(&mut self, id: ItemId, content: &Content) {
        let vector = self.vector(content).await;
        self.entries.push(entry(Known::Item(id), content, vector));
    }

    /// The nearest of the same kind.
    pub async fn nearest(&self, content: &Content) -> Option<Near> {
        let vector = self.vector(content).await;
        let new = entry(Known::Pack(String::new()), content, vector);
        let nearest = self
            .entries
            .iter()
            .filter(|entry| entry.kind == new.kind)
            .map(|entry| (similarity(entry, &new), entry))
            .max_by(|(a, _), (b, _)| a.0.total_cmp(&b.0))?;
        let ((similarity, by_vectors), entry) = nearest;
        let method = if by_vectors { self.method() } else { "keywords" };
        Some(Near { known: entry.known.clone(), similarity, method: method.to_owned() })
    }

    async fn vector(&self, content: &Content) -> Option<Vec<f32>> {
        self.embed?.embed(&[embedded(content)]).await.ok()?.into_iter().next()
    }
}

fn entry(known: Known, content: &Content, vector: Option<Vec<f32>>) -> Entry {
    let sql = match content {
        Content::Example(example) => Some(bag(&canonical(&example.sql).unwrap_or_default())),
        _ => None,
    };
    Entry { known, kind: content.kind(), said: bag(&said(content)), sql, vector }
}

/// The text that is made a vector of, when a candidate is handed in and when it is compared.
#[must_use]
pub fn embedded(content: &Content) -> String {
    match content {
        Content::Lesson(lesson) => format!("{} {}", lesson.trigger, lesson.text),
        Content::Example(_) | Content::Golden(_) => said(content),
    }
}

/// The words that say what it is about.
fn said(content: &Content) -> String {
    match content {
        Content::Example(example) => example.question.clone(),
        Content::Lesson(lesson) => lesson.text.clone(),
        Content::Golden(golden) => golden.question.clone(),
    }
}

/// How near two are, and whether vectors said so.
fn similarity(a: &Entry, b: &Entry) -> (f64, bool) {
    let (said, by_vectors) = match (&a.vector, &b.vector) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            (cosine(a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)))), true)
        }
        _ => (words(&a.said, &b.said), false),
    };
    match (&a.sql, &b.sql) {
        (Some(a), Some(b)) => (said.min(words(a, b)), by_vectors),
        _ => (said, by_vectors),
    }
}

fn bag(text: &str) -> Bag {
    let mut bag = Bag::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        *bag.entry(word.to_lowercase()).or_default() += 1.0;
    }
    bag
}

fn words(a: &Bag, b: &Bag) -> f64 {
    let all = a.keys().chain(b.keys().filter(|word| !a.contains_key(*word)));
    let count = |bag: &Bag, word: &String| bag.get(word).copied().unwrap_or_default();
    cosine(all.map(|word| (count(a, word), count(b, word))))
}

fn cosine(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut dot, mut a2, mut b2) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        dot += a * b;
        a2 += a * a;
        b2 += b * b;
    }
    let length = f64::sqrt(a2 * b2);
    if length > 0.0 { dot / length } else { 0.0 }
}
