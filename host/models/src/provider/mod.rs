//! One request to one endpoint, in the protocol it speaks.

mod anthropic;
mod openai;
mod stream;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use airlock_types::ask::Tokens;
use airlock_types::text::shorten;
use futures_util::StreamExt;
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;

use crate::config::ProviderKind;
use crate::error::ModelError;
use crate::key::Key;

/// Characters of what a provider says of an error that are kept.
pub(crate) const SAID: usize = 300;
/// Most bytes of a reply's body: far above any reply, far below what would hurt.
const BODY_LIMIT: usize = 4 * 1024 * 1024;
/// Time to get a connection; a machine that is off should not use up the whole deadline.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// An endpoint's address. Shown without user, password and query.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    base: String,
    shown: String,
}

impl Endpoint {
    /// Reads an http or https address; a trailing slash or `/v1` is dropped.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let parsed = reqwest::Url::parse(url.trim()).ok()?;
        let host = parsed.host_str()?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return None;
        }
        let shown = match parsed.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let base = url.trim().trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base);
        Some(Self { base: base.to_owned(), shown })
    }

    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// What is sent, whatever the protocol.
pub(crate) struct Prompt<'a> {
    pub model: &'a str,
    pub system: &'a str,
    pub user: &'a str,
    pub max_output_tokens: u32,
    /// Ask for a JSON object where the protocol has a word for it.
    pub json: bool,
    /// Ask for the reply in pieces.
    pub stream: bool,
    /// Which of several replies.
    pub variant: u32,
}

/// How freely further replies to the same request are drawn.
const FREELY: f64 = 0.8;

impl Prompt<'_> {
    /// 0 for the likeliest reply.
    fn temperature(&self) -> Value {
        if self.variant == 0 { 0.into() } else { FREELY.into() }
    }
}

/// A reply as it came.
#[derive(Debug)]
pub(crate) struct Raw {
    pub text: String,
    pub truncated: bool,
    pub tokens: Tokens,
}

/// How one request ended.
pub(crate) enum Attempt {
    Reply(Raw),
    /// Worth another try after a pause.
    Again {
        error: ModelError,
        after: Option<Duration>,
    },
    /// This key is done for today.
    QuotaSpent(String),
    Failed(ModelError),
}

/// What an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    OpenaiCompatible,
    Anthropic,
}

impl From<Protocol> for ProviderKind {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::OpenaiCompatible => Self::OpenaiCompatible,
            Protocol::Anthropic => Self::Anthropic,
        }
    }
}

/// An endpoint and its protocol.
pub(crate) struct Provider {
    protocol: Protocol,
    endpoint: Endpoint,
    client: Client,
    /// Set when the endpoint would not take a request for a stream.
    whole: AtomicBool,
}

impl Provider {
    pub(crate) fn new(protocol: Protocol, endpoint: Endpoint) -> Result<Self, String> {
        Ok(Self { protocol, endpoint, client: client()?, whole: AtomicBool::new(false) })
    }

    pub(crate) const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) const fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Sends one request and reads the reply, in pieces where the endpoint knows how.
    pub(crate) async fn send(&self, prompt: &Prompt<'_>, key: Option<&Key>) -> Attempt {
        let prompt = &Prompt { stream: !self.whole.load(Ordering::Relaxed), ..*prompt };
        let request = match self.protocol {
            Protocol::OpenaiCompatible => openai::request(&self.client, &self.endpoint, prompt, key),
            Protocol::Anthropic => anthropic::request(&self.client, &self.endpoint, prompt, key),
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                let unreachable =
                    ModelError::Unreachable { endpoint: self.endpoint.to_string(), why: why(&error) };
                return if error.is_connect() && !error.is_timeout() {
                    Attempt::Failed(unreachable)
                } else {
                    Attempt::Again { error: unreachable, after: None }
                };
            }
        };
        let status = response.status();
        let retry_after = retry_after(&response);
        if status.is_success() && stream::is_stream(&response) {
            return stream::read(response, self.protocol, &self.endpoint, key).await;
        }
        let body = match read_body(response, &self.endpoint).await {
            Ok(body) => body,
            Err(error) => return Attempt::Failed(error),
        };
        if !status.is_success() {
            return self.refusal(status, retry_after, &body, key);
        }
        let read = match self.protocol {
            Protocol::OpenaiCompatible => openai::read(&body),
            Protocol::Anthropic => anthropic::read(&body),
        };
        match read {
            Ok(raw) => Attempt::Reply(raw),
            Err(why) => Attempt::Failed(ModelError::Unreadable { endpoint: self.endpoint.to_string(), why }),
        }
    }

    fn refusal(
        &self,
        status: StatusCode,
        after: Option<Duration>,
        body: &[u8],
        key: Option<&Key>,
    ) -> Attempt {
        let text = message_of(body, key);
        let message = shorten(&text, SAID);
        let endpoint = self.endpoint.to_string();
        match status.as_u16() {
            429 if is_daily(&text) => Attempt::QuotaSpent(message),
            429 => Attempt::Again { error: ModelError::Busy { endpoint, message }, after },
            code @ (408 | 409 | 500 | 502 | 503 | 504 | 529) => {
                Attempt::Again { error: ModelError::Answered { endpoint, status: code, message }, after }
            }
            // Not every endpoint knows every word of the protocol; the request is right without these.
            code @ (400 | 404 | 422 | 501)
                if text.to_ascii_lowercase().contains("stream")
                    && !self.whole.swap(true, Ordering::Relaxed) =>
            {
                let error = ModelError::Answered { endpoint, status: code, message };
                Attempt::Again { error, after: Some(Duration::ZERO) }
            }
            code => Attempt::Failed(ModelError::Answered { endpoint, status: code, message }),
        }
    }
}

