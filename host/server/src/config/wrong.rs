//! What is wrong with a TOML file, without a word of what it holds: files like these hold passwords.
//!
//! The parser's own message shows the offending line, and the words of a wrong value. Line, column and key find both.

use std::ops::Range;

use airlock_knowledge::pack::nearest;

/// `line 3, column 7, key `sources.shop`: invalid type: a string, expected ..`
#[must_use]
pub fn in_words(mut error: toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let mut message = without_values(error.message());
    // A word before `=` is a key, and no value.
    if let Some(words) = message.strip_prefix("unknown word")
        && let Some(key) = error.span().and_then(|span| key_at(text, span))
    {
        message = format!("unknown key `{key}`{words}");
    }
    if let Some(meant) = meant(&message) {
        message = meant;
    }
    // Without the text at hand, the parser says the key instead of the line.
    error.set_input(None);
    let shown = error.to_string();
    let key = shown.trim_end().rsplit_once("\nin `").map(|(_, key)| key.trim_end_matches('`'));
    match key {
        Some(key) => format!("line {line}, column {column}, key `{key}`: {message}"),
        None => format!("line {line}, column {column}: {message}"),
    }
}

/// A message about a name that is none of those expected, with the one that was meant.
fn meant(message: &str) -> Option<String> {
    let (head, expected) = message.split_once(", expected ")?;
    let wrong = head.strip_prefix("unknown field `").or_else(|| head.strip_prefix("unknown key `"))?;
    // Names stand in backticks, so each other piece is one.
    let known = expected.split('`').skip(1).step_by(2);
    let near = nearest(wrong.trim_end_matches('`'), known)?;
    Some(format!("{head}: did you mean `{near}`?"))
}

/// What stands at a place of the text, if it is a bare key.
fn key_at(text: &str, span: Range<usize>) -> Option<&str> {
    let (key, rest) = (text.get(span.clone())?, text.get(span.end..)?);
    let bare = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (bare && rest.trim_start_matches([' ', '\t']).starts_with('=')).then_some(key)
}

/// A message of serde's without the value that it quotes.
fn without_values(message: &str) -> String {
    let expected = message.rfind(", expected ").or_else(|| message.find(", there are no "));
    if let Some(rest) = message.strip_prefix("unknown variant `") {
        // What is expected is a list of words of ours, so the first comma after the last value ends it.
        let words = rest.rfind("`, expected ").map_or("", |at| rest.get(at + 1..).unwrap_or_default());
        return format!("unknown word{words}");
    }
    for problem in ["invalid type: ", "invalid value: "] {
        if let Some(rest) = message.strip_prefix(problem) {
            let words = expected.map_or("", |at| message.get(at..).unwrap_or_default());
            // The name of a type of ours tells nobody anything.
            let words = if words.starts_with(", expected struct ") { ", expected a table" } else { words };
            let kind = rest.split(['"', '`', ',']).next().unwrap_or_default().trim_end();
            return format!("{problem}{kind}{words}");
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::File;

    #[test]
    fn a_mistake_is_found_and_its_line_never_shown() {
        let secret = "hunter2";
        for (text, want) in [
            (
                "[sources]\nshop = \"password=hunter2\"",
                "line 2, column 8, key `sources.shop`: invalid type: string, expected a table",
            ),
            (
                "[sources.shop]\nurl = \"x\"\nconnections = \"hunter2, expected no \\\" one\"",
                "key `sources.shop.connections`",
            ),
            ("[sources.shop]\nurl = \"password=hunter2\" x", "line 2, column"),
            ("[sources.shop]\nurl = \"password=hunter2", "line 2, column"),
            ("[sources.shop]\nurl = postgres://me:hunter2@here", "line 2, column"),
            ("[sources.shop]\nurl = 'a'\nurl = 'hunter2'", "line 3, column"),
            ("[sources.shop]\n\"\u{e9}\" = 1\npass = 'hunter2'", "unknown field"),
            (
                "[plugins.on_failure]\nrepair = \"hunter2\"",
                "key `plugins.on_failure.repair`: unknown word, expected",
            ),
            (
                "[plugins.on_failure]\nrepairs = \"hunter2\"",
                "key `plugins.on_failure`: unknown key `repairs`: did you mean `repair`?",
            ),
            ("[server]\nlissten = \"hunter2\"", "unknown field `lissten`: did you mean `listen`?"),
            ("[sever]\nlisten = \"hunter2\"", "unknown field `sever`: did you mean `server`?"),
            ("[server]\ncolour = \"hunter2\"", "unknown field `colour`, expected one of"),
            ("[plugins]\ntrusted_keys = [\"hunter2\"]", "airlock plugin keygen"),
            ("[store]\noff = \"hunter2\"", "key `store.off`: invalid type: string, expected a boolean"),
        ] {
            let error = toml::from_str::<File>(text).unwrap_err();
            let said = in_words(error, text);
            assert!(said.contains(want), "{text:?}: {said}");
            assert!(!said.contains(secret) && !said.contains('\n'), "{text:?}: {said}");
        }
    }

    #[test]
    fn a_number_may_be_a_password_too() {
        let text = "[sources.shop]\nurl = 20261130";
        let said = in_words(toml::from_str::<File>(text).unwrap_err(), text);
        assert_eq!(
            said,
            "line 2, column 7, key `sources.shop.url`: invalid type: integer, expected a string"
        );
    }
}
