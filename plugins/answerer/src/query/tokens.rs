//! The words, literals and signs of a query's text, as far as it takes to see what is compared with what.

use std::collections::BTreeSet;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name, in small letters.
    Word,
    /// A text literal, without its quotes.
    Text,
    Number,
    /// A bracket, a comma, a dot or an operator.
    Mark,
}

/// One token.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// Brackets open around it; a bracket itself is outside of what it encloses.
    pub(super) depth: usize,
}

impl Token {
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }
}

/// How a literal is compared.
pub(super) struct Comparison {
    pub(super) operator: String,
    pub(super) negative: bool,
    pub(super) part: Option<&'static str>,
}

/// The tokens of a text; comments and spaces are left out.
pub(super) fn tokens(sql: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = sql.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = sql.get(at..).unwrap_or_default();
        let run = |fits: &dyn Fn(char) -> bool| rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
        let (kind, length) = match c {
            _ if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            '\'' | '"' => (Some(if c == '"' { Kind::Word } else { Kind::Text }), quoted(rest, c)),
            _ if c.is_ascii_digit() => (Some(Kind::Number), run(&|c| c.is_ascii_digit() || c == '.')),
            _ if c.is_alphabetic() || c == '_' => {
                (Some(Kind::Word), run(&|c| c.is_alphanumeric() || c == '_'))
            }
            _ if "<>=!~".contains(c) => (Some(Kind::Mark), run(&|c| "<>=!~*".contains(c))),
            ':' => (Some(Kind::Mark), run(&|c| c == ':')),
            _ if c.is_whitespace() => (None, c.len_utf8()),
            _ => (Some(Kind::Mark), c.len_utf8()),
        };
        let length = length.max(c.len_utf8());
        let written = rest.get(..length).unwrap_or_default();
        if c == ')' {
            depth = depth.saturating_sub(1);
        }
        if let Some(kind) = kind {
            let text = match (kind, c) {
                (Kind::Text, _) => written.trim_matches('\'').replace("''", "'"),
                (Kind::Word, '"') => written.trim_matches('"').to_lowercase(),
                (Kind::Word, _) => written.to_lowercase(),
                _ => written.to_owned(),
            };
            found.push(Token { kind, text, depth });
        }
        if c == '(' {
            depth += 1;
        }
        at += length;
    }
    found
}

/// The length of what stands in quotes, doubled ones inside it.
fn quoted(rest: &str, quote: char) -> usize {
    let mut end = quote.len_utf8();
    while let Some(next) = rest.get(end..).and_then(|rest| rest.find(quote)) {
        end += next + quote.len_utf8();
        if !rest.get(end..).is_some_and(|rest| rest.starts_with(quote)) {
            return end;
        }
        end += quote.len_utf8();
    }
    rest.len()
}

/// The bracket that is open around a token.
fn opened(read: &[Token], at: usize) -> Option<usize> {
    let depth = read.get(at)?.depth.checked_sub(1)?;
    read.get(..at)?.iter().rposition(|token| token.text == "(" && token.depth == depth)
}

/// The bracket that opens what is closed at a place.
fn opening(read: &[Token], close: usize) -> Option<usize> {
    let depth = read.get(close)?.depth;
    read.get(..close)?.iter().rposition(|token| token.text == "(" && token.depth == depth)
}

/// Whether a FROM belongs to a function: `extract(year FROM day)`.
pub(super) fn in_call(read: &[Token], at: usize) -> bool {
    let called = opened(read, at).and_then(|open| read.get(open.checked_sub(1)?));
    called.is_some_and(|token| ["extract", "substring", "trim", "overlay"].iter().any(|name| token.is(name)))
        || at.checked_sub(1).and_then(|before| read.get(before)).is_some_and(|token| token.is("distinct"))
}

