//! PostgreSQL's extended protocol, as little of it as the envelope needs.
//!
//! This layer exists because a general driver cannot give four things the envelope promises: results in PostgreSQL's
//! own text form (so that no type loses anything), unnamed portals with a row limit (so that transaction poolers
//! work), a cap that is known before a message is buffered, and one round trip for set-up, statement and rollback.
//!
//! Every future here may be dropped at any point: what was read stays in `incoming`, what is not yet sent stays in
//! `outgoing`, and `unanswered` counts the syncs the server still owes an answer for.

mod server_error;
mod startup;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use futures_util::FutureExt;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DATA_ROW_TAG, DataRowBody, Header, Message};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_postgres::fallible_iterator::FallibleIterator;

pub use server_error::ServerError;
pub(crate) use startup::connect;

use crate::dial::{Dialled, Duplex, Route, dial_again};
use crate::error::DatabaseError;

/// Longest message that is not a row: errors, descriptions of 1,664 columns.
const MESSAGE_LIMIT: usize = 1 << 20;

/// How long a cancelled statement may take to end before it is cancelled again: this at first, twice as long each time, up
/// to the last.
const FIRST_CANCEL_PAUSE: Duration = Duration::from_millis(100);
const LAST_CANCEL_PAUSE: Duration = Duration::from_secs(2);

/// One statement of a batch, with parameters in text form.
pub(crate) struct Step<'a> {
    pub(crate) sql: &'a str,
    pub(crate) parameters: &'a [Option<&'a str>],
    /// Rows after which the portal is suspended; 0 for no limit.
    pub(crate) max_rows: u32,
}

impl<'a> Step<'a> {
    /// A statement that runs to its end.
    pub(crate) const fn new(sql: &'a str, parameters: &'a [Option<&'a str>]) -> Self {
        Self { sql, parameters, max_rows: 0 }
    }
}

/// A column of a result, as the server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) type_oid: u32,
    pub(crate) type_modifier: i32,
}

/// A transaction as the server's own view of its activity names it: a process, and when its transaction began in
/// microseconds. A process number alone may soon belong to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backend {
    pub(crate) process: String,
    pub(crate) began: String,
}

impl Backend {
    /// Reads the first two columns of a row.
    pub(crate) fn read(row: &DataRowBody) -> Option<Self> {
        let mut mark = cells(row).map(|cell| cell.ok().flatten().map(str::to_owned));
        Some(Self { process: mark.next()??, began: mark.next()?? })
    }
}

/// What the server answers with.
pub(crate) enum Event {
    /// A statement's columns; none for a statement without rows.
    Columns(Vec<Field>),
    /// A row.
    Row(DataRowBody),
    /// A statement ended, or its portal reached the row limit.
    Done,
    /// A statement failed; the rest of the batch is skipped.
    Failed(Box<ServerError>),
    /// A batch ended.
    Ready,
}

/// One connection.
pub(crate) struct Wire {
    stream: Box<dyn Duplex>,
    incoming: BytesMut,
    outgoing: BytesMut,
    unanswered: u32,
    /// Bytes of a message that is being thrown away and has not arrived in full.
    skip: usize,
    /// `I` outside a transaction, `T` inside, `E` inside a failed one.
    status: u8,
    /// Not to be used again.
    broken: bool,
    /// The other side is gone.
    lost: bool,
    /// The server itself ended the session: nothing runs on.
    dismissed: bool,
    /// What the last transaction is on the server.
    backend: Option<Backend>,
    parameters: BTreeMap<String, String>,
    route: Route,
    cancel_key: (i32, i32),
}

impl Wire {
    fn new(dialled: Dialled) -> Self {
        Self {
            stream: dialled.stream,
            incoming: BytesMut::with_capacity(16 << 10),
            outgoing: BytesMut::new(),
            unanswered: 0,
            skip: 0,
            status: 0,
            broken: false,
            lost: false,
            dismissed: false,
            backend: None,
            parameters: BTreeMap::new(),
            route: dialled.route,
            cancel_key: (0, 0),
        }
    }

    /// A setting the server reports by itself, such as `server_version`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// Whether the next user finds the connection as the first one did.
    pub(crate) fn is_clean(&self) -> bool {
        !self.broken && self.unanswered == 0 && self.outgoing.is_empty() && self.status == b'I'
    }

    /// Whether the server may still be at work for this connection.
    pub(crate) const fn is_unsettled(&self) -> bool {
        self.unanswered > 0 && !self.lost
    }

    /// Whether the server has ended the session.
    pub(crate) const fn is_ended(&self) -> bool {
        self.lost
    }

    /// The transaction that may run on at the server although the connection is gone.
    pub(crate) fn left_behind(&self) -> Option<Backend> {
        self.backend.clone().filter(|_| self.unanswered > 0 && !self.dismissed)
    }

