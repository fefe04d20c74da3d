//! The ask and its answer, the same on every surface.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::ErrorType;
use crate::ids::{AskId, ContentHash, DomainName};
use crate::text::Question;

/// How an ask is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Plan, link, draft, check, run, inspect, repair.
    #[default]
    Agent,
    /// The same linking, prompt, model and gate, and one attempt.
    Baseline,
}

/// What somebody wants to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// The question.
    pub question: Question,
    /// Which domain; may be left out when the host serves one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainName>,
    /// Agent or baseline.
    #[serde(default)]
    pub mode: Mode,
    /// The ask this one follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up_of: Option<AskId>,
    /// The option chosen when an ask ended in a clarification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The moment to answer for, RFC 3339 or a date; now when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Rows wanted; the domain's cap holds above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rows: Option<u32>,
}

impl AskRequest {
    /// A question with everything else left to the defaults.
    #[must_use]
    pub fn new(question: Question) -> Self {
        Self {
            question,
            domain: None,
            mode: Mode::Agent,
            follow_up_of: None,
            choice: None,
            now: None,
            max_rows: None,
        }
    }
}

/// The five endings of an ask. They are never confused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is an answer (zero rows can be one).
    Answered,
    /// The question means more than one thing; `options` says which.
    Clarification,
    /// It cannot or must not be answered; `reason` says why.
    Refused,
    /// Every attempt failed; `history` shows each.
    GaveUp,
    /// Something other than the question was at fault; `reason` says what.
    Failed,
}

impl Outcome {
    /// The word on every surface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Clarification => "clarification",
            Self::Refused => "refused",
            Self::GaveUp => "gave_up",
            Self::Failed => "failed",
        }
    }
}

/// What the answer was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Rows.
    #[default]
    Data,
    /// Glossary and documents.
    Knowledge,
}

/// A column of the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultColumn {
    /// As the query names it; names may repeat.
    pub name: String,
    /// As `format_type` prints it.
    #[serde(rename = "type")]
    pub sql_type: String,
}

/// One text that did not end the ask, or the one that did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// The text.
    pub sql: String,
    /// Who wrote it.
    pub origin: String,
    /// Absent when it ran and was taken as the answer.
    pub error_type: Option<ErrorType>,
    /// What was said.
    pub message: Option<String>,
    /// What to write instead.
    pub hint: Option<String>,
    /// PostgreSQL's code.
    pub sqlstate: Option<String>,
    /// Milliseconds the statement ran, 0 when it never did.
    pub duration_ms: u64,
    /// Rows it gave.
    pub row_count: Option<u64>,
}

/// A component that took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentUse {
    /// The stage it served.
    pub stage: String,
    /// Its name in the grants.
    pub component: String,
    /// SHA-256 of the component.
    pub digest: ContentHash,
}

/// A context block as it was sent to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUse {
    /// `tables`, `joins`, `glossary`, ...
    pub kind: String,
    /// Who vouches for it.
    pub vouched_by: String,
    /// SHA-256 of its text.
    pub hash: ContentHash,
    /// Characters sent.
    pub characters: u32,
}

/// Tokens as the providers counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Received.
    pub output: u64,
}

/// The record of a finished ask: what is answered, and everything needed to audit it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Identity of the ask.
    pub ask_id: AskId,
    /// The question.
    pub question: Question,
    /// The domain it was asked of.
    pub domain: DomainName,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, for every ending but `answered`.
    pub reason: Option<String>,
    /// Rows or knowledge.
    pub kind: AnswerKind,
    /// The sentence a person reads.
    pub answer: Option<String>,
    /// What was not at its best, such as a provider that was down while the composer answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// The SQL behind the answer.
    pub sql: Option<String>,
    /// Columns of `rows`.
    pub columns: Vec<ResultColumn>,
    /// Rows, arrays beside `columns`.
    pub rows: Vec<Vec<Value>>,
    /// Rows in `rows`.
    pub row_count: u64,
    /// Whether PostgreSQL had more rows than the cap let through.
    pub truncated: bool,
    /// What the answer rests on that the question did not say.
    pub assumptions: Vec<String>,
    /// What a domain's rules or the run had to remark.
    pub warnings: Vec<String>,
    /// Relations the SQL reads.
    pub tables_used: Vec<String>,
    /// Texts offered as the answer.
    pub attempts: u32,
    /// Each of them.
    pub history: Vec<HistoryEntry>,
    /// Choices, when the outcome is a clarification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// `outcome` is `refused`.
    pub refused: bool,
    /// `outcome` is `gave_up`.
    pub gave_up: bool,
    /// Ids of lessons that took part.
    pub lessons: Vec<String>,
    /// Ids of examples that took part.
    pub examples: Vec<String>,
    /// Components that took part.
    pub components: Vec<ComponentUse>,
    /// Context blocks that were sent to a model.
    pub context: Vec<ContextUse>,
    /// Tokens, all calls together.
    pub tokens: Tokens,
    /// US dollars; null when a price is unknown.
    pub cost: Option<f64>,
    /// Milliseconds from question to record.
    pub latency_ms: u64,
    /// Trace of the ask.
    pub trace_id: String,
    /// Where to look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_url: Option<String>,
}
