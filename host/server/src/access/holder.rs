//! Somebody a key or a session stands for, as the store has them.

use std::collections::BTreeSet;

use airlock_database::{Identity, IdentityError};
use airlock_knowledge::store::{ItemId, KeyIdentity, KeyRow, SessionRow};
use airlock_pipeline::{Asker, Surface};
use airlock_types::{ContentHash, DomainName};
use jiff::Timestamp;
use thiserror::Error;

use super::{Caller, Scope};

/// Characters of the name of a role: PostgreSQL cuts longer ones.
const ROLE: usize = 63;
/// Bytes of a setting's value.
const VALUE: usize = 1_000;

/// Whoever holds a key that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The key.
    pub key: ItemId,
    /// Its name.
    pub name: String,
    /// The session it is used by, if it is.
    pub session: Option<Session>,
    scopes: BTreeSet<Scope>,
    domains: BTreeSet<DomainName>,
    identity: Option<Identity>,
    expires_at: Option<Timestamp>,
}

/// A page's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Hash of what its forms carry.
    pub csrf: ContentHash,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// A row of the store is not what this build knows: nobody is let in by half a key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the key `{key}` of the store cannot be used: {why}")]
pub struct Unusable {
    /// The key.
    pub key: ItemId,
    /// What is wrong.
    pub why: String,
}

/// What a name or value of an identity cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadIdentity {
    /// A setting.
    #[error(transparent)]
    Setting(#[from] IdentityError),
    /// Its value.
    #[error("the value of `{0}` is longer than {VALUE} bytes")]
    Value(String),
    /// A role.
    #[error("a role has a name of 1 to {ROLE} bytes without NUL")]
    Role,
}

/// What the data source is told of the holder of a key.
///
/// # Errors
/// When PostgreSQL would not take it, or it would change a setting of PostgreSQL's own.
pub fn identity(kept: &KeyIdentity) -> Result<Identity, BadIdentity> {
    let mut identity = Identity::default();
    for (name, value) in &kept.settings {
        if value.len() > VALUE {
            return Err(BadIdentity::Value(name.clone()));
        }
        identity = identity.with_setting(name, value)?;
    }
    match &kept.role {
        Some(role) if role.is_empty() || role.len() > ROLE || role.contains('\0') => Err(BadIdentity::Role),
        Some(role) => Ok(identity.with_role(role)),
        None => Ok(identity),
    }
}

impl Holder {
    /// The holder of a key.
    ///
    /// # Errors
    /// [`Unusable`], when the row is not what this build knows.
    pub fn of_key(row: &KeyRow) -> Result<Self, Unusable> {
        let unusable = |why: String| Unusable { key: row.id, why };
        let scopes: Result<BTreeSet<Scope>, String> = row.scopes.iter().map(|word| word.parse()).collect();
        let domains = row.domains.iter().map(|name| name.parse::<DomainName>()).collect::<Result<_, _>>();
        let identity = row.identity.as_ref().map(identity).transpose();
        Ok(Self {
            key: row.id,
            name: row.name.clone(),
            session: None,
            scopes: scopes.map_err(unusable)?,
            domains: domains.map_err(|error| unusable(error.to_string()))?,
            identity: identity.map_err(|error| unusable(error.to_string()))?,
            expires_at: row.expires_at,
        })
    }

    /// Whoever opened a session.
    ///
    /// # Errors
    /// As [`Holder::of_key`].
    pub fn of_session(session: &SessionRow, key: &KeyRow) -> Result<Self, Unusable> {
        let session = Session { csrf: session.csrf_hash, expires_at: session.expires_at };
        Ok(Self { session: Some(session), ..Self::of_key(key)? })
    }

    /// Somebody with a key that may ask.
    #[cfg(test)]
    pub fn named(name: &str) -> Self {
        Self {
            key: ItemId::now(),
            name: name.to_owned(),
            session: None,
            scopes: [Scope::Ask].into(),
            domains: BTreeSet::new(),
            identity: None,
            expires_at: None,
        }
    }

    /// Whether it is in force at this moment.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        let ends = [self.expires_at, self.session.map(|session| session.expires_at)];
        ends.into_iter().flatten().all(|end| now < end)
    }

    /// When the key ends.
    pub const fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// As handlers know them.
    pub fn caller(&self) -> Caller {
        let surface = if self.session.is_some() { Surface::Page } else { Surface::Http };
        let asker = Asker {
            owner: Some(self.key.to_string()),
            identity: self.identity.clone(),
            ..Asker::local(surface)
        };
        Caller::with_key(self.name.clone(), asker, self.scopes.clone(), self.domains.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_made_of_settings_with_a_dot_and_a_role() {
        let of = |settings: &[(&str, &str)], role: Option<&str>| {
            let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            identity(&KeyIdentity { settings: settings.collect(), role: role.map(str::to_owned) })
        };
        let long = "x".repeat(VALUE + 1);
        for (settings, role, good) in [
            (vec![("app.user_id", "7"), ("app.tenant", "o'hara")], Some("tenant"), true),
            (vec![], None, true),
            (vec![("row_security", "off")], None, false),
            (vec![("app.user_id", "a\0b")], None, false),
            (vec![("app.user_id", long.as_str())], None, false),
            (vec![], Some(""), false),
            (vec![], Some(&long[..ROLE + 1]), false),
        ] {
            assert_eq!(of(&settings, role).is_ok(), good, "{role:?}");
        }
    }
}
