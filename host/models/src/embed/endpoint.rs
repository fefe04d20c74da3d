//! Vectors from an endpoint that speaks `POST /v1/embeddings`.

use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use reqwest::Client;
use serde::Deserialize;
use serde_json::json;

use super::{EmbedError, EmbedderConfig, EmbedderConfigError, Embeds};
use crate::error::ModelError;
use crate::key::Key;
use crate::provider::{self, Endpoint};

/// Time one batch may take.
const DEADLINE: Duration = Duration::from_secs(20);

/// An endpoint and a model of it.
pub(super) struct Remote {
    endpoint: Endpoint,
    client: Client,
    model: String,
    key: Option<Key>,
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl Remote {
    pub(super) fn new(
        config: &EmbedderConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EmbedderConfigError> {
        let url = config.url.clone().unwrap_or_default();
        let endpoint = Endpoint::parse(&url).ok_or(EmbedderConfigError::Url(url))?;
        let model =
            config.model.clone().filter(|model| !model.is_empty()).ok_or(EmbedderConfigError::Model)?;
        let key = match &config.key_env {
            Some(name) => {
                let key = variable(name).ok_or_else(|| EmbedderConfigError::KeyVariable(name.clone()))?;
                Some(Key::new(&key))
            }
            None => config.key.clone(),
        };
        let client = provider::client().map_err(EmbedderConfigError::Client)?;
        Ok(Self { endpoint, client, model, key })
    }

    pub(super) fn model_id(&self) -> String {
        format!("{}@{}", self.model, self.endpoint)
    }

    async fn request(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let endpoint = || self.endpoint.to_string();
        let body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        let mut request =
            self.client.post(self.endpoint.join("/v1/embeddings")).timeout(DEADLINE).json(&body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.reveal());
        }
        let unreachable = |error: reqwest::Error| ModelError::Unreachable {
            endpoint: endpoint(),
            why: provider::why(&error),
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = provider::read_body(response, &self.endpoint).await?;
        if !status.is_success() {
            let text = provider::message_of(&body, self.key.as_ref());
            let message = airlock_types::text::shorten(&text, provider::SAID);
            return Err(
                ModelError::Answered { endpoint: endpoint(), status: status.as_u16(), message }.into()
            );
        }
        let mut reply: Reply = serde_json::from_slice(&body).map_err(|error| ModelError::Unreadable {
            endpoint: endpoint(),
            why: provider::unread(&error),
        })?;
        reply.data.sort_by_key(|item| item.index);
        Ok(reply.data.into_iter().map(|item| item.embedding).collect())
    }
}

impl Embeds for Remote {
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        self.request(texts).boxed()
    }
}
