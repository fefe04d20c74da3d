//! A PostgreSQL of airlock's own: on a socket in a folder only its owner can enter, and on no network.

mod account;
mod binaries;
mod cluster;
mod lock;
mod server;
mod socket;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::{Client, Config, NoTls};

use crate::error::SetupError;
use crate::secret::Secret;
use crate::sql::connection_value;

use account::Account;
use binaries::Binaries;
use cluster::Cluster;
use lock::Lock;
use server::Server;

/// The administrator of a private server.
const ADMIN: &str = "airlock_admin";
/// Names the socket's file; nothing listens on a network.
const PORT: u16 = 5432;
const POLL: Duration = Duration::from_millis(15);
/// Twice the largest value that the server takes in one piece would be 2 GiB; this is room for large sorts and loads, beside
/// some 250 MiB that every process has of shared memory and libraries.
const PROCESS_MEMORY: u64 = 1 << 30;

/// What a private server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// What is committed survives a crash of the machine.
    Safe,
    /// Nothing waits for the disk. For data that can be loaded again: a crash of the machine (not of a process) may
    /// damage the files.
    Demo,
}

/// Where a private server keeps its files, and how.
#[derive(Debug, Clone)]
pub struct PrivateConfig {
    /// A folder for this server alone. As root, the folders above it must let other accounts pass.
    pub data_dir: PathBuf,
    /// Whether commits wait for the disk.
    pub durability: Durability,
    /// The folder of `initdb` and `postgres`; searched for when `None`.
    pub bin_dir: Option<PathBuf>,
    /// Bytes of address space that each process of the server may have, shared memory included: who wants more is told
    /// `out of memory` (53200) and the others go on. PostgreSQL itself has no such limit. `None` for none.
    pub memory: Option<u64>,
    /// How long the server may take until it answers; recovery after a crash is part of it.
    pub start_timeout: Duration,
}

impl PrivateConfig {
    /// A server with its files in `data_dir`, given a minute to start.
    pub fn new(data_dir: impl Into<PathBuf>, durability: Durability) -> Self {
        Self {
            data_dir: data_dir.into(),
            durability,
            bin_dir: None,
            memory: Some(PROCESS_MEMORY),
            start_timeout: Duration::from_secs(60),
        }
    }
}

/// Where airlock keeps what is its own: `/var/lib/airlock` for root (an unprivileged account must be able to reach it),
/// else `$XDG_DATA_HOME/airlock` or `~/.local/share/airlock`.
#[must_use]
pub fn default_data_dir() -> PathBuf {
    if account::is_root() {
        return PathBuf::from("/var/lib/airlock");
    }
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = || std::env::home_dir().map(|home| home.join(".local/share"));
    data.or_else(home).unwrap_or_else(std::env::temp_dir).join("airlock")
}

/// A running private server. Dropping it stops it, which blocks for a moment; [`PrivatePostgres::stop`] does not.
#[derive(Debug)]
pub struct PrivatePostgres {
    socket_dir: PathBuf,
    password: Secret,
    /// `None` when another airlock owns the server. The server stops before the lock is given up.
    owned: Option<(Server, Lock)>,
}

impl PrivatePostgres {
    /// Starts the server; makes its files first where there are none. What a crashed run left behind (a running server,
    /// a stale lock file, half-made files) is cleared away. No other server of the machine is touched.
    ///
    /// # Errors
    /// [`SetupError::InUse`] when another airlock keeps it (see [`PrivatePostgres::join`]); else as the variants say.
    pub async fn start(config: &PrivateConfig) -> Result<Self, SetupError> {
        let owned = config.clone();
        let started = tokio::task::spawn_blocking(move || Self::spawn(&owned)).await;
        let mut postgres = started.map_err(|error| SetupError::file(&config.data_dir, error))??;
        postgres.wait_until_ready(config.start_timeout).await?;
        Ok(postgres)
    }

    /// Uses the server that another airlock started and keeps: it ends when that one ends it.
    ///
    /// # Errors
    /// When nothing answers there.
    pub async fn join(data_dir: &Path) -> Result<Self, SetupError> {
        let dir = data_dir.canonicalize().map_err(|error| SetupError::file(data_dir, error))?;
        let joined =
            Self { socket_dir: socket::choose(&dir)?, password: cluster::known_password(&dir)?, owned: None };
        joined.connect("postgres").await?;
        Ok(joined)
    }

