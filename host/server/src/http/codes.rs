//! Every code that a problem can have: what it means and what to do. The page of each is `/problems/CODE`.

/// A code, documented.
pub(super) struct Code {
    pub(super) code: &'static str,
    /// The statuses that it comes with.
    pub(super) status: &'static str,
    /// When it comes, and the remedy.
    pub(super) meaning: &'static str,
}

const fn code(code: &'static str, status: &'static str, meaning: &'static str) -> Code {
    Code { code, status, meaning }
}

/// All of them, by name. A test holds that each one in the source stands here, and each one here in the source.
pub(super) const CODES: &[Code] = &[
    code(
        "already-decided",
        "409",
        "Somebody decided on this item before. The item as it is now is beside the problem.",
    ),
    code(
        "bad-field",
        "422",
        "A field of the request is not what it should be. `field` names it; `detail` says what it may be.",
    ),
    code(
        "bad-key",
        "401",
        "The key is not in force here: unknown, ended, taken back, or not of the form of one. Make one by `airlock key create`.",
    ),
    code(
        "bad-key-header",
        "400",
        "The Idempotency-Key is missing its text, too long, sent twice, or holds other than visible ASCII.",
    ),
    code("body-not-whole", "408", "The body did not arrive whole and in time. Send it again."),
    code(
        "body-too-large",
        "413",
        "The body is larger than this server reads. `detail` says how much that is.",
    ),
    code(
        "busy",
        "503",
        "As many questions are worked on as may be at once. Try again after `retry-after` seconds.",
    ),
    code(
        "changed",
        "409",
        "The content of the item is not what the request's `hash` names. The item as it is now is beside the problem: look again, then decide.",
    ),
    code(
        "component-failed",
        "502",
        "A component failed by its own fault. The record of the ask is beside the problem; the operator's log says more.",
    ),
    code(
        "csrf",
        "403",
        "A change by a page's session lacks the word that proves it was meant: `GET /api/me` gives it, the header `x-csrf-token` carries it.",
    ),
    code(
        "database-refused",
        "502",
        "The data source refuses its reader what the request needs, such as the role of a key. `detail` says what; the host's log and `airlock doctor` say what to grant. Until then trying again does not help.",
    ),
    code(
        "database-unavailable",
        "503",
        "The data source cannot be reached or does not let its reader in. Try again after `retry-after` seconds; `airlock doctor` says what is wrong.",
    ),
    code(
        "foreign-origin",
        "403",
        "The request names another host, or comes from another site's page. `server.names` says by which names a server is called.",
    ),
    code(
        "header-twice",
        "400",
        "The header Host or Origin stands twice. Send one: what reads the first and what reads the second must not differ.",
    ),
    code("internal", "500", "A bug of the server. `request_id` finds it in the log."),
    code("key-needed", "401", "This server wants to know who asks: send `Authorization: Bearer KEY`."),
    code(
        "key-reused",
        "422",
        "The Idempotency-Key was used with another body or accept header. A new request takes a new key.",
    ),
    code(
        "key-under-way",
        "409",
        "A request with the same Idempotency-Key is being worked on. Ask again after `retry-after` seconds.",
    ),
    code(
        "key-with-stream",
        "400",
        "A stream of events cannot be given twice, so it takes no Idempotency-Key.",
    ),
    code("keys-unavailable", "503", "The store that knows the keys does not answer. Try again in a moment."),
    code(
        "malformed-json",
        "400",
        "The body is not a JSON object in UTF-8 with the fields of the request: broken, nested too deeply, a key twice, half a surrogate pair, a field that is unknown or of another type.",
    ),
    code(
        "malformed-query",
        "400",
        "The query has a parameter that is unknown, stands twice or is of another type.",
    ),
    code(
        "method-not-allowed",
        "405",
        "The path is there and does not take this method. The header `allow` says which it takes.",
    ),
    code(
        "missing-scope",
        "403",
        "The key does not have the scope that this needs, or is bound to some domains where only one that is bound to none will do. `detail` says which.",
    ),
    code(
        "model-unavailable",
        "503",
        "No model answered and the question cannot be answered without one. Try again after `retry-after` seconds.",
    ),
    code("no-caller", "401", "The request did not come by the door of this server."),
    code(
        "no-keys",
        "503",
        "The server has no knowledge store, and so no keys and no sessions. Configure `[store]`.",
    ),
    code(
        "no-rows",
        "422",
        "CSV was wanted of an ask that ended without rows. The record of the ask is beside the problem; JSON shows it as an answer.",
    ),
    code("no-store", "503", "The server keeps nothing: its configuration turns the store off."),
    code("not-acceptable", "406", "The accept header names nothing that this path gives."),
    code("not-found", "404", "There is nothing at this path."),
    code(
        "not-json",
        "415",
        "The body is not said to be JSON. Send `content-type: application/json`, in UTF-8.",
    ),
    code("pass-running", "409", "A promotion pass is at work in this domain. Try again when it is over."),
    code(
        "refused",
        "409",
        "The swap or rollback was refused. `detail` says why; what was replayed is beside the problem.",
    ),
    code("request-timeout", "504", "The whole request took longer than any may."),
    code("session-ended", "401", "The page's session has ended. Sign in again."),
    code("sql-blocked", "422", "A rule of the domain blocks the SQL. `failure` says which and what to do."),
    code(
        "sql-failed",
        "422",
        "PostgreSQL did not run the SQL to its end. `failure` has its code, message, hint and position.",
    ),
    code("sql-rejected", "422", "The gate does not let the SQL through. `failure` says why and where."),
    code(
        "store-unavailable",
        "503",
        "The knowledge store does not answer. Nothing was changed; try again after `retry-after` seconds.",
    ),
    code("timeout", "504", "The question was not answered within its deadline."),
    code("too-many-requests", "429", "This caller asks too often. Try again after `retry-after` seconds."),
    code(
        "too-many-sessions",
        "503",
        "As many MCP sessions are open as may be, of this caller or in all. End one, or try again after `retry-after` seconds.",
    ),
    code("unavailable", "503", "Something that is needed is away. `detail` says what."),
    code("unfit", "422", "The content is not fit for what is to become of it. `detail` says why."),
    code(
        "unknown-ask",
        "404",
        "The ask to follow is not known here: not the caller's, of another domain, or too old. Ask the whole question.",
    ),
    code(
        "unknown-domain",
        "404",
        "There is no such domain for this caller. `detail` names those that there are.",
    ),
    code("unknown-item", "404", "There is no such example, lesson or golden case for this caller."),
    code("unknown-run", "404", "There is no evaluation run of this name."),
    code(
        "unknown-session",
        "404",
        "There is no such MCP session: it has ended, or is another caller's. Begin a new one with `initialize`.",
    ),
    code("which-domain", "422", "The server has several domains and the request names none."),
];

