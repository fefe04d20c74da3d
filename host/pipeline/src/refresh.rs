//! Keeping a domain in step with its data source: a changed schema, function or grant is noticed before the next ask.
//!
//! What the gate allows it allows by the catalogue, so a catalogue that is old is a hole: a function that was read and
//! allowed may have been replaced, a table by a view. The source's mark is cheap to read and changes with all of these.

use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_types::ContentHash;
use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use crate::domain::Domain;
use crate::freshness::Moments;

/// How long a look at the source holds.
const EVERY: Duration = Duration::from_secs(1);
/// How long a look may take before an ask goes on with what is known; the ask itself then meets the source's trouble.
const PATIENCE: Duration = Duration::from_secs(5);

/// A domain in service, and when its source was last looked at.
pub(crate) struct Served {
    current: ArcSwap<Domain>,
    looked: Mutex<Instant>,
    /// Held by the one that reads what changed in the store.
    pub(crate) learning: Mutex<()>,
    /// The number of the store that the index was last made at, beside the asks.
    pub(crate) indexing: Mutex<i64>,
    /// A pack that was loaded and does not fit.
    pub(crate) refused_pack: Mutex<Option<ContentHash>>,
    /// When what is held was read.
    pub(crate) moments: Moments,
}

impl Served {
    pub(crate) fn new(domain: Domain) -> Self {
        Self {
            current: ArcSwap::from_pointee(domain),
            looked: Mutex::new(Instant::now()),
            learning: Mutex::default(),
            indexing: Mutex::default(),
            refused_pack: Mutex::default(),
            moments: Moments::now(),
        }
    }

    /// The domain as it was last seen.
    pub(crate) fn now(&self) -> Arc<Domain> {
        self.current.load_full()
    }

    /// Replaces the domain by what is made of it. It is made again if somebody else replaced it meanwhile.
    pub(crate) fn change(&self, make: impl Fn(&Domain) -> Domain) {
        self.current.rcu(|now| make(now));
    }

    /// The domain as its source is now, at most [`EVERY`] old. Asks that come while somebody looks wait for what is seen.
    pub(crate) async fn fresh(&self) -> Arc<Domain> {
        let mut looked = self.looked.lock().await;
        if looked.elapsed() >= EVERY {
            if tokio::time::timeout(PATIENCE, self.look()).await.is_err() {
                tracing::warn!(domain = %self.now().name(), "the source could not be looked at in time");
            }
            *looked = Instant::now();
        }
        self.now()
    }

    async fn look(&self) {
        let domain = self.now();
        let changed = match domain.source().catalogue_mark().await {
            Ok(mark) => {
                self.moments.catalogue.is_now();
                mark != domain.mark()
            }
            Err(error) => {
                tracing::info!(domain = %domain.name(), %error, "the source could not be looked at");
                false
            }
        };
        if !changed {
            return;
        }
        match domain.reopened().await {
            Ok(reopened) => {
                tracing::info!(domain = %domain.name(), "the schema changed and was read again");
                self.moments.values.is_now();
                // What was learned meanwhile stays, under an index that the new gate let through.
                self.change(|now| {
                    let learned = match (now.learned(), reopened.learned()) {
                        (Some(items), Some(index)) => Some(items.with_index_of(index)),
                        (items, _) => items.map(|items| reopened.reindexed(items)),
                    };
                    reopened.with_learned(learned)
                });
            }
            Err(error) => {
                tracing::warn!(domain = %domain.name(), %error, "a changed schema could not be read")
            }
        }
    }
}
