//! `[store]`: where what is learned is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use airlock_setup::Secret;
use airlock_setup::store::DUTIES;
use serde::Deserialize;
use thiserror::Error;

use super::wrong::in_words;

/// The section as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StoreTable {
    url: Option<String>,
    url_env: Option<String>,
    credentials: Option<PathBuf>,
    role_prefix: Option<String>,
    off: bool,
}

/// What the names of the roles begin with when nothing says otherwise.
pub const ROLE_PREFIX: &str = "airlock";

/// Where the store is.
#[derive(Clone)]
pub enum StoreSettings {
    /// Nothing is learned or logged.
    Off,
    /// On a private PostgreSQL with its files in this folder.
    Private(PathBuf),
    /// In a database of a server that is there. May hold passwords, so it has no `Debug`.
    At(StoreAddress),
}

/// A store in a database of a server that is there.
#[derive(Clone)]
pub struct StoreAddress {
    /// libpq connection string of the database; the role and its password are set for each role.
    pub url: String,
    /// What the names of the roles begin with.
    pub prefix: String,
    /// File with the passwords.
    credentials: Option<PathBuf>,
    /// Passwords of the environment; they win over the file.
    environment: BTreeMap<String, Secret>,
}

/// What is wrong with `[store]`.
#[derive(Debug, Error)]
pub enum StoreConfigError {
    /// Off and on at once.
    #[error("store.off: it is true, and `{0}` is set: remove one of the two")]
    OffAndOn(&'static str),
    /// The variable is not set.
    #[error("store.url_env: the environment has no variable `{0}`: set it, or give `url`")]
    NoVariable(String),
    /// Something that belongs to a url, and no url.
    #[error("store.{0}: it belongs to a store with a `url`: give that, or remove it")]
    NoUrl(&'static str),
    /// The file cannot be read.
    #[error("store.credentials: {0} cannot be read: {1}; `airlock setup --store` writes it")]
    Unreadable(PathBuf, std::io::Error),
    /// The file is not what it should be.
    #[error("store.credentials: {0} is wrong: {1}; it holds one `role = \"password\"` a line")]
    Wrong(PathBuf, String),
    /// A role without a password.
    #[error("store.credentials: there is no password for `{0}`: run `airlock setup --store`, or set {1}")]
    NoPassword(String, String),
}

/// The environment variable that holds a role's password.
pub(super) fn variable_of(duty: &str) -> String {
    format!("AIRLOCK_STORE_{}_PASSWORD", duty.to_uppercase())
}

impl StoreTable {
    /// Gives meaning to what was written.
    ///
    /// # Errors
    /// [`StoreConfigError`], naming the key.
    pub fn resolve(
        self,
        base: &Path,
        private: PathBuf,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<StoreSettings, StoreConfigError> {
        let from_environment = variable("AIRLOCK_STORE_URL");
        let named = match &self.url_env {
            Some(name) => Some(variable(name).ok_or_else(|| StoreConfigError::NoVariable(name.clone()))?),
            None => None,
        };
        let written = self.url.is_some() || named.is_some();
        if self.off {
            return match (written, self.credentials.is_some()) {
                (true, _) => Err(StoreConfigError::OffAndOn("url")),
                (_, true) => Err(StoreConfigError::OffAndOn("credentials")),
                _ => Ok(StoreSettings::Off),
            };
        }
        let Some(url) = from_environment.or(named).or(self.url) else {
            return match (self.credentials.is_some(), self.role_prefix.is_some()) {
                (true, _) => Err(StoreConfigError::NoUrl("credentials")),
                (_, true) => Err(StoreConfigError::NoUrl("role_prefix")),
                _ => Ok(StoreSettings::Private(private)),
            };
        };
        let passwords = DUTIES.iter().filter_map(|duty| {
            variable(&variable_of(duty)).map(|password| ((*duty).to_owned(), Secret::new(&password)))
        });
        Ok(StoreSettings::At(StoreAddress {
            url,
            prefix: self.role_prefix.unwrap_or_else(|| ROLE_PREFIX.to_owned()),
            credentials: self.credentials.map(|file| base.join(file)),
            environment: passwords.collect(),
        }))
    }
}

impl StoreAddress {
    /// A password for each role. `migrate` may be without: then only set-up brings the store up to date.
    ///
    /// # Errors
    /// When the file cannot be read, or a role has none.
    pub fn passwords(&self) -> Result<BTreeMap<String, Secret>, StoreConfigError> {
        let mut passwords = match &self.credentials {
            Some(file) => read(file)?,
            None => BTreeMap::new(),
        };
        passwords.extend(self.environment.clone());
        let missing = DUTIES.iter().find(|duty| **duty != "migrate" && !passwords.contains_key(**duty));
        match missing {
            Some(duty) => Err(StoreConfigError::NoPassword((*duty).to_owned(), variable_of(duty))),
            None => Ok(passwords),
        }
    }
}

/// Reads a file of passwords.
///
/// # Errors
/// When it cannot be read or is not one.
pub fn read(file: &Path) -> Result<BTreeMap<String, Secret>, StoreConfigError> {
    use std::os::unix::fs::PermissionsExt;
    let unreadable = |error| StoreConfigError::Unreadable(file.to_owned(), error);
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    let mode = std::fs::metadata(file).map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(file = %file.display(), "others may read the passwords of the store: chmod 600");
    }
    let wrong = |what: String| StoreConfigError::Wrong(file.to_owned(), what);
    let table: toml::Table = toml::from_str(&text).map_err(|error| wrong(in_words(error, &text)))?;
    let mut passwords = BTreeMap::new();
    for (duty, value) in table {
        if !DUTIES.contains(&duty.as_str()) {
            return Err(wrong(format!("`{duty}` is none of the roles {}", DUTIES.join(", "))));
        }
        let password = value.as_str().ok_or_else(|| wrong(format!("`{duty}` is not a text")))?;
        passwords.insert(duty, Secret::new(password));
    }
    Ok(passwords)
}

/// Writes a file of passwords that its owner alone may read.
///
/// # Errors
/// When it cannot be written.
pub fn write(file: &Path, passwords: &BTreeMap<String, Secret>) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut text = "# Passwords of the store's roles. Keep them from everybody but airlock.\n".to_owned();
    for (duty, password) in passwords {
        text.push_str(&format!("{duty} = {}\n", toml::Value::from(password.reveal())));
    }
    let mut out =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    // A file that was there keeps its mode when it is opened.
    out.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str, variables: &[(&str, &str)]) -> Result<StoreSettings, StoreConfigError> {
        let table: StoreTable = toml::from_str(text).unwrap();
        table.resolve(Path::new("/etc/airlock"), PathBuf::from("/private"), &|name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_store_is_private_elsewhere_or_off() {
        assert!(matches!(resolve("", &[]), Ok(StoreSettings::Private(dir)) if dir == Path::new("/private")));
        assert!(matches!(resolve("off = true", &[]), Ok(StoreSettings::Off)));
        let Ok(StoreSettings::At(at)) = resolve("url = \"host=x\"\ncredentials = \"c\"", &[]) else {
            panic!()
        };
        assert_eq!((at.url.as_str(), at.prefix.as_str()), ("host=x", "airlock"));
        let error = at.passwords().unwrap_err().to_string();
        assert!(error.contains("store.credentials: /etc/airlock/c cannot be read"), "{error}");
        for (text, variables, want) in [
            ("off = true\nurl = \"host=x\"", vec![], "store.off"),
            ("url_env = \"NOPE\"", vec![], "store.url_env"),
            ("credentials = \"c\"", vec![], "store.credentials"),
            ("role_prefix = \"c\"", vec![], "store.role_prefix"),
        ] {
            let error = resolve(text, &variables).err().unwrap().to_string();
            assert!(error.contains(want), "{text:?}: {error}");
        }
    }

    #[test]
    fn passwords_are_of_the_file_and_the_environment_wins() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("store.credentials");
        let all: BTreeMap<String, Secret> =
            DUTIES.iter().map(|duty| ((*duty).to_owned(), Secret::new("a\"b\\c"))).collect();
        write(&file, &all).unwrap();
        let text =
            format!("url = \"host=x\"\ncredentials = {}", toml::Value::from(file.display().to_string()));
        let given = |variables: &[(&str, &str)]| match resolve(&text, variables) {
            Ok(StoreSettings::At(at)) => at.passwords(),
            _ => panic!("not a store at a url"),
        };
        assert_eq!(given(&[]).unwrap()["log"].reveal(), "a\"b\\c");
        let variables = [("AIRLOCK_STORE_LOG_PASSWORD", "other")];
        assert_eq!(given(&variables).unwrap()["log"].reveal(), "other");
        let mut some = all.clone();
        some.remove("janitor");
        some.remove("migrate");
        write(&file, &some).unwrap();
        let error = given(&[]).unwrap_err().to_string();
        assert!(error.contains("`janitor`") && error.contains("AIRLOCK_STORE_JANITOR_PASSWORD"), "{error}");
        for (bad, want) in
            [("log = 1", "`log`"), ("logg = \"secret\"", "`logg`"), ("log = \"secret", "line 1, column")]
        {
            std::fs::write(&file, bad).unwrap();
            let error = given(&[]).unwrap_err().to_string();
            assert!(error.contains(want) && !error.contains("secret"), "{error}");
        }
    }
}
