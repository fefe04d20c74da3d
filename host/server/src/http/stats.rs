//! `GET /api/stats`: how it is going, counted from the log.

use airlock_types::DomainName;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::knowledge::store;
use super::problem::Problem;
use crate::access::{Caller, Scope};
use crate::service::Service;
use crate::service::reach;
use crate::service::records::since;

/// Days that are counted when nothing is said.
const DAYS: u32 = 7;
/// Days at most.
const MOST: u32 = 366;

/// What is counted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Days, this one included; 7 when left out.
    #[param(minimum = 1, maximum = 366)]
    days: Option<u32>,
    /// Which domain; all when left out. A caller who is bound to domains names one.
    #[param(value_type = Option<String>)]
    domain: Option<DomainName>,
}

/// How it is going: asks by outcome, day, surface, domain and model, what failed, what helped, and the drift signal.
#[utoipa::path(get, path = "/api/stats", tag = "health", params(Wanted), responses((status = 200, body = Value)))]
pub async fn stats(
    State(service): State<Service>,
    caller: Caller,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    caller.may(Scope::Read)?;
    let Query(Wanted { days, domain }) = wanted?;
    let days = days.unwrap_or(DAYS);
    if !(1..=MOST).contains(&days) {
        return Err(Problem::of_field("days", format!("days: it is from 1 to {MOST}.")));
    }
    // Whoever is bound to one domain means that one.
    let mut own = caller.domains();
    let domain = match (domain, own.next(), own.next()) {
        (Some(domain), ..) => Some(domain),
        (None, None, _) => None,
        (None, Some(only), None) => Some(only.clone()),
        (None, ..) => {
            return Err(Problem::of_field("domain", "domain: this caller has several; name one of them."));
        }
    };
    if let Some(domain) = &domain {
        reach::domain(&service.host, &caller, Some(domain))?;
    }
    let stats = store(&service)?.report().stats(domain.as_ref(), since(days)).await?;
    Ok(Json(json!({"logged": service.config.log.asks, "stats": stats})))
}
