//! A data source: how it is reached, and how much it may be asked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::connection_string::ConnectionString;
use crate::error::DatabaseError;
use crate::exchange::{Begin, Limits, Rows, exchange};
use crate::orphans::{self, left_behind};
use crate::pool::{Connections, Pool, PoolLimits};
use crate::result_types::ResultTypes;
use crate::settings::Settings;
use crate::wire::Step;

/// How a data source is reached and limited. `Debug` does not show the password.
#[derive(Clone)]
pub struct SourceConfig {
    /// libpq connection string, either form.
    pub url: String,
    /// Connections at most.
    pub pool_size: usize,
    /// How long a caller waits for one of them.
    pub pool_wait: Duration,
    /// How long a statement may run.
    pub statement_timeout: Duration,
    /// How long a statement may wait for a lock; four fifths of its own time at most.
    pub lock_timeout: Duration,
    /// How much longer than its timeout a statement is waited for, and how long a cancelled one may take to end.
    pub grace: Duration,
    /// How long the source rests after a server overran, unless it answers a new connection.
    pub rest: Duration,
    /// Statements that PostgreSQL cannot stop, from which on nothing new is started until fewer run.
    pub orphans: usize,
    /// Longest value of a result.
    pub cell_bytes: usize,
    /// Longest row of a result.
    pub row_bytes: usize,
    /// Largest result, as it is held in memory: some 80 bytes for each value beside its text.
    pub result_bytes: usize,
    /// Highest cost the planner may expect; none by default, because costs mean nothing across databases.
    pub cost_ceiling: Option<f64>,
}

impl SourceConfig {
    /// The source at this connection string, with everything else left to the defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            pool_size: 4,
            pool_wait: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            lock_timeout: Duration::from_secs(5),
            grace: Duration::from_secs(5),
            rest: Duration::from_secs(30),
            orphans: 2,
            cell_bytes: 1 << 20,
            row_bytes: 4 << 20,
            result_bytes: 64 << 20,
            cost_ceiling: None,
        }
    }

    pub(crate) const fn limits(&self) -> Limits {
        Limits { cell_bytes: self.cell_bytes, row_bytes: self.row_bytes, result_bytes: self.result_bytes }
    }
}

impl fmt::Debug for SourceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self.url.parse::<ConnectionString>() {
            Ok(target) => target.to_string(),
            Err(error) => format!("({error})"),
        };
        f.debug_struct("SourceConfig")
            .field("url", &url)
            .field("pool_size", &self.pool_size)
            .field("pool_wait", &self.pool_wait)
            .field("statement_timeout", &self.statement_timeout)
            .field("cost_ceiling", &self.cost_ceiling)
            .finish_non_exhaustive()
    }
}

/// A data source that answered once. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct Source(Arc<Inner>);

struct Inner {
    config: SourceConfig,
    pool: Arc<Pool>,
    types: ResultTypes,
    server_version: String,
}

/// How long the room's own statements may run: reading a catalogue of 100,000 columns takes seconds on a busy server.
const FIXED_TIMEOUT: Duration = Duration::from_secs(60);

impl Source {
    /// Connects once, so that what is wrong with the way there is known now, and keeps the connection for the first use.
    ///
    /// # Errors
    /// [`DatabaseError`], told apart by cause: unreachable, authentication, unknown database, TLS.
    pub async fn connect(config: SourceConfig) -> Result<Self, DatabaseError> {
        let target: ConnectionString = config.url.parse()?;
        let limits = PoolLimits {
            size: config.pool_size.max(1),
            wait: config.pool_wait,
            grace: config.grace,
            rest: config.rest,
            orphans: config.orphans,
        };
        let pool = Pool::new(target, limits);
        let server_version = {
            let mut lease = pool.lease(Duration::MAX).await?;
            lease.wire()?.parameter("server_version").unwrap_or_default().to_owned()
        };
        let source = Self(Arc::new(Inner { config, pool, types: ResultTypes::default(), server_version }));
        tokio::spawn(source.clone().adopt_orphans());
        Ok(source)
    }

