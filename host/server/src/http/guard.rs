//! The door: every request becomes a caller here, or is turned away with the reason, and each refusal is logged once.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use airlock_knowledge::store::Ops;
use airlock_pipeline::Surface;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::cookie::{self, Held};
use super::listen::Peer;
use super::names::{Names, is_of_page};
use super::pace::Paces;
use super::problem::{About, Problem, ProblemCode};
use super::request;
use crate::access::{Away, Caller, Credential, Holder, NOBODY, Refusals, Ring, Token, Visit};
use crate::config::server::AccessSettings;

/// The header that carries what a session's forms must carry.
pub const CSRF: &str = "x-csrf-token";
/// How the headers begin by which a proxy says that it brings somebody else's request. A name as a whole is its own
/// beginning.
const PROXIED: [&str; 24] = [
    "cdn-loop",
    "cf-connecting-ip",
    "cf-ray",
    "client-ip",
    "fastly-client-ip",
    "fly-client-ip",
    "forwarded",
    "remote-user",
    "tailscale-",
    "true-client-ip",
    "via",
    "x-amz",
    "x-appengine-",
    "x-azure-",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-envoy-",
    "x-forwarded",
    "x-original-forwarded-for",
    "x-original-host",
    "x-originating-ip",
    "x-proxyuser-ip",
    "x-real-ip",
    "x-remote-",
];
/// Characters of a path in the log.
const PATH: usize = 200;

/// Refusals beside those that are one by their status.
const REFUSALS: [&str; 6] =
    [HEADER_TWICE, "too-many-sessions", "unknown-ask", "unknown-domain", "unknown-item", "unknown-session"];
const HEADER_TWICE: &str = "header-twice";
const SESSION_ENDED: &str = "session-ended";

/// What is served to anybody: it says nothing of any domain.
const OPEN: [&str; 7] = ["/", "/livez", "/readyz", "/docs", "/problems", "/api/openapi.json", "/favicon.ico"];
const OPEN_BELOW: [&str; 3] = ["/page/", "/docs/", "/problems/"];
/// Where a key becomes a session; who comes there is nobody yet.
pub const SESSION: &str = "/api/session";

/// The door of one listener. Cheap to clone.
#[derive(Clone)]
pub struct Door(Arc<Frame>);

struct Frame {
    names: Names,
    ring: Ring,
    paces: Paces,
    refusals: Refusals,
    /// Whether somebody without a key is let in, as somebody on this machine.
    keyless: bool,
    /// Whether every request must name this server: nobody on loopback needs a key, so a page must not come in by another
    /// name.
    own_name_only: bool,
    /// Whether answers reach the browser by TLS.
    secure: bool,
    /// Whether a proxy in front says who asks.
    behind_proxy: bool,
}

/// The session by which a page came in.
#[derive(Clone)]
pub struct OpenSession(pub Token);

/// By what a caller came in, for what outlasts the request.
#[derive(Clone)]
pub struct Shown(pub Credential);

/// Somebody who was let in.
struct Entry {
    caller: Option<Caller>,
    /// Who it is, for the log.
    who: String,
    session: Option<Token>,
    shown: Option<Credential>,
    /// What is to be said of the browser's cookie, where it opens nothing any more.
    stale: Option<Problem>,
}

impl Entry {
    fn nobody() -> Self {
        Self { caller: None, who: NOBODY.to_owned(), session: None, shown: None, stale: None }
    }
}

impl Door {
    /// The door of a listener at this address, over the keys of the store.
    pub fn new(address: SocketAddr, settings: &AccessSettings, ops: Option<Ops>) -> Self {
        Self(Arc::new(Frame {
            names: Names::of(address, &settings.names),
            ring: Ring::new(ops),
            paces: Paces::new(settings.limits),
            refusals: Refusals::default(),
            keyless: settings.keyless(address),
            own_name_only: AccessSettings::own_name_only(address),
            secure: settings.tls.is_some() || settings.behind_tls_proxy,
            behind_proxy: settings.behind_tls_proxy,
        }))
    }