/// How what stands at a place is compared; nothing where it is no side of a comparison.
pub(super) fn comparison(read: &[Token], at: usize) -> Option<Comparison> {
    const TYPES: [&str; 12] = [
        "date",
        "timestamp",
        "timestamptz",
        "time",
        "zone",
        "with",
        "without",
        "cast",
        "lower",
        "upper",
        "trim",
        "(",
    ];
    let list = opened(read, at).filter(|open| {
        open.checked_sub(1).and_then(|before| read.get(before)).is_some_and(|token| token.is("in"))
    });
    if let Some(open) = list {
        let negative = open.checked_sub(2).and_then(|at| read.get(at)).is_some_and(|token| token.is("not"));
        return Some(Comparison {
            operator: "=".into(),
            negative,
            part: open
                .checked_sub(2)
                .and_then(|end| part(read, if negative { end.checked_sub(1)? } else { end })),
        });
    }
    let mut before = at.checked_sub(1)?;
    while read.get(before).is_some_and(|token| TYPES.contains(&token.text.as_str())) {
        before = before.checked_sub(1)?;
    }
    let sign = read.get(before)?;
    let not = before.checked_sub(1).and_then(|at| read.get(at)).is_some_and(|token| token.is("not"));
    let left = |end: usize| end.checked_sub(usize::from(not) + 1).and_then(|end| part(read, end));
    let is_sign =
        |token: &Token| token.kind == Kind::Mark && token.text.starts_with(['<', '>', '=', '!', '~']);
    if is_sign(sign) {
        let negative = ["<>", "!="].contains(&sign.text.as_str()) || sign.text.starts_with("!~");
        return Some(Comparison { operator: sign.text.clone(), negative, part: left(before) });
    }
    if sign.is("like") || sign.is("ilike") {
        return Some(Comparison { operator: "=".into(), negative: not, part: None });
    }
    if sign.is("between") {
        return Some(Comparison { operator: ">=".into(), negative: not, part: left(before) });
    }
    // The upper end of BETWEEN: the literal, perhaps with its type, before the AND.
    if sign.is("and") {
        let depth = sign.depth;
        let lower = read.get(..before)?.iter().rposition(|token| {
            token.depth == depth && ["between", "and", "or", "where"].iter().any(|word| token.is(word))
        })?;
        if read.get(lower)?.is("between") {
            let not = lower.checked_sub(1).and_then(|at| read.get(at)).is_some_and(|token| token.is("not"));
            return Some(Comparison { operator: "<=".into(), negative: not, part: None });
        }
    }
    let next = read.get(at + 1)?;
    is_sign(next).then(|| Comparison {
        operator: match next.text.as_str() {
            "<" => ">".into(),
            ">" => "<".into(),
            "<=" => ">=".into(),
            ">=" => "<=".into(),
            other => other.into(),
        },
        negative: ["<>", "!="].contains(&next.text.as_str()),
        part: None,
    })
}

/// The part of a date that ends at a token: `extract(year FROM day)`, `date_part('year', day)`, or a column of that name.
fn part(read: &[Token], end: usize) -> Option<&'static str> {
    const PARTS: [&str; 4] = ["year", "quarter", "month", "day"];
    let token = read.get(end)?;
    if token.text == ")" {
        let open = opening(read, end)?;
        let called = read.get(open.checked_sub(1)?)?;
        if called.text == "cast" || called.kind != Kind::Word {
            return None;
        }
        let first = read.get(open + 1)?;
        let takes = called.is("extract") || called.is("date_part");
        return PARTS.into_iter().find(|part| takes && first.text == *part);
    }
    // `extract(year FROM day)::int`
    if let Some(cast) =
        end.checked_sub(1).filter(|cast| read.get(*cast).is_some_and(|token| token.text == "::"))
    {
        return part(read, cast.checked_sub(1)?);
    }
    PARTS.into_iter().find(|part| token.kind == Kind::Word && token.text.rsplit('_').next() == Some(part))
}

/// Tokens of what the query leaves out: behind NOT, behind EXCEPT, and in the conditions of a join whose missing rows are looked
/// for.
pub(super) fn refused(read: &[Token]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let misses = read.windows(2).any(|pair| matches!(pair, [is, null] if is.is("is") && null.is("null")));
    for (at, token) in read.iter().enumerate() {
        let depth = token.depth;
        let next = |step: usize| read.get(at + step).map_or("", |next| next.text.as_str());
        let behind = || read.iter().enumerate().skip(at + 1);
        if token.is("not") && (next(1) == "(" || next(1) == "exists") {
            found.extend(
                behind()
                    .skip(1)
                    .take_while(|(_, token)| token.depth > depth || token.text == "(")
                    .map(|(at, _)| at),
            );
        } else if token.is("except") {
            found.extend(behind().take_while(|(_, token)| token.depth >= depth).map(|(at, _)| at));
        } else if token.is("left") && next(1) != "(" && misses {
            let ends = ["where", "group", "join", "left", "inner", "order"];
            found.extend(
                behind()
                    .skip(usize::from(next(1) == "outer") + 1)
                    .take_while(|(_, token)| token.depth >= depth && !ends.iter().any(|word| token.is(word)))
                    .map(|(at, _)| at),
            );
        }
    }
    found
}
