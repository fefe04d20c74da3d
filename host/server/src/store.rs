//! The store of a host: found by the configuration, or kept on a private PostgreSQL that starts and stops with the host.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use airlock_database::connection_string::ConnectionStringError;
use airlock_database::{ConnectionString, DatabaseError};
use airlock_knowledge::Pack;
use airlock_knowledge::store::{
    Access, Dial, DialError, Dialling, Duty, Line, Notice, PackLoad, Store, StoreError,
};
use airlock_pipeline::Domain;
use airlock_setup::store::{StorePlace, StorePlan, StoreServer, prove};
use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, Secret, SetupError};
use serde_json::{Value, json};

use crate::config::Config;
use crate::config::store::{ROLE_PREFIX, StoreAddress, StoreSettings};
use crate::exit::usage;

/// The database of a store that airlock makes by itself.
pub const DATABASE: &str = "airlock";
/// Between two attempts to do what could not be done while the store was away.
const RETRY: Duration = Duration::from_secs(2);
/// How long a role of the store waits for one server to answer, whatever the connection string allows.
const CONNECT: Duration = Duration::from_secs(4);

/// A store in use, and the private server it is on.
#[derive(Default)]
pub struct OpenStore {
    store: Option<Store>,
    roles: Option<RoleAddresses>,
    private: Option<PrivatePostgres>,
    /// Domains whose packs could not be loaded yet.
    later: Vec<Arc<Domain>>,
}

/// How each role of a store is reached.
struct RoleAddresses {
    target: ConnectionString,
    prefix: String,
    passwords: BTreeMap<String, Secret>,
}

impl RoleAddresses {
    async fn prove(&self, duty: Duty) -> Result<String, String> {
        let password = self.passwords.get(duty.as_str()).map_or("", |password| password.reveal());
        let target = self.target.for_role(&format!("{}_{duty}", self.prefix), password);
        let client = target.client().await.map_err(|error| error.to_string())?;
        let verdicts = prove(&client, duty.as_str()).await.map_err(|error| error.to_string())?;
        let failed: Vec<String> =
            verdicts.iter().filter(|verdict| !verdict.passed()).map(ToString::to_string).collect();
        if failed.is_empty() {
            Ok(format!("{} trials passed", verdicts.len()))
        } else {
            Err(failed.join("; "))
        }
    }
}

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To serve: it is made and brought up to date where that is needed, and looked at as a whole.
    Serve,
    /// For one command: what is there is used, and nothing is made.
    Command,
}

impl OpenStore {
    /// Keeps in mind what is to be loaded when the store is back.
    pub fn load_later(&mut self, domains: Vec<Arc<Domain>>) {
        self.later = domains;
    }

    /// The store, if there is one.
    pub const fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Tries every role by what is its own and what is not, as set-up did: the checks that `airlock doctor` shows.
    pub async fn checks(&self) -> Vec<Value> {
        let (Some(roles), Some(store)) = (&self.roles, &self.store) else { return Vec::new() };
        let mut checks = Vec::new();
        for (duty, found) in store.check().await {
            if duty == Duty::Migrate && !roles.passwords.contains_key("migrate") {
                continue;
            }
            let (found, remedy) = match found {
                Err(error) => (Err(error.to_string()), "mend what is said".to_owned()),
                Ok(()) => (roles.prove(duty).await, "run `airlock setup --store` again".to_owned()),
            };
            let passed = found.is_ok();
            checks.push(json!({
                "name": format!("store-{duty}-does-its-own-and-nothing-else"),
                "outcome": if passed { "passed" } else { "failed" },
                "tried": "every table of the store, by the role's own credential",
                "found": found.unwrap_or_else(|what| what),
                "remedy": (!passed).then_some(remedy),
            }));
        }
        checks
    }

    /// Stops the private server, if this host keeps it.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn close(self) -> anyhow::Result<()> {
        match self.private {
            Some(postgres) => Ok(postgres.stop().await?),
            None => Ok(()),
        }
    }
}

