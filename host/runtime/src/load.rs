//! Loading: from bytes and a grant to a component that can be called, or the reason why not.
//!
//! What a component imports is compared with its grant before anything of it runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_types::ContentHash;
use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component as Code, InstancePre};

use crate::contract::{PACKAGE, VERSION};
use crate::engine::Runtime;
use crate::errors::{LoadError, LoadErrorKind};
use crate::grants::{Grant, Import, Stage, Wasi};
use crate::limits::Limits;
use crate::services::NoServices;
use crate::stages::{Exports, Moment};
use crate::store::{self, Sharing, State};
use crate::wasi::{self, Inert};

/// Bytes of a WebAssembly page.
const PAGE: u64 = 65_536;

/// A component that was checked against its grant and can be called. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    pub(crate) inner: Arc<Loaded>,
}

pub(crate) struct Loaded {
    grant: Grant,
    size: usize,
    from_cache: bool,
    load_time: Duration,
    imports: BTreeSet<Import>,
    pub(crate) limits: Limits,
    pub(crate) pre: InstancePre<State>,
    pub(crate) exports: Exports,
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Component")
            .field("name", &self.name())
            .field("digest", &self.digest())
            .field("stages", &self.stages())
            .finish_non_exhaustive()
    }
}

impl Component {
    /// Its name in the grants.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.grant.component
    }

    /// SHA-256 of its bytes.
    #[must_use]
    pub fn digest(&self) -> ContentHash {
        self.inner.grant.digest
    }

    /// The stages it serves: those of its grant, each of which it exports.
    #[must_use]
    pub fn stages(&self) -> &BTreeSet<Stage> {
        &self.inner.grant.stages
    }

    /// What it may have.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        &self.inner.grant
    }

    /// The interfaces it calls functions of.
    #[must_use]
    pub fn imports(&self) -> &BTreeSet<Import> {
        &self.inner.imports
    }

    /// What each of its calls may use: the host's limits with the changes of its grant.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Bytes of its file.
    #[must_use]
    pub fn size(&self) -> usize {
        self.inner.size
    }

    /// Whether its compiled code came from the cache.
    #[must_use]
    pub fn from_cache(&self) -> bool {
        self.inner.from_cache
    }

    /// How long loading took.
    #[must_use]
    pub fn load_time(&self) -> Duration {
        self.inner.load_time
    }
}

impl Runtime {
    /// Loads a component under a grant. Compiling takes processor time: call it from a thread that may block.
    ///
    /// # Errors
    /// When the bytes are not what the grant is for, want more than it gives, or do not fit this host.
    pub fn load(&self, bytes: &[u8], grant: &Grant) -> Result<Component, LoadError> {
        self.load_signed(bytes, grant, None)
    }

    /// The same for a component with a signed statement, as the file beside it has it. A runtime that asks for
    /// signatures loads nothing in another way.
    ///
    /// # Errors
    /// As [`Runtime::load`], and when the statement does not let it in.
    pub fn load_signed(
        &self,
        bytes: &[u8],
        grant: &Grant,
        signature: Option<&[u8]>,
    ) -> Result<Component, LoadError> {
        self.load_checked(bytes, grant, signature)
            .map_err(|kind| LoadError { component: grant.component.clone(), kind })
    }

