//! How it is going: the log counted by PostgreSQL, in all, by day, by surface, by domain and by model.

use airlock_types::DomainName;
use airlock_types::ask::Tokens;
use serde::Serialize;
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Row, Transaction};

use super::error::StoreError;
use super::report::Report;
use super::rows::{get, moment, system};
use super::trend::{BEFORE_DAYS, RECENT_DAYS, Trend, Window, share};

/// Time for one statement of a report.
const LIMIT: &str = "SET LOCAL statement_timeout = '4s'";
/// Names of a list of what occurs most.
const TOP: i64 = 20;
/// Rows of a list by day at most.
const ROWS: i64 = 10_000;

/// Asks counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// Asks.
    pub asks: i64,
    /// Answered.
    pub answered: i64,
    /// Ended in a clarification.
    pub clarification: i64,
    /// Refused.
    pub refused: i64,
    /// Given up.
    pub gave_up: i64,
    /// Failed by something other than the question.
    pub failed: i64,
    /// Answered by SQL that gave no row.
    pub empty: i64,
    /// Answered after more than one attempt.
    pub repaired: i64,
    /// Of the asks whose first attempt failed and that ended answered or given up, the share that was answered.
    pub repair_rate: Option<f64>,
    /// Share of all asks.
    pub give_up_rate: Option<f64>,
    /// Share of all asks.
    pub refusal_rate: Option<f64>,
    /// Share of the answers by SQL.
    pub empty_rate: Option<f64>,
    /// Attempts of an ask that had any, on average.
    pub attempts_mean: Option<f64>,
    /// Attempts of an ask that was answered by SQL, on average: the drift signal.
    pub attempts_per_success: Option<f64>,
    /// Median latency.
    pub latency_p50_ms: Option<f64>,
    /// The latency that one in twenty exceeds.
    pub latency_p95_ms: Option<f64>,
    /// Tokens.
    pub tokens: Tokens,
    /// Dollars; none as soon as the price of one ask is unknown.
    pub cost_usd: Option<f64>,
    /// Asks whose price is unknown.
    pub unpriced: i64,
}

/// Asks of one day, surface or domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// The day in UTC, such as `2026-11-30`, the surface, or the domain.
    pub of: String,
    /// Its asks.
    #[serde(flatten)]
    pub tally: Tally,
}

/// What a model cost on a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelDay {
    /// The day in UTC.
    pub day: String,
    /// The model.
    pub model: String,
    /// Calls that it answered.
    pub calls: i64,
    /// Tokens.
    pub tokens: Tokens,
    /// Dollars; none as soon as the price of one call is unknown.
    pub cost_usd: Option<f64>,
}

/// How often something occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// What.
    pub name: String,
    /// How often.
    pub count: i64,
}

/// How it is going.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// The first moment that is counted.
    pub since: jiff::Timestamp,
    /// When it was counted.
    pub until: jiff::Timestamp,
    /// The domain; all when there is none.
    pub domain: Option<DomainName>,
    /// All asks.
    pub all: Tally,
    /// By day, the last first.
    pub days: Vec<Part>,
    /// By surface, the busiest first.
    pub surfaces: Vec<Part>,
    /// By domain, the busiest first.
    pub domains: Vec<Part>,
    /// By day and model, the last day first.
    pub models: Vec<ModelDay>,
    /// Failures of attempts by kind, the most frequent first.
    pub error_types: Vec<Named>,
    /// Lessons that took part, the most used first.
    pub lessons: Vec<Named>,
    /// Examples that took part, the most used first.
    pub examples: Vec<Named>,
    /// The drift signal, of the days up to now.
    pub trend: Trend,
}

/// What every query filters by: `$1` is the domain, `$2` the first moment.
const WHICH: &str = "FROM airlock.asks WHERE ($1::text IS NULL OR domain = $1) AND asked_at >= $2";

/// The day of an ask.
const DAY: &str = "to_char(asked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')";

const COUNTS: &str = "count(*) AS asks,
    count(*) FILTER (WHERE outcome = 'answered') AS answered,
    count(*) FILTER (WHERE outcome = 'clarification') AS clarification,
    count(*) FILTER (WHERE outcome = 'refused') AS refused,
    count(*) FILTER (WHERE outcome = 'gave_up') AS gave_up,
    count(*) FILTER (WHERE outcome = 'failed') AS failed,
    count(*) FILTER (WHERE outcome = 'answered' AND final_sql IS NOT NULL) AS by_sql,
    count(*) FILTER (WHERE outcome = 'answered' AND final_sql IS NOT NULL AND rows_returned = 0) AS empty,
    count(*) FILTER (WHERE outcome = 'answered' AND attempts_used > 1) AS repaired,
    count(*) FILTER (WHERE outcome IN ('answered', 'gave_up') AND cardinality(error_types) > 0) AS broken,
    avg(attempts_used::float8) FILTER (WHERE attempts_used > 0) AS attempts_mean,
    avg(attempts_used::float8) FILTER (WHERE outcome = 'answered' AND final_sql IS NOT NULL) AS attempts_per_success,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms::float8) AS p50,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms::float8) AS p95,
    coalesce(sum(tokens_input), 0)::bigint AS tokens_input, coalesce(sum(tokens_output), 0)::bigint AS tokens_output,
    count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced, coalesce(sum(cost_usd), 0)::float8 AS cost_usd";

