//! A failed attempt in words a model, or a person, can act on.

use crate::contract::types::{Attempt, Failure};

/// Characters shown on either side of the place of a failure.
const AROUND: usize = 40;

/// What PostgreSQL or the gate said, its hint, and the place: a few lines, without the query itself.
#[must_use]
pub fn in_words(failure: &Failure) -> String {
    let mut lines = vec![format!("{}: {}", failure.error_type, failure.message.trim())];
    if let Some(hint) = failure.hint.as_deref().filter(|hint| !hint.trim().is_empty()) {
        lines.push(format!("Hint: {}", hint.trim()));
    }
    if let Some(place) = failure.position.and_then(|at| excerpt(&failure.sql, at)) {
        lines.push(format!("At: {place}"));
    }
    lines.join("\n")
}

/// Whether two texts are the same query but for white space, case outside quotes and a closing semicolon. The host
/// compares by grammar; this is the cheap look that saves an attempt.
#[must_use]
pub fn same_text(a: &str, b: &str) -> bool {
    normal(a) == normal(b)
}

/// Whether a text was offered before.
#[must_use]
pub fn offered_before(sql: &str, attempts: &[Attempt]) -> bool {
    attempts.iter().any(|attempt| same_text(&attempt.sql, sql))
}

/// The byte offset of a 1-based character position, if the text reaches that far.
#[must_use]
pub fn byte_offset(text: &str, position: u32) -> Option<usize> {
    let index = usize::try_from(position).ok()?.checked_sub(1)?;
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(index)
}

/// The line around a position, with the place marked.
fn excerpt(sql: &str, position: u32) -> Option<String> {
    let at = byte_offset(sql, position)?;
    let (before, after) = sql.split_at_checked(at)?;
    let before: Vec<char> = before.chars().rev().take(AROUND).collect();
    let before: String = before.into_iter().rev().collect();
    let after: String = after.chars().take(AROUND).collect();
    Some(format!("{before} >>> {after}").split_whitespace().collect::<Vec<_>>().join(" "))
}

fn normal(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut quote: Option<char> = None;
    for c in sql.trim().trim_end_matches(';').trim_end().chars() {
        match quote {
            Some(open) => {
                text.push(c);
                if c == open {
                    quote = None;
                }
            }
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                text.push(c);
            }
            None if c.is_whitespace() => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            // PostgreSQL folds ASCII letters only.
            None => text.push(c.to_ascii_lowercase()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_the_place() {
        let failure = Failure {
            error_type: "unknown_column".into(),
            message: "column \"nmae\" does not exist".into(),
            hint: Some("Perhaps you meant to reference the column \"c.name\".".into()),
            sqlstate: Some("42703".into()),
            position: Some(8),
            repairable: true,
            sql: "SELECT nmae\nFROM customers c".into(),
        };
        assert_eq!(
            in_words(&failure),
            "unknown_column: column \"nmae\" does not exist\n\
             Hint: Perhaps you meant to reference the column \"c.name\".\n\
             At: SELECT >>> nmae FROM customers c"
        );
    }

    #[test]
    fn positions_count_characters() {
        for (text, position, want) in [
            ("abc", 1, Some(0)),
            ("äbc", 2, Some(2)),
            ("abc", 4, Some(3)),
            ("abc", 5, None),
            ("abc", 0, None),
        ] {
            assert_eq!(byte_offset(text, position), want, "{text} {position}");
        }
    }

    #[test]
    fn equal_but_for_dress() {
        for (a, b, want) in [
            ("SELECT 1", "select  1 ;", true),
            ("SELECT 'A'", "SELECT 'a'", false),
            ("SELECT a", "SELECT b", false),
            ("SELECT 'a  b'", "SELECT 'a b'", false),
        ] {
            assert_eq!(same_text(a, b), want, "{a} / {b}");
        }
    }
}
