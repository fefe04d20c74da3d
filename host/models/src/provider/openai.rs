//! `POST /v1/chat/completions`.

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
    let mut body = json!({
        "model": prompt.model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        "temperature": prompt.temperature(),
        "max_tokens": prompt.max_output_tokens,
    });
    if prompt.variant > 0
        && let Some(object) = body.as_object_mut()
    {
        object.insert("seed".to_owned(), json!(prompt.variant));
    }
    if prompt.json
        && let Some(object) = body.as_object_mut()
    {
        object.insert("response_format".to_owned(), json!({"type": "json_object"}));
    }
    if prompt.stream
        && let Some(object) = body.as_object_mut()
    {
        object.insert("stream".to_owned(), json!(true));
        // Else the tokens of a stream are not counted.
        object.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    let request = client.post(endpoint.join("/v1/chat/completions")).json(&body);
    match key {
        Some(key) => request.bearer_auth(key.reveal()),
        None => request,
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// A reply without content (all of it in a reasoning field) is an empty reply, not an error: the stage says what it makes
/// of it.
pub(super) fn read(body: &[u8]) -> Result<Raw, String> {
    let completion: Completion = serde_json::from_slice(body).map_err(|error| super::unread(&error))?;
    let choice = completion.choices.into_iter().next().ok_or("it holds no choice")?;
    let tokens = completion.usage.map_or(Tokens::default(), |usage| Tokens {
        input: usage.prompt_tokens,
        output: usage.completion_tokens,
    });
    Ok(Raw {
        text: choice.message.content.unwrap_or_default(),
        truncated: choice.finish_reason.as_deref() == Some("length"),
        tokens,
    })
}
