//! Learning from finished asks, off the asker's path: what is proposed, and how a candidate proves itself.
//!
//! Nothing here can delay or fail an answer: the work runs beside the asks, in a bounded number of places, and what finds
//! no place or no store is told and dropped. It holds the handle that proposes, and none that decides.

mod decay;
mod distil;
mod feedback;
mod gate;
mod mine;
mod own_sql;
mod propose;
mod replay;
mod told;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use airlock_knowledge::store::{Distill, Ingested, ItemId, NewCandidate, Origin, StoreError, Use, UseEvent};
use airlock_models::{Models, Role};
use airlock_runtime::{Component, Runtime, Stage};
use airlock_types::{Answer, AnswerKind, AskRequest, Clock, DomainName, Mode, Outcome};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::asker::Asker;
use crate::domain::Domain;
use crate::embedding::Embedding;
use crate::journal::Beside;
use crate::services::DomainServices;

pub use decay::{DecayOptions, DecayReport, Outdated, decay, superseded};
pub use feedback::{FeedbackError, Judgement, Recorded};
pub use gate::{GateMode, GateOptions, PassError, PassReport, Rate};
pub use mine::{MineReport, Pattern, PatternKind, mine};
pub(crate) use own_sql::OwnSql;
pub use propose::Unfit;
pub use replay::ReplayLimits;

/// Finished asks that are learned from at once or wait for it.
const PLACES: usize = 256;
/// Time for what is done after one ask.
const DEADLINE: Duration = Duration::from_secs(60);
/// Time for a store to take what was asked last, before it is closed. What waits is a few dozen statements.
const KEEPING: Duration = Duration::from_secs(15);

/// What is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LearningOptions {
    /// Whether examples are proposed from asks.
    pub examples: bool,
    /// Whether lessons are distilled from asks.
    pub lessons: bool,
    /// Whether what was learned takes part in asks; what comes with a pack does so always.
    pub recall: bool,
}

impl Default for LearningOptions {
    fn default() -> Self {
        Self { examples: true, lessons: true, recall: true }
    }
}

/// Learning from asks.
pub struct Learning {
    distill: Distill,
    options: LearningOptions,
    places: Arc<Semaphore>,
    tasks: Mutex<JoinSet<()>>,
    /// Asks that were not learned from.
    lost: Arc<AtomicU64>,
}

/// A finished ask as it is learned from: its record without rows, and what stood around it.
struct Lesson {
    answer: Answer,
    request: AskRequest,
    domain: Arc<Domain>,
    clock: Clock,
    runtime: Runtime,
    models: Arc<Models>,
    distiller: Option<Component>,
    embedding: Option<Arc<Embedding>>,
    beside: Beside,
}

impl Learning {
    /// Learning over the handle that proposes.
    #[must_use]
    pub fn new(distill: Distill, options: LearningOptions) -> Self {
        let places = Arc::new(Semaphore::new(PLACES));
        Self { distill, options, places, tasks: Mutex::default(), lost: Arc::default() }
    }

    /// Waits until what was begun is done: before a store is closed.
    pub async fn settled(&self) {
        let mut begun = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while begun.join_next().await.is_some() {}
    }

    fn begin(&self, lesson: Lesson) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            tracing::warn!(ask = %lesson.answer.ask_id, "too much waits to be learned: this ask is not learned from");
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let (distill, options) = (self.distill.clone(), self.options);
        let lost = Arc::clone(&self.lost);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let ask = lesson.answer.ask_id;
            let work = async {
                if options.examples {
                    lesson.propose(&distill).await?;
                }
                if options.lessons {
                    lesson.distil(&distill).await?;
                }
                Ok::<(), StoreError>(())
            };
            let ended = tokio::time::timeout(DEADLINE, work).await;
            if !matches!(ended, Ok(Ok(()))) {
                lost.fetch_add(1, Ordering::Relaxed);
            }
            match ended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%ask, %error, "an ask was not learned from"),
                Err(_) => tracing::warn!(%ask, "learning from an ask took too long and was ended"),
            }
            drop(place);
        });
    }
}

