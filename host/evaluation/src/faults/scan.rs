//! The words of a right query, with their places: as much as it takes to break it in one place.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a plain name.
    Word,
    /// `"a name"`.
    Quoted,
    /// `'a text'`.
    Text,
    Number,
    /// Anything else: an operator or one sign.
    Sign,
}

/// One token.
#[derive(Debug, Clone)]
pub struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
    /// Parentheses open around it.
    pub depth: usize,
}

/// Reads a query; comments are left out.
pub fn scan(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let run = |keep: fn(char) -> bool| rest.find(|c| !keep(c)).unwrap_or(rest.len());
        let quoted =
            |quote: char| rest.get(1..).and_then(|tail| tail.find(quote)).map_or(rest.len(), |end| end + 2);
        let (kind, length) = match c {
            _ if c.is_whitespace() => (None, run(char::is_whitespace)),
            '-' if rest.starts_with("--") => (None, run(|c| c != '\n')),
            '\'' => (Some(Kind::Text), quoted('\'')),
            '"' => (Some(Kind::Quoted), quoted('"')),
            _ if c.is_alphabetic() || c == '_' => {
                (Some(Kind::Word), run(|c| c.is_alphanumeric() || c == '_'))
            }
            _ if c.is_ascii_digit() => (Some(Kind::Number), run(|c| c.is_ascii_digit() || c == '.')),
            '<' | '>' | '=' | '!' | '|' | ':' => (Some(Kind::Sign), run(|c| "<>=!|:".contains(c))),
            _ => (Some(Kind::Sign), c.len_utf8()),
        };
        if let Some(kind) = kind {
            if c == ')' {
                depth = depth.saturating_sub(1);
            }
            tokens.push(Token { kind, span: at..at + length, depth });
            if c == '(' {
                depth += 1;
            }
        }
        at += length.max(c.len_utf8());
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_cut_into_its_words() {
        for (text, want) in [
            ("SELECT a.b, 'x y'", vec!["SELECT", "a", ".", "b", ",", "'x y'"]),
            ("a<=1.5::int -- no\n\"Q\"", vec!["a", "<=", "1.5", "::", "int", "\"Q\""]),
            ("'open", vec!["'open"]),
            ("", vec![]),
        ] {
            let written: Vec<&str> = scan(text).iter().map(|token| &text[token.span.clone()]).collect();
            assert_eq!(written, want, "{text}");
        }
        let depths: Vec<usize> = scan("f(a)").iter().map(|token| token.depth).collect();
        assert_eq!(depths, [0, 0, 1, 0]);
    }
}
