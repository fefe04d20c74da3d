//! Whether a text is prose: something a person can be shown as it is, whatever shows it.

use airlock_plugin_sdk::words;

use crate::LIMIT;

/// Words that open a statement and hardly ever a sentence.
const STATEMENTS: [&str; 19] = [
    "alter", "begin", "call", "commit", "copy", "create", "declare", "delete", "drop", "execute", "explain",
    "grant", "insert", "merge", "revoke", "select", "truncate", "update", "values",
];

/// Pieces that no plain sentence holds, and what they are.
const MARKUP: [(&str, &str); 14] = [
    ("`", "code"),
    ("~~", "a fence or struck text"),
    ("{", "braces"),
    ("}", "braces"),
    ("](", "a link"),
    ("][", "a link"),
    ("**", "Markdown"),
    ("__", "Markdown"),
    ("(*)", "SQL"),
    ("://", "an address"),
    ("www.", "an address"),
    ("mailto:", "an address"),
    ("javascript:", "an address"),
    ("&#", "an HTML entity"),
];

/// What makes `text` no prose; nothing when it is prose.
pub fn flaw(text: &str) -> Option<&'static str> {
    let text = text.trim();
    if text.chars().count() > LIMIT {
        return Some("more than 2,000 characters");
    }
    if !text.chars().any(char::is_alphabetic) {
        return Some("no words");
    }
    if text.chars().any(is_hidden) {
        return Some("characters that cannot be seen");
    }
    if is_statement(text) {
        return Some("a statement");
    }
    if text.starts_with('[') || (text.starts_with('"') && text.ends_with('"')) {
        return Some("JSON");
    }
    let lower = text.to_lowercase();
    MARKUP
        .iter()
        .find_map(|(piece, what)| lower.contains(piece).then_some(*what))
        .or_else(|| has_tag(&lower).then_some("a tag"))
        .or_else(|| has_entity(&lower).then_some("an HTML entity"))
        .or_else(|| lower.split_whitespace().any(is_address).then_some("an address"))
        .or_else(|| text.lines().any(|line| is_marked(line.trim())).then_some("Markdown"))
        .or_else(|| is_emphasised(text).then_some("Markdown"))
}

/// Begins like a statement, or holds one: `select` with a `from` behind it.
fn is_statement(text: &str) -> bool {
    let found = words::words(text);
    let word = |index: usize| found.get(index).map_or("", |word| word.text.as_str());
    let opens = STATEMENTS.contains(&word(0));
    let with = word(0) == "with" && found.iter().skip(2).any(|word| opens_bracket_after_as(text, word));
    let select = found.iter().position(|word| word.text == "select");
    let selects = select.is_some_and(|at| found.iter().skip(at + 1).any(|word| word.text == "from"));
    opens || with || selects
}

fn opens_bracket_after_as(text: &str, word: &words::Word) -> bool {
    let behind = text.get(word.span.end..).unwrap_or_default().trim_start();
    ["as", "materialized"].contains(&word.text.as_str()) && behind.starts_with('(')
}

/// Control characters, and those that turn the direction of writing or have no width.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t' && c != '\r')
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn has_tag(text: &str) -> bool {
    text.split('<').skip(1).any(|rest| rest.starts_with(|c: char| c.is_alphabetic() || "/!?".contains(c)))
}

fn has_entity(text: &str) -> bool {
    text.split('&').skip(1).any(|rest| {
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        !name.is_empty() && rest.get(name.len()..).is_some_and(|rest| rest.starts_with(';'))
    })
}

/// `name.tld`, as a page or a mail program would link it.
fn is_address(word: &str) -> bool {
    word.split(['/', '?', '#', ':', '@']).any(|piece| {
        let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
        piece.rsplit_once('.').is_some_and(|(host, end)| {
            host.len() > 1
                && host.chars().any(char::is_alphabetic)
                && end.len() > 1
                && end.chars().all(char::is_alphabetic)
        })
    })
}

/// A heading, a quotation, a rule, a table, a link's target or a starred list. Lists that are numbered or have hyphens are plain.
fn is_marked(line: &str) -> bool {
    let heading = line.trim_start_matches('#');
    let rule = line.len() > 2 && line.chars().all(|c| "-=_*|: ".contains(c));
    (heading.len() < line.len() && heading.starts_with(' '))
        || line.starts_with(['>', '|'])
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || line.contains(" | ")
        || (line.starts_with('[') && line.contains("]:"))
        || rule
}

/// `*so*` or `_so_`. A single star may stand in a name.
fn is_emphasised(text: &str) -> bool {
    let underscored = |word: &str| word.trim_start_matches(|c: char| "(\"'".contains(c)).starts_with('_');
    text.matches('*').count() > 1 || text.split_whitespace().any(underscored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_passes() {
        for text in [
            "There are 60 customers.",
            "With 962 units sold, PPC Cement 50 kg leads.",
            "1. Hammer: 1,200\n2. Nails: 900",
            "- Hammer: 1,200\n- Nails: 900",
            "We selected nothing; 5 bills remain from July.",
            "R&D spent 5.00 at 10 a.m., i.e. less than 3 < 4.",
            "The #1 product is the 2*4 plank [10 pc].",
            "Bills from Navkar Pvt. Ltd. came to 1,234.50.",
        ] {
            assert_eq!(flaw(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_prose_is_named() {
        for (text, want) in [
            ("SELECT count(*) FROM customers", "a statement"),
            ("select 60", "a statement"),
            ("The query is select count(x)\nfrom customers, so 60.", "a statement"),
            ("WITH c AS (TABLE customers) TABLE c", "a statement"),
            ("with c as materialized (values (60)) table c", "a statement"),
            ("Explain analyze the 60", "a statement"),
            ("COUNT(*) is 60", "SQL"),
            ("60", "no words"),
            ("", "no words"),
            ("{\"count\": 60}", "braces"),
            ("[\"Hammer\", 60]", "JSON"),
            ("\"60 customers\"", "JSON"),
            ("```\n60 customers\n```", "code"),
            ("There are `60` customers.", "code"),
            ("~~~\n60 customers\n~~~", "a fence or struck text"),
            ("<b>60</b> customers", "a tag"),
            ("60 customers <!-- so -->", "a tag"),
            ("&lt;b&gt;60 customers", "an HTML entity"),
            ("60 customers [x](http://evil)", "a link"),
            ("60 customers [x][1]", "a link"),
            ("60 customers, see http://evil", "an address"),
            ("60 customers, see evil.com/x.", "an address"),
            ("60 customers, see:evil.com", "an address"),
            ("60 customers\n[x]: evil", "Markdown"),
            ("60 customers, ask a@evil.example", "an address"),
            ("There are **60** customers.", "Markdown"),
            ("There are *60* customers.", "Markdown"),
            ("There are _60_ customers.", "Markdown"),
            ("# Customers\n60", "Markdown"),
            ("> 60 customers", "Markdown"),
            ("Customers\n---\n60", "Markdown"),
            ("name | customers\n60 | 1", "Markdown"),
            ("* 60 customers", "Markdown"),
            ("60 \u{202e}customers", "characters that cannot be seen"),
        ] {
            assert_eq!(flaw(text), Some(want), "{text}");
        }
        assert_eq!(flaw(&"é".repeat(LIMIT)), None);
        assert_eq!(flaw(&"e".repeat(LIMIT + 1)), Some("more than 2,000 characters"));
    }
}