impl Lesson {
    async fn propose(&self, distill: &Distill) -> Result<(), StoreError> {
        match propose::example(&self.answer, &self.request, &self.domain) {
            Ok(content) => {
                let made_by = format!("ask {}", self.answer.ask_id);
                let new =
                    NewCandidate::new(self.domain.name().clone(), content.into(), Origin::Agent, &made_by);
                let evidence = json!({"ask": self.answer.ask_id.to_string(), "rows": self.answer.row_count});
                let became = distill.ingest(&NewCandidate { evidence, ..new }).await?;
                tell(self.domain.name(), "example", became);
            }
            Err(unfit) => tracing::debug!(ask = %self.answer.ask_id, %unfit, "no example is proposed"),
        }
        Ok(())
    }

    async fn distil(&self, distill: &Distill) -> Result<(), StoreError> {
        let (Some(component), Some(evidence)) = (&self.distiller, distil::evidence(&self.answer)) else {
            return Ok(());
        };
        // The evidence quotes every text that was offered, and goes to a model.
        let texts =
            self.answer.history.iter().map(|entry| entry.sql.as_str()).chain(self.answer.sql.as_deref());
        if let Some(guarded) = texts.into_iter().find_map(|sql| self.domain.guarded_in(sql)) {
            tracing::debug!(ask = %self.answer.ask_id, %guarded, "no lesson is distilled");
            return Ok(());
        }
        let work = distil::Work {
            runtime: &self.runtime,
            models: &self.models,
            component,
            services: Arc::new(DomainServices::new(Arc::clone(&self.domain))),
            beside: self.beside.clone(),
        };
        let offered = work.run(&self.answer, &self.clock, evidence.clone()).await;
        for content in distil::candidates(offered) {
            let made_by = format!("{} {}", component.name(), component.digest().short());
            let new =
                NewCandidate::new(self.domain.name().clone(), content.into(), Origin::Distilled, &made_by);
            let evidence = json!({
                "ask": self.answer.ask_id.to_string(),
                "positive": evidence,
                "component": component.digest(),
                "model": self.models.model(Role::Fast),
            });
            let vector = distil::vector(self.embedding.as_deref(), &new.content).await;
            let new = NewCandidate { needs_evidence: true, evidence, vector, ..new };
            let became = distill.ingest(&new).await?;
            tell(self.domain.name(), "lesson", became);
        }
        Ok(())
    }
}

/// The uses that an ask leaves behind: each item of the store that took part, and what the ending says of it.
pub(crate) fn took_part(answer: &Answer) -> Vec<Use<'_>> {
    let events = [Some(UseEvent::Recalled), speaks(answer)];
    let of = |item, event| Use { domain: &answer.domain, item, ask: Some(answer.ask_id), event };
    used(&answer.lessons, &answer.examples)
        .flat_map(|item| events.into_iter().flatten().map(move |event| of(item, event)))
        .collect()
}

/// What the ending of an ask says of what took part in it, until somebody says better. An answer without a row can be right
/// or wrong, and a refusal or what was down is nobody's fault.
fn speaks(answer: &Answer) -> Option<UseEvent> {
    match answer.outcome {
        Outcome::Answered if answer.kind == AnswerKind::Data && answer.row_count > 0 => {
            Some(UseEvent::Succeeded)
        }
        Outcome::GaveUp => Some(UseEvent::Failed),
        _ => None,
    }
}

/// Items of the store among what took part in an ask; what comes with a pack has other names.
fn used<'a>(lessons: &'a [String], examples: &'a [String]) -> impl Iterator<Item = ItemId> + 'a {
    lessons.iter().chain(examples).filter_map(|id| id.parse().ok())
}

fn tell(domain: &DomainName, kind: &str, became: Ingested) {
    match became {
        Ingested::Full => {
            tracing::warn!(%domain, kind, "too many candidates wait for a decision: this one is not kept");
        }
        other => tracing::info!(%domain, kind, ?other, "a candidate was handed in"),
    }
}

