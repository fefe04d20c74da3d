//! Shadows: a candidate runs beside the component in service, on the same inputs; what it returns is compared and never
//! used.
//!
//! Where a candidate asks the model what the component in service asked, it is given the same reply. What else it asks is
//! paid for from a budget of its own. One run of a shadow at a time: asks are never slowed for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use airlock_models::Models;
use airlock_runtime::contract::model::{Exchange, ModelOutcome};
use airlock_runtime::{Component, DomainScope, Runtime, Services, Stage, StageSet};
use airlock_types::DomainName;
use airlock_types::text::shorten;
use serde::{Deserialize, Serialize};

use crate::budget::{Budget, REQUESTS_PER_STAGE};
use crate::context::Block;
use crate::drive::{Desk, Step, Work, call_of, not_available, outcome_of};
use crate::journal::Beside;
use crate::quarantine::Served;
use crate::swap::Witness;

/// Time for one run of a candidate.
const DEADLINE: Duration = Duration::from_secs(30);
/// Differences that are kept.
const DIFFERENCES: usize = 5;
/// Characters of each side of a difference.
const SHOWN: usize = 400;

/// The stages that can be shadowed: those that take one input to one result within an ask.
const STAGES: [Stage; 6] =
    [Stage::Planner, Stage::Linker, Stage::Generator, Stage::Composer, Stage::Repair, Stage::Answerer];

/// Whether a stage can be shadowed.
#[must_use]
pub fn can_be_shadowed(stage: Stage) -> bool {
    STAGES.contains(&stage)
}

/// How a candidate compares with the component in service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShadowReport {
    /// The stage.
    pub stage: Stage,
    /// The domains.
    pub domains: DomainScope,
    /// The candidate.
    #[serde(flatten)]
    pub component: Served,
    /// Runs wanted.
    pub wanted: u32,
    /// Runs that ended.
    pub ran: u32,
    /// With the same result as the component in service.
    pub same: u32,
    /// With another result.
    pub different: u32,
    /// With no result.
    pub failed: u32,
    /// The first differences; none of an answerer.
    pub differences: Vec<Difference>,
}

/// Two results that differ, shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Of the component in service.
    pub served: String,
    /// Of the candidate, or why it has none.
    pub candidate: String,
}

/// A candidate beside a component in service.
struct Shadow {
    candidate: Component,
    report: Mutex<ShadowReport>,
    running: AtomicBool,
}

/// All candidates, by the slot they might serve.
#[derive(Default)]
pub struct Shadows {
    slots: Mutex<BTreeMap<(Stage, DomainScope), Arc<Shadow>>>,
    pub(crate) witness: OnceLock<Arc<dyn Witness>>,
}

impl Shadows {
    /// Runs a candidate beside what serves a stage, in the next `runs` asks that need the stage. Replaces another candidate.
    pub fn begin(&self, stage: Stage, scope: &DomainScope, candidate: &Component, runs: u32) {
        let report = ShadowReport {
            stage,
            domains: scope.clone(),
            component: Served::from(candidate),
            wanted: runs,
            ran: 0,
            same: 0,
            different: 0,
            failed: 0,
            differences: Vec::new(),
        };
        let shadow = Shadow {
            candidate: candidate.clone(),
            report: Mutex::new(report),
            running: AtomicBool::new(false),
        };
        self.lock().insert((stage, scope.clone()), Arc::new(shadow));
    }

    /// How the candidates that still run compare so far.
    #[must_use]
    pub fn reports(&self) -> Vec<ShadowReport> {
        self.lock().values().map(|shadow| shadow.report().clone()).collect()
    }

    /// Ends all candidates; gives the reports of those that ran at all.
    pub fn end(&self) -> Vec<ShadowReport> {
        let ended = std::mem::take(&mut *self.lock());
        ended.into_values().map(|shadow| shadow.report().clone()).filter(|report| report.ran > 0).collect()
    }

    fn of(&self, stages: &StageSet, stage: Stage, domain: &DomainName) -> Option<Arc<Shadow>> {
        let slots = self.lock();
        if slots.is_empty() {
            return None;
        }
        let own = DomainScope::Only(domain.clone());
        let shadow = slots.get(&(stage, own.clone())).or_else(|| {
            // What serves all domains does not serve one that has its own.
            let general = stages.serving(stage, &own).is_none();
            general.then(|| slots.get(&(stage, DomainScope::Any))).flatten()
        });
        shadow.cloned()
    }