/// Opens the store that a configuration names. One that is away, or a private one that cannot be started, is told and done
/// without: a host serves all the same. One that is wrong is refused.
///
/// # Errors
/// Naming the key, when only a person can mend it.
pub async fn open(config: &Config, purpose: Purpose) -> anyhow::Result<OpenStore> {
    match &config.store {
        StoreSettings::Off => Ok(OpenStore::default()),
        StoreSettings::Private(dir) => match private(dir, purpose).await {
            Ok(open) => Ok(open),
            Err(error) => {
                tracing::warn!(%error, "there is no knowledge store: nothing is learned or logged; configure [store]");
                Ok(OpenStore::default())
            }
        },
        StoreSettings::At(address) => {
            let roles = roles_at(address)?;
            let store = store_of(&roles.target, &roles.prefix, &roles.passwords)?;
            if purpose == Purpose::Serve {
                look_at(&store, roles.passwords.contains_key("migrate")).await?;
            }
            Ok(OpenStore { store: Some(store), roles: Some(roles), ..OpenStore::default() })
        }
    }
}

/// How the roles of a store at an address are reached. Nothing is connected yet.
fn roles_at(address: &StoreAddress) -> anyhow::Result<RoleAddresses> {
    let target = target(&address.url).map_err(|error| usage(format!("store.url: {error}")))?;
    let passwords = address.passwords().map_err(usage)?;
    Ok(RoleAddresses { target, prefix: address.prefix.clone(), passwords })
}

/// Reads an address that need not name a role: each role is set by itself.
fn target(url: &str) -> Result<ConnectionString, ConnectionStringError> {
    let read = url.parse();
    if !matches!(read, Err(ConnectionStringError::Part { part: "user", .. })) {
        return read;
    }
    let is_uri = url.trim_start().starts_with("postgres");
    match (is_uri, url.contains('?')) {
        (true, true) => format!("{}&user=airlock", url.trim_end()),
        (true, false) => format!("{}?user=airlock", url.trim_end()),
        (false, _) => format!("{url} user=airlock"),
    }
    .parse()
}

/// The store of these roles at a server and database.
///
/// # Errors
/// Never with a password for each role but `migrate`.
pub fn store_of(
    target: &ConnectionString,
    prefix: &str,
    passwords: &BTreeMap<String, Secret>,
) -> Result<Store, StoreError> {
    let access = Duty::ALL.into_iter().map(|duty| {
        let role = format!("{prefix}_{duty}");
        let target = passwords.get(duty.as_str()).map(|password| {
            let mut target = target.for_role(&role, password.reveal());
            target.connect_timeout = target.connect_timeout.min(CONNECT);
            target
        });
        (duty, Access { role, dial: Arc::new(RoleDial(target)) })
    });
    Store::new(access.collect())
}

/// Brings the store up to date and looks at every role.
async fn look_at(store: &Store, may_migrate: bool) -> anyhow::Result<()> {
    if may_migrate {
        match store.migrate().await {
            Ok(done) if done.from < done.to => {
                tracing::info!(from = done.from, to = done.to, "the store was brought up to date");
            }
            Ok(_) => {}
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "the knowledge store is away: answers go on without what was learned");
                return Ok(());
            }
            Err(error) => return Err(usage(error)),
        }
    }
    for (duty, found) in store.check().await {
        match found {
            Ok(()) => {}
            // Without its credential the role is simply not used.
            Err(_) if duty == Duty::Migrate && !may_migrate => {}
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "the knowledge store is away: answers go on without what was learned");
            }
            Err(error) => return Err(usage(error)),
        }
    }
    Ok(())
}

/// The store on a private server: started, or joined where another airlock keeps it.
async fn private(dir: &Path, purpose: Purpose) -> Result<OpenStore, PrivateStoreError> {
    if purpose == Purpose::Command && !dir.is_dir() {
        return Ok(OpenStore::default());
    }
    let postgres = match PrivatePostgres::start(&PrivateConfig::new(dir, Durability::Safe)).await {
        Err(SetupError::InUse { .. }) => PrivatePostgres::join(dir).await?,
        started => started?,
    };
    let (place, store) = on_private(&postgres).await?;
    let target =
        postgres.connection_string(&place.database, &place.role("recall"), &Secret::random()).parse()?;
    let roles = RoleAddresses { target, prefix: place.prefix, passwords: place.passwords };
    let open = OpenStore { store: Some(store), roles: Some(roles), ..OpenStore::default() };
    Ok(OpenStore { private: Some(postgres), ..open })
}

