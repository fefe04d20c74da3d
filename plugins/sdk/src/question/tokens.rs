//! A question taken apart into tokens that keep their place.

use super::stems::stem;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, perhaps with digits and inner hyphens removed.
    Word,
    /// Digits with an optional decimal part.
    Number,
    /// What stood between quotation marks.
    Quoted,
    /// Anything else that is not space.
    Mark,
}

/// One token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// As written; without the quotation marks for [`TokenKind::Quoted`].
    pub text: String,
    /// In lower case.
    pub lower: String,
    /// The stem of a word; the lower case of anything else.
    pub stem: String,
    /// What it is.
    pub kind: TokenKind,
    /// First byte in the text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// An underscore stands before it: the words of one identifier.
    pub glued: bool,
}

impl Token {
    fn new(text: &str, kind: TokenKind, start: usize, end: usize) -> Self {
        let lower = text.to_lowercase();
        let stem = if kind == TokenKind::Word { stem(&lower) } else { lower.clone() };
        Self { text: text.to_owned(), lower, stem, kind, start, end, glued: false }
    }

    /// True when the token is this word.
    pub fn is(&self, word: &str) -> bool {
        self.kind != TokenKind::Quoted && self.lower == word
    }
}

/// Most tokens that are read; a question is bounded long before, this bounds the work on one that is not.
const TOKENS: usize = 2_000;

/// Takes a text apart. A hyphen or an underscore between letters separates words; an apostrophe that marks a possessive is dropped.
pub fn tokenize(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let at = |index: usize| chars.get(index).map_or('\0', |(_, c)| *c);
    let offset = |index: usize| chars.get(index).map_or(text.len(), |(byte, _)| *byte);
    let slice = |from: usize, to: usize| text.get(offset(from)..offset(to)).unwrap_or_default();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() && tokens.len() < TOKENS {
        let c = at(i);
        if c.is_whitespace() || c == '_' {
            i += 1;
        } else if let Some(close) = closing_quote(c, i, &at, chars.len()) {
            tokens.push(Token::new(slice(i + 1, close), TokenKind::Quoted, offset(i), offset(close + 1)));
            i = close + 1;
        } else if c.is_ascii_digit() {
            let from = i;
            while at(i).is_ascii_digit()
                || (matches!(at(i), '.' | ',') && at(i + 1).is_ascii_digit() && grouped(i, from, &at))
            {
                i += 1;
            }
            if at(i).is_alphabetic() {
                while at(i).is_alphanumeric() {
                    i += 1;
                }
                tokens.push(Token::new(slice(from, i), TokenKind::Word, offset(from), offset(i)));
            } else {
                let digits: String = slice(from, i).chars().filter(|c| *c != ',').collect();
                tokens.push(Token::new(&digits, TokenKind::Number, offset(from), offset(i)));
            }
        } else if c.is_alphanumeric() {
            let from = i;
            while at(i).is_alphanumeric() || (at(i) == '\'' && negated(&at, i)) || joined(&at, i) {
                i += 1;
            }
            tokens.push(Token::new(slice(from, i), TokenKind::Word, offset(from), offset(i)));
            if matches!(at(i), '\'' | '\u{2019}')
                && matches!(at(i + 1), 's' | 'S')
                && !at(i + 2).is_alphanumeric()
            {
                i += 2;
            }
        } else {
            let double = matches!((c, at(i + 1)), ('>' | '<' | '!', '=') | ('<', '>'));
            let to = if double { i + 2 } else { i + 1 };
            tokens.push(Token::new(slice(i, to), TokenKind::Mark, offset(i), offset(to)));
            i = to;
        }
    }
    for token in &mut tokens {
        token.glued = text.get(..token.start).is_some_and(|before| before.ends_with('_'));
    }
    tokens
}

/// A comma or point inside a number: a point once, a comma only before three digits.
fn grouped(i: usize, from: usize, at: &impl Fn(usize) -> char) -> bool {
    if at(i) == '.' {
        return (from..i).all(|before| at(before) != '.');
    }
    (1..=3).all(|step| at(i + step).is_ascii_digit()) && !at(i + 4).is_ascii_digit()
}

