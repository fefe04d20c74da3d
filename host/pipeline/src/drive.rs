//! Driving one stage: call it, carry out what it wants asked, call it again with one more exchange.

use std::fmt::Debug;
use std::sync::Arc;

use airlock_database::Identity;
use airlock_models::{Call, ModelError, Models, Reply, Role, Shape};
use airlock_runtime::contract::answerer::{AnswerInput, AnswerStep};
use airlock_runtime::contract::generator::{Draft, GenerateInput, GenerateStep, Refusal};
use airlock_runtime::contract::linker::{LinkInput, LinkStep, NoMatch, Selection};
use airlock_runtime::contract::model::{
    Exchange, ModelFailure, ModelOutcome, ModelReply, ModelRequest, ReplyShape,
};
use airlock_runtime::contract::planner::{Clarification, Plan, PlanInput, PlanStep, Unanswerable};
use airlock_runtime::contract::repair::{Regenerate, RepairInput, RepairStep, Rewrite, Stop, Widen};
use airlock_runtime::{
    CallError, CallErrorKind, Component, Limit, LimitHit, Runtime, Services, Stage, StageSet,
};
use airlock_types::ask::{ComponentUse, ContextUse, Recalled};
use airlock_types::{ContentHash, DomainName};

use crate::account::Bookkeeper;
use crate::adapter::Entities;
use crate::budget::{Budget, REQUESTS_PER_STAGE};
use crate::context::{Block, PREAMBLE, characters, unmarked};
use crate::convert;
use crate::fault::Fault;
use crate::host::Host;
use crate::journal::Beside;
use crate::progress::{Progress, Reporter};
use crate::timeline::Recorder;

/// A step of any stage, seen from here.
pub(crate) enum Step<T> {
    Ask(ModelRequest),
    Done(T),
}

/// The work of one stage, with its input: what to call and what its steps mean.
pub(crate) trait Work: Send + Sync + 'static {
    /// The stage whose component does it.
    const STAGE: Stage;
    /// What it ends with.
    type Done: Debug + Send;

    /// The switch that tells it whether a model may be asked. It is held to it: a component that asks all the same is told
    /// no, so that what it was shown in confidence (rows that the domain keeps from models) goes nowhere.
    fn model_available(&mut self) -> &mut bool;

    /// One call of a component.
    fn call(
        &self,
        runtime: &Runtime,
        component: &Component,
        services: Arc<dyn Services>,
        exchanges: &[Exchange],
    ) -> impl Future<Output = Result<Step<Self::Done>, CallError>> + Send;
}

#[derive(Debug)]
pub(crate) enum Planned {
    Plan(Plan),
    Unanswerable(Unanswerable),
    Unclear(Clarification),
}

#[derive(Debug)]
pub(crate) enum Linked {
    Selection(Selection),
    Nothing(NoMatch),
}

#[derive(Debug)]
pub(crate) enum Generated {
    Draft(Draft),
    Refused(Refusal),
    /// A draft without a text, and why there is none.
    Nothing(String),
}

impl From<Draft> for Generated {
    fn from(draft: Draft) -> Self {
        if !draft.sql.trim().is_empty() {
            return Self::Draft(draft);
        }
        let why = draft.reasoning.trim();
        let told = if why.is_empty() { "No query was written for this question." } else { why };
        Self::Nothing(told.to_owned())
    }
}

#[derive(Debug)]
pub(crate) enum Repaired {
    Rewrite(Rewrite),
    Regenerate(Regenerate),
    Widen(Widen),
    Stop(Stop),
}

/// The two components that write SQL share an interface; a newtype tells them apart.
pub(crate) struct Composing(GenerateInput);

impl Composing {
    /// From what the generator would be given.
    pub(crate) fn of(input: &GenerateInput) -> Self {
        Self(GenerateInput { attempts: convert::composed(&input.attempts), ..input.clone() })
    }
}

/// Implements [`Work`] for an input type: the variants of its step, mapped to what the ask calls them.
macro_rules! work {
    ($input:ty, $stage:ident, $done:ty, $this:ident => $field:expr, $call:ident, $step:ident {
        $($variant:ident => $make:expr),+ $(,)?
    }) => {
        impl Work for $input {
            const STAGE: Stage = Stage::$stage;
            type Done = $done;

            fn model_available(&mut self) -> &mut bool {
                let $this = self;
                &mut $field.model_available
            }

            async fn call(
                &self,
                runtime: &Runtime,
                component: &Component,
                services: Arc<dyn Services>,
                exchanges: &[Exchange],
            ) -> Result<Step<$done>, CallError> {
                let $this = self;
                Ok(match runtime.$call(component, services, &$field, exchanges).await? {
                    $step::Ask(request) => Step::Ask(request),
                    $($step::$variant(value) => Step::Done($make(value)),)+
                })
            }
        }
    };
}

