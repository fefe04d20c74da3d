//! Sessions of agents: bounded in number and in time, and each for the caller alone that opened it.
//!
//! The SDK keeps the sessions themselves; here stands whose each is and when it was last used. A place is taken before a
//! session is made and goes with it, so that many who come at once are never more than there may be.

use std::cell::Cell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use thiserror::Error;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::access::Credential;
use crate::http::guard::Door;
use crate::http::problem::Problem;
use crate::mcp::UnderWay;

/// Sessions at once.
const ALL: usize = 512;
/// Sessions of one caller at once.
const OF_ONE: usize = 64;
/// How long a session may be silent.
const IDLE: Duration = Duration::from_mins(60);
/// How long the longest silent session of a caller was silent at least when a new one takes its place.
const REPLACED: Duration = Duration::from_mins(1);
/// Between two looks at which sessions are to end.
const LOOK: Duration = Duration::from_secs(2);

/// Whose a session is.
type Owner = Option<String>;

tokio::task_local! {
    /// The place of the session that the request at work may open.
    static PLACE: Cell<Option<Place>>;
}

/// All sessions.
pub(super) struct Sessions {
    kept: LocalSessionManager,
    books: Arc<Mutex<Books>>,
    over: CancellationToken,
}

#[derive(Default)]
struct Books {
    sessions: HashMap<SessionId, Session>,
    /// Places taken, by whom.
    taken: HashMap<Owner, usize>,
}

struct Session {
    place: Place,
    used: Instant,
    /// Requests under way.
    open: usize,
    under_way: UnderWay,
    ended: CancellationToken,
    /// Ends the calls under way when the session goes.
    _end: DropGuard,
}

/// A place for one session. Given back when it is dropped.
pub(super) struct Place {
    books: Weak<Mutex<Books>>,
    owner: Owner,
    /// By what its caller came in.
    credential: Option<Credential>,
}

/// A request in a session, as long as it is under way.
pub(super) struct Visit {
    books: Arc<Mutex<Books>>,
    id: SessionId,
    under_way: UnderWay,
    ended: CancellationToken,
}

/// Why the SDK's session could not do something.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// Nobody took a place for it.
    #[error("a session was opened without a place")]
    NoPlace,
    /// It said so itself.
    #[error(transparent)]
    Kept(#[from] LocalSessionManagerError),
}

/// What a request gets that names a session which is none of its caller's. The protocol wants 404; clients begin anew.
pub(super) fn unknown() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "unknown-session",
        "There is no such MCP session: it has ended, or is another caller's. Begin a new one with `initialize`.",
    )
}

/// Does the work of a request that may open a session in this place.
pub(super) async fn with_place<T>(place: Option<Place>, work: impl Future<Output = T>) -> T {
    PLACE.scope(Cell::new(place), work).await
}

impl Books {
    /// The session of this caller that was silent for the longest time, and for a while.
    fn longest_silent(&self, owner: &Owner, now: Instant) -> Option<SessionId> {
        let silent = self
            .sessions
            .iter()
            .filter(|(_, session)| session.place.owner == *owner && session.is_silent(REPLACED, now));
        silent.min_by_key(|(_, session)| session.used).map(|(id, _)| Arc::clone(id))
    }

    fn of(&self, owner: &Owner) -> usize {
        self.taken.get(owner).copied().unwrap_or_default()
    }

    fn all(&self) -> usize {
        self.taken.values().sum()
    }
}

impl Session {
    fn is_silent(&self, time: Duration, now: Instant) -> bool {
        self.open == 0 && now.duration_since(self.used) >= time
    }
}

