//! What a domain and its tables look like to somebody who is about to ask: the same on every surface.

use airlock_knowledge::TableView;
use airlock_pipeline::Domain;
use serde_json::{Value, json};

/// A domain in a few words.
pub fn summary(domain: &Domain) -> Value {
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

/// A table with its columns, its keys and its joins.
pub fn table(domain: &Domain, view: &TableView) -> Value {
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
