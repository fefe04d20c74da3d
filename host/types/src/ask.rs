//! The ask and its answer, the same on every surface.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use utoipa::ToSchema;

use crate::failure::ErrorType;
use crate::ids::{AskId, ContentHash, DomainName};
use crate::text::{Place, Question, find_hidden};

/// How an ask is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Plan, link, draft, check, run, inspect, repair.
    #[default]
    Agent,
    /// The same linking, prompt, model and gate, and one attempt.
    Baseline,
}

/// A request as it was handed in: nothing in it is checked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = AskRequest)]
pub struct RawAskRequest {
    /// What somebody wants to know, in words.
    #[schema(value_type = String, required = true, min_length = 1, max_length = 4000)]
    pub question: Option<String>,
    /// Which domain; may be left out when the host serves one.
    #[schema(pattern = "^[a-z][a-z0-9-]{0,62}$")]
    pub domain: Option<String>,
    /// `agent`, or `baseline`: the same linking, prompt, model and gate and one attempt.
    #[schema(value_type = Option<Mode>)]
    pub mode: Option<String>,
    /// The ask this one follows: a finished one of the same caller and domain.
    #[schema(format = "uuid")]
    pub follow_up_of: Option<String>,
    /// The option chosen when the ask that is followed ended in a clarification.
    #[schema(max_length = 500)]
    pub choice: Option<String>,
    /// The moment to answer for, RFC 3339 or a date; now when left out.
    pub now: Option<String>,
    /// Rows wanted; the domain's cap holds above it.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 4_294_967_295_u32)]
    pub max_rows: Option<u32>,
}

/// A field that is not what it should be, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: {message}")]
pub struct FieldError {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it and what to do.
    pub message: String,
}

impl FieldError {
    /// A field, and what is wrong with it.
    pub fn new(field: &'static str, message: impl ToString) -> Self {
        Self { field, message: message.to_string() }
    }
}

/// Most characters of a chosen option.
const CHOICE_LIMIT: usize = 500;

/// What somebody wants to know, checked once at the edge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AskRequest {
    /// The question.
    pub question: Question,
    /// Which domain; may be left out when the host serves one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainName>,
    /// Agent or baseline.
    pub mode: Mode,
    /// The ask this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow_up_of: Option<AskId>,
    /// The option chosen when the ask that this one follows ended in a clarification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The moment to answer for, RFC 3339 or a date; now when left out. Read when the domain's time zone is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Rows wanted; the domain's cap holds above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rows: Option<u32>,
}

impl AskRequest {
    /// A question with everything else left to the defaults.
    #[must_use]
    pub const fn new(question: Question) -> Self {
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

impl TryFrom<RawAskRequest> for AskRequest {
    type Error = FieldError;

    fn try_from(raw: RawAskRequest) -> Result<Self, FieldError> {
        let question = raw
            .question
            .ok_or_else(|| FieldError::new("question", "it is missing: write what you want to know"))?;
        let question = Question::parse(&question).map_err(|error| FieldError::new("question", error))?;
        let domain = raw
            .domain
            .map(|name| name.parse())
            .transpose()
            .map_err(|error| FieldError::new("domain", error))?;
        let mode = match raw.mode.as_deref() {
            None | Some("agent") => Mode::Agent,
            Some("baseline") => Mode::Baseline,
            Some(_) => return Err(FieldError::new("mode", "it is `agent` or `baseline`")),
        };
        let follow_up_of = raw
            .follow_up_of
            .map(|id| id.parse())
            .transpose()
            .map_err(|error| FieldError::new("follow_up_of", error))?;
        if let Some(choice) = &raw.choice {
            if follow_up_of.is_none() {
                return Err(FieldError::new(
                    "choice",
                    "it answers a clarification: give the `ask_id` of that as `follow_up_of`",
                ));
            }
            if choice.chars().count() > CHOICE_LIMIT {
                return Err(FieldError::new("choice", format!("it has more than {CHOICE_LIMIT} characters")));
            }
            if let Some(found) = find_hidden(choice, Place::Prose) {
                return Err(FieldError::new("choice", format!("it holds a {found}: remove it")));
            }
        }
        if raw.max_rows == Some(0) {
            return Err(FieldError::new(
                "max_rows",
                "0 rows cannot answer anything; leave it out or ask for at least 1",
            ));
        }
        Ok(Self {
            question,
            domain,
            mode,
            follow_up_of,
            choice: raw.choice,
            now: raw.now,
            max_rows: raw.max_rows,
        })
    }
}

/// The five endings of an ask. They are never confused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
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

/// A word is no ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it is none of answered, clarification, refused, gave_up and failed")]
pub struct OutcomeError;

impl std::str::FromStr for Outcome {
    type Err = OutcomeError;

    fn from_str(word: &str) -> Result<Self, OutcomeError> {
        let all = [Self::Answered, Self::Clarification, Self::Refused, Self::GaveUp, Self::Failed];
        all.into_iter().find(|outcome| outcome.as_str() == word).ok_or(OutcomeError)
    }
}

/// What the answer was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Rows.
    #[default]
    Data,
    /// Glossary and documents.
    Knowledge,
}

/// A column of the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResultColumn {
    /// As the query names it; names may repeat.
    pub name: String,
    /// As `format_type` prints it.
    #[serde(rename = "type")]
    pub sql_type: String,
}

/// One text that did not end the ask, or the one that did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
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
    /// Milliseconds before that in which a connection was waited for or made.
    #[serde(default)]
    pub wait_ms: u64,
    /// Rows it gave.
    pub row_count: Option<u64>,
}

/// A component that took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComponentUse {
    /// The stage it served.
    pub stage: String,
    /// Its name in the grants.
    pub component: String,
    /// SHA-256 of the component.
    pub digest: ContentHash,
}

/// A context block as it was sent to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// Something curated that took part in an ask, and why it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Recalled {
    /// Its identity: of an item of the store, or of what comes with the pack.
    pub id: String,
    /// `example` or `lesson`.
    pub kind: String,
    /// Its place among what is near the question, from 1.
    pub rank: u32,
    /// Words of the question that found it; none when its meaning alone did.
    pub matched: Vec<String>,
    /// `context` when a model was shown it, `component` when a component used it by itself.
    pub by: String,
}

/// Tokens as the providers counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Received.
    pub output: u64,
}

/// The record of a finished ask: what is answered, and everything needed to audit it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
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
    /// Why each of them did.
    #[serde(default)]
    pub recalled: Vec<Recalled>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_field_is_named() {
        for (json, want) in [
            (r#"{}"#, "question"),
            (r#"{"question": " "}"#, "question"),
            (r#"{"question": "a", "domain": "A B"}"#, "domain"),
            (r#"{"question": "a", "mode": "fast"}"#, "mode"),
            (r#"{"question": "a", "follow_up_of": "1"}"#, "follow_up_of"),
            (r#"{"question": "a", "choice": "b"}"#, "choice"),
            (
                r#"{"question": "a", "choice": "b\u200b", "follow_up_of": "0198c0de-0000-7000-8000-000000000000"}"#,
                "choice",
            ),
            (r#"{"question": "a", "max_rows": 0}"#, "max_rows"),
        ] {
            let raw: RawAskRequest = serde_json::from_str(json).unwrap();
            assert_eq!(AskRequest::try_from(raw).unwrap_err().field, want, "{json}");
        }
        assert!(serde_json::from_str::<RawAskRequest>(r#"{"question": "a", "modus": "x"}"#).is_err());
    }
}
