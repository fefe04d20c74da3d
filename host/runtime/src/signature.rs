//! Signed statements: who vouches that these bytes may serve these stages with these imports.
//!
//! A signature is a file of its own beside a component, `NAME.wasm.sig`:
//!
//! ```json
//! {"statement":{"format":1,"contract":"airlock:plugin@0.1.0","grant":{"component":"..","digest":"..","stage":[..],..}},
//!  "key":"ed25519:<64 hexadecimal digits>","signature":"<128 hexadecimal digits>"}
//! ```
//!
//! What is signed is the line `airlock component statement 1`, a line feed, and the statement as JSON without white space, its
//! fields in the order above and those of the grant in the order of [`Grant`], absent ones left out, lists in the order of the
//! contract. The host's own grant still decides; it must not go beyond what was signed.

use std::fmt;
use std::str::FromStr;

use airlock_types::ContentHash;
use ed25519_dalek::{Signature as Ed25519, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::contract::{PACKAGE, VERSION};
use crate::grants::{DomainScope, Grant};

/// Ending of the file beside a component.
pub const ENDING: &str = "sig";
/// Bytes of a signature's file that are read.
pub const SIGNATURE_LIMIT: usize = 64 << 10;

const FORMAT: u32 = 1;
const PREFIX: &[u8] = b"airlock component statement 1\n";
const PUBLIC: &str = "ed25519:";
const SECRET: &str = "ed25519-secret:";

/// What is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    format: u32,
    contract: String,
    /// The most that the component may be and have, its digest included.
    pub grant: Grant,
}

/// A statement with the key that vouches for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The statement.
    pub statement: Statement,
    /// The key.
    pub key: TrustedKey,
    signature: String,
}

/// A public key that vouches for components.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TrustedKey(VerifyingKey);

/// A secret key. It has no `Debug`, and is cleared from memory when dropped.
pub struct SecretKey(SigningKey);

/// Whether signatures are asked for, and whose count. By default they are not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SignaturePolicy {
    /// Whether a component without a good one is refused.
    pub required: bool,
    /// The keys that count.
    pub trusted: Vec<TrustedKey>,
}

/// A text is no key.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// Not a public key.
    #[error("not a public key: `ed25519:` and 64 hexadecimal digits, as `airlock plugin keygen` prints it")]
    Public,
    /// Not a secret key.
    #[error(
        "not a secret key: `ed25519-secret:` and 64 hexadecimal digits, as `airlock plugin keygen` writes it"
    )]
    Secret,
}

/// Why a signature does not let a component in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignatureProblem {
    /// There is none.
    #[error(
        "this host loads signed components only (`plugins.require_signatures`), and there is no signature beside it: `airlock plugin sign` makes one, NAME.wasm.sig"
    )]
    Missing,
    /// Not what a signature looks like.
    #[error("its signature does not read: {0}; sign it again with this version of airlock")]
    Unreadable(String),
    /// Nobody this host trusts.
    #[error("it is signed by {key}, which `plugins.trusted_keys` does not name")]
    UnknownKey {
        /// The key.
        key: Box<TrustedKey>,
    },
    /// The signature is not of this statement.
    #[error("its signed statement was altered, or signed with another key than it names")]
    Forged,
    /// The statement is about other bytes.
    #[error("its signature is for other bytes, {signed}; the file has {found}: sign this very file")]
    OtherBytes {
        /// In the statement.
        signed: ContentHash,
        /// Of the bytes.
        found: ContentHash,
    },
    /// The statement is about another contract.
    #[error("it is signed for {signed}, this host offers {PACKAGE}@{VERSION}: build and sign it for that")]
    OtherContract {
        /// In the statement.
        signed: String,
    },
    /// The host's grant gives more than was signed.
    #[error("its grant gives {}, which its signed statement does not: take that out of the grant, or have it signed", .0.join(", "))]
    Beyond(Vec<String>),
}

impl Signed {
    /// Signs a statement about the component of a grant.
    #[must_use]
    pub fn new(grant: &Grant, key: &SecretKey) -> Self {
        let contract = format!("{PACKAGE}@{VERSION}");
        let statement = Statement { format: FORMAT, contract, grant: grant.clone() };
        let signature = hex(&key.0.sign(&statement.bytes()).to_bytes());
        Self { statement, key: key.public(), signature }
    }

