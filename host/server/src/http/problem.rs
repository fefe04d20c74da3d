//! Errors over HTTP: `application/problem+json` (RFC 9457), naming the field and the remedy.

use std::any::Any;

use airlock_pipeline::{AskError, ContextError, Fault};
use airlock_types::{Answer, FieldError};
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::access::Denied;

/// A problem.
#[derive(Debug, Serialize)]
pub struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    code: &'static str,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    /// The record of an ask that failed: its history and all it tried.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    answer: Option<Box<Answer>>,
    #[serde(skip)]
    retry_after: Option<u64>,
}

impl Problem {
    /// A problem with a stable code and a sentence.
    pub fn new(status: StatusCode, code: &'static str, detail: impl ToString) -> Self {
        Self {
            kind: format!("/problems/{code}"),
            title: status.canonical_reason().unwrap_or("Problem"),
            status: status.as_u16(),
            code,
            detail: detail.to_string(),
            field: None,
            answer: None,
            retry_after: None,
        }
    }

    fn field(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    fn again_in(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Fields that are unknown, or of another type than they should be.
    pub fn of_fields(error: serde_json::Error) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed-json", format!("The body is not a request: {error}."))
    }

    /// The problem that a failed ask is.
    pub fn of_failed(fault: Option<&Fault>, answer: Answer) -> Self {
        let detail = answer.reason.clone().unwrap_or_default();
        Self { answer: Some(Box::new(answer)), ..Self::of_fault(fault, detail) }
    }

    fn of_fault(fault: Option<&Fault>, detail: String) -> Self {
        match fault {
            Some(fault) if fault.is_timeout() => Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout", detail),
            Some(Fault::Model(_)) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "model-unavailable", detail).again_in(10)
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
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let mut response = (status, Json(self)).into_response();
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

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let (status, detail) = (rejection.status(), rejection.body_text());
        match status {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Self::new(status, "body-too-large", "The body is larger than 64 KiB.")
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                Self::new(status, "not-json", "Send JSON, with the header content-type: application/json.")
            }
            // What cannot be read as a request at all is a bad request, wherever the reader gave up.
            _ => Self::new(
                StatusCode::BAD_REQUEST,
                "malformed-json",
                format!("The body is not a request in JSON: {detail}."),
            ),
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
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "internal",
        "The server failed on this request; its log says why.",
    )
    .into_response()
}
