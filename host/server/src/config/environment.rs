//! Variables of the environment that begin with AIRLOCK_: each is known, or a mistake that would go unnoticed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use airlock_knowledge::pack::nearest;
use airlock_setup::store::DUTIES;
use toml::{Table, Value};

use super::ConfigError;
use super::store::variable_of;

const PREFIX: &str = "AIRLOCK_";

/// Those that this binary reads, beside the passwords of the store's roles.
const KNOWN: [&str; 15] = [
    "AIRLOCK_ADMIN_URL",
    "AIRLOCK_CONFIG",
    "AIRLOCK_DATABASE_URL",
    "AIRLOCK_EMBEDDER",
    "AIRLOCK_KEY",
    "AIRLOCK_LISTEN",
    "AIRLOCK_LOG",
    "AIRLOCK_LOG_FORMAT",
    "AIRLOCK_MODEL",
    "AIRLOCK_MODEL_DEADLINE_SECONDS",
    "AIRLOCK_MODEL_KEY",
    "AIRLOCK_MODEL_URL",
    "AIRLOCK_READER_PASSWORD",
    "AIRLOCK_SERVER",
    "AIRLOCK_STORE_URL",
];

/// The variables of an environment.
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Those that this process was started with.
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    #[cfg(test)]
    pub fn of(variables: &[(&str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// What a variable holds, if it is set to a text.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.0.get(OsStr::new(name))?.to_str().map(str::to_owned)
    }

    /// Whether Kubernetes set it, for a service whose name begins with airlock: it sets the service's address with all others.
    fn is_of_kubernetes(&self, name: &str) -> bool {
        service_of(name).is_some_and(|service| {
            let address = format!("{service}_SERVICE_HOST");
            self.0.contains_key(OsStr::new(&address))
        })
    }

    /// Refuses a variable that nothing reads, or nothing can. What the file names by a key that ends with `_env` is known,
    /// too.
    ///
    /// # Errors
    /// With the first that is unknown, and what may have been meant.
    pub fn check(&self, file: &Table) -> Result<(), ConfigError> {
        let mut known: Vec<String> = KNOWN.iter().map(|name| (*name).to_owned()).collect();
        known.extend(DUTIES.iter().map(|duty| variable_of(duty)));
        named(file, &mut known);
        for (name, value) in &self.0 {
            if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
                continue;
            }
            let wrong = |hint: &str| {
                let name = name.to_string_lossy().into_owned();
                Err(ConfigError::Variable { name, hint: hint.to_owned() })
            };
            let Some(name) = name.to_str() else { return wrong("its name is no text in UTF-8: unset it") };
            if self.is_of_kubernetes(name) {
                continue;
            }
            if !known.iter().any(|known| known == name) {
                // What all of them begin with makes no two of them alike.
                let known = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
                return match name.strip_prefix(PREFIX).and_then(|name| nearest(name, known)) {
                    Some(near) => wrong(&format!("did you mean {PREFIX}{near}?")),
                    None => wrong("unset it; the variables there are stand in docs/configuration.md"),
                };
            }
            if value.to_str().is_none() {
                return wrong("what it holds is no text in UTF-8");
            }
        }
        Ok(())
    }
}

/// The service of which Kubernetes would set a variable of this name, in every container beside it.
fn service_of(name: &str) -> Option<&str> {
    let port = |rest: &str| {
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        digits.len() < rest.len() && digits.starts_with('_')
    };
    let numbered = || {
        let mut found =
            name.match_indices("_PORT_").filter(|(at, part)| name.get(at + part.len()..).is_some_and(port));
        found.next().and_then(|(at, _)| name.get(..at))
    };
    let ends = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT"];
    let named = || name.split_once("_SERVICE_PORT_").map(|(service, _)| service);
    ends.iter().find_map(|end| name.strip_suffix(end)).or_else(named).or_else(numbered)
}

