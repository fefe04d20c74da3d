//! What one ask may spend on models.

use std::time::{Duration, Instant};

use airlock_types::ask::Tokens;

/// Calls of models within one ask. Three attempts with a plan, a choice, a repair and a sentence stay well below.
const MODEL_CALLS: u32 = 16;
/// Requests of one stage in one turn: enough to correct a reply twice, too few to loop.
pub(crate) const REQUESTS_PER_STAGE: usize = 4;
/// Tokens of one ask, sent and received together.
const TOKENS: u64 = 200_000;

/// What is left of it, and what was spent.
#[derive(Debug)]
pub(crate) struct Budget {
    calls: u32,
    pub tokens: Tokens,
    /// `None` as soon as one call has no known price.
    pub cost: Option<f64>,
    pub until: Instant,
}

impl Budget {
    pub(crate) fn new(deadline: Duration) -> Self {
        Self { calls: 0, tokens: Tokens::default(), cost: Some(0.0), until: Instant::now() + deadline }
    }

    /// Takes one call; says why not when nothing is left.
    pub(crate) fn take(&mut self) -> Result<(), String> {
        if self.calls >= MODEL_CALLS {
            return Err(format!("this ask has used its {MODEL_CALLS} model calls"));
        }
        if self.tokens.input + self.tokens.output >= TOKENS {
            return Err(format!("this ask has used its {TOKENS} tokens"));
        }
        self.calls += 1;
        Ok(())
    }

    pub(crate) fn spent(&mut self, tokens: Tokens, cost: Option<f64>) {
        self.tokens.input += tokens.input;
        self.tokens.output += tokens.output;
        self.cost = match (self.cost, cost) {
            (Some(sum), Some(cost)) => Some(sum + cost),
            _ => None,
        };
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Whether so many milliseconds are left.
    pub(crate) fn lasts(&self, milliseconds: u64) -> bool {
        self.until.saturating_duration_since(Instant::now()) > Duration::from_millis(milliseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_tokens_run_out_and_an_unknown_price_stays_unknown() {
        let mut budget = Budget::new(Duration::from_secs(1));
        for _ in 0..MODEL_CALLS {
            budget.take().unwrap();
        }
        assert!(budget.take().unwrap_err().contains("model calls"));
        assert!(budget.lasts(0) && !budget.lasts(1_000));

        let mut budget = Budget::new(Duration::from_secs(1));
        budget.spent(Tokens { input: TOKENS, output: 1 }, Some(0.5));
        assert_eq!(budget.cost, Some(0.5));
        assert!(budget.take().unwrap_err().contains("tokens"));
        budget.spent(Tokens::default(), None);
        budget.spent(Tokens::default(), Some(0.5));
        assert_eq!(budget.cost, None);
    }
}
