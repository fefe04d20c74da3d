//! Text of a catalogue, which anybody may have written, inside TOML: quoted where it is a value, one line where it is a remark.

use std::fmt::Write as _;

use airlock_types::text::{Place, hidden, shorten};

/// A value or a key: a basic string of TOML.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            character if character.is_control() => {
                let _ = write!(out, "\\u{:04X}", character as u32);
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

/// A key: bare where TOML allows it.
pub(super) fn key(text: &str) -> String {
    let bare = !text.is_empty()
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_' || character == '-');
    if bare { text.to_owned() } else { quoted(text) }
}

/// What people wrote as one line in which nothing is hidden, of at most `limit` characters.
pub(super) fn prose(text: &str, limit: usize) -> String {
    let plain: String =
        text.chars().map(|c| if hidden(c, Place::Prose).is_some() { ' ' } else { c }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    // The mark of the cut counts too.
    if line.chars().count() > limit { shorten(&line, limit.saturating_sub(1)) } else { line }
}

/// A name for the eyes of a person: what is hidden in it is shown by its number.
pub(super) fn visible(name: &str) -> String {
    let shown = airlock_types::text::visible(name, Place::Identifier);
    // On one line, whatever stands in it.
    shown.replace('\t', "<U+0009>").replace('\n', "<U+000A>").replace('\r', "<U+000D>")
}

/// Width of a remark.
const WIDTH: usize = 110;

/// Items as remarks, filled into lines.
pub(super) fn remarks(items: impl Iterator<Item = String>) -> String {
    let (mut out, mut line) = (String::new(), "#".to_owned());
    for (at, item) in items.enumerate() {
        let comma = if at == 0 { "" } else { "," };
        line.push_str(comma);
        if line.chars().count() + item.chars().count() > WIDTH {
            out.push_str(line.trim_end());
            out.push_str("\n#   ");
            line.clear();
        } else {
            line.push(' ');
        }
        line.push_str(&item);
    }
    out.push_str(&line);
    out.push('\n');
    out
}

/// A number as people write it: 1,234,567.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A name inside SQL: quoted where it must be.
pub(super) fn sql_name(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    // A word of the grammar is right in quotes as well, and which words those are changes with the version.
    if plain && name.len() > 2 && !KEYWORDS.contains(&name) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// Words of the grammar that are likely names of tables and columns.
const KEYWORDS: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "asc",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_date",
    "current_user",
    "default",
    "desc",
    "distinct",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "not",
    "null",
    "offset",
    "only",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
    "authorization",
    "binary",
    "collation",
    "concurrently",
    "cross",
    "current_schema",
    "freeze",
    "full",
    "ilike",
    "inner",
    "isnull",
    "join",
    "left",
    "like",
    "natural",
    "notnull",
    "outer",
    "overlaps",
    "right",
    "similar",
    "tablesample",
    "verbose",
    "between",
    "bigint",
    "bit",
    "boolean",
    "char",
    "coalesce",
    "dec",
    "decimal",
    "exists",
    "extract",
    "float",
    "greatest",
    "grouping",
    "inout",
    "int",
    "integer",
    "interval",
    "least",
    "national",
    "nchar",
    "none",
    "normalize",
    "nullif",
    "numeric",
    "out",
    "overlay",
    "position",
    "precision",
    "real",
    "row",
    "setof",
    "smallint",
    "substring",
    "time",
    "timestamp",
    "treat",
    "trim",
    "values",
    "varchar",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_stands_in_a_catalogue_becomes_one_value_or_one_line() {
        for (text, value, line) in [
            ("plain", "\"plain\"", "plain"),
            ("say \"no\" \\ ]\n[x]", "\"say \\\"no\\\" \\\\ ]\\n[x]\"", "say \"no\" \\ ] [x]"),
            ("a\u{1}b\u{202e}c\u{7f}", "\"a\\u0001b\u{202e}c\\u007F\"", "a b c"),
            ("'''\"\"\"", "\"'''\\\"\\\"\\\"\"", "'''\"\"\""),
            ("#= \u{200b}{", "\"#= \u{200b}{\"", "#= {"),
        ] {
            assert_eq!(quoted(text), value, "{text:?}");
            assert_eq!(prose(text, 100), line, "{text:?}");
            let read: toml::Table =
                format!("x = {}\n{} = 1 # {}", quoted(text), quoted(text), prose(text, 100)).parse().unwrap();
            assert_eq!(read["x"].as_str(), Some(text));
            assert!(read.contains_key(text));
        }
        assert_eq!(prose(&"x".repeat(50), 10).chars().count(), 10);
        assert_eq!(visible("a\u{200b}b\n"), "a<U+200B>b<U+000A>");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, want) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), want);
        }
    }
}
