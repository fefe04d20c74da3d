//! Which ask somebody may judge: the same on every surface.

use std::time::{Duration, Instant};

use airlock_knowledge::store::{AskedRow, Store, StoreError};
use airlock_types::AskId;

use crate::access::{Caller, Scope};

/// Most characters of a note on an answer.
pub const NOTE: usize = 2_000;

/// Why an ask is not there to be judged.
pub const UNKNOWN: &str =
    "There is no such ask of yours in the log: it was never finished, is too old, or somebody else's.";

/// How long an ask that ended this moment is looked for: it is logged beside its answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// So often.
const EVERY: Duration = Duration::from_millis(150);
/// How old an ask is that must have been written.
const YOUNG: Duration = Duration::from_secs(60);

/// The ask, where the caller may judge it: one of their own, or anybody's in their domains with the scope `curate`.
///
/// # Errors
/// When the store does not answer.
pub async fn judged(caller: &Caller, store: &Store, ask: AskId) -> Result<Option<AskedRow>, StoreError> {
    let report = store.report();
    match written(ask, || report.asked(ask)).await? {
        Some(asked) if theirs(caller, store, &asked, ask).await? => Ok(Some(asked)),
        _ => Ok(None),
    }
}

/// What is written of an ask; of a young one it may still be on its way.
async fn written<T, R>(ask: AskId, read: impl Fn() -> R) -> Result<Option<T>, StoreError>
where
    R: Future<Output = Result<Option<T>, StoreError>>,
{
    let until = Instant::now() + PATIENCE;
    loop {
        let found = read().await?;
        let young = ask.age().is_some_and(|age| age < YOUNG);
        if found.is_some() || !young || Instant::now() > until {
            return Ok(found);
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Whether an ask is one that the caller may judge: everybody without a key is one person, and nobody with one.
async fn theirs(caller: &Caller, store: &Store, asked: &AskedRow, ask: AskId) -> Result<bool, StoreError> {
    if !caller.sees(&asked.domain) {
        return Ok(false);
    }
    if caller.has(Scope::Curate) {
        return Ok(true);
    }
    let (ops, owner) = (store.ops(), caller.asker.owner.as_deref());
    Ok(written(ask, || ops.turn(&asked.domain, owner, ask)).await?.is_some())
}
