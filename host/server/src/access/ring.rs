//! The keys that were seen lately. The store is asked about each once a second at most, so taking a key back is in force
//! within a second on every host; and a store that is away for a moment locks nobody out whom it let in a minute ago.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use airlock_knowledge::store::{Ops, StoreError};
use airlock_types::ContentHash;
use jiff::Timestamp;

use super::{Holder, Token};

/// How long the store's word counts without asking again.
const FRESH: Duration = Duration::from_secs(1);
/// How long it counts while the store is away. Nobody can take a key back in that time either: that, too, is a row of the
/// store.
const GRACE: Duration = Duration::from_secs(60);
/// How long the store may take to answer.
const ANSWER: Duration = Duration::from_secs(2);
/// Keys and sessions that are kept in mind.
const SLOTS: usize = 4_096;

/// What was shown at the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A key.
    Key(Token),
    /// A page's session.
    Session(Token),
}

impl Credential {
    fn hash(&self) -> ContentHash {
        let (Self::Key(token) | Self::Session(token)) = self;
        token.hash()
    }
}

/// Nobody can say whom a key stands for: the store does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Away;

/// Where keys and sessions are kept.
pub trait Kept: Send + Sync {
    /// Whom a credential stands for now; `None` when it is unknown, has ended or was taken back.
    fn holder(&self, credential: &Credential) -> impl Future<Output = Result<Option<Holder>, Away>> + Send;

    /// In words, whose a credential was that is no longer in force; `None` when nobody knows.
    fn formerly(&self, credential: &Credential) -> impl Future<Output = Option<String>> + Send;
}

impl Kept for Ops {
    async fn holder(&self, credential: &Credential) -> Result<Option<Holder>, Away> {
        let hash = credential.hash();
        let asked = async {
            Ok::<_, StoreError>(match credential {
                Credential::Key(_) => self.key(hash).await?.map(|key| Holder::of_key(&key)),
                Credential::Session(_) => {
                    self.session(hash).await?.map(|(session, key)| Holder::of_session(&session, &key))
                }
            })
        };
        match tokio::time::timeout(ANSWER, asked).await {
            Ok(Ok(found)) => found.transpose().map_err(|unusable| {
                tracing::error!(%unusable, "a key was refused");
                Away
            }),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the store could not be asked about a key");
                Err(Away)
            }
            Err(_) => {
                tracing::warn!("the store did not answer in time about a key");
                Err(Away)
            }
        }
    }

    async fn formerly(&self, credential: &Credential) -> Option<String> {
        let known = tokio::time::timeout(ANSWER, self.known(credential.hash())).await.ok()?.ok()??;
        let why = if known.revoked_at.is_some() { "taken back" } else { "ended" };
        Some(format!("{} ({}), {why}", known.name, known.id))
    }
}

/// What the store said of one credential, and when.
#[derive(Default)]
struct Slot {
    vouched: Option<(Instant, Arc<Holder>)>,
    asked: Option<Instant>,
}

type Slots = HashMap<ContentHash, Arc<tokio::sync::Mutex<Slot>>>;

/// Keys and sessions, as the store vouches for them.
pub struct Ring<K = Ops> {
    kept: Option<K>,
    slots: Mutex<Slots>,
}

impl<K: Kept> Ring<K> {
    /// A ring over the store; without one there are no keys.
    pub fn new(kept: Option<K>) -> Self {
        Self { kept, slots: Mutex::default() }
    }

    /// Where the keys are kept.
    pub const fn kept(&self) -> Option<&K> {
        self.kept.as_ref()
    }

    /// Whom a credential stands for, if for anybody.
    ///
    /// # Errors
    /// When only the store could say, and it does not answer.
    pub async fn holder(&self, credential: &Credential) -> Result<Option<Arc<Holder>>, Away> {
        self.holder_at(credential, Instant::now()).await
    }

