//! `[server]`: where it listens, who may come in, and how much at once.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

use super::{ConfigError, within};

/// The section as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerTable {
    pub(super) listen: Option<String>,
    ask_deadline_seconds: Option<u64>,
    asks_at_once: Option<usize>,
    pub(super) data: Option<PathBuf>,
    pub(super) operator_socket: Option<PathBuf>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    behind_tls_proxy: bool,
    names: Vec<String>,
    require_key: Option<bool>,
    limits: LimitsTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsTable {
    requests_per_minute: Option<u64>,
    unknown_keys_per_minute: Option<u64>,
}

/// Where the server listens when nothing says otherwise.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:8080";
/// Keys of one address in a minute that were not seen to be good, when nothing says otherwise.
const UNKNOWN_KEYS: u32 = 20;

/// Who may come in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessSettings {
    /// Certificate chain and key, both PEM.
    pub tls: Option<TlsFiles>,
    /// Whether a proxy in front speaks TLS to the world and says in `X-Forwarded-For` who asks.
    pub behind_tls_proxy: bool,
    /// Names under which clients address this server, as a `Host` header has them.
    pub names: Vec<String>,
    /// Whether everybody needs a key; when nothing is said, everybody but those on this machine.
    pub require_key: Option<bool>,
    /// How much at once.
    pub limits: Limits,
}

/// Files of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain, the server's own certificate first.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// How much one caller may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests of one caller in a minute; any number when there is no limit.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Keys of one address in a minute that this host has not seen to be good: what comes after has to wait.
    pub unknown_keys_per_minute: NonZeroU32,
}

impl Default for Limits {
    fn default() -> Self {
        let unknown_keys_per_minute = NonZeroU32::new(UNKNOWN_KEYS).unwrap_or(NonZeroU32::MIN);
        Self { requests_per_minute: None, unknown_keys_per_minute }
    }
}

/// An address that nobody may listen on as the server is configured.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "server.listen: {0} can be reached from other machines, where keys and answers must not travel in the clear: give \
     server.tls_certificate and server.tls_key, or say server.behind_tls_proxy = true if a proxy in front speaks TLS; or \
     listen on a loopback address such as {DEFAULT_LISTEN}"
)]
pub struct InTheClear(pub SocketAddr);

impl AccessSettings {
    /// Refuses an address that other machines reach while nobody has said how what travels there is kept secret.
    ///
    /// # Errors
    /// [`InTheClear`], naming the keys to set.
    pub fn allow(&self, address: SocketAddr) -> Result<(), InTheClear> {
        let secret = self.tls.is_some() || self.behind_tls_proxy || is_loopback(address.ip());
        if secret { Ok(()) } else { Err(InTheClear(address)) }
    }

    /// Whether a request must name the server as it is called: on this machine, where a page could come in by another name
    /// and need no key.
    pub fn own_name_only(address: SocketAddr) -> bool {
        is_loopback(address.ip())
    }

    /// Whether somebody without a key is let in at this address, as somebody on this machine. What a proxy brings is not
    /// from this machine.
    pub fn keyless(&self, address: SocketAddr) -> bool {
        is_loopback(address.ip()) && !self.behind_tls_proxy && self.require_key != Some(true)
    }
}

/// Whether only this machine reaches an address.
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// What the section means, for the parts that [`super::Config`] holds by themselves.
pub(super) struct Resolved {
    pub listen: SocketAddr,
    pub ask_deadline: Duration,
    pub asks_at_once: usize,
    pub access: AccessSettings,
}