    /// Keeps the mark of a transaction, which its settings gave.
    pub(crate) fn begun(&mut self, row: &DataRowBody) {
        self.backend = Backend::read(row);
    }

    /// Whether an idle connection has said something or ended: it is not worth keeping.
    pub(crate) fn is_stale(&mut self) -> bool {
        !self.incoming.is_empty() || self.stream.read_buf(&mut self.incoming).now_or_never().is_some()
    }

    /// Adds a statement to the batch.
    pub(crate) fn push(&mut self, step: &Step<'_>) -> Result<(), DatabaseError> {
        let out = &mut self.outgoing;
        let start = out.len();
        let encoded = encode(step, out);
        if encoded.is_err() {
            // Half a message must not stay in front of the next one.
            out.truncate(start);
        }
        encoded
    }

    /// Ends the batch: an error skips the statements up to here.
    pub(crate) fn push_sync(&mut self) {
        frontend::sync(&mut self.outgoing);
        self.unanswered += 1;
    }

    /// Sends what was pushed.
    pub(crate) async fn flush(&mut self) -> Result<(), DatabaseError> {
        let result = async {
            while self.outgoing.has_remaining() {
                if self.stream.write_buf(&mut self.outgoing).await? == 0 {
                    return Err(std::io::ErrorKind::WriteZero.into());
                }
            }
            self.stream.flush().await
        }
        .await;
        result.map_err(|error| self.fail(error.into()))
    }

    /// The next thing the server says; a row longer than `row_limit` is refused before it is read.
    pub(crate) async fn next(&mut self, row_limit: usize) -> Result<Event, DatabaseError> {
        loop {
            let message = self.message(row_limit).await.map_err(|error| self.fail(error))?;
            match message {
                Message::ParseComplete | Message::BindComplete | Message::CloseComplete => {}
                Message::NoticeResponse(_) | Message::NotificationResponse(_) => {}
                Message::ParameterStatus(body) => {
                    let (name, value) = (body.name()?.to_owned(), body.value()?.to_owned());
                    self.parameters.insert(name, value);
                }
                Message::NoData => return Ok(Event::Columns(Vec::new())),
                Message::RowDescription(body) => {
                    let fields = body.fields().map(|field| {
                        Ok(Field {
                            name: field.name().to_owned(),
                            type_oid: field.type_oid(),
                            type_modifier: field.type_modifier(),
                        })
                    });
                    let fields = fields.collect().map_err(|error| self.fail(error.into()))?;
                    return Ok(Event::Columns(fields));
                }
                Message::DataRow(body) => return Ok(Event::Row(body)),
                Message::CommandComplete(_) | Message::PortalSuspended | Message::EmptyQueryResponse => {
                    return Ok(Event::Done);
                }
                Message::ErrorResponse(body) => {
                    let error = ServerError::read(&body).map_err(|error| self.fail(error.into()))?;
                    if error.ends_connection() {
                        self.broken = true;
                        self.lost = true;
                        self.dismissed = true;
                    }
                    return Ok(Event::Failed(Box::new(error)));
                }
                Message::ReadyForQuery(body) => {
                    self.status = body.status();
                    self.unanswered = self.unanswered.saturating_sub(1);
                    return Ok(Event::Ready);
                }
                // COPY and the like: nothing this room sends asks for it.
                _ => return Err(self.fail(DatabaseError::Protocol("an unexpected message".to_owned()))),
            }
        }
    }

    /// Reads on until every batch is answered.
    pub(crate) async fn settle(&mut self) -> Result<Option<Box<ServerError>>, DatabaseError> {
        let mut first = None;
        while self.unanswered > 0 {
            if self.lost {
                return Err(DatabaseError::Lost("the server ended the session".to_owned()));
            }
            if let Event::Failed(error) = self.next(MESSAGE_LIMIT).await? {
                first = first.or(Some(error));
            }
        }
        Ok(first)
    }

    async fn message(&mut self, row_limit: usize) -> Result<Message, DatabaseError> {
        loop {
            if let Some(header) = Header::parse(&self.incoming)? {
                let length = usize::try_from(header.len()).unwrap_or(usize::MAX).saturating_add(1);
                let (what, limit) = match header.tag() {
                    DATA_ROW_TAG => ("a row of the result", row_limit),
                    _ => ("a message of the server", MESSAGE_LIMIT),
                };
                if length > limit {
                    return Err(DatabaseError::TooLarge { what, limit });
                }
                if let Some(message) = Message::parse(&mut self.incoming)? {
                    return Ok(message);
                }
                self.incoming.reserve(length.saturating_sub(self.incoming.len()));
            } else {
                self.incoming.reserve(16 << 10);
            }
            if self.stream.read_buf(&mut self.incoming).await? == 0 {
                return Err(DatabaseError::Lost("the server closed it".to_owned()));
            }
        }
    }

