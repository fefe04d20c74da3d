//! Settings of a transaction: everything that changes what a text means or how long it may run is pinned.

use std::time::Duration;

use crate::run::Identity;

/// Settings that are the same for every transaction.
const PINNED: &[(&str, &str)] = &[
    // What a text means.
    ("standard_conforming_strings", "on"),
    ("transform_null_equals", "off"),
    ("array_nulls", "on"),
    ("row_security", "on"),
    // How values are written.
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "1"),
    ("xmlbinary", "base64"),
    // Nobody reads notices, and a loop can raise millions.
    ("client_min_messages", "error"),
];

/// The server's own process, behind a pooler too.
const PROCESS: &str = "pg_catalog.pg_backend_pid()";

/// A moment as a whole number of microseconds, whatever settings say of dates.
pub(crate) fn moment(of: &str) -> String {
    format!("pg_catalog.int8(pg_catalog.date_part('epoch', {of}) OPERATOR(pg_catalog.*) 1000000)")
}

/// The settings of one transaction, as names and values.
#[derive(Debug, Clone)]
pub(crate) struct Settings(Vec<(String, String)>);

/// How long a statement that may run this long may wait for a lock: clearly less. Both times begin together, so of two that are
/// alike the statement's own would end it, and who waits for somebody else's lock would be told that the text is too slow.
fn for_a_lock(lock_timeout: Duration, statement_timeout: Duration) -> Duration {
    lock_timeout.min(statement_timeout / 5 * 4)
}

impl Settings {
    /// Settings for a statement that may run this long.
    pub(crate) fn new(
        statement_timeout: Duration,
        lock_timeout: Duration,
        search_path: &[String],
        zone: &str,
    ) -> Self {
        let milliseconds = |duration: Duration| duration.as_millis().clamp(1, 2_000_000_000).to_string();
        let mut settings: Vec<_> =
            PINNED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut path: Vec<String> = search_path.iter().map(|schema| identifier(schema)).collect();
        if path.is_empty() {
            path.push("pg_catalog".to_owned());
        }
        // Named last, or PostgreSQL would look there first: nobody may put a table of theirs before the real one.
        path.push("pg_temp".to_owned());
        for (name, value) in [
            ("statement_timeout", milliseconds(statement_timeout)),
            ("lock_timeout", milliseconds(for_a_lock(lock_timeout, statement_timeout))),
            (
                "idle_in_transaction_session_timeout",
                milliseconds(statement_timeout.max(Duration::from_secs(10))),
            ),
            ("search_path", path.join(", ")),
            ("TimeZone", zone.to_owned()),
        ] {
            settings.push((name.to_owned(), value));
        }
        Self(settings)
    }

    /// Adds who is asking. The role comes last: it may not be allowed to set the rest.
    pub(crate) fn with_identity(mut self, identity: &Identity) -> Self {
        self.0.extend(identity.settings().map(|(name, value)| (name.to_owned(), value.to_owned())));
        self.0.extend(identity.role().map(|role| ("role".to_owned(), role.to_owned())));
        self
    }

    /// `SELECT ..., set_config($1, $2, true), ...` and its parameters. `true` makes each end with the transaction. Its first
    /// two columns are the mark of the transaction, which [`Backend`](crate::wire::Backend) reads.
    pub(crate) fn statement(&self) -> (String, Vec<Option<&str>>) {
        let calls: Vec<String> = (0..self.0.len())
            .map(|index| format!("pg_catalog.set_config(${}, ${}, true)", 2 * index + 1, 2 * index + 2))
            .collect();
        let parameters =
            self.0.iter().flat_map(|(name, value)| [Some(name.as_str()), Some(value.as_str())]).collect();
        (format!("SELECT {PROCESS}, {}, {}", moment("pg_catalog.now()"), calls.join(", ")), parameters)
    }
}

/// A name as SQL: always quoted, so that no name can be anything but a name.
pub(crate) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Texts as the text form of a `text[]`.
pub(crate) fn text_array<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = items
        .into_iter()
        .map(|item| format!("\"{}\"", item.as_ref().replace('\\', "\\\\").replace('"', "\\\"")))
        .collect();
    format!("{{{}}}", quoted.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        assert_eq!(identifier("bills"), r#""bills""#);
        assert_eq!(identifier(r#"a"; DROP"#), r#""a""; DROP""#);
        assert_eq!(text_array(["a,b", r#"c"d\"#, "NULL", ""]), r#"{"a,b","c\"d\\","NULL",""}"#);
        assert_eq!(text_array::<&str>([]), "{}");
    }

    #[test]
    fn temporary_tables_never_come_first() {
        let settings =
            Settings::new(Duration::from_secs(1), Duration::from_secs(9), &["Sales \"x".to_owned()], "UTC");
        let get =
            |name: &str| settings.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(get("search_path"), Some(r#""Sales ""x", pg_temp"#));
        assert_eq!(get("lock_timeout"), Some("800"));
    }

    #[test]
    fn a_lock_is_never_waited_for_until_the_statement_ends() {
        let lock = Duration::from_secs(5);
        for (statement, waits) in [(30_000, 5_000), (8_000, 5_000), (5_000, 4_000), (100, 80)] {
            let waited = for_a_lock(lock, Duration::from_millis(statement));
            assert_eq!(waited, Duration::from_millis(waits), "{statement}");
        }
    }
}
