//! From pairs of names and values to what they mean.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{
    Address, ChannelBinding, ConnectionString, ConnectionStringError, Password, RootCertificates,
    SessionTarget, SslMode,
};

/// Names that are read below.
const SERVED: &[&str] = &[
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "connect_timeout",
    "options",
    "application_name",
    "fallback_application_name",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "channel_binding",
    "target_session_attrs",
];

/// Names of libpq that change nothing here: tuning of the socket, or what this client always does.
const WITHOUT_EFFECT: &[&str] = &[
    "client_encoding",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
    "gssencmode",
    "gsslib",
    "gssdelegation",
    "krbsrvname",
    "sslcompression",
    "sslsni",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
    "load_balance_hosts",
    "min_protocol_version",
    "max_protocol_version",
    "sslcertmode",
];

/// Names whose silent loss would weaken what was asked for.
const REFUSED: &[(&str, &str)] = &[
    ("service", "write the parameters of the service"),
    ("servicefile", "write the parameters of the service"),
    ("passfile", "give the password, or let the server trust the socket"),
    ("sslpassword", "use a key without a pass phrase"),
    ("sslcrl", "revocation lists are not read; leave it out"),
    ("sslcrldir", "revocation lists are not read; leave it out"),
    ("sslnegotiation", "leave it out: TLS is negotiated the ordinary way"),
    ("requirepeer", "leave it out"),
    ("require_auth", "leave it out, or use channel_binding=require"),
    ("replication", "leave it out"),
    ("scram_client_key", "give the password"),
    ("scram_server_key", "give the password"),
    ("oauth_issuer", "give a password or a client certificate"),
    ("oauth_client_id", "give a password or a client certificate"),
];

/// Values of names without effect that ask for more than there is: name, value, what to do instead.
const REFUSED_VALUES: &[(&str, &str, &str)] = &[
    ("gssencmode", "require", "there is no encryption by GSSAPI; use sslmode=verify-full, or require"),
    ("sslcertmode", "require", "leave it out"),
    ("ssl_min_protocol_version", "TLSv1.3", "leave it out: the newest that both sides know is used"),
];

const DEFAULT_PORT: u16 = 5432;
const DEFAULT_SOCKETS: &str = "/var/run/postgresql";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Resolves pairs; the last one of a name wins. The first `implied` ones have no name in the text.
pub(super) fn resolve(
    pairs: Vec<(String, String)>,
    implied: usize,
) -> Result<ConnectionString, ConnectionStringError> {
    let mut given = HashMap::new();
    for (index, (name, value)) in pairs.into_iter().enumerate() {
        if let Some((keyword, remedy)) = REFUSED.iter().find(|(keyword, _)| *keyword == name) {
            return Err(ConnectionStringError::Unsupported { keyword, remedy });
        }
        let asks_too_much = |(keyword, refused, _): &&(&str, &str, &str)| {
            *keyword == name && refused.eq_ignore_ascii_case(&value)
        };
        if let Some((keyword, _, remedy)) = REFUSED_VALUES.iter().find(asks_too_much) {
            return Err(ConnectionStringError::Unsupported { keyword, remedy });
        }
        // JDBC's spelling, which libpq reads in URIs.
        let (name, value) = match (name.as_str(), value.as_str()) {
            ("ssl", "true") => ("sslmode".to_owned(), "require".to_owned()),
            _ => (name, value),
        };
        if SERVED.contains(&name.as_str()) {
            given.insert(name, value);
        } else if !WITHOUT_EFFECT.contains(&name.as_str()) {
            return Err(ConnectionStringError::UnknownParameter {
                ordinal: (index + 1).saturating_sub(implied),
            });
        }
    }
    let mut take = |name: &str| given.remove(name).filter(|value| !value.is_empty());

    let addresses = addresses(take("host"), take("hostaddr"), take("port"))?;
    let user = match take("user") {
        Some(user) => user,
        None => std::env::var("USER")
            .ok()
            .filter(|user| !user.is_empty())
            .ok_or(ConnectionStringError::Part { part: "user", remedy: "name the role to connect as" })?,
    };
    let root = take("sslrootcert");
    let mut ssl_mode = match take("sslmode").as_deref() {
        // A root that the system trusts is trusted for any name, so only a checked name means something.
        None if root.as_deref() == Some("system") => SslMode::VerifyFull,
        None => SslMode::default(),
        Some("disable") => SslMode::Disable,
        Some("allow") => SslMode::Allow,
        Some("prefer") => SslMode::Prefer,
        Some("require") => SslMode::Require,
        Some("verify-ca") => SslMode::VerifyCa,
        Some("verify-full") => SslMode::VerifyFull,
        Some(_) => {
            return Err(ConnectionStringError::Part {
                part: "sslmode",
                remedy: "it is one of disable, allow, prefer, require, verify-ca, verify-full",
            });
        }
    };
    let root_certificates = match root {
        None => RootCertificates::System,
        Some(name) if name == "system" => RootCertificates::System,
        Some(path) => {
            // As libpq does: who names a root wants it checked.
            if ssl_mode == SslMode::Require {
                ssl_mode = SslMode::VerifyCa;
            }
            RootCertificates::File(PathBuf::from(path))
        }
    };
    let client_certificate = match (take("sslcert"), take("sslkey")) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some((PathBuf::from(certificate), PathBuf::from(key))),
        _ => {
            return Err(ConnectionStringError::Part {
                part: "client certificate",
                remedy: "give both sslcert and sslkey",
            });
        }
    };
    let channel_binding = match take("channel_binding").as_deref() {
        None | Some("prefer") => ChannelBinding::Prefer,
        Some("disable") => ChannelBinding::Disable,
        Some("require") => ChannelBinding::Require,
        Some(_) => {
            return Err(ConnectionStringError::Part {
                part: "channel_binding",
                remedy: "it is one of disable, prefer, require",
            });
        }
    };
    let session_target = match take("target_session_attrs").as_deref() {
        None | Some("any") => SessionTarget::Any,
        Some("read-write") => SessionTarget::ReadWrite,
        Some("read-only") => SessionTarget::ReadOnly,
        Some("primary") => SessionTarget::Primary,
        Some("standby") => SessionTarget::Standby,
        Some("prefer-standby") => SessionTarget::PreferStandby,
        Some(_) => {
            return Err(ConnectionStringError::Part {
                part: "target_session_attrs",
                remedy: "it is one of any, read-write, read-only, primary, standby, prefer-standby",
            });
        }
    };
    Ok(ConnectionString {
        addresses,
        password: take("password").map(Password),
        database: take("dbname").unwrap_or_else(|| user.clone()),
        user,
        options: take("options"),
        application_name: take("application_name")
            .or_else(|| take("fallback_application_name"))
            .unwrap_or_else(|| "airlock".to_owned()),
        connect_timeout: timeout(take("connect_timeout"))?,
        ssl_mode,
        root_certificates,
        client_certificate,
        channel_binding,
        session_target,
    })
}