    /// The keys and sessions.
    pub fn ring(&self) -> &Ring {
        &self.0.ring
    }

    /// Whether answers reach the browser by TLS.
    pub fn is_secure(&self) -> bool {
        self.0.secure
    }

    /// Whether a request that a browser may send by itself is one of this server's own pages.
    fn is_own(&self, request: &Parts) -> bool {
        self.0.names.allow(&request.uri, &request.headers)
    }

    /// Where a request comes from: what the proxy in front says, or else the other end of the connection.
    pub fn address(&self, peer: Option<Peer>, headers: &HeaderMap) -> Option<IpAddr> {
        let said = headers.get_all("x-forwarded-for").iter().next_back().filter(|_| self.0.behind_proxy);
        // The last one was written by the proxy itself, the ones before by whoever asks.
        let last = said.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
        last.or_else(|| peer.map(|Peer(address)| address.ip()))
    }

    /// Whom a credential stands for. One that was never seen to be good counts against the address it comes from.
    ///
    /// # Errors
    /// When it stands for nobody, nobody can say, or the address tried too many.
    pub async fn holder(
        &self,
        credential: &Credential,
        from: Option<IpAddr>,
    ) -> Result<Arc<Holder>, Problem> {
        let ring = self.ring();
        if let Some(from) = from.filter(|_| !ring.knows(credential)) {
            self.0.paces.stranger(from).map_err(|wait| {
                too_many("too many keys of this address are not known here: wait before the next", wait)
            })?;
        }
        let before = ring.seen(credential);
        match ring.holder(credential).await {
            Ok(Some(holder)) => Ok(holder),
            Ok(None) => {
                // The store forgets a session together with its key; this host may remember whose it was.
                let remembered = || before.map(|holder| format!("{}, ended", named(&holder)));
                let formerly = ring.formerly(credential).await.or_else(remembered);
                Err(refused(credential).about(formerly))
            }
            Err(Away) => Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "keys-unavailable",
                "The store that knows the keys does not answer: try again in a moment.",
            )
            .again_in(5)),
        }
    }

    /// Whether whoever came in by this credential would be let in now. While nobody can say, who is in stays.
    pub async fn is_in_force(&self, credential: &Credential) -> bool {
        !matches!(self.ring().holder(credential).await, Ok(None))
    }

    async fn admit(&self, request: &Parts) -> Result<Entry, Problem> {
        let (headers, path) = (&request.headers, request.uri.path());
        for name in [HOST, ORIGIN] {
            if headers.get_all(&name).iter().nth(1).is_some() {
                return Err(twice(&name).about(self.seen(headers)));
            }
        }
        if self.0.own_name_only && !self.is_own(request) {
            return Err(foreign().about(self.seen(headers)));
        }
        if OPEN.contains(&path) || OPEN_BELOW.iter().any(|below| path.starts_with(below)) {
            return Ok(Entry::nobody());
        }
        let from = self.address(request.extensions.get::<Peer>().copied(), headers);
        let entry = match bearer(headers)? {
            Some(key) => {
                let key = Credential::Key(key);
                let holder = self.holder(&key, from).await?;
                let caller = Some(holder.caller());
                Entry { caller, who: named(&holder), shown: Some(key), ..Entry::nobody() }
            }
            None => self.admit_page(request, from).await?,
        };
        if let Some(caller) = &entry.caller {
            let who = caller.asker.owner.as_deref().unwrap_or("local");
            self.0.paces.caller(who).map_err(|wait| {
                too_many("this caller asks too often", wait).about(Some(entry.who.clone()))
            })?;
        } else if path != SESSION {
            return Err(entry.stale.unwrap_or_else(key_needed));
        }
        Ok(entry)
    }

    /// Who was seen with the credential of a request not long ago, for the log of a request that is refused unheard.
    fn seen(&self, headers: &HeaderMap) -> Option<String> {
        let credential = match (bearer(headers), cookie::held(headers, self.0.secure)) {
            (Ok(Some(key)), _) => Credential::Key(key),
            (_, Held::Session(token)) => Credential::Session(token),
            _ => return None,
        };
        self.ring().seen(&credential).map(|holder| named(&holder))
    }

    /// A request without a key: by a session, or by nobody.
    async fn admit_page(&self, request: &Parts, from: Option<IpAddr>) -> Result<Entry, Problem> {
        let headers = &request.headers;
        let stale = match cookie::held(headers, self.0.secure) {
            Held::Session(token) => match self.holder(&Credential::Session(token.clone()), from).await {
                Ok(holder) => return self.admit_session(request, &holder, token),
                Err(problem) if problem.status() != StatusCode::UNAUTHORIZED => return Err(problem),
                // It says, for the log, whose session it was.
                Err(ended) => Some(ended),
            },
            Held::Nonsense => Some(session_ended()),
            Held::Nothing => None,
        };
        if request.uri.path() == SESSION && !self.is_own(request) {
            return Err(foreign());
        }
        // Whoever believes to be signed in must not become somebody else without a word, even where nobody needs a key.
        if stale.is_some() || !self.0.keyless || is_proxied(headers) {
            return Ok(Entry { stale, ..Entry::nobody() });
        }
        let surface = if is_of_page(headers) { Surface::Page } else { Surface::Http };
        let caller = Some(Caller::local(surface));
        Ok(Entry { caller, who: "local".to_owned(), ..Entry::nobody() })
    }

    /// A request by a session. A browser sends the cookie by itself, so what changes something needs the word as well.
    fn admit_session(&self, request: &Parts, holder: &Holder, token: Token) -> Result<Entry, Problem> {
        let headers = &request.headers;
        if !self.is_own(request) {
            return Err(foreign().about(Some(named(holder))));
        }
        let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&request.method);
        let carried = headers.get(CSRF).map(|word| word.as_bytes().to_vec());
        let word = carried.map(airlock_types::ContentHash::of);
        if !reads && word.is_none_or(|word| holder.session.is_none_or(|session| session.csrf != word)) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "csrf",
                format!(
                    "A change by a session carries its word in the header {CSRF}, as GET /api/me and POST {SESSION} give it; \
                     this one has none, or another's."
                ),
            )
            .about(Some(named(holder))));
        }
        let shown = Some(Credential::Session(token.clone()));
        Ok(Entry {
            caller: Some(holder.caller()),
            who: named(holder),
            session: Some(token),
            shown,
            ..Entry::nobody()
        })
    }
}

