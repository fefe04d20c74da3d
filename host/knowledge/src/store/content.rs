//! What an item says: checked when it is handed in, hashed, and checked against its hash when it is read back.

use airlock_gate::canonical;
use airlock_plugin_sdk::taught::Rule;
use airlock_types::text::{Place, QuestionError, find_hidden};
use airlock_types::{Clock, ContentHash, Object, Question};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::rows::Kind;
use crate::pack::{LessonKind, limits};

/// Where an item holds: nowhere in particular (the whole domain), or for these schemas and `schema.table`s.
pub type Scope = Vec<String>;

/// Why a text cannot be kept. Each names the field and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContentError {
    /// The question is none.
    #[error("question: {0}")]
    Question(QuestionError),
    /// Nothing there.
    #[error("{field}: it is empty")]
    Empty {
        /// The field.
        field: &'static str,
    },
    /// Too long.
    #[error("{field}: it has {length} characters, at most {limit}: make it shorter")]
    TooLong {
        /// The field.
        field: &'static str,
        /// What it has.
        length: usize,
        /// What it may have.
        limit: usize,
    },
    /// A character nobody can see.
    #[error("{field}: it holds a {found}: type it again without")]
    Hidden {
        /// The field.
        field: &'static str,
        /// The character and its place.
        found: String,
    },
    /// Too many of something.
    #[error("{field}: {count} of them, at most {limit}")]
    TooMany {
        /// The field.
        field: &'static str,
        /// What there is.
        count: usize,
        /// What there may be.
        limit: usize,
    },
    /// Not SQL.
    #[error("{field}: it is not one statement of PostgreSQL: {reason}")]
    Sql {
        /// The field.
        field: &'static str,
        /// What the grammar says.
        reason: String,
    },
    /// Something else.
    #[error("{field}: {reason}")]
    Wrong {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl ContentError {
    /// The field that it is about.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Question(_) => "question",
            Self::Empty { field }
            | Self::TooLong { field, .. }
            | Self::Hidden { field, .. }
            | Self::TooMany { field, .. }
            | Self::Sql { field, .. }
            | Self::Wrong { field, .. } => field,
        }
    }
}

/// A question and the SQL that answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExampleContent {
    /// The question.
    pub question: String,
    /// SQL that answers it.
    pub sql: String,
    /// Where it holds.
    #[serde(default)]
    pub scope: Scope,
}

/// A lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LessonContent {
    /// What it is about.
    #[serde(rename = "about", deserialize_with = "lesson_kind")]
    pub kind: LessonKind,
    /// The lesson.
    pub text: String,
    /// When it applies, in words of a question.
    #[serde(default)]
    pub trigger: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Where it holds.
    #[serde(default)]
    pub scope: Scope,
}

/// A question whose right answer is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenContent {
    /// The question.
    pub question: String,
    /// SQL that answers it; absent when it must not be answered.
    #[serde(default)]
    pub sql: Option<String>,
    /// Further SQL whose result is right too.
    #[serde(default)]
    pub accepted_sql: Vec<String>,
    /// Whether the question asks for an order of the rows.
    #[serde(default)]
    pub ordered: bool,
    /// The moment it is asked at.
    #[serde(default)]
    pub now: Option<String>,
}

fn lesson_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LessonKind, D::Error> {
    let word = String::deserialize(deserializer)?;
    let known = LessonKind::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, kind)| *kind).ok_or_else(|| serde::de::Error::custom("not a kind of lesson"))
}

/// What an item says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// An example.
    Example(ExampleContent),
    /// A lesson.
    Lesson(LessonContent),
    /// A golden case.
    Golden(GoldenContent),
}

impl From<ExampleContent> for Content {
    fn from(content: ExampleContent) -> Self {
        Self::Example(content)
    }
}

impl From<LessonContent> for Content {
    fn from(content: LessonContent) -> Self {
        Self::Lesson(content)
    }
}

impl From<GoldenContent> for Content {
    fn from(content: GoldenContent) -> Self {
        Self::Golden(content)
    }
}

