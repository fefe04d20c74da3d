//! Keeping what a domain learned in step with the store, so that whatever enters a context or a component's hands was read
//! again before.
//!
//! The store numbers its changes. An ask begins with one read of that number: if it is the one that the items in memory were
//! read at, they are current; else what changed is read first. If the store cannot say, nothing that was learned takes
//! part, and the ask goes on with what the pack has.

use std::collections::BTreeMap;
use std::sync::Arc;

use airlock_knowledge::Pack;
use airlock_knowledge::store::{Change, Learned, Recall, StoreError};
use airlock_types::{ContentHash, DomainName};
use tokio::task::AbortHandle;

use crate::domain::Domain;
use crate::refresh::Served;

/// Items up to which the index is made anew while the ask waits; with more, it is made beside the asks, which may miss what
/// is new until then.
const INLINE: usize = 3_000;

/// Following the store, until this is dropped.
pub struct Following(AbortHandle);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Following {
    pub(crate) fn begin(recall: Recall, domains: BTreeMap<DomainName, Arc<Served>>) -> Self {
        Self(tokio::spawn(follow(recall, domains)).abort_handle())
    }
}

/// Reads what changed as soon as it has, for every domain, and tells when the store goes away and comes back.
async fn follow(recall: Recall, domains: BTreeMap<DomainName, Arc<Served>>) {
    let mut followed = recall.follow();
    let mut away = false;
    while let Some(seen) = followed.changed().await {
        match seen {
            Err(reason) if !away => {
                away = true;
                tracing::warn!(reason, "the knowledge store is away: answers go on without what was learned");
            }
            Err(_) => {}
            Ok(_) => {
                if std::mem::take(&mut away) {
                    tracing::info!("the knowledge store is back");
                }
                for (name, served) in &domains {
                    let caught_up = async {
                        served.repack(&recall).await?;
                        served.learn(&recall).await
                    };
                    if let Err(error) = caught_up.await {
                        tracing::info!(domain = %name, %error, "what changed in the store could not be read");
                    }
                }
            }
        }
    }
}

impl Served {
    /// The domain with what the store has of it now; without anything learned, and why, when the store cannot say.
    pub(crate) async fn recalled(self: &Arc<Self>, recall: &Recall) -> (Arc<Domain>, Option<StoreError>) {
        match self.learn(recall).await {
            Ok(domain) => (domain, None),
            Err(error) => {
                tracing::debug!(%error, "an ask goes on without what was learned");
                (Arc::new(self.now().with_learned(None)), Some(error))
            }
        }
    }

    /// Brings what was learned to the number the store has.
    pub(crate) async fn learn(self: &Arc<Self>, recall: &Recall) -> Result<Arc<Domain>, StoreError> {
        let number = recall.number().await?;
        if let Some(domain) = self.current_at(number) {
            return Ok(domain);
        }
        let _only = self.learning.lock().await;
        if let Some(domain) = self.current_at(number) {
            return Ok(domain);
        }
        let domain = self.now();
        let changed = match domain.learned() {
            Some(learned) => recall.changes(domain.name(), learned.number(), number).await?,
            None => Change::All,
        };
        let learned = match (changed, domain.learned()) {
            (Change::Items { items, .. }, Some(learned)) => {
                let rows = recall.items(domain.name(), &items).await?;
                let learned = learned.updated(number, &items, rows);
                if items.is_empty() {
                    learned
                } else if learned.len() <= INLINE {
                    domain.reindexed(&learned)
                } else {
                    self.reindex_beside();
                    learned
                }
            }
            _ => {
                let (number, items) = recall.active(domain.name()).await?;
                domain.learn(number, items)
            }
        };
        self.change(|now| now.with_learned(Some(learned.clone())));
        Ok(self.now())
    }

    fn current_at(&self, number: i64) -> Option<Arc<Domain>> {
        let domain = self.now();
        domain.learned().is_some_and(|learned| learned.number() >= number).then_some(domain)
    }

    /// Makes the index anew without anybody waiting for it. The items are current all along, so nothing that left service is
    /// found meanwhile.
    fn reindex_beside(self: &Arc<Self>) {
        let served = Arc::clone(self);
        tokio::spawn(async move {
            let mut indexed = served.indexing.lock().await;
            let domain = served.now();
            let Some(number) = domain.learned().map(Learned::number).filter(|number| *number > *indexed)
            else {
                return;
            };
            let made = tokio::task::spawn_blocking(move || {
                domain.learned().map(|learned| domain.reindexed(learned))
            });
            let Ok(Some(made)) = made.await else { return };
            served.change(|now| {
                let learned = now.learned().map(|learned| learned.with_index_of(&made));
                now.with_learned(learned)
            });
            *indexed = number;
        });
    }

    /// Puts the pack in service that was loaded into the store last, if it is another one. One that does not fit is told once,
    /// and the one in service stays.
    async fn repack(&self, recall: &Recall) -> Result<(), StoreError> {
        let domain = self.now();
        let Some(loaded) = recall.current_pack(domain.name()).await? else { return Ok(()) };
        let mut refused = self.refused_pack.lock().await;
        if loaded.hash == domain.pack().hash || *refused == Some(loaded.hash) {
            return Ok(());
        }
        match unpack(recall, domain.name(), loaded.hash).await? {
            Ok(pack) => match Domain::open_whole(&pack, domain.source().clone()).await {
                Ok(opened) => {
                    self.change(|now| {
                        opened.with_learned(now.learned().map(|learned| opened.reindexed(learned)))
                    });
                    self.moments.pack.is_now();
                    self.moments.values.is_now();
                    tracing::info!(domain = %domain.name(), hash = %loaded.hash, by = loaded.loaded_by, "a pack was loaded and is in service");
                }
                Err(error) => {
                    *refused = Some(loaded.hash);
                    tracing::warn!(domain = %domain.name(), %error, "a loaded pack does not fit its source and is not served");
                }
            },
            Err(reason) => {
                *refused = Some(loaded.hash);
                tracing::warn!(domain = %domain.name(), reason, "a loaded pack cannot be read and is not served");
            }
        }
        Ok(())
    }
}

/// A pack from the files that the store keeps of it.
async fn unpack(
    recall: &Recall,
    domain: &DomainName,
    hash: ContentHash,
) -> Result<Result<Pack, String>, StoreError> {
    let files = recall.pack_files(domain, hash).await?;
    if let Some(file) = files
        .iter()
        .find(|file| file.content.as_ref().is_some_and(|bytes| ContentHash::of(bytes) != file.hash))
    {
        return Ok(Err(format!("{} is not what its hash says", file.path)));
    }
    let kept = files.iter().filter_map(|file| Some((file.path.as_str(), file.content.clone()?)));
    let pack = Pack::from_files(domain.as_str(), kept).map_err(|report| report.to_string());
    // The hash is over all files, those included that make a demo's database and are not kept.
    Ok(pack.map(|pack| Pack { hash, ..pack }))
}
