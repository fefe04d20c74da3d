//! Text hygiene: what a person or a file may hand in, and what is hidden in it.
//!
//! Invisible characters change what a reader sees without changing what a parser reads (or the other way round), so they
//! are refused where people write. The zero-width joiner and non-joiner are spelling in several scripts and pass in
//! questions and literals; an identifier has no use for them.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

/// Where a text stands decides which invisible characters it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Questions, notes, literals: the joiners are spelling.
    Prose,
    /// Names of things: no invisible character at all.
    Identifier,
}

/// A character that must not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenCharacter {
    /// The character.
    pub character: char,
    /// Where it starts, in bytes.
    pub offset: usize,
    /// What it is, in words.
    pub what: &'static str,
}

impl fmt::Display for HiddenCharacter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (U+{:04X}) at byte {}", self.what, self.character as u32, self.offset)
    }
}

/// What kind of hidden character this is, if it is one that `place` refuses.
#[must_use]
pub fn hidden(character: char, place: Place) -> Option<&'static str> {
    if place == Place::Identifier
        && let Some(what) = misleading(character)
    {
        return Some(what);
    }
    match character {
        '\t' | '\n' | '\r' => None,
        '\0' => Some("NUL"),
        // White space to PostgreSQL; to whoever reads, a new page, a cleared screen or nothing.
        '\u{b}' => Some("vertical tab"),
        '\u{c}' => Some("form feed"),
        '\u{1}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some("control character"),
        '\u{200c}' | '\u{200d}' => (place == Place::Identifier).then_some("zero-width joiner"),
        '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{180e}' => Some("zero-width space"),
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("bidirectional control")
        }
        '\u{2061}'..='\u{2064}' | '\u{206a}'..='\u{206f}' => Some("invisible operator"),
        '\u{ad}' => Some("soft hyphen"),
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => Some("invisible filler"),
        '\u{2028}' | '\u{2029}' => Some("line or paragraph separator"),
        '\u{fff9}'..='\u{fffb}' => Some("interlinear annotation"),
        '\u{e0000}'..='\u{e007f}' => Some("tag character"),
        _ => None,
    }
}

/// Characters that a prose may need and that make two names look alike.
fn misleading(character: char) -> Option<&'static str> {
    match character {
        '\u{fe00}'..='\u{fe0f}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{e0100}'..='\u{e01ef}' => {
            Some("variation selector")
        }
        '\u{34f}' => Some("combining grapheme joiner"),
        '\u{17b4}' | '\u{17b5}' => Some("invisible vowel"),
        '\u{2800}' => Some("blank Braille pattern"),
        // The ASCII space is plain to see between its quotes, and tabs and line ends are judged for every place.
        _ if character.is_whitespace() && !character.is_ascii() => Some("space that is not ASCII"),
        _ => None,
    }
}

/// The first character of `text` that `place` refuses.
#[must_use]
pub fn find_hidden(text: &str, place: Place) -> Option<HiddenCharacter> {
    text.char_indices().find_map(|(offset, character)| {
        hidden(character, place).map(|what| HiddenCharacter { character, offset, what })
    })
}

/// A text for the eyes of a person: what `place` refuses in it is shown by its number.
#[must_use]
pub fn visible(text: &str, place: Place) -> Cow<'_, str> {
    if find_hidden(text, place).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if hidden(character, place).is_some() {
            let _ = write!(out, "<U+{:04X}>", character as u32);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// The first `limit` characters of `text`, with an ellipsis when something was cut.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Most characters of a question.
pub const QUESTION_LIMIT: usize = 4_000;

/// A question fit to be asked: not empty, not too long, nothing hidden in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, min_length = 1, max_length = 4000)]
pub struct Question(String);

/// Why a text is not a question. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// Nothing but white space.
    #[error("the question is empty: write what you want to know")]
    Empty,
    /// More than [`QUESTION_LIMIT`] characters.
    #[error(
        "the question has {length} characters, the limit is {QUESTION_LIMIT}: ask for one thing at a time"
    )]
    TooLong {
        /// Characters it has.
        length: usize,
    },
    /// A character that nobody can see.
    #[error("the question holds a {0}: remove it or type the question again")]
    Hidden(HiddenCharacter),
    /// No letter and no digit: nothing that could be a word.
    #[error("the question holds no word: write what you want to know")]
    NoWord,
}

impl Question {
    /// Takes a text as a question; outer white space is dropped.
    ///
    /// # Errors
    /// [`QuestionError`] when it is empty, too long, without a word, or has hidden characters.
    pub fn parse(text: &str) -> Result<Self, QuestionError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(QuestionError::Empty);
        }
        let length = text.chars().count();
        if length > QUESTION_LIMIT {
            return Err(QuestionError::TooLong { length });
        }
        if let Some(found) = find_hidden(text, Place::Prose) {
            return Err(QuestionError::Hidden(found));
        }
        if !text.chars().any(char::is_alphanumeric) {
            return Err(QuestionError::NoWord);
        }
        Ok(Self(text.to_owned()))
    }

    /// The question as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Question {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_parsed_once_at_the_edge() {
        for (text, want) in [
            ("  How many bills? ", Ok("How many bills?")),
            ("کتاب\u{200c}ها چند تا است؟", Ok("کتاب\u{200c}ها چند تا است؟")),
            ("", Err("empty")),
            (" \n\t", Err("empty")),
            ("???", Err("no word")),
            ("a\0b", Err("NUL")),
            ("pay\u{200b}ments", Err("zero-width space")),
            ("pay\u{c}ments", Err("form feed (U+000C) at byte 3")),
            ("\u{202e}abc", Err("bidirectional")),
            ("abc\u{e0041}", Err("tag character")),
        ] {
            match (Question::parse(text), want) {
                (Ok(question), Ok(want)) => assert_eq!(question.as_str(), want),
                (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{text:?}: {error}"),
                (got, want) => panic!("{text:?}: {got:?}, wanted {want:?}"),
            }
        }
        assert!(matches!(
            Question::parse(&"a".repeat(10_000)),
            Err(QuestionError::TooLong { length: 10_000 })
        ));
    }

    #[test]
    fn joiners_are_spelling_in_prose_only() {
        assert_eq!(hidden('\u{200d}', Place::Prose), None);
        assert!(hidden('\u{200d}', Place::Identifier).is_some());
    }

    #[test]
    fn what_makes_names_look_alike_is_refused_in_names_only() {
        for character in ['\u{fe0f}', '\u{34f}', '\u{17b4}', '\u{17b5}', '\u{e0100}', '\u{2800}', '\u{a0}'] {
            assert_eq!(hidden(character, Place::Prose), None, "{character:?}");
            assert!(hidden(character, Place::Identifier).is_some(), "{character:?}");
        }
        for character in [' ', 'é', '\u{301}', '\u{93e}', '顧'] {
            assert_eq!(hidden(character, Place::Identifier), None, "{character:?}");
        }
    }

    #[test]
    fn shorten_counts_characters_not_bytes() {
        assert_eq!(shorten("żółw", 4), "żółw");
        assert_eq!(shorten("żółwie", 4), "żółw…");
    }
}