    /// Reads and throws away until every batch is answered, however long its messages are.
    async fn discard(&mut self) -> Result<(), DatabaseError> {
        while self.unanswered > 0 {
            let now = self.skip.min(self.incoming.len());
            self.incoming.advance(now);
            self.skip -= now;
            match Header::parse(&self.incoming)? {
                Some(header) if self.skip == 0 => {
                    if header.tag() == postgres_protocol::message::backend::READY_FOR_QUERY_TAG {
                        self.unanswered -= 1;
                    }
                    self.skip = usize::try_from(header.len()).unwrap_or(0) + 1;
                }
                _ => {
                    self.incoming.reserve(16 << 10);
                    if self.stream.read_buf(&mut self.incoming).await? == 0 {
                        return Err(DatabaseError::Lost("the server closed it".to_owned()));
                    }
                }
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: DatabaseError) -> DatabaseError {
        self.broken = true;
        self.lost |= error.is_lost_connection();
        error
    }

    /// Asks the server to cancel what runs here, again and again, until it has ended. The connection is of no further use: a
    /// cancellation that arrives late would hit whatever runs next.
    ///
    /// Once is not enough: PostgreSQL forgets a cancellation that it first notices between two messages of a batch, and it
    /// plans and loads its compiler on the message before the one that runs the statement.
    pub(crate) async fn cancel_and_end(&mut self) -> Result<(), DatabaseError> {
        self.broken = true;
        let mut pause = FIRST_CANCEL_PAUSE;
        loop {
            // Who cannot be reached now is asked again: what counts is what the connection itself says.
            match timeout(LAST_CANCEL_PAUSE, self.request_cancel()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a cancellation could not be sent"),
                Err(_) => tracing::debug!("a cancellation could not be sent in time"),
            }
            // A batch that was never sent in full ends with the connection.
            if !self.outgoing.is_empty() {
                return Ok(());
            }
            if let Ok(ended) = timeout(pause, self.discard()).await {
                return ended;
            }
            pause = (pause * 2).min(LAST_CANCEL_PAUSE);
        }
    }

    /// Asks the server once to cancel what runs for this connection.
    pub(crate) async fn request_cancel(&mut self) -> Result<(), DatabaseError> {
        let mut request = BytesMut::new();
        frontend::cancel_request(self.cancel_key.0, self.cancel_key.1, &mut request);
        let mut stream = dial_again(&self.route).await?;
        stream.write_all(&request).await?;
        stream.flush().await?;
        // The server closes once it has passed the signal on; TLS may end without a farewell, which is no error here.
        let _ = stream.read_u8().await;
        Ok(())
    }

    /// Says goodbye, so that the server does not log a lost client.
    pub(crate) async fn close(mut self) {
        let mut farewell = BytesMut::new();
        frontend::terminate(&mut farewell);
        // A server that is gone needs no goodbye.
        let _ = self.stream.write_all(&farewell).await;
        let _ = self.stream.shutdown().await;
    }
}

fn encode(step: &Step<'_>, out: &mut BytesMut) -> Result<(), DatabaseError> {
    // No parameter types: the server infers them. No formats: everything travels as text.
    frontend::parse("", step.sql, std::iter::empty(), out)?;
    let write = |value: &Option<&str>, out: &mut BytesMut| {
        Ok(match value {
            None => IsNull::Yes,
            Some(value) => {
                out.extend_from_slice(value.as_bytes());
                IsNull::No
            }
        })
    };
    frontend::bind("", "", std::iter::empty(), step.parameters, write, std::iter::empty(), out).map_err(
        |error| match error {
            frontend::BindError::Conversion(error) => DatabaseError::Protocol(error.to_string()),
            frontend::BindError::Serialization(error) => error.into(),
        },
    )?;
    frontend::describe(b'P', "", out)?;
    frontend::execute("", i32::try_from(step.max_rows).unwrap_or(i32::MAX), out)?;
    Ok(())
}

/// The cells of a row, NULL as None.
pub(crate) fn cells(row: &DataRowBody) -> impl Iterator<Item = Result<Option<&str>, DatabaseError>> {
    let buffer = row.buffer();
    let mut ranges = row.ranges();
    std::iter::from_fn(move || ranges.next().transpose()).map(move |range| {
        let Some(range) = range? else { return Ok(None) };
        let bytes = buffer.get(range).unwrap_or_default();
        let text = std::str::from_utf8(bytes)
            .map_err(|_| DatabaseError::Protocol("a value that is not UTF-8".to_owned()))?;
        Ok(Some(text))
    })
}
