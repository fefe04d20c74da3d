//! `airlock ask`: one question, its answer, the SQL and every attempt.

use std::time::Duration;

use airlock_pipeline::progress::Reporter;
use airlock_pipeline::{Asker, Surface};
use airlock_types::{Answer, AskRequest, RawAskRequest};
use anyhow::Context;
use serde_json::Value;

use crate::cli::Ask;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::store::Purpose;
use crate::telemetry::Telemetry;
use crate::{boot, output};

/// Asks, by a running server when one is named, else by a host of its own.
///
/// # Errors
/// When the request is wrong or nothing can answer it.
pub async fn run(ask: Ask, config: impl Fn() -> anyhow::Result<Config>, json: bool) -> anyhow::Result<Exit> {
    let raw = RawAskRequest {
        question: Some(ask.question),
        domain: ask.domain,
        mode: ask.baseline.then(|| "baseline".to_owned()),
        follow_up_of: ask.follow_up_of,
        choice: ask.choice,
        now: ask.now,
        max_rows: ask.max_rows,
    };
    let request = AskRequest::try_from(raw).map_err(usage)?;
    let answer = match &ask.server {
        Some(server) => remote(server, &request).await?,
        None => {
            let config = config()?;
            let telemetry = Telemetry::begin(&config)?;
            let (host, store) = boot::host_with_store(&config, Purpose::Command).await?;
            let host = telemetry.trace(host);
            host.embed_domains().await;
            let finished = host.ask(&request, &Asker::local(Surface::Cli), Reporter::silent()).await;
            // Nobody waits for what is learned but the store, which is closed after it.
            if let Ok(finished) = &finished {
                shown(&finished.answer, json)?;
            }
            telemetry.settled().await;
            host.learning_settled().await;
            store.close().await?;
            return Ok(finished.map_err(usage)?.answer.outcome.into());
        }
    };
    shown(&answer, json)?;
    Ok(answer.outcome.into())
}

fn shown(answer: &Answer, json: bool) -> anyhow::Result<()> {
    if json { output::json(answer) } else { output::answer(answer) }
}

/// The variable that holds the key for a server.
const KEY: &str = "AIRLOCK_KEY";
/// Longer than any ask may take at a server.
const TIMEOUT: Duration = Duration::from_secs(3_700);

async fn remote(server: &str, request: &AskRequest) -> anyhow::Result<Answer> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client =
        reqwest::Client::builder().timeout(TIMEOUT).connect_timeout(Duration::from_secs(5)).build()?;
    let address = format!("{}/api/ask", server.trim_end_matches('/'));
    let known = reqwest::Url::parse(&address)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !known {
        return Err(usage(format!("--server: `{server}` is not an address such as http://127.0.0.1:8080")));
    }
    let key = std::env::var(KEY).ok().filter(|key| !key.trim().is_empty());
    let post = client.post(&address).json(request);
    let post = match &key {
        Some(key) => post.bearer_auth(key.trim()),
        None => post,
    };
    let response = post.send().await.with_context(|| {
        format!("no server answers at {address}: start one with `airlock serve` or `airlock demo`")
    })?;
    let status = response.status();
    let body: Value = response.json().await.with_context(|| format!("{address} did not answer with JSON"))?;
    // A failed ask is a problem that carries the record; any other problem is about the request.
    if status.is_success() || body.get("ask_id").is_some() {
        return serde_json::from_value(body).context("the server's answer is of another version");
    }
    let detail = body.get("detail").and_then(Value::as_str).unwrap_or("no reason given");
    if status == reqwest::StatusCode::UNAUTHORIZED && key.is_none() {
        return Err(usage(format!(
            "{detail} `airlock ask` sends the key in the environment variable {KEY}."
        )));
    }
    if status.is_client_error() {
        Err(usage(detail))
    } else {
        Err(anyhow::anyhow!("the server answered {status}: {detail}"))
    }
}