impl ServerTable {
    /// Gives meaning to what was written.
    ///
    /// # Errors
    /// Naming the key.
    pub(super) fn resolve(
        &self,
        base: &Path,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Resolved, ConfigError> {
        let listen = variable("AIRLOCK_LISTEN").or_else(|| self.listen.clone());
        let listen = parse_listen(listen.as_deref().unwrap_or(DEFAULT_LISTEN))?;
        let key = |key: &str| format!("server.{key}");
        let deadline = within(self.ask_deadline_seconds, 120, 1, 3_600, key("ask_deadline_seconds"))?;
        let asks = within(self.asks_at_once.map(|n| n as u64), 64, 1, 1_024, key("asks_at_once"))?;
        let tls = match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(TlsFiles { certificate: base.join(certificate), key: base.join(key) })
            }
            (None, None) => None,
            _ => return Err(ConfigError::HalfCertificate),
        };
        if let Some(name) = self.names.iter().find(|name| !is_host(name)) {
            return Err(ConfigError::ServerName(name.chars().take(80).collect()));
        }
        let requests =
            within(self.limits.requests_per_minute, 0, 0, 1_000_000, key("limits.requests_per_minute"))?;
        let unknown = within(
            self.limits.unknown_keys_per_minute,
            u64::from(UNKNOWN_KEYS),
            1,
            10_000,
            key("limits.unknown_keys_per_minute"),
        )?;
        let number = |n: u64| NonZeroU32::new(u32::try_from(n).unwrap_or(u32::MAX));
        Ok(Resolved {
            listen,
            ask_deadline: Duration::from_secs(deadline),
            asks_at_once: usize::try_from(asks).unwrap_or(64),
            access: AccessSettings {
                tls,
                behind_tls_proxy: self.behind_tls_proxy,
                names: self.names.clone(),
                require_key: self.require_key,
                limits: Limits {
                    requests_per_minute: number(requests),
                    unknown_keys_per_minute: number(unknown).unwrap_or(NonZeroU32::MIN),
                },
            },
        })
    }
}

/// Whether a text can stand in a `Host` header: a name or an address, and a port where it is not the usual one.
fn is_host(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    (1..=260).contains(&name.len()) && name.chars().all(word)
}

/// Reads an address to listen on.
///
/// # Errors
/// When it is none.
pub fn parse_listen(text: &str) -> Result<SocketAddr, ConfigError> {
    text.parse().map_err(|_| ConfigError::Listen(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<Resolved, ConfigError> {
        let table: ServerTable = toml::from_str(text).unwrap();
        table.resolve(Path::new("/etc/airlock"), &|_: &str| None)
    }

    #[test]
    fn what_other_machines_reach_is_secret_or_refused() {
        let tls = "tls_certificate = \"c.pem\"\ntls_key = \"k.pem\"";
        for (text, address, allowed, keyless) in [
            ("", "127.0.0.1:8080", true, true),
            ("", "[::1]:8080", true, true),
            ("", "[::ffff:127.0.0.1]:8080", true, true),
            ("", "0.0.0.0:8080", false, false),
            ("", "192.0.2.1:8080", false, false),
            (tls, "0.0.0.0:8080", true, false),
            (tls, "127.0.0.1:8080", true, true),
            ("behind_tls_proxy = true", "0.0.0.0:8080", true, false),
            ("behind_tls_proxy = true", "127.0.0.1:8080", true, false),
            ("require_key = true", "127.0.0.1:8080", true, false),
            ("require_key = false", "0.0.0.0:8080", false, false),
            ("require_key = false\nbehind_tls_proxy = true", "0.0.0.0:8080", true, false),
        ] {
            let (access, address) = (resolve(text).unwrap().access, address.parse().unwrap());
            assert_eq!(access.allow(address).is_ok(), allowed, "{text:?} {address}");
            assert_eq!(access.keyless(address), keyless, "{text:?} {address}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, want) in [
            ("tls_key = \"k.pem\"", "server.tls_certificate and server.tls_key"),
            ("names = [\"https://data.example\"]", "server.names"),
            ("names = [\"\"]", "server.names"),
            ("[limits]\nunknown_keys_per_minute = 0", "server.limits.unknown_keys_per_minute"),
            ("[limits]\nrequests_per_minute = 1000001", "server.limits.requests_per_minute"),
            ("ask_deadline_seconds = 0", "server.ask_deadline_seconds"),
            ("listen = \"localhost\"", "server.listen"),
        ] {
            let error = resolve(text).err().unwrap().to_string();
            assert!(error.contains(want), "{text:?}: {error}");
        }
        let limits = resolve("[limits]\nrequests_per_minute = 600").unwrap().access.limits;
        assert_eq!(limits.requests_per_minute, NonZeroU32::new(600));
        assert_eq!(resolve("").unwrap().access, AccessSettings::default());
        assert!(resolve("names = [\"data.example\", \"192.0.2.1:8443\", \"[2001:db8::1]:8443\"]").is_ok());
    }
}
