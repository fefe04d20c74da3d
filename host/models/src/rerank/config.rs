//! The `[rerank]` table of the configuration.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

/// Pairs of one ranking that are compared where nobody says how many.
pub const PAIRS: usize = 20;
/// Most pairs of one ranking.
pub const MOST: usize = 50;

/// Who reads the question beside each of the best hits. With nothing in it nobody does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RerankConfig {
    /// Folder with `config.json`, `tokenizer.json` and `model.safetensors` of a BERT cross-encoder.
    pub path: Option<PathBuf>,
    /// How many of the best hits of each ranking are compared.
    pub pairs: Option<usize>,
}

/// What is wrong with the `[rerank]` table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RerankConfigError {
    /// Something is said of a model that is not named.
    #[error("rerank.path: name the folder that holds config.json, tokenizer.json and model.safetensors")]
    Path,
    /// A number out of range.
    #[error("rerank.pairs must be from 2 to {MOST}")]
    Pairs,
    /// The folder holds no model.
    #[error("{0}")]
    Directory(String),
    /// Built without it.
    #[error("rerank.path: this airlock was built without the feature `local-embedder`")]
    NotBuilt,
}

impl RerankConfig {
    /// Takes a folder that is not absolute as beside this one.
    pub fn rebase(&mut self, base: &Path) {
        if let Some(path) = &mut self.path {
            *path = base.join(&*path);
        }
    }
}