work!(PlanInput, Planner, Planned, this => *this, plan, PlanStep {
    Done => Planned::Plan, Unanswerable => Planned::Unanswerable, Unclear => Planned::Unclear,
});
work!(LinkInput, Linker, Linked, this => *this, link, LinkStep {
    Done => Linked::Selection, Nothing => Linked::Nothing,
});
work!(GenerateInput, Generator, Generated, this => *this, generate, GenerateStep {
    Done => Generated::from, Refuse => Generated::Refused,
});
work!(Composing, Composer, Generated, this => this.0, generate, GenerateStep {
    Done => Generated::from, Refuse => Generated::Refused,
});
work!(RepairInput, Repair, Repaired, this => *this, repair, RepairStep {
    Rewrite => Repaired::Rewrite, Regenerate => Repaired::Regenerate,
    Widen => Repaired::Widen, Stop => Repaired::Stop,
});
work!(AnswerInput, Answerer, String, this => *this, answer, AnswerStep {
    Done => (|answer: airlock_runtime::contract::answerer::Answer| answer.text),
});

/// What the stages of one ask share: the way to components and models, and the account of what they used.
pub(crate) struct Desk<'a> {
    pub host: &'a Host,
    pub domain: DomainName,
    /// The components as they were when the ask began; a swap does not change a running ask.
    pub stages: Arc<StageSet>,
    pub services: Arc<dyn Services>,
    pub budget: Budget,
    pub reporter: Reporter,
    /// What was done so far, for those who observe.
    pub timeline: Recorder,
    /// The account of the ask, for its log and a replay.
    pub books: Bookkeeper,
    /// Who answers for models.
    pub models: Arc<Models>,
    /// What the question names, as the domain's adapter found.
    pub entities: Entities,
    /// Whether somebody waits for the answer; otherwise it is a trial, which leaves no trace in the host.
    pub live: bool,
    /// Who writes down what leaves beside an ask that somebody waits for.
    pub beside: Option<Beside>,
    /// What the data source is told about who asks.
    pub identity: Option<Identity>,
    /// The blocks a request may refer to.
    pub blocks: Vec<Block>,
    /// Blocks that were sent.
    pub sent: Vec<ContextUse>,
    /// What of them is curated, item by item.
    pub recalled: Vec<Recalled>,
    pub components: Vec<ComponentUse>,
    /// Which of several drafts is being written, from 0: models are asked for another reply to the same request.
    pub variant: u32,
    /// Whether a model is configured and wanted.
    pub model: bool,
    /// Set when the model could not be reached; it is not tried again in this ask.
    pub down: Option<ModelError>,
}

impl Desk<'_> {
    /// Whether a model may be asked.
    pub(crate) fn has_model(&self) -> bool {
        self.model && self.down.is_none()
    }

    /// Drives `stage` to its end. When the model turns out to be down, the stage is begun again without one.
    ///
    /// # Errors
    /// When no component serves the stage, or the component fails.
    pub(crate) async fn drive<W: Work>(&mut self, work: W) -> Result<W::Done, Fault> {
        let stage = W::STAGE;
        self.reporter.tell(Progress::Stage { stage: stage.as_str() });
        let component =
            self.stages.component(stage, &self.domain).cloned().ok_or(Fault::NoComponent(stage))?;
        self.note(stage, &component);
        if self.live && self.host.quarantine().bars(stage, component.digest()) {
            return Err(Fault::Quarantined(stage));
        }
        let mark = self.timeline.stage(stage, &component);
        let ended = self.step(work, &component).await;
        self.timeline.close_with(mark, &ended);
        ended
    }

    async fn step<W: Work>(&mut self, mut work: W, component: &Component) -> Result<W::Done, Fault> {
        let stage = W::STAGE;
        let mut exchanges: Vec<Exchange> = Vec::new();
        *work.model_available() &= self.has_model();
        loop {
            let call = work.call(self.host.runtime(), component, Arc::clone(&self.services), &exchanges);
            match call.await? {
                Step::Done(done) => {
                    self.shadow(work, exchanges, &done);
                    return Ok(done);
                }
                Step::Ask(_) if exchanges.len() >= REQUESTS_PER_STAGE => {
                    return Err(endless(stage, component).into());
                }
                Step::Ask(request) if !*work.model_available() => exchanges.push(not_available(request)),
                Step::Ask(request) => match self.carry_out(component, &request).await {
                    Ok(outcome) => exchanges.push(Exchange { request, outcome }),
                    Err(error) => {
                        tracing::warn!(%stage, error = error.in_full(), "the model is down, going on without it");
                        self.down = Some(error);
                        *work.model_available() = false;
                        exchanges.clear();
                    }
                },
            }
        }
    }

    pub(crate) fn note(&mut self, stage: Stage, component: &Component) {
        self.books.component(stage, component);
        let used = ComponentUse {
            stage: stage.as_str().to_owned(),
            component: component.name().to_owned(),
            digest: component.digest(),
        };
        if !self.components.contains(&used) {
            self.components.push(used);
        }
    }

    /// Carries out one request. What the stage may not have is told to it; what is nobody's fault but the network's is an
    /// error.
    async fn carry_out(
        &mut self,
        component: &Component,
        request: &ModelRequest,
    ) -> Result<ModelOutcome, ModelError> {
        let call = match call_of(component, request, &self.blocks, &mut self.budget) {
            Ok(call) => Call { variant: self.variant, ..call },
            Err(refusal) => return Ok(ModelOutcome::Failed(refusal)),
        };
        if self.down.is_some() {
            return Ok(ModelOutcome::Failed(refusal("budget", "no model can be reached in this ask")));
        }
        for block in blocks_of(request, &self.blocks).flatten() {
            let used = block.used();
            if !self.sent.contains(&used) {
                self.sent.push(used);
                self.recalled.extend(block.recalled.iter().cloned());
            }
        }
        self.sent.push(sent(&call));
        let model = self.models.model(call.role).unwrap_or_default().to_owned();
        let provider = self.models.provider(call.role).map(airlock_models::ProviderKind::as_str);
        let mark = self.timeline.asking(&request.purpose, &model, provider, &call);
        let wanted = model.clone();
        self.reporter.tell(Progress::Asking { purpose: request.purpose.clone(), model });
        let reply = self.models.ask(&call).await;
        self.timeline.replied(mark, &reply);
        self.books.model(&request.purpose, &wanted, &call, &reply);
        let reply = reply?;
        self.budget.spent(reply.tokens, reply.cost);
        tracing::info!(
            purpose = request.purpose,
            model = reply.model,
            input_tokens = reply.tokens.input,
            output_tokens = reply.tokens.output,
            took_ms = u64::try_from(reply.took.as_millis()).unwrap_or(u64::MAX),
            "a model answered"
        );
        Ok(outcome_of(reply))
    }
}

