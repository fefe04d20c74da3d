//! The built-in distill stage: a finished exchange to lesson candidates, three at most; an empty list is the ordinary answer.
//!
//! A lesson is only drawn from positive evidence. Where somebody said what SQL is right, what the question's words mean in
//! it is worked out with no model ([`explain`]) and what was written in their note is kept; where an attempt failed and the
//! next one ran, a model of the role `fast` is asked for the lesson in it.

mod asking;
mod explain;
mod notes;
mod phrases;
mod remembered;
mod right;
mod search;

use airlock_plugin_sdk::contract::distill::{DistillInput, DistillStep, LessonCandidate};
use airlock_plugin_sdk::{Distiller, Exchange, Host, StageError};

/// Lessons of one exchange.
const LESSONS: usize = 3;

/// Draws lessons from what is known to be right.
pub struct Distill;

impl Distiller for Distill {
    fn run(
        host: &impl Host,
        input: DistillInput,
        exchanges: Vec<Exchange>,
    ) -> Result<DistillStep, StageError> {
        if input.evidence.is_empty() {
            return Ok(DistillStep::Done(Vec::new()));
        }
        let told = |key: &str| {
            let found = input.attributes.iter().find(|attribute| attribute.key == key);
            found.map(|attribute| attribute.value.as_str()).filter(|value| !value.trim().is_empty())
        };
        if told("verdict").is_some() {
            let mut lessons = match &input.sql {
                Some(sql) => explain::lessons(host, &input.question, &input.clock, sql),
                None => Vec::new(),
            };
            lessons.extend(told("note").map(notes::lessons).unwrap_or_default());
            lessons.truncate(LESSONS);
            return Ok(DistillStep::Done(lessons));
        }
        Ok(asking::step(&input, &exchanges))
    }
}

airlock_plugin_sdk::export!(distill: Distill);

fn lesson(kind: &str, text: String, trigger: String, tags: Vec<String>) -> LessonCandidate {
    LessonCandidate { kind: kind.into(), text, trigger, tags, attributes: Vec::new() }
}

#[cfg(test)]
mod tests;
