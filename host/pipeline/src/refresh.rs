//! Keeping a domain in step with its data source: a changed schema, function or grant is noticed before the next ask.
//!
//! What the gate allows it allows by the catalogue, so a catalogue that is old is a hole: a function that was read and
//! allowed may have been replaced, a table by a view. The source's mark is cheap to read and changes with all of these.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_types::ContentHash;
use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::domain::Domain;
use crate::freshness::Moments;

/// How long a look at the source holds.
const EVERY: Duration = Duration::from_secs(1);
/// How long a look may take before an ask goes on with what is known; the ask itself then meets the source's trouble.
const PATIENCE: Duration = Duration::from_secs(5);

/// A domain in service, and when its source was last looked at.
pub(crate) struct Served {
    current: ArcSwap<Domain>,
    looks: Looks,
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
            looks: Looks::default(),
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

    /// The domain as its source is now, at most [`EVERY`] old. Asks that come while somebody looks wait for what is seen, for
    /// [`PATIENCE`] at most: then, and for the next [`EVERY`], the domain is what was seen before.
    pub(crate) async fn fresh(self: &Arc<Self>) -> Arc<Domain> {
        let look = || {
            let served = Arc::clone(self);
            async move { served.look().await }
        };
        if !self.looks.again(EVERY, PATIENCE, look).await {
            tracing::warn!(domain = %self.now().name(), "the source could not be looked at in time");
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
                // What was learned meanwhile stays, under an index that the new gate let through. So does another pack that
                // came into service while this look was late: it was opened over the source as it was then, or later.
                self.change(|now| {
                    if now.pack().hash != reopened.pack().hash {
                        return now.clone();
                    }
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

/// Looks at a source, one at a time. Reading a large schema takes longer than an ask waits; a look that is late goes on
/// without those who waited, because begun anew by each of them it would never end.
struct Looks(Mutex<Looked>);

struct Looked {
    at: Instant,
    under_way: Option<JoinHandle<()>>,
}

impl Default for Looks {
    fn default() -> Self {
        Self(Mutex::new(Looked { at: Instant::now(), under_way: None }))
    }
}

impl Looks {
    /// True when the last call came back at most `every` ago, in time or not, or when a look that began now ended within
    /// `patience`. A look that did not goes on, and the call is taken for one that looked: the next to ask does not wait for
    /// as long again.
    async fn again<F>(&self, every: Duration, patience: Duration, look: impl FnOnce() -> F) -> bool
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut looked = self.0.lock().await;
        if looked.at.elapsed() < every {
            return true;
        }
        let ended = tokio::time::timeout(patience, async {
            // What an earlier one sees may be older than this call.
            if let Some(earlier) = looked.under_way.as_mut() {
                let _ = earlier.await;
                looked.under_way = None;
            }
            let _ = looked.under_way.insert(tokio::spawn(look())).await;
            looked.under_way = None;
        });
        let in_time = ended.await.is_ok();
        looked.at = Instant::now();
        in_time
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use airlock_database::SourceConfig;
    use airlock_knowledge::Pack;
    use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, Secret};
    use tokio::sync::Notify;

    use super::*;

    fn pack(title: &str, more: &str) -> Pack {
        let text = format!("format = 1\ntitle = \"{title}\"\nsource = \"s\"\nschemas = [\"public\"]\n{more}");
        Pack::from_files("shop", [("domain.toml", text.into_bytes())]).unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_late_look_does_not_put_back_a_pack_that_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let server =
            PrivatePostgres::start(&PrivateConfig::new(folder.path(), Durability::Demo)).await.unwrap();
        let owner = server.connect("postgres").await.unwrap();
        let made = "CREATE TABLE kinds (kind text); CREATE ROLE reader LOGIN PASSWORD 'p'; GRANT SELECT ON kinds TO reader";
        owner.batch_execute(made).await.unwrap();
        let url = server.connection_string("postgres", "reader", &Secret::new("p"));
        let source = airlock_database::Source::connect(SourceConfig::new(&url)).await.unwrap();
        let first = pack("first", "[egress]\nvalues = [\"kinds.kind\"]\n");
        let served = Arc::new(Served::new(Domain::open(&first, source.clone()).await.unwrap()));

        // The look waits at the table whose values it reads.
        for change in ["ALTER TABLE kinds ADD COLUMN more int", "BEGIN; LOCK TABLE kinds"] {
            owner.batch_execute(change).await.unwrap();
        }
        let look = tokio::spawn({
            let served = Arc::clone(&served);
            async move { served.look().await }
        });
        let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'kinds'::regclass";
        while owner.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            assert!(!look.is_finished(), "it waits");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let second = Domain::open_whole(&pack("second", ""), source).await.unwrap();
        served.change(|_| second.clone());
        assert!(!look.is_finished(), "it waited until now");
        let read = served.moments.values.age();
        owner.batch_execute("COMMIT").await.unwrap();
        look.await.unwrap();
        assert!(served.moments.values.age() < read, "it came to its end, and read the schema");
        assert_eq!(served.now().pack().hash, second.pack().hash);
        server.stop().await.unwrap();
    }

    #[tokio::test]
    async fn a_look_that_is_late_goes_on_and_is_not_begun_again() {
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let gate = Arc::new(Notify::new());
        let look = || {
            let (begun, ended, gate) = (Arc::clone(&begun), Arc::clone(&ended), Arc::clone(&gate));
            async move {
                begun.fetch_add(1, Ordering::SeqCst);
                gate.notified().await;
                ended.fetch_add(1, Ordering::SeqCst);
            }
        };
        let counts = || (begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst));
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(120));
        let looks = Looks::default();
        assert!(looks.again(long, short, look).await, "what was seen just now holds");
        assert_eq!(counts(), (0, 0));
        for _ in 0..3 {
            assert!(!looks.again(Duration::ZERO, short, look).await);
        }
        assert_eq!(counts(), (1, 0), "nobody begins it again");
        // It ends after those who waited for it went on, and the next one looks for itself.
        let opening = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move {
                loop {
                    gate.notify_one();
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        });
        assert!(looks.again(Duration::ZERO, long, look).await);
        assert_eq!(counts(), (2, 2));
        opening.abort();
    }
}
