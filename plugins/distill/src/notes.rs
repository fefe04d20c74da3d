//! What somebody wrote beside a correction: each sentence that defines something is a lesson in their words.

use airlock_plugin_sdk::contract::distill::LessonCandidate;
use airlock_plugin_sdk::taught::defined;

use crate::lesson;

/// Shortest and longest sentence that is kept, in characters.
const LENGTH: std::ops::RangeInclusive<usize> = 8..=400;

/// The definitions in a note.
pub fn lessons(note: &str) -> Vec<LessonCandidate> {
    let sentences = note.split(['\n', ';']).flat_map(|line| line.split(". ")).map(str::trim);
    let kept = sentences.filter(|sentence| LENGTH.contains(&sentence.chars().count()));
    kept.filter_map(|sentence| {
        let name = defined(sentence)?;
        let text = format!("{}.", sentence.trim_end_matches('.'));
        Some(lesson("schema-map", text, name, vec!["note".into()]))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_define_are_lessons() {
        for (note, want) in [
            ("TSC = total sales count", vec!["TSC"]),
            ("gold members means customers.tier = 'Gold'; ask Ann", vec!["gold members"]),
            ("wrong", vec![]),
            ("The eligible free rate is free meals / enrollment. Look again", vec!["The eligible free rate"]),
        ] {
            let triggers: Vec<String> = lessons(note).into_iter().map(|lesson| lesson.trigger).collect();
            assert_eq!(triggers, want, "{note}");
        }
    }
}