/// What a component is charged with that asks the model without end.
fn endless(stage: Stage, component: &Component) -> CallError {
    let allowed = REQUESTS_PER_STAGE as u64;
    CallError {
        component: component.name().to_owned(),
        digest: component.digest(),
        stage,
        kind: Box::new(CallErrorKind::Limit(LimitHit {
            limit: Limit::ModelRequests,
            allowed,
            spent: allowed + 1,
        })),
    }
}

/// The account of a whole request: rows, failures and the question stand in it beside the blocks.
pub(crate) fn sent(call: &Call) -> ContextUse {
    let text = format!("{}\n\n{}", call.system, call.prompt);
    ContextUse {
        kind: "request".to_owned(),
        vouched_by: "derived".to_owned(),
        hash: ContentHash::of(&text),
        characters: characters(&text),
    }
}

/// What a component is told that asks where no model may be asked.
pub(crate) fn not_available(request: ModelRequest) -> Exchange {
    tracing::debug!(purpose = request.purpose, "a model was asked for where none may be asked");
    let failure = refusal("refused", "no model may be asked here: `model-available` is false");
    Exchange { request, outcome: ModelOutcome::Failed(failure) }
}

fn refusal(kind: &str, message: impl Into<String>) -> ModelFailure {
    ModelFailure { kind: kind.to_owned(), message: message.into() }
}

/// The blocks that a request refers to; `None` for a handle that is none.
fn blocks_of<'a>(request: &'a ModelRequest, blocks: &'a [Block]) -> impl Iterator<Item = Option<&'a Block>> {
    request.context.iter().map(|handle| usize::try_from(*handle).ok().and_then(|at| blocks.get(at)))
}

/// The call that a request becomes, paid for from a budget; or what its stage is told instead.
pub(crate) fn call_of(
    component: &Component,
    request: &ModelRequest,
    blocks: &[Block],
    budget: &mut Budget,
) -> Result<Call, ModelFailure> {
    let granted = component.grant().allows_role(&request.role);
    let Some(role) = Role::parse(&request.role).filter(|_| granted) else {
        tracing::warn!(
            component = component.name(),
            role = request.role,
            "a model role was asked for without a grant"
        );
        return Err(refusal(
            "not-granted",
            format!("the grant of `{}` does not name the role `{}`", component.name(), request.role),
        ));
    };
    budget.take().map_err(|message| refusal("budget", message))?;
    let mut context = String::new();
    for (block, handle) in blocks_of(request, blocks).zip(&request.context) {
        let missing = || refusal("refused", format!("there is no context block with the handle {handle}"));
        context.push_str(&block.ok_or_else(missing)?.render());
    }
    Ok(Call {
        role,
        system: if context.is_empty() {
            request.instructions.clone()
        } else {
            format!("{}\n\n{PREAMBLE}", unmarked(&request.instructions))
        },
        prompt: format!("{context}\n{}", unmarked(&request.prompt)).trim().to_owned(),
        shape: match &request.reply {
            ReplyShape::Text => Shape::Text,
            ReplyShape::Sql => Shape::Sql,
            ReplyShape::Json(schema) => Shape::Json(schema.clone()),
        },
        max_output_tokens: request.max_output_tokens,
        until: Some(budget.until),
        variant: 0,
    })
}

/// What a stage is told of a reply.
pub(crate) fn outcome_of(reply: Reply) -> ModelOutcome {
    let count = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
    ModelOutcome::Reply(ModelReply {
        text: reply.text,
        sql: reply.sql,
        truncated: reply.truncated,
        input_tokens: count(reply.tokens.input),
        output_tokens: count(reply.tokens.output),
    })
}

#[cfg(test)]
mod tests;