    fn load_checked(
        &self,
        bytes: &[u8],
        grant: &Grant,
        signature: Option<&[u8]>,
    ) -> Result<Component, LoadErrorKind> {
        let began = Instant::now();
        let shared = &self.shared;
        check_bytes(bytes, shared.config.max_component_bytes)?;
        let found = ContentHash::of(bytes);
        if found != grant.digest {
            return Err(LoadErrorKind::Digest { granted: grant.digest, found });
        }
        shared.config.signatures.admit(found, grant, signature).map_err(LoadErrorKind::Signature)?;
        let cached = shared.cache.as_ref().and_then(|cache| cache.get(found, &shared.engine));
        let from_cache = cached.is_some();
        let code = match cached {
            Some(code) => code,
            None => Code::from_binary(&shared.engine, bytes)
                .map_err(|error| LoadErrorKind::Compile(crate::bounds::line(&format!("{error:#}"), 1_024)))?,
        };
        check_kind(&code, &shared.engine)?;
        let imports = check_imports(&code, &shared.engine, grant)?;
        check_exports(&code, &shared.engine, grant)?;
        let limits = shared.config.limits.with(&grant.limits);
        check_resources(&code, &limits, shared.config.pooled_instances())?;
        let pre = match grant.wasi {
            None => shared.linker.instantiate_pre(&code),
            Some(Wasi::Inert) => wasi::link(&shared.linker, &code, &shared.engine)
                .and_then(|linker| linker.instantiate_pre(&code)),
        };
        let pre = pre.map_err(|error| shape(&error))?;
        let exports = Exports::find(&pre, &grant.stages).map_err(|error| shape(&error))?;
        self.try_one(&pre, &exports, &limits, grant)?;
        // Without this the first call would pay for mapping the initial memory.
        code.initialize_copy_on_write_image()
            .map_err(|error| LoadErrorKind::Compile(format!("{error:#}")))?;
        if let Some(cache) = shared.cache.as_ref().filter(|_| !from_cache) {
            cache.put(found, &code);
        }
        Ok(Component {
            inner: Arc::new(Loaded {
                grant: grant.clone(),
                size: bytes.len(),
                from_cache,
                load_time: began.elapsed(),
                imports,
                limits,
                pre,
                exports,
            }),
        })
    }

    /// Makes one instance and lets it go: a component that does not start, or whose functions have other types, is
    /// found here and not by the first ask.
    fn try_one(
        &self,
        pre: &InstancePre<State>,
        exports: &Exports,
        limits: &Limits,
        grant: &Grant,
    ) -> Result<(), LoadErrorKind> {
        let shared = &self.shared;
        let wasi = grant.wasi.map(|_| Inert::new(grant.digest, Moment::default(), limits));
        let mut store = store::fresh(&shared.engine, NoServices::shared(), limits, Sharing::OwnThread, wasi);
        let meter = store.data().meter();
        meter.resume();
        let instance = pre.instantiate(&mut store).map_err(|error| {
            let kind = crate::calls::diagnose(&error, store.data(), &shared.config);
            LoadErrorKind::DoesNotStart(Box::new(kind))
        })?;
        exports.check_types(&mut store, &instance).map_err(|error| shape(&error))
    }
}

fn shape(error: &wasmtime::Error) -> LoadErrorKind {
    LoadErrorKind::Shape(crate::bounds::line(&format!("{error:#}"), 1_024))
}

fn check_bytes(bytes: &[u8], most: usize) -> Result<(), LoadErrorKind> {
    if bytes.len() > most {
        return Err(LoadErrorKind::TooLarge { size: bytes.len(), allowed: most });
    }
    if Engine::detect_precompiled(bytes).is_some() {
        return Err(LoadErrorKind::Precompiled);
    }
    // Magic, then version and layer: 1 and 0 for a module, 13 and 1 for a component.
    let found = match bytes {
        [0, b'a', b's', b'm', _, _, 1, 0, ..] => return Ok(()),
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => "a core module",
        [] => "empty",
        _ => "not WebAssembly",
    };
    Err(LoadErrorKind::NotAComponent { found })
}

/// An interface name of the contract and its version: `airlock:plugin/NAME@VERSION`.
fn of_contract(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(PACKAGE)?.strip_prefix('/')?.split_once('@')
}

/// Whether this host serves components of a contract, `airlock:plugin@VERSION`.
pub(crate) fn offers_contract(contract: &str) -> bool {
    let version = contract.strip_prefix(PACKAGE).and_then(|rest| rest.strip_prefix('@'));
    version.is_some_and(same_generation)
}

/// Versions of one generation are served by the same host: `0.1.0` and `0.1.3`, not `0.2.0`.
fn same_generation(version: &str) -> bool {
    let generation = |text: &str| {
        let mut numbers = text.split('.').map(str::to_owned);
        (numbers.next(), numbers.next())
    };
    generation(version) == generation(VERSION)
}

/// A program is told so, and not that it lacks this or that.
fn check_kind(code: &Code, engine: &Engine) -> Result<(), LoadErrorKind> {
    let ty = code.component_type();
    let run = ty.exports(engine).map(|(name, _)| name).find(|name| name.starts_with("wasi:cli/run@"));
    run.map_or(Ok(()), |name| Err(LoadErrorKind::Program { export: crate::bounds::line(name, 256) }))
}

