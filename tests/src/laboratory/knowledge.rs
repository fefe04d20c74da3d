//! A knowledge store on a laboratory's server, and a host in this process that learns into it.

use std::collections::BTreeMap;
use std::sync::Arc;

use airlock_database::{ConnectionString, DatabaseError, Source, SourceConfig};
use airlock_knowledge::Pack;
use airlock_knowledge::store::{Access, Dial, DialError, Dialling, Duty, Line, Notice, Store};
use airlock_models::{Models, ModelsConfig};
use airlock_pipeline::{Domain, Host, HostOptions, Journal, JournalOptions, Learning, LearningOptions};
use airlock_runtime::{Component, Grants, Registry, Runtime, RuntimeConfig};
use airlock_setup::store::{StorePlace, StorePlan, StoreServer};

use super::Laboratory;
use crate::components;

struct Role(ConnectionString);

impl Dial for Role {
    fn dial(&self) -> Dialling<'_> {
        Box::pin(async {
            let (client, mut notified) = self.0.listening_client().await.map_err(|error| match error {
                DatabaseError::Authentication { .. } => DialError::Denied(error.to_string()),
                other => DialError::Away(other.to_string()),
            })?;
            let (tell, notices) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(async move {
                while let Some(notice) = notified.recv().await {
                    let payload = notice.payload().to_owned();
                    if tell.send(Notice { channel: notice.channel().to_owned(), payload }).is_err() {
                        break;
                    }
                }
            });
            Ok(Line { client, notices })
        })
    }
}

/// What hosts are made of: components and domains, read once.
pub struct Parts {
    runtime: Runtime,
    components: Vec<Component>,
    domains: Vec<Domain>,
}

impl Parts {
    /// A host of its own over these parts, with no model, that learns into a store.
    #[must_use]
    pub fn host(&self, store: &Store) -> Host {
        let registry = Registry::new();
        for component in &self.components {
            registry.install(component);
        }
        let models = Models::from_config(&ModelsConfig::default(), |_| None).unwrap();
        let learning = Learning::new(store.distill(), LearningOptions::default());
        let journal = Journal::new(store.log(), JournalOptions::default());
        Host::new(self.domains.clone(), self.runtime.clone(), registry, models, HostOptions::default())
            .with_store(store.recall())
            .with_learning(learning)
            .with_journal(journal)
    }
}

impl Laboratory {
    /// The components as built, and every domain of the laboratory.
    pub async fn parts(&self) -> Parts {
        let runtime = Runtime::new(RuntimeConfig::default()).unwrap();
        let grants = Grants::read(&components().join("grants.toml")).unwrap();
        let load = |grant: &airlock_runtime::Grant| {
            let bytes = std::fs::read(components().join(format!("{}.wasm", grant.component))).unwrap();
            runtime.load(&bytes, grant).unwrap()
        };
        let loaded = grants.iter().map(load).collect();
        let config: toml::Table = std::fs::read_to_string(self.config()).unwrap().parse().unwrap();
        let mut domains = Vec::new();
        for (name, source) in config["sources"].as_table().unwrap() {
            let pack = Pack::read(&self.data().join("domains").join(name)).unwrap();
            let source = SourceConfig::new(source["url"].as_str().unwrap());
            domains.push(Domain::open_whole(&pack, Source::connect(source).await.unwrap()).await.unwrap());
        }
        Parts { runtime, components: loaded, domains }
    }

    /// An empty store in a database of this name.
    pub async fn store(&self, name: &str) -> Store {
        let store = store_at(&self.store_roles(name).await);
        store.migrate().await.unwrap();
        store
    }

    /// The database and the roles of a store, with no table: who each duty is, and how it connects.
    pub async fn store_roles(&self, name: &str) -> Roles {
        let server = StoreServer::Private(&self.postgres);
        let plan = StorePlan::new(&server, StorePlace::new(name, name)).await.unwrap();
        assert_eq!(plan.apply(&server, |_| {}).await.unwrap(), []);
        let at = plan.place();
        let role = |duty: Duty| {
            let (role, secret) = (at.role(duty.as_str()), &at.passwords[duty.as_str()]);
            let target = self.postgres.connection_string(&at.database, &role, secret);
            (duty.as_str().to_owned(), (role, target))
        };
        Duty::ALL.into_iter().map(role).collect()
    }
}

/// By duty: the role, and the text it connects by.
pub type Roles = BTreeMap<String, (String, String)>;

/// A store by its roles.
#[must_use]
pub fn store_at(roles: &Roles) -> Store {
    let access: BTreeMap<Duty, Access> = Duty::ALL
        .into_iter()
        .map(|duty| {
            let (role, target) = roles[duty.as_str()].clone();
            (duty, Access { role, dial: Arc::new(Role(target.parse().unwrap())) as Arc<dyn Dial> })
        })
        .collect();
    Store::new(access).unwrap()
}
