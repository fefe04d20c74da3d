//! The spans of one ask: shaped like the pipeline, in the words of OpenTelemetry's conventions for generative AI and for
//! databases, with the attributes that Langfuse reads beside them.
//!
//! Questions, prompts, replies and sentences are in them only where content is wanted; of rows there is nothing.

use std::time::{Duration, SystemTime};

use airlock_pipeline::timeline::{Doing, ModelCall, Said, Span, Statement, Trouble, masked};
use airlock_pipeline::{Grade, Observed, TraceParent, golden};
use airlock_types::Outcome;
use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use serde_json::json;

use crate::settings::SqlText;

/// Characters of a text that a span holds.
const TEXT: usize = 16_000;

/// What spans hold.
pub(super) struct Shape {
    pub(super) scope: InstrumentationScope,
    pub(super) sql: SqlText,
    pub(super) content: bool,
}

/// Names of spans within one trace: made from the trace's own, so that they need not be kept.
#[derive(Clone, Copy)]
struct Names {
    trace: TraceId,
    root: u64,
}

impl Names {
    fn of(observed: &Observed) -> Option<Self> {
        let trace = u128::from_str_radix(&observed.answer.trace_id, 16).ok()?;
        // The lower half of the name is random; nothing may be named zero.
        let low = u64::try_from(trace & u128::from(u64::MAX)).ok()?;
        Some(Self { trace: TraceId::from(trace), root: low.max(1) })
    }

    fn context(self, id: u64) -> SpanContext {
        SpanContext::new(self.trace, SpanId::from(id), TraceFlags::SAMPLED, false, TraceState::NONE)
    }

    /// The name of the span at a place: an odd factor keeps the names of different places apart.
    fn at(self, place: usize) -> u64 {
        let place = u64::try_from(place).unwrap_or(u64::MAX).wrapping_add(1);
        (self.root ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1)
    }
}

/// What a span says, before its times and its place.
struct Told {
    name: String,
    kind: SpanKind,
    attributes: Vec<KeyValue>,
}

impl Told {
    fn new(name: impl Into<String>, kind: SpanKind, observation: &'static str) -> Self {
        let attributes = vec![KeyValue::new("langfuse.observation.type", observation)];
        Self { name: name.into(), kind, attributes }
    }

    fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        self.attributes.push(KeyValue::new(key, value));
    }

    fn text(&mut self, key: &'static str, text: &str) {
        self.set(key, airlock_types::text::shorten(text, TEXT));
    }
}

impl Shape {
    /// The spans of an ask, the ask itself first; none when its trace has no name.
    pub(super) fn spans(&self, observed: &Observed) -> Vec<SpanData> {
        let Some(names) = Names::of(observed) else { return Vec::new() };
        let mut spans = vec![self.root(observed, names)];
        spans.extend(
            observed.timeline.spans.iter().enumerate().map(|(at, span)| self.span(observed, names, at, span)),
        );
        spans
    }

    fn root(&self, observed: &Observed, names: Names) -> SpanData {
        let (answer, timeline) = (&observed.answer, &observed.timeline);
        let mut told = Told::new("invoke_agent airlock", SpanKind::Internal, "agent");
        told.set("gen_ai.operation.name", "invoke_agent");
        told.set("gen_ai.agent.name", "airlock");
        told.set("gen_ai.agent.version", env!("CARGO_PKG_VERSION"));
        told.set("airlock.ask.id", answer.ask_id.to_string());
        told.set("airlock.domain", answer.domain.to_string());
        told.set("airlock.outcome", answer.outcome.as_str());
        told.set(
            "airlock.mode",
            if observed.mode == airlock_types::Mode::Agent { "agent" } else { "baseline" },
        );
        told.set("airlock.attempts", i64::from(answer.attempts));
        told.set("airlock.tokens.input", whole(answer.tokens.input));
        told.set("airlock.tokens.output", whole(answer.tokens.output));
        if let Some(cost) = answer.cost {
            told.set("airlock.cost.usd", cost);
        }
        if timeline.dropped > 0 {
            told.set("airlock.spans.dropped", i64::from(timeline.dropped));
        }
        if !answer.tables_used.is_empty() {
            told.set("airlock.tables", list(&answer.tables_used));
        }
        let mut tags = vec![answer.outcome.as_str().to_owned()];
        if let Some(asker) = &observed.asker {
            told.set("airlock.surface", asker.surface.as_str());
            tags.push(asker.surface.as_str().to_owned());
            if let Some(owner) = &asker.owner {
                told.set("user.id", owner.clone());
            }
        }
        told.set("langfuse.trace.name", format!("ask {}", answer.domain));
        if self.content {
            told.text("langfuse.trace.input", answer.question.as_str());
            told.text("langfuse.observation.input", answer.question.as_str());
            if let Some(said) = answer.answer.as_deref().or(answer.reason.as_deref()) {
                told.text("langfuse.trace.output", said);
                told.text("langfuse.observation.output", said);
            }
        }
        let mut events = SpanEvents::default();
        if let Some(grade) = &observed.grade {
            told.set("airlock.case.id", grade.case.clone());
            told.set("langfuse.trace.metadata.verdict", label(grade));
            tags.push(label(grade).to_owned());
            events.events.push(self.graded(grade, timeline.began + timeline.took));
        }
        told.set("langfuse.trace.tags", list(&tags));
        let trouble = match answer.outcome {
            Outcome::Failed => Some(observed.fault.unwrap_or("failed")),
            Outcome::GaveUp => Some("gave_up"),
            _ => None,
        };
        let status = match trouble {
            Some(kind) => {
                told.set("error.type", kind);
                told.set("langfuse.observation.level", "ERROR");
                let reason = answer.reason.as_deref().filter(|_| self.content);
                Status::error(reason.map_or_else(|| kind.to_owned(), str::to_owned))
            }
            None => Status::Unset,
        };
        let mut links = SpanLinks::default();
        if let Some(parent) = observed.asker.as_ref().and_then(|asker| asker.trace) {
            links.links.push(Link::with_context(remote(parent)));
        }
        SpanData {
            events,
            links,
            status,
            ..self.data(names, names.root, SpanId::INVALID, told, timeline.began, timeline.took)
        }
    }

