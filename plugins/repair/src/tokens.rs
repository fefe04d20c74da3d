//! The tokens of a text with their byte ranges. Reads any text, also one that no grammar accepts.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a plain identifier.
    Word,
    /// `"An identifier"`.
    Quoted,
    /// `` `An identifier` `` of another dialect.
    Backticked,
    /// A text literal, with its quotes.
    Text,
    Number,
    Operator,
    Open,
    Close,
    Comma,
    Dot,
    Semicolon,
    OpenBracket,
    CloseBracket,
    /// Anything else, one character each.
    Other,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
    /// Parentheses open around it. A parenthesis itself counts as outside of what it encloses.
    pub depth: usize,
}

/// A text and its tokens; comments and white space are between them.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    pub text: &'a str,
    pub all: Vec<Token>,
}

impl<'a> Tokens<'a> {
    /// Reads a text.
    pub fn of(text: &'a str) -> Self {
        let mut all = Vec::new();
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let (kind, end) = scan(text, at, c);
            if let Some(kind) = kind {
                if kind == Kind::Close {
                    depth = depth.saturating_sub(1);
                }
                all.push(Token { kind, span: at..end, depth });
                if kind == Kind::Open {
                    depth += 1;
                }
            }
            // Every scan moves on, so that the loop ends on any text.
            at = end.max(at + c.len_utf8());
        }
        Self { text, all }
    }

    /// The token, if there is one.
    pub fn get(&self, index: usize) -> Option<&Token> {
        self.all.get(index)
    }

    /// What a token is.
    pub fn kind(&self, index: usize) -> Option<Kind> {
        self.get(index).map(|token| token.kind)
    }

    /// The token as written; empty behind the end.
    pub fn written(&self, index: usize) -> &'a str {
        self.get(index).and_then(|token| self.text.get(token.span.clone())).unwrap_or_default()
    }

    /// Whether the token is this keyword, in any case.
    pub fn is(&self, index: usize, keyword: &str) -> bool {
        self.kind(index) == Some(Kind::Word) && self.written(index).eq_ignore_ascii_case(keyword)
    }

    /// Whether the token is one of these keywords.
    pub fn is_any(&self, index: usize, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.is(index, keyword))
    }

    /// Whether the token is this operator.
    pub fn is_operator(&self, index: usize, operator: &str) -> bool {
        self.kind(index) == Some(Kind::Operator) && self.written(index) == operator
    }

    /// The name a token stands for: folded to lower case unless quoted.
    pub fn name(&self, index: usize) -> Option<String> {
        let written = self.written(index);
        match self.kind(index)? {
            // PostgreSQL folds ASCII letters only.
            Kind::Word => Some(written.to_ascii_lowercase()),
            Kind::Quoted => Some(inside(written).replace("\"\"", "\"")),
            Kind::Backticked => Some(inside(written).to_owned()),
            _ => None,
        }
    }

    /// The token that covers a byte offset, or the first one behind it.
    pub fn at(&self, offset: usize) -> Option<usize> {
        let index = self.all.partition_point(|token| token.span.end <= offset);
        (index < self.all.len()).then_some(index)
    }

    /// The parenthesis that closes the one at `open`.
    pub fn closing(&self, open: usize) -> Option<usize> {
        let depth = self.get(open)?.depth;
        let rest = self.all.iter().enumerate().skip(open + 1);
        rest.into_iter()
            .find(|(_, token)| token.kind == Kind::Close && token.depth == depth)
            .map(|(index, _)| index)
    }

    /// The arguments between the parenthesis at `open` and its partner, as token ranges.
    pub fn arguments(&self, open: usize) -> Option<Vec<Range<usize>>> {
        Some(self.split(open + 1..self.closing(open)?))
    }

    /// A range of tokens cut at the commas on its own level; empty parts are left out.
    pub fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let Some(depth) = self.get(range.start).map(|token| token.depth) else { return Vec::new() };
        let mut parts = Vec::new();
        let mut start = range.start;
        for index in range.clone() {
            let comma =
                self.get(index).is_some_and(|token| token.kind == Kind::Comma && token.depth == depth);
            if comma {
                parts.push(start..index);
                start = index + 1;
            }
        }
        parts.push(start..range.end);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// The bytes that a range of tokens takes.
    pub fn bytes(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let last = range.end.checked_sub(1).filter(|last| *last >= range.start)?;
        Some(self.get(range.start)?.span.start..self.get(last)?.span.end)
    }

    /// A range of tokens as written.
    pub fn slice(&self, range: &Range<usize>) -> &'a str {
        self.bytes(range).and_then(|bytes| self.text.get(bytes)).unwrap_or_default()
    }

    /// Comparisons of two columns of one relation, `a.x = a.y`; with `same` only those of a column with itself.
    pub fn compared_within(&self, same: bool) -> usize {
        let qualified = |index: usize| {
            let dotted = self.kind(index + 1) == Some(Kind::Dot) && self.kind(index + 3) != Some(Kind::Dot);
            Some((self.name(index)?, self.name(index + 2)?)).filter(|_| dotted)
        };
        (0..self.all.len())
            .filter(|index| {
                let begins = index.checked_sub(1).and_then(|before| self.kind(before)) != Some(Kind::Dot);
                let compares = ["=", "<>", "!=", "<", ">", "<=", ">="].contains(&self.written(index + 3));
                let (Some(left), Some(right)) = (qualified(*index), qualified(index + 4)) else {
                    return false;
                };
                begins && compares && left.0 == right.0 && (!same || left.1 == right.1)
            })
            .count()
    }

    /// The place where the text ends, before a closing semicolon.
    pub fn end(&self) -> usize {
        let last = self.all.iter().rev().find(|token| token.kind != Kind::Semicolon);
        last.map_or(self.text.len(), |token| token.span.end)
    }
}

