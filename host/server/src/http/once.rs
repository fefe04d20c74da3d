//! Idempotency keys: a request that is sent twice with the same key is worked on once.
//!
//! The same key of the same caller on the same path with the same body gives the same response for a day, as long as
//! memory for it lasts; a host that restarts forgets. What may turn out otherwise by itself is not kept: an error of the
//! server, a refusal at the door, a conflict. Streams cannot be given again and take no key.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use airlock_types::ContentHash;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use utoipa::IntoParams;

use super::body;
use super::problem::Problem;
use crate::access::Caller;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Tells that a response is one that was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Characters of a key.
const LENGTH: usize = 255;
/// How long a response is kept.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// Responses kept at once.
const COUNT: usize = 4_096;
/// Bytes of all their bodies.
const BYTES: usize = 32 * 1024 * 1024;
/// Bytes of one.
const LARGEST: usize = 4 * 1024 * 1024;
/// Where keys and sessions are handled: what opens something is never kept.
const NEVER: [&str; 2] = ["/api/session", super::mcp::PATH];

/// For the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "the middleware reads the header; this says so in the document")]
pub struct Key {
    /// The same key with the same body is worked on once within a day; a stream takes none.
    #[param(rename = "idempotency-key", min_length = 1, max_length = 255, pattern = "^[!-~]{1,255}$")]
    key: Option<String>,
}

/// The responses that were given to requests with a key. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Once(Arc<Mutex<Given>>);

#[derive(Default)]
struct Given {
    entries: HashMap<ContentHash, Entry>,
    /// Those that are done, the oldest first.
    order: VecDeque<ContentHash>,
    bytes: usize,
}

struct Entry {
    request: ContentHash,
    /// `None` while it is worked on.
    response: Option<Kept>,
}

struct Kept {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    at: Instant,
}

impl Kept {
    fn response(&self) -> Response {
        let mut response = (self.status, self.body.clone()).into_response();
        *response.headers_mut() = self.headers.clone();
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }
}

impl Given {
    fn forget(&mut self, id: ContentHash) {
        if let Some(Entry { response: Some(kept), .. }) = self.entries.remove(&id) {
            self.bytes = self.bytes.saturating_sub(kept.body.len());
        }
    }

    /// Lets go what is too old, and the oldest while there is too much.
    fn tidy(&mut self, now: Instant) {
        while let Some(oldest) = self.order.front().copied() {
            let kept = self.entries.get(&oldest).and_then(|entry| entry.response.as_ref());
            let old = kept.is_none_or(|kept| now.duration_since(kept.at) >= AGE);
            if !old && self.bytes <= BYTES && self.order.len() <= COUNT {
                break;
            }
            self.order.pop_front();
            self.forget(oldest);
        }
    }
}

/// What became of a key.
enum Begun {
    /// Nobody had it: work.
    First(UnderWay),
    /// It was answered.
    Again(Response),
}

/// A key whose request is worked on. Let go when nothing came of it.
struct UnderWay {
    once: Once,
    id: ContentHash,
    request: ContentHash,
}

impl UnderWay {
    fn done(&self, response: Kept) {
        let mut given = self.once.given();
        given.bytes += response.body.len();
        given.entries.insert(self.id, Entry { request: self.request, response: Some(response) });
        given.order.push_back(self.id);
        given.tidy(Instant::now());
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut given = self.once.given();
        if given.entries.get(&self.id).is_some_and(|entry| entry.response.is_none()) {
            given.entries.remove(&self.id);
        }
    }
}

impl Once {
    fn given(&self) -> MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, id: ContentHash, request: ContentHash) -> Result<Begun, Problem> {
        let mut given = self.given();
        given.tidy(Instant::now());
        match given.entries.get(&id) {
            None => {
                given.entries.insert(id, Entry { request, response: None });
                Ok(Begun::First(UnderWay { once: self.clone(), id, request }))
            }
            Some(entry) if entry.request != request => Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "key-reused",
                "This Idempotency-Key was used with another body or accept header: use a new key for a new request.",
            )),
            Some(Entry { response: None, .. }) => Err(Problem::new(
                StatusCode::CONFLICT,
                "key-under-way",
                "A request with this Idempotency-Key is being worked on: ask again in a moment.",
            )
            .again_in(1)),
            Some(Entry { response: Some(kept), .. }) => Ok(Begun::Again(kept.response())),
        }
    }
}

