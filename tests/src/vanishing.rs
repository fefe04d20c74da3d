//! Many clients that ask for something slow and are gone before it is done.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::waiting::eventually_every;
use crate::{Airlock, Host, NOW, Said, ScriptedModel, eventually};

/// What every one of them asks.
pub const QUESTION: &str = "How many customers bought how many bills of how many items?";

/// Connections of the host, which are as many statements as it runs at once.
pub const CONNECTIONS: usize = 4;

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
            let source = source.as_table_mut().unwrap();
            source.insert("statement_timeout_ms".to_owned(), 600_000.into());
            source.insert("connections".to_owned(), i64::try_from(CONNECTIONS).unwrap().into());
        }
    })
}

/// That many clients ask; they vanish when as many statements run as the host runs at once, or as many as there are clients.
/// Gives how many ran, and how long PostgreSQL worked on.
pub async fn vanish(airlock: &Airlock, host: &Host, clients: usize) -> (usize, Duration) {
    let address = host.url.trim_start_matches("http://");
    let body = serde_json::json!({"question": QUESTION, "now": NOW}).to_string();
    let request = format!(
        "POST /api/ask HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let wanted = clients.min(CONNECTIONS);
    let mut streams = Vec::new();
    for _ in 0..clients {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    let running = eventually("a statement runs on every connection, or for every client", async || {
        let running = airlock.reading().len();
        if running == wanted { Ok(running) } else { Err(running) }
    })
    .await;
    drop(streams);
    let gone = Instant::now();
    // How long that takes is measured.
    eventually_every(Duration::from_millis(10), "every statement ends", async || {
        let running = airlock.reading().len();
        if running == 0 { Ok(()) } else { Err(running) }
    })
    .await;
    (running, gone.elapsed())
}