/// Lets a request in as somebody, or turns it away.
pub async fn check(State(door): State<Door>, request: Request, next: Next) -> Response {
    let mut visit = visit(&door, &request);
    let (head, body) = request.into_parts();
    let admitted = door.admit(&head).await;
    let mut request = Request::from_parts(head, body);
    let (mut response, stale) = match admitted {
        Ok(Entry { caller, who, session, shown, stale }) => {
            let extensions = request.extensions_mut();
            caller.map(|caller| extensions.insert(caller));
            session.map(|token| extensions.insert(OpenSession(token)));
            shown.map(|credential| extensions.insert(Shown(credential)));
            visit.who = who;
            extensions.insert(visit.clone());
            (next.run(request).await, stale.is_some())
        }
        Err(problem) => {
            let stale = problem.code() == SESSION_ENDED;
            (problem.into_response(), stale)
        }
    };
    tell(&visit, &response);
    if stale
        && !response.headers().contains_key(SET_COOKIE)
        && let Some(taken) = cookie::taken(door.is_secure())
    {
        response.headers_mut().insert(SET_COOKIE, taken);
    }
    response
}

/// What the log says of a request that comes to this door.
fn visit(door: &Door, request: &Request) -> Visit {
    Visit {
        who: NOBODY.to_owned(),
        from: door.address(request.extensions().get::<Peer>().copied(), request.headers()),
        method: Some(request.method().clone()),
        path: request.uri().path().chars().take(PATH).collect(),
        request_id: Some(request::current().to_string()),
        refusals: door.0.refusals.clone(),
    }
}

