//! The body of a request: JSON, read once and strictly. What one reader would read otherwise than another is refused.

use airlock_types::Strict;
use axum::body::{Body as RawBody, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// Bytes that are taken of a body that nobody reads.
const DRAINED: usize = 1024 * 1024;

/// The fields of a request's body.
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if request.uri().query().is_some_and(|query| !query.is_empty()) {
            return Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "malformed-query",
                "This path takes no query parameters: what it needs stands in the body.",
            ));
        }
        if !is_json(request.headers()) {
            return Err(not_json());
        }
        let bytes = Bytes::from_request(request, state).await.map_err(unread)?;
        read(&bytes).map(Self)
    }
}

/// Whether the one content type that a request has is JSON, in UTF-8 as it always is.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else { return false };
    let Ok(text) = only.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let charset = |part: &str| {
        part.split_once('=').is_some_and(|(name, value)| {
            !name.trim().eq_ignore_ascii_case("charset")
                || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
    };
    json && parts.all(|part| part.is_empty() || charset(part))
}

/// A body that is not said to be JSON.
pub(super) fn not_json() -> Problem {
    let detail = "Send JSON, with the header content-type: application/json.";
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", detail)
}

/// A request's body as it came, under the limit that every body has: that stands in the other parts.
pub(super) async fn whole(parts: &Parts, body: RawBody) -> Result<Bytes, Problem> {
    Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await.map_err(unread)
}

/// Refuses a body that is said to be larger than one may be before any of it is read.
pub(super) async fn declared(request: Request, next: Next) -> Response {
    let declared =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if declared.is_none_or(|length: u64| length <= super::BODY_LIMIT as u64) {
        return next.run(request).await;
    }
    // A client that waits to be told to send sends nothing; one that sends already reads its answer only when something is
    // taken of what it sent.
    if !request.headers().contains_key(EXPECT) {
        tokio::spawn(drain(request.into_body()));
    }
    Problem::too_large(super::BODY_LIMIT).into_response()
}

async fn drain(body: RawBody) {
    let mut pieces = body.into_data_stream();
    let mut left = DRAINED;
    while let Some(Ok(piece)) = pieces.next().await {
        left = left.saturating_sub(piece.len());
        if left == 0 {
            break;
        }
    }
}

/// A body that did not arrive whole.
fn unread(rejection: BytesRejection) -> Problem {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large(super::BODY_LIMIT),
        _ => Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "body-not-whole",
            "The body did not arrive whole and in time: send it again.",
        ),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let malformed = |detail: String| Problem::new(StatusCode::BAD_REQUEST, "malformed-json", detail);
    let Strict(value) = serde_json::from_slice(bytes)
        .map_err(|error| malformed(format!("The body is not a request in JSON: {error}.")))?;
    if !value.is_object() {
        return Err(malformed("The body is not a JSON object with the fields of a request.".to_owned()));
    }
    serde_json::from_value(value).map_err(|error| malformed(format!("The body is not a request: {error}.")))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_body_that_two_readers_would_read_differently_is_refused() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            #[expect(dead_code, reason = "only that it is read is looked at")]
            a: Option<Value>,
        }
        let deep = format!(r#"{{"a": {}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        for (body, want) in [
            (r#"{"a": 1}"#, true),
            (r#"{"a": [{"b": 1e400}]}"#, false),
            ("{}", true),
            ("", false),
            ("[]", false),
            ("1", false),
            (r#"{"a": 1, "a": 2}"#, false),
            (r#"{"a": {"b": 1, "b": 1}}"#, false),
            (r#"{"a": "\ud800"}"#, false),
            ("{\"a\": \"\u{0}\"}", false),
            (r#"{"a": 1} {"#, false),
            (r#"{"c": 1}"#, false),
            ("{\"a\": 1", false),
            (deep.as_str(), false),
        ] {
            assert_eq!(read::<Fields>(body.as_bytes()).is_ok(), want, "{body:.80}");
        }
        assert!(read::<Fields>(b"{\"a\": \"\xff\"}").is_err());
    }

    #[test]
    fn json_is_said_once_and_in_utf_8() {
        for (types, want) in [
            (&["application/json"][..], true),
            (&["Application/JSON; charset=UTF-8"], true),
            (&["application/json; charset=\"utf-8\""], true),
            (&["application/json; charset=utf-16"], false),
            (&["application/json; nonsense"], false),
            (&["text/plain"], false),
            (&[""], false),
            (&[], false),
            (&["application/json", "text/plain"], false),
        ] {
            let mut headers = HeaderMap::new();
            for kind in types {
                headers.append(CONTENT_TYPE, kind.parse().unwrap());
            }
            assert_eq!(is_json(&headers), want, "{types:?}");
        }
    }
}