/// Refuses a key whose value is given twice: in its place, and by the name of a variable that holds it.
///
/// # Errors
/// With the first such key.
pub fn once(above: &str, table: &Table) -> Result<(), ConfigError> {
    for (key, value) in table {
        let whole = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Value::Table(table) => once(&whole, table)?,
            Value::String(_) if table.get(&format!("{key}_env")).is_some_and(Value::is_str) => {
                return Err(ConfigError::Twice(whole));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The variables that a file names.
fn named(table: &Table, known: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            Value::Table(table) => named(table, known),
            Value::String(name) if key.ends_with("_env") => known.push(name.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_variable_that_nothing_reads_is_a_mistake_with_a_suggestion() {
        let file: Table = "[sources.shop]\nurl_env = \"AIRLOCK_SHOP\"".parse().unwrap();
        for (name, want) in [
            ("AIRLOCK_LISTEN", None),
            ("AIRLOCK_STORE_URL", None),
            ("AIRLOCK_STORE_RECALL_PASSWORD", None),
            ("AIRLOCK_SHOP", None),
            ("AIRLOCK_PORT_", Some("unset it")),
            ("AIRLOCK_PORT_TCP_8080", Some("unset it")),
            ("AIRLOCK_SERVICE_HOSTS", Some("unset it")),
            ("AIRLOCK_BINARY", Some("unset it")),
            ("AIRLOCK_CORPORA", Some("unset it")),
            ("AIRLOCK", None),
            ("HOME", None),
            ("AIRLOCK_LISSTEN", Some("did you mean AIRLOCK_LISTEN?")),
            ("AIRLOCK_MODEL_URI", Some("did you mean AIRLOCK_MODEL_URL?")),
            ("AIRLOCK_STORE_RECAL_PASSWORD", Some("did you mean AIRLOCK_STORE_RECALL_PASSWORD?")),
            ("AIRLOCK_SOMETHING_ELSE_ALTOGETHER", Some("unset it")),
        ] {
            let said = Environment::of(&[(name, "x")]).check(&file).err().map(|error| error.to_string());
            match (&said, want) {
                (None, None) => {}
                (Some(said), Some(want)) => assert!(said.contains(want) && said.contains(name), "{said}"),
                _ => panic!("{name}: {said:?}"),
            }
        }
    }

    #[test]
    fn what_kubernetes_sets_of_a_service_is_let_be_and_nothing_that_looks_like_it() {
        for (service, name, want) in [
            ("AIRLOCK", "AIRLOCK_SERVICE_HOST", true),
            ("AIRLOCK", "AIRLOCK_SERVICE_PORT", true),
            ("AIRLOCK", "AIRLOCK_SERVICE_PORT_HTTP", true),
            ("AIRLOCK", "AIRLOCK_PORT", true),
            ("AIRLOCK", "AIRLOCK_PORT_8080_TCP", true),
            ("AIRLOCK", "AIRLOCK_PORT_8080_TCP_ADDR", true),
            ("AIRLOCK_STAGING", "AIRLOCK_STAGING_SERVICE_PORT_HTTP", true),
            ("AIRLOCK_STAGING", "AIRLOCK_STAGING_PORT_443_TCP_PROTO", true),
            ("AIRLOCK", "AIRLOCK_LISTEN_PORT", false),
            ("AIRLOCK", "AIRLOCK_MODEL_SERVICE_PORT", false),
            ("AIRLOCK", "AIRLOCK_PORT_TCP_8080", false),
            ("AIRLOCK_STAGING", "AIRLOCK_PORT", false),
        ] {
            let address = format!("{service}_SERVICE_HOST");
            let set = Environment::of(&[(&address, "10.0.0.7"), (name, "x")]);
            assert_eq!(set.check(&Table::new()).is_ok(), want, "{name} beside {address}");
        }
        assert!(Environment::of(&[("AIRLOCK_PORT", "8080")]).check(&Table::new()).is_err());
    }

    #[test]
    fn what_is_no_text_is_no_variable_of_ours() {
        let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        for (name, value, want) in [
            (
                bytes(b"AIRLOCK_MODEL"),
                bytes(b"\xff"),
                Some("AIRLOCK_MODEL means nothing here: what it holds"),
            ),
            (bytes(b"AIRLOCK_MODEL\xff"), bytes(b"x"), Some("its name is no text")),
            (bytes(b"OTHER\xff"), bytes(b"\xff"), None),
        ] {
            let environment = Environment([(name, value)].into());
            let said = environment.check(&Table::new()).err().map(|error| error.to_string());
            assert_eq!(said.is_some(), want.is_some(), "{said:?}");
            assert!(said.as_deref().unwrap_or_default().contains(want.unwrap_or_default()), "{said:?}");
        }
    }
}
