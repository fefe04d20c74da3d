//! Models by role: who is asked, how often, with which key, and for how long.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use airlock_types::ask::Tokens;

use crate::config::{ConfigError, ModelsConfig, ProviderConfig, ProviderKind};
use crate::error::ModelError;
use crate::key::Key;
use crate::meter::{Meter, Usage};
use crate::price::Prices;
use crate::provider::{Attempt, Endpoint, Prompt, Protocol, Provider, Raw};
use crate::recorded::{Exchanged, Replies};
use crate::reply;

/// What a model is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Small and quick: phrasing, choosing.
    Fast,
    /// The one that writes SQL.
    Reasoning,
    /// The one that judges.
    Review,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Reasoning, Self::Review];

    /// The word in the contract and the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Reasoning => "reasoning",
            Self::Review => "review",
        }
    }

    /// The role with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// What is wanted back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Prose.
    Text,
    /// One statement, to be found by [`reply::statement`].
    Sql,
    /// A JSON object of this schema.
    Json(String),
}

/// One question to a model.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who is asked.
    pub role: Role,
    /// Standing instructions.
    pub system: String,
    /// The question, context included.
    pub prompt: String,
    /// What is wanted back.
    pub shape: Shape,
    /// The stage's own limit; the smaller of it and the role's holds.
    pub max_output_tokens: Option<u32>,
    /// When the whole ask ends; the call's own deadline may be earlier.
    pub until: Option<Instant>,
    /// Which of several replies to the same request is wanted: 0 is the likeliest one (temperature 0); others are drawn
    /// freely, by their number where the provider takes a seed.
    pub variant: u32,
}

/// What a model said.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The reply without its reasoning.
    pub text: String,
    /// The statement in it, when one was wanted and found.
    pub sql: Option<String>,
    /// Whether the provider cut it at its token limit.
    pub truncated: bool,
    /// As the provider counted.
    pub tokens: Tokens,
    /// US dollars; `None` when the price is unknown.
    pub cost: Option<f64>,
    /// The model that answered.
    pub model: String,
    /// Requests that it took, retries and spare providers included.
    pub requests: u32,
    /// From request to reply, retries included.
    pub took: Duration,
}

/// A provider with its keys, and which of them is in use.
struct Keyed {
    provider: Provider,
    keys: Vec<Option<Key>>,
    current: AtomicUsize,
}

/// Who speaks: an endpoint, or a folder of what was said before.
#[derive(Clone)]
enum Voice {
    Endpoint(Arc<Keyed>),
    Recorded(Arc<Replies>),
}

/// A model of a provider.
struct Seat {
    voice: Voice,
    model: String,
}

struct Cast {
    first: Seat,
    spare: Option<Seat>,
    max_output_tokens: u32,
}

/// Every configured model, by role.
pub struct Models {
    roles: BTreeMap<Role, Cast>,
    prices: Prices,
    deadline: Duration,
    /// Where exchanges are kept.
    record: Option<Replies>,
    meter: Meter,
}

/// Requests for one reply from one provider before it is called busy.
const TRIES: u32 = 4;

impl Models {
    /// Models as configured. `variable` reads an environment variable.
    ///
    /// # Errors
    /// [`ConfigError`] naming the key of the configuration and the remedy.
    pub fn from_config(
        config: &ModelsConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let deadline = config.deadline()?;
        let mut voices = BTreeMap::new();
        for (name, provider) in &config.providers {
            voices.insert(name.clone(), voice(name, provider, &variable)?);
        }
        let mut roles = BTreeMap::new();
        for (name, role) in &config.roles {
            let parsed = Role::parse(name).ok_or_else(|| ConfigError::Role(name.clone()))?;
            let seat = |provider: &str, model: &str| match voices.get(provider) {
                Some(voice) => Ok(Seat { voice: voice.clone(), model: model.to_owned() }),
                None => Err(ConfigError::Provider { role: name.clone(), provider: provider.to_owned() }),
            };
            let cast = Cast {
                first: seat(&role.provider, &role.model)?,
                spare: role.spare.as_ref().map(|spare| seat(&spare.provider, &spare.model)).transpose()?,
                max_output_tokens: role.max_output_tokens.unwrap_or(2_048),
            };
            roles.insert(parsed, cast);
        }
        let record = config.record.as_deref().map(Replies::of);
        Ok(Self { roles, prices: config.prices.clone(), deadline, record, meter: Meter::default() })
    }

