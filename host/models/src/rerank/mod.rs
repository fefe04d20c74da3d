//! A reranker: question and document read together by a cross-encoder, which says how well they go together.
//!
//! A [`Reranker`] loads its model when it is first needed and works in batches. When it is down it says so, and is left alone
//! for a while: whoever asks goes on with the order that retrieval gave.

pub mod config;
#[cfg(feature = "local-embedder")]
mod local;

use futures_util::future::BoxFuture;
use thiserror::Error;

use crate::embed::cut;
#[cfg(feature = "local-embedder")]
use crate::local::Lazy;
use crate::pulse::{Condition, Pulse};
pub use config::{RerankConfig, RerankConfigError};

/// Pairs that are given to the model at once: few, so that one that nobody waits for any more ends soon.
const BATCH: usize = 16;

/// What compares.
trait Scores: Send + Sync {
    /// How well each document goes with the question, in their order; more is better.
    fn scores<'a>(
        &'a self,
        question: &'a str,
        documents: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<f32>, RerankError>>;
}

/// Why there are no scores.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RerankError {
    /// The model directory is not one of a cross-encoder.
    #[error("rerank.path: {0}")]
    Directory(String),
    /// The model computed nothing useful.
    #[error("the reranker failed: {0}")]
    Model(String),
    /// It failed a moment ago.
    #[error("the reranker is left alone for a while: {0}")]
    Resting(String),
}

/// A cross-encoder.
pub struct Reranker {
    inner: Box<dyn Scores>,
    model: String,
    pairs: usize,
    pulse: Pulse,
}

impl Reranker {
    /// The reranker of a configuration; `None` when it names none.
    ///
    /// # Errors
    /// Naming the key.
    pub fn from_config(config: &RerankConfig) -> Result<Option<Self>, RerankConfigError> {
        let pairs = config.pairs.unwrap_or(config::PAIRS);
        if !(2..=config::MOST).contains(&pairs) {
            return Err(RerankConfigError::Pairs);
        }
        let Some(path) = &config.path else {
            return if config.pairs.is_none() { Ok(None) } else { Err(RerankConfigError::Path) };
        };
        let (inner, model) = local_model(path)?;
        Ok(Some(Self { inner, model, pairs, pulse: Pulse::default() }))
    }

    /// Name of the model, with what tells it from another of the same name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How many of the best hits of a ranking it is given.
    #[must_use]
    pub const fn pairs(&self) -> usize {
        self.pairs
    }

    /// How it does.
    #[must_use]
    pub fn condition(&self) -> Condition {
        self.pulse.condition()
    }

    /// How well each document goes with a question, in their order; more is better. Only scores of one question compare.
    ///
    /// # Errors
    /// [`RerankError`].
    pub async fn scores(&self, question: &str, documents: &[String]) -> Result<Vec<f32>, RerankError> {
        if let Some(why) = self.pulse.resting() {
            return Err(RerankError::Resting(why));
        }
        let made = self.compared(cut(question), documents).await;
        self.pulse.felt(&made);
        made
    }

    async fn compared(&self, question: &str, documents: &[String]) -> Result<Vec<f32>, RerankError> {
        let mut scores = Vec::with_capacity(documents.len());
        for batch in documents.chunks(BATCH) {
            let texts: Vec<&str> = batch.iter().map(|document| cut(document)).collect();
            let made = self.inner.scores(question, &texts).await?;
            if made.len() != batch.len() {
                return Err(RerankError::Model(format!("{} scores for {} pairs", made.len(), batch.len())));
            }
            if made.iter().any(|score| !score.is_finite()) {
                return Err(RerankError::Model("a score that is no number".to_owned()));
            }
            scores.extend(made);
        }
        Ok(scores)
    }
}

impl std::fmt::Debug for Reranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reranker").field("model", &self.model).finish_non_exhaustive()
    }
}

#[cfg(feature = "local-embedder")]
fn local_model(path: &std::path::Path) -> Result<(Box<dyn Scores>, String), RerankConfigError> {
    let model = Lazy::<local::Pairs>::open(path)
        .map_err(|error| RerankConfigError::Directory(RerankError::from(error).to_string()))?;
    let name = model.id().to_owned();
    Ok((Box::new(model), name))
}

#[cfg(not(feature = "local-embedder"))]
fn local_model(_: &std::path::Path) -> Result<(Box<dyn Scores>, String), RerankConfigError> {
    Err(RerankConfigError::NotBuilt)
}

#[cfg(test)]
mod tests;
