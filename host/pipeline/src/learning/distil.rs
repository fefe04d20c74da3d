//! Distilling lessons from a finished ask: what is evidence, the stage driven apart from the ask, and what it may offer.

use std::sync::Arc;
use std::time::Duration;

use airlock_knowledge::pack::LessonKind;
use airlock_knowledge::promotion::embedded;
use airlock_knowledge::store::{Content, LessonContent, Vector};
use airlock_models::{Call, ModelError, Models, Reply};
use airlock_runtime::contract::distill::{DistillInput, DistillStep};
use airlock_runtime::contract::model::{Exchange, ModelOutcome};
use airlock_runtime::contract::work::LessonCandidate;
use airlock_runtime::{Component, Runtime, Services};
use airlock_types::{Answer, Clock, Outcome};

use crate::budget::{Budget, REQUESTS_PER_STAGE};
use crate::convert;
use crate::drive::{call_of, outcome_of};
use crate::embedding::Embedding;
use crate::journal::Beside;

/// Characters of evidence below which nothing is distilled.
const EVIDENCE: usize = 200;
/// Lessons of one exchange.
const LESSONS: usize = 3;
/// Time for one exchange.
const DEADLINE: Duration = Duration::from_secs(45);

/// What speaks for a lesson in an ask by itself: something failed, and what was then written ran and gave rows. An answer
/// that nobody confirmed is no evidence. `None` when there is none, or too little.
pub(super) fn evidence(answer: &Answer) -> Option<Vec<String>> {
    let fixed = answer.outcome == Outcome::Answered && answer.degraded.is_none() && answer.row_count > 0;
    let sql = answer.sql.as_ref().filter(|_| fixed)?;
    let evidence: Vec<String> = answer
        .history
        .iter()
        .filter_map(|entry| {
            let kind = entry.error_type.filter(|kind| !kind.is_infrastructure())?;
            let said = entry.message.as_deref().unwrap_or_default();
            Some(format!("failed as {}: {said}\n{}\nthen ran: {sql}", kind.as_str(), entry.sql))
        })
        .collect();
    enough(&evidence).then_some(evidence)
}

fn enough(evidence: &[String]) -> bool {
    evidence.iter().map(|each| each.chars().count()).sum::<usize>() >= EVIDENCE
}

/// One run of the distill stage, apart from any ask.
pub(super) struct Work<'a> {
    pub runtime: &'a Runtime,
    pub models: &'a Models,
    pub component: &'a Component,
    pub services: Arc<dyn Services>,
    pub beside: Beside,
}

impl Work<'_> {
    /// What the stage offers; nothing when it fails or what it says cannot be read.
    pub(super) async fn run(
        &self,
        answer: &Answer,
        clock: &Clock,
        evidence: Vec<String>,
    ) -> Vec<LessonCandidate> {
        let input = DistillInput {
            question: answer.question.as_str().to_owned(),
            clock: convert::clock(clock),
            outcome: answer.outcome.as_str().replace('_', "-"),
            sql: answer.sql.clone(),
            // The sentence holds values of rows, of which nothing is learned.
            answer: None,
            attempts: answer.history.iter().map(|entry| convert::attempt(entry, None)).collect(),
            evidence,
            model_available: self.models.available(),
            attributes: Vec::new(),
        };
        self.drive(&input).await
    }

    /// The same of what was put together elsewhere.
    pub(super) async fn drive(&self, input: &DistillInput) -> Vec<LessonCandidate> {
        let mut budget = Budget::new(DEADLINE);
        let mut exchanges: Vec<Exchange> = Vec::new();
        loop {
            let services = Arc::clone(&self.services);
            let step = self.runtime.distill(self.component, services, input, &exchanges).await;
            let request = match step {
                Ok(DistillStep::Done(lessons)) => return lessons,
                Ok(DistillStep::Ask(request)) if exchanges.len() < REQUESTS_PER_STAGE => request,
                Ok(DistillStep::Ask(_)) => return Vec::new(),
                Err(error) => {
                    tracing::info!(%error, "nothing is distilled from an ask");
                    return Vec::new();
                }
            };
            let outcome = match call_of(self.component, &request, &[], &mut budget) {
                Err(refusal) => ModelOutcome::Failed(refusal),
                Ok(call) => match self.asked(&request.purpose, &call).await {
                    Ok(reply) => {
                        budget.spent(reply.tokens, reply.cost);
                        outcome_of(reply)
                    }
                    Err(error) => {
                        tracing::info!(
                            error = error.in_full(),
                            "nothing is distilled from an ask: the model is down"
                        );
                        return Vec::new();
                    }
                },
            };
            exchanges.push(Exchange { request, outcome });
        }
    }
}

impl Work<'_> {
    /// A model's reply. The answer has gone with its record, so what leaves now is written down beside it.
    async fn asked(&self, purpose: &str, call: &Call) -> Result<Reply, ModelError> {
        self.beside.leaves(purpose, self.models, call);
        self.models.ask(call).await
    }
}

/// Cosine from which two candidates are the same.
const NEAR: f64 = 0.995;

/// A lesson as a vector, by which the store knows what is nearly there; none where there is no embedder, or it is down.
pub(super) async fn vector(embedding: Option<&Embedding>, content: &Content) -> Option<Vector> {
    if !matches!(content, Content::Lesson(_)) {
        return None;
    }
    let embedder = embedding?.embedder();
    let texts = [embedded(content)];
    match embedder.texts(&texts).await {
        Ok(vectors) => {
            let values = vectors.into_iter().next()?;
            Some(Vector { model: embedder.model().to_owned(), values, near: NEAR })
        }
        Err(error) => {
            tracing::info!(%error, "a candidate is kept without a vector: near duplicates of it are not known");
            None
        }
    }
}

/// The lessons among what was offered: known kinds, texts that can be kept, three at most.
pub(super) fn candidates(offered: Vec<LessonCandidate>) -> Vec<LessonContent> {
    let lessons = offered.into_iter().take(LESSONS).filter_map(|offered| {
        let (_, kind) = LessonKind::WORDS.into_iter().find(|(word, _)| *word == offered.kind)?;
        let LessonCandidate { text, trigger, tags, .. } = offered;
        let lesson = LessonContent { kind, text, trigger, tags, scope: Vec::new() };
        match Content::from(lesson.clone()).check() {
            Ok(()) => Some(lesson),
            Err(error) => {
                tracing::info!(%error, "a distilled lesson cannot be kept");
                None
            }
        }
    });
    lessons.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_kinds_that_can_be_kept_and_three_at_most() {
        let offered = |kind: &str, text: &str| LessonCandidate {
            kind: kind.to_owned(),
            text: text.to_owned(),
            trigger: String::new(),
            tags: Vec::new(),
            attributes: Vec::new(),
        };
        let good = |n: usize| offered("fail-fix", &format!("Lesson {n}"));
        for (offers, want) in [
            (vec![], 0),
            (vec![good(1)], 1),
            (vec![good(1), good(2), good(3), good(4)], 3),
            (vec![offered("data-shape", "x"), good(1)], 1),
            (vec![offered("fail-fix", ""), offered("fail-fix", "a\u{202e}b"), good(1)], 1),
        ] {
            assert_eq!(candidates(offers).len(), want);
        }
    }

    #[test]
    fn little_is_no_evidence() {
        assert!(!enough(&[]));
        assert!(!enough(&["x".repeat(EVIDENCE - 1)]));
        assert!(enough(&["x".repeat(EVIDENCE)]));
    }
}