fn open(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    /// None yet; all end with `over`.
    pub(super) fn new(over: CancellationToken) -> Self {
        let mut kept = LocalSessionManager::default();
        // When a session has been silent for too long is decided here, where it is known what is under way in it.
        kept.session_config.keep_alive = None;
        kept.session_config.sse_retry = None;
        Self { kept, books: Arc::default(), over }
    }

    /// A place for a new session of this caller.
    ///
    /// # Errors
    /// When there is none, and no session of the caller's own was silent for a while.
    pub(super) async fn admit(&self, owner: Owner, credential: Option<Credential>) -> Result<Place, Problem> {
        let silent = {
            let books = open(&self.books);
            let full = books.of(&owner) >= OF_ONE || books.all() >= ALL;
            if full { books.longest_silent(&owner, Instant::now()) } else { None }
        };
        if let Some(silent) = silent {
            self.end(&silent, "its caller opened another in its place").await;
        }
        let mut books = open(&self.books);
        if books.of(&owner) >= OF_ONE || books.all() >= ALL {
            let detail = format!(
                "Too many MCP sessions are open: there may be {OF_ONE} of one caller and {ALL} in all. End one (`DELETE`), or \
                 try again in a minute."
            );
            return Err(
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-sessions", detail).again_in(60)
            );
        }
        *books.taken.entry(owner.clone()).or_default() += 1;
        Ok(Place { books: Arc::downgrade(&self.books), owner, credential })
    }

    /// Enters a session, which must be the caller's own.
    ///
    /// # Errors
    /// When there is no such one.
    pub(super) fn visit(&self, id: &str, owner: &Owner) -> Result<Visit, Problem> {
        let mut books = open(&self.books);
        let theirs = books.sessions.get_key_value(id).filter(|(_, session)| session.place.owner == *owner);
        let id = theirs.map(|(id, _)| Arc::clone(id)).ok_or_else(unknown)?;
        let session = books.sessions.get_mut(&id).ok_or_else(unknown)?;
        session.used = Instant::now();
        session.open += 1;
        let (under_way, ended) = (session.under_way.clone(), session.ended.clone());
        Ok(Visit { books: Arc::clone(&self.books), id, under_way, ended })
    }

    /// Ends what was silent for too long, and what was opened by a key that is in force no more.
    pub(super) async fn keep(&self, door: &Door) -> Infallible {
        loop {
            tokio::time::sleep(LOOK).await;
            for id in self.silent(Instant::now()) {
                self.end(&id, "it was silent for too long").await;
            }
            for (credential, ids) in self.by_credential() {
                if door.is_in_force(&credential).await {
                    continue;
                }
                for id in ids {
                    self.end(&id, "its key is in force no more").await;
                }
            }
        }
    }

    fn silent(&self, now: Instant) -> Vec<SessionId> {
        let books = open(&self.books);
        let silent = books.sessions.iter().filter(|(_, session)| session.is_silent(IDLE, now));
        silent.map(|(id, _)| Arc::clone(id)).collect()
    }

    fn by_credential(&self) -> Vec<(Credential, Vec<SessionId>)> {
        let mut found: Vec<(Credential, Vec<SessionId>)> = Vec::new();
        for (id, session) in &open(&self.books).sessions {
            let Some(credential) = &session.place.credential else { continue };
            match found.iter_mut().find(|(other, _)| other == credential) {
                Some((_, ids)) => ids.push(Arc::clone(id)),
                None => found.push((credential.clone(), vec![Arc::clone(id)])),
            }
        }
        found
    }

    async fn end(&self, id: &SessionId, why: &str) {
        tracing::info!(why, "an MCP session was ended");
        if let Err(error) = self.close_session(id).await {
            tracing::warn!(%error, "an MCP session did not end in order");
        }
    }

    fn begin(&self, id: &SessionId, place: Place) {
        let ended = self.over.child_token();
        let session = Session {
            place,
            used: Instant::now(),
            open: 0,
            under_way: UnderWay::default(),
            _end: ended.clone().drop_guard(),
            ended,
        };
        // What it replaces, if anything, is dropped when the books are closed.
        let replaced = open(&self.books).sessions.insert(Arc::clone(id), session);
        drop(replaced);
    }

    /// Takes a session out of the books. It is dropped by the caller of this, when they are closed: its place locks them.
    fn strike(&self, id: &str) -> Option<Session> {
        open(&self.books).sessions.remove(id)
    }
}

impl Visit {
    /// The requests of the session that are under way.
    pub(super) const fn under_way(&self) -> &UnderWay {
        &self.under_way
    }

