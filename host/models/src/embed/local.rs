//! Vectors from a BERT model of a directory.

use std::path::Path;

use candle_core::Tensor;
use futures_util::future::{BoxFuture, FutureExt};
use serde::Deserialize;
use tokenizers::Tokenizer;

use super::{BATCH, EmbedError, Embeds};
use crate::local::{
    Bert, BertConfig, Lazy, LocalError, OfFolder, TOKENS, Workers, json, of_weights, tokenizer,
};

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

/// A model of sentence embeddings.
pub(super) struct Sentences {
    bert: Bert,
    tokenizer: Tokenizer,
    pooling: Pooling,
    workers: Workers,
}

/// Texts of one call: some batches for each processor, so that those of a batch are of one length and none waits long.
const AT_ONCE: usize = 8 * BATCH;

impl Embeds for Lazy<Sentences> {
    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        async move { Ok(self.compute(move |model| model.embed(texts)).await?) }.boxed()
    }
}

impl From<LocalError> for EmbedError {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Directory(why) => Self::Directory(why),
            LocalError::Model(why) => Self::Model(why),
        }
    }
}

impl OfFolder for Sentences {
    fn read(folder: &Path) -> Result<Self, LocalError> {
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
        let tokenizer = tokenizer(folder, tokens)?;
        let bert = of_weights(folder, |weights| Bert::read(&config, &weights))?;
        Ok(Self { bert, tokenizer, pooling, workers: Workers::new()? })
    }
}

impl Sentences {
    fn embed(&self, texts: Vec<String>) -> candle_core::Result<Vec<Vec<f32>>> {
        let encoded = self.tokenizer.encode_batch(texts, true).map_err(candle_core::Error::wrap)?;
        self.workers.each(&encoded, BATCH, |batch| {
            let tokens = self.bert.forward(batch)?;
            self.pooled(&tokens, &batch.mask)?.to_vec2()
        })
    }

    fn pooled(&self, tokens: &Tensor, mask: &Tensor) -> candle_core::Result<Tensor> {
        match self.pooling {
            Pooling::Cls => tokens.narrow(1, 0, 1)?.squeeze(1),
            Pooling::Mean => {
                let mask = mask.unsqueeze(2)?;
                tokens.broadcast_mul(&mask)?.sum(1)?.broadcast_div(&mask.sum(1)?)
            }
        }
    }
}
