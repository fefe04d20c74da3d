//! `GET /api/domains` and `GET /api/schema`: what can be asked about, so that a refusal is understandable.

use std::sync::Arc;

use airlock_pipeline::Host;
use airlock_types::DomainName;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::problem::Problem;
use crate::access::{Caller, Denied, Scope};
use crate::service::describe::{summary, table};
use crate::service::reach;

/// Query of `/api/schema`.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// Which domain; may be left out when the host serves one.
    domain: Option<DomainName>,
}

/// Whoever may ask may see what can be asked about.
fn may_look(caller: &Caller) -> Result<(), Denied> {
    if caller.has(Scope::Ask) { Ok(()) } else { caller.may(Scope::Read) }
}

/// The domains that the caller sees, a summary each.
///
/// # Errors
/// When the caller may neither ask nor read.
#[utoipa::path(get, path = "/api/domains", tag = "schema", responses((status = 200, body = Value)))]
pub async fn domains(State(host): State<Arc<Host>>, caller: Caller) -> Result<Json<Value>, Problem> {
    may_look(&caller)?;
    let seen: Vec<Value> = reach::domains(&host, &caller).map(|domain| summary(&domain)).collect();
    Ok(Json(json!({"domains": seen})))
}

/// One domain's relations with their notes.
///
/// # Errors
/// When there is no such domain.
#[utoipa::path(get, path = "/api/schema", tag = "schema", params(Which), responses((status = 200, body = Value)))]
pub async fn schema(
    State(host): State<Arc<Host>>,
    caller: Caller,
    which: Result<Query<Which>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    may_look(&caller)?;
    let Query(which) = which?;
    let domain = reach::domain(&host, &caller, which.domain.as_ref())?;
    let settings = domain.knowledge().settings();
    let tables: Vec<Value> = domain.knowledge().views().iter().map(|view| table(&domain, view)).collect();
    Ok(Json(json!({
        "domain": domain.name(),
        "title": settings.title,
        "description": settings.description,
        "time_zone": settings.time_zone,
        "row_cap": settings.row_cap,
        "tables": tables,
    })))
}
