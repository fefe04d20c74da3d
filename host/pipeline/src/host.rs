//! The host: domains in service, components by stage, models. One of it serves every surface.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use airlock_knowledge::store::Recall;
use airlock_models::Models;
use airlock_runtime::contract::types::Turn;
use airlock_runtime::{Registry, Runtime, StageSet};
use airlock_types::clock::ClockError;
use airlock_types::{AskId, AskRequest, Clock, DomainName, Question};
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::adapter::Entities;
use crate::ask::Ask;
use crate::asker::Asker;
use crate::budget::Budget;
use crate::context::Block;
use crate::domain::Domain;
use crate::drive::Desk;
use crate::embedding::{Embedding, KEYWORDS_ALONE};
use crate::fault::{Fault, Finished};
use crate::learning::Learning;
use crate::progress::Reporter;
use crate::quarantine::{Quarantine, QuarantinePolicy};
use crate::recall::Following;
use crate::refresh::Served;
use crate::services::DomainServices;
use crate::shadow::Shadows;
use crate::values::FollowingValues;

/// Finished asks that a follow-up can refer to.
const REMEMBERED: usize = 1_000;

/// What an answer says that was made without the store.
const STORE_IS_AWAY: &str = "The knowledge store is away: what was learned was not used.";

/// What a host is told about itself.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Time for one ask, everything included.
    pub deadline: Duration,
    /// Asks worked on at once; further ones are turned away.
    pub asks_at_once: usize,
    /// When a component that fails is taken out of service.
    pub quarantine: QuarantinePolicy,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(120), asks_at_once: 64, quarantine: QuarantinePolicy::default() }
    }
}

/// Why an ask was not begun. Each names the field and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AskError {
    /// No such domain.
    #[error("domain: there is no domain `{0}` here; there is {1}")]
    UnknownDomain(DomainName, String),
    /// Several domains and none named.
    #[error("domain: this host serves several domains, name one of {0}")]
    WhichDomain(String),
    /// None at all.
    #[error("this host serves no domain: load one with `airlock domain load`")]
    NoDomain,
    /// `now` is not a time.
    #[error("now: {0}")]
    Now(#[from] ClockError),
    /// The ask to follow is not known.
    #[error("follow_up_of: the ask {0} is not known here, or too old; ask the whole question")]
    UnknownAsk(AskId),
    /// Too many asks at once.
    #[error("the host is busy with {0} questions: ask again in a moment")]
    Busy(usize),
}

/// Why there is no context to show.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The request cannot be begun.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A stage failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Question, SQL and sentence of a finished ask, for a follow-up by the same asker.
struct Remembered {
    domain: DomainName,
    owner: Option<String>,
    turn: Turn,
}

/// The last finished asks.
#[derive(Default)]
struct Memory {
    turns: HashMap<AskId, Remembered>,
    order: VecDeque<AskId>,
}

/// Everything an ask needs.
pub struct Host {
    pub(crate) domains: BTreeMap<DomainName, Arc<Served>>,
    pub(crate) embedding: Option<Arc<Embedding>>,
    store: Option<Recall>,
    pub(crate) learning: Option<Learning>,
    runtime: Runtime,
    registry: Registry,
    models: Arc<Models>,
    options: HostOptions,
    places: Semaphore,
    memory: Mutex<Memory>,
    quarantine: Quarantine,
    shadows: Arc<Shadows>,
}

impl Host {
    /// A host over these parts.
    #[must_use]
    pub fn new(
        domains: Vec<Domain>,
        runtime: Runtime,
        registry: Registry,
        models: Models,
        options: HostOptions,
    ) -> Self {
        Self {
            domains: domains
                .into_iter()
                .map(|domain| (domain.name().clone(), Arc::new(Served::new(domain))))
                .collect(),
            store: None,
            learning: None,
            embedding: None,
            runtime,
            quarantine: Quarantine::new(options.quarantine.clone(), registry.current()),
            registry,
            models: Arc::new(models),
            places: Semaphore::new(options.asks_at_once),
            options,
            memory: Mutex::default(),
            shadows: Arc::default(),
        }
    }

    /// The same host with what a store has of its domains.
    #[must_use]
    pub fn with_store(self, recall: Recall) -> Self {
        Self { store: Some(recall), ..self }
    }

