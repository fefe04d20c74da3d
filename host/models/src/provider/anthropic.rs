//! `POST /v1/messages`.

use airlock_types::ask::Tokens;
use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use serde_json::json;

use super::{Endpoint, Prompt, Raw};
use crate::key::Key;

pub(super) fn request(
    client: &Client,
    endpoint: &Endpoint,
    prompt: &Prompt<'_>,
    key: Option<&Key>,
) -> RequestBuilder {
    let body = json!({
        "model": prompt.model,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
        "temperature": prompt.temperature(),
        "max_tokens": prompt.max_output_tokens,
        "stream": prompt.stream,
    });
    let request =
        client.post(endpoint.join("/v1/messages")).header("anthropic-version", "2023-06-01").json(&body);
    match key {
        Some(key) => request.header("x-api-key", key.reveal()),
        None => request,
    }
}

#[derive(Deserialize)]
struct Message {
    content: Vec<Block>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// Text blocks joined; thinking blocks are reasoning and left out.
pub(super) fn read(body: &[u8]) -> Result<Raw, String> {
    let message: Message = serde_json::from_slice(body).map_err(|error| super::unread(&error))?;
    let text: Vec<String> =
        message.content.into_iter().filter(|block| block.kind == "text").map(|block| block.text).collect();
    let tokens = message
        .usage
        .map_or(Tokens::default(), |usage| Tokens { input: usage.input_tokens, output: usage.output_tokens });
    Ok(Raw { text: text.join("\n"), truncated: message.stop_reason.as_deref() == Some("max_tokens"), tokens })
}
