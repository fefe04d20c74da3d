//! `lessons.toml`: what the authors of a pack know from experience.

use serde::Serialize;

use super::limits;
use super::notes::values;
use super::report::{Findings, Spot};
use super::section::Section;
use super::tree::Node;
use crate::store::LessonContent;

/// A lesson that comes with the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeedLesson {
    /// Where it stands.
    pub spot: Spot,
    /// What kind of lesson it is.
    pub kind: LessonKind,
    /// The lesson.
    pub text: String,
    /// When it applies, in words of a question.
    pub trigger: String,
    /// Words to find it by.
    pub tags: Vec<String>,
}

impl SeedLesson {
    /// The same as an item of the store.
    #[must_use]
    pub fn content(&self) -> LessonContent {
        LessonContent {
            kind: self.kind,
            text: self.text.clone(),
            trigger: self.trigger.clone(),
            tags: self.tags.clone(),
            scope: Vec::new(),
        }
    }
}

/// What a lesson is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LessonKind {
    /// Where something is in the schema.
    SchemaMap,
    /// What keeps a query quick.
    PerfGuard,
    /// How a kind of question is resolved.
    ResolutionPattern,
    /// What mended a kind of failure.
    FailFix,
}

impl LessonKind {
    /// Every kind by its word.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("schema-map", Self::SchemaMap),
        ("perf-guard", Self::PerfGuard),
        ("resolution-pattern", Self::ResolutionPattern),
        ("fail-fix", Self::FailFix),
    ];

    /// The word on every surface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SchemaMap => "schema-map",
            Self::PerfGuard => "perf-guard",
            Self::ResolutionPattern => "resolution-pattern",
            Self::FailFix => "fail-fix",
        }
    }
}

/// Reads `lessons.toml`.
pub(crate) fn read(node: Node, findings: &Findings) -> Vec<SeedLesson> {
    let Some(mut root) = Section::of(node, "", findings) else { return Vec::new() };
    let lessons = root.sections("lesson", limits::LESSONS).into_iter().filter_map(read_lesson).collect();
    root.finish();
    lessons
}

fn read_lesson(mut section: Section<'_>) -> Option<SeedLesson> {
    let kind = section.word("kind", &LessonKind::WORDS);
    let kind = section.need(kind, "kind", "\"resolution-pattern\"");
    let text = section.text("text", limits::NOTE);
    let text = section.need(text, "text", "\"the lesson, in a sentence or two\"");
    let trigger = section.text("trigger", limits::NOTE);
    let tags = section.texts("tags", limits::SYNONYM, limits::TAGS);
    let spot = section.spot.clone();
    section.finish();
    Some(SeedLesson {
        spot,
        kind: kind?.value,
        text: text?.value,
        trigger: trigger.map(|text| text.value).unwrap_or_default(),
        tags: values(tags),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_kind_is_the_same_everywhere() {
        for (word, kind) in LessonKind::WORDS {
            assert_eq!(kind.as_str(), word);
            assert_eq!(serde_json::to_value(kind).unwrap(), word);
        }
    }
}