impl Report {
    /// How it is going since a moment: of a domain, or of all.
    ///
    /// # Errors
    /// When the store does not answer, or not within seconds.
    pub async fn stats(
        &self,
        domain: Option<&DomainName>,
        since: jiff::Timestamp,
    ) -> Result<Stats, StoreError> {
        self.counted(
            async |counting: &Counting<'_>| {
                let mut parts = counting.parts().await?;
                let of = |parts: &mut Vec<(i32, Part)>, set: i32| -> Vec<Part> {
                    parts.extract_if(.., |(found, _)| *found == set).map(|(_, part)| part).collect()
                };
                let all = of(&mut parts, ALL).pop().map(|part| part.tally);
                Ok(Stats {
                    since,
                    until: counting.now().await?,
                    domain: domain.cloned(),
                    all: all.ok_or_else(|| StoreError::Row("the asks were not counted".to_owned()))?,
                    days: of(&mut parts, BY_DAY),
                    surfaces: of(&mut parts, BY_SURFACE),
                    domains: of(&mut parts, BY_DOMAIN),
                    models: counting.models().await?,
                    error_types: counting.most("error_types").await?,
                    lessons: counting.most("lessons").await?,
                    examples: counting.most("examples").await?,
                    trend: counting.trend().await?,
                })
            },
            domain,
            since,
        )
        .await
    }

    /// The drift signal alone.
    ///
    /// # Errors
    /// As [`Report::stats`].
    pub async fn trend(&self, domain: Option<&DomainName>) -> Result<Trend, StoreError> {
        self.counted(
            async |counting: &Counting<'_>| counting.trend().await,
            domain,
            jiff::Timestamp::UNIX_EPOCH,
        )
        .await
    }

    /// Counts in one snapshot of the log, within a time for each statement.
    async fn counted<T>(
        &self,
        count: impl AsyncFnOnce(&Counting<'_>) -> Result<T, StoreError>,
        domain: Option<&DomainName>,
        since: jiff::Timestamp,
    ) -> Result<T, StoreError> {
        let mut lease = self.pool.lease().await?;
        let duty = lease.duty;
        let failed = |error: tokio_postgres::Error| StoreError::of(duty, &error);
        let begun = lease.build_transaction().read_only(true).isolation_level(IsolationLevel::RepeatableRead);
        let transaction = begun.start().await.map_err(failed)?;
        transaction.batch_execute(LIMIT).await.map_err(failed)?;
        let domain = domain.map(|domain| domain.as_str().to_owned());
        let counting = Counting { transaction, duty, domain, since: system(since) };
        let counted = count(&counting).await?;
        counting.transaction.rollback().await.map_err(failed)?;
        Ok(counted)
    }
}

/// Bits of `grouping(day, surface, domain)`: a bit is set for what is not grouped by.
const ALL: i32 = 0b111;
const BY_DAY: i32 = 0b011;
const BY_SURFACE: i32 = 0b101;
const BY_DOMAIN: i32 = 0b110;

/// Counting under way, in one transaction.
struct Counting<'a> {
    transaction: Transaction<'a>,
    duty: super::Duty,
    domain: Option<String>,
    since: std::time::SystemTime,
}

