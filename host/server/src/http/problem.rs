//! Errors over HTTP: `application/problem+json` (RFC 9457), naming the field and the remedy.

use std::any::Any;

use airlock_knowledge::store::StoreError;
use airlock_pipeline::{AskError, ContextError, Fault};
use airlock_types::{Answer, Failure, FieldError};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::request::{self, RequestId};
use crate::access::Denied;

/// What went wrong, and the remedy.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Problem(Box<Said>);

/// What went wrong, and the remedy. A failed ask carries the fields of its answer beside these.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct Said {
    /// Where the code is explained.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: &'static str,
    /// The status.
    status: u16,
    /// A word that stays the same from version to version.
    code: &'static str,
    /// What is wrong here and what to do.
    detail: String,
    /// Names the request in the server's log.
    request_id: String,
    /// The field that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<&'static str>,
    /// The record of an ask that failed: its history and all it tried.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    answer: Option<Answer>,
    /// What the gate, a domain's rule or PostgreSQL had against a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failure: Option<Failure>,
    /// What is there now, when that is not what the request is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object, nullable = false)]
    now: Option<Value>,
    #[serde(skip)]
    retry_after: Option<u64>,
    #[serde(skip)]
    about: Option<String>,
}

/// The code of a response that is a problem, for the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProblemCode(pub(super) &'static str);

/// Who was refused, for the log alone: somebody who is known and was not let in.
#[derive(Debug, Clone)]
pub(super) struct About(pub(super) String);

impl Problem {
    /// A problem with a stable code and a sentence.
    pub fn new(status: StatusCode, code: &'static str, detail: impl ToString) -> Self {
        Self(Box::new(Said {
            kind: format!("/problems/{code}"),
            title: status.canonical_reason().unwrap_or("Problem"),
            status: status.as_u16(),
            code,
            detail: detail.to_string(),
            request_id: request::current().to_string(),
            field: None,
            answer: None,
            failure: None,
            now: None,
            retry_after: None,
            about: None,
        }))
    }

    /// A bug of ours: the log has it, the asker gets a sentence.
    pub fn internal() -> Self {
        let detail = "The server failed on this request; its log says why.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    /// A body that is larger than it may be.
    pub fn too_large(limit: usize) -> Self {
        let detail = format!("The body is larger than {limit} bytes, which is what this server reads.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", detail)
    }

    /// Said in the name of this request.
    pub(super) fn in_request(mut self, request: &RequestId) -> Self {
        self.0.request_id = request.to_string();
        self
    }

    /// As it stands in an event. A problem can always be written.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Its status.
    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// With what was held against a text.
    pub(super) fn with_failure(mut self, failure: Failure) -> Self {
        self.0.failure = Some(failure);
        self
    }

    /// With the record of the ask.
    pub(super) fn with_answer(mut self, answer: Answer) -> Self {
        self.0.answer = Some(answer);
        self
    }

    /// A field that is not what it should be.
    pub(super) fn of_field(field: &'static str, detail: impl ToString) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-field", detail).field(field)
    }

    /// With what is there now.
    pub(super) fn beside(mut self, now: Option<Value>) -> Self {
        self.0.now = now;
        self
    }

    fn field(mut self, field: &'static str) -> Self {
        self.0.field = Some(field);
        self
    }

    /// Refused to somebody who is known, for the log.
    pub(super) fn about(mut self, who: Option<String>) -> Self {
        self.0.about = who;
        self
    }

    /// Its code.
    pub(super) const fn code(&self) -> &'static str {
        self.0.code
    }

    pub(super) fn again_in(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// The problem that a failed ask is.
    pub fn of_failed(fault: Option<&Fault>, answer: Answer) -> Self {
        let detail = answer.reason.clone().unwrap_or_default();
        Self::of_fault(fault, detail).with_answer(answer)
    }

    pub(super) fn of_fault(fault: Option<&Fault>, detail: String) -> Self {
        match fault {
            Some(fault) if fault.is_timeout() => Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout", detail),
            Some(Fault::Model(_)) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "model-unavailable", detail).again_in(10)
            }
            Some(fault) if fault.is_refusal() => {
                Self::new(StatusCode::BAD_GATEWAY, "database-refused", detail)
            }
            Some(Fault::Database(_)) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "database-unavailable", detail).again_in(5)
            }
            Some(fault) if fault.is_unavailable() => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail).again_in(10)
            }
            _ => Self::new(StatusCode::BAD_GATEWAY, "component-failed", detail),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        let about = self.0.about.take();
        let (status, code, retry_after) = (self.status(), self.0.code, self.0.retry_after);
        let mut response = (status, Json(self)).into_response();
        response.extensions_mut().insert(ProblemCode(code));
        about.map(|who| response.extensions_mut().insert(About(who)));
        if status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"airlock\""));
        }
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<FieldError> for Problem {
    fn from(error: FieldError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-field", &error).field(error.field)
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Scope(_) => Self::new(StatusCode::FORBIDDEN, "missing-scope", denied),
            Denied::Domain(_) => Self::new(StatusCode::NOT_FOUND, "unknown-domain", denied).field("domain"),
        }
    }
}

impl From<ContextError> for Problem {
    fn from(error: ContextError) -> Self {
        match error {
            ContextError::Ask(error) => error.into(),
            ContextError::Fault(fault) => Self::of_fault(Some(&fault), fault.to_string()),
            other => Self::of_fault(None, other.to_string()),
        }
    }
}

impl From<AskError> for Problem {
    fn from(error: AskError) -> Self {
        match &error {
            AskError::UnknownDomain(..) => {
                Self::new(StatusCode::NOT_FOUND, "unknown-domain", &error).field("domain")
            }
            AskError::NoneOfYours => {
                Self::new(StatusCode::NOT_FOUND, "unknown-domain", &error).field("domain")
            }
            AskError::WhichDomain(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "which-domain", &error).field("domain")
            }
            AskError::Now(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-field", &error).field("now"),
            AskError::UnknownAsk(_) => {
                Self::new(StatusCode::NOT_FOUND, "unknown-ask", &error).field("follow_up_of")
            }
            AskError::Busy(_) => Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", &error).again_in(1),
            _ => Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", &error),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NotFound { .. } => Self::new(StatusCode::NOT_FOUND, "unknown-item", &error),
            StoreError::Content(content) => Self::of_field(content.field(), &error),
            StoreError::Changed { .. } => Self::new(StatusCode::CONFLICT, "changed", &error),
            StoreError::Decided { .. } => Self::new(StatusCode::CONFLICT, "already-decided", &error),
            StoreError::PassRunning => Self::new(StatusCode::CONFLICT, "pass-running", &error),
            _ => {
                // What a role of the store may not do is the operator's to read.
                tracing::warn!(%error, "the knowledge store did not do what was asked of it");
                let detail =
                    "The knowledge store does not answer: nothing was changed, try again in a moment.";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "store-unavailable", detail).again_in(5)
            }
        }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed-query", rejection.body_text())
    }
}

/// No such path.
pub async fn not_found() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "not-found",
        "There is nothing at this path; the API is under /api, the page at /.",
    )
}

/// The path is there, the method is not.
pub async fn method_not_allowed() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "This path does not take that method.")
}

/// A bug of ours: the log has it, the asker gets a sentence.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    Problem::internal().into_response()
}