    /// Keeps what was learned, and the packs that are loaded, in step with the store while this is held. `None` without a
    /// store. Asks read what is new by themselves; this is so that they rarely have to.
    #[must_use]
    pub fn follow_store(&self) -> Option<Following> {
        Some(Following::begin(self.store.clone()?, self.domains.clone()))
    }

    /// Reads the indexed values of every domain again at this interval while the result is held: a product that is new is
    /// found by its name.
    #[must_use]
    pub fn follow_values(&self, every: Duration) -> FollowingValues {
        FollowingValues::begin(self.domains.values().cloned().collect(), every)
    }

    /// The store's reader, where there is a store.
    pub(crate) const fn store(&self) -> Option<&Recall> {
        self.store.as_ref()
    }

    /// The domains in service, by name.
    pub fn domains(&self) -> impl Iterator<Item = Arc<Domain>> {
        self.domains.values().map(|served| served.now())
    }

    /// The domain with this name, or the only one when none is named.
    ///
    /// # Errors
    /// When there is no such domain, or several and none is named.
    pub fn domain(&self, name: Option<&DomainName>) -> Result<Arc<Domain>, AskError> {
        self.served(name).map(|served| served.now())
    }

    /// The same, with what the store has of it now.
    ///
    /// # Errors
    /// As [`Host::domain`].
    pub async fn caught_up(&self, name: Option<&DomainName>) -> Result<Arc<Domain>, AskError> {
        let served = self.served(name)?;
        Ok(match &self.store {
            Some(recall) => served.recalled(recall).await.0,
            None => served.now(),
        })
    }

    fn served(&self, name: Option<&DomainName>) -> Result<&Arc<Served>, AskError> {
        let names = || self.domains.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match (name, self.domains.len()) {
            (_, 0) => Err(AskError::NoDomain),
            (Some(name), _) => {
                self.domains.get(name).ok_or_else(|| AskError::UnknownDomain(name.clone(), names()))
            }
            (None, 1) => self.domains.values().next().ok_or(AskError::NoDomain),
            (None, _) => Err(AskError::WhichDomain(names())),
        }
    }

    /// The models.
    #[must_use]
    pub fn models(&self) -> &Models {
        &self.models
    }

    pub(crate) const fn shared_models(&self) -> &Arc<Models> {
        &self.models
    }

    /// The component runtime.
    #[must_use]
    pub const fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The components, by stage.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Components that failed too often.
    #[must_use]
    pub const fn quarantine(&self) -> &Quarantine {
        &self.quarantine
    }

    /// Components that run beside those in service.
    #[must_use]
    pub const fn shadows(&self) -> &Arc<Shadows> {
        &self.shadows
    }

    /// Asks, and reports progress on the way.
    ///
    /// Dropping the future cancels what is under way, on the database server too.
    ///
    /// # Errors
    /// [`AskError`] when the request cannot be begun. Once begun, an ask always ends with a record.
    pub async fn ask(
        &self,
        request: &AskRequest,
        asker: &Asker,
        reporter: Reporter,
    ) -> Result<Finished, AskError> {
        let (domain, missing) = self.current(request.domain.as_ref(), &request.question).await?;
        let domain = &domain;
        let clock = clock(request, domain)?;
        let prior = request.follow_up_of.map(|id| self.recall(id, domain.name(), asker)).transpose()?;
        let _place = self.places.try_acquire().map_err(|_| AskError::Busy(self.options.asks_at_once))?;
        let mut desk = self.desk(domain, reporter);
        desk.identity.clone_from(&asker.identity);
        let mut finished = Ask::new(request, domain, clock.clone(), prior, desk).run().await;
        finished.answer.warnings.extend(missing.into_iter().map(str::to_owned));
        self.learn_from(request, asker, domain, clock, &finished.answer);
        self.remember(asker, &finished);
        if let Some(Fault::Component(error)) = &finished.fault {
            self.quarantine.observe(&self.registry, error);
        }
        Ok(finished)
    }

    /// Asks with other components than those in service, as a trial: it takes no place of the asks in flight, and leaves
    /// no trace in the host.
    pub(crate) async fn ask_apart(
        &self,
        request: &AskRequest,
        domain: &Arc<Domain>,
        stages: &Arc<StageSet>,
    ) -> Result<Finished, AskError> {
        let clock = clock(request, domain)?;
        let mut desk = self.desk(domain, Reporter::silent());
        desk.stages = Arc::clone(stages);
        desk.live = false;
        Ok(Ask::new(request, domain, clock, None, desk).run().await)
    }

