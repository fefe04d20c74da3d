//! The `name = value` form.

use super::ConnectionStringError;

/// Splits `host=db user='o''hara'` into pairs; a backslash takes the next character as it is.
pub(super) fn pairs(text: &str) -> Result<Vec<(String, String)>, ConnectionStringError> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let malformed = || ConnectionStringError::Malformed { ordinal: pairs.len() + 1 };
        let (name, after) = rest.split_once('=').ok_or_else(malformed)?;
        let name = name.trim_end();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(malformed());
        }
        let (value, after) = value(after.trim_start()).ok_or_else(malformed)?;
        pairs.push((name.to_owned(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// Reads one value, quoted or not, and gives what follows it. None when a quote or an escape is not closed.
fn value(text: &str) -> Option<(String, &str)> {
    let (quoted, body) = match text.strip_prefix('\'') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let mut value = String::new();
    let mut characters = body.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.push(characters.next()?.1),
            '\'' if quoted => {
                let after = body.get(at + 1..)?;
                return (after.is_empty() || after.starts_with(char::is_whitespace))
                    .then_some((value, after));
            }
            c if !quoted && c.is_whitespace() => return Some((value, body.get(at..)?)),
            c => value.push(c),
        }
    }
    (!quoted).then_some((value, ""))
}
