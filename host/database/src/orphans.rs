//! Statements that PostgreSQL cannot stop: how many run, and whether one still does.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::connection_string::ConnectionString;
use crate::error::DatabaseError;
use crate::exchange::{Begin, Limits, Rows, exchange};
use crate::settings::{Settings, moment};
use crate::wire::{Backend, Step, connect};

/// How long the server may take to say what runs there.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// A number of processes with their marks is all that ever comes back.
const LIMITS: Limits = Limits { cell_bytes: 1 << 10, row_bytes: 4 << 10, result_bytes: 1 << 20 };

/// The count of a source, and where it ends being served.
pub(crate) struct Orphans {
    counts: watch::Sender<Counts>,
    most: usize,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    /// Those that are known to run on.
    running: usize,
    /// Cancelled statements that have not ended yet: nearly all will in a moment.
    ending: usize,
}

impl Counts {
    fn of(&mut self, state: State) -> Option<&mut usize> {
        match state {
            State::Ending => Some(&mut self.ending),
            State::Running => Some(&mut self.running),
            State::Unknown => None,
        }
    }
}

/// A statement that was cancelled, or whose user is gone. It counts until it is dropped.
pub(crate) struct Orphan {
    orphans: Arc<Orphans>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ending,
    Running,
    /// Its server does not say. It does not count: who asks now must learn that the server is away.
    Unknown,
}

impl Orphans {
    pub(crate) fn at_most(most: usize) -> Arc<Self> {
        Arc::new(Self { counts: watch::Sender::new(Counts::default()), most })
    }

    /// How many run.
    pub(crate) fn running(&self) -> usize {
        self.counts.borrow().running
    }

    /// Counts one that runs on.
    pub(crate) fn count(self: &Arc<Self>) -> Orphan {
        self.begin(State::Running)
    }

    /// Counts one that was just cancelled.
    pub(crate) fn ending(self: &Arc<Self>) -> Orphan {
        self.begin(State::Ending)
    }

    fn begin(self: &Arc<Self>, state: State) -> Orphan {
        let mut orphan = Orphan { orphans: Arc::clone(self), state: State::Unknown };
        orphan.becomes(state);
        orphan
    }

    /// Refuses to start anything while too many run.
    pub(crate) fn check(&self) -> Result<(), DatabaseError> {
        self.refused(self.running())
    }

    /// Waits until nothing that is still ending could make one too many, and refuses when that takes longer than `wait` or
    /// too many run. Else who asks again and again would have many running before the first is known for what it is.
    pub(crate) async fn room(&self, wait: Duration) -> Result<(), DatabaseError> {
        let mut counts = self.counts.subscribe();
        let decided = |now: &Counts| now.running >= self.most || now.running + now.ending < self.most;
        // The sender lives in `self`; what was not decided in time is taken as it stands.
        let _ = timeout(wait, counts.wait_for(decided)).await;
        let now = *counts.borrow();
        self.refused(now.running + now.ending)
    }

    fn refused(&self, running: usize) -> Result<(), DatabaseError> {
        if running < self.most { Ok(()) } else { Err(DatabaseError::Orphaned { running, most: self.most }) }
    }
}

impl Orphan {
    /// It was given its time and runs on; whether that is news.
    pub(crate) fn runs_on(&mut self) -> bool {
        let news = self.state != State::Running;
        self.becomes(State::Running);
        news
    }

    /// Its server does not say whether it runs; whether it was known to run before.
    pub(crate) fn is_out_of_sight(&mut self) -> bool {
        let known = self.state == State::Running;
        if !known {
            self.becomes(State::Unknown);
        }
        known
    }

    fn becomes(&mut self, state: State) {
        let before = std::mem::replace(&mut self.state, state);
        self.orphans.counts.send_if_modified(|counts| {
            if let Some(count) = counts.of(before) {
                *count -= 1;
            }
            if let Some(count) = counts.of(state) {
                *count += 1;
            }
            before != state
        });
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        if self.state == State::Running {
            tracing::info!("a statement that could not be stopped has ended");
        }
        self.becomes(State::Unknown);
    }
}

