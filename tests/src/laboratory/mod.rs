//! A private PostgreSQL with any number of databases, each with a reader made by setup and a pack that names it.

mod judge;
mod knowledge;
mod pressure;
mod served;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use airlock_setup::roles::{Reach, Role, plan, prove};
use airlock_setup::{Durability, PrivateConfig, PrivatePostgres};
use tokio_postgres::Client;

use crate::{find, target};

pub use judge::{Judge, Judged};
pub use knowledge::{Parts, Roles, store_at};
pub use pressure::{Peak, Pressure};
pub use served::{Served, drafted};

/// The one role that reads every database of a laboratory.
const READER: &str = "airlock_reader";

/// A database to be made.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Its name; the domain has the same one with hyphens.
    pub database: &'a str,
    /// Schemas an unqualified name is looked for in.
    pub search_path: &'a [&'a str],
    /// What makes it. The relations that are there afterwards are the domain's.
    pub schema: &'a str,
    /// What is loaded behind the domain's back: traps.
    pub traps: Option<&'a str>,
    /// Functions that the domain allows, as `schema.name(type, type)`.
    pub functions: &'a [&'a str],
}

/// A running server with its databases and the configuration of an airlock that reads them.
pub struct Laboratory {
    postgres: PrivatePostgres,
    folder: tempfile::TempDir,
    statement_timeout_ms: u64,
}

impl Laboratory {
    /// Starts an empty one, in which a statement may take this long.
    pub async fn start(statement_timeout_ms: u64) -> Self {
        let folder = tempfile::Builder::new().prefix("laboratory").tempdir().unwrap();
        let data = folder.path().join("postgres");
        std::fs::create_dir(&data).unwrap();
        let postgres = PrivatePostgres::start(&PrivateConfig::new(&data, Durability::Demo)).await.unwrap();
        std::fs::create_dir(folder.path().join("domains")).unwrap();
        let laboratory = Self { postgres, folder, statement_timeout_ms };
        let config = format!(
            "[server]\ndata = \"host\"\noperator_socket = \"host/operator.sock\"\n[plugins]\ndir = {:?}\n",
            target().join("components")
        );
        std::fs::write(laboratory.config(), config).unwrap();
        laboratory
    }

    /// The configuration for the binary.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("airlock.toml")
    }

    /// The folder of the server's files.
    #[must_use]
    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Process id of the server.
    #[must_use]
    pub fn postmaster(&self) -> u32 {
        let file = find(self.folder.path(), "postmaster.pid").expect("a running server has a postmaster.pid");
        std::fs::read_to_string(file).unwrap().lines().next().unwrap().trim().parse().unwrap()
    }

    /// How a pooler reaches the server as the reader: key=value, the password included.
    #[must_use]
    pub fn server_of_reader(&self) -> String {
        let secret = self.postgres.role_secret(READER);
        let socket = self.postgres.socket_dir().display();
        format!("host={socket} port=5432 user={READER} password={}", secret.reveal())
    }

    /// A connection as the administrator.
    pub async fn admin(&self, database: &str) -> Client {
        self.postgres.connect(database).await.unwrap()
    }

    /// A connection as the reader.
    pub async fn reader(&self, database: &str) -> Client {
        let config = self.postgres.config(database, READER, &self.postgres.role_secret(READER));
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Makes a database, its reader and its pack; gives the name of the domain.
    pub async fn make(&self, place: &Place<'_>) -> String {
        let database = place.database;
        let admin = self.admin("postgres").await;
        admin.batch_execute(&format!("CREATE DATABASE \"{database}\"")).await.unwrap();
        let path = place.search_path.join(", ");
        let settings = format!(
            "ALTER DATABASE \"{database}\" SET search_path = {path}; ALTER DATABASE \"{database}\" SET TimeZone = 'UTC'"
        );
        admin.batch_execute(&settings).await.unwrap();
        let mut owner = self.admin(database).await;
        owner.batch_execute(place.schema).await.unwrap_or_else(|error| panic!("{database}: {error:?}"));
        let relations = relations(&owner, place.search_path).await;
        if let Some(traps) = place.traps {
            spring(&owner, traps).await;
        }
        owner.batch_execute("ANALYZE").await.unwrap();

        let secret = self.postgres.role_secret(READER);
        let only =
            relations.iter().map(|(schema, name)| airlock_types::TableRef::new(schema, name)).collect();
        let role = Role {
            harden: true,
            rotate: true,
            ..Role::reader(READER, secret.clone(), database, Reach::Only(only))
        };
        let plan = plan(&owner, &role).await.unwrap();
        plan.apply(&mut owner, |_| {}).await.unwrap();
        let verdicts = prove(&self.postgres.config(database, READER, &secret), &plan.trials).await.unwrap();
        for verdict in verdicts {
            assert!(verdict.passed(), "{database}: {verdict}");
        }
        let functions = functions(&owner, place.functions).await;
        self.write_pack(database, &relations, &functions)
    }

    fn write_pack(
        &self,
        database: &str,
        relations: &[(String, String)],
        functions: &[(String, String)],
    ) -> String {
        let domain = database.replace('_', "-");
        let quoted = |part: &str| format!("\"{}\"", part.replace('"', "\"\""));
        let names: Vec<String> =
            relations.iter().map(|(schema, name)| format!("'{}.{}'", quoted(schema), quoted(name))).collect();
        let mut pack = format!(
            "format = 1\ntitle = \"{domain}\"\nsource = \"{domain}\"\nonly = [{}]\n",
            names.join(", ")
        );
        for (signature, body) in functions {
            let _ = write!(pack, "[[allowed_functions]]\nsignature = \"{signature}\"\nbody = \"{body}\"\n");
        }
        let folder = self.folder.path().join("domains").join(&domain);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("domain.toml"), pack).unwrap();
        let url = self.postgres.connection_string(database, READER, &self.postgres.role_secret(READER));
        let mut config = std::fs::read_to_string(self.config()).unwrap();
        let _ = write!(
            config,
            "[sources.{domain}]\nurl = {url:?}\nstatement_timeout_ms = {}\n",
            self.statement_timeout_ms
        );
        std::fs::write(self.config(), config).unwrap();
        domain
    }
}

/// The relations of these schemas, in the order of the schemas.
async fn relations(owner: &Client, schemas: &[&str]) -> Vec<(String, String)> {
    let query = "SELECT n.nspname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        ORDER BY array_position($1, n.nspname::text), c.relname";
    let rows = owner.query(query, &[&schemas]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Allowed functions with the hash of what they are now.
async fn functions(owner: &Client, signatures: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for signature in signatures {
        let query =
            "SELECT encode(sha256(convert_to(pg_get_functiondef($1::text::regprocedure), 'UTF8')), 'hex')";
        let row = owner.query_one(query, &[signature]).await.unwrap();
        found.push(((*signature).to_owned(), row.get(0)));
    }
    found
}

/// Loads traps. An extension that the machine does not have is left out; what needs it is one trap less.
async fn spring(owner: &Client, traps: &str) {
    let mut rest = String::new();
    for line in traps.lines() {
        if !line.starts_with("CREATE EXTENSION") {
            rest.push_str(line);
            rest.push('\n');
            continue;
        }
        for statement in line.split_terminator(';') {
            if let Err(error) = owner.batch_execute(statement).await {
                let reason =
                    error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
                eprintln!("left out: {}: {reason}", statement.trim());
            }
        }
    }
    owner.batch_execute(&rest).await.unwrap_or_else(|error| panic!("the traps: {error:?}"));
}