impl Content {
    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Example(_) => Kind::Example,
            Self::Lesson(_) => Kind::Lesson,
            Self::Golden(_) => Kind::Golden,
        }
    }

    /// The hash that a decision is about.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(format!("{}\n{}", self.kind(), self.to_json()))
    }

    /// Hash of what makes two of a kind the same: the canonical SQL of an example, the words of a lesson, the question of a
    /// golden case and its canonical SQL. None where SQL cannot be read.
    #[must_use]
    pub fn canonical(&self) -> Option<ContentHash> {
        match self {
            Self::Example(example) => canonical(&example.sql).ok().map(ContentHash::of),
            Self::Lesson(lesson) => Some(ContentHash::of(plain(&lesson.text))),
            Self::Golden(golden) => {
                let sql = golden.sql.as_deref().map_or(Ok(String::new()), canonical).ok()?;
                Some(ContentHash::of(format!("{}\n{sql}", plain(&golden.question))))
            }
        }
    }

    /// Whether it can be kept: sizes, hidden characters, SQL that PostgreSQL's grammar reads. Whether the SQL may run is the
    /// gate's to say, with a catalogue.
    ///
    /// # Errors
    /// [`ContentError`], naming the field.
    pub fn check(&self) -> Result<(), ContentError> {
        match self {
            Self::Example(example) => {
                question(&example.question)?;
                sql("sql", &example.sql)?;
                scope(&example.scope)
            }
            Self::Lesson(lesson) => {
                text("text", &lesson.text, limits::NOTE)?;
                if let Some(reason) = Rule::written(&lesson.text).iter().find_map(Rule::objection) {
                    return Err(ContentError::Wrong { field: "text", reason });
                }
                if !lesson.trigger.is_empty() {
                    text("trigger", &lesson.trigger, limits::NOTE)?;
                }
                list("tags", &lesson.tags, limits::TAGS, limits::SYNONYM)?;
                scope(&lesson.scope)
            }
            Self::Golden(golden) => {
                question(&golden.question)?;
                if golden.sql.is_none() && !golden.accepted_sql.is_empty() {
                    return Err(ContentError::Wrong {
                        field: "accepted_sql",
                        reason: "a case without `sql` must not be answered, so nothing else is right"
                            .to_owned(),
                    });
                }
                if golden.accepted_sql.len() > limits::ACCEPTED {
                    let (count, limit) = (golden.accepted_sql.len(), limits::ACCEPTED);
                    return Err(ContentError::TooMany { field: "accepted_sql", count, limit });
                }
                golden.sql.iter().try_for_each(|text| sql("sql", text))?;
                golden.accepted_sql.iter().try_for_each(|text| sql("accepted_sql", text))?;
                match golden.now.as_deref().map(|now| Clock::parse_now(now, "UTC")) {
                    Some(Err(error)) => Err(ContentError::Wrong { field: "now", reason: error.to_string() }),
                    _ => Ok(()),
                }
            }
        }
    }

    /// The same without the comments in its SQL, which say nothing to a database and anything to who reads them. SQL that
    /// cannot be read stays as it is, for the gate to refuse.
    #[must_use]
    pub fn without_comments(mut self) -> Self {
        let plain = |sql: &mut String| {
            if let Ok(text) = airlock_gate::without_comments(sql) {
                text.trim().clone_into(sql);
            }
        };
        match &mut self {
            Self::Example(example) => plain(&mut example.sql),
            Self::Lesson(_) => {}
            Self::Golden(golden) => golden.sql.iter_mut().chain(&mut golden.accepted_sql).for_each(plain),
        }
        self
    }

    /// The JSON that is kept and hashed: fields in the order of the type.
    pub(super) fn to_json(&self) -> String {
        // Texts, lists and flags alone: nothing in it can fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what was kept.
    pub(super) fn from_json(kind: Kind, json: &str) -> Result<Self, serde_json::Error> {
        let mut from = serde_json::Deserializer::from_str(json);
        let content = Self::read(kind, &mut from)?;
        from.end()?;
        Ok(content)
    }

    fn read<'de, D: Deserializer<'de>>(kind: Kind, from: D) -> Result<Self, D::Error> {
        Ok(match kind {
            Kind::Example => Self::Example(Object::deserialize(from)?.0),
            Kind::Lesson => Self::Lesson(Object::deserialize(from)?.0),
            Kind::Golden => Self::Golden(Object::deserialize(from)?.0),
        })
    }

    /// Reads content that a person wrote as JSON.
    ///
    /// # Errors
    /// When it is not of this kind, or cannot be kept.
    pub fn parse(kind: Kind, value: &Value) -> Result<Self, ContentError> {
        let content = Self::read(kind, value)
            .map_err(|error| ContentError::Wrong { field: "content", reason: error.to_string() })?;
        content.check()?;
        Ok(content)
    }
}

