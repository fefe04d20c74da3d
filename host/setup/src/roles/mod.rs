//! What each role of airlock may do: statements that make it so, and trials that prove it.
//!
//! A role is a [`Role`]: data about the place, and two functions of it. Adding a role is adding a file beside
//! [`reader`](Role::reader); planning, printing, running and proving are the same for all.

mod plan;
mod reader;
mod statement;
mod trial;

use airlock_types::TableRef;

use crate::secret::Secret;

pub use plan::{Plan, plan};
pub use statement::{Refused, Statement};
pub use trial::{Expect, Trial, Verdict, prove, try_all, try_as};

/// What a role is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duty {
    /// Reads the granted relations of a data source, and nothing else.
    Reader,
}

/// A role to be set up in one database.
#[derive(Debug, Clone)]
pub struct Role {
    /// What it is for.
    pub duty: Duty,
    /// Its name.
    pub name: String,
    /// Its password.
    pub password: Secret,
    /// Whether a role that is there already is given this password. Whoever else uses it would be locked out.
    pub rotate: bool,
    /// The database.
    pub database: String,
    /// The relations it is about.
    pub reach: Reach,
    /// Whether to take from PUBLIC what a reader must never have: creating in `public`, temporary tables, functions
    /// that write. This touches other users of the database; on one's own it is right.
    pub harden: bool,
}

/// Which relations a role may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// All of these schemas, those made later included.
    Schemas(Vec<String>),
    /// These alone.
    Only(Vec<TableRef>),
}

impl Reach {
    /// The schemas it lies in, each once.
    #[must_use]
    pub fn schemas(&self) -> Vec<&str> {
        let mut schemas: Vec<&str> = match self {
            Self::Schemas(schemas) => schemas.iter().map(String::as_str).collect(),
            Self::Only(tables) => tables.iter().map(|table| table.schema.as_str()).collect(),
        };
        schemas.sort_unstable();
        schemas.dedup();
        schemas
    }
}

impl Role {
    /// The reader of a data source.
    #[must_use]
    pub fn reader(name: &str, password: Secret, database: &str, reach: Reach) -> Self {
        let (name, database) = (name.to_owned(), database.to_owned());
        Self { duty: Duty::Reader, name, password, rotate: false, database, reach, harden: false }
    }
}

/// A relation within reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// The relation.
    pub table: TableRef,
    /// Who may grant on it.
    pub owner: String,
    /// Whether it is a table, which a trial can try to write.
    pub is_table: bool,
}

/// What is known of the database before statements are written.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Whether the role is there already.
    pub role_exists: bool,
    /// Owners of relations, and of the schema, by schema: whoever may make relations there later.
    pub owners: Vec<(String, String)>,
    /// Owner of each schema within reach.
    pub schema_owners: Vec<(String, String)>,
    /// Owner of the database.
    pub database_owner: String,
    /// Relations within reach.
    pub relations: Vec<Owned>,
    /// Signatures of functions that a hardened database keeps from PUBLIC, such as `lo_create(oid)`.
    pub harmful_functions: Vec<String>,
}
