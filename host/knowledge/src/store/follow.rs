//! Following the store: a listener that hears of a change at once, and a look every second should a notice be lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::dial::Line;
use super::error::StoreError;
use super::pool::Pool;
use super::recall::Recall;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(700);
/// How long a look may take before the connection counts as lost.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two attempts to come back.
const RETRY: Duration = Duration::from_millis(500);

/// The last that is known of the store: the number of its last change, or why it cannot be known.
pub type Seen = Result<i64, String>;

/// A store that is being followed until this is dropped.
pub struct Followed {
    seen: watch::Receiver<Seen>,
    task: AbortHandle,
}

impl Followed {
    /// What is known now.
    pub fn now(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// Waits until something else is known. `None` when following has ended.
    pub async fn changed(&mut self) -> Option<Seen> {
        self.seen.changed().await.ok()?;
        Some(self.seen.borrow_and_update().clone())
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Recall {
    /// Begins to follow the store. While it is away this is told and the connection is tried again until it is back.
    #[must_use]
    pub fn follow(&self) -> Followed {
        let (sender, seen) = watch::channel(Err("it was not looked at yet".to_owned()));
        let pool = Arc::clone(self.pool());
        let task = tokio::spawn(async move {
            loop {
                let ended = match pool.line().await {
                    Ok(mut line) => listen(&pool, &mut line, &sender).await,
                    Err(error) => error,
                };
                tell(&sender, Err(ended.to_string()));
                sleep(RETRY).await;
            }
        });
        Followed { seen, task: task.abort_handle() }
    }
}

/// Listens until the connection fails, and says why it did.
async fn listen(pool: &Pool, line: &mut Line, sender: &watch::Sender<Seen>) -> StoreError {
    let failed = |error: tokio_postgres::Error| StoreError::of(pool.duty, &error);
    let late =
        || StoreError::Away { duty: pool.duty, reason: format!("no answer within {} s", PATIENCE.as_secs()) };
    if let Err(error) = line.client.batch_execute("LISTEN airlock_changes").await {
        return failed(error);
    }
    loop {
        let look = line.client.query_one("SELECT last_change FROM airlock.store", &[]);
        match timeout(PATIENCE, look).await {
            Ok(Ok(row)) => tell(sender, Ok(row.get(0))),
            Ok(Err(error)) => return failed(error),
            Err(_) => return late(),
        }
        // A notice says that there is something to look at; what it is, the look tells.
        if let Ok(None) = timeout(EVERY, line.notices.recv()).await {
            return StoreError::Away { duty: pool.duty, reason: "the connection ended".to_owned() };
        }
        while line.notices.try_recv().is_ok() {}
    }
}

fn tell(sender: &watch::Sender<Seen>, seen: Seen) {
    sender.send_if_modified(|now| {
        let other = *now != seen;
        if other {
            *now = seen;
        }
        other
    });
}
