//! Measures, filters, groups and order of a question, in its own words.

use airlock_plugin_sdk::contract::planner::{Filter, Group, Measure, Order};
use airlock_plugin_sdk::question::grammar::{Aggregate, Chunk, Comparison, Op, Reading};
use airlock_plugin_sdk::question::stems;

use crate::MOST;

/// Measures that get a step of their own; a few more steps follow them.
const STEPS: usize = MOST - 8;

/// What a question asks for.
#[derive(Debug, Default)]
pub struct Parts {
    /// What is computed.
    pub measures: Vec<Measure>,
    /// What is left out.
    pub filters: Vec<Filter>,
    /// What it is computed for.
    pub groups: Vec<Group>,
    /// In which order.
    pub order: Vec<Order>,
    /// How many rows.
    pub limit: Option<u32>,
}

impl Parts {
    /// Reads the parts off the words of the question.
    pub fn of(reading: &Reading) -> Self {
        let mut parts = Self::default();
        let mut distinct = false;
        for (at, chunk) in reading.chunks.iter().enumerate() {
            match &chunk.op {
                Op::Aggregate(aggregate) => {
                    let target =
                        noun_after(reading, at).or_else(|| noun_before(reading, at)).unwrap_or_default();
                    let distinct = std::mem::take(&mut distinct) || next_is(reading, at, &Op::Distinct);
                    parts.measures.push(Measure { function: aggregate.word().into(), target, distinct });
                }
                Op::HowMuch => parts.measures.push(Measure {
                    function: Aggregate::Sum.word().into(),
                    target: noun_after(reading, at).unwrap_or_default(),
                    distinct: false,
                }),
                Op::Percent | Op::Ratio => parts.measures.push(Measure {
                    function: "ratio".into(),
                    target: noun_after(reading, at).unwrap_or_default(),
                    distinct: false,
                }),
                Op::Distinct => distinct = true,
                // `which five products sold the most`: the number says how many are kept.
                Op::Number(count) if ranks_later(reading, at) => parts.limit = Some(*count as u32),
                Op::Superlative { descending, .. } => {
                    parts.order.push(Order {
                        target: noun_after(reading, at).unwrap_or_default(),
                        descending: *descending,
                    });
                    parts.limit.get_or_insert(1);
                }
                Op::Top { count, descending } => {
                    parts.limit = Some(*count);
                    parts.order.push(Order {
                        target: by_phrase(reading).unwrap_or_default(),
                        descending: *descending,
                    });
                }
                Op::OrderBy => {
                    let descending =
                        reading.chunks.iter().any(|c| c.op == Op::Direction { descending: true });
                    parts
                        .order
                        .push(Order { target: noun_after(reading, at).unwrap_or_default(), descending });
                }
                Op::Each | Op::By => parts.group(reading, at, chunk),
                Op::Grain(grain) if !follows_grouping(reading, at) => {
                    let text = reading.text(chunk.first, chunk.end).to_lowercase();
                    if text.ends_with("ly") || text.starts_with("over") {
                        parts.groups.push(Group { target: text, grain: Some(grain.word().into()) });
                    }
                }
                Op::Compare(comparison) => parts.compare(reading, at, *comparison),
                Op::Not => {
                    if let Some(target) = noun_after(reading, at) {
                        parts.filters.push(Filter { target, operator: "missing".into(), values: Vec::new() });
                    }
                }
                Op::Quoted => parts.filters.push(Filter {
                    target: noun_before(reading, at).unwrap_or_default(),
                    operator: "=".into(),
                    values: vec![reading.text(chunk.first, chunk.end)],
                }),
                _ => {}
            }
        }
        parts.measures.truncate(MOST);
        parts.filters.truncate(MOST);
        parts.groups.truncate(MOST);
        parts.order.truncate(MOST);
        if parts.measures.is_empty() {
            let target = first_noun(reading).unwrap_or_default();
            parts.measures.push(Measure { function: "list".into(), target, distinct: false });
        }
        parts
    }

    fn group(&mut self, reading: &Reading, at: usize, chunk: &Chunk) {
        let ordered = chunk.op == Op::By && self.limit.is_some();
        if ordered {
            return;
        }
        let grain = reading.chunks.get(at + 1).and_then(|next| match next.op {
            Op::Grain(grain) => Some(grain),
            _ => None,
        });
        let target = match grain {
            Some(grain) => grain.word().to_owned(),
            None => noun_after(reading, at).unwrap_or_default(),
        };
        if !target.is_empty() {
            self.groups.push(Group { target, grain: grain.map(|grain| grain.word().to_owned()) });
        }
    }

