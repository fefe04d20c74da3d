//! `POST /api/feedback`: what somebody thinks of an answer. It is recorded, and proposes; it decides nothing.

use std::time::{Duration, Instant};

use airlock_knowledge::store::{AskedRow, Store, StoreError};
use airlock_pipeline::learning::{FeedbackError, Judgement};
use airlock_types::AskId;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body::Body;
use super::knowledge::store;
use super::problem::Problem;
use crate::access::{Caller, Scope};
use crate::service::Service;

/// How long an ask that ended this moment is looked for: it is logged beside its answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// So often.
const EVERY: Duration = Duration::from_millis(150);
/// Characters of a note.
const NOTE: usize = 2_000;
/// Characters of SQL.
const SQL: usize = 8_000;

/// Right or wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The answer is right.
    Right,
    /// It is wrong.
    Wrong,
}

/// A verdict on an answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Judging {
    /// The ask, as its answer names it.
    #[schema(value_type = String)]
    ask_id: AskId,
    /// Right or wrong.
    verdict: Verdict,
    /// SQL that would be right, of a wrong answer; the gate must let it run.
    #[schema(max_length = 8000)]
    sql: Option<String>,
    /// In your words.
    #[schema(max_length = 2000)]
    note: Option<String>,
}

/// What became of a verdict.
#[derive(Debug, Serialize, ToSchema)]
pub struct Recorded {
    /// The verdict's own identity.
    feedback: String,
    /// What it proposes that was not known: golden cases and examples, which people decide on.
    candidates: Vec<String>,
}

/// Say whether an answer was right. Of one's own asks; of everybody's with the scope `curate`.
#[utoipa::path(post, path = "/api/feedback", tag = "knowledge", request_body = Judging,
    responses((status = 200, body = Recorded)))]
pub async fn feedback(
    State(service): State<Service>,
    caller: Caller,
    Body(judging): Body<Judging>,
) -> Result<Json<Recorded>, Problem> {
    caller.may(Scope::Feedback)?;
    for (field, text, most) in [("note", &judging.note, NOTE), ("sql", &judging.sql, SQL)] {
        if text.as_ref().is_some_and(|text| text.chars().count() > most) {
            return Err(Problem::of_field(field, format!("{field}: it has at most {most} characters.")));
        }
        if text.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(Problem::of_field(field, format!("{field}: it holds a NUL character.")));
        }
    }
    let store = store(&service)?;
    let report = store.report();
    let asked = written(judging.ask_id, || report.asked(judging.ask_id)).await?;
    let asked = match asked {
        Some(asked) if theirs(&caller, store, &asked, judging.ask_id).await? => asked,
        _ => {
            let detail = "There is no such ask of yours in the log: it was never finished, is too old, or somebody else's.";
            return Err(Problem::new(StatusCode::NOT_FOUND, "unknown-ask", detail));
        }
    };
    let domain = service.host.domain(Some(&asked.domain))?;
    let judgement = Judgement {
        ask: judging.ask_id,
        right: judging.verdict == Verdict::Right,
        sql: judging.sql,
        note: judging.note,
        who: Some(caller.name.clone()),
    };
    let handles = (&store.log(), &store.distill());
    match judgement.record(&asked, &domain, handles, caller.asker.surface.as_str()).await {
        Ok(recorded) => {
            service.host.learn_from_verdict(judgement, asked);
            Ok(Json(Recorded {
                feedback: recorded.feedback.to_string(),
                candidates: recorded.candidates.iter().map(ToString::to_string).collect(),
            }))
        }
        Err(FeedbackError::Store(error)) => Err(error.into()),
        Err(error @ FeedbackError::NothingToJudge(_)) => Err(Problem::of_field("verdict", error)),
        Err(error) => Err(Problem::of_field("sql", error)),
    }
}

/// What is written of an ask; of a young one it may still be on its way.
async fn written<T, R>(ask: AskId, read: impl Fn() -> R) -> Result<Option<T>, Problem>
where
    R: Future<Output = Result<Option<T>, StoreError>>,
{
    let until = Instant::now() + PATIENCE;
    loop {
        let found = read().await?;
        let young = ask.age().is_some_and(|age| age < Duration::from_secs(60));
        if found.is_some() || !young || Instant::now() > until {
            return Ok(found);
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Whether an ask is one that the caller may judge: everybody without a key is one person, and nobody with one.
async fn theirs(caller: &Caller, store: &Store, asked: &AskedRow, ask: AskId) -> Result<bool, Problem> {
    if !caller.sees(&asked.domain) {
        return Ok(false);
    }
    if caller.has(Scope::Curate) {
        return Ok(true);
    }
    let (ops, owner) = (store.ops(), caller.asker.owner.as_deref());
    let turn = written(ask, || ops.turn(&asked.domain, owner, ask)).await?;
    Ok(turn.is_some())
}
