//! The host: domains in service, components by stage, models. One of it serves every surface.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use airlock_knowledge::store::Recall;
use airlock_models::{Models, Reranker};
use airlock_runtime::contract::types::Turn;
use airlock_runtime::{Registry, Runtime, StageSet};
use airlock_types::clock::ClockError;
use airlock_types::{AskId, AskRequest, Clock, DomainName, Question};
use thiserror::Error;
use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::Instrument as _;

use crate::account::{Bookkeeper, Prior};
use crate::adapter::Entities;
use crate::ask::Ask;
use crate::asker::Asker;
use crate::budget::Budget;
use crate::context::Block;
use crate::conversation::Conversations;
use crate::domain::Domain;
use crate::drift::Snapshots;
use crate::drive::Desk;
use crate::embedding::{Embedding, KEYWORDS_ALONE};
use crate::fault::{Fault, Finished};
use crate::journal::Journal;
use crate::learning::Learning;
use crate::load::{Counted, Load};
use crate::observer::Observer;
use crate::progress::Reporter;
use crate::quarantine::{Quarantine, QuarantinePolicy};
use crate::recall::Following;
use crate::refresh::Served;
use crate::rerank::Reranked;
use crate::services::DomainServices;
use crate::shadow::Shadows;
use crate::timeline::{Doing, Recorder};
use crate::values::FollowingValues;

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
    /// None that the asker may see.
    #[error("domain: none of the domains of this host is yours: use a key that is not bound to others")]
    NoneOfYours,
    /// `now` is not a time.
    #[error("now: {0}")]
    Now(#[from] ClockError),
    /// The ask to follow is not known.
    #[error("follow_up_of: the ask {0} is not known here, or too old; ask the whole question")]
    UnknownAsk(AskId),
    /// The ask to follow may be in the store.
    #[error(
        "follow_up_of: conversations cannot be read because the knowledge store is away: ask the whole question"
    )]
    ConversationsAway,
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

/// What a model would see for a request, and how it was found.
#[derive(Debug)]
pub struct Shown {
    /// The blocks, in their order.
    pub blocks: Vec<Block>,
    /// What is missing, in the words that an answer has for it.
    pub missing: Vec<&'static str>,
    /// What the reranker did, where there is one.
    pub reranked: Option<Reranked>,
}

/// A domain as a question sees it.
pub(crate) struct Current {
    pub domain: Arc<Domain>,
    /// What is missing, in words for the answer.
    pub missing: Vec<&'static str>,
    /// What the reranker did, where there is one.
    pub reranked: Option<Reranked>,
}

