//! `POST /api/ask`.

use std::sync::Arc;

use airlock_pipeline::Host;
use airlock_pipeline::progress::Reporter;
use airlock_types::{Answer, AskRequest, Outcome, RawAskRequest};
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use serde_json::{Map, Value};

use super::problem::Problem;
use crate::access::{Caller, Scope};

/// Answers a question. The four endings that are answers come with 200; a failed ask is a problem with its history.
///
/// A client that goes away drops this future, and with it the statement on the database server.
pub async fn ask(
    State(host): State<Arc<Host>>,
    caller: Caller,
    body: Result<Json<Map<String, Value>>, JsonRejection>,
) -> Result<Json<Answer>, Problem> {
    caller.may(Scope::Ask)?;
    let Json(fields) = body?;
    let raw: RawAskRequest = serde_json::from_value(Value::Object(fields)).map_err(Problem::of_fields)?;
    let request = AskRequest::try_from(raw)?;
    let finished = host.ask(&request, &caller.asker, Reporter::silent()).await?;
    if finished.answer.outcome == Outcome::Failed {
        return Err(Problem::of_failed(finished.fault.as_ref(), finished.answer));
    }
    Ok(Json(finished.answer))
}
