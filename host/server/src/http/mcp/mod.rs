//! `/mcp`: the Model Context Protocol over streamable HTTP, behind the same door as the API.
//!
//! A client of 2026-07-28 has no session: each request stands for itself. One of an earlier version opens a session,
//! which belongs to the caller that opened it. Either way who calls is who the door let in with that very request, and a
//! call ends when its answer can reach nobody any more. There is no stream beside those of calls, so `GET` is refused.

mod sessions;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use airlock_pipeline::Host;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use self::sessions::Sessions;
use super::body;
use super::guard::{Door, Shown};
use super::problem::{self, Problem};
use crate::access::Caller;
use crate::mcp::{self, Agents, Ending, Frame};
use crate::service::Service;

/// Where it is.
pub const PATH: &str = "/mcp";
/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// Silence of an answer after which a sign of life is sent; a client that has gone is noticed by it.
const SIGN: Duration = Duration::from_secs(10);
/// Bytes of a refusal in the words of the SDK.
const WORDS: usize = 16 * 1024;

/// Agents over HTTP. Cheap to clone.
#[derive(Clone)]
pub struct Mcp {
    agents: Agents,
    sessions: Arc<Sessions>,
    service: StreamableHttpService<Agents, Sessions>,
    over: CancellationToken,
}

impl Mcp {
    /// Over the host and the store of a service.
    pub fn new(service: &Service) -> Self {
        let host: Arc<Host> = Arc::clone(&service.host);
        let agents = Agents::new(host, service.store.clone(), mcp::Door::Http);
        let over = CancellationToken::new();
        let sessions = Arc::new(Sessions::new(over.clone()));
        // Who may come in, by which name and from which page, the door has decided: it knows more names than loopback's.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_sse_keep_alive(Some(SIGN))
            .with_sse_retry(None)
            .with_max_request_body_bytes(super::BODY_LIMIT)
            .with_cancellation_token(over.clone());
        let service = StreamableHttpService::new(
            {
                let agents = agents.clone();
                move || Ok(agents.clone())
            },
            Arc::clone(&sessions),
            config,
        );
        Self { agents, sessions, service, over }
    }

    /// Ends what is idle, and what was opened by a key that is in force no more. Never done.
    pub async fn keep(&self, door: &Door) -> Infallible {
        self.sessions.keep(door).await
    }

    /// Ends every session and every call that is still under way, and waits for their statements.
    pub async fn end(&self) {
        self.over.cancel();
        self.agents.settle().await;
    }

    async fn answer(
        &self,
        caller: Caller,
        shown: Option<Shown>,
        request: Request,
    ) -> Result<Response, Problem> {
        let owner = caller.asker.owner.clone();
        let visit = match named(request.headers())? {
            Some(id) => Some(self.sessions.visit(&id, &owner)?),
            None => None,
        };
        if request.method() == Method::DELETE {
            let mut response = self.pass_on(request, None).await;
            // Nothing is said of it, and clients look for that.
            if response.status() == StatusCode::ACCEPTED {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            return Ok(response);
        }
        if !body::is_json(request.headers()) {
            return Err(body::not_json());
        }
        let (mut parts, body) = request.into_parts();
        let bytes = body::whole(&parts, body).await?;
        let frame = Frame::read(&bytes);
        let (frame, entered) = match &visit {
            Some(visit) => visit.under_way().enter(frame),
            None => (frame, None),
        };
        let place = if visit.is_none() && frame.is_initialize() {
            Some(self.sessions.admit(owner, shown.map(|Shown(credential)| credential)).await?)
        } else {
            None
        };
        match frame {
            Frame::Message(_) => {}
            Frame::Ignored => return Ok(StatusCode::ACCEPTED.into_response()),
            Frame::Wrong(error) => return Ok(wrong(&error)),
        }
        let ending = match &visit {
            Some(visit) => visit.ended().child_token(),
            None => self.over.child_token(),
        };
        parts.extensions.insert(Ending(ending.clone()));
        // Whoever answers it keeps it under way, and so does whoever takes the answer.
        entered.clone().map(|entered| parts.extensions.insert(entered));
        // Until the answer was taken whole, or can be taken no more.
        let until_taken = (ending.drop_guard(), visit, entered);
        let response = self.pass_on(Request::from_parts(parts, Body::from(bytes)), place).await;
        Ok(response.map(|body| {
            let pieces = body.into_data_stream().map(move |piece| {
                let _ = &until_taken;
                piece
            });
            Body::from_stream(pieces)
        }))
    }

    /// Gives a request to the SDK; what it refuses in words of its own is put into the form of everything else here.
    async fn pass_on(&self, request: Request, place: Option<sessions::Place>) -> Response {
        let response = sessions::with_place(place, self.service.handle(request)).await.map(Body::new);
        let status = response.status();
        let json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        if !(status.is_client_error() || status.is_server_error()) || json {
            return response;
        }
        let allow = response.headers().get(ALLOW).cloned();
        let words = to_bytes(response.into_body(), WORDS).await.unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        match status {
            StatusCode::BAD_REQUEST => {
                wrong(&JsonRpcError::new(None, ErrorData::invalid_request(words, None)))
            }
            StatusCode::NOT_ACCEPTABLE => Problem::new(status, "not-acceptable", words).into_response(),
            StatusCode::METHOD_NOT_ALLOWED => {
                let mut response = problem::method_not_allowed().await.into_response();
                allow.map(|methods| response.headers_mut().insert(ALLOW, methods));
                response
            }
            StatusCode::NOT_FOUND => sessions::unknown().into_response(),
            _ => {
                tracing::error!(%status, words, "a request of an agent failed");
                Problem::internal().into_response()
            }
        }
    }
}

/// The session that a request names.
fn named(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut given = headers.get_all(SESSION).iter().map(HeaderValue::to_str);
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(Ok(id)), None) => Ok(Some(id.to_owned())),
        _ => Err(sessions::unknown()),
    }
}

/// A message that was none of the protocol, or a call that is not what it must be.
fn wrong(error: &JsonRpcError) -> Response {
    // Such a call is answered like any other: it has an id, and its client waits for that.
    let status =
        if error.error.code == ErrorCode::INVALID_PARAMS { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    (status, axum::Json(error)).into_response()
}

/// One request of an agent.
pub(super) async fn answer(
    State(mcp): State<Mcp>,
    caller: Caller,
    shown: Option<Extension<Shown>>,
    request: Request,
) -> Response {
    let answered = mcp.answer(caller, shown.map(|Extension(shown)| shown), request).await;
    answered.unwrap_or_else(IntoResponse::into_response)
}
