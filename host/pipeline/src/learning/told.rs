//! Lessons from what somebody said is right: the question, the SQL and their note, handed to the distill component.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use airlock_knowledge::store::{AskedRow, Distill, Ingested, ItemId, NewCandidate, Origin, StoreError};
use airlock_models::Role;
use airlock_runtime::Stage;
use airlock_runtime::contract::distill::DistillInput;
use airlock_runtime::contract::types::Attribute;
use airlock_types::Clock;
use serde_json::json;

use super::distil::{self, Work, vector};
use super::feedback::Judgement;
use super::{DEADLINE, tell};
use crate::convert;
use crate::domain::Domain;
use crate::host::Host;
use crate::services::DomainServices;

/// Characters of a note that are read; the contract's attributes hold no more bytes than four times that.
const NOTE: usize = 1_000;

impl Host {
    /// Lets the distill component work out what a question's words mean in SQL that somebody called right. What it offers are
    /// candidates, which wait for evidence; those that were not known before are given back. A verdict that says what is
    /// wrong and not what is right teaches nothing, nor does one on an ask that was answered under an identity.
    ///
    /// # Errors
    /// [`StoreError`], when a candidate cannot be handed in.
    pub async fn distil_told(
        &self,
        judgement: &Judgement,
        asked: &AskedRow,
        domain: &Arc<Domain>,
        distill: &Distill,
    ) -> Result<Vec<ItemId>, StoreError> {
        let (Some(right), true) =
            (judgement.right_sql(asked), self.learns_lessons() && !asked.under_identity)
        else {
            return Ok(Vec::new());
        };
        if domain.guarded_in(&right).is_some() {
            return Ok(Vec::new());
        }
        let stages = self.registry().current();
        let component = stages.component(Stage::Distill, domain.name());
        let component = component.filter(|one| !self.quarantine().bars(Stage::Distill, one.digest()));
        let Some(component) = component else { return Ok(Vec::new()) };

        let (zone, fiscal) = domain.calendar();
        let Ok(clock) = Clock::new(jiff::Timestamp::now(), zone, fiscal) else { return Ok(Vec::new()) };
        let verdict = if judgement.right { "right" } else { "corrected" };
        let attribute = |key: &str, value: String| Attribute { key: key.to_owned(), value };
        let note = judgement.note.as_ref().map(|note| note.chars().take(NOTE).collect::<String>());
        let evidence = vec![format!("Somebody called this SQL right ({verdict}):\n{right}")];
        let input = DistillInput {
            question: asked.question.clone(),
            clock: convert::clock(&clock),
            outcome: asked.outcome.replace('_', "-"),
            sql: Some(right.clone()),
            answer: None,
            attempts: Vec::new(),
            evidence: evidence.clone(),
            model_available: self.models().available(),
            attributes: std::iter::once(attribute("verdict", verdict.to_owned()))
                .chain(note.map(|note| attribute("note", note)))
                .collect(),
        };
        let work = Work {
            runtime: self.runtime(),
            models: self.models(),
            component,
            services: Arc::new(DomainServices::new(Arc::clone(domain))),
            beside: self.beside(judgement.ask, domain.name()),
        };
        let mut candidates = Vec::new();
        for content in distil::candidates(work.drive(&input).await) {
            let made_by = format!("{} {}", component.name(), component.digest().short());
            let new = NewCandidate::new(domain.name().clone(), content.into(), Origin::Distilled, &made_by);
            let evidence = json!({
                "ask": judgement.ask.to_string(),
                "verdict": verdict,
                "positive": evidence,
                "component": component.digest(),
                "model": self.models().model(Role::Fast),
            });
            let vector = vector(self.embedding.as_deref(), &new.content).await;
            let new = NewCandidate { needs_evidence: true, evidence, vector, ..new };
            let became = distill.ingest(&new).await?;
            tell(domain.name(), "lesson", became);
            if became == Ingested::Stored {
                candidates.push(new.id);
            }
        }
        Ok(candidates)
    }

    /// Whether lessons are distilled: unless it was switched off.
    fn learns_lessons(&self) -> bool {
        self.learning.as_ref().is_none_or(|learning| learning.options.lessons)
    }
}

impl Host {
    /// Hands a verdict to learning and returns at once. Where nothing is learned, or too much waits, nothing comes of it.
    pub fn learn_from_verdict(self: &Arc<Self>, judgement: Judgement, asked: AskedRow) {
        let Some(learning) = &self.learning else { return };
        let Ok(place) = Arc::clone(&learning.places).try_acquire_owned() else {
            learning.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let (host, distill) = (Arc::clone(self), learning.distill.clone());
        let mut tasks = learning.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let ask = judgement.ask;
            let work = async {
                let domain = host.caught_up(Some(&asked.domain)).await.map_err(|error| error.to_string())?;
                let told = host.distil_told(&judgement, &asked, &domain, &distill).await;
                told.map_err(|error| error.to_string())
            };
            match tokio::time::timeout(DEADLINE, work).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(%ask, error, "a verdict was not learned from"),
                Err(_) => tracing::warn!(%ask, "learning from a verdict took too long and was ended"),
            }
            drop(place);
        });
    }
}
