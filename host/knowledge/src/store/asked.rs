//! Finished asks on their way into the log: each made into a line once, many lines appended in one statement.

use std::borrow::Cow;

use airlock_types::ask::{Mode, Tokens};
use airlock_types::text::shorten;
use airlock_types::{Answer, AskId, ContentHash, DomainName};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::StoreError;
use super::id::ItemId;
use super::log::{Log, Signal, Use};

/// Most characters of a text that a signal holds; a longer one is left out.
const SIGNAL_SQL: usize = 65_536;
/// Most characters of a purpose.
const PURPOSE: usize = 199;

/// A finished ask as it is logged.
#[derive(Debug, Clone)]
pub struct AskRow<'a> {
    /// Its record.
    pub answer: &'a Answer,
    /// When it began.
    pub asked_at: jiff::Timestamp,
    /// The question as it is logged.
    pub question: &'a str,
    /// The SQL as it is logged.
    pub sql: Option<&'a str>,
    /// Agent or baseline.
    pub mode: Mode,
    /// The model that wrote SQL; none when the composer did.
    pub model: Option<&'a str>,
    /// What each model cost.
    pub models: &'a [ModelCost],
    /// Where it was asked: `http`, `page`, `mcp`, `cli`.
    pub surface: &'a str,
    /// What a replay needs, as a JSON text: inputs, recorded replies. Never rows.
    pub record: Option<&'a str>,
    /// Whether it was answered to somebody in particular: nothing of it may become what everybody is told.
    pub under_identity: bool,
}

/// What one model cost an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCost {
    /// The model.
    pub model: String,
    /// Calls that it answered.
    pub calls: u32,
    /// Tokens of them.
    pub tokens: Tokens,
    /// Dollars; none when the price of one of them is unknown.
    pub cost: Option<f64>,
}

/// A request that leaves for a model because of an ask and is not in its record.
#[derive(Debug, Clone)]
pub struct Sent<'a> {
    /// The domain.
    pub domain: &'a DomainName,
    /// The ask.
    pub ask: AskId,
    /// What for.
    pub purpose: &'a str,
    /// The role that was asked for.
    pub role: &'a str,
    /// The model.
    pub model: &'a str,
    /// SHA-256 of its whole text.
    pub hash: ContentHash,
    /// Characters of it.
    pub characters: u32,
}

/// A finished ask with its signal and its uses, or what left after it, ready to be appended as often as it takes.
#[derive(Debug, Clone)]
pub struct LogLine {
    ask: Option<AskId>,
    row: Option<String>,
    sent: Option<String>,
    signal: Option<String>,
    uses: Vec<String>,
}

impl LogLine {
    /// The line of an ask, or of another use of airlock. Its identities are made here, so that appending it twice is appending it once.
    #[must_use]
    pub fn new(
        ask: Option<AskId>,
        row: Option<&AskRow<'_>>,
        signal: Option<&Signal<'_>>,
        uses: &[Use<'_>],
    ) -> Self {
        Self {
            ask,
            row: row.map(ask_row),
            sent: None,
            signal: signal.map(signal_row),
            uses: uses.iter().map(use_row).collect(),
        }
    }

    /// The line of what leaves beside an ask, at this moment.
    #[must_use]
    pub fn sent(sent: &Sent<'_>) -> Self {
        let row = Some(sent_row(sent));
        Self { ask: Some(sent.ask), row: None, sent: row, signal: None, uses: Vec::new() }
    }

    /// The ask, if it is of one.
    #[must_use]
    pub const fn ask(&self) -> Option<AskId> {
        self.ask
    }

    /// What it weighs while it waits.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let texts = [&self.row, &self.sent, &self.signal].into_iter().flatten().chain(&self.uses);
        size_of::<Self>() + texts.map(String::len).sum::<usize>()
    }
}

fn ask_row(row: &AskRow<'_>) -> String {
    let answer = row.answer;
    let error_types: Vec<&str> =
        answer.history.iter().filter_map(|entry| Some(entry.error_type?.as_str())).collect();
    let mut text = storable(json!({
        "id": answer.ask_id,
        "asked_at": row.asked_at.to_string(),
        "domain": answer.domain,
        "question": shorten(row.question, 3_999),
        "mode": match row.mode {
            Mode::Agent => "agent",
            Mode::Baseline => "baseline",
        },
        "outcome": answer.outcome.as_str(),
        "final_sql": row.sql,
        "attempts_used": answer.attempts,
        "error_types": error_types,
        "refused": answer.refused,
        "gave_up": answer.gave_up,
        "rows_returned": answer.row_count,
        "truncated": answer.truncated,
        "latency_ms": answer.latency_ms,
        "tokens_input": answer.tokens.input,
        "tokens_output": answer.tokens.output,
        "cost_usd": answer.cost,
        "model": row.model,
        "models": row.models,
        "trace_id": answer.trace_id,
        "components": answer.components,
        "lessons": answer.lessons,
        "examples": answer.examples,
        "tables_used": answer.tables_used,
        "degraded": answer.degraded,
        "surface": row.surface,
        "under_identity": row.under_identity,
    }));
    // It is a text already, and the largest part.
    if let Some(record) = row.record
        && text.pop() == Some('}')
    {
        text.push_str(",\"record\":");
        text.push_str(&storable_text(record));
        text.push('}');
    }
    text
}

fn sent_row(sent: &Sent<'_>) -> String {
    storable(json!({
        "id": ItemId::now(),
        "at": jiff::Timestamp::now().to_string(),
        "domain": sent.domain,
        "ask": sent.ask,
        "purpose": shorten(sent.purpose, PURPOSE),
        "role": sent.role,
        "model": sent.model,
        "hash": sent.hash,
        "characters": sent.characters,
    }))
}

