//! Many clients that ask for something slow and are gone before it is done.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::{Airlock, Host, NOW, Said, ScriptedModel};

/// What every one of them asks.
pub const QUESTION: &str = "How many customers bought how many bills of how many items?";

/// Minutes of work for PostgreSQL, which looks often whether it should stop.
const SLOW: &str = "SELECT count(*) FROM bill_items a CROSS JOIN bill_items b CROSS JOIN bill_items c";

/// A model that writes the slow statement for that question, and a count of customers for anything else.
pub async fn model() -> ScriptedModel {
    ScriptedModel::start(|prompt| {
        Said::from(if prompt.contains(QUESTION) { SLOW } else { "SELECT count(*) FROM customers" })
    })
    .await
}

/// A host beside a demo, with this model, whose statements may run for ten minutes: what ends them sooner is the host.
#[must_use]
pub fn host(airlock: &Airlock, model: &ScriptedModel) -> Host {
    Host::over(airlock, "patient", |config| {
        let models = format!(
            "[providers.scripted]\nkind = \"openai-compatible\"\nurl = \"{}\"\n[roles.reasoning]\nprovider = \"scripted\"\nmodel = \"scripted\"",
            model.url
        );
        config.insert("models".to_owned(), models.parse::<toml::Table>().unwrap().into());
        for (_, source) in config["sources"].as_table_mut().unwrap().iter_mut() {
            source.as_table_mut().unwrap().insert("statement_timeout_ms".to_owned(), 600_000.into());
        }
    })
}

/// That many clients ask; they vanish when their statements run. Gives how many ran, and how long PostgreSQL worked on.
pub async fn vanish(airlock: &Airlock, host: &Host, clients: usize) -> (usize, Duration) {
    let address = host.url.trim_start_matches("http://");
    let body = serde_json::json!({"question": QUESTION, "now": NOW}).to_string();
    let request = format!(
        "POST /api/ask HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut streams = Vec::new();
    for _ in 0..clients {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    let running = until(|| Some(airlock.reading().len()).filter(|running| *running > 0)).await;
    drop(streams);
    let gone = Instant::now();
    until(|| airlock.reading().is_empty().then_some(())).await;
    (running, gone.elapsed())
}

/// Looks until it is there, for two minutes: far more than it takes, and far less than the statements would.
async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "it did not come about");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
