//! Which providers there are, which models play which role, and what they cost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

use crate::key::Key;
use crate::models::Role;
use crate::price::Prices;

/// The `[models]` table of the configuration. With nothing in it there is no model, and the composer drafts alone.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelsConfig {
    /// Seconds one call may take, retries included; 60 when absent.
    pub deadline_seconds: Option<u64>,
    /// Providers by a name of the operator's choice.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// `fast`, `reasoning`, `review`. A role that is absent is played by `reasoning`, else by any that is there.
    pub roles: BTreeMap<String, RoleConfig>,
    /// US dollars for a million tokens, by model.
    pub prices: Prices,
    /// Folder in which every exchange with a model is kept, to be played back by a provider of the kind `recorded`.
    pub record: Option<PathBuf>,
}

/// The protocol an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// `POST /v1/chat/completions`: OpenAI, most vendors, Ollama, llama.cpp, vLLM.
    #[default]
    OpenaiCompatible,
    /// `POST /v1/messages`.
    Anthropic,
    /// No endpoint: replies that were recorded before.
    Recorded,
}

impl ProviderKind {
    /// The word in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiCompatible => "openai-compatible",
            Self::Anthropic => "anthropic",
            Self::Recorded => "recorded",
        }
    }
}

/// One endpoint.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// The protocol.
    #[serde(default)]
    pub kind: ProviderKind,
    /// Address up to and without `/v1/...`: `http://127.0.0.1:11434`. A trailing `/v1` is accepted. None for `recorded`.
    #[serde(default)]
    pub url: String,
    /// Folder of recorded replies, for `recorded` alone.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// The key. Better left out here and named in `key_env`.
    #[serde(default)]
    pub key: Option<Key>,
    /// Environment variable that holds the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Environment variable that holds a second key, used when the first one's daily quota is spent.
    #[serde(default)]
    pub spare_key_env: Option<String>,
}

/// A model in a role.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleConfig {
    /// Name under `[models.providers]`.
    pub provider: String,
    /// The model's name as the provider knows it.
    pub model: String,
    /// Most tokens of a reply; 2,048 when absent.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// A second provider and model for when the first is down: `{ provider = "...", model = "..." }`.
    #[serde(default)]
    pub spare: Option<SpareConfig>,
}

/// Who plays a role when the first provider is down.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpareConfig {
    /// Name under `[models.providers]`.
    pub provider: String,
    /// The model's name as the provider knows it.
    pub model: String,
}

/// What is wrong with the `[models]` table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A role that is not one.
    #[error("models.roles.{0}: there is no such role, use fast, reasoning or review")]
    Role(String),
    /// A role names a provider that is not there.
    #[error("models.roles.{role}: there is no [models.providers.{provider}]")]
    Provider {
        /// The role.
        role: String,
        /// The name it gives.
        provider: String,
    },
    /// Not an address.
    #[error("models.providers.{0}.url is not an http or https address, such as http://127.0.0.1:11434")]
    Url(String),
    /// Recorded replies without their folder, or a folder where none belongs.
    #[error(
        "models.providers.{0}: `folder` names the recorded replies of the kind `recorded`, and only of that one"
    )]
    Folder(String),
    /// A variable that is named but not set.
    #[error("models.providers.{provider}: the environment variable {variable} is not set")]
    KeyVariable {
        /// The provider.
        provider: String,
        /// The variable.
        variable: String,
    },
    /// Zero seconds.
    #[error("models.deadline_seconds must be from 1 to 600")]
    Deadline,
    /// The HTTP client could not be built.
    #[error("the HTTP client for models cannot be made: {0}")]
    Client(String),
}

impl ModelsConfig {
    /// Recorded replies in every role.
    #[must_use]
    pub fn recorded(folder: &Path) -> Self {
        let mut config = Self::single("", "recorded", None);
        for provider in config.providers.values_mut() {
            provider.kind = ProviderKind::Recorded;
            provider.folder = Some(folder.to_owned());
        }
        config
    }

    /// Takes folders that are not absolute as beside this one.
    pub fn rebase(&mut self, base: &Path) {
        let folders = self.providers.values_mut().filter_map(|provider| provider.folder.as_mut());
        for folder in folders.chain(self.record.as_mut()) {
            *folder = base.join(&*folder);
        }
    }

    /// One OpenAI-compatible endpoint in every role: what `AIRLOCK_MODEL_URL`, `AIRLOCK_MODEL` and `AIRLOCK_MODEL_KEY` mean.
    #[must_use]
    pub fn single(url: &str, model: &str, key: Option<&str>) -> Self {
        let provider = ProviderConfig {
            kind: ProviderKind::OpenaiCompatible,
            url: url.to_owned(),
            folder: None,
            key: key.map(Key::new),
            key_env: None,
            spare_key_env: None,
        };
        let role = RoleConfig {
            provider: "default".to_owned(),
            model: model.to_owned(),
            max_output_tokens: None,
            spare: None,
        };
        Self {
            providers: BTreeMap::from([("default".to_owned(), provider)]),
            roles: Role::ALL.iter().map(|name| (name.as_str().to_owned(), role.clone())).collect(),
            ..Self::default()
        }
    }

    /// The deadline of one call.
    ///
    /// # Errors
    /// When it is not from 1 to 600 seconds.
    pub fn deadline(&self) -> Result<Duration, ConfigError> {
        match self.deadline_seconds.unwrap_or(60) {
            seconds @ 1..=600 => Ok(Duration::from_secs(seconds)),
            _ => Err(ConfigError::Deadline),
        }
    }
}