    /// Books a run; the last one is told.
    fn book(&self, shadow: &Arc<Shadow>, served: &str, candidate: Result<String, String>) {
        let done = {
            let mut report = shadow.report();
            report.ran += 1;
            let shown = match candidate {
                Ok(result) if result == served => {
                    report.same += 1;
                    None
                }
                Ok(result) => {
                    report.different += 1;
                    Some(result)
                }
                Err(reason) => {
                    report.failed += 1;
                    Some(reason)
                }
            };
            // The sentences of an answerer hold values of rows, which are kept nowhere.
            let kept = report.stage != Stage::Answerer && report.differences.len() < DIFFERENCES;
            if let Some(candidate) = shown.filter(|_| kept) {
                let (served, candidate) = (shorten(served, SHOWN), shorten(&candidate, SHOWN));
                report.differences.push(Difference { served, candidate });
            }
            (report.ran >= report.wanted).then(|| report.clone())
        };
        let Some(report) = done else { return };
        let slot = (report.stage, report.domains.clone());
        let mut slots = self.lock();
        // Another candidate may have taken its place.
        let ended = slots.get(&slot).is_some_and(|now| Arc::ptr_eq(now, shadow));
        if ended {
            slots.remove(&slot);
        }
        drop(slots);
        if let Some(witness) = self.witness.get().filter(|_| ended) {
            witness.shadowed(&report);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<(Stage, DomainScope), Arc<Shadow>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shadow {
    fn report(&self) -> std::sync::MutexGuard<'_, ShadowReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk<'_> {
    /// Lets a candidate do the same work in the background, if there is one for this stage and it is free.
    pub(crate) fn shadow<W: Work>(&self, work: W, exchanges: Vec<Exchange>, done: &W::Done) {
        if !self.live {
            return;
        }
        let shadows = self.host.shadows();
        let Some(shadow) = shadows.of(&self.stages, W::STAGE, &self.domain) else { return };
        if shadow.running.swap(true, Ordering::AcqRel) {
            return;
        }
        let trial = Trial {
            work,
            runtime: self.host.runtime().clone(),
            models: Arc::clone(self.host.shared_models()),
            services: Arc::clone(&self.services),
            blocks: self.blocks.clone(),
            known: exchanges,
            beside: self.beside.clone(),
        };
        let (shadows, served) = (Arc::clone(shadows), format!("{done:?}"));
        tokio::spawn(async move {
            let ended = tokio::time::timeout(DEADLINE, trial.run(&shadow.candidate)).await;
            let late = || Err(format!("it was not done within {} s", DEADLINE.as_secs()));
            shadows.book(&shadow, &served, ended.unwrap_or_else(|_| late()));
            shadow.running.store(false, Ordering::Release);
        });
    }
}

/// The work of one stage, for a candidate.
struct Trial<W> {
    work: W,
    runtime: Runtime,
    models: Arc<Models>,
    services: Arc<dyn Services>,
    blocks: Vec<Block>,
    /// What the component in service asked, and was told.
    known: Vec<Exchange>,
    beside: Option<Beside>,
}

impl<W: Work> Trial<W> {
    /// The result in words, or why there is none.
    async fn run(mut self, candidate: &Component) -> Result<String, String> {
        let mut budget = Budget::new(DEADLINE);
        let mut exchanges: Vec<Exchange> = Vec::new();
        loop {
            let call = self.work.call(&self.runtime, candidate, Arc::clone(&self.services), &exchanges);
            let request = match call.await.map_err(|error| error.to_string())? {
                Step::Done(done) => return Ok(format!("{done:?}")),
                Step::Ask(_) if exchanges.len() >= REQUESTS_PER_STAGE => {
                    return Err(format!("it wanted more than {REQUESTS_PER_STAGE} model replies"));
                }
                Step::Ask(request) if !*self.work.model_available() => {
                    exchanges.push(not_available(request));
                    continue;
                }
                Step::Ask(request) => request,
            };
            let known = self.known.get(exchanges.len()).filter(|exchange| exchange.request == request);
            let outcome = match known {
                Some(exchange) => exchange.outcome.clone(),
                None => match call_of(candidate, &request, &self.blocks, &mut budget) {
                    Err(refusal) => ModelOutcome::Failed(refusal),
                    Ok(call) => {
                        if let Some(beside) = &self.beside {
                            beside.leaves(&request.purpose, &self.models, &call);
                        }
                        let reply = self.models.ask(&call).await.map_err(|error| error.to_string())?;
                        budget.spent(reply.tokens, reply.cost);
                        outcome_of(reply)
                    }
                },
            };
            exchanges.push(Exchange { request, outcome });
        }
    }
}
