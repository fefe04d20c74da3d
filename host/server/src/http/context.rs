//! `POST /api/context`: what a model would see for a request, block by block.

use std::sync::Arc;

use airlock_pipeline::context::{Block, render};
use airlock_pipeline::{Host, Reranked, Shown};
use airlock_types::{AskRequest, RawAskRequest};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::body::Body;
use super::problem::Problem;
use crate::access::{Caller, Scope};
use crate::service::reach;

/// Shows the blocks of a request, whose fields are those of an ask. It is planned and linked as an ask would be; no draft is asked for.
#[utoipa::path(post, path = "/api/context", tag = "asks", request_body = RawAskRequest, responses((status = 200, body = Value)))]
pub async fn context(
    State(host): State<Arc<Host>>,
    caller: Caller,
    Body(raw): Body<RawAskRequest>,
) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Ask)?;
    let request = AskRequest::try_from(raw)?;
    let domain = reach::domain(&host, &caller, request.domain.as_ref())?;
    let request = AskRequest { domain: Some(domain.name().clone()), ..request };
    let Shown { blocks, missing, reranked } = host.context(&request, &caller.asker).await?;
    Ok(Json(json!({
        "blocks": blocks.iter().map(block).collect::<Vec<_>>(),
        "text": render(&blocks),
        "warnings": missing,
        "reranked": reranked.as_ref().map(read),
    })))
}

/// What the reranker did, as every surface shows it.
fn read(reranked: &Reranked) -> Value {
    let took = u64::try_from(reranked.took.as_millis()).unwrap_or(u64::MAX);
    json!({
        "model": reranked.model, "pairs": reranked.pairs, "took_ms": took, "degraded": reranked.degraded,
    })
}

/// A block, as every surface shows it.
pub fn block(block: &Block) -> Value {
    let used = block.used();
    json!({
        "kind": block.kind, "vouched_by": block.vouched_by, "hash": used.hash, "characters": used.characters,
        "text": block.text,
    })
}