    fn spawn(config: &PrivateConfig) -> Result<Self, SetupError> {
        let account = Account::to_run_as()?;
        let dir = account.prepare(&config.data_dir)?;
        let lock = Lock::take(&dir)?;
        let binaries = Binaries::find(config.bin_dir.as_deref(), &dir)?;
        let password = cluster::password(&dir)?;
        let cluster = Cluster::new(&dir, binaries, account, config.durability);
        cluster.clear_leftovers()?;
        cluster.ensure(ADMIN, &password)?;
        let socket_dir = socket::choose(&dir)?;
        socket::make(&socket_dir, cluster.account())?;
        let server = Server::spawn(cluster, &socket_dir, PORT, &dir.join("server.log"), config.memory)?;
        Ok(Self { socket_dir, password, owned: Some((server, lock)) })
    }

    async fn wait_until_ready(&mut self, limit: Duration) -> Result<(), SetupError> {
        let ready = async {
            loop {
                match self.connect("postgres").await {
                    Ok(_) => return Ok(()),
                    Err(error) => match &mut self.owned {
                        Some((server, _)) => server.fail_if_it_ended()?,
                        None => return Err(error),
                    },
                }
                tokio::time::sleep(POLL).await;
            }
        };
        match tokio::time::timeout(limit, ready).await {
            Ok(ready) => ready,
            Err(_) => {
                let said = self.owned.as_ref().map(|(server, _)| server.log_tail()).unwrap_or_default();
                Err(SetupError::NotReady { seconds: limit.as_secs(), said })
            }
        }
    }

    /// Stops the server, if it is this airlock's own, and waits until it has ended. Clients are disconnected.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn stop(mut self) -> Result<(), SetupError> {
        let Some((mut server, lock)) = self.owned.take() else { return Ok(()) };
        let socket_dir = self.socket_dir.clone();
        let stopped = tokio::task::spawn_blocking(move || {
            let stopped = server.stop();
            drop(lock);
            stopped
        });
        stopped.await.map_err(|error| SetupError::file(&socket_dir, error))?
    }

    /// Whether this airlock started the server and will stop it.
    #[must_use]
    pub fn is_owned(&self) -> bool {
        self.owned.is_some()
    }

    /// The folder of its socket.
    #[must_use]
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// How its administrator connects to a database.
    #[must_use]
    pub fn admin(&self, database: &str) -> Config {
        self.config(database, ADMIN, &self.password)
    }

    /// How a role connects to a database.
    #[must_use]
    pub fn config(&self, database: &str, role: &str, password: &Secret) -> Config {
        let mut config = Config::new();
        config.host_path(&self.socket_dir).port(PORT).dbname(database).user(role).password(password.reveal());
        config.application_name("airlock").connect_timeout(Duration::from_secs(10));
        config
    }

    /// The same as a libpq connection string. It holds the password.
    #[must_use]
    pub fn connection_string(&self, database: &str, role: &str, password: &Secret) -> String {
        let value = connection_value;
        format!(
            "host={} port={PORT} dbname={} user={} password={}",
            value(&self.socket_dir.to_string_lossy()),
            value(database),
            value(role),
            value(password.reveal())
        )
    }

    /// A secret of its own for each role, the same after every start.
    #[must_use]
    pub fn role_secret(&self, role: &str) -> Secret {
        self.password.derive(role)
    }

    /// Connects as the administrator.
    ///
    /// # Errors
    /// When the server does not answer or does not let the administrator in.
    pub async fn connect(&self, database: &str) -> Result<Client, SetupError> {
        connect(&self.admin(database)).await
    }
}

/// Connects without TLS and drives the connection until the client is dropped.
pub(crate) async fn connect(config: &Config) -> Result<Client, SetupError> {
    let connected = config.connect(NoTls).await;
    let (client, connection) = connected.map_err(|error| SetupError::database("connecting", &error))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a setup connection ended");
        }
    });
    Ok(client)
}
