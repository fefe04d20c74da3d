//! A private server with a store in it, and as many hosts over that store as a test wants.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_database::{ConnectionString, DatabaseError};
use airlock_knowledge::pack::LessonKind;
use airlock_knowledge::store::{
    Access, Content, Decision, Dial, DialError, Duty, ExampleContent, ItemId, LessonContent, Line, Mode,
    NewCandidate, Notice, Origin, Recall, Store, StoreError,
};
use airlock_setup::store::{StorePlace, StorePlan, StoreServer};
use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, Secret};
use airlock_types::DomainName;

pub struct Role(pub ConnectionString);

impl Dial for Role {
    fn dial(&self) -> airlock_knowledge::store::Dialling<'_> {
        Box::pin(async {
            let (client, mut notified) = self.0.listening_client().await.map_err(|error| match error {
                DatabaseError::Authentication { .. } | DatabaseError::UnknownDatabase { .. } => {
                    DialError::Denied(error.to_string())
                }
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

pub struct Place {
    pub postgres: PrivatePostgres,
    pub at: StorePlace,
    _dir: tempfile::TempDir,
}

impl Place {
    /// A server with the database and the roles of a store, and no table.
    pub async fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = PrivateConfig::new(dir.path(), Durability::Demo);
        let postgres = PrivatePostgres::start(&config).await.unwrap();
        let plan = StorePlan::new(&StoreServer::Private(&postgres), StorePlace::new("knowledge", "al"))
            .await
            .unwrap();
        let refused = plan.apply(&StoreServer::Private(&postgres), |_| {}).await.unwrap();
        assert_eq!(refused, []);
        Self { at: plan.place().clone(), postgres, _dir: dir }
    }

    /// The same with its tables.
    pub async fn whole() -> (Self, Store) {
        let place = Self::empty().await;
        let store = place.host();
        store.migrate().await.unwrap();
        (place, store)
    }

    /// A host's own connections.
    pub fn host(&self) -> Store {
        self.host_with(|_, _| {})
    }

    /// The same with other credentials.
    pub fn host_with(&self, change: impl Fn(Duty, &mut (String, String, Secret))) -> Store {
        let access: BTreeMap<Duty, Access> = Duty::ALL
            .into_iter()
            .map(|duty| {
                let role = self.at.role(duty.as_str());
                let mut way =
                    (self.at.database.clone(), role.clone(), self.at.passwords[duty.as_str()].clone());
                change(duty, &mut way);
                let target = self.postgres.connection_string(&way.0, &way.1, &way.2).parse().unwrap();
                (duty, Access { role, dial: Arc::new(Role(target)) })
            })
            .collect();
        Store::new(access).unwrap()
    }

    /// A connection of one role.
    pub async fn host_line(&self, duty: Duty) -> tokio_postgres::Client {
        let role = self.at.role(duty.as_str());
        let way = (&self.at.database, &role, &self.at.passwords[duty.as_str()]);
        let target: ConnectionString = self.postgres.connection_string(way.0, way.1, way.2).parse().unwrap();
        target.client().await.unwrap()
    }

    /// The administrator, in the store's database.
    pub async fn admin(&self) -> tokio_postgres::Client {
        self.postgres.connect(&self.at.database).await.unwrap()
    }
}

/// How long something that must happen may take before a test gives it up. It says nothing about how long it should take.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// What comes of some work once it is not refused in passing: the server lets go of what a connection held, and a busy
/// machine answers, when they get to it.
pub async fn eventually<T>(
    mut work: impl AsyncFnMut() -> Result<T, StoreError>,
    passes: impl Fn(&StoreError) -> bool,
) -> T {
    let begun = Instant::now();
    loop {
        match work().await {
            Ok(done) => return done,
            Err(error) => assert!(passes(&error) && begun.elapsed() < PATIENCE, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The number of the store. An ask hears it in a moment or goes on without; a busy machine takes longer.
pub async fn number(recall: &Recall) -> i64 {
    eventually(async || recall.number().await, |error| matches!(error, StoreError::Away { .. })).await
}

pub fn shop() -> DomainName {
    "shop".parse().unwrap()
}

pub fn example(question: &str, sql: &str) -> Content {
    ExampleContent { question: question.to_owned(), sql: sql.to_owned(), scope: Vec::new() }.into()
}

pub fn lesson(text: &str) -> Content {
    let (kind, text) = (LessonKind::SchemaMap, text.to_owned());
    LessonContent { kind, text, trigger: String::new(), tags: Vec::new(), scope: Vec::new() }.into()
}

pub fn new(content: Content) -> NewCandidate {
    NewCandidate::new(shop(), content, Origin::Agent, "an ask")
}

pub fn by(who: &str) -> Decision {
    Decision::new(Mode::Person, who, "it is right")
}

/// Hands in an example and promotes it.
pub async fn promoted(store: &Store, question: &str, sql: &str) -> (ItemId, ItemId) {
    let candidate = new(example(question, sql));
    store.distill().ingest(&candidate).await.unwrap();
    let decided =
        store.promote().promote(&shop(), candidate.id, candidate.content.hash(), &by("ana")).await.unwrap();
    (candidate.id, decided.curated.unwrap())
}
