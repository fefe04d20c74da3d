//! A model that says what it is told to say, over the OpenAI protocol.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

/// What it says to a prompt.
#[derive(Debug, Clone)]
pub enum Said {
    /// This text.
    Text(String),
    /// This status and nothing useful.
    Status(u16),
    /// Nothing, for this long.
    Silence(Duration),
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

type Script = dyn Fn(&str) -> Said + Send + Sync;

#[derive(Clone)]
struct Shared {
    script: Arc<Script>,
    prompts: Arc<Mutex<Vec<String>>>,
}

/// A scripted model on a port of its own.
pub struct ScriptedModel {
    /// Its address.
    pub url: String,
    prompts: Arc<Mutex<Vec<String>>>,
    server: tokio::task::JoinHandle<()>,
}

impl ScriptedModel {
    /// A model that answers each prompt (system and user together) by `script`.
    pub async fn start(script: impl Fn(&str) -> Said + Send + Sync + 'static) -> Self {
        let prompts = Arc::new(Mutex::new(Vec::new()));
        let shared = Shared { script: Arc::new(script), prompts: Arc::clone(&prompts) };
        let router = Router::new().route("/v1/chat/completions", post(complete)).with_state(shared);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self { url, prompts, server }
    }

    /// Every prompt it was given.
    #[must_use]
    pub fn prompts(&self) -> Vec<String> {
        self.prompts.lock().unwrap().clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn complete(State(shared): State<Shared>, Json(body): Json<Value>) -> Response {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let prompt: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    let prompt = prompt.join("\n\n");
    let said = (shared.script)(&prompt);
    shared.prompts.lock().unwrap().push(prompt.clone());
    let text = match said {
        Said::Text(text) => text,
        Said::Status(status) => return StatusCode::from_u16(status).unwrap().into_response(),
        Said::Silence(time) => {
            tokio::time::sleep(time).await;
            String::new()
        }
    };
    Json(json!({
        "id": "scripted", "object": "chat.completion", "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": prompt.len() / 4, "completion_tokens": text.len() / 4},
    }))
    .into_response()
}