/// Tells of a response that is a refusal: because of who asks, or of how they come.
fn tell(visit: &Visit, response: &Response) {
    let Some(ProblemCode(code)) = response.extensions().get() else { return };
    let status = response.status();
    let refused =
        matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS);
    if refused || REFUSALS.contains(code) {
        let who = response.extensions().get().map(|About(name)| name.as_str());
        visit.refused(who, status.as_u16(), code);
    }
}

fn named(holder: &Holder) -> String {
    format!("{} ({})", holder.name, holder.key)
}

/// The key of a request.
fn bearer(headers: &HeaderMap) -> Result<Option<Token>, Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => value,
        _ => return Err(unauthorized("bad-key", "There is more than one Authorization header.")),
    };
    let key = value.to_str().ok().and_then(|text| {
        let (scheme, key) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| Token::key(key.trim()))?
    });
    key.map(Some).ok_or_else(|| {
        unauthorized(
            "bad-key",
            "The Authorization header is to be `Bearer KEY`, with a key as `airlock key create` shows it.",
        )
    })
}

fn refused(credential: &Credential) -> Problem {
    match credential {
        Credential::Key(_) => unauthorized(
            "bad-key",
            "This key is not in force here: it is unknown, has ended or was taken back. `airlock key create` makes one.",
        ),
        Credential::Session(_) => session_ended(),
    }
}

/// What a cookie gets that opens nothing any more.
fn session_ended() -> Problem {
    unauthorized(SESSION_ENDED, "This session has ended: sign in again.")
}

fn key_needed() -> Problem {
    unauthorized(
        "key-needed",
        "This server wants to know who asks: send `Authorization: Bearer KEY`, with a key that `airlock key create` made.",
    )
}

fn unauthorized(code: &'static str, detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, code, detail)
}

fn is_proxied(headers: &HeaderMap) -> bool {
    let is_of_proxy = |name: &str| PROXIED.iter().any(|beginning| name.starts_with(beginning));
    headers.keys().any(|name| is_of_proxy(name.as_str()))
}

fn twice(name: &HeaderName) -> Problem {
    let detail =
        format!("The header {name} stands twice, and who reads only one of them may be deceived: send one.");
    Problem::new(StatusCode::BAD_REQUEST, HEADER_TWICE, detail)
}

fn foreign() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "foreign-origin",
        "This server answers only requests that name it as it is called, and pages it served itself. `server.names` says by \
         which names it is called beside its own address.",
    )
}

fn too_many(what: &str, wait: std::time::Duration) -> Problem {
    let seconds = wait.as_secs() + 1;
    let detail = format!("Too many requests: {what}. Try again in {seconds} s.");
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", detail).again_in(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_brings_is_known_by_its_headers() {
        for (name, want) in [
            ("x-forwarded-for", true),
            ("X-Forwarded-Proto", true),
            ("x-forwarded-anything", true),
            ("forwarded", true),
            ("via", true),
            ("x-real-ip", true),
            ("CF-Connecting-IP", true),
            ("true-client-ip", true),
            ("x-forwarded", true),
            ("X-Envoy-External-Address", true),
            ("X-ProxyUser-Ip", true),
            ("X-Originating-IP", true),
            ("X-Remote-IP", true),
            ("X-Remote-Addr", true),
            ("X-Azure-ClientIP", true),
            ("X-Appengine-User-IP", true),
            ("Tailscale-User-Login", true),
            ("Remote-User", true),
            ("X-Amz-Cf-Id", true),
            ("X-Client-IP", true),
            ("X-Cluster-Client-IP", true),
            ("x-original-url", false),
            ("user-agent", false),
            ("x-request-id", false),
            ("accept", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), "1".parse().unwrap());
            assert_eq!(is_proxied(&headers), want, "{name}");
        }
    }
}
