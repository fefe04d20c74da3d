//! `/livez`, `/readyz` and `/api/health`.

use std::sync::Arc;

use airlock_pipeline::Host;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

/// The process answers.
pub async fn live() -> &'static str {
    "ok\n"
}

/// The host is in service: it has a domain and a component for each stage. What a check finds later does not take it out.
pub async fn ready(State(host): State<Arc<Host>>) -> (StatusCode, &'static str) {
    if host.domains().next().is_some() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "no domain\n")
    }
}

/// Every claim, tried now. 503 when one does not hold.
pub async fn health(State(host): State<Arc<Host>>) -> (StatusCode, Json<Value>) {
    let report = report(&host).await;
    let ok = report.get("ok").and_then(Value::as_bool).unwrap_or(false);
    (if ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, Json(report))
}

/// The report that health and `airlock doctor` show.
pub async fn report(host: &Host) -> Value {
    let checks = host.checks().await;
    let set = host.registry().current();
    let components: Vec<Value> = set
        .iter()
        .map(|(stage, scope, component)| {
            json!({
                "stage": stage,
                "domains": scope.to_string(),
                "component": component.name(),
                "digest": component.digest(),
            })
        })
        .collect();
    let models: Vec<Value> = host
        .models()
        .describe()
        .into_iter()
        .map(|(role, model, _)| json!({"role": role.as_str(), "model": model}))
        .collect();
    json!({
        "ok": !checks.iter().any(airlock_pipeline::Checked::failed),
        "version": env!("CARGO_PKG_VERSION"),
        "domains": host.domains().map(|domain| domain.name()).collect::<Vec<_>>(),
        "components": components,
        "models": models,
        "checks": checks,
    })
}
