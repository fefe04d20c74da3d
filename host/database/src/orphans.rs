//! Statements that PostgreSQL cannot stop: how many run, and whether one still does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
    running: AtomicUsize,
    most: usize,
}

/// One of them. It counts until it is dropped.
pub(crate) struct Orphan(Arc<Orphans>);

impl Orphans {
    pub(crate) fn at_most(most: usize) -> Arc<Self> {
        Arc::new(Self { running: AtomicUsize::new(0), most })
    }

    /// How many run.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// Counts one more.
    pub(crate) fn count(self: &Arc<Self>) -> Orphan {
        self.running.fetch_add(1, Ordering::AcqRel);
        Orphan(Arc::clone(self))
    }

    /// Refuses to start anything while too many run.
    pub(crate) fn check(&self) -> Result<(), DatabaseError> {
        match self.running() {
            running if running >= self.most => Err(DatabaseError::Orphaned { running, most: self.most }),
            _ => Ok(()),
        }
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
        tracing::info!("a statement that could not be stopped has ended");
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
