//! A BERT cross-encoder of a directory: question and document read together, one number for the pair.

use std::path::Path;

use candle_nn::{Linear, Module, linear};
use futures_util::future::{BoxFuture, FutureExt};
use tokenizers::Tokenizer;

use super::{RerankError, Scores};
use crate::local::{
    Bert, BertConfig, Lazy, LocalError, OfFolder, TOKENS, Workers, json, of_weights, own, tokenizer,
};

/// The encoder and its head: what the first token came to, pooled, and one number of that.
pub(super) struct Pairs {
    bert: Bert,
    tokenizer: Tokenizer,
    pooler: Linear,
    classifier: Linear,
    workers: Workers,
}

/// Pairs that are computed together.
const TOGETHER: usize = 8;

impl Scores for Lazy<Pairs> {
    fn scores<'a>(
        &'a self,
        question: &'a str,
        documents: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<f32>, RerankError>> {
        let pairs: Vec<(String, String)> =
            documents.iter().map(|document| (question.to_owned(), (*document).to_owned())).collect();
        async move { Ok(self.compute(move |model| model.scores(pairs)).await?) }.boxed()
    }
}

impl From<LocalError> for RerankError {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Directory(why) => Self::Directory(why),
            LocalError::Model(why) => Self::Model(why),
        }
    }
}

impl OfFolder for Pairs {
    fn read(folder: &Path) -> Result<Self, LocalError> {
        let config: BertConfig = json(folder, "config.json")?;
        let tokenizer = tokenizer(folder, config.max_position_embeddings.clamp(8, TOKENS))?;
        let size = config.hidden_size;
        let workers = Workers::new()?;
        of_weights(folder, |weights| {
            Ok(Self {
                bert: Bert::read(&config, &weights)?,
                tokenizer,
                pooler: linear(size, size, own(&weights).pp("pooler.dense"))?,
                // A head of several numbers tells kinds apart and ranks nothing: its shape is refused.
                classifier: linear(size, 1, weights.pp("classifier"))?,
                workers,
            })
        })
    }
}

impl Pairs {
    fn scores(&self, pairs: Vec<(String, String)>) -> candle_core::Result<Vec<f32>> {
        let encoded = self.tokenizer.encode_batch(pairs, true).map_err(candle_core::Error::wrap)?;
        self.workers.each(&encoded, TOGETHER, |batch| {
            let first = self.bert.forward(batch)?.narrow(1, 0, 1)?.squeeze(1)?;
            let pooled = self.pooler.forward(&first.contiguous()?)?.tanh()?;
            self.classifier.forward(&pooled)?.squeeze(1)?.to_vec1()
        })
    }
}
