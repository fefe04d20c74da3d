//! The vectors of a domain's texts: which are near to a question's, by kind.
//!
//! Up to some thousands they are compared one by one, which is exact and costs no more. Above, an HNSW index is built and
//! saved; the next start maps the file into memory. A file counts only when its fingerprint is that of the texts and the
//! model and its content is what was written: otherwise it is told, and built again.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use airlock_types::ContentHash;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

/// Vectors up to which each is compared.
const EXACT: usize = 4_000;
/// Links of a vector in the graph.
const LINKS: usize = 16;
/// How widely is searched while the graph is built.
const BUILD: usize = 128;
/// How widely is searched for a question: as widely as many vectors need. Fewer cost little anyway.
const SEARCH: usize = 256;
/// Bytes that are hashed at a time.
const CHUNK: usize = 1 << 20;

/// What a text is of. Retrieval is filtered by it before anything is ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A table: name, note and columns.
    Table,
    /// A verified question.
    Example,
    /// A lesson.
    Lesson,
    /// A term of the glossary.
    Term,
    /// A passage of a document.
    Passage,
}

/// A text to be embedded, and what it is of: the place of the thing in its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The kind of thing.
    pub kind: Kind,
    /// Its place among those of its kind.
    pub place: usize,
    /// What is embedded.
    pub text: String,
}

/// Why there is no index.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VectorError {
    /// Vectors and texts do not go together.
    #[error("{vectors} vectors of {texts} texts, or of unequal length")]
    Shape {
        /// How many came.
        vectors: usize,
        /// How many were wanted.
        texts: usize,
    },
    /// The index refused.
    #[error("the vector index: {0}")]
    Index(String),
}

/// Near things of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The place among those of its kind.
    pub place: usize,
    /// Cosine: 1 for the same direction.
    pub similarity: f32,
}

/// The vectors of a domain.
pub struct Vectors {
    fingerprint: ContentHash,
    dimension: usize,
    /// By number: what the vector is of.
    of: Vec<(Kind, usize)>,
    store: Store,
}

enum Store {
    /// One after another.
    Exact(Vec<f32>),
    Graph(Index),
}

/// What stands beside a saved index.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seal {
    fingerprint: ContentHash,
    content: ContentHash,
    dimension: usize,
    size: usize,
}

impl Vectors {
    /// What tells the vectors of these texts under this model from others.
    #[must_use]
    pub fn fingerprint_of(model: &str, texts: &[Text]) -> ContentHash {
        let mut all = format!("{model}\n");
        for text in texts {
            all.push_str(&ContentHash::of(text.text.as_bytes()).to_string());
            all.push_str(&format!(" {:?} {}\n", text.kind, text.place));
        }
        ContentHash::of(all.as_bytes())
    }

    /// The index of these vectors, a text each, all one long.
    ///
    /// # Errors
    /// When they do not go together.
    pub fn new(model: &str, texts: &[Text], vectors: &[Vec<f32>]) -> Result<Self, VectorError> {
        let dimension = vectors.first().map_or(0, Vec::len);
        if vectors.len() != texts.len() || vectors.iter().any(|vector| vector.len() != dimension) {
            return Err(VectorError::Shape { vectors: vectors.len(), texts: texts.len() });
        }
        let store = if vectors.len() <= EXACT {
            Store::Exact(vectors.concat())
        } else {
            Store::Graph(filled(dimension, vectors)?)
        };
        Ok(Self {
            fingerprint: Self::fingerprint_of(model, texts),
            dimension,
            of: texts.iter().map(|text| (text.kind, text.place)).collect(),
            store,
        })
    }

    /// The saved index of these texts, when there is one that is whole and of them.
    #[must_use]
    pub fn saved(folder: &Path, name: &str, model: &str, texts: &[Text]) -> Option<Self> {
        if texts.len() <= EXACT {
            return None;
        }
        let (file, seal) = paths(folder, name);
        if !file.exists() {
            return None;
        }
        match mapped(&file, &seal, Self::fingerprint_of(model, texts), texts.len()) {
            Ok((index, seal)) => Some(Self {
                fingerprint: seal.fingerprint,
                dimension: seal.dimension,
                of: texts.iter().map(|text| (text.kind, text.place)).collect(),
                store: Store::Graph(index),
            }),
            Err(why) => {
                tracing::warn!(file = %file.display(), why, "the saved vector index is not used and made again");
                None
            }
        }
    }

