//! The configuration as it is in force: every key, its value, and where that came from. Secrets are masked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use airlock_database::ConnectionString;
use airlock_models::rerank::config::PAIRS;
use airlock_setup::store::DUTIES;
use serde::Serialize;
use toml::{Table, Value};

use super::environment::Environment;
use super::learning::SIX_HOURLY;
use super::store::{StoreSettings, variable_of};
use super::{Config, ConfigError, read_text, wrong};

/// What stands in place of a secret.
const MASK: &str = "***";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// The file.
    File,
    /// This variable of the environment.
    Environment(String),
    /// This flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File => f.write_str("file"),
            Self::Environment(name) => write!(f, "environment: {name}"),
            Self::Flag(name) => write!(f, "flag: {name}"),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// The key, with its tables.
    pub key: String,
    /// The value; nothing when it is not set and has no default.
    pub value: Option<Value>,
    /// Where it came from.
    pub from: Origin,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} = {value}  # {}", self.key, self.from),
            None => write!(f, "# {} is not set", self.key),
        }
    }
}

/// Every key of the configuration, in order.
///
/// # Errors
/// As [`Config::read`]: only a configuration that could be in force is shown.
pub fn all(
    file: Option<&Path>,
    environment: &Environment,
    listen: Option<&str>,
) -> Result<Vec<Shown>, ConfigError> {
    let config = Config::read(file, environment)?;
    let (path, text) = read_text(file)?;
    let table: Table = toml::from_str(&text)
        .map_err(|error| ConfigError::Parse(path.to_owned(), wrong::in_words(error, &text)))?;
    Ok(resolved(table, &config, |name| environment.variable(name), listen))
}

type Keys = BTreeMap<String, (Option<Value>, Origin)>;

fn resolved(
    table: Table,
    config: &Config,
    variable: impl Fn(&str) -> Option<String>,
    listen: Option<&str>,
) -> Vec<Shown> {
    let mut keys = Keys::new();
    flatten("", table, &mut keys);
    for (key, value) in defaults(config) {
        keys.entry(key).or_insert((value, Origin::Default));
    }
    from_environment(&mut keys, variable);
    if let Some(listen) = listen {
        keys.insert("server.listen".to_owned(), (Some(listen.into()), Origin::Flag("--listen")));
    }
    let shown = keys.into_iter().map(|(key, (value, from))| {
        let value = value.map(|value| masked(&key, value));
        Shown { key, value, from }
    });
    shown.collect()
}

/// The keys of a file, tables within tables as `a.b.c`.
fn flatten(above: &str, table: Table, keys: &mut Keys) {
    for (name, value) in table {
        let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let name = if bare { name } else { Value::from(name).to_string() };
        let key = if above.is_empty() { name } else { format!("{above}.{name}") };
        match value {
            Value::Table(table) => flatten(&key, table, keys),
            value => drop(keys.insert(key, (Some(value), Origin::File))),
        }
    }
}

