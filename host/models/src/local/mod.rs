//! BERT models of a directory: read when one is first needed, computed beside the threads that serve asks.

mod bert;
mod gelu;
mod workers;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use airlock_types::ContentHash;
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokenizers::{Encoding, Tokenizer, TruncationParams};

pub(crate) use bert::{Bert, BertConfig, own};
pub(crate) use workers::Workers;

/// Tokens of one text, or of one pair, that are looked at, whatever the model could take.
pub(crate) const TOKENS: usize = 256;
/// Bytes at either end of the weights that tell one model from another.
const SAMPLE: u64 = 1 << 20;
/// Largest file that is read.
const WEIGHTS: u64 = 4 << 30;

/// Why a local model gives nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum LocalError {
    /// The directory is not that of such a model.
    #[error("{0}")]
    Directory(String),
    /// The model computed nothing.
    #[error("{0}")]
    Model(String),
}

/// A model that is made of a directory.
pub(crate) trait OfFolder: Sized + Send + Sync + 'static {
    /// Reads it whole.
    fn read(folder: &Path) -> Result<Self, LocalError>;
}

/// A directory, and its model once it was read.
pub(crate) struct Lazy<M> {
    id: String,
    shared: Arc<Shared<M>>,
}

struct Shared<M> {
    folder: PathBuf,
    model: Mutex<Option<Arc<M>>>,
}

impl<M: OfFolder> Lazy<M> {
    /// Looks at a directory; the weights are read when they are first needed.
    pub(crate) fn open(folder: &Path) -> Result<Self, LocalError> {
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            if !folder.join(name).is_file() {
                return Err(LocalError::Directory(format!("there is no {name} in {}", folder.display())));
            }
        }
        let config: BertConfig = json(folder, "config.json")?;
        if let Some(other) = config.model_type.filter(|kind| kind != "bert") {
            return Err(LocalError::Directory(format!(
                "config.json is that of a model of the type `{other}`; models of the type `bert` are computed here"
            )));
        }
        let id = identity(folder).map_err(|error| unreadable(folder, &error))?;
        let shared = Shared { folder: folder.to_owned(), model: Mutex::new(None) };
        Ok(Self { id, shared: Arc::new(shared) })
    }

    /// The folder's name, with what tells its model from another.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Computes something on a thread that may take its time.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&M) -> candle_core::Result<T> + Send + 'static,
    ) -> Result<T, LocalError> {
        let shared = Arc::clone(&self.shared);
        let work = move || work(&*shared.model()?).map_err(|error| LocalError::Model(error.to_string()));
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(LocalError::Model(error.to_string())))
    }
}

impl<M: OfFolder> Shared<M> {
    fn model(&self) -> Result<Arc<M>, LocalError> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = &*model {
            return Ok(Arc::clone(model));
        }
        let read = Arc::new(M::read(&self.folder)?);
        tracing::debug!(folder = %self.folder.display(), "a local model is loaded");
        Ok(Arc::clone(model.insert(read)))
    }
}

/// The tokenizer of a directory, which cuts what is longer than so many tokens.
pub(crate) fn tokenizer(folder: &Path, tokens: usize) -> Result<Tokenizer, LocalError> {
    let wrong = |error: tokenizers::Error| LocalError::Directory(format!("tokenizer.json: {error}"));
    let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json")).map_err(wrong)?;
    // Some tokenizers fill every text up to a fixed length, which costs and gives nothing.
    tokenizer.with_padding(None);
    let truncation = TruncationParams { max_length: tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(wrong)?;
    Ok(tokenizer)
}

/// A model of the weights of a directory.
pub(crate) fn of_weights<M>(
    folder: &Path,
    make: impl FnOnce(VarBuilder<'static>) -> candle_core::Result<M>,
) -> Result<M, LocalError> {
    let weights =
        std::fs::read(folder.join("model.safetensors")).map_err(|error| unreadable(folder, &error))?;
    VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
        .and_then(make)
        .map_err(|error| LocalError::Directory(format!("model.safetensors: {error}")))
}

/// Texts of one batch as the model takes them, each filled up to the longest.
pub(crate) struct Batch {
    /// Texts by tokens.
    pub ids: Tensor,
    /// Which of the two texts of a pair a token is of.
    pub kinds: Tensor,
    /// 1 where there is a token, 0 where there is only filling.
    pub mask: Tensor,
}

impl Batch {
    fn of(encoded: &[&Encoding]) -> candle_core::Result<Self> {
        let longest = encoded.iter().map(|one| one.get_ids().len()).max().unwrap_or(0);
        let filled = |numbers: fn(&Encoding) -> &[u32]| {
            let rows = encoded.iter().flat_map(|one| {
                let numbers = numbers(one).iter().copied();
                numbers.chain(std::iter::repeat(0)).take(longest)
            });
            Tensor::from_vec(rows.collect::<Vec<u32>>(), (encoded.len(), longest), &Device::Cpu)
        };
        Ok(Self {
            ids: filled(Encoding::get_ids)?,
            kinds: filled(Encoding::get_type_ids)?,
            mask: filled(Encoding::get_attention_mask)?.to_dtype(DType::F32)?,
        })
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

/// A file of a directory.
pub(crate) fn json<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, LocalError> {
    let bytes = std::fs::read(folder.join(name)).map_err(|error| unreadable(folder, &error))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| LocalError::Directory(format!("{name} is not that of a BERT model: {error}")))
}

fn unreadable(folder: &Path, error: &std::io::Error) -> LocalError {
    LocalError::Directory(format!("{} cannot be read: {error}", folder.display()))
}
