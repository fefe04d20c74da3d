//! What opens a door: a key, a session, the word its forms carry. Made from the system's randomness, shown once, and known
//! to the store by its hash alone.

use std::fmt;

use airlock_types::ContentHash;
use thiserror::Error;

/// What every key begins with, so that a scanner for leaked secrets finds it and a person knows what it opens.
const PREFIX: &str = "airlock_";
/// Bytes of randomness: as much as the hash that the store has of it.
const BYTES: usize = 32;

/// A secret of 256 random bits. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The system has no randomness to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this system gives no random bytes: a key cannot be made")]
pub struct NoRandomness;

impl Token {
    /// A new key.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn new_key() -> Result<Self, NoRandomness> {
        Ok(Self(format!("{PREFIX}{}", random()?)))
    }

    /// The secret of a new session.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn new_session() -> Result<Self, NoRandomness> {
        random().map(Self)
    }

    /// A text that has the form of a key. What has not is none, and nobody is asked about it.
    pub fn key(text: &str) -> Option<Self> {
        text.strip_prefix(PREFIX).filter(|rest| is_random(rest)).map(|_| Self(text.to_owned()))
    }

    /// A text that has the form of a session's secret.
    pub fn session(text: &str) -> Option<Self> {
        is_random(text).then(|| Self(text.to_owned()))
    }

    /// What forms of this session must carry. A page learns it from an answer that no other site may read; it tells nothing
    /// of the session itself.
    pub fn csrf(&self) -> Self {
        Self(ContentHash::of(format!("csrf\0{}", self.0)).to_string())
    }

    /// What the store knows it by. So much randomness needs no salt and no slow hash.
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(&self.0)
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

fn random() -> Result<String, NoRandomness> {
    let mut bytes = [0; BYTES];
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn is_random(text: &str) -> bool {
    text.len() == 2 * BYTES && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_random_recognised_and_never_shown_by_accident() {
        let (one, other) = (Token::new_key().unwrap(), Token::new_key().unwrap());
        assert_ne!(one, other);
        assert_eq!(Token::key(one.reveal()), Some(one.clone()));
        assert!(!format!("{one:?}").contains(&one.reveal()[PREFIX.len()..]));
        let session = Token::new_session().unwrap();
        assert_eq!(Token::session(session.reveal()), Some(session.clone()));
        assert_ne!(session.csrf(), session);
        assert_eq!(session.csrf(), Token::session(session.reveal()).unwrap().csrf());
        for text in ["", "airlock_", "airlock_short", session.reveal(), &one.reveal().to_uppercase()] {
            assert_eq!(Token::key(text), None, "{text}");
        }
        assert_eq!(Token::session(one.reveal()), None);
    }
}