/// The ampersand of `R&D`: one name, where no space stands beside it.
fn joined(at: &impl Fn(usize) -> char, i: usize) -> bool {
    at(i) == '&' && i > 0 && at(i - 1).is_alphabetic() && at(i + 1).is_alphabetic()
}

/// A text in lower case without the accents and strokes of Latin letters: `San José` and `san jose` are the same.
#[must_use]
pub fn folded(text: &str) -> String {
    const PLAIN: [(&str, &str); 27] = [
        ("àáâãäåāăą", "a"),
        ("çćĉċč", "c"),
        ("ďđð", "d"),
        ("èéêëēĕėęě", "e"),
        ("ĝğġģ", "g"),
        ("ĥħ", "h"),
        ("ìíîïĩīĭįı", "i"),
        ("ĵ", "j"),
        ("ķ", "k"),
        ("ĺļľŀł", "l"),
        ("ñńņňŋ", "n"),
        ("òóôõöøōŏő", "o"),
        ("ŕŗř", "r"),
        ("śŝşšș", "s"),
        ("ţťŧț", "t"),
        ("ùúûüũūŭůűų", "u"),
        ("ŵ", "w"),
        ("ýÿŷ", "y"),
        ("źżž", "z"),
        ("ß", "ss"),
        ("æ", "ae"),
        ("œ", "oe"),
        ("þ", "th"),
        ("’", "'"),
        ("‘", "'"),
        ("ḿ", "m"),
        ("ƀ", "b"),
    ];
    let accent = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    let mut plain = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase).filter(|c| !accent(c)) {
        match PLAIN.iter().find(|(letters, _)| !c.is_ascii() && letters.contains(c)) {
            Some((_, letter)) => plain.push_str(letter),
            None => plain.push(c),
        }
    }
    plain
}

/// The apostrophe of `haven't`.
fn negated(at: &impl Fn(usize) -> char, i: usize) -> bool {
    i > 0 && matches!(at(i - 1), 'n' | 'N') && matches!(at(i + 1), 't' | 'T') && !at(i + 2).is_alphanumeric()
}

/// Where a quotation that opens at `i` closes, if one opens there.
fn closing_quote(open: char, i: usize, at: &impl Fn(usize) -> char, length: usize) -> Option<usize> {
    let close = match open {
        '"' | '`' => open,
        '\u{201c}' => '\u{201d}',
        '\u{2018}' => '\u{2019}',
        '\'' if i == 0 || !at(i - 1).is_alphanumeric() => '\'',
        _ => return None,
    };
    (i + 1..length.min(i + 200)).find(|at_close| {
        at(*at_close) == close && *at_close > i + 1 && (close != '\'' || !at(at_close + 1).is_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_and_strokes_are_folded() {
        for (text, want) in [
            ("San José", "san jose"),
            ("Łódź", "lodz"),
            ("STRAßE", "strasse"),
            ("Jose\u{301}", "jose"),
            ("売上", "売上"),
        ] {
            assert_eq!(folded(text), want);
        }
    }

    #[test]
    fn tokens_keep_their_place() {
        let texts = |text: &str| tokenize(text).into_iter().map(|t| t.text).collect::<Vec<_>>();
        assert_eq!(
            texts("What's 'New York' worth, 1,250.5?"),
            ["What", "New York", "worth", ",", "1250.5", "?"]
        );
        assert_eq!(
            texts("customers' orders haven't >= 3"),
            ["customers", "'", "orders", "haven't", ">=", "3"]
        );
        assert_eq!(texts("best-selling 2026-07-01"), ["best", "-", "selling", "2026", "-", "07", "-", "01"]);
        assert_eq!(texts("1st Q3"), ["1st", "Q3"]);
        assert_eq!(texts("R&D, A & B"), ["R&D", ",", "A", "&", "B"]);
        for token in tokenize("Größe der \"Kiste\"") {
            assert!("Größe der \"Kiste\"".get(token.start..token.end).is_some());
        }
    }
}