    /// What was said during one ask, in place of the models that said it; without a model, none.
    #[must_use]
    pub fn replaying(model: Option<&str>, exchanges: &[Exchanged]) -> Self {
        let voice = Voice::Recorded(Arc::new(Replies::of_ask(exchanges)));
        let roles = model.map(|model| {
            let first = Seat { voice, model: model.to_owned() };
            (Role::Reasoning, Cast { first, spare: None, max_output_tokens: u32::MAX })
        });
        Self {
            roles: roles.into_iter().collect(),
            prices: Prices::default(),
            deadline: Duration::from_secs(60),
            record: None,
            meter: Meter::default(),
        }
    }

    /// Whether there is any model at all.
    #[must_use]
    pub fn available(&self) -> bool {
        !self.roles.is_empty()
    }

    /// The model that plays a role, for health and records.
    #[must_use]
    pub fn model(&self, role: Role) -> Option<&str> {
        self.cast(role).map(|cast| cast.first.model.as_str())
    }

    /// The protocol that the model of a role is asked by.
    #[must_use]
    pub fn provider(&self, role: Role) -> Option<ProviderKind> {
        self.cast(role).map(|cast| cast.first.voice.kind())
    }

    /// What was asked of each model since the start.
    #[must_use]
    pub fn usage(&self) -> BTreeMap<String, Usage> {
        self.meter.read()
    }

    fn cast(&self, role: Role) -> Option<&Cast> {
        self.roles
            .get(&role)
            .or_else(|| self.roles.get(&Role::Reasoning))
            .or_else(|| self.roles.values().next())
    }

    /// Asks, within the deadline, with retries on bursts, the spare key on a spent quota and the spare provider when the
    /// first is down.
    ///
    /// # Errors
    /// [`ModelError`]; each is infrastructure.
    pub async fn ask(&self, call: &Call) -> Result<Reply, ModelError> {
        let cast = self.cast(call.role).ok_or(ModelError::NotConfigured { role: call.role.as_str() })?;
        let reply = self.ask_cast(cast, call).await;
        self.meter.count(&cast.first.model, &reply);
        reply
    }

    async fn ask_cast(&self, cast: &Cast, call: &Call) -> Result<Reply, ModelError> {
        let begun = Instant::now();
        let own = begun + self.deadline;
        let until = call.until.map_or(own, |until| until.min(own));
        let mut requests = 0;
        match self.ask_seat(&cast.first, cast, call, begun, until, &mut requests).await {
            Ok(reply) => Ok(reply),
            Err(error) => match &cast.spare {
                Some(spare) if error.spare_may_help() => {
                    tracing::warn!(error = error.in_full(), model = spare.model, "asking the spare provider");
                    // The spare gets a deadline of its own: the first one's silence has used up the call's.
                    let own = Instant::now() + self.deadline;
                    let until = call.until.map_or(own, |until| until.min(own));
                    self.ask_seat(spare, cast, call, begun, until, &mut requests).await
                }
                _ => Err(error),
            },
        }
    }