    fn span(&self, observed: &Observed, names: Names, at: usize, span: &Span) -> SpanData {
        let mut told = self.told(&span.doing);
        let status =
            span.trouble.as_ref().map_or(Status::Unset, |trouble| self.trouble(&mut told, span, trouble));
        let parent = SpanId::from(span.within.map_or(names.root, |within| names.at(within)));
        let began = observed.timeline.began + span.begun;
        SpanData { status, ..self.data(names, names.at(at), parent, told, began, span.took) }
    }

    fn data(
        &self,
        names: Names,
        id: u64,
        parent: SpanId,
        told: Told,
        began: SystemTime,
        took: Duration,
    ) -> SpanData {
        SpanData {
            span_context: names.context(id),
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: told.kind,
            name: told.name.into(),
            start_time: began,
            end_time: began + took,
            attributes: told.attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: self.scope.clone(),
        }
    }

    /// What went wrong, in the words of the conventions. Its sentence may quote the question or the text that failed.
    fn trouble(&self, told: &mut Told, span: &Span, trouble: &Trouble) -> Status {
        told.set("error.type", trouble.sqlstate.clone().unwrap_or_else(|| trouble.kind.to_string()));
        told.set("airlock.error", trouble.kind.to_string());
        told.set("langfuse.observation.level", "ERROR");
        let of_sql = matches!(span.doing, Doing::Statement(_) | Doing::Gate { .. });
        let shown = self.content || (of_sql && self.sql == SqlText::Full);
        let message = if shown { trouble.message.as_str() } else { trouble.kind.as_ref() };
        let message = airlock_types::text::shorten(message, TEXT);
        told.set("langfuse.observation.status_message", message.clone());
        Status::error(message)
    }

    fn told(&self, doing: &Doing) -> Told {
        match doing {
            Doing::Prepare => Told::new("prepare", SpanKind::Internal, "span"),
            Doing::Rerank { model, pairs } => {
                let mut told = Told::new("rerank", SpanKind::Internal, "span");
                told.set("airlock.rerank.model", model.clone());
                told.set("airlock.rerank.pairs", whole(*pairs as u64));
                told
            }
            Doing::Stage { stage, component, digest } => {
                let mut told = Told::new(*stage, SpanKind::Internal, "chain");
                told.set("airlock.stage", *stage);
                told.set("airlock.component", component.clone());
                told.set("airlock.component.digest", digest.to_string());
                told
            }
            Doing::Model(call) => self.model(call),
            Doing::Gate { attempt, rejected } => {
                let mut told = Told::new("gate", SpanKind::Internal, "guardrail");
                told.set("airlock.gate.verdict", if rejected.is_some() { "rejected" } else { "approved" });
                if let Some(code) = rejected {
                    told.set("airlock.gate.code", *code);
                }
                match attempt {
                    Some(attempt) => told.set("airlock.attempt", i64::from(*attempt)),
                    None => told.set("airlock.probe", true),
                }
                told
            }
            Doing::Wait => Told::new("connection", SpanKind::Internal, "span"),
            Doing::Statement(statement) => self.statement(statement),
            Doing::Repair { action } => {
                let mut told = Told::new(format!("repair {action}"), SpanKind::Internal, "event");
                told.set("airlock.repair", *action);
                told
            }
            _ => Told::new("step", SpanKind::Internal, "span"),
        }
    }