    /// Reads the file beside a component.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &[u8]) -> Result<Self, SignatureProblem> {
        if text.len() > SIGNATURE_LIMIT {
            return Err(SignatureProblem::Unreadable(format!("it has more than {SIGNATURE_LIMIT} bytes")));
        }
        let signed: Self =
            serde_json::from_slice(text).map_err(|error| SignatureProblem::Unreadable(error.to_string()))?;
        match signed.statement.format {
            FORMAT => Ok(signed),
            other => Err(SignatureProblem::Unreadable(format!("its format is {other}, not {FORMAT}"))),
        }
    }

    /// The text of the file beside a component.
    ///
    /// # Errors
    /// When JSON cannot express it, which no grant brings about.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Whether the key it names signed this very statement.
    #[must_use]
    pub fn is_genuine(&self) -> bool {
        let signature = unhex::<64>(&self.signature).map(|bytes| Ed25519::from_bytes(&bytes));
        signature
            .is_some_and(|signature| self.key.0.verify_strict(&self.statement.bytes(), &signature).is_ok())
    }
}

impl Statement {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = PREFIX.to_vec();
        // A statement holds text, numbers and lists: JSON has words for all of it.
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes
    }
}

impl SignaturePolicy {
    /// Whether a component with these bytes may come in under this grant.
    ///
    /// # Errors
    /// When signatures are asked for, and this one is missing or not good enough.
    pub fn admit(
        &self,
        found: ContentHash,
        grant: &Grant,
        signature: Option<&[u8]>,
    ) -> Result<(), SignatureProblem> {
        if !self.required {
            return Ok(());
        }
        let signed = Signed::read(signature.ok_or(SignatureProblem::Missing)?)?;
        if !self.trusted.contains(&signed.key) {
            return Err(SignatureProblem::UnknownKey { key: Box::new(signed.key) });
        }
        if !signed.is_genuine() {
            return Err(SignatureProblem::Forged);
        }
        let statement = signed.statement;
        if statement.grant.digest != found {
            return Err(SignatureProblem::OtherBytes { signed: statement.grant.digest, found });
        }
        if !crate::load::offers_contract(&statement.contract) {
            return Err(SignatureProblem::OtherContract {
                signed: crate::bounds::line(&statement.contract, 256),
            });
        }
        let beyond = beyond(grant, &statement.grant);
        if beyond.is_empty() { Ok(()) } else { Err(SignatureProblem::Beyond(beyond)) }
    }
}

/// What a grant gives that another does not, in words.
fn beyond(grant: &Grant, signed: &Grant) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(grant.stages.difference(&signed.stages).map(|stage| format!("the stage `{stage}`")));
    if !signed.domains.contains(&DomainScope::Any) {
        let more = grant.domains.difference(&signed.domains);
        words.extend(more.map(|domain| format!("the domain `{domain}`")));
    }
    words.extend(grant.imports.difference(&signed.imports).map(|it| format!("the import `{}`", it.as_str())));
    let roles = grant.model_roles.difference(&signed.model_roles);
    words.extend(roles.map(|role| format!("the model role `{}`", role.as_str())));
    if grant.wasi.is_some() && grant.wasi != signed.wasi {
        words.push("a system interface".to_owned());
    }
    words
}

impl SecretKey {
    /// A key from 32 bytes of entropy.
    #[must_use]
    pub fn from_entropy(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The key that others trust.
    #[must_use]
    pub fn public(&self) -> TrustedKey {
        TrustedKey(self.0.verifying_key())
    }

    /// The text of a file that only its owner may read.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{SECRET}{}\n", hex(self.0.as_bytes()))
    }
}

impl FromStr for SecretKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let seed = text.trim().strip_prefix(SECRET).and_then(unhex::<32>);
        Ok(Self(SigningKey::from_bytes(&seed.ok_or(KeyError::Secret)?)))
    }
}

impl FromStr for TrustedKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = text.trim().strip_prefix(PUBLIC).and_then(unhex::<32>).ok_or(KeyError::Public)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::Public)?;
        // A key of small order verifies signatures that nobody made.
        if key.is_weak() { Err(KeyError::Public) } else { Ok(Self(key)) }
    }
}

impl fmt::Display for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", hex(self.0.as_bytes()))
    }
}