    /// Cancelled when the session ends.
    pub(super) const fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(session) = open(&self.books).sessions.get_mut(&self.id) {
            session.used = Instant::now();
            session.open = session.open.saturating_sub(1);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(books) = self.books.upgrade() else { return };
        let mut books = open(&books);
        if let Some(taken) = books.taken.get_mut(&self.owner) {
            *taken = taken.saturating_sub(1);
            if *taken == 0 {
                books.taken.remove(&self.owner);
            }
        }
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let place = PLACE.try_with(Cell::take).ok().flatten().ok_or(Error::NoPlace)?;
        let (id, transport) = self.kept.create_session().await?;
        self.begin(&id, place);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        Ok(self.kept.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        Ok(self.kept.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        drop(self.strike(id));
        Ok(self.kept.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        // Without an id of its events nobody tries to take up a stream again: the call ends with its stream.
        let events = self.kept.create_stream(id, message).await?;
        Ok(events.map(|event| {
            let mut event = event;
            event.event_id = None;
            event
        }))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Error> {
        Ok(self.kept.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        Ok(self.kept.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        Ok(self.kept.resume(id, last_event_id).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions() -> Sessions {
        Sessions::new(CancellationToken::new())
    }

    async fn opened(sessions: &Sessions, owner: &Owner, id: &str) -> bool {
        match sessions.admit(owner.clone(), None).await {
            Ok(place) => {
                sessions.begin(&id.into(), place);
                true
            }
            Err(_) => false,
        }
    }

    #[tokio::test]
    async fn a_session_is_its_callers_own_and_its_calls_end_with_it() {
        let sessions = sessions();
        let (ours, theirs) = (Some("a".to_owned()), Some("b".to_owned()));
        assert!(opened(&sessions, &ours, "1").await);
        let visit = sessions.visit("1", &ours).unwrap();
        assert!(sessions.visit("1", &theirs).is_err());
        assert!(sessions.visit("1", &None).is_err());
        assert!(sessions.visit("2", &ours).is_err());
        assert!(!visit.ended().is_cancelled());
        sessions.end(&"1".into(), "a test").await;
        assert!(visit.ended().is_cancelled());
        assert!(sessions.visit("1", &ours).is_err());
        drop(visit);
        assert_eq!(open(&sessions.books).all(), 0);
    }

    #[tokio::test]
    async fn nobody_takes_all_places_and_a_place_is_taken_before_there_is_a_session() {
        let sessions = sessions();
        let owner = Some("a".to_owned());
        let mut places = Vec::new();
        for _ in 0..OF_ONE {
            places.push(sessions.admit(owner.clone(), None).await.ok().unwrap());
        }
        assert!(sessions.admit(owner.clone(), None).await.is_err());
        assert!(opened(&sessions, &Some("b".to_owned()), "b").await);
        places.pop();
        assert!(opened(&sessions, &owner, "a").await);
        for n in 0..ALL {
            let _ = opened(&sessions, &Some(format!("c{}", n / 2)), &format!("c{n}")).await;
        }
        assert_eq!(open(&sessions.books).all(), ALL);
        drop(places);
        assert!(opened(&sessions, &owner, "a2").await);
    }

    #[tokio::test]
    async fn what_was_silent_for_long_makes_room_and_what_works_does_not() {
        let sessions = sessions();
        let owner = Some("a".to_owned());
        for n in 0..OF_ONE {
            assert!(opened(&sessions, &owner, &n.to_string()).await);
        }
        assert!(!opened(&sessions, &owner, "new").await, "none was silent for long");
        let working = sessions.visit("0", &owner).unwrap();
        let long_ago = Instant::now().checked_sub(REPLACED).unwrap();
        for id in ["0", "1"] {
            open(&sessions.books).sessions.get_mut(id).unwrap().used = long_ago;
        }
        assert!(opened(&sessions, &owner, "new").await);
        assert!(sessions.visit("1", &owner).is_err());
        assert!(sessions.visit("0", &owner).is_ok());
        drop(working);
        assert_eq!(sessions.silent(Instant::now()).len(), 0);
        assert_eq!(sessions.silent(Instant::now() + IDLE).len(), OF_ONE);
    }
}
