//! An API key that cannot be printed.

use std::fmt;

use serde::Deserialize;

/// An API key. `Debug` and every error show `***`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// Takes a text as a key; outer white space (a newline from a file) is dropped.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The key itself, for the one header it goes into.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with the key cut out, should a provider echo it.
    pub(crate) fn mask(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
