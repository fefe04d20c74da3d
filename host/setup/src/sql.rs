//! Names and texts as SQL and as connection strings spell them.

use airlock_types::text::{Place, hidden};

/// Whether a person who reads a statement would not see a character.
fn is_unseen(character: char) -> bool {
    character.is_control() || hidden(character, Place::Identifier).is_some()
}

/// `name` as a quoted identifier. What nobody would see in it is written by its number: who reads a statement reads all of it.
pub fn identifier(name: &str) -> String {
    if !name.chars().any(is_unseen) {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    let written = by_number(name, '"', |unseen| format!("\\+{:06X}", unseen as u32));
    format!("U&\"{written}\"")
}

/// `text` as a literal, whatever `standard_conforming_strings` says. What nobody would see in it is written by its number.
pub fn literal(text: &str) -> String {
    if !text.contains('\\') && !text.chars().any(is_unseen) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let written = by_number(text, '\'', |unseen| format!("\\U{:08X}", unseen as u32));
    format!("E'{written}'")
}

/// A text inside of these quotes, with backslashes doubled, and what nobody would see in it as `number` writes it.
fn by_number(text: &str, quote: char, number: impl Fn(char) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str(r"\\"),
            unseen if is_unseen(unseen) => out.push_str(&number(unseen)),
            plain => {
                out.push(plain);
                if plain == quote {
                    out.push(plain);
                }
            }
        }
    }
    out
}

/// `text` as a value of a libpq key=value connection string.
pub fn connection_value(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_stay_inside() {
        for (given, as_identifier, as_literal, as_value) in [
            ("bills", "\"bills\"", "'bills'", "'bills'"),
            ("a\"b", "\"a\"\"b\"", "'a\"b'", "'a\"b'"),
            ("it's", "\"it's\"", "'it''s'", r"'it\'s'"),
            (r"\' or", r#""\' or""#, r"E'\\'' or'", r"'\\\' or'"),
            (
                "h\u{200b}\\\"'\u{e0041}",
                r#"U&"h\+00200B\\""'\+0E0041""#,
                r#"E'h\U0000200B\\"''\U000E0041'"#,
                "'h\u{200b}\\\\\"\\'\u{e0041}'",
            ),
        ] {
            assert_eq!(identifier(given), as_identifier);
            assert_eq!(literal(given), as_literal);
            assert_eq!(connection_value(given), as_value);
        }
    }
}
