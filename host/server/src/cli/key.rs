//! `airlock key`, as a person types it.

use airlock_knowledge::store::ItemId;
use airlock_types::DomainName;
use clap::{Args, Subcommand};

use crate::access::Scope;

#[derive(Debug, Subcommand)]
pub enum Key {
    /// Make a key. It is shown once; the store keeps its hash.
    Create(CreateKey),
    /// List the keys, those that are not in force any more included.
    List,
    /// Take a key back. It opens nothing from then on, and its sessions end.
    Revoke {
        /// Its id, as `airlock key list` shows it.
        id: ItemId,
    },
}

#[derive(Debug, Args)]
pub struct CreateKey {
    /// Name of whoever holds it, for people and logs.
    pub name: String,
    /// What it may do; several by commas, or by giving this again: ask, query, read, feedback, examples:author, curate,
    /// operate, admin.
    #[arg(long = "scope", value_name = "SCOPE", required = true, value_delimiter = ',')]
    pub scopes: Vec<Scope>,
    /// Only in this domain; in every domain when left out.
    #[arg(long = "domain", value_name = "DOMAIN", value_delimiter = ',')]
    pub domains: Vec<DomainName>,
    /// When it ends: a time such as 90d or 12h from now, a day, or RFC 3339. Never when left out.
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// Role that each transaction on the data source runs as, for row policies; its reader must be a member of it.
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Setting of each transaction on the data source, for row policies, such as app.user_id=7.
    #[arg(long = "setting", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
}
