//! The text before parsing: size, hidden characters, tokens, brackets, and what only the lexer still sees.

use airlock_types::text::{HiddenCharacter, Place, find_hidden};
use pg_query::protobuf::{ScanToken, Token};

use crate::policy::Limits;
use crate::rejection::{Refusal, RejectionCode};

/// A token that is not a comment, with its byte range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexeme {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) token: i32,
}

impl Lexeme {
    pub(crate) fn is(&self, token: Token) -> bool {
        self.token == token as i32
    }

    /// Its spelling.
    pub(crate) fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// The tokens of a text, comments left out.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) lexemes: Vec<Lexeme>,
}

impl Scan {
    /// The index of the token that starts at this byte.
    pub(crate) fn index_at(&self, location: i32) -> Option<usize> {
        let start = usize::try_from(location).ok()?;
        self.lexemes.binary_search_by_key(&start, |lexeme| lexeme.start).ok()
    }

    /// The token that starts at this byte.
    pub(crate) fn at(&self, location: i32) -> Option<&Lexeme> {
        self.lexemes.get(self.index_at(location)?)
    }

    /// The text without its comments: a space is left where one stood between two tokens.
    pub(crate) fn without_comments(&self, text: &str) -> String {
        let (mut kept, mut from) = (String::new(), 0);
        for lexeme in &self.lexemes {
            let between = text.get(from..lexeme.start).unwrap_or_default();
            kept.push_str(if between.trim().is_empty() { between } else { " " });
            kept.push_str(lexeme.text(text));
            from = lexeme.end;
        }
        let behind = text.get(from..).unwrap_or_default();
        kept.push_str(if behind.trim().is_empty() { behind } else { "" });
        kept
    }

    /// The end of the last token of the statement: trailing semicolons do not count.
    pub(crate) fn end_of_statement(&self) -> usize {
        self.lexemes.iter().rev().find(|lexeme| !lexeme.is(Token::Ascii59)).map_or(0, |lexeme| lexeme.end)
    }
}

/// Reads the tokens of a text that is small enough and hides nothing.
pub(crate) fn scan(text: &str, limits: &Limits, server_version: u32) -> Result<Scan, Box<Refusal>> {
    check_characters(text, limits)?;
    let tokens = tokens(text)?;
    if tokens.len() > limits.tokens {
        return Err(Refusal::new(
            RejectionCode::TooManyTokens,
            format!("the statement has {} tokens, the limit is {}", tokens.len(), limits.tokens),
        )
        .hint("Ask for less at once: long lists of values belong in a table or a subquery."));
    }
    let lexemes: Vec<Lexeme> = tokens.iter().filter_map(lexeme).collect();
    check_lexemes(text, &lexemes, limits, server_version)?;
    Ok(Scan { lexemes })
}

/// All tokens. One more is put behind the text and dropped again: pg_query makes a slice from a null pointer when there
/// is no token at all.
fn tokens(text: &str) -> Result<Vec<ScanToken>, Box<Refusal>> {
    let mut tokens = pg_query::scan_tokens(&format!("{text}\n;")).map_err(|error| {
        // The grammar reads the text as it is, so its complaint shows nothing that was added.
        let error = pg_query::parse(text, 0).err().unwrap_or(error);
        crate::parse::unreadable(text, &error, None)
    })?;
    tokens.pop();
    Ok(tokens)
}

fn lexeme(token: &ScanToken) -> Option<Lexeme> {
    if token.token == Token::SqlComment as i32 || token.token == Token::CComment as i32 {
        return None;
    }
    Some(Lexeme {
        start: usize::try_from(token.start).ok()?,
        end: usize::try_from(token.end).ok()?,
        token: token.token,
    })
}

fn check_characters(text: &str, limits: &Limits) -> Result<(), Box<Refusal>> {
    if text.len() > limits.bytes {
        return Err(Refusal::new(
            RejectionCode::TooLong,
            format!("the statement has {} bytes, the limit is {}", text.len(), limits.bytes),
        ));
    }
    if let Some(found) = find_hidden(text, Place::Prose) {
        return Err(hidden(found));
    }
    Ok(())
}

/// `found` is placed in the statement, not in a piece of it.
fn hidden(found: HiddenCharacter) -> Box<Refusal> {
    let mut refusal =
        Refusal::new(RejectionCode::HiddenCharacter, format!("the statement holds a {found}: remove it"));
    refusal.offset = Some(found.offset);
    refusal
}

/// What the tree no longer shows: brackets, `FOR READ ONLY`, numbers in a newer spelling, joiners in names.
fn check_lexemes(
    text: &str,
    lexemes: &[Lexeme],
    limits: &Limits,
    server_version: u32,
) -> Result<(), Box<Refusal>> {
    let mut open = 0_usize;
    for (index, lexeme) in lexemes.iter().enumerate() {
        let here = || i32::try_from(lexeme.start).unwrap_or(-1);
        if lexeme.is(Token::Ascii40) || lexeme.is(Token::Ascii91) {
            open += 1;
            if open > limits.brackets {
                return Err(too_deep(limits.brackets).at(here()));
            }
        } else if lexeme.is(Token::Ascii41) || lexeme.is(Token::Ascii93) {
            open = open.saturating_sub(1);
        } else if lexeme.is(Token::For) {
            let follows =
                |step: usize, token: Token| lexemes.get(index + step).is_some_and(|next| next.is(token));
            if follows(1, Token::Read) && follows(2, Token::Only) {
                return Err(row_lock().at(here()));
            }
        } else if lexeme.is(Token::Iconst) || lexeme.is(Token::Fconst) {
            let digits = lexeme.text(text);
            let newer = digits.contains('_')
                || digits
                    .strip_prefix('0')
                    .is_some_and(|rest| rest.starts_with(['x', 'X', 'o', 'O', 'b', 'B']));
            if newer && server_version < 160_000 {
                return Err(Refusal::new(
                    RejectionCode::NewerSyntax,
                    format!("`{digits}` is a number only since PostgreSQL 16"),
                )
                .at(here())
                .hint("Write the number in plain decimal digits."));
            }
        } else if (lexeme.is(Token::Ident) || lexeme.is(Token::Uident))
            && let Some(found) = find_hidden(lexeme.text(text), Place::Identifier)
        {
            return Err(hidden(HiddenCharacter { offset: lexeme.start + found.offset, ..found }));
        }
    }
    Ok(())
}

pub(crate) fn too_deep(limit: usize) -> Box<Refusal> {
    Refusal::new(RejectionCode::TooDeep, format!("the statement is nested more than {limit} levels deep"))
}

pub(crate) fn row_lock() -> Box<Refusal> {
    Refusal::new(
        RejectionCode::RowLock,
        "the statement has a locking clause (FOR ...): only reading is allowed",
    )
    .hint("Leave the FOR clause out.")
}
