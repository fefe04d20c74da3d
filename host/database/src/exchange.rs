//! One transaction: begin, pinned settings, statements, rollback, in one round trip.

use postgres_protocol::message::backend::DataRowBody;

use crate::error::DatabaseError;
use crate::settings::Settings;
use crate::wire::{Event, Field, ServerError, Step, Wire, cells};

/// How a transaction begins. There is no way for one to end but `ROLLBACK`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    Reading,
    /// Several statements see the same rows.
    Snapshot,
    /// For checks that try what must be refused.
    Writable,
}

impl Begin {
    const fn sql(self) -> &'static str {
        match self {
            Self::Reading => "BEGIN READ ONLY",
            Self::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
            Self::Writable => "BEGIN READ WRITE",
        }
    }
}

/// Most that may arrive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Of one value.
    pub(crate) cell_bytes: usize,
    /// Of one row; known before the row is read.
    pub(crate) row_bytes: usize,
    /// Of all rows of a statement.
    pub(crate) result_bytes: usize,
}

/// The rows of one statement.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) fields: Vec<Field>,
    pub(crate) rows: Vec<DataRowBody>,
}

/// Where an exchange failed.
pub(crate) enum ExchangeError {
    /// The transaction could not be set up.
    SetUp(Box<ServerError>),
    /// The statement with this index failed.
    Statement(Box<ServerError>),
    /// The connection or a limit.
    Connection(DatabaseError),
}

impl From<DatabaseError> for ExchangeError {
    fn from(error: DatabaseError) -> Self {
        Self::Connection(error)
    }
}

impl From<ExchangeError> for DatabaseError {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::SetUp(error) | ExchangeError::Statement(error) => Self::Server(error),
            ExchangeError::Connection(error) => error,
        }
    }
}

/// What a JSON value takes in memory beyond the bytes of its text.
const VALUE_BYTES: usize = size_of::<serde_json::Value>();

/// Runs statements in one transaction, which is rolled back whatever happens.
pub(crate) async fn exchange(
    wire: &mut Wire,
    begin: Begin,
    settings: &Settings,
    steps: &[Step<'_>],
    limits: Limits,
) -> Result<Vec<Rows>, ExchangeError> {
    wire.push(&Step::new(begin.sql(), &[]))?;
    let (sql, parameters) = settings.statement();
    wire.push(&Step::new(&sql, &parameters))?;
    for step in steps {
        wire.push(step)?;
    }
    wire.push_sync();
    // A batch of its own, so that it runs after a failure as well.
    wire.push(&Step::new("ROLLBACK", &[]))?;
    wire.push_sync();
    wire.flush().await?;

    let results = answers(wire, steps.len(), limits).await;
    if let Err(ExchangeError::Connection(error)) = results {
        return Err(error.into());
    }
    let rolled_back = wire.settle().await;
    match (results, rolled_back) {
        // The statement's own failure says more than what a lost connection says after it.
        (Err(failure), _) => Err(failure),
        (Ok(_), Err(error)) => Err(error.into()),
        (Ok(_), Ok(Some(error))) => Err(DatabaseError::Server(error).into()),
        (Ok(results), Ok(None)) => Ok(results),
    }
}

async fn answers(wire: &mut Wire, count: usize, limits: Limits) -> Result<Vec<Rows>, ExchangeError> {
    const SET_UP: usize = 2;
    let mut results = Vec::with_capacity(count);
    let mut current = Rows::default();
    let mut ended = 0;
    let mut bytes = 0_usize;
    let mut failure = None;
    loop {
        match wire.next(limits.row_bytes).await? {
            Event::Columns(fields) => current.fields = fields,
            Event::Row(row) if ended >= SET_UP => {
                bytes = bytes.saturating_add(measure(&row, limits)?);
                if bytes > limits.result_bytes {
                    return Err(
                        DatabaseError::TooLarge { what: "the result", limit: limits.result_bytes }.into()
                    );
                }
                current.rows.push(row);
            }
            // Of the two, only the settings give a row.
            Event::Row(row) => wire.begun(&row),
            Event::Done => {
                ended += 1;
                let rows = std::mem::take(&mut current);
                bytes = 0;
                if ended > SET_UP {
                    results.push(rows);
                }
            }
            // The session had ended before anything of this transaction was read.
            Event::Failed(error) if ended < SET_UP && wire.is_ended() => {
                return Err(DatabaseError::Lost(error.message).into());
            }
            Event::Failed(error) if ended < SET_UP => failure = Some(ExchangeError::SetUp(error)),
            Event::Failed(error) => failure = Some(ExchangeError::Statement(error)),
            Event::Ready => break,
        }
        // After this error there is no answer to wait for.
        if failure.is_some() && wire.is_ended() {
            break;
        }
    }
    match failure {
        Some(failure) => Err(failure),
        None if results.len() == count => Ok(results),
        None => Err(DatabaseError::Protocol("an answer is missing".to_owned()).into()),
    }
}

fn measure(row: &DataRowBody, limits: Limits) -> Result<usize, DatabaseError> {
    let mut total = 0;
    for cell in cells(row) {
        let text = cell?.unwrap_or_default();
        if text.len() > limits.cell_bytes {
            return Err(DatabaseError::TooLarge { what: "a value of the result", limit: limits.cell_bytes });
        }
        // `[[],[],[]]` is many times larger as values than as text.
        let inner = match text.as_bytes() {
            bytes @ [b'[' | b'{', ..] => {
                bytes.iter().filter(|byte| matches!(byte, b'[' | b'{' | b',')).count()
            }
            _ => 0,
        };
        total += text.len() + (inner + 1) * VALUE_BYTES;
    }
    Ok(total)
}