    /// Saves the index, where there is one to save; the next start maps it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, folder: &Path, name: &str) -> Result<(), VectorError> {
        let Store::Graph(index) = &self.store else { return Ok(()) };
        let wrong = |error: std::io::Error| VectorError::Index(error.to_string());
        std::fs::create_dir_all(folder).map_err(wrong)?;
        let (file, seal) = paths(folder, name);
        let part = file.with_extension("part");
        index.save(&part.to_string_lossy()).map_err(refused)?;
        let written = Seal {
            fingerprint: self.fingerprint,
            content: hash_of(&part).map_err(wrong)?,
            dimension: self.dimension,
            size: self.of.len(),
        };
        std::fs::rename(&part, &file).map_err(wrong)?;
        let text = serde_json::to_string(&written).map_err(|error| VectorError::Index(error.to_string()))?;
        std::fs::write(&seal, text).map_err(wrong)
    }

    /// What tells it from others.
    #[must_use]
    pub const fn fingerprint(&self) -> ContentHash {
        self.fingerprint
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Bytes of memory that the vectors and their graph take.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.store {
            Store::Exact(numbers) => size_of_val(numbers.as_slice()),
            Store::Graph(index) => index.memory_usage(),
        }
    }

    /// The things of a kind that are nearest to a question's vector, best first; equal ones in their order.
    #[must_use]
    pub fn near(&self, kind: Kind, question: &[f32], k: usize) -> Vec<Near> {
        if question.len() != self.dimension || self.of.is_empty() {
            return Vec::new();
        }
        let mut near = match &self.store {
            Store::Exact(numbers) => self.compared(numbers, kind, question),
            Store::Graph(index) => self.searched(index, kind, question, k),
        };
        near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.place.cmp(&b.place)));
        near.truncate(k);
        near
    }

    fn compared(&self, numbers: &[f32], kind: Kind, question: &[f32]) -> Vec<Near> {
        let of_kind = self.of.iter().zip(numbers.chunks_exact(self.dimension.max(1)));
        of_kind
            .filter(|((of, _), _)| *of == kind)
            .map(|((_, place), vector)| Near {
                place: *place,
                similarity: vector.iter().zip(question).map(|(a, b)| a * b).sum(),
            })
            .collect()
    }

    fn searched(&self, index: &Index, kind: Kind, question: &[f32], k: usize) -> Vec<Near> {
        let thing = |key: u64| usize::try_from(key).ok().and_then(|number| self.of.get(number)).copied();
        let found = index.filtered_search(question, k, |key| thing(key).is_some_and(|(of, _)| of == kind));
        match found {
            Ok(found) => (found.keys.into_iter().zip(found.distances))
                .filter_map(|(key, distance)| Some(Near { place: thing(key)?.1, similarity: 1.0 - distance }))
                .collect(),
            Err(error) => {
                tracing::warn!(%error, "the vector index failed: keywords alone answer");
                Vec::new()
            }
        }
    }
}

impl std::fmt::Debug for Vectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vectors").field("fingerprint", &self.fingerprint).field("len", &self.len()).finish()
    }
}

/// A graph of vectors, built by as many threads as there are processors.
fn filled(dimension: usize, vectors: &[Vec<f32>]) -> Result<Index, VectorError> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let index = graph(dimension)?;
    index.reserve_capacity_and_threads(vectors.len(), threads).map_err(refused)?;
    let each = vectors.len().div_ceil(threads).max(1);
    let add = |first: usize, part: &[Vec<f32>]| -> Result<(), VectorError> {
        (first as u64..).zip(part).try_for_each(|(number, vector)| index.add(number, vector).map_err(refused))
    };
    std::thread::scope(|scope| {
        let parts = vectors.chunks(each).enumerate();
        let work: Vec<_> = parts.map(|(at, part)| scope.spawn(move || add(at * each, part))).collect();
        work.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(VectorError::Index("a thread that filled it failed".to_owned())))
        })
    })?;
    Ok(index)
}

fn graph(dimension: usize) -> Result<Index, VectorError> {
    let options = IndexOptions {
        dimensions: dimension,
        metric: MetricKind::Cos,
        // Half the memory for no loss that shows in a ranking.
        quantization: ScalarKind::F16,
        connectivity: LINKS,
        expansion_add: BUILD,
        expansion_search: SEARCH,
        multi: false,
    };
    Index::new(&options).map_err(refused)
}