impl crate::host::Host {
    /// The same host, learning from its asks.
    #[must_use]
    pub fn with_learning(mut self, learning: Learning) -> Self {
        self.learning = Some(learning);
        self
    }

    /// Whether what was learned takes part in asks.
    #[must_use]
    pub fn recalls(&self) -> bool {
        self.learning.as_ref().is_none_or(|learning| learning.options.recall)
    }

    /// Waits until what was begun after asks is done, and no longer than that can take: before the store is closed.
    pub async fn learning_settled(&self) {
        let kept = async { tokio::join!(self.journal_settled(), self.conversations.settled()) };
        let kept = async {
            if tokio::time::timeout(KEEPING, kept).await.is_err() {
                tracing::warn!(
                    seconds = KEEPING.as_secs(),
                    "the store did not follow: some of what was asked last is not in it"
                );
            }
        };
        let learned = async {
            if let Some(learning) = &self.learning {
                learning.settled().await;
            }
        };
        tokio::join!(kept, learned);
        // What left for a model while it was learned is logged as well.
        let _ = tokio::time::timeout(KEEPING, self.journal_settled()).await;
    }

    /// Asks that were not logged, or not learned from, since the start; `None` without a store.
    #[must_use]
    pub fn unlogged(&self) -> Option<u64> {
        let learning = self.learning.as_ref().map(|learning| learning.lost.load(Ordering::Relaxed));
        let journal = self.journal.as_ref().map(crate::journal::Journal::lost);
        learning.into_iter().chain(journal).reduce(u64::saturating_add)
    }

    /// Hands a finished ask to learning and returns at once.
    pub(crate) fn learn_from(
        &self,
        request: &AskRequest,
        asker: &Asker,
        domain: &Arc<Domain>,
        clock: Clock,
        answer: &Answer,
    ) {
        // What was asked with an identity holds what others may not see.
        let Some(learning) = self.learning.as_ref().filter(|_| asker.identity.is_none()) else { return };
        let stages = self.registry().current();
        let distiller = stages.component(Stage::Distill, domain.name());
        let distiller =
            distiller.filter(|one| !self.quarantine().bars(Stage::Distill, one.digest())).cloned();
        learning.begin(Lesson {
            answer: without_rows(answer),
            request: request.clone(),
            domain: Arc::clone(domain),
            clock,
            runtime: self.runtime().clone(),
            models: Arc::clone(self.shared_models()),
            distiller,
            embedding: self.embedding.clone(),
            beside: self.beside(answer.ask_id, domain.name()),
        });
    }
}

/// The record without what nobody learns from and which can be large.
pub(crate) fn without_rows(answer: &Answer) -> Answer {
    Answer {
        ask_id: answer.ask_id,
        question: answer.question.clone(),
        domain: answer.domain.clone(),
        outcome: answer.outcome,
        reason: answer.reason.clone(),
        kind: answer.kind,
        answer: answer.answer.clone(),
        degraded: answer.degraded.clone(),
        sql: answer.sql.clone(),
        columns: Vec::new(),
        rows: Vec::new(),
        row_count: answer.row_count,
        truncated: answer.truncated,
        assumptions: Vec::new(),
        warnings: Vec::new(),
        tables_used: answer.tables_used.clone(),
        attempts: answer.attempts,
        history: answer.history.clone(),
        options: None,
        refused: answer.refused,
        gave_up: answer.gave_up,
        lessons: answer.lessons.clone(),
        examples: answer.examples.clone(),
        recalled: answer.recalled.clone(),
        components: answer.components.clone(),
        context: Vec::new(),
        tokens: answer.tokens,
        cost: answer.cost,
        latency_ms: answer.latency_ms,
        trace_id: answer.trace_id.clone(),
        trace_url: None,
    }
}

/// Whether an ask was made as people make them.
const fn is_agent(mode: Mode) -> bool {
    matches!(mode, Mode::Agent)
}
