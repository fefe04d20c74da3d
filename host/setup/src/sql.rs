//! Names and texts as SQL and as connection strings spell them.

/// `name` as a quoted identifier.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `text` as a literal, whatever `standard_conforming_strings` says.
pub fn literal(text: &str) -> String {
    if text.contains('\\') {
        format!("E'{}'", text.replace('\\', r"\\").replace('\'', "''"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
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
        ] {
            assert_eq!(identifier(given), as_identifier);
            assert_eq!(literal(given), as_literal);
            assert_eq!(connection_value(given), as_value);
        }
    }
}