fn refused(error: impl std::fmt::Display) -> VectorError {
    VectorError::Index(error.to_string())
}

fn paths(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    (folder.join(format!("{name}.vectors")), folder.join(format!("{name}.vectors.json")))
}

fn mapped(file: &Path, seal: &Path, fingerprint: ContentHash, size: usize) -> Result<(Index, Seal), String> {
    let text = std::fs::read_to_string(seal).map_err(|error| format!("its seal: {error}"))?;
    let seal: Seal = serde_json::from_str(&text).map_err(|error| format!("its seal: {error}"))?;
    if seal.fingerprint != fingerprint || seal.size != size {
        return Err("it is of other texts or another model".to_owned());
    }
    if hash_of(file).map_err(|error| error.to_string())? != seal.content {
        return Err("its content is not what was written".to_owned());
    }
    let index = graph(seal.dimension).map_err(|error| error.to_string())?;
    index.view(&file.to_string_lossy()).map_err(|error| error.to_string())?;
    if index.size() != size {
        return Err(format!("it holds {} vectors, not {size}", index.size()));
    }
    Ok((index, seal))
}

/// A hash of a file's chunks, so that a large one need not be in memory.
fn hash_of(file: &Path) -> std::io::Result<ContentHash> {
    let mut reader = BufReader::new(File::open(file)?);
    let mut hashes = String::new();
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        if (&mut reader).take(CHUNK as u64).read_to_end(&mut chunk)? == 0 {
            return Ok(ContentHash::of(hashes.as_bytes()));
        }
        hashes.push_str(&ContentHash::of(&chunk).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unit vectors at angles of a circle, every third one of an example.
    fn circle(count: usize) -> (Vec<Text>, Vec<Vec<f32>>) {
        let texts = (0..count).map(|place| Text {
            kind: if place % 3 == 0 { Kind::Example } else { Kind::Table },
            place,
            text: format!("text {place}"),
        });
        let vectors = (0..count).map(|place| {
            let angle = place as f32 / count as f32;
            vec![angle.cos(), angle.sin()]
        });
        (texts.collect(), vectors.collect())
    }

    #[test]
    fn what_is_near_is_found_by_kind_exact_and_not() {
        for count in [300, EXACT + 300] {
            let (texts, vectors) = circle(count);
            let index = Vectors::new("m", &texts, &vectors).unwrap();
            assert_eq!(matches!(index.store, Store::Exact(_)), count <= EXACT);
            let near = index.near(Kind::Example, &vectors[150], 3);
            let places: Vec<usize> = near.iter().map(|near| near.place).collect();
            assert!(places.iter().all(|place| place % 3 == 0 && place.abs_diff(150) <= 12), "{places:?}");
            assert!(index.near(Kind::Lesson, &vectors[0], 3).is_empty());
            assert!(index.near(Kind::Table, &[1.0; 3], 3).is_empty(), "another dimension finds nothing");
            assert!(index.memory() > 0);
        }
    }

    #[test]
    fn a_saved_index_is_mapped_and_a_damaged_or_foreign_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (texts, vectors) = circle(EXACT + 100);
        let index = Vectors::new("m", &texts, &vectors).unwrap();
        index.save(folder.path(), "shop").unwrap();
        let saved = |model: &str| Vectors::saved(folder.path(), "shop", model, &texts);
        let again = saved("m").unwrap();
        // Half precision does not tell neighbours on a circle of thousands apart.
        assert!(again.near(Kind::Table, &vectors[70], 1)[0].place.abs_diff(70) <= 12);
        drop(again);
        assert!(saved("another model").is_none());

        let file = folder.path().join("shop.vectors");
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::write(&file, &bytes).unwrap();
        assert!(saved("m").is_none(), "a flipped byte");
        std::fs::write(&file, b"no index").unwrap();
        assert!(saved("m").is_none(), "garbage");
    }

    #[test]
    fn vectors_and_texts_go_together() {
        let (texts, mut vectors) = circle(10);
        vectors.pop();
        assert!(Vectors::new("m", &texts, &vectors).is_err());
        vectors.push(vec![1.0]);
        assert!(Vectors::new("m", &texts, &vectors).is_err());
    }
}