/// Whether a transaction is still under way, over a connection of its own. A role sees what its own sessions do.
pub(crate) async fn still_runs(target: &ConnectionString, backend: &Backend) -> Result<bool, DatabaseError> {
    let sql = format!(
        "SELECT 1 FROM pg_catalog.pg_stat_activity \
         WHERE pid = $1::pg_catalog.int4 AND state IS DISTINCT FROM 'idle' \
         AND (xact_start IS NULL OR {} = $2::pg_catalog.int8)",
        moment("xact_start")
    );
    let parameters = [Some(backend.process.as_str()), Some(backend.began.as_str())];
    Ok(!ask(target, &sql, &parameters).await?.rows.is_empty())
}

/// What runs longer than anything honest of this role: an earlier host left it behind.
pub(crate) async fn left_behind(
    target: &ConnectionString,
    longest: Duration,
) -> Result<Vec<Backend>, DatabaseError> {
    let sql = format!(
        "SELECT pid, {} FROM pg_catalog.pg_stat_activity \
         WHERE usename = session_user AND datname = pg_catalog.current_database() \
         AND application_name = pg_catalog.current_setting('application_name') \
         AND backend_type = 'client backend' AND state = 'active' AND pid <> pg_catalog.pg_backend_pid() \
         AND query_start < pg_catalog.now() - pg_catalog.make_interval(secs => $1::pg_catalog.float8)",
        moment("xact_start")
    );
    let longest = longest.as_secs_f64().to_string();
    let rows = ask(target, &sql, &[Some(longest.as_str())]).await?;
    Ok(rows.rows.iter().filter_map(Backend::read).collect())
}

/// One statement over a connection of its own, which takes no place of the pool.
async fn ask(
    target: &ConnectionString,
    sql: &str,
    parameters: &[Option<&str>],
) -> Result<Rows, DatabaseError> {
    let mut wire = connect(target).await?;
    let settings = Settings::new(PATIENCE, PATIENCE, &[], "UTC");
    let steps = [Step::new(sql, parameters)];
    let mut results = exchange(&mut wire, Begin::Reading, &settings, &steps, LIMITS).await?;
    wire.close().await;
    Ok(results.pop().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_is_ending_is_waited_for_and_what_runs_on_is_not() {
        let orphans = Orphans::at_most(2);
        let mut first = orphans.ending();
        assert!(orphans.room(SHORT).await.is_ok(), "one may run");
        let second = orphans.ending();
        assert_eq!(orphans.running(), 0, "nobody knows yet that they run on");
        assert!(orphans.check().is_ok());
        let refused = orphans.room(SHORT).await;
        assert!(matches!(refused, Err(DatabaseError::Orphaned { running: 2, most: 2 })), "{refused:?}");
        // Whoever waits is let in when one ends.
        let (let_in, ()) = tokio::join!(orphans.room(LONG), async { drop(second) });
        assert!(let_in.is_ok());

        assert!(first.runs_on() && !first.runs_on(), "it is news once");
        assert_eq!(orphans.running(), 1);
        let another = orphans.count();
        // Nobody waits for what runs on.
        assert!(timeout(SHORT, orphans.room(LONG)).await.unwrap().is_err());
        drop(another);
        assert!(first.is_out_of_sight(), "it is still known to run");
        drop(first);
        assert_eq!(orphans.running(), 0);
    }

    #[tokio::test]
    async fn what_a_server_says_nothing_of_keeps_nobody_waiting() {
        let orphans = Orphans::at_most(1);
        let mut one = orphans.ending();
        assert!(orphans.room(SHORT).await.is_err());
        assert!(!one.is_out_of_sight());
        assert!(orphans.room(SHORT).await.is_ok());
        assert!(one.runs_on(), "it was seen again");
        assert!(orphans.room(SHORT).await.is_err());
    }
}
