//! What every request has: an id, under which its log lines and its problems are found, and an end to its time.

use std::fmt;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;

use super::problem::Problem;

/// Carries the id, in and out.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of an id that a client gives.
const LENGTH: usize = 128;

/// Paths whose work has an end of its own: golden cases are replayed before a swap, and sessions of agents stay open.
const LONG: [&str; 2] = ["/api/plugins/", super::mcp::PATH];

tokio::task_local! {
    static CURRENT: RequestId;
}

/// The name of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestId(String);

impl RequestId {
    /// The id that a client gave, if there is one and it is plain, else a new one.
    fn of(headers: &HeaderMap) -> Self {
        let mut given = headers.get_all(HEADER).iter();
        let plain = |value: &HeaderValue| {
            let text = value.to_str().ok()?;
            let fits = (1..=LENGTH).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
            fits.then(|| Self(text.to_owned()))
        };
        match (given.next().and_then(plain), given.next()) {
            (Some(id), None) => id,
            _ => Self::new(),
        }
    }

    fn new() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The request that is being worked on. Work that belongs to none gets an id of its own.
pub(super) fn current() -> RequestId {
    CURRENT.try_with(Clone::clone).unwrap_or_else(|_| RequestId::new())
}

/// Work that goes on beside the response and belongs to the same request.
pub(super) fn in_same_request<W: Future>(work: W) -> impl Future<Output = W::Output> {
    CURRENT.scope(current(), work).in_current_span()
}

/// Time for a whole request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience(pub(super) Duration);

/// Gives a request its id, its place in the log and its time.
pub(super) async fn identify(State(patience): State<Patience>, request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    let span = tracing::info_span!("request", request_id = %id, method = %request.method(), path = request.uri().path());
    let long = LONG.iter().any(|path| request.uri().path().starts_with(path));
    let answered = async {
        let work = next.run(request);
        if long {
            return work.await;
        }
        tokio::time::timeout(patience.0, work).await.unwrap_or_else(|_| {
            tracing::warn!("a request took too long and was ended");
            Problem::new(
                StatusCode::GATEWAY_TIMEOUT,
                "request-timeout",
                format!(
                    "The request was not answered within {} seconds and was ended.",
                    patience.0.as_secs()
                ),
            )
            .into_response()
        })
    };
    let mut response = CURRENT.scope(id.clone(), answered).instrument(span).await;
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_id_is_kept_and_any_other_replaced() {
        let long = "a".repeat(129);
        for (given, kept) in [
            (&["abc-1_2.3"][..], true),
            (&[&long[1..]], true),
            (&[long.as_str()], false),
            (&[""], false),
            (&["a b"], false),
            (&["a\"b"], false),
            (&["a", "b"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(HEADER, value.parse().unwrap());
            }
            let id = RequestId::of(&headers);
            assert_eq!(given.first().is_some_and(|first| id.0 == *first), kept, "{given:?}");
            assert!(!id.0.is_empty());
        }
    }
}
