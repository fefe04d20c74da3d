//! Variables of the environment that begin with AIRLOCK_: each is known, or a mistake that would go unnoticed.

use airlock_knowledge::pack::nearest;
use airlock_setup::store::DUTIES;
use toml::{Table, Value};

use super::ConfigError;
use super::store::variable_of;

const PREFIX: &str = "AIRLOCK_";

/// Those that this binary reads, beside the passwords of the store's roles.
const KNOWN: [&str; 14] = [
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
];

/// Those that are somebody else's: the tests and benchmarks of this repository, which start this binary, and what
/// Kubernetes sets in every container beside a service that is called airlock.
const OTHERS: [&str; 11] = [
    "AIRLOCK_BENCH_",
    "AIRLOCK_COMPONENTS",
    "AIRLOCK_CORPORA",
    "AIRLOCK_EVAL_DATABASE_URL",
    "AIRLOCK_KILL_ROLES",
    "AIRLOCK_PORT",
    "AIRLOCK_RUN",
    "AIRLOCK_SERVICE_",
    "AIRLOCK_SETUP_TEST_",
    "AIRLOCK_URL",
    "AIRLOCK_WRITE_",
];

/// Refuses a variable that nothing reads. What the file names by a key that ends with `_env` is known, too.
///
/// # Errors
/// With the first that is unknown, and what may have been meant.
pub fn check(names: impl Iterator<Item = String>, file: &Table) -> Result<(), ConfigError> {
    let mut known: Vec<String> = KNOWN.iter().map(|name| (*name).to_owned()).collect();
    known.push("AIRLOCK_STORE_URL".to_owned());
    known.extend(DUTIES.iter().map(|duty| variable_of(duty)));
    named(file, &mut known);
    let mut unknown: Vec<String> = names
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .filter(|name| !OTHERS.iter().any(|other| name.starts_with(other)))
        .collect();
    unknown.sort();
    let Some(name) = unknown.into_iter().next() else { return Ok(()) };
    let hint = match nearest(&name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}?"),
        None => "unset it; the variables there are stand in docs/configuration.md".to_owned(),
    };
    Err(ConfigError::Variable { name, hint })
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
    use super::*;

    #[test]
    fn a_variable_that_nothing_reads_is_a_mistake_with_a_suggestion() {
        let file: Table = "[sources.shop]\nurl_env = \"AIRLOCK_SHOP\"".parse().unwrap();
        for (name, want) in [
            ("AIRLOCK_LISTEN", None),
            ("AIRLOCK_STORE_URL", None),
            ("AIRLOCK_STORE_RECALL_PASSWORD", None),
            ("AIRLOCK_SHOP", None),
            ("AIRLOCK_SERVICE_HOST", None),
            ("AIRLOCK_PORT_8080_TCP", None),
            ("AIRLOCK", None),
            ("HOME", None),
            ("AIRLOCK_LISSTEN", Some("did you mean AIRLOCK_LISTEN?")),
            ("AIRLOCK_MODEL_URI", Some("did you mean AIRLOCK_MODEL_URL?")),
            ("AIRLOCK_STORE_RECAL_PASSWORD", Some("did you mean AIRLOCK_STORE_RECALL_PASSWORD?")),
            ("AIRLOCK_SOMETHING_ELSE_ALTOGETHER", Some("unset it")),
        ] {
            let found = check(std::iter::once(name.to_owned()), &file);
            let said = found.err().map(|error| error.to_string());
            match (&said, want) {
                (None, None) => {}
                (Some(said), Some(want)) => assert!(said.contains(want) && said.contains(name), "{said}"),
                _ => panic!("{name}: {said:?}"),
            }
        }
    }
}
