//! `POST /api/ask`: the record of an ask as JSON, its rows as CSV, or its progress and its record as events.

use std::sync::Arc;

use airlock_pipeline::Host;
use airlock_pipeline::progress::Reporter;
use airlock_types::{Answer, AskRequest, Outcome, RawAskRequest};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::accept::{Any, Form};
use super::body::Body;
use super::notices::Notice;
use super::problem::Problem;
use super::table::Table;
use super::watch;
use crate::access::{Caller, Scope};
use crate::service::reach;

/// Answers a question. The four endings that are answers come with 200; a failed ask is a problem with its history.
///
/// With `accept: text/event-stream` the events of the work come while it goes on; the last one is `answer` or `problem`.
/// With `accept: text/csv` the rows alone come; what has no rows to give is a problem.
/// A client that goes away ends the ask, and with it the statement on the database server.
#[utoipa::path(
    post,
    path = "/api/ask",
    tag = "asks",
    request_body = RawAskRequest,
    params(super::once::Key),
    responses(
        (
            status = 200,
            description = "The record: answered, clarification, refused or gave_up.",
            content(
                (Answer = "application/json"),
                (String = "text/event-stream"),
                (String = "text/csv"),
            ),
            headers(
                ("x-airlock-truncated" = Option<String>, description = "Of CSV: whether there was more than the cap let through."),
                ("x-airlock-notices" = Option<String>, description = "Of CSV: what JSON says beside the rows, as a JSON array of objects with `code` (truncated, degraded, warning, assumed, more) and `text`."),
            ),
        ),
    ),
)]
pub async fn ask(
    State(host): State<Arc<Host>>,
    caller: Caller,
    Any(form): Any,
    Body(raw): Body<RawAskRequest>,
) -> Result<Response, Problem> {
    caller.may(Scope::Ask)?;
    let request = AskRequest::try_from(raw)?;
    let domain = reach::domain(&host, &caller, request.domain.as_ref())?;
    let request = AskRequest { domain: Some(domain.name().clone()), ..request };
    Ok(match form {
        Form::Json => Json(answer(&host, &request, &caller, Reporter::silent()).await?).into_response(),
        Form::Csv => rows(answer(&host, &request, &caller, Reporter::silent()).await?)?,
        Form::Events => {
            watch::watch(|reporter| async move { answer(&host, &request, &caller, reporter).await })
        }
    })
}

async fn answer(
    host: &Host,
    request: &AskRequest,
    caller: &Caller,
    reporter: Reporter,
) -> Result<Answer, Problem> {
    let finished = host.ask(request, &caller.asker, reporter).await?;
    if finished.answer.outcome == Outcome::Failed {
        return Err(Problem::of_failed(finished.fault.as_ref(), finished.answer));
    }
    Ok(finished.answer)
}

/// The rows of an answer; an ending without any is not an empty table.
fn rows(answer: Answer) -> Result<Response, Problem> {
    if answer.outcome != Outcome::Answered || answer.columns.is_empty() {
        let why = answer.reason.as_deref().or(answer.answer.as_deref()).unwrap_or_default();
        let detail = format!("The ask ended without rows ({}): {why}", answer.outcome.as_str());
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no-rows", detail).with_answer(answer));
    }
    let notices = Notice::of_answer(&answer);
    let table = Table { columns: &answer.columns, rows: &answer.rows, truncated: answer.truncated, notices };
    Ok(table.into_response())
}