/// A client that follows nobody elsewhere.
pub(crate) fn client() -> Result<Client, String> {
    // Two rooms use rustls; whoever is first decides, and both decide for ring.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("airlock/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}

/// The body of a reply, as far as any reply may be long.
pub(crate) async fn read_body(response: Response, endpoint: &Endpoint) -> Result<Vec<u8>, ModelError> {
    let unreadable = |why: String| ModelError::Unreadable { endpoint: endpoint.to_string(), why };
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| unreadable(format!("the reply broke off: {}", why(&error))))?;
        if body.len() + chunk.len() > BODY_LIMIT {
            return Err(unreadable(format!("the reply is larger than {BODY_LIMIT} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Whether a 429 speaks of a quota that will not be back within the minute. What is not recognised is a burst: merely
/// slower, where the opposite mistake would burn the spare key for nothing.
fn is_daily(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["per day", "(tpd)", "(rpd)", "daily", "insufficient_quota", "exceeded your current quota"]
        .iter()
        .any(|words| message.contains(words))
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds: f64 = response.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    // Longer than any deadline is as good as for ever; a date instead of seconds is not read.
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(86_400.0)))
}

/// What a provider says of an error, without the key should it echo that. Not bounded: whoever keeps it shortens it.
pub(crate) fn message_of(body: &[u8], key: Option<&Key>) -> String {
    let text = String::from_utf8_lossy(body);
    let said = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|value| {
            let error = value.get("error")?;
            let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str())?.to_owned();
            let word = ["code", "type"].iter().find_map(|key| error.get(key).and_then(Value::as_str));
            Some(message + &word.map(|word| format!(" ({word})")).unwrap_or_default())
        })
        .unwrap_or_else(|| text.trim().to_owned());
    key.map_or_else(|| said.clone(), |key| key.mask(&said))
}

/// What is wrong with a text that is no reply. The reader's own words quote what they could not read, and so are not used.
pub(crate) fn unread(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "its JSON is no reply",
        serde_json::error::Category::Eof => "its JSON breaks off",
        _ => "it is no JSON",
    };
    format!("{what}, line {} column {}", error.line(), error.column())
}

/// The innermost cause of a transport error, without the address (which may hold a key).
pub(crate) fn why(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_not_a_spent_quota() {
        for (message, daily) in [
            ("Rate limit reached for tokens per minute (TPM): try again in 2s", false),
            ("Rate limit reached on tokens per day (TPD): limit 200000", true),
            ("You exceeded your current quota (insufficient_quota)", true),
            ("slow down", false),
            ("", false),
        ] {
            assert_eq!(is_daily(message), daily, "{message}");
        }
    }

    #[test]
    fn endpoints_are_shown_without_secrets() {
        let endpoint = Endpoint::parse("https://user:secret@models.example/v1/?k=1").unwrap();
        assert_eq!(endpoint.to_string(), "models.example");
        assert_eq!(
            Endpoint::parse("http://127.0.0.1:11434/v1/").unwrap().join("/v1/x"),
            "http://127.0.0.1:11434/v1/x"
        );
        for bad in ["", "models.example", "file:///etc/passwd", "ftp://x"] {
            assert!(Endpoint::parse(bad).is_none(), "{bad}");
        }
    }
}
