//! A question that only says what is different from the one before it: `and by month?`, `only for 2024`, `what about
//! suppliers?`. It is written out in full; what is not plainly one of these is refused.

use airlock_plugin_sdk::question::grammar::{Chunk, Op, Reading};

use crate::annotate::{Mention, Target};
use crate::refuse::Why;

/// A question with what its words may name.
pub struct Read<'a> {
    /// As it was asked.
    pub text: &'a str,
    /// Its words.
    pub reading: &'a Reading,
    /// What they may name.
    pub mentions: &'a [Mention],
}

/// Words that lead a follow-up or bind its parts.
const LEADS: &[&str] = &[
    "and", "what", "about", "how", "only", "just", "now", "then", "same", "but", "also", "ok", "okay", "it",
    "show", "me", "instead", "again", "thing", "question", "else", "the", "please", "broken", "down",
    "split", "break", "them", "that", "this", "group", "grouped",
];

/// How much a question leans on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaning {
    /// It asks for something by itself.
    Not,
    /// It may be one that only names things: `revenue in 2025`.
    Perhaps,
    /// It makes no sense alone: `and by month?`.
    Wholly,
}

/// Whether a question makes sense without the one before it.
pub fn leaning(reading: &Reading) -> Leaning {
    let first = reading.tokens.first().map_or("", |token| token.lower.as_str());
    let second = reading.tokens.get(1).map_or("", |token| token.lower.as_str());
    let leads = matches!(first, "and" | "only" | "just" | "same" | "but" | "instead" | "also")
        || matches!((first, second), ("what" | "how", "about") | ("break" | "split", "it" | "them" | "that"));
    let asks = reading.chunks.iter().any(|chunk| {
        matches!(
            chunk.op,
            Op::Aggregate(_) | Op::HowMuch | Op::Which | Op::Who | Op::List | Op::Percent | Op::Ratio
        )
    });
    match (leads, asks) {
        (true, _) => Leaning::Wholly,
        (false, false) => Leaning::Perhaps,
        (false, true) => Leaning::Not,
    }
}

/// The follow-up as a whole question.
pub fn whole(prior: &Read<'_>, next: &Read<'_>) -> Result<String, Why> {
    let unsure =
        || Why::Kind("a follow-up that changes more than one plain thing of the question before it".into());
    let said: Vec<&Chunk> = next
        .reading
        .chunks
        .iter()
        .filter(|chunk| {
            let word = next.reading.tokens.get(chunk.first).map_or("", |token| token.lower.as_str());
            let kept = matches!(chunk.op, Op::Each | Op::By | Op::Grain(_) | Op::Moment(_) | Op::Quoted)
                || next.mentions.iter().any(|mention| (mention.first..mention.end).contains(&chunk.first));
            kept || !(matches!(chunk.op, Op::Link | Op::Stop | Op::And) || LEADS.contains(&word))
        })
        .collect();
    let Some(first) = said.first() else { return Err(unsure()) };
    let words = |from: usize, to: usize| span(next.text, next.reading, from, to);
    let base = prior.text.trim_end().trim_end_matches(['?', '.', '!']);
    match first.op {
        Op::Each | Op::By => {
            let last = said.last().map_or(first.end, |chunk| chunk.end);
            let tail = words(first.first, last).ok_or_else(unsure)?;
            regrouped(prior, base, tail).ok_or_else(unsure)
        }
        Op::Grain(_) if said.len() == 1 => {
            let tail = words(first.first, first.end).ok_or_else(unsure)?;
            let tail = if tail.ends_with("ly") { tail.to_owned() } else { format!("by {tail}") };
            regrouped(prior, base, &tail).ok_or_else(unsure)
        }
        Op::Moment(_) if said.len() == 1 => {
            let time = words(first.first, first.end).ok_or_else(unsure)?;
            match prior.reading.moments.as_slice() {
                [] => Ok(format!("{base} {time}")),
                [only] => replaced(base, prior.reading, only.first, only.end, time).ok_or_else(unsure),
                _ => Err(unsure()),
            }
        }
        _ => {
            let [mention] = next.mentions else { return Err(unsure()) };
            let outside = said.iter().any(|chunk| !(mention.first..mention.end).contains(&chunk.first));
            let Some(target) = mention.candidates.first().map(|candidate| &candidate.target) else {
                return Err(unsure());
            };
            if outside {
                return Err(unsure());
            }
            let text = words(mention.first, mention.end).ok_or_else(unsure)?;
            let same: Vec<&Mention> = prior
                .mentions
                .iter()
                .filter(|other| other.candidates.first().is_some_and(|other| alike(&other.target, target)))
                .collect();
            match (same.as_slice(), target) {
                ([only], _) => replaced(base, prior.reading, only.first, only.end, text).ok_or_else(unsure),
                ([], Target::Value(..) | Target::Flag(..)) => {
                    let lead = mention.first.checked_sub(1).and_then(|at| next.reading.tokens.get(at));
                    let lead =
                        lead.filter(|token| matches!(token.lower.as_str(), "in" | "from" | "with" | "at"));
                    Ok(format!("{base} {} {text}", lead.map_or("for", |token| token.lower.as_str())))
                }
                _ => Err(unsure()),
            }
        }
    }
}

/// True for things that can stand in each other's place.
fn alike(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Table(_), Target::Table(_)) | (Target::Metric(_), Target::Metric(_)) => true,
        (Target::Value(table, column, _), Target::Value(other, theirs, _)) => {
            (table, column) == (other, theirs)
        }
        _ => false,
    }
}

/// The question before with another grouping: at its end, or in the place of the one it had.
fn regrouped(prior: &Read<'_>, base: &str, tail: &str) -> Option<String> {
    let groups: Vec<usize> = (0..prior.reading.chunks.len())
        .filter(|at| prior.reading.chunks.get(*at).is_some_and(|chunk| matches!(chunk.op, Op::Each | Op::By)))
        .collect();
    match groups.as_slice() {
        [] => Some(format!("{base} {tail}")),
        [only] => {
            let chunk = prior.reading.chunks.get(*only)?;
            // Its key is the mention or the step of time right after it.
            let key = prior
                .mentions
                .iter()
                .filter(|mention| mention.first >= chunk.end && mention.first <= chunk.end + 1)
                .map(|mention| mention.end)
                .next()
                .or_else(|| {
                    let step = prior.reading.chunks.get(only + 1)?;
                    matches!(step.op, Op::Grain(_)).then_some(step.end)
                })?;
            replaced(base, prior.reading, chunk.first, key, tail)
        }
        _ => None,
    }
}

fn span<'a>(text: &'a str, reading: &Reading, from: usize, to: usize) -> Option<&'a str> {
    let first = reading.tokens.get(from)?.start;
    let last = reading.tokens.get(to.checked_sub(1)?)?.end;
    text.get(first..last)
}

fn replaced(text: &str, reading: &Reading, from: usize, to: usize, with: &str) -> Option<String> {
    let first = reading.tokens.get(from)?.start;
    let last = reading.tokens.get(to.checked_sub(1)?)?.end;
    Some(format!("{}{with}{}", text.get(..first)?, text.get(last..)?))
}
