//! Identities: of an ask, of content, of a domain, of a relation and of a column.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use utoipa::ToSchema;

/// Identity of one ask. Time-ordered (UUID version 7), made by the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = "uuid")]
pub struct AskId(uuid::Uuid);

impl AskId {
    /// A new identity for an ask that begins now.
    #[must_use]
    pub fn now() -> Self {
        Self(uuid::Uuid::now_v7())
    }

    /// How long ago it was made, by this machine's clock; none when it is no id of an ask, or of one to come.
    #[must_use]
    pub fn age(&self) -> Option<std::time::Duration> {
        let (seconds, nanoseconds) = self.0.get_timestamp()?.to_unix();
        let made = std::time::UNIX_EPOCH.checked_add(std::time::Duration::new(seconds, nanoseconds))?;
        made.elapsed().ok()
    }
}

impl fmt::Display for AskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text is not an ask's identity.
#[derive(Debug, Error)]
#[error("`{0}` is not an ask id: it looks like 0198c0de-0000-7000-8000-000000000000")]
pub struct AskIdError(String);

impl FromStr for AskId {
    type Err = AskIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| AskIdError(text.chars().take(64).collect()))
    }
}

/// SHA-256 of some content: a component, a pack, a text. Shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The first twelve digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// A text is not a SHA-256.
#[derive(Debug, Error)]
#[error("`{0}` is not a SHA-256: it has 64 hexadecimal digits")]
pub struct ContentHashError(String);

impl FromStr for ContentHash {
    type Err = ContentHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ContentHashError(text.chars().take(80).collect());
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (slot, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *slot = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Name of a domain: the folder of its pack. Lower-case letters, digits and hyphens, at most 63.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, pattern = "^[a-z][a-z0-9-]{0,62}$")]
pub struct DomainName(String);

impl DomainName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text is not a domain name.
#[derive(Debug, Error)]
#[error("`{0}` is not a domain name: use lower-case letters, digits and hyphens, at most 63, a letter first")]
pub struct DomainNameError(String);

impl FromStr for DomainName {
    type Err = DomainNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ok = text.len() <= 63
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if ok { Ok(Self(text.to_owned())) } else { Err(DomainNameError(text.chars().take(64).collect())) }
    }
}

impl<'de> Deserialize<'de> for DomainName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A relation as the catalogue spells it: never quoted, never folded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableRef {
    /// Schema.
    pub schema: String,
    /// Relation.
    pub name: String,
}

impl TableRef {
    /// The relation `name` in `schema`.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: schema.into(), name: name.into() }
    }
}

/// `schema.name`, for people; not SQL (nothing is quoted).
impl fmt::Display for TableRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// A column of a relation, as the catalogue spells it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ColumnRef {
    /// The relation.
    pub table: TableRef,
    /// The column.
    pub column: String,
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_from_its_own_digits() {
        let hash = ContentHash::of("airlock");
        assert_eq!(hash.to_string().parse::<ContentHash>().unwrap(), hash);
        for wrong in ["", "abc", &"g".repeat(64), &"é".repeat(32)] {
            assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn domain_names_are_folder_names() {
        for good in ["a", "hardware-shop", "d2"] {
            assert!(good.parse::<DomainName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "2d", "A", "a/b", "..", "a b", &"a".repeat(64)] {
            assert!(bad.parse::<DomainName>().is_err(), "{bad}");
        }
    }
}