fn timeout(value: Option<String>) -> Result<Duration, ConnectionStringError> {
    let Some(value) = value else { return Ok(DEFAULT_TIMEOUT) };
    match value.trim().parse::<i64>() {
        Err(_) => {
            Err(ConnectionStringError::Part { part: "connect_timeout", remedy: "it is a number of seconds" })
        }
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.unsigned_abs()).min(LONGEST_TIMEOUT)),
        // libpq: zero and below wait for ever. A host that never answers must not hold a caller for ever.
        Ok(_) => Ok(LONGEST_TIMEOUT),
    }
}

fn addresses(
    hosts: Option<String>,
    ips: Option<String>,
    ports: Option<String>,
) -> Result<Vec<Address>, ConnectionStringError> {
    let split = |list: &Option<String>| -> Vec<String> {
        list.as_ref()
            .map(|list| list.split(',').map(|item| item.trim().to_owned()).collect())
            .unwrap_or_default()
    };
    let (hosts, ips, ports) = (split(&hosts), split(&ips), split(&ports));
    if !hosts.is_empty() && !ips.is_empty() && hosts.len() != ips.len() {
        return Err(ConnectionStringError::Part { part: "hostaddr", remedy: "give one for each host" });
    }
    let count = hosts.len().max(ips.len()).max(1);
    if count > 32 {
        return Err(ConnectionStringError::Part { part: "host", remedy: "at most 32 hosts" });
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(ConnectionStringError::Part {
            part: "port",
            remedy: "give one port, or one for each host",
        });
    }
    (0..count)
        .map(|index| {
            let port = match ports.get(index).or_else(|| ports.first()).map(String::as_str) {
                None | Some("") => DEFAULT_PORT,
                Some(text) => {
                    text.parse().ok().filter(|port| *port != 0).ok_or(ConnectionStringError::Part {
                        part: "port",
                        remedy: "it is a number from 1 to 65535",
                    })?
                }
            };
            let ip = match ips.get(index).map(String::as_str) {
                None | Some("") => None,
                Some(text) => Some(text.parse().map_err(|_| ConnectionStringError::Part {
                    part: "hostaddr",
                    remedy: "it is an IPv4 or IPv6 address",
                })?),
            };
            let host = hosts.get(index).map_or("", String::as_str);
            address(host, ip, port)
        })
        .collect()
}

fn address(host: &str, ip: Option<std::net::IpAddr>, port: u16) -> Result<Address, ConnectionStringError> {
    if host.starts_with('/') {
        // The kernel holds 107 bytes; a longer path fails there with words nobody understands.
        if host.len() + "/.s.PGSQL.65535".len() > 107 {
            return Err(ConnectionStringError::Part {
                part: "host",
                remedy: "the path of a socket is too long",
            });
        }
        return Ok(Address::Socket { directory: PathBuf::from(host), port });
    }
    if host.starts_with('@') {
        return Err(ConnectionStringError::Part {
            part: "host",
            remedy: "abstract sockets are not supported",
        });
    }
    if host.contains(|c: char| c.is_whitespace() || matches!(c, '@' | '/' | '?' | '#')) {
        return Err(ConnectionStringError::Part {
            part: "host",
            remedy: "a host name has none of @ / ? # or a space (percent-encode them in a password)",
        });
    }
    if host.is_empty() && ip.is_none() {
        return Ok(if Path::new(DEFAULT_SOCKETS).is_dir() {
            Address::Socket { directory: PathBuf::from(DEFAULT_SOCKETS), port }
        } else {
            Address::Tcp { host: "localhost".to_owned(), ip: None, port }
        });
    }
    let host = match (host, ip) {
        ("", Some(ip)) => ip.to_string(),
        (host, _) => host.to_owned(),
    };
    Ok(Address::Tcp { host, ip, port })
}
