//! A password that cannot be printed.

use std::fmt;

use airlock_types::ContentHash;

/// A password. `Debug` shows `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text as a password; outer white space (a newline from a file) is dropped.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// A new one, of 244 random bits.
    #[must_use]
    pub fn random() -> Self {
        Self(format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple()))
    }

    /// Another secret that only who knows this one can compute: the same for the same purpose, so it need not be kept.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> Self {
        Self(ContentHash::of(format!("{}\0{purpose}", self.0)).to_string())
    }

    /// The password itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What PostgreSQL stores instead of the password. Statements carry this, so that neither a server's log nor a
    /// printed plan tells the password.
    #[must_use]
    pub fn verifier(&self) -> String {
        postgres_protocol::password::scram_sha_256(self.0.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show_itself() {
        let secret = Secret::new("hunter2\n");
        assert_eq!(secret.reveal(), "hunter2");
        assert_eq!(format!("{secret:?}"), "***");
        assert!(!secret.verifier().contains("hunter2"));
        assert!(secret.verifier().starts_with("SCRAM-SHA-256$"));
    }

    #[test]
    fn derived_secrets_are_stable_and_apart() {
        let (one, other) = (Secret::random(), Secret::random());
        assert_ne!(one, other);
        assert_eq!(one.derive("reader"), one.derive("reader"));
        assert_ne!(one.derive("reader"), one.derive("log"));
        assert_ne!(one.derive("reader"), other.derive("reader"));
    }
}