    /// Puts a text where a draft would be, with no model: checked, run, inspected and repaired as any draft is, and as a trial.
    pub(crate) async fn mend_apart(
        &self,
        request: &AskRequest,
        domain: &Arc<Domain>,
        sql: &str,
    ) -> Result<Finished, AskError> {
        let clock = clock(request, domain)?;
        let mut desk = self.desk(domain, Reporter::silent());
        desk.live = false;
        let mut ask = Ask::new(request, domain, clock, None, desk);
        ask.without_model();
        Ok(ask.run_text(sql.to_owned()).await)
    }

    /// The context blocks a model would see for a request, without asking anything of it: planned and linked as an ask would
    /// be with no model, and gathered by the very code that gathers them for an ask.
    ///
    /// # Errors
    /// When there is no such domain, or a component fails.
    pub async fn context(&self, request: &AskRequest, asker: &Asker) -> Result<Vec<Block>, ContextError> {
        let domain = &self.current(request.domain.as_ref(), &request.question).await?.0;
        let clock = clock(request, domain).map_err(AskError::Now)?;
        let prior = request.follow_up_of.map(|id| self.recall(id, domain.name(), asker)).transpose()?;
        let _place = self.places.try_acquire().map_err(|_| AskError::Busy(self.options.asks_at_once))?;
        let mut desk = self.desk(domain, Reporter::silent());
        desk.live = false;
        let mut ask = Ask::new(request, domain, clock, prior, desk);
        ask.without_model();
        Ok(ask.context().await?)
    }

    /// A domain as its source and the store are now and as a question sees it, and what is missing, in words for the answer.
    pub(crate) async fn current(
        &self,
        name: Option<&DomainName>,
        question: &Question,
    ) -> Result<(Arc<Domain>, Vec<&'static str>), AskError> {
        let served = self.served(name)?;
        let mut domain = served.fresh().await;
        let mut missing = Vec::new();
        if let Some(recall) = &self.store {
            let (recalled, away) = served.recalled(recall).await;
            domain = recalled;
            missing.extend(away.map(|_| STORE_IS_AWAY));
        }
        let (domain, no_vector) = self.asked(served, domain, question.as_str()).await;
        missing.extend(no_vector.then_some(KEYWORDS_ALONE));
        Ok((domain, missing))
    }

    pub(crate) fn desk(&self, domain: &Arc<Domain>, reporter: Reporter) -> Desk<'_> {
        Desk {
            host: self,
            domain: domain.name().clone(),
            stages: self.registry.current(),
            services: Arc::new(DomainServices::new(Arc::clone(domain))),
            budget: Budget::new(self.options.deadline),
            reporter,
            entities: Entities::default(),
            live: true,
            identity: None,
            blocks: Vec::new(),
            sent: Vec::new(),
            components: Vec::new(),
            model: self.models.available(),
            down: None,
        }
    }

    fn recall(&self, id: AskId, domain: &DomainName, asker: &Asker) -> Result<Turn, AskError> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        match memory.turns.get(&id) {
            Some(found) if found.domain == *domain && found.owner == asker.owner => Ok(found.turn.clone()),
            _ => Err(AskError::UnknownAsk(id)),
        }
    }

    fn remember(&self, asker: &Asker, finished: &Finished) {
        let answer = &finished.answer;
        let turn = Turn {
            question: answer.question.as_str().to_owned(),
            sql: answer.sql.clone(),
            answer: answer.answer.clone(),
        };
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = Remembered { domain: answer.domain.clone(), owner: asker.owner.clone(), turn };
        memory.turns.insert(answer.ask_id, remembered);
        memory.order.push_back(answer.ask_id);
        if memory.order.len() > REMEMBERED
            && let Some(oldest) = memory.order.pop_front()
        {
            memory.turns.remove(&oldest);
        }
    }
}

/// The clock of an ask: the moment its request names, or this one.
fn clock(request: &AskRequest, domain: &Domain) -> Result<Clock, ClockError> {
    let (zone, fiscal) = domain.calendar();
    let now = match &request.now {
        Some(text) => Clock::parse_now(text, zone)?,
        None => jiff::Timestamp::now(),
    };
    Clock::new(now, zone, fiscal)
}
