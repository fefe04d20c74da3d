//! Words that rows of the store hold, as types.

use airlock_types::{ContentHash, DomainName};
use tokio_postgres::Row;

use super::error::StoreError;

/// Makes an enum whose cases are words of a column.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$case:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$case])* $variant),+ }

        impl $name {
            /// Every case.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word on every surface.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => {
                        let known: Vec<&str> = Self::ALL.iter().map(|case| case.as_str()).collect();
                        let shown: String = text.chars().take(40).collect();
                        Err(format!("`{shown}` is none of {}", known.join(", ")))
                    }
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use words;

words! {
    /// What an item is.
    Kind {
        /// A question with the SQL that answers it.
        Example = "example",
        /// A lesson.
        Lesson = "lesson",
        /// A question whose right answer is known.
        Golden = "golden",
    }
}

words! {
    /// Where an item came from.
    Origin {
        /// A person wrote it.
        Person = "person",
        /// An ask that went well.
        Agent = "agent",
        /// The distill component, from a finished ask.
        Distilled = "distilled",
        /// Many signals together.
        Mined = "mined",
        /// A domain's adapter.
        Adapter = "adapter",
        /// Somebody's verdict on an answer.
        Feedback = "feedback",
        /// A list that was imported.
        Imported = "imported",
    }
}

/// A column as what it stands for.
pub(super) fn word<T: std::str::FromStr>(row: &Row, column: &str) -> Result<T, StoreError>
where
    T::Err: std::fmt::Display,
{
    let text: String = row.try_get(column).map_err(|error| unreadable(column, error))?;
    text.parse().map_err(|error| unreadable(column, error))
}

/// A column that may be NULL, as what it stands for.
pub(super) fn optional<T: std::str::FromStr>(row: &Row, column: &str) -> Result<Option<T>, StoreError>
where
    T::Err: std::fmt::Display,
{
    let text: Option<String> = row.try_get(column).map_err(|error| unreadable(column, error))?;
    text.map(|text| text.parse().map_err(|error| unreadable(column, error))).transpose()
}

/// A column as the driver reads it.
pub(super) fn get<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    column: &str,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(|error| unreadable(column, error))
}

/// A moment.
pub(super) fn moment(row: &Row, column: &str) -> Result<jiff::Timestamp, StoreError> {
    let time: std::time::SystemTime = get(row, column)?;
    time.try_into().map_err(|error| unreadable(column, error))
}

/// A moment that may be NULL.
pub(super) fn optional_moment(row: &Row, column: &str) -> Result<Option<jiff::Timestamp>, StoreError> {
    let time: Option<std::time::SystemTime> = get(row, column)?;
    time.map(|time| time.try_into().map_err(|error| unreadable(column, error))).transpose()
}

/// A moment as the driver writes it.
pub(super) fn system(moment: jiff::Timestamp) -> std::time::SystemTime {
    // A moment that no clock of this machine can show is before every row.
    moment.try_into().unwrap_or(std::time::SystemTime::UNIX_EPOCH)
}

/// Hash and domain of a row.
pub(super) fn hash(row: &Row) -> Result<ContentHash, StoreError> {
    word(row, "hash")
}

pub(super) fn domain(row: &Row) -> Result<DomainName, StoreError> {
    word(row, "domain")
}

pub(super) fn unreadable(column: &str, error: impl std::fmt::Display) -> StoreError {
    StoreError::Row(format!("column `{column}`: {error}"))
}