/// The code of this name.
pub(super) fn find(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|code| code.code == name)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::{Path, PathBuf};

    use super::*;

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    /// The codes that the source gives to problems: the first literal after each call that makes one.
    fn made() -> BTreeSet<String> {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http"), &mut files);
        let mut codes = BTreeSet::new();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let text = with_constants(text.split("#[cfg(test)]").next().unwrap());
            let mut calls = vec![" Problem::new(", "(Problem::new(", "unauthorized(", "unfit("];
            if file.ends_with("http/problem.rs") {
                calls.push("Self::new(");
            }
            for rest in calls.into_iter().flat_map(|call| text.split(call).skip(1)) {
                let call = rest.split(';').next().unwrap();
                let literals = call.split('"').skip(1).step_by(2);
                codes.extend(literals.filter(|text| is_code(text)).take(1).map(str::to_owned));
            }
        }
        codes
    }

    /// The source with the texts of its constants where their names stand.
    fn with_constants(text: &str) -> String {
        let constants = text.split("const ").skip(1).filter_map(|rest| {
            let (name, rest) = rest.split_once(": &str = ")?;
            let (value, _) = rest.split_once(';')?;
            Some((name, value))
        });
        let constants: BTreeMap<&str, &str> = constants.collect();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split_inclusive(|c| !is_word(c)).map(|piece| {
            let word = piece.trim_end_matches(|c| !is_word(c));
            let value = constants.get(word).copied().unwrap_or(word);
            format!("{value}{}", &piece[word.len()..])
        });
        words.collect()
    }

    fn is_code(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    }

    #[test]
    fn every_code_is_documented_and_there_is_no_other() {
        let documented: BTreeSet<String> = CODES.iter().map(|code| code.code.to_owned()).collect();
        assert_eq!(made(), documented);
        assert!(CODES.is_sorted_by_key(|code| code.code));
    }

    #[test]
    fn the_documentation_lists_every_code() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http-api.md");
        let text = std::fs::read_to_string(file).unwrap();
        for Code { code, status, meaning } in CODES {
            let line = format!("| `{code}` | {status} | {meaning} |");
            assert!(text.contains(&line), "docs/http-api.md lacks this line:\n{line}");
        }
    }
}