/// A text without the quotes around it.
pub fn inside(quoted: &str) -> &str {
    let mut chars = quoted.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

/// A name as SQL writes it: quoted only where it must be.
pub fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !RESERVED.contains(&name);
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A text literal as SQL writes it.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Words that PostgreSQL reserves and that occur as names of other dialects' columns and tables.
const RESERVED: [&str; 36] = [
    "all",
    "and",
    "any",
    "as",
    "asc",
    "case",
    "check",
    "column",
    "constraint",
    "create",
    "default",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "false",
    "fetch",
    "for",
    "from",
    "group",
    "having",
    "in",
    "into",
    "limit",
    "not",
    "offset",
    "on",
    "order",
    "primary",
    "references",
    "select",
    "table",
    "then",
    "user",
    "where",
];

/// The kind of what begins at `at`, none for white space and comments, and where it ends.
fn scan(text: &str, at: usize, c: char) -> (Option<Kind>, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let run = |keep: fn(char) -> bool| at + rest.find(|c: char| !keep(c)).unwrap_or(rest.len());
    match c {
        _ if c.is_whitespace() => (None, run(char::is_whitespace)),
        '-' if rest.starts_with("--") => (None, at + rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => (None, at + comment(rest)),
        '\'' => (Some(Kind::Text), at + quoted(rest, '\'', false)),
        'e' | 'E' if rest.get(1..2) == Some("'") => {
            (Some(Kind::Text), at + 1 + quoted(rest.get(1..).unwrap_or_default(), '\'', true))
        }
        '"' => (Some(Kind::Quoted), at + quoted(rest, '"', false)),
        '`' => (Some(Kind::Backticked), at + quoted(rest, '`', false)),
        '$' if dollar(rest).is_some() => (Some(Kind::Text), at + dollar(rest).unwrap_or(rest.len())),
        _ if c.is_alphabetic() || c == '_' => {
            (Some(Kind::Word), run(|c| c.is_alphanumeric() || c == '_' || c == '$'))
        }
        _ if c.is_ascii_digit() => (Some(Kind::Number), at + number(rest)),
        '(' => (Some(Kind::Open), at + 1),
        ')' => (Some(Kind::Close), at + 1),
        '[' => (Some(Kind::OpenBracket), at + 1),
        ']' => (Some(Kind::CloseBracket), at + 1),
        ',' => (Some(Kind::Comma), at + 1),
        ';' => (Some(Kind::Semicolon), at + 1),
        '.' if rest.get(1..).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit())) => {
            (Some(Kind::Number), at + number(rest))
        }
        '.' => (Some(Kind::Dot), at + 1),
        _ if is_operator(c) => {
            let end = run(is_operator);
            // A comment may follow an operator at once.
            let body = text.get(at..end).unwrap_or_default();
            let cut = [body.find("--"), body.find("/*")].into_iter().flatten().filter(|at| *at > 0).min();
            (Some(Kind::Operator), cut.map_or(end, |cut| at + cut))
        }
        _ => (Some(Kind::Other), at + c.len_utf8()),
    }
}

