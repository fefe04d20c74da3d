//! How a role is reached: the one thing this room wants of the rooms that know connection strings and TLS.

use std::future::Future;
use std::pin::Pin;

use thiserror::Error;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_postgres::Client;

/// A notification: its channel and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The channel.
    pub channel: String,
    /// The text.
    pub payload: String,
}

/// A connection that is being driven until its client is dropped.
pub struct Line {
    /// The client.
    pub client: Client,
    /// What is notified to it; ends when the connection does.
    pub notices: UnboundedReceiver<Notice>,
}

/// Why there is no connection. Messages hold no password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DialError {
    /// Nobody answers, or not now: trying again can help.
    #[error("{0}")]
    Away(String),
    /// The server does not let the role in: only a person can help.
    #[error("{0}")]
    Denied(String),
}

/// A connection in the making.
pub type Dialling<'a> = Pin<Box<dyn Future<Output = Result<Line, DialError>> + Send + 'a>>;

/// Dials one role of the store. It bounds its own time.
pub trait Dial: Send + Sync {
    /// Connects.
    fn dial(&self) -> Dialling<'_>;
}

/// A role that is reached nowhere.
pub(super) struct Nowhere;

impl Dial for Nowhere {
    fn dial(&self) -> Dialling<'_> {
        Box::pin(async { Err(DialError::Denied("no address is configured".to_owned())) })
    }
}
