//! `POST` and `DELETE /api/session` and `GET /api/me`: a person's key becomes a cookie that no script reads, for a while.

use std::time::Duration;

use airlock_knowledge::store::SessionRow;
use axum::Json;
use axum::extract::{Extension, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body::Body;
use super::cookie::{self, Held};
use super::guard::{Door, OpenSession};
use super::listen::Peer;
use super::problem::Problem;
use crate::access::{Caller, Credential, Token};

/// How long a session lasts, unless its key ends before.
const LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// What opens a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// A key that `airlock key create` made.
    key: String,
}

/// An open session.
#[derive(Serialize, ToSchema)]
pub struct SignedIn {
    /// What each change must carry in the header `x-csrf-token`.
    csrf: String,
    /// When the session ends.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// Who asks.
#[derive(Serialize, ToSchema)]
pub struct Me {
    /// The name of the key, or `local`.
    name: String,
    /// What is allowed.
    scopes: Vec<&'static str>,
    /// Where; everywhere when empty.
    #[schema(value_type = Vec<String>)]
    domains: Vec<airlock_types::DomainName>,
    /// What each change of this session must carry in the header `x-csrf-token`; absent where there is no session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    csrf: Option<String>,
}

/// Opens a session with a key.
///
/// # Errors
/// When the key is not in force, or the store does not answer.
#[utoipa::path(
    post,
    path = "/api/session",
    tag = "access",
    request_body = SignIn,
    responses((status = 200, description = "The session; the cookie goes with it.", body = SignedIn)),
)]
pub async fn open(
    State(door): State<Door>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Body(SignIn { key }): Body<SignIn>,
) -> Result<([(axum::http::HeaderName, HeaderValue); 1], Json<SignedIn>), Problem> {
    let Some(ops) = door.ring().kept() else { return Err(no_keys()) };
    let from = door.address(peer.map(|Extension(peer)| peer), &headers);
    let key = Token::key(key.trim()).ok_or_else(|| {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "bad-key",
            "This is no key: one looks like airlock_ and 64 digits.",
        )
    })?;
    let holder = door.holder(&Credential::Key(key), from).await?;
    let token = Token::new_session().map_err(|error| away(&error))?;
    let now = Timestamp::now();
    let end = now.checked_add(LIFE).unwrap_or(Timestamp::MAX);
    let expires_at = holder.expires_at().map_or(end, |key| key.min(end));
    let csrf = token.csrf();
    let row = SessionRow { hash: token.hash(), key: holder.key, csrf_hash: csrf.hash(), expires_at };
    ops.open_session(&row).await.map_err(|error| away(&error))?;
    end_held(&door, &headers).await;
    let seconds = u64::try_from(expires_at.duration_since(now).as_secs()).unwrap_or_default();
    let given = cookie::given(&token, seconds, door.is_secure()).ok_or_else(Problem::internal)?;
    tracing::info!(who = %holder.name, key = %holder.key, "a session was opened");
    Ok(([(SET_COOKIE, given)], Json(SignedIn { csrf: csrf.reveal().to_owned(), expires_at })))
}

/// Ends the session of this page. Without one there is nothing to end, and that is as well.
///
/// # Errors
/// When the store does not answer.
#[utoipa::path(
    delete,
    path = "/api/session",
    tag = "access",
    responses((status = 204, description = "There is no session any more.")),
)]
pub async fn close(
    State(door): State<Door>,
    session: Option<Extension<OpenSession>>,
) -> Result<(StatusCode, HeaderMap), Problem> {
    if let (Some(Extension(OpenSession(token))), Some(ops)) = (session, door.ring().kept()) {
        ops.end_session(token.hash()).await.map_err(|error| away(&error))?;
        door.ring().forget(&Credential::Session(token));
    }
    let mut headers = HeaderMap::new();
    if let Some(taken) = cookie::taken(door.is_secure()) {
        headers.insert(SET_COOKIE, taken);
    }
    Ok((StatusCode::NO_CONTENT, headers))
}

/// Says who asks, and what they may do.
#[utoipa::path(get, path = "/api/me", tag = "access", responses((status = 200, body = Me)))]
pub async fn me(caller: Caller, session: Option<Extension<OpenSession>>) -> Json<Me> {
    let csrf = session.map(|Extension(OpenSession(token))| token.csrf().reveal().to_owned());
    Json(Me {
        name: caller.name.clone(),
        scopes: caller.scopes().map(crate::access::Scope::as_str).collect(),
        domains: caller.domains().cloned().collect(),
        csrf,
    })
}

/// Ends the session that a browser had before it signed in again. One that cannot be ended now ends by itself.
async fn end_held(door: &Door, headers: &HeaderMap) {
    if let (Held::Session(token), Some(ops)) = (cookie::held(headers, door.is_secure()), door.ring().kept()) {
        if let Err(error) = ops.end_session(token.hash()).await {
            tracing::info!(%error, "an earlier session was not ended");
        }
        door.ring().forget(&Credential::Session(token));
    }
}

fn no_keys() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "no-keys",
        "This server has no knowledge store, and so no keys: configure [store].",
    )
}

fn away(error: &dyn std::error::Error) -> Problem {
    tracing::warn!(%error, "a session could not be opened or ended");
    let detail = "The store that keeps sessions does not answer: try again in a moment.";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "keys-unavailable", detail).again_in(5)
}