fn is_operator(c: char) -> bool {
    "+-*/<>=~!@#%^&|?:".contains(c)
}

/// The length of a quoted text; an unclosed one takes the rest.
fn quoted(rest: &str, quote: char, backslash: bool) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if backslash && c == '\\' {
            chars.next();
        } else if c == quote {
            if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
            } else {
                return at + c.len_utf8();
            }
        }
    }
    rest.len()
}

/// The length of `$tag$...$tag$`, if that is what begins here.
fn dollar(rest: &str) -> Option<usize> {
    let close = rest.get(1..)?.find('$')? + 2;
    let tag = rest.get(..close)?;
    let name = inside(tag);
    let named = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if !named {
        return None;
    }
    let body = rest.get(close..)?;
    Some(close + body.find(tag).map_or(body.len(), |end| end + tag.len()))
}

/// The length of a comment, nested ones inside.
fn comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

fn number(rest: &str) -> usize {
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let exponent = matches!(c, 'e' | 'E')
            && chars.peek().is_some_and(|(_, c)| c.is_ascii_digit() || matches!(c, '+' | '-'));
        let sign = matches!(c, '+' | '-') && rest.get(..at).is_some_and(|seen| seen.ends_with(['e', 'E']));
        if !(c.is_ascii_digit() || c == '.' || exponent || sign) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<&str> {
        let tokens = Tokens::of(text);
        (0..tokens.all.len()).map(|index| tokens.written(index)).collect()
    }

    #[test]
    fn tokens_are_found_whatever_the_dialect() {
        for (text, want) in [
            ("SELECT a.b, 1.5e-3", vec!["SELECT", "a", ".", "b", ",", "1.5e-3"]),
            ("'it''s' E'a\\'b' \"x\"\"y\" `z w`", vec!["'it''s'", "E'a\\'b'", "\"x\"\"y\"", "`z w`"]),
            ("a -- no 'quote\n+b /* x /* y */ ' */ c", vec!["a", "+", "b", "c"]),
            ("a>=1::int", vec!["a", ">=", "1", "::", "int"]),
            ("$q$a'b$q$ $1 $", vec!["$q$a'b$q$", "$", "1", "$"]),
            ("a==b--c", vec!["a", "==", "b"]),
            ("x [y] ;", vec!["x", "[", "y", "]", ";"]),
            ("'open", vec!["'open"]),
            ("größe/*", vec!["größe"]),
            ("", vec![]),
        ] {
            assert_eq!(written(text), want, "{text}");
        }
    }

    #[test]
    fn parentheses_pair_and_arguments_split() {
        let tokens = Tokens::of("f(a, g(b, c), ')')");
        assert_eq!(tokens.closing(1), Some(12));
        let parts: Vec<&str> = tokens.arguments(1).unwrap().iter().map(|part| tokens.slice(part)).collect();
        assert_eq!(parts, ["a", "g(b, c)", "')'"]);
        assert_eq!(Tokens::of("f()").arguments(1), Some(vec![]));
        assert_eq!(Tokens::of("f(a").arguments(1), None);
    }

    #[test]
    fn names_are_folded_and_written_back() {
        let tokens = Tokens::of("Bills \"Order\" `x`");
        assert_eq!(tokens.name(0).as_deref(), Some("bills"));
        assert_eq!(tokens.name(1).as_deref(), Some("Order"));
        for (name, want) in
            [("bills", "bills"), ("Order", "\"Order\""), ("order", "\"order\""), ("a\"b", "\"a\"\"b\"")]
        {
            assert_eq!(identifier(name), want);
        }
        assert_eq!(literal("it's"), "'it''s'");
    }

    #[test]
    fn offsets_find_their_token() {
        let tokens = Tokens::of("ab  cd");
        for (offset, want) in [(0, Some(0)), (1, Some(0)), (2, Some(1)), (4, Some(1)), (6, None)] {
            assert_eq!(tokens.at(offset), want, "{offset}");
        }
    }
}
