//! A schema that changes under a running host: the next ask goes by what is there, not by what was.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::Duration;

use airlock_setup::PrivatePostgres;
use airlock_tests::{Airlock, Said, ScriptedModel};
use serde_json::json;

#[tokio::test]
async fn a_changed_schema_is_noticed_before_the_next_ask() {
    let model = ScriptedModel::start(|prompt| match prompt {
        _ if prompt.contains("Upper names?") => {
            Said::Text("SELECT upper(cust_name) FROM customers LIMIT 1".to_owned())
        }
        _ if prompt.contains("New table?") => Said::Text("SELECT count(*) FROM visits".to_owned()),
        _ => Said::Text("SELECT count(*) FROM customers".to_owned()),
    })
    .await;
    let airlock = Airlock::with_model(&model).await;
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let owner = postgres.connect("hardware_shop").await.unwrap();
    let ask = async |question: &str| airlock.post(&json!({"question": question, "mode": "baseline"})).await.1;

    let answer = ask("Upper names?").await;
    assert_eq!(answer["outcome"], "answered", "{answer}");
    assert_eq!(ask("New table?").await["history"][0]["error_type"], "unknown_table");

    // Another overload of an allowed name, and a table that was not there.
    owner
        .batch_execute(
            "CREATE FUNCTION public.upper(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''stolen''';
             CREATE TABLE public.visits (id int PRIMARY KEY)",
        )
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let answer = ask("Upper names?").await;
    assert_ne!(answer["outcome"], "answered", "{answer}");
    assert!(!answer["rows"].to_string().contains("stolen"), "{answer}");
    let answer = ask("New table?").await;
    assert_eq!((answer["outcome"].as_str(), &answer["rows"]), (Some("answered"), &json!([[0]])), "{answer}");

    owner.batch_execute("DROP FUNCTION public.upper(varchar); DROP TABLE public.visits").await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(ask("Upper names?").await["outcome"], "answered");
    assert_eq!(ask("New table?").await["history"][0]["error_type"], "unknown_table");
}
