//! What was asked of models since the start, by model: every call of every room goes through the one place that counts here.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use airlock_types::ask::Tokens;

use crate::error::ModelError;
use crate::models::Reply;

/// What one model was asked, and what it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Calls by how they ended: `replied`, or the kind of the error.
    pub calls: BTreeMap<&'static str, u64>,
    /// Tokens of the calls that were answered.
    pub tokens: Tokens,
    /// US dollars of the calls whose price is known.
    pub cost: f64,
    /// Answered calls whose price is not known.
    pub unpriced: u64,
}

/// The counts. Models are those of the configuration, so there are few.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<BTreeMap<String, Usage>>);

impl Meter {
    /// Counts a call of the model that was to answer; a spare that answered instead counts for itself.
    pub(crate) fn count(&self, wanted: &str, reply: &Result<Reply, ModelError>) {
        let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (model, ended) = match reply {
            Ok(reply) => (reply.model.as_str(), "replied"),
            Err(error) => (wanted, error.kind()),
        };
        if !models.contains_key(model) {
            models.insert(model.to_owned(), Usage::default());
        }
        let Some(usage) = models.get_mut(model) else { return };
        *usage.calls.entry(ended).or_default() += 1;
        if let Ok(reply) = reply {
            usage.tokens.input += reply.tokens.input;
            usage.tokens.output += reply.tokens.output;
            match reply.cost {
                Some(cost) => usage.cost += cost,
                None => usage.unpriced += 1,
            }
        }
    }

    pub(crate) fn read(&self) -> BTreeMap<String, Usage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn calls_are_counted_by_who_answered_and_an_unknown_price_is_told() {
        let meter = Meter::default();
        let reply = |model: &str, cost| {
            Ok(Reply {
                text: String::new(),
                sql: None,
                truncated: false,
                tokens: Tokens { input: 10, output: 2 },
                cost,
                model: model.to_owned(),
                requests: 1,
                took: Duration::ZERO,
            })
        };
        meter.count("first", &reply("first", Some(0.5)));
        meter.count("first", &reply("spare", None));
        let late = ModelError::TimedOut { endpoint: "e:1".to_owned(), after: Duration::from_secs(1) };
        meter.count("first", &Err(late));
        let read = meter.read();
        assert_eq!(read["first"].calls, BTreeMap::from([("replied", 1), ("timeout", 1)]));
        assert_eq!((read["first"].cost, read["first"].tokens.input), (0.5, 10));
        assert_eq!((read["spare"].unpriced, read["spare"].calls["replied"]), (1, 1));
    }
}