    fn model(&self, call: &ModelCall) -> Told {
        let mut told = Told::new(format!("chat {}", call.wanted), SpanKind::Client, "generation");
        told.set("gen_ai.operation.name", "chat");
        told.set("gen_ai.provider.name", provider(call.provider));
        told.set("gen_ai.request.model", call.wanted.clone());
        told.set("gen_ai.request.temperature", 0.0);
        if let Some(most) = call.max_output_tokens {
            told.set("gen_ai.request.max_tokens", i64::from(most));
        }
        told.set("airlock.role", call.role);
        told.set("airlock.purpose", airlock_types::text::shorten(&call.purpose, 100));
        told.set("airlock.requests", i64::from(call.requests));
        let Some(answered) = &call.answered else { return told };
        told.set("gen_ai.response.model", answered.clone());
        let finish = if call.truncated { "length" } else { "stop" };
        told.set("gen_ai.response.finish_reasons", list(&[finish.to_owned()]));
        told.set("gen_ai.usage.input_tokens", whole(call.tokens.input));
        told.set("gen_ai.usage.output_tokens", whole(call.tokens.output));
        told.set("langfuse.observation.model.name", answered.clone());
        let usage = json!({"input": call.tokens.input, "output": call.tokens.output});
        told.set("langfuse.observation.usage_details", usage.to_string());
        if let Some(cost) = call.cost {
            told.set("langfuse.observation.cost_details", json!({"total": cost}).to_string());
        }
        if let Some(said) = call.said.as_ref().filter(|_| self.content) {
            content(&mut told, said);
        }
        told
    }

    fn statement(&self, statement: &Statement) -> Told {
        let one = match statement.tables.as_slice() {
            [table] => Some(table),
            _ => None,
        };
        let name = one.map_or_else(|| "SELECT".to_owned(), |table| format!("SELECT {table}"));
        let mut told = Told::new(name, SpanKind::Client, "tool");
        told.set("db.system.name", "postgresql");
        told.set("db.operation.name", "SELECT");
        if let Some(table) = one {
            told.set("db.collection.name", table.clone());
        }
        told.set("airlock.tables", list(&statement.tables));
        told.set("airlock.attempt", i64::from(statement.attempt));
        told.set("airlock.probe", statement.probe);
        if let Some(rows) = statement.rows {
            told.set("db.response.returned_rows", whole(rows));
        }
        let text = match self.sql {
            SqlText::None => None,
            SqlText::Full => Some(statement.sql.clone()),
            SqlText::Masked => masked(&statement.sql),
        };
        if let Some(text) = text {
            told.text("db.query.text", &text);
            told.text("langfuse.observation.input", &text);
        }
        told
    }

    /// The grade of a golden case as the event that the conventions have for it.
    fn graded(&self, grade: &Grade, at: SystemTime) -> Event {
        let mut attributes = vec![
            KeyValue::new("gen_ai.evaluation.name", "execution_accuracy"),
            KeyValue::new("gen_ai.evaluation.score.label", label(grade)),
            KeyValue::new("airlock.case.id", grade.case.clone()),
        ];
        match grade.judged.verdict {
            golden::Verdict::Right => attributes.push(KeyValue::new("gen_ai.evaluation.score.value", 1.0)),
            golden::Verdict::Wrong { .. } => {
                attributes.push(KeyValue::new("gen_ai.evaluation.score.value", 0.0));
            }
            // What nobody can say has no score.
            _ => {}
        }
        if let Some(why) = grade.judged.verdict.why().filter(|_| self.content) {
            let why = airlock_types::text::shorten(why, TEXT);
            attributes.push(KeyValue::new("gen_ai.evaluation.explanation", why));
        }
        Event::new("gen_ai.evaluation.result", at, attributes, 0)
    }
}

/// What was said, in the form of the conventions: messages of parts.
fn content(told: &mut Told, said: &Said) {
    let part = |text: &str| json!({"type": "text", "content": airlock_types::text::shorten(text, TEXT)});
    told.set("gen_ai.system_instructions", json!([part(&said.system)]).to_string());
    let input = json!([{"role": "user", "parts": [part(&said.prompt)]}]).to_string();
    told.set("gen_ai.input.messages", input.clone());
    told.set("langfuse.observation.input", input);
    if let Some(reply) = &said.reply {
        let output = json!([{"role": "assistant", "parts": [part(reply)]}]).to_string();
        told.set("gen_ai.output.messages", output.clone());
        told.set("langfuse.observation.output", output);
    }
}

/// The provider in the words of the conventions, where they have one for its protocol.
fn provider(kind: &str) -> &'static str {
    match kind {
        "openai-compatible" => "openai",
        "anthropic" => "anthropic",
        _ => "airlock.recorded",
    }
}

fn label(grade: &Grade) -> &'static str {
    match grade.judged.verdict {
        golden::Verdict::Right => "right",
        golden::Verdict::Wrong { .. } => "wrong",
        golden::Verdict::Undecided { .. } => "undecided",
        golden::Verdict::Infrastructure { .. } => "infrastructure",
    }
}

fn remote(parent: TraceParent) -> SpanContext {
    let flags = if parent.sampled { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
    let (trace, span) = (TraceId::from(parent.trace_id), SpanId::from(parent.span_id));
    SpanContext::new(trace, span, flags, true, TraceState::NONE)
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn list(texts: &[String]) -> Value {
    Value::Array(Array::String(texts.iter().map(|text| StringValue::from(text.clone())).collect()))
}
