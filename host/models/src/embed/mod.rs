//! Sentence embeddings behind one trait: a local model, an endpoint, or none.
//!
//! An [`Embedder`] loads its model when it is first needed, works in batches, keeps what it made in an [`EmbeddingCache`] by
//! content and model, and refuses vectors of another length than the first. When it is down it says so, and is left alone
//! for a while: whoever asks goes on with keywords.

pub mod cache;
pub mod config;
mod endpoint;
#[cfg(feature = "local-embedder")]
mod local;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use airlock_types::ContentHash;
use futures_util::future::BoxFuture;
use thiserror::Error;

use crate::error::ModelError;
#[cfg(feature = "local-embedder")]
use crate::local::Lazy;
use crate::pulse::{Condition, Pulse};
pub use cache::{EmbeddingCache, FileCache};
pub use config::{EmbedderConfig, EmbedderConfigError, EmbedderKind};

/// Texts that are given to a model at once.
pub const BATCH: usize = 32;
/// Characters of a text that are looked at; what comes after says little.
pub const CHARACTERS: usize = 2_000;
/// Longest vector that is accepted.
pub const DIMENSION: usize = 8_192;

/// What makes vectors of texts.
trait Embeds: Send + Sync {
    /// How many texts it wants in one call.
    fn at_once(&self) -> usize {
        BATCH
    }
    /// One vector a text, in their order.
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model directory is not one.
    #[error("embedder.path: {0}")]
    Directory(String),
    /// The model computed nothing useful.
    #[error("the embedder failed: {0}")]
    Model(String),
    /// The endpoint.
    #[error(transparent)]
    Endpoint(#[from] ModelError),
    /// Vectors of another length than before.
    #[error("the embedder gives vectors of {got} numbers, not {want}: is it still the model it was?")]
    Dimension {
        /// What was expected.
        want: usize,
        /// What came.
        got: usize,
    },
    /// It failed a moment ago.
    #[error("the embedder is left alone for a while: {0}")]
    Resting(String),
}

/// An embedder with its cache.
pub struct Embedder {
    inner: Box<dyn Embeds>,
    model: String,
    query_prefix: String,
    cache: Option<Arc<dyn EmbeddingCache>>,
    dimension: Mutex<Option<usize>>,
    pulse: Pulse,
}

impl Embedder {
    /// The embedder of a configuration; `None` when it names none.
    ///
    /// # Errors
    /// Naming the key.
    pub fn from_config(
        config: &EmbedderConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, EmbedderConfigError> {
        let (inner, model): (Box<dyn Embeds>, String) = match config.kind {
            EmbedderKind::None => return Ok(None),
            EmbedderKind::Local => local_model(config)?,
            EmbedderKind::OpenaiCompatible => {
                let endpoint = endpoint::Remote::new(config, variable)?;
                let model = endpoint.model_id();
                (Box::new(endpoint), model)
            }
        };
        Ok(Some(Self {
            inner,
            model,
            query_prefix: config.query_prefix.clone().unwrap_or_default(),
            cache: None,
            dimension: Mutex::new(config.dimension),
            pulse: Pulse::default(),
        }))
    }

    /// The same with a place to keep vectors.
    #[must_use]
    pub fn with_cache(self, cache: Arc<dyn EmbeddingCache>) -> Self {
        Self { cache: Some(cache), ..self }
    }

    /// Name of the model, with what tells it from another of the same name: vectors of different models are not compared.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How long its vectors are, once one was made or the configuration says.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        *self.dimension.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it does.
    #[must_use]
    pub fn condition(&self) -> Condition {
        self.pulse.condition()
    }

    /// The vector of a question.
    ///
    /// # Errors
    /// [`EmbedError`].
    pub async fn question(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let text = format!("{}{}", self.query_prefix, cut(text));
        let mut vectors = self.compute(&[&text]).await?;
        vectors.pop().ok_or_else(|| EmbedError::Model("no vector came back".to_owned()))
    }

    /// The vectors of texts, from the cache where they are known; each text is computed once.
    ///
    /// # Errors
    /// [`EmbedError`]; what was computed before it stays in the cache.
    pub async fn texts(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let hashes: Vec<ContentHash> = texts.iter().map(|text| ContentHash::of(text.as_bytes())).collect();
        let mut known: BTreeMap<ContentHash, Vec<f32>> = BTreeMap::new();
        if let Some(cache) = &self.cache {
            let found = cache.get(&self.model, &hashes).await;
            known.extend(hashes.iter().copied().zip(found).filter_map(|(hash, found)| Some((hash, found?))));
            let dimension = self.dimension();
            known.retain(|_, vector| dimension.is_none_or(|dimension| dimension == vector.len()));
        }
        let mut missing: BTreeMap<ContentHash, &str> = BTreeMap::new();
        for (hash, text) in hashes.iter().zip(texts) {
            if !known.contains_key(hash) {
                missing.insert(*hash, cut(text));
            }
        }
        // Texts of one length together: a batch costs what its longest text costs.
        let mut missing: Vec<(ContentHash, &str)> = missing.into_iter().collect();
        missing.sort_by_key(|(hash, text)| (text.len(), *hash));
        for batch in missing.chunks(self.inner.at_once().max(1)) {
            let wanted: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
            let vectors = self.compute(&wanted).await?;
            let made: Vec<(ContentHash, Vec<f32>)> =
                batch.iter().map(|(hash, _)| *hash).zip(vectors).collect();
            if let Some(cache) = &self.cache {
                cache.put(&self.model, &made).await;
            }
            known.extend(made);
        }
        hashes
            .iter()
            .map(|hash| {
                known.get(hash).cloned().ok_or_else(|| EmbedError::Model("a vector is missing".to_owned()))
            })
            .collect()
    }

    /// Computes, checks what came and keeps account of how it went.
    async fn compute(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if let Some(why) = self.pulse.resting() {
            return Err(EmbedError::Resting(why));
        }
        let made = self.inner.embed(texts).await.and_then(|vectors| self.checked(vectors, texts.len()));
        if let Err(EmbedError::Endpoint(error)) = &made {
            tracing::warn!(error = error.in_full(), "the embedder's endpoint gave no vectors");
        }
        self.pulse.felt(&made);
        made
    }

    fn checked(&self, mut vectors: Vec<Vec<f32>>, wanted: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        if vectors.len() != wanted {
            return Err(EmbedError::Model(format!("{} vectors for {wanted} texts", vectors.len())));
        }
        for vector in &mut vectors {
            let got = vector.len();
            let mut known = self.dimension.lock().unwrap_or_else(PoisonError::into_inner);
            let want = *known.get_or_insert(got);
            drop(known);
            if got != want || got == 0 || got > DIMENSION {
                return Err(EmbedError::Dimension { want, got });
            }
            if !normalise(vector) {
                return Err(EmbedError::Model("a vector without direction".to_owned()));
            }
        }
        Ok(vectors)
    }
}

impl std::fmt::Debug for Embedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedder").field("model", &self.model).finish_non_exhaustive()
    }
}

#[cfg(feature = "local-embedder")]
fn local_model(config: &EmbedderConfig) -> Result<(Box<dyn Embeds>, String), EmbedderConfigError> {
    let path = config.path.clone().ok_or(EmbedderConfigError::Path)?;
    let model = Lazy::<local::Sentences>::open(&path);
    let model = model.map_err(|error| EmbedderConfigError::Directory(EmbedError::from(error).to_string()))?;
    let name = model.id().to_owned();
    Ok((Box::new(model), name))
}

#[cfg(not(feature = "local-embedder"))]
fn local_model(_: &EmbedderConfig) -> Result<(Box<dyn Embeds>, String), EmbedderConfigError> {
    Err(EmbedderConfigError::NotBuilt)
}

/// The beginning of a text.
pub(crate) fn cut(text: &str) -> &str {
    text.char_indices().nth(CHARACTERS).map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}

/// Makes a vector one long; `false` when it has no direction or is not of numbers.
fn normalise(vector: &mut [f32]) -> bool {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return false;
    }
    vector.iter_mut().for_each(|x| *x /= length);
    true
}

#[cfg(test)]
mod tests;
