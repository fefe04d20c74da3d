//! The URI form: `postgresql://user:password@host1:5432,host2/database?name=value`.

use super::ConnectionStringError;

/// Splits a URI into the pairs that the other form would have, and says how many of them stand before the `?`.
pub(super) fn pairs(text: &str) -> Result<(Vec<(String, String)>, usize), ConnectionStringError> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let (authority, database) = match rest.split_once('/') {
        Some((authority, database)) => (authority, Some(database)),
        None => (rest, None),
    };
    let mut pairs = Vec::new();
    let hosts = match authority.split_once('@') {
        None => authority,
        Some((credentials, hosts)) => {
            let (user, password) = match credentials.split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (credentials, None),
            };
            push(&mut pairs, "user", decode(user, "user")?);
            if let Some(password) = password {
                push(&mut pairs, "password", decode(password, "password")?);
            }
            hosts
        }
    };
    if hosts.contains('@') {
        return Err(ConnectionStringError::Part {
            part: "part before the host",
            remedy: "write an @ in a user name or password as %40",
        });
    }
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    if !hosts.is_empty() {
        for host in hosts.split(',') {
            let (name, port) = host_and_port(host)?;
            names.push(decode(name, "host")?);
            ports.push(decode(port, "port")?);
        }
        // A comma inside an escape would make two hosts of one.
        if names.iter().any(|name| name.contains(',')) {
            return Err(ConnectionStringError::Part { part: "host", remedy: "a host has no comma" });
        }
        push(&mut pairs, "host", names.join(","));
        push(&mut pairs, "port", ports.join(","));
    }
    if let Some(database) = database {
        push(&mut pairs, "dbname", decode(database, "database")?);
    }
    pairs.retain(|(_, value)| !value.is_empty());
    let implied = pairs.len();
    for (index, parameter) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        if parameter.is_empty() {
            continue;
        }
        let malformed = ConnectionStringError::Malformed { ordinal: index + 1 };
        let (name, value) = parameter.split_once('=').ok_or(malformed.clone())?;
        if value.contains('=') {
            return Err(malformed);
        }
        let (name, value) = (decode(name, "name of a parameter")?, decode(value, "value of a parameter")?);
        // `?host=` replaces the host before it, the way libpq lets the last one win.
        if let Some(earlier) = pairs.iter_mut().take(implied).find(|(known, _)| *known == name) {
            earlier.1 = value;
        } else {
            pairs.push((name, value));
        }
    }
    Ok((pairs, implied))
}

fn push(pairs: &mut Vec<(String, String)>, name: &str, value: String) {
    pairs.push((name.to_owned(), value));
}

fn host_and_port(host: &str) -> Result<(&str, &str), ConnectionStringError> {
    let wrong = ConnectionStringError::Part {
        part: "host",
        remedy: "write host, host:port, [IPv6]:port, or a socket directory with / as %2F",
    };
    if let Some(inner) = host.strip_prefix('[') {
        let (address, after) = inner.split_once(']').ok_or(wrong.clone())?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((address, port)),
            None if after.is_empty() => Ok((address, "")),
            None => Err(wrong),
        };
    }
    match host.split_once(':') {
        Some((_, port)) if port.contains(':') => Err(wrong),
        Some(pair) => Ok(pair),
        None => Ok((host, "")),
    }
}

/// Undoes percent-encoding. A `+` is a `+`.
fn decode(text: &str, part: &'static str) -> Result<String, ConnectionStringError> {
    let wrong = || ConnectionStringError::Escape { part };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|d| char::from(d).to_digit(16)).ok_or_else(wrong);
        let value = digit()? * 16 + digit()?;
        match u8::try_from(value) {
            Ok(value) if value != 0 => bytes.push(value),
            _ => return Err(wrong()),
        }
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}