fn signal_row(signal: &Signal<'_>) -> String {
    storable(json!({
        "id": ItemId::now(),
        "domain": signal.domain,
        "tool": signal.tool,
        "ask": signal.ask,
        "question": signal.question.map(|question| shorten(question, 3_999)),
        "sql": signal.sql.filter(|sql| sql.len() <= SIGNAL_SQL),
        "tables": signal.tables,
        "outcome": signal.outcome,
        "error_types": signal.error_types,
    }))
}

fn use_row(used: &Use<'_>) -> String {
    storable(json!({
        "id": ItemId::now(),
        "domain": used.domain,
        "item": used.item,
        "ask": used.ask,
        "event": used.event,
    }))
}

/// A value as PostgreSQL can hold it: it has no text with a NUL in it.
fn storable(mut value: Value) -> String {
    let text = value.to_string();
    if !text.contains("\\u0000") {
        return text;
    }
    without_nul(&mut value);
    value.to_string()
}

/// The same of a value that is a text already.
fn storable_text(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u0000") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(storable(serde_json::from_str(text).unwrap_or(Value::Null)))
}

fn without_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(values) => values.iter_mut().for_each(without_nul),
        Value::Object(fields) => fields.values_mut().for_each(without_nul),
        _ => {}
    }
}

/// Columns of `asks` with their types, as a line holds them.
const ASK: &str = "id uuid, asked_at timestamptz, domain text, question text, mode text, outcome text, final_sql text,
    attempts_used int, error_types text[], refused boolean, gave_up boolean, rows_returned bigint, truncated boolean,
    latency_ms bigint, tokens_input bigint, tokens_output bigint, cost_usd double precision, model text, models jsonb,
    trace_id text, components jsonb, lessons text[], examples text[], tables_used text[], degraded text, surface text,
    under_identity boolean, record jsonb";
/// Columns of `sent`.
const SENT: &str =
    "id uuid, at timestamptz, domain text, ask uuid, purpose text, role text, model text, hash text,
    characters bigint";
/// Columns of `signals`.
const SIGNAL: &str =
    "id uuid, domain text, tool text, ask uuid, question text, sql text, tables text[], outcome text,
    error_types text[]";
/// Columns of `uses`.
const USE: &str = "id uuid, domain text, item uuid, ask uuid, event text";

/// A row that is never kept.
const TRIAL: &str = "INSERT INTO airlock.asks (id, domain, question, mode, outcome, attempts_used, error_types, refused, gave_up,
    rows_returned, truncated, latency_ms, tokens_input, tokens_output, trace_id, components, lessons, examples, tables_used,
    surface)
    VALUES (gen_random_uuid(), 'trial', 'a trial', 'agent', 'failed', 0, '{}', false, false, 0, false, 0, 0, 0, '', '[]', '{}',
    '{}', '{}', 'trial')";

impl Log {
    /// Appends finished asks, all or none of them. Appending one again changes nothing.
    ///
    /// # Errors
    /// When the store is away: they may be appended again later.
    pub async fn append(&self, lines: &[LogLine]) -> Result<(), StoreError> {
        let list =
            |texts: &mut dyn Iterator<Item = &str>| format!("[{}]", texts.collect::<Vec<_>>().join(","));
        let asks = list(&mut lines.iter().filter_map(|line| line.row.as_deref()));
        let sent = list(&mut lines.iter().filter_map(|line| line.sent.as_deref()));
        let signals = list(&mut lines.iter().filter_map(|line| line.signal.as_deref()));
        let uses = list(&mut lines.iter().flat_map(|line| &line.uses).map(String::as_str));
        let query = format!(
            "WITH asks AS ({}), sent AS ({}), signals AS ({}) {}",
            insert("asks", ASK, 1),
            insert("sent", SENT, 2),
            insert("signals", SIGNAL, 3),
            insert("uses", USE, 4)
        );
        let lease = self.pool.lease().await?;
        let appended = lease.execute(&query, &[&asks, &sent, &signals, &uses]).await;
        appended.map(|_| ()).map_err(|error| lease.error(&error))
    }

    /// Writes a row of the log and takes it back: whether one could be written now.
    ///
    /// # Errors
    /// Why not.
    pub async fn tried(&self) -> Result<(), StoreError> {
        let mut lease = self.pool.lease().await?;
        let duty = lease.duty;
        let failed = |error: tokio_postgres::Error| StoreError::of(duty, &error);
        let transaction = lease.transaction().await.map_err(failed)?;
        transaction.batch_execute(TRIAL).await.map_err(failed)?;
        transaction.rollback().await.map_err(failed)
    }
}

/// Appends the rows of a list. What is there already stays as it is.
fn insert(table: &str, columns: &str, parameter: u32) -> String {
    let names: Vec<&str> = columns.split(',').filter_map(|column| column.split_whitespace().next()).collect();
    let names = names.join(", ");
    format!(
        "INSERT INTO airlock.{table} ({names}) SELECT {names}
         FROM jsonb_to_recordset(${parameter}::text::jsonb) AS line ({columns}) ON CONFLICT DO NOTHING"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_postgresql_cannot_hold_is_replaced_wherever_it_stands() {
        for (value, want) in [
            (json!({"a": "x"}), r#"{"a":"x"}"#),
            (json!({"a": ["x\0y"]}), "{\"a\":[\"x\u{fffd}y\"]}"),
            (json!("\\u0000"), r#""\\u0000""#),
        ] {
            assert_eq!(storable(value), want);
        }
    }
}
