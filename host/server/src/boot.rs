//! From a configuration to a host in service: components loaded by their grants, sources connected, packs opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_database::checks::Severity;
use airlock_database::{Source, SourceConfig};
use airlock_knowledge::{Pack, PackReport};
use airlock_models::{Embedder, FileCache, Models, Reranker};
use airlock_pipeline::{Domain, DomainError, Embedding, Host, HostOptions, Journal, Learning};
use airlock_runtime::{Component, Grants, Registry, Runtime, RuntimeConfig, SignaturePolicy};
use anyhow::Context;

use crate::config::{Config, SourceSettings};
use crate::drift;
use crate::exit::usage;
use crate::plugins::{self, Reviewed};
use crate::store::{self, OpenStore, Purpose};

/// File beside the components that says what each may be and have.
const GRANTS: &str = "grants.toml";

/// The host that a configuration describes.
///
/// # Errors
/// With what is wrong and where: a component that wants more than its grant, a source that does not answer, a pack that
/// cannot be read.
pub async fn host(config: &Config) -> anyhow::Result<Host> {
    host_with(config, Credentials::Readers).await
}

/// The same with its store, which is to be closed after the host.
///
/// # Errors
/// As [`host`], and when the store is wrong.
pub async fn host_with_store(config: &Config, purpose: Purpose) -> anyhow::Result<(Host, OpenStore)> {
    let mut open = store::open(config, purpose).await?;
    let host = match host(config).await {
        Ok(host) => host,
        Err(error) => {
            open.close().await?;
            return Err(error);
        }
    };
    let Some(store) = open.store().cloned() else {
        drift::begin(&host, &open, config, purpose).await;
        return Ok((host, open));
    };
    let recall = store.recall();
    if purpose == Purpose::Serve {
        let later = store::load_packs(&store, config, &host.domains().collect::<Vec<_>>()).await;
        if !later.is_empty() {
            tracing::warn!("the packs are loaded into the store when it is back");
        }
        open.load_later(later);
    }
    drift::begin(&host, &open, config, purpose).await;
    let journal = Journal::new(store.log(), config.log.journal());
    let learning = Learning::new(store.distill(), config.learning);
    let host =
        host.with_store(recall).with_learning(learning).with_journal(journal).with_conversations(store.ops());
    Ok((host, open))
}

/// Which credentials a host may be put in service with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials {
    /// Those of readers alone: what could change the data it reads is refused.
    Readers,
    /// Any, to look at an installation that is not as it must be. Never to serve.
    Any,
}

/// The same, with more credentials than readers' where that is what is to be looked at.
///
/// # Errors
/// As [`host`].
pub async fn host_with(config: &Config, credentials: Credentials) -> anyhow::Result<Host> {
    let models = models(config)?;
    let (runtime, registry) = components(config)?;
    let mut domains = Vec::new();
    let mut sources = BTreeMap::new();
    for pack in packs(config)? {
        domains.push(open_with(config, &mut sources, &pack, credentials).await?);
    }
    if domains.is_empty() {
        return Err(usage(format!(
            "there is no domain to serve: {} holds no pack whose source is configured under [sources]",
            config.domains.display()
        )));
    }
    let options = HostOptions {
        deadline: config.ask_deadline,
        asks_at_once: config.asks_at_once,
        quarantine: config.quarantine.clone(),
    };
    let host = Host::new(domains, runtime, registry, models, options);
    let host = match embedding(config)? {
        Some(embedding) => host.with_embedding(embedding),
        None => host,
    };
    let host = match Reranker::from_config(&config.rerank).map_err(usage)? {
        Some(reranker) => host.with_reranker(reranker),
        None => host,
    };
    plugins::restore(&host, &reviewed(config), &config.data)?;
    Ok(host)
}

/// Where the grants of a configuration are.
pub fn reviewed(config: &Config) -> Reviewed {
    // Operators are told of these files; they need not be where the host was started.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    Reviewed { built: absolute(config.components.join(GRANTS)), own: absolute(config.grants.clone()) }
}

/// The models that a configuration names.
///
/// # Errors
/// Naming the key.
pub fn models(config: &Config) -> anyhow::Result<Models> {
    Models::from_config(&config.models, |name| std::env::var(name).ok()).map_err(usage)
}