/// The key of a request, if it has one.
fn key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let plain = value.to_str().ok().filter(|text| {
        (1..=LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    });
    match (plain, values.next()) {
        (Some(key), None) => Ok(Some(key)),
        _ => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "bad-key-header",
            format!("The Idempotency-Key is one header of 1 to {LENGTH} visible ASCII characters."),
        )),
    }
}

fn may_change(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 401 | 403 | 408 | 409 | 413 | 429)
}

/// Works on a request with a key once.
pub(super) async fn once(State(once): State<Once>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || NEVER.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    work_once(&once, request, next).await.unwrap_or_else(IntoResponse::into_response)
}

async fn work_once(once: &Once, request: Request, next: Next) -> Result<Response, Problem> {
    let Some(caller) = request.extensions().get::<Caller>() else { return Ok(next.run(request).await) };
    let Some(key) = key(request.headers())? else { return Ok(next.run(request).await) };
    let accept = request.headers().get_all(ACCEPT).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
    let accept = accept.join(&b","[..]);
    if String::from_utf8_lossy(&accept).to_ascii_lowercase().contains("text/event-stream") {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "key-with-stream",
            "A stream cannot be given twice: leave the Idempotency-Key out, or accept application/json.",
        ));
    }
    let owner = caller.asker.owner.as_deref().unwrap_or_default();
    let id = ContentHash::of(format!("{owner}\n{}\n{key}", request.uri()));
    let (parts, body) = request.into_parts();
    let bytes = body::whole(&parts, body).await?;
    let hash = ContentHash::of([ContentHash::of(&accept).to_string().as_bytes(), &bytes].concat());
    let under_way = match once.begin(id, hash)? {
        Begun::Again(response) => return Ok(response),
        Begun::First(under_way) => under_way,
    };
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    let small = response.body().size_hint().exact().is_some_and(|size| size <= LARGEST as u64);
    if may_change(response.status()) || !small {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, LARGEST).await.map_err(|error| {
        tracing::error!(%error, "a response could not be read");
        Problem::internal()
    })?;
    let mut headers = parts.headers.clone();
    headers.remove(SET_COOKIE);
    under_way.done(Kept { status: parts.status, headers, body: body.clone(), at: Instant::now() });
    Ok(Response::from_parts(parts, Body::from(body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: usize, at: Instant) -> Kept {
        Kept { status: StatusCode::OK, headers: HeaderMap::new(), body: vec![0; bytes].into(), at }
    }

    fn first(once: &Once, id: &str) -> UnderWay {
        match once.begin(ContentHash::of(id), ContentHash::of("body")) {
            Ok(Begun::First(under_way)) => under_way,
            _ => panic!("{id} is not new"),
        }
    }

    #[test]
    fn a_key_is_worked_on_once_and_let_go_when_nothing_came_of_it() {
        let once = Once::default();
        let under_way = first(&once, "a");
        let again = |body: &str| once.begin(ContentHash::of("a"), ContentHash::of(body)).map(|_| ());
        assert_eq!(again("body").unwrap_err().status(), StatusCode::CONFLICT);
        assert_eq!(again("other").unwrap_err().status(), StatusCode::UNPROCESSABLE_ENTITY);
        drop(under_way);
        first(&once, "a").done(kept(1, Instant::now()));
        assert!(again("body").is_ok());
        assert_eq!(again("other").unwrap_err().status(), StatusCode::UNPROCESSABLE_ENTITY);
    }

    #[test]
    fn what_is_kept_is_bounded_in_age_count_and_bytes() {
        let once = Once::default();
        let Some(yesterday) = Instant::now().checked_sub(AGE) else { return };
        first(&once, "old").done(kept(1, yesterday));
        first(&once, "old");
        for n in 0..COUNT + 10 {
            first(&once, &n.to_string()).done(kept(0, Instant::now()));
        }
        assert_eq!(once.given().entries.len(), COUNT);
        for n in 0..20 {
            first(&once, &format!("large {n}")).done(kept(LARGEST, Instant::now()));
            assert!(once.given().bytes <= BYTES);
        }
        let given = once.given();
        assert_eq!(given.entries.len(), given.order.len());
    }

    #[test]
    fn a_key_is_one_plain_word() {
        let long = "a".repeat(LENGTH + 1);
        for (given, want) in [
            (&["b0c5-1"][..], Some(Some("b0c5-1"))),
            (&[], Some(None)),
            (&[""], None),
            (&["a b"], None),
            (&["a", "a"], None),
            (&[long.as_str()], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(HEADER, value.parse().unwrap());
            }
            assert_eq!(key(&headers).ok(), want, "{given:?}");
        }
    }
}
