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
use std::time::{Duration, Instant};

use airlock_types::ContentHash;
use futures_util::future::BoxFuture;
use thiserror::Error;

use crate::error::ModelError;
pub use cache::{EmbeddingCache, FileCache};
pub use config::{EmbedderConfig, EmbedderConfigError, EmbedderKind};

/// Texts that are given to a model at once.
pub const BATCH: usize = 32;
/// Characters of a text that are looked at; what comes after says little.
pub const CHARACTERS: usize = 2_000;
/// Longest vector that is accepted.
pub const DIMENSION: usize = 8_192;
/// How long an embedder that failed is left alone.
const REST: Duration = Duration::from_secs(30);

/// What makes vectors of texts.
trait Embeds: Send + Sync {
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

/// How an embedder does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderHealth {
    /// Not used yet.
    Idle,
    /// It worked the last time.
    Working,
    /// It failed the last time, for this reason; keywords alone answer.
    Degraded(String),
}

#[derive(Debug, Default)]
struct State {
    dimension: Option<usize>,
    failed: Option<(Instant, String)>,
    worked: bool,
}

/// An embedder with its cache.
pub struct Embedder {
    inner: Box<dyn Embeds>,
    model: String,
    query_prefix: String,
    cache: Option<Arc<dyn EmbeddingCache>>,
    state: Mutex<State>,
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
        let state = State { dimension: config.dimension, ..State::default() };
        Ok(Some(Self {
            inner,
            model,
            query_prefix: config.query_prefix.clone().unwrap_or_default(),
            cache: None,
            state: Mutex::new(state),
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
        self.state().dimension
    }

    /// How it does.
    #[must_use]
    pub fn health(&self) -> EmbedderHealth {
        let state = self.state();
        match (&state.failed, state.worked) {
            (Some((_, why)), _) => EmbedderHealth::Degraded(why.clone()),
            (None, true) => EmbedderHealth::Working,
            (None, false) => EmbedderHealth::Idle,
        }
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
        for batch in missing.chunks(BATCH) {
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
        if let Some((at, why)) = &self.state().failed
            && at.elapsed() < REST
        {
            return Err(EmbedError::Resting(why.clone()));
        }
        let made = self.inner.embed(texts).await.and_then(|vectors| self.checked(vectors, texts.len()));
        let mut state = self.state();
        match &made {
            Ok(_) => {
                state.worked = true;
                state.failed = None;
            }
            Err(error) => {
                if let EmbedError::Endpoint(error) = error {
                    tracing::warn!(error = error.in_full(), "the embedder's endpoint gave no vectors");
                }
                state.failed = Some((Instant::now(), error.to_string()));
            }
        }
        drop(state);
        made
    }

    fn checked(&self, mut vectors: Vec<Vec<f32>>, wanted: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        if vectors.len() != wanted {
            return Err(EmbedError::Model(format!("{} vectors for {wanted} texts", vectors.len())));
        }
        for vector in &mut vectors {
            let got = vector.len();
            let want = *self.state().dimension.get_or_insert(got);
            if got != want || got == 0 || got > DIMENSION {
                return Err(EmbedError::Dimension { want, got });
            }
            if !normalise(vector) {
                return Err(EmbedError::Model("a vector without direction".to_owned()));
            }
        }
        Ok(vectors)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
    let model =
        local::Local::open(&path).map_err(|error| EmbedderConfigError::Directory(error.to_string()))?;
    let name = model.model_id().to_owned();
    Ok((Box::new(model), name))
}

#[cfg(not(feature = "local-embedder"))]
fn local_model(_: &EmbedderConfig) -> Result<(Box<dyn Embeds>, String), EmbedderConfigError> {
    Err(EmbedderConfigError::NotBuilt)
}

/// The beginning of a text.
fn cut(text: &str) -> &str {
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
