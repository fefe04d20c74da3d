//! `GET /api/domains` and `GET /api/schema`: what can be asked about, so that a refusal is understandable.

use std::sync::Arc;

use airlock_knowledge::TableView;
use airlock_pipeline::{Domain, Host};
use airlock_types::DomainName;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::problem::Problem;

/// Query of `/api/schema`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    domain: Option<DomainName>,
}

/// The domains, a summary each.
pub async fn domains(State(host): State<Arc<Host>>) -> Json<Value> {
    Json(json!({"domains": host.domains().map(|domain| summary(&domain)).collect::<Vec<_>>()}))
}

fn summary(domain: &Domain) -> Value {
    let settings = domain.knowledge().settings();
    json!({
        "domain": domain.name(),
        "title": settings.title,
        "description": settings.description,
        "tables": domain.knowledge().views().len(),
        "pack": domain.knowledge().pack_hash(),
        "examples": domain.suggestions().collect::<Vec<_>>(),
    })
}

/// One domain's relations with their notes.
///
/// # Errors
/// When there is no such domain.
pub async fn schema(
    State(host): State<Arc<Host>>,
    which: Result<Query<Which>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let Query(which) = which?;
    let domain = host.domain(which.domain.as_ref())?;
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

fn table(domain: &Domain, view: &TableView) -> Value {
    let columns: Vec<Value> = view
        .columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name,
                "type": column.sql_type,
                "nullable": column.nullable,
                "description": column.description,
                "class": column.class.as_str(),
                "values": if column.enum_labels.is_empty() { &column.samples } else { &column.enum_labels },
            })
        })
        .collect();
    let joins: Vec<Value> = domain
        .knowledge()
        .joins_of(&view.table)
        .map(|join| {
            json!({
                "from": join.from.to_string(), "from_columns": join.from_columns,
                "to": join.to.to_string(), "to_columns": join.to_columns,
                "origin": join.origin.as_str(), "verified": join.verified(),
            })
        })
        .collect();
    json!({
        "schema": view.table.schema,
        "name": view.table.name,
        "kind": view.kind.as_str(),
        "description": view.description,
        "not_for": view.not_for,
        "in_use": view.in_use,
        "row_estimate": view.row_estimate,
        "primary_key": view.primary_key,
        "columns": columns,
        "joins": joins,
    })
}
