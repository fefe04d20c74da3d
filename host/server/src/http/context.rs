//! `POST /api/context`: what a model would see for a request, block by block.

use std::sync::Arc;

use airlock_pipeline::Host;
use airlock_pipeline::context::{Block, render};
use airlock_types::{AskRequest, RawAskRequest};
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use serde_json::{Map, Value, json};

use super::problem::Problem;
use crate::access::{Caller, Scope};

/// Shows the blocks of a request, whose fields are those of an ask. No model is asked.
pub async fn context(
    State(host): State<Arc<Host>>,
    caller: Caller,
    body: Result<Json<Map<String, Value>>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Ask)?;
    let Json(fields) = body?;
    let raw: RawAskRequest = serde_json::from_value(Value::Object(fields)).map_err(Problem::of_fields)?;
    let request = AskRequest::try_from(raw)?;
    let blocks = host.context(&request, &caller.asker).await?;
    Ok(Json(json!({
        "blocks": blocks.iter().map(block).collect::<Vec<_>>(),
        "text": render(&blocks),
    })))
}

/// A block, as every surface shows it.
pub fn block(block: &Block) -> Value {
    let used = block.used();
    json!({
        "kind": block.kind, "vouched_by": block.vouched_by, "hash": used.hash, "characters": used.characters,
        "text": block.text,
    })
}