impl Counting<'_> {
    async fn rows(&self, query: &str, more: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        let mut given: Vec<&(dyn ToSql + Sync)> = vec![&self.domain, &self.since];
        given.extend(more);
        self.transaction.query(query, &given).await.map_err(|error| StoreError::of(self.duty, &error))
    }

    async fn now(&self) -> Result<jiff::Timestamp, StoreError> {
        let row = self.transaction.query_one("SELECT now() AS now", &[]).await;
        moment(&row.map_err(|error| StoreError::of(self.duty, &error))?, "now")
    }

    /// One pass over the log, counted in four ways.
    async fn parts(&self) -> Result<Vec<(i32, Part)>, StoreError> {
        let query = format!(
            "SELECT grouping(day, surface, domain) AS set, coalesce(day, surface, domain, '') AS of, {COUNTS}
             FROM (SELECT *, {DAY} AS day {WHICH}) AS asks
             GROUP BY GROUPING SETS ((), (day), (surface), (domain))
             ORDER BY day DESC NULLS LAST, count(*) DESC, 2 LIMIT $3"
        );
        let rows = self.rows(&query, &[&ROWS]).await?;
        rows.iter()
            .map(|row| Ok((get(row, "set")?, Part { of: get(row, "of")?, tally: tally(row)? })))
            .collect()
    }

    async fn models(&self) -> Result<Vec<ModelDay>, StoreError> {
        let query = format!(
            "SELECT day, used ->> 'model' AS model, sum((used ->> 'calls')::bigint)::bigint AS calls,
                sum((used #>> '{{tokens,input}}')::bigint)::bigint AS tokens_input,
                sum((used #>> '{{tokens,output}}')::bigint)::bigint AS tokens_output,
                count(*) FILTER (WHERE used ->> 'cost' IS NULL) AS unpriced,
                coalesce(sum((used ->> 'cost')::float8), 0)::float8 AS cost_usd
             FROM (SELECT {DAY} AS day, jsonb_array_elements(models) AS used {WHICH}) AS used
             GROUP BY 1, 2 ORDER BY 1 DESC, 2 LIMIT $3"
        );
        let rows = self.rows(&query, &[&ROWS]).await?;
        rows.iter()
            .map(|row| {
                Ok(ModelDay {
                    day: get(row, "day")?,
                    model: get(row, "model")?,
                    calls: get(row, "calls")?,
                    tokens: tokens(row)?,
                    cost_usd: cost(row)?,
                })
            })
            .collect()
    }

    /// What occurs most in a list of names.
    async fn most(&self, column: &'static str) -> Result<Vec<Named>, StoreError> {
        let query = format!(
            "SELECT name, count(*) AS count FROM (SELECT unnest({column}) AS name {WHICH}) AS names
             GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $3"
        );
        let rows = self.rows(&query, &[&TOP]).await?;
        rows.iter().map(|row| Ok(Named { name: get(row, "name")?, count: get(row, "count")? })).collect()
    }

    async fn trend(&self) -> Result<Trend, StoreError> {
        let query = "SELECT asked_at >= now() - make_interval(days => $2) AS recent,
                count(*) FILTER (WHERE outcome = 'answered') AS answered,
                coalesce(sum(attempts_used) FILTER (WHERE outcome = 'answered'), 0)::bigint AS attempts,
                coalesce(sum(attempts_used * attempts_used) FILTER (WHERE outcome = 'answered'), 0)::bigint AS squares,
                count(*) AS drafted, count(*) FILTER (WHERE outcome = 'gave_up') AS gave_up
            FROM airlock.asks
            WHERE ($1::text IS NULL OR domain = $1) AND asked_at >= now() - make_interval(days => $2 + $3)
                AND mode = 'agent' AND attempts_used > 0
                AND (outcome = 'gave_up' OR (outcome = 'answered' AND final_sql IS NOT NULL))
            GROUP BY 1";
        let days = |days: u32| i32::try_from(days).unwrap_or(i32::MAX);
        let given: [&(dyn ToSql + Sync); 3] = [&self.domain, &days(RECENT_DAYS), &days(BEFORE_DAYS)];
        let rows = self.transaction.query(query, &given).await;
        let rows = rows.map_err(|error| StoreError::of(self.duty, &error))?;
        let mut recent = Window { days: RECENT_DAYS, ..Window::default() };
        let mut before = Window { days: BEFORE_DAYS, ..Window::default() };
        for row in &rows {
            let window = if get(row, "recent")? { &mut recent } else { &mut before };
            window.answered = get(row, "answered")?;
            window.attempts = get(row, "attempts")?;
            window.squares = get(row, "squares")?;
            window.drafted = get(row, "drafted")?;
            window.gave_up = get(row, "gave_up")?;
        }
        Ok(Trend::of(recent, before))
    }
}

fn tally(row: &Row) -> Result<Tally, StoreError> {
    let count = |column: &str| get::<i64>(row, column);
    let (asks, answered, gave_up) = (count("asks")?, count("answered")?, count("gave_up")?);
    let (refused, repaired, empty) = (count("refused")?, count("repaired")?, count("empty")?);
    Ok(Tally {
        asks,
        answered,
        clarification: count("clarification")?,
        refused,
        gave_up,
        failed: count("failed")?,
        empty,
        repaired,
        repair_rate: share(repaired, count("broken")?),
        give_up_rate: share(gave_up, asks),
        refusal_rate: share(refused, asks),
        empty_rate: share(empty, count("by_sql")?),
        attempts_mean: get(row, "attempts_mean")?,
        attempts_per_success: get(row, "attempts_per_success")?,
        latency_p50_ms: get(row, "p50")?,
        latency_p95_ms: get(row, "p95")?,
        tokens: tokens(row)?,
        cost_usd: cost(row)?,
        unpriced: count("unpriced")?,
    })
}

fn tokens(row: &Row) -> Result<Tokens, StoreError> {
    let count = |column: &str| get::<i64>(row, column).map(|n| u64::try_from(n).unwrap_or_default());
    Ok(Tokens { input: count("tokens_input")?, output: count("tokens_output")? })
}

/// The sum, unless a part of it is unknown: what is unknown is not 0.
fn cost(row: &Row) -> Result<Option<f64>, StoreError> {
    let (unpriced, sum): (i64, f64) = (get(row, "unpriced")?, get(row, "cost_usd")?);
    Ok((unpriced == 0).then_some(sum))
}
