//! `GET /api/domains` and `GET /api/schema`: what can be asked about, so that a refusal is understandable.

use std::sync::Arc;

use airlock_pipeline::Host;
use airlock_types::DomainName;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::problem::Problem;
use crate::access::{Caller, Scope};
use crate::service::describe::{Summary, Table};
use crate::service::reach;

/// Query of `/api/schema`.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// Which domain; may be left out when the host serves one.
    domain: Option<DomainName>,
}

/// The domains that a caller sees.
#[derive(Serialize, ToSchema)]
pub struct Domains {
    domains: Vec<Summary>,
}

/// One domain's relations.
#[derive(Serialize, ToSchema)]
pub struct Schema {
    #[schema(value_type = String)]
    domain: DomainName,
    title: String,
    description: String,
    /// IANA name of the zone in which days begin.
    time_zone: String,
    /// Rows of an answer at most.
    row_cap: u32,
    tables: Vec<Table>,
}

/// Whoever may ask may see what can be asked about.
const LOOKING: &[Scope] = &[Scope::Read, Scope::Ask];

/// The domains that the caller sees, a summary each.
///
/// # Errors
/// When the caller may neither ask nor read.
#[utoipa::path(get, path = "/api/domains", tag = "schema", responses((status = 200, body = Domains)))]
pub async fn domains(State(host): State<Arc<Host>>, caller: Caller) -> Result<Json<Domains>, Problem> {
    caller.may_by_one_of(LOOKING)?;
    let domains = reach::domains(&host, &caller).map(|domain| Summary::of(&domain)).collect();
    Ok(Json(Domains { domains }))
}

/// One domain's relations with their notes.
///
/// # Errors
/// When there is no such domain.
#[utoipa::path(get, path = "/api/schema", tag = "schema", params(Which), responses((status = 200, body = Schema)))]
pub async fn schema(
    State(host): State<Arc<Host>>,
    caller: Caller,
    which: Result<Query<Which>, QueryRejection>,
) -> Result<Json<Schema>, Problem> {
    caller.may_by_one_of(LOOKING)?;
    let Query(which) = which?;
    let domain = reach::domain(&host, &caller, which.domain.as_ref())?;
    let settings = domain.knowledge().settings();
    let tables = domain.knowledge().views().iter().map(|view| Table::of(&domain, view)).collect();
    Ok(Json(Schema {
        domain: domain.name().clone(),
        title: settings.title.clone(),
        description: settings.description.clone(),
        time_zone: settings.time_zone.clone(),
        row_cap: settings.row_cap,
        tables,
    }))
}
