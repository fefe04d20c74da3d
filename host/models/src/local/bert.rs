//! The forward pass of BERT: token ids and their mask to one vector a token.

use candle_core::{DType, Result, Tensor};
use candle_nn::{Embedding, LayerNorm, Linear, Module, VarBuilder, embedding, layer_norm, linear, ops};
use serde::Deserialize;

use super::Batch;

/// What is added to the score of a token that is only there to fill up.
const NOWHERE: f64 = -1e9;

/// `config.json` of a BERT model.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BertConfig {
    #[serde(default)]
    pub model_type: Option<String>,
    pub vocab_size: usize,
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    pub max_position_embeddings: usize,
    #[serde(default = "two")]
    pub type_vocab_size: usize,
    #[serde(default = "tiny")]
    pub layer_norm_eps: f64,
    #[serde(default)]
    pub hidden_act: Activation,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Activation {
    #[default]
    Gelu,
    GeluNew,
    Relu,
}

const fn two() -> usize {
    2
}

const fn tiny() -> f64 {
    1e-12
}

/// The model.
pub(crate) struct Bert {
    words: Embedding,
    positions: Embedding,
    /// Of the first and the second text of a pair.
    kinds: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    norm: LayerNorm,
    heads: usize,
    activation: Activation,
}

impl Bert {
    /// Reads the weights, with or without the prefix that some files have.
    pub(crate) fn read(config: &BertConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            candle_core::bail!(
                "{} numbers cannot be shared by {} heads",
                config.hidden_size,
                config.num_attention_heads
            );
        }
        let weights = own(weights);
        let from = weights.pp("embeddings");
        let size = config.hidden_size;
        let layers = (0..config.num_hidden_layers)
            .map(|number| Layer::read(config, weights.pp("encoder.layer").pp(number)))
            .collect::<Result<_>>()?;
        Ok(Self {
            words: embedding(config.vocab_size, size, from.pp("word_embeddings"))?,
            positions: embedding(config.max_position_embeddings, size, from.pp("position_embeddings"))?,
            kinds: embedding(config.type_vocab_size, size, from.pp("token_type_embeddings"))?,
            norm: layer_norm(size, config.layer_norm_eps, from.pp("LayerNorm"))?,
            layers,
        })
    }

    /// Texts by tokens by numbers.
    pub(crate) fn forward(&self, batch: &Batch) -> Result<Tensor> {
        let (_, length) = batch.ids.dims2()?;
        let places = Tensor::arange(0u32, u32::try_from(length).unwrap_or(u32::MAX), batch.ids.device())?;
        let mut tokens = self
            .words
            .forward(&batch.ids)?
            .broadcast_add(&self.positions.forward(&places)?)?
            .add(&self.kinds.forward(&batch.kinds)?)?
            .apply(&self.norm)?;
        let shade = batch.mask.affine(-NOWHERE, NOWHERE)?.unsqueeze(1)?.unsqueeze(1)?.to_dtype(DType::F32)?;
        for layer in &self.layers {
            tokens = layer.forward(&tokens, &shade)?;
        }
        Ok(tokens)
    }
}

/// The weights of the encoder itself: a file of a classifier holds them beside those of its head.
pub(crate) fn own<'a>(weights: &VarBuilder<'a>) -> VarBuilder<'a> {
    if weights.contains_tensor("bert.embeddings.word_embeddings.weight") {
        weights.pp("bert")
    } else {
        weights.clone()
    }
}

impl Layer {
    fn read(config: &BertConfig, weights: VarBuilder<'_>) -> Result<Self> {
        let (size, wide, eps) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let own = weights.pp("attention.self");
        let out = weights.pp("attention.output");
        Ok(Self {
            query: linear(size, size, own.pp("query"))?,
            key: linear(size, size, own.pp("key"))?,
            value: linear(size, size, own.pp("value"))?,
            attended: linear(size, size, out.pp("dense"))?,
            attended_norm: layer_norm(size, eps, out.pp("LayerNorm"))?,
            wide: linear(size, wide, weights.pp("intermediate.dense"))?,
            narrow: linear(wide, size, weights.pp("output.dense"))?,
            norm: layer_norm(size, eps, weights.pp("output.LayerNorm"))?,
            heads: config.num_attention_heads,
            activation: config.hidden_act,
        })
    }

    fn forward(&self, tokens: &Tensor, shade: &Tensor) -> Result<Tensor> {
        let (texts, length, size) = tokens.dims3()?;
        let each = size / self.heads;
        let split =
            |tensor: Tensor| tensor.reshape((texts, length, self.heads, each))?.transpose(1, 2)?.contiguous();
        let query = split(self.query.forward(tokens)?)?;
        let key = split(self.key.forward(tokens)?)?;
        let value = split(self.value.forward(tokens)?)?;
        let scores = (query.matmul(&key.t()?)? * (each as f64).powf(-0.5))?.broadcast_add(shade)?;
        let seen = ops::softmax_last_dim(&scores)?.matmul(&value)?;
        let seen = seen.transpose(1, 2)?.contiguous()?.reshape((texts, length, size))?;
        let tokens = (self.attended.forward(&seen)? + tokens)?.apply(&self.attended_norm)?;
        let wide = self.wide.forward(&tokens)?;
        let wide = match self.activation {
            Activation::Gelu => super::gelu::gelu(&wide)?,
            Activation::GeluNew => wide.gelu()?,
            Activation::Relu => wide.relu()?,
        };
        (self.narrow.forward(&wide)? + tokens)?.apply(&self.norm)
    }
}
