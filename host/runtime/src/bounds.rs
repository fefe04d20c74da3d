//! Bounds on what comes out of a component: a value is [`Untrusted`] until it has passed them.
//!
//! The bytes that cross at all are limited before they are converted (`Limits::output_bytes`); here each field is held
//! to its own rule. The first broken rule ends the check and names the field. Whether a table exists or a text may
//! run is not asked here: the catalogue and the gate decide that.

use std::fmt;

use thiserror::Error;

/// Bytes of a word that selects something: a role, an operator, a kind.
pub const WORD: usize = 64;
/// Bytes of a name: of a table, a column, a thing in the question.
pub const NAME: usize = 256;
/// Bytes of a sentence for people.
pub const SENTENCE: usize = 2_048;
/// Bytes of a text such as a draft's reasoning or a lesson.
pub const TEXT: usize = 8_192;
/// Bytes of an SQL text.
pub const SQL: usize = 65_536;
/// Bytes of a stage's instructions to a model, and of a JSON schema.
pub const INSTRUCTIONS: usize = 16 << 10;
/// Bytes of a stage's prompt.
pub const PROMPT: usize = 32 << 10;
/// Characters of an answer.
pub const ANSWER_CHARS: usize = 2_000;
/// Items of an ordinary list.
pub const ITEMS: usize = 64;
/// Items of a list of values or columns.
pub const MANY: usize = 512;
/// Attributes of a record.
pub const ATTRIBUTES: usize = 32;
/// Bytes of an attribute's value.
pub const ATTRIBUTE_VALUE: usize = 4_096;
/// Options of a clarification.
pub const OPTIONS: usize = 8;
/// Lesson candidates of one exchange.
pub const LESSONS: usize = 3;

/// A value breaks a rule of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{field}` {rule}")]
pub struct BrokenRule {
    /// Where, as a path: `done.filters[3].values`.
    pub field: String,
    /// What is wrong, in words that follow the field's name.
    pub rule: String,
}

/// What a component returned, before its bounds were checked.
#[derive(Debug, Clone)]
pub struct Untrusted<T>(T);

impl<T: Bounded> Untrusted<T> {
    /// Wraps a value that came out of a component.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, when it keeps every rule.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn check(self) -> Result<T, BrokenRule> {
        self.0.bounded(&Field::root("result"))?;
        Ok(self.0)
    }
}

/// A type with rules.
pub trait Bounded {
    /// Checks this value and all in it; `at` is where it stands.
    ///
    /// # Errors
    /// The first rule it breaks.
    fn bounded(&self, at: &Field<'_>) -> Result<(), BrokenRule>;
}

/// A place in a value, as a chain back to the root. Costs nothing until a rule is broken.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    parent: Option<&'a Self>,
    step: Step<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Item(usize),
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match (self.step, self.parent) {
            (Step::Name(name), None) => f.write_str(name),
            (Step::Name(name), Some(_)) => write!(f, ".{name}"),
            (Step::Item(index), _) => write!(f, "[{index}]"),
        }
    }
}

impl<'a> Field<'a> {
    /// The value itself.
    #[must_use]
    pub const fn root(name: &'a str) -> Self {
        Self { parent: None, step: Step::Name(name) }
    }

    /// A field of it.
    #[must_use]
    pub const fn at(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Name(name) }
    }

    /// An item of it.
    #[must_use]
    pub const fn item(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Item(index) }
    }

    /// The error that this place breaks a rule.
    ///
    /// # Errors
    /// Always.
    pub fn broken(&self, rule: impl Into<String>) -> Result<(), BrokenRule> {
        Err(BrokenRule { field: self.to_string(), rule: rule.into() })
    }

    /// A text that another room examines (SQL, prompts): only its length is held to a limit.
    pub(crate) fn raw(&self, text: &str, most: usize) -> Result<(), BrokenRule> {
        if text.len() > most {
            return self.broken(format!("has {} bytes, at most {most} are allowed", text.len()));
        }
        Ok(())
    }

    /// A text for people or for the record: no control characters but tab and line ends.
    pub(crate) fn text(&self, text: &str, most: usize) -> Result<(), BrokenRule> {
        self.raw(text, most)?;
        match text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
            Some(c) => self.broken(format!("holds the control character U+{:04X}", c as u32)),
            None => Ok(()),
        }
    }

    pub(crate) fn optional_text(&self, text: Option<&String>, most: usize) -> Result<(), BrokenRule> {
        text.map_or(Ok(()), |text| self.text(text, most))
    }

    /// A score or a confidence: finite.
    pub(crate) fn finite(&self, number: f64) -> Result<(), BrokenRule> {
        if number.is_finite() { Ok(()) } else { self.broken("is not a finite number") }
    }

    /// A list of at most so many items, each checked.
    pub(crate) fn list<T>(
        &self,
        items: &[T],
        most: usize,
        each: impl Fn(&Field<'_>, &T) -> Result<(), BrokenRule>,
    ) -> Result<(), BrokenRule> {
        if items.len() > most {
            return self.broken(format!("has {} items, at most {most} are allowed", items.len()));
        }
        items.iter().enumerate().try_for_each(|(index, item)| each(&self.item(index), item))
    }

    pub(crate) fn texts(&self, items: &[String], most: usize, bytes: usize) -> Result<(), BrokenRule> {
        self.list(items, most, |at, item| at.text(item, bytes))
    }

    pub(crate) fn records<T: Bounded>(&self, items: &[T], most: usize) -> Result<(), BrokenRule> {
        self.list(items, most, |at, item| item.bounded(at))
    }
}

/// Cuts a text to so many bytes, at a character's edge.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// A line fit for a log: control characters, which could rewrite a terminal, become spaces; cut to so many bytes.
pub(crate) fn line(text: &str, bytes: usize) -> String {
    cut(text, bytes).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_rule_names_its_field() {
        let root = Field::root("result");
        let filters = root.at("filters");
        let fourth = filters.item(3);
        let values = fourth.at("values");
        let broken = values.texts(&["ok".to_owned(), "\u{1b}[2J".to_owned()], 8, WORD).unwrap_err();
        assert_eq!(broken.to_string(), "`result.filters[3].values[1]` holds the control character U+001B");
    }

    #[test]
    fn limits_are_inclusive() {
        let root = Field::root("x");
        for (length, ok) in [(0, true), (WORD, true), (WORD + 1, false)] {
            assert_eq!(root.text(&"a".repeat(length), WORD).is_ok(), ok, "{length}");
            assert_eq!(root.list(&vec![(); length], WORD, |_, ()| Ok(())).is_ok(), ok, "{length}");
        }
        for (number, ok) in [(0.5, true), (f64::NAN, false), (f64::INFINITY, false)] {
            assert_eq!(root.finite(number).is_ok(), ok, "{number}");
        }
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        for (text, bytes, want) in [("héllo", 2, "h"), ("héllo", 3, "hé"), ("abc", 9, "abc"), ("", 0, "")]
        {
            assert_eq!(cut(text, bytes), want);
        }
        assert_eq!(line("a\x1b[31m\nb", 64), "a [31m b");
    }
}