/// The embedder that a configuration names, with its cache under the data folder.
fn embedding(config: &Config) -> anyhow::Result<Option<Embedding>> {
    let folder = config.data.join("embeddings");
    let embedder = Embedder::from_config(&config.embedder, |name| std::env::var(name).ok()).map_err(usage)?;
    Ok(embedder.map(|embedder| {
        let cache = Arc::new(FileCache::new(&folder));
        Embedding::new(embedder.with_cache(cache), &folder)
    }))
}

/// A runtime that keeps compiled components between starts.
///
/// # Errors
/// When this machine cannot run one.
pub fn runtime(signatures: SignaturePolicy) -> anyhow::Result<Runtime> {
    let uncached = RuntimeConfig { signatures, ..RuntimeConfig::default() };
    let config = RuntimeConfig { cache_dir: compiled_cache(), ..uncached.clone() };
    if config.cache_dir.is_some() {
        match Runtime::new(config) {
            Ok(runtime) => return Ok(runtime),
            Err(error) => tracing::warn!(%error, "components are compiled anew at each start"),
        }
    }
    Ok(Runtime::new(uncached)?)
}

/// The runtime that an author tries a component on: as a host's, and whoever signed it.
///
/// # Errors
/// As [`runtime`].
pub fn runtime_of_authors() -> anyhow::Result<Runtime> {
    runtime(SignaturePolicy::default())
}

/// The grants of a folder of components.
///
/// # Errors
/// When there are none, or they are wrong.
pub fn grants(folder: &Path) -> anyhow::Result<Grants> {
    let path = folder.join(GRANTS);
    if !path.is_file() {
        return Err(usage(format!(
            "plugins.dir: {} has no {GRANTS}: `cargo xtask plugins` builds the components and their grants",
            folder.display()
        )));
    }
    Grants::read(&path).map_err(usage)
}

/// Loads every component of the configuration by its grant.
///
/// # Errors
/// When the folder has no grants, or a component is not what its grant says.
pub fn components(config: &Config) -> anyhow::Result<(Runtime, Registry)> {
    let runtime = runtime(config.signatures.clone())?;
    let registry = Registry::new();
    for component in load_all(&runtime, &config.components)? {
        registry.install(&component);
    }
    Ok((runtime, registry))
}

/// The components of a folder, in the order of its grants.
///
/// # Errors
/// As [`components`].
pub fn load_all(runtime: &Runtime, folder: &Path) -> anyhow::Result<Vec<Component>> {
    let grants = grants(folder)?;
    grants
        .iter()
        .map(|grant| {
            let file = folder.join(format!("{}.wasm", grant.component));
            let bytes = std::fs::read(&file)
                .with_context(|| format!("the component {} cannot be read", file.display()))?;
            let signature = plugins::signature_of(&file);
            runtime.load_signed(&bytes, grant, signature.as_deref()).map_err(usage)
        })
        .collect()
}

/// Where compiled components are kept between starts; nowhere when the user has no such folder.
fn compiled_cache() -> Option<PathBuf> {
    let base = match (std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")) {
        (Some(base), _) if !base.is_empty() => PathBuf::from(base),
        (_, Some(home)) if !home.is_empty() => PathBuf::from(home).join(".cache"),
        _ => return None,
    };
    Some(base.join("airlock").join("compiled"))
}

/// The packs that are to be served: those named, or all whose source is configured.
///
/// # Errors
/// With the report of a pack that cannot be read.
pub fn packs(config: &Config) -> anyhow::Result<Vec<Pack>> {
    let mut packs = all_packs(config)?;
    if config.load.is_none() {
        packs.retain(|pack| config.sources.contains_key(&pack.settings.source));
    }
    match packs.iter().find(|pack| !config.sources.contains_key(&pack.settings.source)) {
        None => Ok(packs),
        Some(pack) => Err(usage(format!(
            "domain `{}` reads the source `{}`, and there is no [sources.{}] in the configuration",
            pack.name, pack.settings.source, pack.settings.source
        ))),
    }
}

