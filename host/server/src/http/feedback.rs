//! `POST /api/feedback`: what somebody thinks of an answer. It is recorded, and proposes; it decides nothing.

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
use crate::service::{Service, judging};

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
    said: Result<Body<Judging>, Problem>,
) -> Result<Json<Recorded>, Problem> {
    caller.may(Scope::Feedback)?;
    let Body(said) = said?;
    for (field, text, most) in [("note", &said.note, judging::NOTE), ("sql", &said.sql, SQL)] {
        if text.as_ref().is_some_and(|text| text.chars().count() > most) {
            return Err(Problem::of_field(field, format!("{field}: it has at most {most} characters.")));
        }
        if text.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(Problem::of_field(field, format!("{field}: it holds a NUL character.")));
        }
    }
    let store = store(&service)?;
    let Some(asked) = judging::judged(&caller, store, said.ask_id).await? else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "unknown-ask", judging::UNKNOWN));
    };
    let domain = service.host.domain(Some(&asked.domain))?;
    let judgement = Judgement {
        ask: said.ask_id,
        right: said.verdict == Verdict::Right,
        sql: said.sql,
        note: said.note,
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
        Err(error) => Err(Problem::of_field(error.field(), error)),
    }
}