fn check_imports(code: &Code, engine: &Engine, grant: &Grant) -> Result<BTreeSet<Import>, LoadErrorKind> {
    let (mut used, mut beyond) = (BTreeSet::new(), Vec::new());
    let (mut wasi, mut versions, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    let ty = code.component_type();
    for (name, import) in ty.imports(engine) {
        let shown = crate::bounds::line(name, 256);
        let only_types = match &import.ty {
            ComponentItem::ComponentInstance(instance) => {
                instance.exports(engine).all(|(_, item)| matches!(item.ty, ComponentItem::Type(_)))
            }
            ComponentItem::Type(_) => true,
            _ => false,
        };
        match of_contract(name) {
            Some((_, version)) if !same_generation(version) => versions.push(shown),
            // Names for records: nothing that could be called.
            _ if only_types => {}
            Some((interface, _)) => match Import::ALL.iter().find(|known| known.as_str() == interface) {
                Some(import) if grant.imports.contains(import) => {
                    used.insert(*import);
                }
                Some(import) => beyond.push(import.as_str().to_owned()),
                None => unknown.push(shown),
            },
            None if name.starts_with("wasi:") => wasi.push(shown),
            None => unknown.push(shown),
        }
    }
    if !versions.is_empty() {
        return Err(LoadErrorKind::ContractVersion { wants: versions });
    }
    if !wasi.is_empty() && grant.wasi.is_none() {
        return Err(LoadErrorKind::Wasi { wants: wasi });
    }
    wasi.retain(|name| !wasi::offers(name));
    if !wasi.is_empty() {
        return Err(LoadErrorKind::WasiBeyond { wants: wasi, offers: wasi::offered() });
    }
    if !unknown.is_empty() {
        let offers =
            Import::ALL.iter().map(|import| format!("{PACKAGE}/{}@{VERSION}", import.as_str())).collect();
        return Err(LoadErrorKind::UnknownImport { wants: unknown, offers });
    }
    if !beyond.is_empty() {
        let granted = grant.imports.iter().map(|import| import.as_str().to_owned()).collect();
        return Err(LoadErrorKind::NotGranted { wants: beyond, granted });
    }
    Ok(used)
}

fn check_exports(code: &Code, engine: &Engine, grant: &Grant) -> Result<(), LoadErrorKind> {
    let ty = code.component_type();
    let names: Vec<&str> = ty.exports(engine).map(|(name, _)| name).collect();
    let shown = |names: &[&str]| names.iter().map(|name| crate::bounds::line(name, 256)).collect::<Vec<_>>();
    let foreign: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| of_contract(name).is_some_and(|(_, version)| !same_generation(version)))
        .collect();
    for stage in &grant.stages {
        let exported = names.iter().any(|name| {
            of_contract(name).is_some_and(|(interface, version)| {
                interface == stage.interface() && same_generation(version)
            })
        });
        if !exported && !foreign.is_empty() {
            return Err(LoadErrorKind::ContractVersion { wants: shown(&foreign) });
        }
        if !exported {
            return Err(LoadErrorKind::MissingStage { stage: *stage, exports: shown(&names) });
        }
    }
    Ok(())
}

/// What the component needs to start is compared with what a call may have, so that the numbers are told here.
fn check_resources(code: &Code, limits: &Limits, pooled: usize) -> Result<(), LoadErrorKind> {
    let Some(needs) = code.resources_required() else {
        return Err(LoadErrorKind::Shape("it instantiates modules that it imports".to_owned()));
    };
    let memory = needs.max_initial_memory_size.unwrap_or(0).saturating_mul(PAGE);
    let elements = needs.max_initial_table_size.unwrap_or(0);
    for (what, needs, allowed) in [
        // A grant may raise everyone's limit up to what the pool has for each call.
        ("core instances", limits.instances as u64, pooled),
        ("linear memories", u64::from(needs.num_memories), limits.memories),
        ("tables", u64::from(needs.num_tables), limits.tables),
        ("bytes of memory", memory, limits.memory),
        ("table elements", elements, limits.table_elements),
    ] {
        let allowed = allowed as u64;
        if needs > allowed {
            return Err(LoadErrorKind::DoesNotFit { what, needs, allowed });
        }
    }
    Ok(())
}