/// The packs named in the configuration, or all of its folder.
///
/// # Errors
/// As [`packs`].
pub fn all_packs(config: &Config) -> anyhow::Result<Vec<Pack>> {
    let folders: Vec<PathBuf> = match &config.load {
        Some(names) => names.iter().map(|name| config.domains.join(name)).collect(),
        None => {
            let entries = std::fs::read_dir(&config.domains).map_err(|error| {
                usage(format!("domains.dir: {} cannot be read: {error}", config.domains.display()))
            })?;
            let mut found: Vec<PathBuf> = entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.join("domain.toml").is_file())
                .collect();
            found.sort();
            found
        }
    };
    folders
        .iter()
        .map(|folder| {
            Pack::read(folder)
                .map_err(|report| usage(format!("the pack {} is wrong:\n{report}", folder.display())))
        })
        .collect()
}

/// Opens one domain over its source, with what of its pack fits; domains over the same source share its connections.
///
/// # Errors
/// When the source does not answer.
pub async fn open(
    config: &Config,
    sources: &mut BTreeMap<String, Source>,
    pack: &Pack,
) -> anyhow::Result<Domain> {
    open_with(config, sources, pack, Credentials::Readers).await
}

/// The same for a pack that is to fit in every part; the inner error is what does not.
///
/// # Errors
/// As [`open`].
pub async fn open_whole(
    config: &Config,
    sources: &mut BTreeMap<String, Source>,
    pack: &Pack,
) -> anyhow::Result<Result<Domain, PackReport>> {
    let source = source(config, sources, pack).await?;
    match Domain::open_whole(pack, source).await {
        Ok(domain) => Ok(Ok(domain)),
        Err(DomainError::Pack(report)) => Ok(Err(report)),
        Err(error) => Err(not_open(error)),
    }
}

async fn open_with(
    config: &Config,
    sources: &mut BTreeMap<String, Source>,
    pack: &Pack,
    credentials: Credentials,
) -> anyhow::Result<Domain> {
    let source = source_with(config, sources, pack, credentials).await?;
    Domain::open(pack, source).await.map_err(not_open)
}

fn not_open(error: DomainError) -> anyhow::Error {
    match error {
        DomainError::Source { .. } => anyhow::Error::new(error),
        other => usage(other),
    }
}

/// The source of a pack, which packs over the same one share.
///
/// # Errors
/// When it does not answer.
pub async fn source(
    config: &Config,
    sources: &mut BTreeMap<String, Source>,
    pack: &Pack,
) -> anyhow::Result<Source> {
    source_with(config, sources, pack, Credentials::Readers).await
}

async fn source_with(
    config: &Config,
    sources: &mut BTreeMap<String, Source>,
    pack: &Pack,
    credentials: Credentials,
) -> anyhow::Result<Source> {
    let name = &pack.settings.source;
    if let Some(source) = sources.get(name) {
        return Ok(source.clone());
    }
    let settings = config.sources.get(name).ok_or_else(|| usage(format!("there is no [sources.{name}]")))?;
    let source = connect(name, settings, credentials).await?;
    sources.insert(name.clone(), source.clone());
    Ok(source)
}

/// Connects to a source and refuses a credential that could do more than read, unless any will do.
async fn connect(name: &str, settings: &SourceSettings, credentials: Credentials) -> anyhow::Result<Source> {
    let config = SourceConfig {
        pool_size: settings.connections,
        statement_timeout: settings.statement_timeout,
        orphans: settings.orphans,
        ..SourceConfig::new(&settings.url)
    };
    let unreached = || format!("the source `{name}` cannot be reached");
    let source = Source::connect(config).await.with_context(unreached)?;
    if credentials == Credentials::Any {
        return Ok(source);
    }
    let mut unfit = source.powers().await.with_context(unreached)?;
    unfit.retain(|power| power.severity == Severity::Unfit);
    if unfit.is_empty() {
        return Ok(source);
    }
    let reasons: Vec<String> = unfit.iter().map(ToString::to_string).collect();
    Err(usage(format!(
        "sources.{name}: role `{}` may do too much: {}; mend that, or make a reader by `airlock setup`, and serve with it",
        source.target().user,
        reasons.join("; ")
    )))
}