/// Why there is no store on the private server.
#[derive(Debug, thiserror::Error)]
pub enum PrivateStoreError {
    /// The server, the database or the roles.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// What is in it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Never: it is airlock's own.
    #[error("its address cannot be read: {0}")]
    Address(#[from] ConnectionStringError),
}

/// Makes the store on a private server, or finds it there, and brings it up to date.
///
/// # Errors
/// When the server refuses.
pub async fn on_private(postgres: &PrivatePostgres) -> Result<(StorePlace, Store), PrivateStoreError> {
    let mut place = StorePlace::new(DATABASE, ROLE_PREFIX);
    for (duty, password) in &mut place.passwords {
        // Derived, so that they are the same at each start and need not be kept.
        *password = postgres.role_secret(&format!("{ROLE_PREFIX}_{duty}"));
    }
    let server = StoreServer::Private(postgres);
    let target: ConnectionString =
        postgres.connection_string(DATABASE, &place.role("recall"), &Secret::random()).parse()?;
    let store = store_of(&target, ROLE_PREFIX, &place.passwords)?;
    // What is there already needs no administrator.
    if store.check().await.iter().any(|(_, found)| found.is_err()) {
        let plan = StorePlan::new(&server, place.clone()).await?;
        // Not the statement: one of them holds a verifier.
        plan.apply(&server, |statement| tracing::debug!(why = statement.why, "setting up the store")).await?;
    }
    store.migrate().await?;
    Ok((place, store))
}

/// Loads packs whose hash is another one into the store. Those that could not be loaded because the store is away are given
/// back, to be tried again.
pub async fn load_packs(store: &Store, config: &Config, domains: &[Arc<Domain>]) -> Vec<Arc<Domain>> {
    let mut later = Vec::new();
    for domain in domains {
        let pack = domain.pack();
        let folder = config.domains.join(pack.name.as_str());
        // The files are read once more; what was changed meanwhile is another pack, and loaded at the next start.
        let files = match Pack::read_with_files(&folder) {
            Ok((read, files)) if read.hash == pack.hash => files,
            _ => {
                tracing::warn!(domain = %pack.name, "the pack changed while the host started and was not loaded into the store");
                continue;
            }
        };
        let load =
            PackLoad { pack, files: &files, examples: domain.verified_examples(), by: "airlock serve" };
        match store.promote().load_pack(&load).await {
            Ok((_, true)) => {
                tracing::info!(domain = %pack.name, hash = %pack.hash, "the pack was loaded into the store");
            }
            Ok((_, false)) => {}
            Err(error) if error.is_passing() => later.push(Arc::clone(domain)),
            Err(error) => {
                tracing::warn!(domain = %pack.name, %error, "the pack was not loaded into the store")
            }
        }
    }
    later
}

/// Does what could not be done while the store was away, until it is done: brings the store up to date, loads the packs.
pub async fn settle(open: &OpenStore, config: &Config) {
    let (Some(store), mut later) = (open.store(), open.later.clone()) else { return };
    while !later.is_empty() {
        tokio::time::sleep(RETRY).await;
        if open.roles.as_ref().is_some_and(|roles| roles.passwords.contains_key("migrate"))
            && let Err(error) = store.migrate().await
        {
            if !error.is_passing() {
                tracing::error!(%error, "the knowledge store came back and cannot be used");
                return;
            }
            continue;
        }
        later = load_packs(store, config, &later).await;
    }
}

/// One role of the store over a connection string; none where its password is not known here.
struct RoleDial(Option<ConnectionString>);

impl Dial for RoleDial {
    fn dial(&self) -> Dialling<'_> {
        Box::pin(async {
            let Some(target) = &self.0 else {
                return Err(DialError::Denied("its password is not known here".to_owned()));
            };
            let (client, mut notified) = target.listening_client().await.map_err(|error| match error {
                DatabaseError::Authentication { .. }
                | DatabaseError::UnknownDatabase { .. }
                | DatabaseError::Tls { .. }
                | DatabaseError::ConnectionString(_) => DialError::Denied(error.to_string()),
                other => DialError::Away(other.to_string()),
            })?;
            let (tell, notices) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(async move {
                while let Some(notice) = notified.recv().await {
                    let (channel, payload) = (notice.channel().to_owned(), notice.payload().to_owned());
                    if tell.send(Notice { channel, payload }).is_err() {
                        break;
                    }
                }
            });
            Ok(Line { client, notices })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_need_not_name_a_role() {
        for url in [
            "host=/run/postgresql dbname=know",
            "postgresql:///know?host=/run/postgresql",
            "postgresql://db.example/know",
            "postgresql://somebody:secret@db.example/know",
            "host=db.example dbname=know user=somebody",
        ] {
            let read = target(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(read.for_role("x", "y").database, "know", "{url}");
        }
        assert!(target("host=x dbname").is_err());
    }
}
