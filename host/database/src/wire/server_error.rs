//! An error as PostgreSQL reports it.

use std::{fmt, io};

use postgres_protocol::message::backend::ErrorResponseBody;
use tokio_postgres::fallible_iterator::FallibleIterator;

use airlock_types::text::shorten;

/// Longest field kept, in characters.
const FIELD_LIMIT: usize = 4_000;

/// What the server said. `detail` and `message` may quote values of rows: only the `redact` module passes them on.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ServerError {
    /// Five characters.
    pub code: String,
    /// `ERROR`, `FATAL` or `PANIC`.
    pub severity: String,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// The server's C function that reported it.
    pub(crate) routine: String,
    /// 1-based character position in the statement.
    pub position: Option<u32>,
}

/// Without the texts, which may quote rows: a log line is no place for them either.
impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerError")
            .field("code", &self.code)
            .field("severity", &self.severity)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl ServerError {
    pub(crate) fn read(body: &ErrorResponseBody) -> io::Result<Self> {
        let mut error = Self::default();
        let mut fields = body.fields();
        while let Some(field) = fields.next()? {
            let text = shorten(&String::from_utf8_lossy(field.value_bytes()), FIELD_LIMIT);
            match field.type_() {
                b'C' => error.code = text,
                // `V` is the severity that no language setting translates.
                b'V' => error.severity = text,
                b'S' if error.severity.is_empty() => error.severity = text,
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'R' => error.routine = text,
                b'H' => error.hint = Some(text),
                b'P' => error.position = text.parse().ok(),
                _ => {}
            }
        }
        Ok(error)
    }

    /// Whether the server ends the connection after it.
    pub(crate) fn ends_connection(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }
}
