//! Identity of a row of the store: made by the host, so that no role needs to read back what it wrote.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use airlock_types::AskId;
use bytes::{BufMut, BytesMut};
use serde::{Deserialize, Serialize};
use thiserror::Error as ThisError;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

/// Identity of a row. Time-ordered (UUID version 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(Uuid);

impl ItemId {
    /// A new identity.
    #[must_use]
    pub fn now() -> Self {
        Self(Uuid::now_v7())
    }

    /// Before every other.
    pub(super) const fn first() -> Self {
        Self(Uuid::nil())
    }
}

impl From<AskId> for ItemId {
    /// The row of an ask has the ask's identity.
    fn from(ask: AskId) -> Self {
        // An ask's identity is shown as the UUID it is.
        Self(ask.to_string().parse().unwrap_or_default())
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text is not an identity.
#[derive(Debug, ThisError)]
#[error("`{0}` is not the id of an item: it looks like 0198c0de-0000-7000-8000-000000000000")]
pub struct ItemIdError(String);

impl FromStr for ItemId {
    type Err = ItemIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| ItemIdError(text.chars().take(64).collect()))
    }
}

impl ToSql for ItemId {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::UUID
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for ItemId {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Uuid::from_slice(raw)?))
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::UUID
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_keeps_its_identity() {
        let ask = AskId::now();
        assert_eq!(ItemId::from(ask).to_string(), ask.to_string());
        assert!("x".parse::<ItemId>().is_err());
    }
}
