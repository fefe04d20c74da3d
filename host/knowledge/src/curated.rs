//! Curated knowledge as the index takes it: verified examples and lessons, from wherever they are kept.

use airlock_types::ContentHash;

use crate::pack::{BoundPack, Pack};
use crate::records::{Example, Lesson};

/// Verified examples and lessons of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Curated {
    /// Questions with their SQL.
    pub examples: Vec<Example>,
    /// Lessons.
    pub lessons: Vec<Lesson>,
}

impl Curated {
    /// What comes with a pack. Golden cases that the gate approves are examples: people wrote them, and a run of the golden
    /// cases verifies them. Lessons are those that the promotion gate lets in.
    #[must_use]
    pub fn of_pack(pack: &Pack, bound: &BoundPack) -> Self {
        let examples = bound.golden.iter().filter_map(|index| {
            let case = pack.golden.get(*index)?;
            Some(Example {
                id: case.id.value.clone(),
                question: case.question.as_str().to_owned(),
                sql: case.sql.as_ref()?.value.clone(),
            })
        });
        let lessons = bound.lessons.iter().filter_map(|index| {
            let lesson = pack.lessons.get(*index)?;
            Some(Lesson {
                id: ContentHash::of(format!("{} {}", lesson.kind.as_str(), lesson.text)).short(),
                kind: lesson.kind,
                text: lesson.text.clone(),
                trigger: lesson.trigger.clone(),
                tags: lesson.tags.clone(),
            })
        });
        Self { examples: examples.collect(), lessons: lessons.collect() }
    }
}
