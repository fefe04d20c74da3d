//! `GET /api/history`: a caller's own finished asks.

use std::sync::Arc;

use airlock_knowledge::store::PastTurn;
use airlock_pipeline::Host;
use airlock_types::{AskId, DomainName, FieldError, Outcome};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::problem::Problem;
use crate::access::{Caller, Scope};

/// Items of a page, when nothing is said.
const LIMIT: u16 = 50;
/// At most.
const MOST: u16 = 200;

/// Which part of the history.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Part {
    /// Items at most; 50 when left out.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of history.
#[derive(Serialize, ToSchema)]
pub struct History {
    /// The newest first.
    items: Vec<Past>,
    /// Where the next page begins; null at the end.
    next_cursor: Option<String>,
}

/// A finished ask.
#[derive(Serialize, ToSchema)]
pub struct Past {
    /// Its id, for a follow-up.
    #[schema(format = "uuid")]
    ask_id: String,
    /// The asks that follow one another have the same.
    #[schema(format = "uuid")]
    conversation: String,
    /// When it ended.
    #[schema(format = "date-time")]
    at: String,
    /// The domain.
    domain: DomainName,
    /// The question.
    question: String,
    /// The SQL behind the answer; null when there was none.
    sql: Option<String>,
    /// The sentence; null when it was not answered.
    answer: Option<String>,
    /// How it ended; null when an earlier version kept it.
    outcome: Option<Outcome>,
}

/// The caller's own asks, newest first.
#[utoipa::path(get, path = "/api/history", tag = "asks", params(Part), responses((status = 200, body = History)))]
pub async fn history(
    State(host): State<Arc<Host>>,
    caller: Caller,
    part: Result<Query<Part>, QueryRejection>,
) -> Result<Json<History>, Problem> {
    caller.may(Scope::Ask)?;
    let Query(part) = part?;
    let limit = part.limit.unwrap_or(LIMIT);
    if !(1..=MOST).contains(&limit) {
        return Err(FieldError::new("limit", format!("it is a number from 1 to {MOST}")).into());
    }
    let before: Option<AskId> = part
        .cursor
        .map(|cursor| cursor.parse())
        .transpose()
        .map_err(|_| FieldError::new("cursor", "it is what `next_cursor` of an earlier page was"))?;
    // One more than wanted tells whether there is a next page.
    let mut turns = host.history(&caller.asker, before, limit + 1).await?;
    let more = turns.len() > usize::from(limit);
    turns.truncate(usize::from(limit));
    let next_cursor = turns.last().filter(|_| more).map(|last| last.turn.ask.to_string());
    let items = turns.into_iter().filter(|past| caller.sees(&past.turn.domain)).map(Past::from).collect();
    Ok(Json(History { items, next_cursor }))
}

impl From<PastTurn> for Past {
    fn from(past: PastTurn) -> Self {
        let PastTurn { turn, conversation, at, .. } = past;
        Self {
            ask_id: turn.ask.to_string(),
            conversation: conversation.to_string(),
            at: at.to_string(),
            domain: turn.domain,
            question: turn.question,
            sql: turn.sql,
            answer: turn.answer,
            outcome: turn.outcome,
        }
    }
}
