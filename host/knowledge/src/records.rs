//! What retrieval returns: what was found, how near it is, and the words that say so. Scores of one call can be compared
//! with each other only.

use std::sync::Arc;

use airlock_types::{ColumnRef, TableRef};
use serde::Serialize;

use crate::pack::LessonKind;

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableHit {
    /// The table.
    pub table: TableRef,
    /// How near.
    pub score: f64,
    /// Words of the question that matched.
    pub matched: Vec<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnHit {
    /// The column.
    pub column: ColumnRef,
    /// How near.
    pub score: f64,
    /// Words of the question that matched.
    pub matched: Vec<String>,
}

/// A verified question with its SQL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Its identity.
    pub id: String,
    /// The question.
    pub question: String,
    /// SQL that answers it.
    pub sql: String,
}

/// A lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lesson {
    /// Its identity: derived from its text, so that it stays when lines move.
    pub id: String,
    /// What it is about.
    pub kind: LessonKind,
    /// The lesson.
    pub text: String,
    /// When it applies.
    pub trigger: String,
    /// Words to find it by.
    pub tags: Vec<String>,
}

impl Lesson {
    /// When it applies and what it says.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}. {}", self.trigger, self.text)
    }
}

/// A term of the glossary with one of its metrics, if it has any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TermRecord {
    /// The word or words.
    pub name: String,
    /// Other words for the same.
    pub synonyms: Vec<String>,
    /// What it means.
    pub definition: String,
    /// The table it speaks of.
    pub table: Option<TableRef>,
    /// An SQL expression over that table that computes it.
    pub metric_sql: Option<String>,
    /// An SQL condition over that table that it implies.
    pub filter_sql: Option<String>,
}

/// An example that is near.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleHit {
    /// The example.
    pub example: Arc<Example>,
    /// How near.
    pub score: f64,
    /// Words of the question that matched.
    pub matched: Vec<String>,
}

/// A lesson that is near.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonHit {
    /// The lesson.
    pub lesson: Arc<Lesson>,
    /// How near.
    pub score: f64,
    /// Words of the question that matched.
    pub matched: Vec<String>,
}

/// A term that is near.
#[derive(Debug, Clone, PartialEq)]
pub struct TermHit {
    /// The term with one metric.
    pub term: Arc<TermRecord>,
    /// How near.
    pub score: f64,
    /// Whether the question names the term or a synonym of it, rather than words of its definition.
    pub named: bool,
    /// The words of the question it matched.
    pub matched: String,
}

/// A passage of a document that is near.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageHit {
    /// The document and its heading.
    pub source: String,
    /// The sentences.
    pub text: String,
    /// How near.
    pub score: f64,
    /// Words of the question that matched.
    pub matched: Vec<String>,
}