    /// Whether the store vouched for this one not long ago.
    pub fn knows(&self, credential: &Credential) -> bool {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&credential.hash())
    }

    /// Whom the store vouched for not long ago, without asking it again.
    pub fn seen(&self, credential: &Credential) -> Option<Arc<Holder>> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.get(&credential.hash())?.try_lock().ok()?;
        slot.vouched.as_ref().map(|(_, holder)| Arc::clone(holder))
    }

    /// In words, whose a credential was that is no longer in force.
    pub async fn formerly(&self, credential: &Credential) -> Option<String> {
        self.kept.as_ref()?.formerly(credential).await
    }

    /// Forgets what is known of a credential: it was given back here.
    pub fn forget(&self, credential: &Credential) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&credential.hash());
    }

    async fn holder_at(&self, credential: &Credential, now: Instant) -> Result<Option<Arc<Holder>>, Away> {
        let Some(kept) = &self.kept else { return Ok(None) };
        let hash = credential.hash();
        let slot = self.slot(hash);
        // Whoever comes with the same credential meanwhile waits for the same answer.
        let mut slot = slot.lock().await;
        let within = |since: Option<Instant>, time| since.is_some_and(|at| now.duration_since(at) < time);
        if within(slot.asked, FRESH)
            && let Some((_, holder)) = &slot.vouched
        {
            return Ok(Some(Arc::clone(holder)).filter(|holder| holder.is_in_force(Timestamp::now())));
        }
        let said = kept.holder(credential).await;
        slot.asked = Some(now);
        match said {
            Ok(Some(holder)) => {
                let holder = Arc::new(holder);
                slot.vouched = Some((now, Arc::clone(&holder)));
                Ok(Some(holder))
            }
            Ok(None) => {
                slot.vouched = None;
                self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&hash);
                Ok(None)
            }
            Err(Away) => match &slot.vouched {
                Some((at, holder)) if within(Some(*at), GRACE) => {
                    Ok(Some(Arc::clone(holder)).filter(|holder| holder.is_in_force(Timestamp::now())))
                }
                _ => {
                    self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&hash);
                    Err(Away)
                }
            },
        }
    }

    fn slot(&self, hash: ContentHash) -> Arc<tokio::sync::Mutex<Slot>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= SLOTS && !slots.contains_key(&hash) {
            // Who is in the middle of something keeps its slot; the others are asked about again.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        Arc::clone(slots.entry(hash).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A store that says what it is told to say, and counts how often it is asked.
    struct Said {
        says: Mutex<Result<Option<Holder>, Away>>,
        asked: AtomicUsize,
    }

    impl Kept for Arc<Said> {
        async fn holder(&self, _: &Credential) -> Result<Option<Holder>, Away> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.says.lock().unwrap().clone()
        }

        async fn formerly(&self, _: &Credential) -> Option<String> {
            None
        }
    }

    fn holder() -> Holder {
        Holder::named("app")
    }

    #[tokio::test]
    async fn the_store_is_asked_once_a_second_and_its_word_outlives_it_for_a_minute() {
        let said = Arc::new(Said { says: Mutex::new(Ok(Some(holder()))), asked: AtomicUsize::new(0) });
        let ring = Ring::new(Some(Arc::clone(&said)));
        let key = Credential::Key(Token::new_key().unwrap());
        let begun = Instant::now();
        let at = |seconds: f64| ring.holder_at(&key, begun + Duration::from_secs_f64(seconds));
        assert!(at(0.0).await.unwrap().is_some());
        assert!(at(0.9).await.unwrap().is_some());
        assert_eq!(said.asked.load(Ordering::SeqCst), 1);
        assert!(at(1.1).await.unwrap().is_some());
        assert_eq!(said.asked.load(Ordering::SeqCst), 2);

        *said.says.lock().unwrap() = Err(Away);
        assert!(at(10.0).await.unwrap().is_some(), "the store is away for a moment");
        assert!(at(10.5).await.unwrap().is_some(), "and is not asked at every request meanwhile");
        assert_eq!(said.asked.load(Ordering::SeqCst), 3);
        assert_eq!(at(70.0).await, Err(Away));

        *said.says.lock().unwrap() = Ok(Some(holder()));
        assert!(at(80.0).await.unwrap().is_some());
        *said.says.lock().unwrap() = Ok(None);
        assert_eq!(at(81.5).await.unwrap(), None, "it was taken back");
        assert!(!ring.knows(&key));
    }

    #[tokio::test]
    async fn strangers_leave_nothing_behind() {
        let said = Arc::new(Said { says: Mutex::new(Ok(None)), asked: AtomicUsize::new(0) });
        let ring = Ring::new(Some(said));
        for _ in 0..100 {
            let stranger = Credential::Key(Token::new_key().unwrap());
            assert_eq!(ring.holder(&stranger).await.unwrap(), None);
        }
        assert!(ring.slots.lock().unwrap().is_empty());
        let nowhere = Ring::<Arc<Said>>::new(None);
        let key = Credential::Key(Token::new_key().unwrap());
        assert_eq!(nowhere.holder(&key).await, Ok(None));
    }
}
