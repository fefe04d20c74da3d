//! The knowledge store: PostgreSQL in a schema of its own, entered through one handle for each role.
//!
//! A handle holds connections of one role and has the operations of that role and no other, so a wall between candidates
//! and curated knowledge stands twice: what a handle cannot say does not compile, and what its role may not do PostgreSQL
//! refuses.
//!
//! | handle | may |
//! | --- | --- |
//! | [`Recall`] | read what is curated, the packs and the numbers of changes |
//! | [`Distill`] | hand in candidates; it never learns what else is there |
//! | [`Promote`] | read candidates, decide on them, write what is curated: the only one that does |
//! | [`Log`] | append asks, signals, feedback and uses |
//! | [`Report`] | read the log and the decisions |
//! | [`Janitor`] | let what is old go, forget an ask |
//! | [`Ops`] | keys, sessions, conversations |
//!
//! This room makes no connection: how a role is dialled is handed to it ([`Dial`]).
//! What a handle is not for does not compile: `tests/handles.rs`.

mod asked;
mod content;
mod dial;
mod distill;
mod duty;
mod error;
mod follow;
mod id;
mod janitor;
mod learned;
mod log;
mod migrate;
mod ops;
mod packs;
mod pool;
mod promote;
mod recall;
mod report;
mod rows;
mod snapshots;
mod stats;
mod trend;
mod turns;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use asked::{AskRow, LogLine, ModelCost, Sent};
pub use content::{Content, ContentError, ExampleContent, GoldenContent, LessonContent, Scope};
pub use dial::{Dial, DialError, Dialling, Line, Notice};
pub use distill::{Distill, Ingested, NewCandidate, Vector};
pub use duty::Duty;
pub use error::StoreError;
pub use follow::Followed;
pub use id::ItemId;
pub use janitor::{Aged, Janitor};
pub use learned::{Learned, LearnedVectors};
pub use log::{Feedback, FeedbackVerdict, Log, Signal, SignalTool, Use, UseEvent};
pub use migrate::Migrated;
pub use ops::{KeyIdentity, KeyRow, NewKey, Ops, SessionRow};
pub use packs::{LoadedPack, PackFileRow, PackLoad};
pub use promote::{
    Candidate, CandidateState, Curation, CurationState, Decided, Decision, Filter, KindCount, Mode,
    NewCurated, OneHost, Order, Pass, Promote,
};
pub use recall::{Change, Recall};
pub use report::{AskedRow, DecisionRow, FeedbackRow, Report, SentRow, SignalRow, UseCounts};
pub use rows::{Kind, Origin};
pub use snapshots::TakenSnapshot;
pub use stats::{ModelDay, Named, Part, Stats, Tally};
pub use trend::{RULE as TREND_RULE, Rise, Trend, TrendState, Window};
pub use turns::{NewTurn, PastTurn, Turn};

use pool::Pool;

/// How one role is reached.
pub struct Access {
    /// The role's name on the server, as grants spell it.
    pub role: String,
    /// How it is dialled.
    pub dial: Arc<dyn Dial>,
}

/// The store, one small pool for each role. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pools: Arc<BTreeMap<Duty, Arc<Pool>>>,
    roles: Arc<BTreeMap<Duty, String>>,
}

impl Store {
    /// A store whose roles are reached in these ways. Nothing is dialled yet.
    ///
    /// # Errors
    /// When a role is missing.
    pub fn new(access: BTreeMap<Duty, Access>) -> Result<Self, StoreError> {
        if let Some(missing) = Duty::ALL.into_iter().find(|duty| !access.contains_key(duty)) {
            return Err(StoreError::Unconfigured { duty: missing });
        }
        let (mut pools, mut roles) = (BTreeMap::new(), BTreeMap::new());
        for (duty, Access { role, dial }) in access {
            pools.insert(duty, Pool::new(duty, dial));
            roles.insert(duty, role);
        }
        Ok(Self { pools: Arc::new(pools), roles: Arc::new(roles) })
    }

    fn pool(&self, duty: Duty) -> Arc<Pool> {
        match self.pools.get(&duty) {
            Some(pool) => Arc::clone(pool),
            // `new` saw every duty; a pool that cannot be dialled stands in for the impossible.
            None => Pool::new(duty, Arc::new(dial::Nowhere)),
        }
    }

    /// Brings the schema to the version of this build.
    ///
    /// # Errors
    /// When the store cannot be reached, is of a newer version, or what was recorded was changed since.
    pub async fn migrate(&self) -> Result<Migrated, StoreError> {
        let mut lease = self.pool(Duty::Migrate).lease().await?;
        migrate::migrate(&mut lease, &self.roles).await
    }

    /// Tries every role: whether it gets in, whether it is small enough, and whether the store is what it must be. The first
    /// fault of each.
    pub async fn check(&self) -> Vec<(Duty, Result<(), StoreError>)> {
        let mut found = Vec::new();
        for duty in Duty::ALL {
            let tried = async {
                let lease = self.pool(duty).lease().await?;
                if duty == Duty::Migrate { Ok(()) } else { migrate::verify(&lease).await }
            };
            found.push((duty, tried.await));
        }
        found
    }

    /// Reads what is curated.
    #[must_use]
    pub fn recall(&self) -> Recall {
        Recall::new(self.pool(Duty::Recall))
    }

    /// Hands in candidates.
    #[must_use]
    pub fn distill(&self) -> Distill {
        Distill::new(self.pool(Duty::Distill))
    }

    /// Decides.
    #[must_use]
    pub fn promote(&self) -> Promote {
        Promote::new(self.pool(Duty::Promote))
    }

    /// Appends to the log.
    #[must_use]
    pub fn log(&self) -> Log {
        Log::new(self.pool(Duty::Log))
    }

    /// Reads the log.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::new(self.pool(Duty::Report))
    }

    /// Lets what is old go.
    #[must_use]
    pub fn janitor(&self) -> Janitor {
        Janitor::new(self.pool(Duty::Janitor))
    }

    /// Keys, sessions, conversations.
    #[must_use]
    pub fn ops(&self) -> Ops {
        Ops::new(self.pool(Duty::Ops))
    }
}
