//! The `[embedder]` table of the configuration.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use crate::key::Key;

/// Who makes vectors of texts. With nothing in it there is no embedder, and keywords alone find what is near.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbedderConfig {
    /// `none`, `local` or `openai-compatible`.
    pub kind: EmbedderKind,
    /// For `local`: folder with `config.json`, `tokenizer.json` and `model.safetensors` of a BERT model.
    pub path: Option<PathBuf>,
    /// For `openai-compatible`: address up to and without `/v1/embeddings`.
    pub url: Option<String>,
    /// For `openai-compatible`: the model's name as the endpoint knows it.
    pub model: Option<String>,
    /// The key. Better left out here and named in `key_env`.
    pub key: Option<Key>,
    /// Environment variable that holds the key.
    pub key_env: Option<String>,
    /// Length of its vectors, checked; learned from the first one when absent.
    pub dimension: Option<usize>,
    /// What the model wants before a question, such as bge's `Represent this sentence for searching relevant passages: `.
    pub query_prefix: Option<String>,
}

/// The kinds of embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbedderKind {
    /// Keywords alone.
    #[default]
    None,
    /// A BERT model computed here.
    Local,
    /// `POST /v1/embeddings`.
    OpenaiCompatible,
}

/// What is wrong with the `[embedder]` table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EmbedderConfigError {
    /// A local model without its folder.
    #[error("embedder.path: name the folder that holds config.json, tokenizer.json and model.safetensors")]
    Path,
    /// The folder holds no model.
    #[error("{0}")]
    Directory(String),
    /// An endpoint without an address.
    #[error("embedder.url: `{0}` is not an http or https address")]
    Url(String),
    /// An endpoint without a model.
    #[error("embedder.model: name the model as the endpoint knows it")]
    Model,
    /// A variable that is named but not set.
    #[error("embedder.key_env: the environment variable {0} is not set")]
    KeyVariable(String),
    /// The HTTP client could not be built.
    #[error("the HTTP client of the embedder cannot be made: {0}")]
    Client(String),
    /// Built without it.
    #[error("embedder.kind: this airlock was built without the feature `local-embedder`")]
    NotBuilt,
}

impl EmbedderConfig {
    /// A local model in a folder.
    #[must_use]
    pub fn local(path: &Path) -> Self {
        Self { kind: EmbedderKind::Local, path: Some(path.to_owned()), ..Self::default() }
    }

    /// Takes a folder that is not absolute as beside this one.
    pub fn rebase(&mut self, base: &Path) {
        if let Some(path) = &mut self.path {
            *path = base.join(&*path);
        }
    }
}
