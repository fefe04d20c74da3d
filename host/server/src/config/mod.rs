//! The configuration: one TOML file, environment over it.
//!
//! Parsed once into what was written ([`File`]) and resolved once into what it means ([`Config`]). Unknown keys are errors.

pub mod environment;
pub mod learning;
pub mod log;
pub mod server;
pub mod shown;
pub mod store;
pub mod wrong;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use airlock_models::{EmbedderConfig, ModelsConfig, RerankConfig};
use airlock_pipeline::{FailurePolicy, LearningOptions, QuarantinePolicy};
use airlock_runtime::signature::TrustedKey;
use airlock_runtime::{SignaturePolicy, Stage};
use airlock_telemetry::{TelemetryError, TelemetrySettings, TelemetryTable};
use serde::Deserialize;
use thiserror::Error;

use environment::Environment;
use learning::LearningTable;
use log::{LogSettings, LogTable};
use server::{AccessSettings, ServerTable};
use store::{StoreConfigError, StoreSettings, StoreTable};

use crate::upkeep::{Schedule, Scheduled};

pub use server::{DEFAULT_LISTEN, parse_listen};

/// The file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    server: ServerTable,
    sources: BTreeMap<String, SourceTable>,
    store: StoreTable,
    domains: DomainsTable,
    plugins: PluginsTable,
    models: ModelsConfig,
    embedder: EmbedderConfig,
    rerank: RerankConfig,
    learning: LearningTable,
    log: LogTable,
    telemetry: TelemetryTable,
    evaluation: EvaluationTable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceTable {
    url: Option<String>,
    url_env: Option<String>,
    #[serde(default)]
    connections: Option<usize>,
    #[serde(default)]
    statement_timeout_ms: Option<u64>,
    #[serde(default)]
    orphans: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DomainsTable {
    dir: Option<PathBuf>,
    load: Option<Vec<String>>,
    values_refresh_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PluginsTable {
    dir: Option<PathBuf>,
    grants: Option<PathBuf>,
    trusted_keys: Vec<TrustedKey>,
    require_signatures: bool,
    quarantine: QuarantineTable,
    on_failure: BTreeMap<Stage, FailurePolicy>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct QuarantineTable {
    asks: Option<u64>,
    within_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EvaluationTable {
    dir: Option<PathBuf>,
}

/// A data source.
#[derive(Clone)]
pub struct SourceSettings {
    /// libpq connection string; may hold a password, so it has no `Debug`.
    pub url: String,
    /// Connections kept for the reader.
    pub connections: usize,
    /// Time one statement may take.
    pub statement_timeout: Duration,
    /// Statements that PostgreSQL cannot stop, from which on nothing new is started.
    pub orphans: usize,
}

/// The configuration as it is meant.
pub struct Config {
    /// Address of the HTTP server.
    pub listen: SocketAddr,
    /// Time for one ask.
    pub ask_deadline: Duration,
    /// Asks worked on at once.
    pub asks_at_once: usize,
    /// Who may come in.
    pub access: AccessSettings,
    /// Data sources by name.
    pub sources: BTreeMap<String, SourceSettings>,
    /// Where what is learned is kept.
    pub store: StoreSettings,
    /// Folder of domain packs.
    pub domains: PathBuf,
    /// Packs to load; all of the folder whose source is configured when absent.
    pub load: Option<Vec<String>>,
    /// How often the indexed values are read again.
    pub values_refresh: Duration,
    /// Folder of components.
    pub components: PathBuf,
    /// Grants that the operators wrote; need not be there.
    pub grants: PathBuf,
    /// Whose signed statements a component needs to be loaded.
    pub signatures: SignaturePolicy,
    /// When a component that fails is taken out of service.
    pub quarantine: QuarantinePolicy,
    /// Folder of what the host must remember.
    pub data: PathBuf,
    /// Socket of the operators.
    pub operator_socket: PathBuf,
    /// Models.
    pub models: ModelsConfig,
    /// Who makes vectors of texts.
    pub embedder: EmbedderConfig,
    /// Who reads a question beside what was found for it.
    pub rerank: RerankConfig,
    /// What is proposed from asks.
    pub learning: LearningOptions,
    /// What of the asks is kept, and how long.
    pub log: LogSettings,
    /// What operators see of asks.
    pub telemetry: TelemetrySettings,
    /// When candidates are ruled on by the clock.
    pub scheduled: Option<Scheduled>,
    /// When patterns of use are looked for.
    pub mining: Option<Schedule>,
    /// Folder of evaluation runs.
    pub evaluations: PathBuf,
}

/// What is wrong with the configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration {0} cannot be read: {1}")]
    Read(PathBuf, std::io::Error),
    /// The file is not what it should be.
    #[error("the configuration {0} is wrong: {1}")]
    Parse(PathBuf, String),
    /// An address is none.
    #[error("server.listen: `{0}` is not an address with a port, such as 127.0.0.1:8080")]
    Listen(String),
    /// Half a certificate.
    #[error("server.tls_certificate and server.tls_key go together: give both or neither")]
    HalfCertificate,
    /// Not a name of a server.
    #[error(
        "server.names: `{0}` is no name of a server as clients write it, such as data.example or data.example:8443"
    )]
    ServerName(String),
    /// A source without an address.
    #[error("sources.{0}: give `url`, or `url_env` with the name of an environment variable that is set")]
    Source(String),
    /// A value in its place, and in a variable.
    #[error("{0}: it is set, and `{0}_env` names a variable that holds it: keep one of the two")]
    Twice(String),
    /// No pack at all.
    #[error(
        "domains.load: the list is empty, and a host serves one domain at least: name packs, or leave the key out to load every pack whose source is configured"
    )]
    LoadsNothing,
    /// The store's.
    #[error(transparent)]
    Store(#[from] StoreConfigError),
    /// A number out of range.
    #[error("{key} must be from {least} to {most}")]
    Range {
        /// The key.
        key: String,
        /// Least value.
        least: u64,
        /// Most.
        most: u64,
    },
    /// Not a number of seconds.
    #[error("AIRLOCK_MODEL_DEADLINE_SECONDS: `{0}` is not a number of seconds from 1 to 600")]
    Deadline(String),
    /// Signatures are asked for, and no key counts.
    #[error(
        "plugins.require_signatures: name the keys that count in plugins.trusted_keys; with none, nothing would be loaded"
    )]
    NobodyTrusted,
    /// What learning is told.
    #[error("learning.{key}: {why}")]
    Learning {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// What operators see.
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    /// A variable that nothing reads.
    #[error("the environment variable {name} means nothing here: {hint}")]
    Variable {
        /// The variable.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// Half a model.
    #[error("AIRLOCK_MODEL_URL and AIRLOCK_MODEL go together: set both or neither")]
    HalfModel,
}

/// Where the configuration is looked for when no file is named.
const DEFAULT_FILE: &str = "airlock.toml";

impl Config {
    /// Reads the file (or `airlock.toml` in the working folder, or nothing) and the environment.
    ///
    /// # Errors
    /// [`ConfigError`], naming the key.
    pub fn read(file: Option<&Path>, environment: &Environment) -> Result<Self, ConfigError> {
        let (path, text) = read_text(file)?;
        Self::of(path, &text, environment)
    }

    /// The configuration of a file with this text.
    fn of(path: &Path, text: &str, environment: &Environment) -> Result<Self, ConfigError> {
        let parsed: File = toml::from_str(text)
            .map_err(|error| ConfigError::Parse(path.to_owned(), wrong::in_words(error, text)))?;
        let table: toml::Table = toml::from_str(text)
            .map_err(|error| ConfigError::Parse(path.to_owned(), wrong::in_words(error, text)))?;
        environment.check(&table)?;
        environment::once("", &table)?;
        Self::resolve(parsed, path.parent().unwrap_or(Path::new("")), |name| environment.variable(name))
    }

    /// Gives meaning to what was written. Relative paths are relative to the file.
    fn resolve(
        file: File,
        base: &Path,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let server = file.server.resolve(base, &variable)?;
        let mut sources = BTreeMap::new();
        for (name, table) in file.sources {
            let from_variable = table.url_env.as_deref().and_then(&variable);
            let url = from_variable.or(table.url).ok_or_else(|| ConfigError::Source(name.clone()))?;
            let key = |key: &str| format!("sources.{name}.{key}");
            let connections = within(table.connections.map(|n| n as u64), 4, 1, 64, key("connections"))?;
            let timeout =
                within(table.statement_timeout_ms, 5_000, 10, 600_000, key("statement_timeout_ms"))?;
            let orphans = within(table.orphans, 2, 1, 64, key("orphans"))?;
            let settings = SourceSettings {
                url,
                connections: usize::try_from(connections).unwrap_or(4),
                statement_timeout: Duration::from_millis(timeout),
                orphans: usize::try_from(orphans).unwrap_or(2),
            };
            sources.insert(name, settings);
        }
        if file.domains.load.as_ref().is_some_and(Vec::is_empty) {
            return Err(ConfigError::LoadsNothing);
        }
        let quarantine = quarantine(&file.plugins)?;
        let signatures =
            SignaturePolicy { required: file.plugins.require_signatures, trusted: file.plugins.trusted_keys };
        if signatures.required && signatures.trusted.is_empty() {
            return Err(ConfigError::NobodyTrusted);
        }
        let private_store = file.server.data.as_ref().map_or_else(
            || airlock_setup::default_data_dir().join("store"),
            |data| base.join(data).join("store"),
        );
        let store = file.store.resolve(base, private_store, &variable)?;
        let data = file
            .server
            .data
            .map_or_else(|| airlock_setup::default_data_dir().join("host"), |data| base.join(data));
        let runtime_dir = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
        let operator_socket = match (file.server.operator_socket, runtime_dir) {
            (Some(socket), _) => base.join(socket),
            (None, Some(dir)) => dir.join("airlock").join("operator.sock"),
            (None, None) => data.join("operator.sock"),
        };
        let mut models = match (variable("AIRLOCK_MODEL_URL"), variable("AIRLOCK_MODEL")) {
            (Some(url), Some(model)) => {
                let single = ModelsConfig::single(&url, &model, variable("AIRLOCK_MODEL_KEY").as_deref());
                ModelsConfig {
                    deadline_seconds: file.models.deadline_seconds,
                    prices: file.models.prices,
                    record: file.models.record,
                    ..single
                }
            }
            (None, None) => file.models,
            _ => return Err(ConfigError::HalfModel),
        };
        models.rebase(base);
        let mut embedder = match variable("AIRLOCK_EMBEDDER") {
            Some(folder) if folder == "none" => EmbedderConfig::default(),
            Some(folder) => EmbedderConfig::local(Path::new(&folder)),
            None => file.embedder,
        };
        embedder.rebase(base);
        let mut rerank = file.rerank;
        rerank.rebase(base);
        if let Some(text) = variable("AIRLOCK_MODEL_DEADLINE_SECONDS") {
            let seconds = text.parse().map_err(|_| ConfigError::Deadline(text))?;
            models.deadline_seconds = Some(seconds);
        }
        let values = within(
            file.domains.values_refresh_seconds,
            3_600,
            1,
            604_800,
            "domains.values_refresh_seconds".to_owned(),
        )?;
        Ok(Self {
            listen: server.listen,
            ask_deadline: server.ask_deadline,
            asks_at_once: server.asks_at_once,
            access: server.access,
            sources,
            store,
            domains: base.join(file.domains.dir.unwrap_or_else(|| PathBuf::from("domains"))),
            load: file.domains.load,
            values_refresh: Duration::from_secs(values),
            components: base.join(file.plugins.dir.unwrap_or_else(|| PathBuf::from("components"))),
            grants: base.join(file.plugins.grants.unwrap_or_else(|| PathBuf::from("grants.toml"))),
            signatures,
            quarantine,
            data,
            operator_socket,
            models,
            embedder,
            rerank,
            scheduled: file.learning.scheduled()?,
            mining: file.learning.mining()?,
            learning: file.learning.options(),
            log: file.log.resolve()?,
            telemetry: file.telemetry.resolve(&variable)?,
            evaluations: base.join(file.evaluation.dir.unwrap_or_else(|| PathBuf::from("evaluations"))),
        })
    }
}

/// The file that is read, and what is in it; nothing, where no file is named and none is there.
fn read_text(file: Option<&Path>) -> Result<(&Path, String), ConfigError> {
    let path = file.unwrap_or(Path::new(DEFAULT_FILE));
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((path, text)),
        Err(error) if file.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            Ok((path, String::new()))
        }
        Err(error) => Err(ConfigError::Read(path.to_owned(), error)),
    }
}

