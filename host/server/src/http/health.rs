//! `/livez`, `/readyz` and `/api/health`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_knowledge::store::Store;
use airlock_pipeline::{Host, KeyRole};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::Value;
use tokio::sync::Mutex;

use super::report::{Health, Served};
use crate::access::Caller;
use crate::service::Service;
use crate::service::records::Watched;

/// The process answers.
#[utoipa::path(get, path = "/livez", tag = "health", responses((status = 200, body = String)))]
pub async fn live() -> &'static str {
    "ok\n"
}

/// The host is in service: it has a domain and a component for each stage. What a check finds later does not take it out.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "health",
    responses((status = 200, body = String), (status = 503, description = "No domain is in service.", body = String)),
)]
pub async fn ready(State(host): State<Arc<Host>>) -> (StatusCode, &'static str) {
    if host.domains().next().is_some() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "no domain\n")
    }
}

/// How long a report is served again: trying every claim takes statements that a watching page should not repeat.
const FRESH: Duration = Duration::from_secs(3);

/// The last report. Whoever comes while one is made waits for it.
#[derive(Clone, Default)]
pub struct LastReport(Arc<Mutex<Option<(Instant, Value)>>>);

/// Every claim, tried within the last seconds. 503 when one does not hold.
#[utoipa::path(
    get,
    path = "/api/health",
    tag = "health",
    responses((status = 200, body = Health), (status = 503, description = "A claim does not hold; the body says which.", body = Health)),
)]
pub async fn health(
    State(service): State<Service>,
    caller: Caller,
    State(last): State<LastReport>,
    State(watched): State<Watched>,
) -> (StatusCode, Json<Value>) {
    let mut last = last.0.lock().await;
    let report = match &*last {
        Some((made, report)) if made.elapsed() < FRESH => report.clone(),
        _ => {
            // What changed in the schema is seen before it is told, whether or not anybody asked a question meanwhile.
            service.host.look_at_sources().await;
            let mut report = report(&service.host, service.store.as_ref()).await;
            report.served = Some(Served {
                schedule: service.upkeep.report(service.config.scheduled.as_ref()),
                recall: service.host.recalls(),
                log: service.host.journal().map(Into::into),
                // What is asked may have changed, and takes nothing out of service.
                trend: watched.trend(service.store.as_ref()).await.map(Into::into),
                // Nor does a schema that is no longer the one that people wrote about: it is told with the answers, too.
                drift: service.host.drift().into_iter().map(Into::into).collect(),
            });
            let report = serde_json::to_value(report).unwrap_or_default();
            *last = Some((Instant::now(), report.clone()));
            report
        }
    };
    let ok = report.get("ok").and_then(Value::as_bool).unwrap_or(false);
    (if ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, Json(seen(report, &caller)))
}

/// What of a report a caller may see who is bound to some domains: what is of the host, and of those domains what names
/// them. What is told of all domains at once, and whatever is in neither list, is not for them.
fn seen(report: Value, caller: &Caller) -> Value {
    const OF_HOST: [&str; 5] = ["ok", "version", "models", "embedder", "reranker"];
    const BY_DOMAIN: [&str; 3] = ["domains", "sources", "drift"];
    let Value::Object(mut fields) = report else { return Value::Null };
    if !caller.is_bound() {
        return Value::Object(fields);
    }
    fields.retain(|name, value| match value.as_array_mut().filter(|_| BY_DOMAIN.contains(&name.as_str())) {
        Some(entries) => {
            entries.retain(|entry| {
                let name = entry.get("domain").unwrap_or(entry).as_str();
                name.and_then(|name| name.parse().ok()).is_some_and(|name| caller.sees(&name))
            });
            true
        }
        None => OF_HOST.contains(&name.as_str()),
    });
    Value::Object(fields)
}

/// The roles that keys in force give to their holders. While the store cannot say, none are looked at: that it is away is a
/// check of its own.
async fn roles_of_keys(store: Option<&Store>) -> Vec<KeyRole> {
    let Some(store) = store else { return Vec::new() };
    let keys = match store.ops().keys().await {
        Ok(keys) => keys,
        Err(error) => {
            tracing::debug!(%error, "the roles of keys are not looked at");
            return Vec::new();
        }
    };
    let now = jiff::Timestamp::now();
    let in_force =
        keys.into_iter().filter(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| now < end));
    let roles = in_force.filter_map(|key| Some(KeyRole { role: key.identity?.role?, domains: key.domains }));
    roles.collect()
}

/// The report that health and `airlock doctor` show.
pub async fn report(host: &Host, store: Option<&Store>) -> Health {
    Health::of(host, host.checks(&roles_of_keys(store).await).await)
}

#[cfg(test)]
mod tests {
    use airlock_pipeline::{Asker, Surface};
    use airlock_types::DomainName;
    use serde_json::json;

    use super::*;

    #[test]
    fn who_is_bound_to_a_domain_reads_of_no_other() {
        let (shop, fleet): (DomainName, _) = ("shop".parse().unwrap(), "fleet".parse().unwrap());
        let report = serde_json::to_value(Health::of_two(&shop, &fleet)).unwrap();
        assert_eq!(seen(report.clone(), &Caller::local(Surface::Http)), report);
        let bound = Caller::with_key("k".to_owned(), Asker::local(Surface::Http), [].into(), [shop].into());
        let told = seen(report.clone(), &bound);
        let fields: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            fields,
            ["ok", "version", "domains", "sources", "models", "embedder", "reranker", "drift"]
        );
        assert!(report.to_string().contains("fleet") && !told.to_string().contains("fleet"), "{told}");
        for (list, at) in [("domains", ""), ("sources", "/domain"), ("drift", "/domain")] {
            assert_eq!(told[list].as_array().map(Vec::len), Some(1), "{told}");
            assert_eq!(told[list][0].pointer(at), Some(&json!("shop")), "{told}");
        }
        // What a later version tells is not told before somebody said whose it is.
        let mut later = report;
        later["of_a_later_version"] = json!([{"domain": "shop", "beside": "fleet"}]);
        later["drift"] = json!("fleet is not a list");
        let told = seen(later, &bound);
        assert!(!told.to_string().contains("fleet"), "{told}");
    }
}