    async fn ask_seat(
        &self,
        seat: &Seat,
        cast: &Cast,
        call: &Call,
        begun: Instant,
        until: Instant,
        requests: &mut u32,
    ) -> Result<Reply, ModelError> {
        let keyed = match &seat.voice {
            Voice::Endpoint(keyed) => keyed,
            Voice::Recorded(replies) => {
                let (raw, model) = replies.find(call)?;
                *requests += 1;
                return Ok(self.cleaned(call, raw, model, begun, *requests));
            }
        };
        let prompt = Prompt {
            model: &seat.model,
            system: &call.system,
            user: &call.prompt,
            max_output_tokens: call
                .max_output_tokens
                .map_or(cast.max_output_tokens, |n| n.min(cast.max_output_tokens)),
            json: matches!(call.shape, Shape::Json(_)),
            stream: true,
            variant: call.variant,
        };
        let mut tries = 0;
        loop {
            tries += 1;
            *requests += 1;
            let at = keyed.current.load(Ordering::Relaxed);
            let key = keyed.keys.get(at).and_then(Option::as_ref);
            let left = until.saturating_duration_since(Instant::now());
            let late = || ModelError::TimedOut {
                endpoint: keyed.provider.endpoint().to_string(),
                after: until.saturating_duration_since(begun),
            };
            let attempt = match tokio::time::timeout(left, keyed.provider.send(&prompt, key)).await {
                Ok(attempt) => attempt,
                Err(_) => return Err(late()),
            };
            match attempt {
                Attempt::Reply(raw) => {
                    if let Some(record) = &self.record {
                        record.keep(call, &raw, &seat.model)?;
                    }
                    return Ok(self.cleaned(call, raw, seat.model.clone(), begun, *requests));
                }
                Attempt::QuotaSpent(message) => {
                    let next = at + 1;
                    if next >= keyed.keys.len() {
                        return Err(ModelError::QuotaSpent {
                            endpoint: keyed.provider.endpoint().to_string(),
                            message,
                        });
                    }
                    // Another ask may have moved on already; moving twice would skip a key.
                    let moved =
                        keyed.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
                    tracing::warn!(
                        rotated = moved.is_ok(),
                        "the daily quota of a key is spent, using the next one"
                    );
                }
                Attempt::Again { error, after } => {
                    let wait = after.unwrap_or_else(|| Duration::from_millis(250 << tries.min(6)));
                    if tries >= TRIES || Instant::now() + wait >= until {
                        return Err(error);
                    }
                    tracing::debug!(
                        error = error.in_full(),
                        wait_ms = wait.as_millis(),
                        "asking the model again"
                    );
                    tokio::time::sleep(wait).await;
                }
                Attempt::Failed(error) => return Err(error),
            }
        }
    }

    /// A reply by the rule of [`reply`].
    fn cleaned(&self, call: &Call, raw: Raw, model: String, begun: Instant, requests: u32) -> Reply {
        let (text, cut) = reply::bounded(&raw.text);
        let text = reply::without_reasoning(&text);
        let sql = (call.shape == Shape::Sql).then(|| reply::statement(&text)).flatten();
        let cost = self.prices.cost(&model, raw.tokens);
        let truncated = raw.truncated || cut;
        Reply { text, sql, truncated, tokens: raw.tokens, cost, model, requests, took: begun.elapsed() }
    }

    /// What kind of protocol each role speaks, for health.
    #[must_use]
    pub fn describe(&self) -> Vec<(Role, String, ProviderKind)> {
        self.roles
            .iter()
            .map(|(role, cast)| (*role, cast.first.model.clone(), cast.first.voice.kind()))
            .collect()
    }
}

impl Voice {
    fn kind(&self) -> ProviderKind {
        match self {
            Self::Endpoint(keyed) => keyed.provider.protocol().into(),
            Self::Recorded(_) => ProviderKind::Recorded,
        }
    }
}

/// The voice of one configured provider, with its keys.
fn voice(
    name: &str,
    config: &ProviderConfig,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Voice, ConfigError> {
    let protocol = match (config.kind, &config.folder) {
        (ProviderKind::Recorded, Some(folder)) => return Ok(Voice::Recorded(Arc::new(Replies::of(folder)))),
        (ProviderKind::OpenaiCompatible, None) => Protocol::OpenaiCompatible,
        (ProviderKind::Anthropic, None) => Protocol::Anthropic,
        (ProviderKind::Recorded, None) | (_, Some(_)) => return Err(ConfigError::Folder(name.to_owned())),
    };
    let endpoint = Endpoint::parse(&config.url)
        // An address may hold a password: it is not repeated.
        .ok_or_else(|| ConfigError::Url(name.to_owned()))?;
    let read = |named: &Option<String>| match named {
        None => Ok(None),
        Some(variable_name) => match variable(variable_name) {
            Some(value) => Ok(Some(Key::new(&value))),
            None => {
                Err(ConfigError::KeyVariable { provider: name.to_owned(), variable: variable_name.clone() })
            }
        },
    };
    let first = match read(&config.key_env)? {
        Some(key) => Some(key),
        None => config.key.clone(),
    };
    let mut keys = vec![first];
    keys.extend(read(&config.spare_key_env)?.map(Some));
    let provider = Provider::new(protocol, endpoint).map_err(ConfigError::Client)?;
    Ok(Voice::Endpoint(Arc::new(Keyed { provider, keys, current: AtomicUsize::new(0) })))
}
