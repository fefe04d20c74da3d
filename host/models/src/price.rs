//! What tokens cost. An unknown price is unknown, never zero.

use std::collections::BTreeMap;

use airlock_types::ask::Tokens;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Price of one model in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// US dollars for a million tokens sent; finite, from 0.
    #[serde(deserialize_with = "dollars")]
    pub input: f64,
    /// US dollars for a million tokens received; finite, from 0.
    #[serde(deserialize_with = "dollars")]
    pub output: f64,
}

/// A price that somebody can ask: what is negative or no number would make costs that mean nothing.
fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let price = f64::deserialize(deserializer)?;
    if price.is_finite() && price >= 0.0 {
        return Ok(price);
    }
    Err(D::Error::custom("a price is a number of US dollars, from 0"))
}

/// Prices by model name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// Cost of these tokens in US dollars; `None` when the model has no price here.
    #[must_use]
    pub fn cost(&self, model: &str, tokens: Tokens) -> Option<f64> {
        let price = self.0.get(model)?;
        #[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let cost = |count: u64, per_million: f64| count as f64 * per_million / 1_000_000.0;
        Some(cost(tokens.input, price.input) + cost(tokens.output, price.output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_price_is_not_zero() {
        let prices = Prices(BTreeMap::from([("m".to_owned(), Price { input: 2.0, output: 10.0 })]));
        let tokens = Tokens { input: 500_000, output: 100_000 };
        assert_eq!(prices.cost("m", tokens), Some(2.0));
        assert_eq!(prices.cost("other", tokens), None);
    }
}