    fn compare(&mut self, reading: &Reading, at: usize, comparison: Comparison) {
        let value = reading.chunks.get(at + 1).and_then(|next| match next.op {
            Op::Number(value) => Some(value),
            _ => None,
        });
        if let Some(value) = value {
            let target = noun_before(reading, at).or_else(|| noun_after(reading, at + 1)).unwrap_or_default();
            self.filters.push(Filter {
                target,
                operator: comparison.sql().into(),
                values: vec![value.to_string()],
            });
        }
    }

    /// What will be done, a sentence each.
    pub fn steps(&self, reading: &Reading) -> Vec<String> {
        let mut steps: Vec<String> = self
            .measures
            .iter()
            .take(STEPS)
            .map(|measure| match measure.function.as_str() {
                "list" => format!("List {}.", measure.target),
                function => format!("Compute the {function} of {}.", measure.target),
            })
            .collect();
        if !self.filters.is_empty() {
            let filters: Vec<String> = self
                .filters
                .iter()
                .map(|filter| {
                    format!("{} {} {}", filter.target, filter.operator, filter.values.join(", "))
                        .trim()
                        .to_owned()
                })
                .collect();
            steps.push(format!("Keep what meets: {}.", filters.join("; ")));
        }
        if !reading.moments.is_empty() {
            let labels: Vec<&str> = reading.moments.iter().map(|found| found.label.as_str()).collect();
            steps.push(format!("Keep the time: {}.", labels.join("; ")));
        }
        if !self.groups.is_empty() {
            let groups: Vec<&str> = self.groups.iter().map(|group| group.target.as_str()).collect();
            steps.push(format!("One row for each {}.", groups.join(" and ")));
        }
        if let Some(limit) = self.limit {
            steps.push(format!("Keep the first {limit} in order."));
        }
        steps
    }
}

fn is_noun(reading: &Reading, chunk: &Chunk) -> bool {
    chunk.op == Op::Word
        && reading.tokens.get(chunk.first).is_some_and(|token| !stems::is_light(&token.lower))
}

/// The run of words after a chunk, binding words between skipped.
fn noun_after(reading: &Reading, at: usize) -> Option<String> {
    let rest = reading.chunks.get(at + 1..)?;
    let skip = rest
        .iter()
        .take_while(|chunk| matches!(chunk.op, Op::Link | Op::Distinct | Op::Aggregate(_) | Op::Number(_)))
        .count();
    let run: Vec<&Chunk> =
        rest.get(skip..)?.iter().take_while(|chunk| is_noun(reading, chunk)).take(4).collect();
    let (first, last) = (run.first()?, run.last()?);
    Some(reading.text(first.first, last.end).to_lowercase())
}

fn noun_before(reading: &Reading, at: usize) -> Option<String> {
    let before = reading.chunks.get(..at)?;
    let run: Vec<&Chunk> = before
        .iter()
        .rev()
        .skip_while(|chunk| chunk.op == Op::Link)
        .take_while(|chunk| is_noun(reading, chunk))
        .take(3)
        .collect();
    let (last, first) = (run.first()?, run.last()?);
    Some(reading.text(first.first, last.end).to_lowercase())
}

fn first_noun(reading: &Reading) -> Option<String> {
    let at = reading.chunks.iter().position(|chunk| is_noun(reading, chunk))?;
    let run: Vec<&Chunk> =
        reading.chunks.get(at..)?.iter().take_while(|chunk| is_noun(reading, chunk)).take(4).collect();
    Some(reading.text(run.first()?.first, run.last()?.end).to_lowercase())
}

fn by_phrase(reading: &Reading) -> Option<String> {
    let at = reading.chunks.iter().position(|chunk| chunk.op == Op::By)?;
    noun_after(reading, at)
}

fn next_is(reading: &Reading, at: usize, op: &Op) -> bool {
    reading.chunks.get(at + 1).is_some_and(|chunk| chunk.op == *op)
}

/// True for a whole number before a noun when a superlative follows.
fn ranks_later(reading: &Reading, at: usize) -> bool {
    let rest = reading.chunks.get(at..).unwrap_or_default();
    let whole = matches!(rest.first().map(|chunk| &chunk.op), Some(Op::Number(count)) if count.fract() == 0.0 && (1.0..=10_000.0).contains(count));
    whole
        && rest.get(1).is_some_and(|chunk| is_noun(reading, chunk))
        && rest.iter().any(|chunk| matches!(chunk.op, Op::Superlative { .. }))
}

fn follows_grouping(reading: &Reading, at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| reading.chunks.get(before))
        .is_some_and(|chunk| matches!(chunk.op, Op::Each | Op::By))
}