/// Everything an ask needs.
pub struct Host {
    pub(crate) domains: BTreeMap<DomainName, Arc<Served>>,
    pub(crate) embedding: Option<Arc<Embedding>>,
    pub(crate) reranker: Option<Arc<Reranker>>,
    store: Option<Recall>,
    pub(crate) learning: Option<Learning>,
    pub(crate) journal: Option<Journal>,
    runtime: Runtime,
    registry: Registry,
    models: Arc<Models>,
    options: HostOptions,
    places: Semaphore,
    pub(crate) conversations: Conversations,
    quarantine: Quarantine,
    shadows: Arc<Shadows>,
    pub(crate) snapshots: Snapshots,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) trace_url: Option<String>,
    pub(crate) load: Counted,
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
            journal: None,
            embedding: None,
            reranker: None,
            runtime,
            quarantine: Quarantine::new(options.quarantine.clone(), registry.current()),
            registry,
            models: Arc::new(models),
            places: Semaphore::new(options.asks_at_once),
            options,
            conversations: Conversations::default(),
            shadows: Arc::default(),
            snapshots: Snapshots::default(),
            observers: Vec::new(),
            trace_url: None,
            load: Counted::default(),
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

    pub(crate) fn served(&self, name: Option<&DomainName>) -> Result<&Arc<Served>, AskError> {
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
        let timeline = self.recorder();
        let mark = timeline.open(|| Doing::Prepare);
        let current = self.current(request.domain.as_ref(), &request.question, &timeline).await?;
        let Current { domain, missing, .. } = current;
        timeline.close(mark, |_| {});
        let domain = &domain;
        let clock = clock(request, domain)?;
        let prior = self.prior(request, domain, asker).await?;
        let _place = self.place()?;
        let asking = self.load.begun();
        let mut desk = self.desk(domain, reporter);
        desk.identity.clone_from(&asker.identity);
        desk.timeline = timeline;
        let follows = prior.as_ref().map(Prior::from);
        let mut ask = Ask::new(request, domain, clock.clone(), prior, desk);
        ask.desk.books = self.bookkeeper(asker, ask.id);
        ask.desk.beside = Some(self.beside(ask.id, domain.name()));
        // Whatever is logged on the way says of which ask.
        let span = tracing::error_span!("ask", ask = %ask.id);
        let mut finished = ask.run().instrument(span).await;
        asking.did_end();
        finished.answer.trace_url = self.trace_url(&finished.answer.trace_id);
        finished.answer.warnings.extend(missing.into_iter().map(str::to_owned));
        let drifted = self.drift_warnings(domain, &finished.answer.tables_used, finished.answer.outcome);
        finished.answer.warnings.extend(drifted);
        self.observed(&mut finished, request.mode, Some(asker), None);
        self.log_ask(request, asker, domain, &clock, follows, &mut finished);
        self.learn_from(request, asker, domain, clock, &finished.answer);
        self.conversations.remember(asker, request.follow_up_of, &finished.answer);
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
        timeline: Recorder,
    ) -> Result<Finished, AskError> {
        let clock = clock(request, domain)?;
        let mut desk = self.desk(domain, Reporter::silent());
        desk.stages = Arc::clone(stages);
        desk.live = false;
        desk.timeline = timeline;
        let mut finished = Ask::new(request, domain, clock, None, desk).run().await;
        finished.answer.trace_url = self.trace_url(&finished.answer.trace_id);
        Ok(finished)
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

    /// The context blocks a model would see for a request: planned, linked and gathered by the very code that does it for an
    /// ask, with a model where one is configured. No draft is asked for.
    ///
    /// # Errors
    /// When there is no such domain, or a component fails.
    pub async fn context(&self, request: &AskRequest, asker: &Asker) -> Result<Shown, ContextError> {
        let current = self.current(request.domain.as_ref(), &request.question, &Recorder::idle()).await?;
        let Current { domain, missing, reranked } = &current;
        let clock = clock(request, domain).map_err(AskError::Now)?;
        let prior = self.prior(request, domain, asker).await?;
        let _place = self.place()?;
        let mut desk = self.desk(domain, Reporter::silent());
        desk.live = false;
        let blocks = Ask::new(request, domain, clock, prior, desk).context().await?;
        Ok(Shown { blocks, missing: missing.clone(), reranked: reranked.clone() })
    }

    /// A domain as its source and the store are now and as a question sees it.
    pub(crate) async fn current(
        &self,
        name: Option<&DomainName>,
        question: &Question,
        timeline: &Recorder,
    ) -> Result<Current, AskError> {
        let served = self.served(name)?;
        let mut domain = served.fresh().await;
        let mut missing = Vec::new();
        match &self.store {
            Some(recall) if self.recalls() => {
                let (recalled, away) = served.recalled(recall).await;
                domain = recalled;
                missing.extend(away.map(|_| STORE_IS_AWAY));
            }
            // Followed or not, what was learned stays out of an ask then.
            Some(_) => domain = Arc::new(domain.with_learned(None)),
            None => {}
        }
        let (domain, no_vector) = self.asked(served, domain, question.as_str()).await;
        missing.extend(no_vector.then_some(KEYWORDS_ALONE));
        let (domain, reranked) = self.reranked(domain, question.as_str(), timeline).await;
        missing.extend(reranked.as_ref().and_then(Reranked::warning));
        Ok(Current { domain, missing, reranked })
    }

    pub(crate) fn desk(&self, domain: &Arc<Domain>, reporter: Reporter) -> Desk<'_> {
        Desk {
            host: self,
            domain: domain.name().clone(),
            stages: self.registry.current(),
            services: Arc::new(DomainServices::new(Arc::clone(domain))),
            budget: Budget::new(self.options.deadline),
            reporter,
            timeline: Recorder::idle(),
            books: Bookkeeper::counting(),
            models: Arc::clone(&self.models),
            entities: Entities::default(),
            live: true,
            beside: None,
            identity: None,
            blocks: Vec::new(),
            sent: Vec::new(),
            recalled: Vec::new(),
            components: Vec::new(),
            variant: 0,
            model: self.models.available(),
            down: None,
        }
    }

    /// A place among the asks in flight.
    pub(crate) fn place(&self) -> Result<SemaphorePermit<'_>, AskError> {
        self.places.try_acquire().map_err(|_| {
            self.load.turned_away();
            AskError::Busy(self.options.asks_at_once)
        })
    }

    /// How much is asked of the host now, and what became of what was not answered.
    #[must_use]
    pub fn load(&self) -> Load {
        let places = self.options.asks_at_once;
        self.load.read(places, places.saturating_sub(self.places.available_permits()))
    }

    /// What a request follows, if anything.
    async fn prior(
        &self,
        request: &AskRequest,
        domain: &Domain,
        asker: &Asker,
    ) -> Result<Option<Turn>, AskError> {
        let Some(id) = request.follow_up_of else { return Ok(None) };
        let mut turn = self.conversations.turn(id, domain.name(), asker).await?;
        // The sentence quotes rows, and stages that are handed it may ask a model.
        let approved = turn.sql.as_deref().and_then(|sql| domain.gate().check(sql).ok());
        if !approved.is_some_and(|approved| domain.rows_may_reach_model(&approved)) {
            turn.answer = None;
        }
        Ok(Some(turn))
    }
}

/// The clock of an ask: the moment its request names, or this one.
pub(crate) fn clock(request: &AskRequest, domain: &Domain) -> Result<Clock, ClockError> {
    let (zone, fiscal) = domain.calendar();
    let now = match &request.now {
        Some(text) => Clock::parse_now(text, zone)?,
        None => jiff::Timestamp::now(),
    };
    Clock::new(now, zone, fiscal)
}