/// What is in force where nobody says anything. A source's own are there for each source.
fn defaults(config: &Config) -> Vec<(String, Option<Value>)> {
    let number = |number: u128| Some(Value::from(i64::try_from(number).unwrap_or(i64::MAX)));
    let count = |count: usize| number(count as u128);
    let path = |path: &Path| Some(Value::from(path.display().to_string()));
    let access = &config.access;
    let limits = access.limits;
    let mut defaults: Vec<(String, Option<Value>)> = [
        ("server.listen", Some(config.listen.to_string().into())),
        ("server.ask_deadline_seconds", number(config.ask_deadline.as_secs().into())),
        ("server.asks_at_once", count(config.asks_at_once)),
        ("server.data", path(&config.data)),
        ("server.operator_socket", path(&config.operator_socket)),
        ("server.tls_certificate", None),
        ("server.tls_key", None),
        ("server.behind_tls_proxy", Some(access.behind_tls_proxy.into())),
        ("server.names", Some(Value::Array(Vec::new()))),
        ("server.require_key", Some((!access.keyless(config.listen)).into())),
        (
            "server.limits.requests_per_minute",
            number(limits.requests_per_minute.map_or(0, |most| most.get().into())),
        ),
        ("server.limits.unknown_keys_per_minute", number(limits.unknown_keys_per_minute.get().into())),
        ("store.url", None),
        ("store.credentials", None),
        ("store.off", Some(matches!(config.store, StoreSettings::Off).into())),
        ("learning.examples", Some(config.learning.examples.into())),
        ("learning.lessons", Some(config.learning.lessons.into())),
        ("learning.recall", Some(config.learning.recall.into())),
        ("log.asks", Some(config.log.asks.into())),
        ("log.record", Some(config.log.record.into())),
        ("log.retention_days", number(config.log.retention_days().into())),
        ("learning.schedule", Some("off".into())),
        ("learning.time_zone", Some("UTC".into())),
        ("learning.promote", Some("none".into())),
        ("learning.mining", Some(SIX_HOURLY.into())),
        ("evaluation.dir", path(&config.evaluations)),
        ("domains.dir", path(&config.domains)),
        ("domains.load", None),
        ("domains.values_refresh_seconds", number(config.values_refresh.as_secs().into())),
        ("plugins.dir", path(&config.components)),
        ("plugins.grants", path(&config.grants)),
        ("plugins.require_signatures", Some(config.signatures.required.into())),
        ("plugins.trusted_keys", Some(Value::Array(Vec::new()))),
        ("plugins.quarantine.asks", count(config.quarantine.asks)),
        ("plugins.quarantine.within_seconds", number(config.quarantine.within.as_secs().into())),
        ("models.deadline_seconds", number(config.models.deadline().unwrap_or_default().as_secs().into())),
        ("models.record", None),
        ("embedder.kind", Some("none".into())),
        ("rerank.path", None),
        ("rerank.pairs", count(PAIRS)),
        ("telemetry.otlp_endpoint", None),
        ("telemetry.headers_env", None),
        ("telemetry.service_name", Some("airlock".into())),
        ("telemetry.sql", Some("masked".into())),
        ("telemetry.content", Some(false.into())),
        ("telemetry.trace_url", None),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into();
    if let StoreSettings::At(at) = &config.store {
        defaults.push(("store.role_prefix".to_owned(), Some(at.prefix.as_str().into())));
    }
    for (name, source) in &config.sources {
        for (key, value) in [
            ("connections", count(source.connections)),
            ("statement_timeout_ms", number(source.statement_timeout.as_millis())),
            ("orphans", count(source.orphans)),
        ] {
            defaults.push((format!("sources.{name}.{key}"), value));
        }
    }
    defaults
}

/// Variables that are set over what the file says.
fn from_environment(keys: &mut Keys, variable: impl Fn(&str) -> Option<String>) {
    let set = |keys: &mut Keys, name: &str, key: &str| {
        if let Some(value) = variable(name) {
            keys.insert(key.to_owned(), (Some(value.into()), Origin::Environment(name.to_owned())));
        }
    };
    // What a key names in the environment is shown as the key that it stands for.
    let named: Vec<(String, String)> = keys
        .iter()
        .filter(|(key, _)| key.starts_with("sources.") || key.starts_with("store."))
        .filter_map(|(key, (value, _))| {
            Some((key.strip_suffix("_env")?.to_owned(), value.as_ref()?.as_str()?.to_owned()))
        })
        .collect();
    for (key, name) in named {
        set(keys, &name, &key);
    }
    for (name, key) in [
        ("AIRLOCK_LISTEN", "server.listen"),
        ("AIRLOCK_STORE_URL", "store.url"),
        ("AIRLOCK_MODEL_DEADLINE_SECONDS", "models.deadline_seconds"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "telemetry.otlp_endpoint"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "telemetry.otlp_endpoint"),
        ("OTEL_SERVICE_NAME", "telemetry.service_name"),
    ] {
        set(keys, name, key);
    }
    for duty in DUTIES {
        set(keys, &variable_of(duty), &format!("store.credentials.{duty}"));
    }
    if variable("AIRLOCK_MODEL_URL").is_some() {
        keys.retain(|key, _| !key.starts_with("models.providers.") && !key.starts_with("models.roles."));
        set(keys, "AIRLOCK_MODEL_URL", "models.providers.default.url");
        set(keys, "AIRLOCK_MODEL_KEY", "models.providers.default.key");
        set(keys, "AIRLOCK_MODEL", "models.roles.reasoning.model");
    }
    if let Some(folder) = variable("AIRLOCK_EMBEDDER") {
        keys.retain(|key, _| !key.starts_with("embedder."));
        let from = Origin::Environment("AIRLOCK_EMBEDDER".to_owned());
        let kind = if folder == "none" { "none" } else { "local" };
        keys.insert("embedder.kind".to_owned(), (Some(kind.into()), from.clone()));
        if folder != "none" {
            keys.insert("embedder.path".to_owned(), (Some(folder.into()), from));
        }
    }
}

/// A value as it may be shown.
fn masked(key: &str, value: Value) -> Value {
    let last = key.rsplit('.').next().unwrap_or(key);
    let Some(text) = value.as_str() else { return value };
    let is_secret = matches!(last, "key" | "password" | "token" | "secret") && key != "server.tls_key";
    if is_secret || key.starts_with("store.credentials.") {
        return MASK.into();
    }
    if last == "headers" || key.contains(".headers.") {
        return MASK.into();
    }
    if !last.ends_with("url") && !last.ends_with("endpoint") {
        return value;
    }
    if key.starts_with("sources.") || key.starts_with("store.") {
        // Only what is known of an address is shown, so that nothing unknown is.
        let read: Result<ConnectionString, _> = text.parse();
        return read.map_or_else(|_| MASK.into(), |read| read.to_string().into());
    }
    without_user(text).into()
}

/// An address of the web without the name and password that may stand in it.
fn without_user(text: &str) -> String {
    match text.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (host, path) = rest.split_at(end);
            let path = path.split('?').next().unwrap_or_default();
            match host.rsplit_once('@') {
                Some((_, host)) => format!("{scheme}://{MASK}@{host}{path}"),
                None => format!("{scheme}://{host}{path}"),
            }
        }
        None => MASK.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, variables: &[(&str, &str)], listen: Option<&str>) -> Vec<Shown> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("airlock.toml");
        std::fs::write(&file, text).unwrap();
        all(Some(&file), &Environment::of(variables), listen).unwrap()
    }

    fn line(shown: &[Shown], key: &str) -> String {
        shown.iter().find(|one| one.key == key).unwrap_or_else(|| panic!("no {key}")).to_string()
    }

    #[test]
    fn every_value_says_where_it_came_from_and_no_secret_is_shown() {
        let text = r#"
            [server]
            asks_at_once = 7
            listen = "127.0.0.1:1"
            [sources.shop]
            url_env = "SHOP"
            [sources.fleet]
            url = "postgresql://me:hunter2@db.example/fleet"
            [models.providers.vendor]
            url = "https://me:hunter2@vendor.example/v1?key=hunter2"
            key = "hunter2"
            [models.roles.reasoning]
            provider = "vendor"
            model = "m""#;
        let variables = [
            ("SHOP", "host=/run/pg dbname=shop user=reader password=hunter2"),
            ("AIRLOCK_LISTEN", "127.0.0.1:2"),
            ("AIRLOCK_MODEL_DEADLINE_SECONDS", "9"),
        ];
        let found = shown(text, &variables, Some("127.0.0.1:3"));
        for (key, want) in [
            ("server.listen", "server.listen = \"127.0.0.1:3\"  # flag: --listen"),
            ("server.asks_at_once", "server.asks_at_once = 7  # file"),
            ("server.ask_deadline_seconds", "server.ask_deadline_seconds = 120  # default"),
            ("server.tls_certificate", "# server.tls_certificate is not set"),
            (
                "models.deadline_seconds",
                "models.deadline_seconds = \"9\"  # environment: AIRLOCK_MODEL_DEADLINE_SECONDS",
            ),
            (
                "sources.shop.url",
                "sources.shop.url = \"database `shop` as `reader` at /run/pg/.s.PGSQL.5432\"  # environment: SHOP",
            ),
            ("models.providers.vendor.key", "models.providers.vendor.key = \"***\"  # file"),
            (
                "models.providers.vendor.url",
                "models.providers.vendor.url = \"https://***@vendor.example/v1\"  # file",
            ),
        ] {
            assert_eq!(line(&found, key), want);
        }
        let whole = serde_json::to_string(&found).unwrap();
        assert!(!whole.contains("hunter2"), "{whole}");
        let from = shown(text, &variables[..2], None);
        assert_eq!(
            line(&from, "server.listen"),
            "server.listen = \"127.0.0.1:2\"  # environment: AIRLOCK_LISTEN"
        );
    }

    #[test]
    fn every_documented_key_is_shown() {
        let page = include_str!("../../../../docs/configuration.md");
        let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let mut documented = Keys::new();
        flatten("", toml::from_str(example).unwrap(), &mut documented);
        let found = shown("", &[], None);
        let of_a_name =
            ["sources.", "models.providers.", "models.roles.", "models.prices.", "plugins.on_failure."];
        let elsewhere = ["store.role_prefix", "embedder.path"];
        for key in documented.keys() {
            if of_a_name.iter().any(|table| key.starts_with(table)) || elsewhere.contains(&key.as_str()) {
                continue;
            }
            line(&found, key);
        }
    }
}
