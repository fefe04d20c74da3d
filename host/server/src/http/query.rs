//! `POST /api/query` and `POST /api/check`: a person's own SQL, run or only judged.

use std::sync::Arc;

use airlock_pipeline::{Host, QueryError};
use airlock_types::query::{QueryRequest, QueryResult, RawQueryRequest};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::accept::{Form, Rows};
use super::body::Body;
use super::notices::Notice;
use super::problem::Problem;
use super::table::Table;
use crate::access::{Caller, Scope};
use crate::service::reach;
use crate::verdict::Verdict;

/// Runs SQL: through the gate, the domain's rules and the same caps as a draft of an ask.
#[utoipa::path(
    post,
    path = "/api/query",
    tag = "sql",
    request_body = RawQueryRequest,
    params(super::once::Key),
    responses(
        (
            status = 200,
            description = "The rows.",
            content((QueryResult = "application/json"), (String = "text/csv")),
            headers(
                ("x-airlock-truncated" = Option<String>, description = "Of CSV: whether there was more than the cap let through."),
                ("x-airlock-notices" = Option<String>, description = "Of CSV: what JSON says beside the rows, as a JSON array of objects with `code` (truncated, warning, more) and `text`."),
            ),
        ),
    ),
)]
pub async fn query(
    State(host): State<Arc<Host>>,
    caller: Caller,
    Rows(form): Rows,
    Body(raw): Body<RawQueryRequest>,
) -> Result<Response, Problem> {
    caller.may(Scope::Query)?;
    let request = QueryRequest::try_from(raw)?;
    let domain = reach::domain(&host, &caller, request.domain.as_ref())?;
    let request = QueryRequest { domain: Some(domain.name().clone()), ..request };
    let result = host.query(&request, &caller.asker).await?;
    Ok(match form {
        Form::Csv => {
            let notices = Notice::of_result(&result);
            Table { columns: &result.columns, rows: &result.rows, truncated: result.truncated, notices }
                .into_response()
        }
        Form::Json | Form::Events => Json(result).into_response(),
    })
}

/// SQL that is to be judged.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CheckRequest {
    /// One statement that reads.
    #[schema(value_type = String, required = true, min_length = 1, max_length = 65536)]
    sql: Option<String>,
    /// Which domain; may be left out when the host serves one.
    #[schema(pattern = "^[a-z][a-z0-9-]{0,62}$")]
    domain: Option<String>,
}

/// Judges SQL without running it. A text that the gate rejects is a verdict, not a problem.
#[utoipa::path(
    post,
    path = "/api/check",
    tag = "sql",
    request_body = CheckRequest,
    params(super::once::Key),
    responses((status = 200, description = "The verdict.", body = Verdict)),
)]
pub async fn check(
    State(host): State<Arc<Host>>,
    caller: Caller,
    Body(CheckRequest { sql, domain }): Body<CheckRequest>,
) -> Result<Json<Verdict>, Problem> {
    caller.may_by_one_of(Scope::JUDGING_SQL)?;
    let request = QueryRequest::try_from(RawQueryRequest { sql, domain, max_rows: None })?;
    let domain = reach::domain(&host, &caller, request.domain.as_ref())?;
    let verdict = host.check(Some(domain.name()), &request.sql, &caller.asker).await?;
    Ok(Json(Verdict::of(Value::Null, &verdict)))
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        let detail = error.to_string();
        let unfit = |code| Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, &detail);
        match error {
            QueryError::Ask(error) => error.into(),
            QueryError::Fault(fault) => Self::of_fault(Some(&fault), fault.to_string()),
            QueryError::Rejected { failure, .. } => unfit("sql-rejected").with_failure(failure),
            QueryError::Blocked(failure) => unfit("sql-blocked").with_failure(failure),
            QueryError::Failed(failure) => unfit("sql-failed").with_failure(failure),
            _ => Self::internal(),
        }
    }
}
