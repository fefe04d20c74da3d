//! Vectors for the domains of a host: made beside the asks, used by each ask that has them, missed by none that has not.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_knowledge::near::Nearby;
use airlock_knowledge::{Text, VectorError, Vectors};
use airlock_models::{Condition, EmbedError, Embedder};
use airlock_types::DomainName;
use thiserror::Error;

use crate::domain::Domain;
use crate::host::Host;
use crate::refresh::Served;

/// Time the embedding of a question may take before the ask goes on without.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the vectors of what a domain learned are saved under, after its name: no domain has a dot in its own.
const LEARNED: &str = ".learned";

/// What an answer says that was found by keywords although an embedder is configured.
pub(crate) const KEYWORDS_ALONE: &str =
    "The embedder is down: tables and examples were found by keywords alone.";

/// Why a domain has no vectors.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// The embedder.
    #[error(transparent)]
    Embedder(#[from] EmbedError),
    /// The index.
    #[error(transparent)]
    Index(#[from] VectorError),
}

/// A question and its vector.
#[derive(Debug)]
pub(crate) struct Asked {
    question: String,
    vector: Vec<f32>,
}

impl Asked {
    /// The vector beside those of the domain, where the question itself is looked for.
    pub(crate) fn nearby<'a>(&'a self, vectors: &'a Vectors, query: &str) -> Option<Nearby<'a>> {
        looks_for(query, &self.question).then_some(Nearby { vectors, question: &self.vector })
    }
}

/// Whether a question itself is looked for, alone or with words that go with it. Whoever looks for other words means those
/// words.
pub(crate) fn looks_for(query: &str, question: &str) -> bool {
    let further = query.trim().strip_prefix(question);
    further.is_some_and(|further| further.is_empty() || further.starts_with(char::is_whitespace))
}

/// An embedder and the folder of what it need not make again.
#[derive(Debug)]
pub struct Embedding {
    embedder: Embedder,
    folder: PathBuf,
    /// Held by whoever makes vectors: one domain at a time.
    making: tokio::sync::Mutex<()>,
}

impl Embedding {
    /// The embedder with its folder.
    #[must_use]
    pub fn new(embedder: Embedder, folder: &Path) -> Self {
        Self { embedder, folder: folder.to_owned(), making: tokio::sync::Mutex::default() }
    }

    /// The embedder.
    #[must_use]
    pub const fn embedder(&self) -> &Embedder {
        &self.embedder
    }

    /// The vectors of everything a domain knows: saved ones, cached ones, and the rest made now.
    async fn vectors(&self, domain: &Domain) -> Result<Vectors, EmbeddingError> {
        self.vectors_of(domain.name().as_str(), &domain.knowledge().texts()).await
    }

    /// The vectors of texts that are saved under a name.
    async fn vectors_of(&self, name: &str, texts: &[Text]) -> Result<Vectors, EmbeddingError> {
        let model = self.embedder.model();
        if let Some(saved) = Vectors::saved(&self.folder, name, model, texts) {
            return Ok(saved);
        }
        let begun = Instant::now();
        let contents: Vec<String> = texts.iter().map(|text| text.text.clone()).collect();
        let made = self.embedder.texts(&contents).await?;
        let vectors = Vectors::new(model, texts, &made)?;
        if let Err(error) = vectors.save(&self.folder, name) {
            tracing::warn!(domain = name, %error, "the vector index could not be saved and is made again at the next start");
        }
        let took = begun.elapsed().as_millis();
        tracing::info!(domain = name, model, texts = texts.len(), took_ms = took, "vectors are made");
        Ok(vectors)
    }

    /// The question's vector; `None` when the embedder is down or too slow.
    async fn asked(&self, question: &str) -> Option<Asked> {
        let question = question.trim();
        let vector = match tokio::time::timeout(PATIENCE, self.embedder.question(question)).await {
            Ok(Ok(vector)) => vector,
            Ok(Err(error)) => {
                tracing::debug!(%error, "an ask goes on by keywords");
                return None;
            }
            Err(_) => {
                tracing::debug!("the embedder is too slow: an ask goes on by keywords");
                return None;
            }
        };
        Some(Asked { question: question.to_owned(), vector })
    }
}

impl Served {
    /// Makes the vectors that the domain in service lacks.
    async fn embed(&self, embedding: &Embedding) -> Result<(), EmbeddingError> {
        let _only = embedding.making.lock().await;
        let domain = self.now();
        if domain.vectors().is_none() {
            let vectors = Arc::new(embedding.vectors(&domain).await?);
            // Vectors are by place: they are only those of the very knowledge they were made of.
            self.change(|now| {
                let same = now.knows_the_same(&domain);
                now.with_vectors(same.then(|| Arc::clone(&vectors)))
            });
        }
        if let Some(learned) = domain.unembedded() {
            let name = format!("{}{LEARNED}", domain.name());
            let vectors = learned.embedded(embedding.vectors_of(&name, &learned.texts()).await?);
            self.change(|now| now.with_learned_vectors(vectors.clone()));
        }
        self.moments.vectors.is_now();
        Ok(())
    }
}

impl Host {
    /// The same host with an embedder. Until [`Host::embed_domains`] made vectors, keywords alone answer.
    #[must_use]
    pub fn with_embedding(mut self, embedding: Embedding) -> Self {
        self.embedding = Some(Arc::new(embedding));
        self
    }

    /// The embedder's model and how it does, where there is one.
    #[must_use]
    pub fn embedder(&self) -> Option<(&str, Condition)> {
        let embedder = self.embedding.as_ref()?.embedder();
        Some((embedder.model(), embedder.condition()))
    }

    /// Makes the vectors of every domain; gives the domains that have none for now, and why.
    pub async fn embed_domains(&self) -> Vec<(DomainName, EmbeddingError)> {
        let mut failed = Vec::new();
        let Some(embedding) = &self.embedding else { return failed };
        for (name, served) in &self.domains {
            if let Err(error) = served.embed(embedding).await {
                tracing::warn!(domain = %name, %error, "there are no vectors: keywords alone answer");
                failed.push((name.clone(), error));
            }
        }
        failed
    }

    /// A domain as a question sees it, and whether the question's vector is missing because the embedder is down.
    pub(crate) async fn asked(
        &self,
        served: &Arc<Served>,
        domain: Arc<Domain>,
        question: &str,
    ) -> (Arc<Domain>, bool) {
        let Some(embedding) = &self.embedding else { return (domain, false) };
        let missing = domain.vectors().is_none();
        if missing || domain.unembedded().is_some() {
            // Its knowledge changed, it learned, or the embedder was down. Nobody waits for it.
            if embedding.making.try_lock().is_ok() {
                let (embedding, served) = (Arc::clone(embedding), Arc::clone(served));
                tokio::spawn(async move {
                    if let Err(error) = served.embed(&embedding).await {
                        tracing::debug!(%error, "vectors could not be made");
                    }
                });
            }
        }
        if missing {
            let down = matches!(embedding.embedder.condition(), Condition::Degraded(_));
            return (domain, down);
        }
        match embedding.asked(question).await {
            Some(asked) => (Arc::new(domain.with_asked(asked)), false),
            None => (domain, true),
        }
    }
}