fn quarantine(plugins: &PluginsTable) -> Result<QuarantinePolicy, ConfigError> {
    let default = QuarantinePolicy::default();
    let asks =
        within(plugins.quarantine.asks, default.asks as u64, 1, 1_000, "plugins.quarantine.asks".to_owned())?;
    let seconds = within(
        plugins.quarantine.within_seconds,
        default.within.as_secs(),
        1,
        86_400,
        "plugins.quarantine.within_seconds".to_owned(),
    )?;
    Ok(QuarantinePolicy {
        asks: usize::try_from(asks).unwrap_or(default.asks),
        within: Duration::from_secs(seconds),
        on_failure: plugins.on_failure.clone(),
    })
}

fn within(value: Option<u64>, default: u64, least: u64, most: u64, key: String) -> Result<u64, ConfigError> {
    match value.unwrap_or(default) {
        value if (least..=most).contains(&value) => Ok(value),
        _ => Err(ConfigError::Range { key, least, most }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::of(Path::new("/etc/airlock/airlock.toml"), text, &Environment::of(variables))
    }

    #[test]
    fn environment_wins_over_the_file_and_paths_are_beside_it() {
        let text = r#"
            [server]
            listen = "127.0.0.1:1"
            [sources.shop]
            url_env = "SHOP_URL"
            [plugins]
            dir = "c""#;
        let config = resolve(text, &[("AIRLOCK_LISTEN", "127.0.0.1:9"), ("SHOP_URL", "host=here")]).unwrap();
        assert_eq!(config.listen.port(), 9);
        assert_eq!(config.sources["shop"].url, "host=here");
        assert_eq!(config.components, Path::new("/etc/airlock/c"));
        assert_eq!(config.grants, Path::new("/etc/airlock/grants.toml"));
        let socket = |text, variables| resolve(text, variables).unwrap().operator_socket;
        let (data, run) = ("[server]\ndata = \"d\"", [("XDG_RUNTIME_DIR", "/run/user/7")]);
        assert_eq!(socket(data, &[]), Path::new("/etc/airlock/d/operator.sock"));
        assert_eq!(socket(data, &run), Path::new("/run/user/7/airlock/operator.sock"));
        assert_eq!(socket("[server]\noperator_socket = \"/x\"", &run), Path::new("/x"));
        assert!(!config.models.roles.contains_key("fast"));
        let config =
            resolve("", &[("AIRLOCK_MODEL_URL", "http://127.0.0.1:1"), ("AIRLOCK_MODEL", "m")]).unwrap();
        assert!(config.models.roles.contains_key("fast"));
    }

    #[test]
    fn the_documented_configuration_is_read() {
        let page = include_str!("../../../../docs/configuration.md");
        let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let config = resolve(example, &[("SHOP_READER_URL", "host=x")]).unwrap();
        assert_eq!(config.load.as_deref(), Some(["hardware-shop".to_owned()].as_slice()));
        let keys = |_: &str| Some("key".to_owned());
        assert!(airlock_models::Models::from_config(&config.models, keys).unwrap().available());
    }

    #[test]
    fn a_mistake_is_named_by_its_key() {
        for (text, variables, want) in [
            ("[server]\nlisten = \"nowhere\"", vec![], "server.listen"),
            ("[server]\nask_deadline_seconds = 0", vec![], "server.ask_deadline_seconds"),
            ("[server]\nlissten = \"x\"", vec![], "lissten"),
            ("[sources.shop]\n", vec![], "sources.shop"),
            ("[plugins.quarantine]\nasks = 0", vec![], "plugins.quarantine.asks"),
            ("[plugins]\nrequire_signatures = true", vec![], "plugins.trusted_keys"),
            ("[plugins]\ntrusted_keys = [\"mine\"]", vec![], "airlock plugin keygen"),
            ("[plugins.on_failure]\nrepair = \"hope\"", vec![], "plugins.on_failure.repair"),
            ("[plugins.on_failure]\nrepairs = \"fail\"", vec![], "repairs"),
            ("[sources.shop]\nurl = \"host=x\"\nconnections = 0", vec![], "sources.shop.connections"),
            ("", vec![("AIRLOCK_MODEL", "m")], "AIRLOCK_MODEL_URL"),
            ("", vec![("AIRLOCK_MODELS", "m")], "did you mean AIRLOCK_MODEL?"),
            ("[learning]\ntime_zone = \"x\"", vec![], "learning.time_zone: `x` is no time zone"),
            (
                "[learning]\nschedule = \"off\"\nmining = \"off\"\ntime_zone = \"x\"",
                vec![],
                "learning.time_zone: `x` is no time zone",
            ),
            ("[models.prices.m]\ninput = -1.0\noutput = 2", vec![], "key `models.prices.m.input`: a price"),
            ("[models.prices.m]\ninput = 1\noutput = nan", vec![], "key `models.prices.m.output`: a price"),
            ("[models.prices.m]\ninput = inf\noutput = 2", vec![], "key `models.prices.m.input`: a price"),
            (
                "[sources.shop]\nurl = \"host=x\"\nurl_env = \"X\"",
                vec![("X", "host=y")],
                "sources.shop.url: it is set, and `sources.shop.url_env`",
            ),
            ("[store]\nurl = \"host=x\"\nurl_env = \"X\"", vec![], "store.url: it is set"),
            (
                "[models.providers.p]\nurl = \"http://h\"\nkey = \"hunter2\"\nkey_env = \"X\"",
                vec![],
                "models.providers.p.key: it is set",
            ),
            ("[embedder]\nkey = \"hunter2\"\nkey_env = \"X\"", vec![], "embedder.key: it is set"),
            ("[domains]\nload = []", vec![], "domains.load: the list is empty"),
        ] {
            let error = resolve(text, &variables).err().unwrap().to_string();
            assert!(error.contains(want) && !error.contains("hunter2"), "{text:?}: {error}");
        }
    }
}