    /// Counts what an earlier host of this role left running: a restart must not be a way round the limit.
    async fn adopt_orphans(self) {
        let looked = left_behind(self.target(), self.longest_honest_run());
        match timeout(orphans::PATIENCE, looked).await {
            Ok(Ok(found)) => found.into_iter().for_each(|backend| self.pool().adopt(backend)),
            Ok(Err(error)) => tracing::debug!(%error, "what earlier runs left behind is not known"),
            Err(_) => tracing::debug!("what earlier runs left behind was not said in time"),
        }
    }

    /// The server's version as it reports it, `15.18 (Debian ...)`.
    #[must_use]
    pub fn server_version(&self) -> &str {
        &self.0.server_version
    }

    /// Where the source is: role, database and hosts, without the password.
    #[must_use]
    pub fn target(&self) -> &ConnectionString {
        self.0.pool.target()
    }

    /// How much longer the breaker keeps callers away, when it does.
    #[must_use]
    pub fn resting(&self) -> Option<Duration> {
        self.0.pool.resting()
    }

    /// Statements that PostgreSQL cannot stop and that still run there; see [`SourceConfig::orphans`].
    #[must_use]
    pub fn orphans(&self) -> usize {
        self.0.pool.orphans().running()
    }

    /// The connections and how many of them are in use.
    #[must_use]
    pub fn connections(&self) -> Connections {
        self.0.pool.connections()
    }

    /// What runs longer than this on the server was given up by somebody.
    fn longest_honest_run(&self) -> Duration {
        let config = self.config();
        FIXED_TIMEOUT.max(config.statement_timeout).saturating_add(config.grace).saturating_add(config.grace)
    }

    /// Asks the server for an answer and nothing else.
    ///
    /// # Errors
    /// [`DatabaseError`] of the connection or of the server.
    pub async fn ping(&self) -> Result<(), DatabaseError> {
        self.fixed(Begin::Reading, &self.fixed_settings(), &[Step::new("SELECT 1", &[])]).await.map(drop)
    }

    pub(crate) fn config(&self) -> &SourceConfig {
        &self.0.config
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0.pool
    }

    pub(crate) fn types(&self) -> &ResultTypes {
        &self.0.types
    }

    /// Settings of the room's own statements: every name in them is qualified, and names come back qualified.
    pub(crate) fn fixed_settings(&self) -> Settings {
        Settings::new(FIXED_TIMEOUT, self.0.config.lock_timeout, &[], "UTC")
    }

    /// Limits of the room's own statements.
    pub(crate) const fn fixed_limits(&self) -> Limits {
        Limits { cell_bytes: 16 << 20, row_bytes: 32 << 20, result_bytes: 512 << 20 }
    }

    /// Runs statements of the room itself. Nothing that came from outside is among them.
    pub(crate) async fn fixed(
        &self,
        begin: Begin,
        settings: &Settings,
        steps: &[Step<'_>],
    ) -> Result<Vec<Rows>, DatabaseError> {
        let mut lease = self.pool().lease(Duration::MAX).await?;
        let reused = lease.reused;
        let work = async |lease: &mut crate::pool::Lease| -> Result<Vec<Rows>, DatabaseError> {
            let limit = FIXED_TIMEOUT.saturating_add(self.config().grace);
            let wire = lease.wire()?;
            let exchanged = timeout(limit, exchange(wire, begin, settings, steps, self.fixed_limits()));
            Ok(exchanged.await.map_err(|_| DatabaseError::Deadline { after: limit })??)
        };
        match work(&mut lease).await {
            Err(error) if error.is_lost_connection() && reused => {
                drop(lease);
                work(&mut self.pool().lease(Duration::MAX).await?).await
            }
            result => result,
        }
    }
}
