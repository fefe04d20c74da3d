//! A BERT model of a directory: read when it is first needed, one batch at a time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use airlock_types::ContentHash;
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use futures_util::future::{BoxFuture, FutureExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokenizers::{Tokenizer, TruncationParams};

use super::{EmbedError, Embeds};

mod bert;
mod gelu;

use bert::{Bert, BertConfig};

/// Tokens of one text that are looked at, whatever the model could take.
const TOKENS: usize = 256;
/// Bytes at either end of the weights that tell one model from another.
const SAMPLE: u64 = 1 << 20;
/// Largest file that is read.
const WEIGHTS: u64 = 4 << 30;

/// A model directory, and the model once it was read.
pub(super) struct Local {
    id: String,
    shared: Arc<Shared>,
}

struct Shared {
    folder: PathBuf,
    model: Mutex<Option<Arc<Model>>>,
}

/// How token vectors become one of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    Mean,
    Cls,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

struct Model {
    bert: Bert,
    tokenizer: Tokenizer,
    pooling: Pooling,
}

impl Local {
    /// Looks at a directory; the weights are read when they are first needed.
    pub(super) fn open(folder: &Path) -> Result<Self, EmbedError> {
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            if !folder.join(name).is_file() {
                return Err(EmbedError::Directory(format!("there is no {name} in {}", folder.display())));
            }
        }
        let _: BertConfig = json(folder, "config.json")?;
        let id = identity(folder).map_err(|error| unreadable(folder, &error))?;
        let shared = Shared { folder: folder.to_owned(), model: Mutex::new(None) };
        Ok(Self { id, shared: Arc::new(shared) })
    }

    pub(super) fn model_id(&self) -> &str {
        &self.id
    }
}

impl Embeds for Local {
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        let shared = Arc::clone(&self.shared);
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        async move {
            let work =
                move || shared.model()?.embed(&texts).map_err(|error| EmbedError::Model(error.to_string()));
            let done = tokio::task::spawn_blocking(work).await;
            done.unwrap_or_else(|error| Err(EmbedError::Model(error.to_string())))
        }
        .boxed()
    }
}

impl Shared {
    fn model(&self) -> Result<Arc<Model>, EmbedError> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = &*model {
            return Ok(Arc::clone(model));
        }
        let read = Arc::new(Model::read(&self.folder)?);
        tracing::debug!(folder = %self.folder.display(), "the embedding model is loaded");
        Ok(Arc::clone(model.insert(read)))
    }
}

impl Model {
    fn read(folder: &Path) -> Result<Self, EmbedError> {
        let config: BertConfig = json(folder, "config.json")?;
        let pooling = match json::<PoolingConfig>(&folder.join("1_Pooling"), "config.json") {
            Ok(pooling) if pooling.pooling_mode_cls_token && !pooling.pooling_mode_mean_tokens => {
                Pooling::Cls
            }
            _ => Pooling::Mean,
        };
        let sentence: SentenceConfig = json(folder, "sentence_bert_config.json").unwrap_or_default();
        let tokens =
            sentence.max_seq_length.unwrap_or(TOKENS).min(config.max_position_embeddings).clamp(8, TOKENS);
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))
            .map_err(|error| EmbedError::Directory(format!("tokenizer.json: {error}")))?;
        // Some tokenizers fill every text up to a fixed length, which costs and gives nothing.
        tokenizer.with_padding(None);
        let truncation = TruncationParams { max_length: tokens, ..TruncationParams::default() };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|error| EmbedError::Directory(format!("tokenizer.json: {error}")))?;
        let weights =
            std::fs::read(folder.join("model.safetensors")).map_err(|error| unreadable(folder, &error))?;
        let wrong = |error: candle_core::Error| EmbedError::Directory(format!("model.safetensors: {error}"));
        let weights =
            VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).map_err(wrong)?;
        let bert = Bert::read(&config, weights).map_err(wrong)?;
        Ok(Self { bert, tokenizer, pooling })
    }

    fn embed(&self, texts: &[String]) -> candle_core::Result<Vec<Vec<f32>>> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encoded = self.tokenizer.encode_batch(texts, true).map_err(candle_core::Error::wrap)?;
        let longest = encoded.iter().map(|one| one.get_ids().len()).max().unwrap_or(0);
        let mut ids: Vec<u32> = Vec::with_capacity(encoded.len() * longest);
        let mut mask: Vec<f32> = Vec::with_capacity(encoded.len() * longest);
        for one in &encoded {
            let length = one.get_ids().len();
            ids.extend(one.get_ids());
            ids.resize(ids.len() + longest - length, 0);
            mask.resize(mask.len() + length, 1.0);
            mask.resize(mask.len() + longest - length, 0.0);
        }
        let shape = (encoded.len(), longest);
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let tokens = self.bert.forward(&ids, &mask)?;
        let pooled = match self.pooling {
            Pooling::Cls => tokens.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let mask = mask.unsqueeze(2)?;
                tokens.broadcast_mul(&mask)?.sum(1)?.broadcast_div(&mask.sum(1)?)?
            }
        };
        pooled.to_vec2()
    }
}

/// The folder's name, with what tells its model from another.
fn identity(folder: &Path) -> std::io::Result<String> {
    let mut seen = Vec::new();
    for name in ["config.json", "tokenizer.json", "1_Pooling/config.json"] {
        seen.extend(std::fs::read(folder.join(name)).unwrap_or_default());
    }
    let mut weights = File::open(folder.join("model.safetensors"))?;
    let length = weights.metadata()?.len();
    if length > WEIGHTS {
        return Err(std::io::Error::other(format!("model.safetensors is larger than {WEIGHTS} bytes")));
    }
    seen.extend(length.to_le_bytes());
    (&mut weights).take(SAMPLE).read_to_end(&mut seen)?;
    weights.seek(SeekFrom::Start(length.saturating_sub(SAMPLE)))?;
    weights.take(SAMPLE).read_to_end(&mut seen)?;
    let name = folder.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
    Ok(format!("{name}@{}", ContentHash::of(&seen).short()))
}

fn json<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, EmbedError> {
    let bytes = std::fs::read(folder.join(name)).map_err(|error| unreadable(folder, &error))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| EmbedError::Directory(format!("{name} is not that of a BERT model: {error}")))
}

fn unreadable(folder: &Path, error: &std::io::Error) -> EmbedError {
    EmbedError::Directory(format!("{} cannot be read: {error}", folder.display()))
}
