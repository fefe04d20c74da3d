//! The built-in distill stage: a finished exchange to lesson candidates.
//!
//! A lesson may only be drawn from positive evidence, and this first form has no way to weigh any, so it offers
//! nothing. An empty list is the ordinary answer of every distill stage.

use airlock_plugin_sdk::contract::distill::{DistillInput, DistillStep};
use airlock_plugin_sdk::{Distiller, Exchange, Host, StageError};

/// Offers no lessons.
pub struct Distill;

impl Distiller for Distill {
    fn run(
        _host: &impl Host,
        _input: DistillInput,
        _exchanges: Vec<Exchange>,
    ) -> Result<DistillStep, StageError> {
        Ok(DistillStep::Done(Vec::new()))
    }
}

airlock_plugin_sdk::export!(distill: Distill);

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::{Recorded, clock, drive};

    use super::*;

    #[test]
    fn even_an_answered_exchange_gives_no_lesson() {
        let host = Recorded::new();
        let input = DistillInput {
            question: "How many bills were raised?".into(),
            clock: clock("2026-07-15"),
            outcome: "answered".into(),
            sql: Some("SELECT count(*) FROM bills".into()),
            answer: Some("There are 1,400 bills.".into()),
            attempts: Vec::new(),
            evidence: vec!["feedback: right".into()],
            model_available: true,
            attributes: Vec::new(),
        };
        let played = drive([], |exchanges| Distill::run(&host, input.clone(), exchanges));
        assert_eq!(played.end, Ok(DistillStep::Done(Vec::new())));
        assert!(played.requests.is_empty());
    }
}