/// A text without what does not make it another one.
fn plain(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn question(text: &str) -> Result<(), ContentError> {
    Question::parse(text).map(|_| ()).map_err(ContentError::Question)
}

fn text(field: &'static str, text: &str, limit: usize) -> Result<(), ContentError> {
    if text.trim().is_empty() {
        return Err(ContentError::Empty { field });
    }
    let length = text.chars().count();
    if length > limit {
        return Err(ContentError::TooLong { field, length, limit });
    }
    match find_hidden(text, Place::Prose) {
        Some(found) => Err(ContentError::Hidden { field, found: found.to_string() }),
        None => Ok(()),
    }
}

fn sql(field: &'static str, statement: &str) -> Result<(), ContentError> {
    text(field, statement, limits::SQL)?;
    canonical(statement)
        .map(|_| ())
        .map_err(|rejection| ContentError::Sql { field, reason: rejection.message })
}

fn list(field: &'static str, items: &[String], limit: usize, each: usize) -> Result<(), ContentError> {
    if items.len() > limit {
        return Err(ContentError::TooMany { field, count: items.len(), limit });
    }
    items.iter().try_for_each(|item| text(field, item, each))
}

fn scope(scope: &[String]) -> Result<(), ContentError> {
    list("scope", scope, limits::SCHEMAS, limits::REFERENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(question: &str, sql: &str) -> Content {
        ExampleContent { question: question.to_owned(), sql: sql.to_owned(), scope: Vec::new() }.into()
    }

    fn lesson(text: &str) -> Content {
        let (kind, text) = (LessonKind::SchemaMap, text.to_owned());
        LessonContent { kind, text, trigger: String::new(), tags: Vec::new(), scope: Vec::new() }.into()
    }

    #[test]
    fn what_cannot_be_kept_is_named_by_its_field() {
        for (content, want) in [
            (example("How many bills?", "SELECT count(*) FROM bills"), None),
            (example("", "SELECT 1"), Some("question")),
            (example("How many?", " "), Some("sql: it is empty")),
            (example("How many?", "SELEC 1"), Some("not one statement")),
            (example("How many?", &format!("SELECT '{}'", "x".repeat(9_000))), Some("sql: it has")),
            (example("How\u{202e} many?", "SELECT 1"), Some("bidirectional")),
            (example("How many?", "SELECT '\u{e0041}'"), Some("sql: it holds a tag character")),
            (lesson("Revenue is in total_amt"), None),
            (lesson(""), Some("text: it is empty")),
            (lesson("a\u{200b}b"), Some("text: it holds a zero-width space")),
            (lesson("Here `vary` asks for nothing by itself."), None),
            (lesson("Here `not` asks for nothing by itself."), Some("text: `not` is a word of grammar")),
            (lesson("Net. Here `2025` means `bills`."), Some("text: `2025` is a word of grammar, a number")),
        ] {
            match (content.check(), want) {
                (Ok(()), None) => {}
                (Err(error), Some(want)) => assert!(error.to_string().contains(want), "{error}"),
                (got, want) => panic!("{content:?}: {got:?}, wanted {want:?}"),
            }
        }
    }

    #[test]
    fn content_reads_back_to_its_hash_and_the_same_sql_is_the_same() {
        let golden = GoldenContent {
            question: "How many?".to_owned(),
            sql: Some("SELECT 1".to_owned()),
            accepted_sql: Vec::new(),
            ordered: false,
            now: None,
        };
        for content in [example("q", "SELECT 1"), lesson("a"), golden.into()] {
            // PostgreSQL's jsonb has an order of its own.
            let stored: std::collections::BTreeMap<String, Value> =
                serde_json::from_str(&content.to_json()).unwrap();
            let json = serde_json::to_string(&stored).unwrap();
            let read = Content::from_json(content.kind(), &json).unwrap();
            assert_eq!((read.hash(), &read), (content.hash(), &content));
        }
        let (one, two) =
            (example("a", "select  count(*) from bills"), example("b", "SELECT count(*)\nFROM bills -- x"));
        assert_eq!(one.canonical(), two.canonical());
        assert_ne!(one.hash(), two.hash());
        assert_ne!(one.canonical(), example("a", "SELECT count(*) FROM shops").canonical());
        assert_eq!(lesson("Revenue  is net").canonical(), lesson("revenue is net").canonical());
        let golden = |question: &str, sql: Option<&str>| -> Content {
            let (question, sql) = (question.to_owned(), sql.map(str::to_owned));
            GoldenContent { question, sql, accepted_sql: Vec::new(), ordered: false, now: None }.into()
        };
        let one = golden("How many?", Some("select 1")).canonical();
        assert_eq!(one, golden("how  MANY?", Some("SELECT 1 -- x")).canonical());
        // Another SQL for the same question is another case, and so is another question.
        assert_ne!(one, golden("How many?", Some("SELECT 2")).canonical());
        assert_ne!(one, golden("How many?", None).canonical());
        assert_ne!(one, golden("How much?", Some("SELECT 1")).canonical());
    }
}