impl fmt::Debug for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for TrustedKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TrustedKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; N];
    for (slot, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *slot = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use crate::grants::{Import, ModelRole, Stage};

    use super::*;

    fn key(seed: u8) -> SecretKey {
        SecretKey::from_entropy(&[seed; 32])
    }

    fn grant(bytes: &str) -> Grant {
        let mut grant = Grant::of_nothing("acme", ContentHash::of(bytes));
        grant.stages.insert(Stage::Repair);
        grant.domains.insert("shop".parse().map(DomainScope::Only).unwrap());
        grant.imports = [Import::Log, Import::Sql].into();
        grant
    }

    fn policy() -> SignaturePolicy {
        SignaturePolicy { required: true, trusted: vec![key(1).public()] }
    }

    fn file(grant: &Grant, seed: u8) -> String {
        Signed::new(grant, &key(seed)).to_json().unwrap()
    }

    #[test]
    fn what_was_signed_comes_in_and_less_than_that_too() {
        let (grant, found) = (grant("bytes"), ContentHash::of("bytes"));
        let text = file(&grant, 1);
        assert_eq!(policy().admit(found, &grant, Some(text.as_bytes())), Ok(()));
        let less = Grant { imports: [Import::Log].into(), ..grant.clone() };
        assert_eq!(policy().admit(found, &less, Some(text.as_bytes())), Ok(()));
        // White space is no part of what was signed.
        let squeezed: String = text.split_whitespace().collect();
        assert_eq!(policy().admit(found, &grant, Some(squeezed.as_bytes())), Ok(()));
        assert_eq!(SignaturePolicy::default().admit(found, &grant, None), Ok(()), "off unless asked for");
    }

    #[test]
    fn everything_else_stays_out_and_is_told_why() {
        let (own, found) = (grant("bytes"), ContentHash::of("bytes"));
        let good = file(&own, 1);
        let admit = |grant: &Grant, found, text: Option<&str>| {
            policy().admit(found, grant, text.map(str::as_bytes)).unwrap_err()
        };
        assert_eq!(admit(&own, found, None), SignatureProblem::Missing);
        assert_eq!(
            admit(&own, found, Some(&file(&own, 2))),
            SignatureProblem::UnknownKey { key: Box::new(key(2).public()) }
        );
        // Another's statement under the name of a trusted key.
        let renamed = file(&own, 2).replace(&key(2).public().to_string(), &key(1).public().to_string());
        assert_eq!(admit(&own, found, Some(&renamed)), SignatureProblem::Forged);
        // An altered statement, and an altered signature.
        for (from, to) in [("repair", "planner"), ("\"sql\"", "\"catalog\""), ("shop", "*")] {
            let altered = good.replacen(from, to, 1);
            assert_ne!(altered, good, "{from}");
            assert_eq!(admit(&own, found, Some(&altered)), SignatureProblem::Forged, "{from}");
        }
        // An altered file; another component with a signature of ours.
        let other = ContentHash::of("other bytes");
        let replayed = Grant { digest: other, ..own.clone() };
        assert_eq!(
            admit(&replayed, other, Some(&good)),
            SignatureProblem::OtherBytes { signed: found, found: other }
        );
        // A grant that gives what was not signed.
        let mut more = own.clone();
        more.stages.insert(Stage::Planner);
        more.domains.insert(DomainScope::Any);
        more.imports.insert(Import::Catalog);
        more.model_roles.insert(ModelRole::Fast);
        let beyond = admit(&more, found, Some(&good)).to_string();
        for word in ["stage `planner`", "domain `*`", "import `catalog`", "role `fast`"] {
            assert!(beyond.contains(word), "{beyond}");
        }
        for text in
            ["", "{}", &good.replace("\"format\": 1", "\"format\": 2"), &"x".repeat(SIGNATURE_LIMIT + 1)]
        {
            assert!(matches!(admit(&own, found, Some(text)), SignatureProblem::Unreadable(_)), "{text:.20}");
        }
    }

    #[test]
    fn what_is_signed_never_changes_by_itself() {
        let statement = Signed::new(&grant("bytes"), &key(1)).statement;
        let digest = ContentHash::of("bytes");
        let want = format!(
            "airlock component statement 1\n{{\"format\":1,\"contract\":\"{PACKAGE}@{VERSION}\",\"grant\":{{\"component\":\"acme\",\
             \"digest\":\"{digest}\",\"stage\":[\"repair\"],\"domains\":[\"shop\"],\"imports\":[\"sql\",\"log\"],\"model_roles\":[]}}}}"
        );
        assert_eq!(String::from_utf8(statement.bytes()).unwrap(), want);
    }

    #[test]
    fn keys_read_back() {
        let secret: SecretKey = key(7).reveal().parse().unwrap();
        assert_eq!(secret.public(), key(7).public());
        assert_eq!(key(7).public().to_string().parse(), Ok(key(7).public()));
        let weak = format!("ed25519:01{}", "0".repeat(62));
        for wrong in ["", "ed25519:", "ed25519:zz", &weak, &key(7).reveal()] {
            assert_eq!(wrong.parse::<TrustedKey>(), Err(KeyError::Public), "{wrong}");
        }
    }
}
