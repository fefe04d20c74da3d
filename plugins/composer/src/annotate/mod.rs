//! Words of the question tied to what they may name: tables, columns, values, glossary terms.

mod bare;
mod candidates;
mod cover;
mod kinds;
mod roles;
mod ruled;
mod scores;
mod thesaurus;
mod values;

use std::collections::BTreeSet;

use airlock_plugin_sdk::entity::Entity;
use airlock_plugin_sdk::question::grammar::{Chunk, Op, Reading};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::TokenKind;
use airlock_plugin_sdk::{ColumnRef, Host};

use crate::glossary::Glossary;
use crate::schema::{Family, Schema};

use bare::bare;
pub use bare::unsaid;
use candidates::candidates;
use cover::{cover, scattered, supported};
pub use kinds::is_state;
pub use ruled::ruled;
use values::{spoken, values};

/// What a run of words may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The rows of a table.
    Table(usize),
    /// A column.
    Column(usize, usize),
    /// A value of a column.
    Value(usize, usize, String),
    /// A yes-or-no column, and which of the two.
    Flag(usize, usize, bool),
    /// A measure of the glossary.
    Metric(usize),
    /// A condition of the glossary.
    Condition(usize),
    /// Words that only say again what a measure is made of: `how many units did we lose`.
    Support,
    /// A verb that tells which of a thing's dates is meant: `customers joined since 2024`.
    Verb,
    /// A unit of time that stays one, though a column is called so.
    Step,
    /// A column equals a text, whatever its case.
    Text(usize, usize, String),
    /// Text in quotation marks that no index knows.
    Literal(String),
}

/// One reading of a run of words.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What it names.
    pub target: Target,
    /// How well, about 0.5 to 1.1.
    pub score: f64,
    /// A table that only a key of another table is called after: `cashier` for who made a bill.
    pub pointer: bool,
    /// A value that a written rule puts for words that do not say it: a condition by name.
    pub named: bool,
}

impl Candidate {
    fn new(target: Target, score: f64) -> Self {
        Self { target, score, pointer: false, named: false }
    }
}

/// A run of words and what it may name, best first.
#[derive(Debug, Clone)]
pub struct Mention {
    /// First token.
    pub first: usize,
    /// Token after the last.
    pub end: usize,
    /// Content tokens inside.
    pub words: usize,
    /// Further tokens that belong to it though they stand elsewhere.
    pub also: Vec<usize>,
    /// What it may name.
    pub candidates: Vec<Candidate>,
}

/// Words of one run at most.
const RUN: usize = 5;
/// Readings of one run that are kept.
const KEPT: usize = 6;

/// All mentions of a question; no two overlap.
pub fn annotate(
    host: &impl Host,
    question: &str,
    reading: &Reading,
    schema: &Schema,
    glossary: &Glossary,
    entities: &[Entity],
    ruled: Vec<Mention>,
) -> Vec<Mention> {
    let values = values(host, question, schema);
    let spoken = spoken(reading, schema, &values);
    let taken: BTreeSet<usize> = reading.moments.iter().flat_map(|found| found.first..found.end).collect();
    let mut all = governed(entities, question, reading, schema);
    all.extend(ruled);
    all.extend(roles::roles(reading, schema));
    all.extend(bare(reading, schema, &values));
    for first in 0..reading.tokens.len() {
        all.extend(runs(reading, first, &taken).into_iter().filter_map(|run| {
            let candidates = candidates(reading, &run, schema, glossary, &values, &spoken, &taken);
            (!candidates.is_empty()).then(|| Mention {
                first: run.first,
                end: run.end,
                words: run.stems.len(),
                also: Vec::new(),
                candidates,
            })
        }));
    }
    let mut best = cover(all, reading.tokens.len());
    scattered(reading, glossary, &taken, &mut best);
    supported(reading, schema, glossary, &mut best);
    for mention in &mut best {
        let step = |chunk: &Chunk| {
            (chunk.first, chunk.end) == (mention.first, mention.end) && matches!(chunk.op, Op::Grain(_))
        };
        let verb = |at: usize| {
            reading
                .tokens
                .get(at)
                .is_some_and(|token| token.lower.ends_with("ed") || stems::is_relation(&token.stem))
        };
        let dates = mention.candidates.first().is_some_and(|first| match first.target {
            Target::Column(table, column) => {
                schema.column(table, column).is_some_and(|column| column.family == Family::Time)
            }
            _ => false,
        });
        if dates && mention.words == 1 && verb(mention.first) {
            mention.candidates.push(Candidate::new(Target::Verb, 0.55));
        }
        if reading.chunks.iter().any(step) {
            mention.candidates.push(Candidate::new(Target::Step, 0.9));
        }
    }
    best
}

/// What the domain's adapter found in the question. It outranks every other reading of the same words; of several columns
/// with keys of its kind the first one counts most.
fn governed(entities: &[Entity], question: &str, reading: &Reading, schema: &Schema) -> Vec<Mention> {
    let mention = |entity: &Entity| {
        let start = question.find(&entity.matched)?;
        let end = start + entity.matched.len();
        let first = reading.tokens.iter().position(|token| token.end > start)?;
        let words = reading.tokens.iter().skip(first).take_while(|token| token.start < end).count();
        let column = |(place, column): (usize, &ColumnRef)| {
            let table = schema.position(&column.table)?;
            let at = schema.table(table)?.column(&column.column)?;
            let score = 1.5 - 0.1 * place as f64;
            Some(Candidate::new(Target::Value(table, at, entity.key.clone()), score))
        };
        let candidates: Vec<Candidate> = entity.columns.iter().enumerate().filter_map(column).collect();
        let told = words > 0 && !candidates.is_empty();
        told.then(|| Mention { first, end: first + words, words, also: Vec::new(), candidates })
    };
    entities.iter().filter_map(mention).collect()
}

struct Run {
    first: usize,
    end: usize,
    stems: Vec<String>,
    words: Vec<String>,
    quoted: bool,
    /// It goes over a step of time, `salaries each month`, which only a term can be called.
    stepped: bool,
}

/// Runs of content words that begin at a token; `of` and `the` may stand inside.
fn runs(reading: &Reading, first: usize, taken: &BTreeSet<usize>) -> Vec<Run> {
    let mut found = Vec::new();
    let (mut stems, mut words, mut stepped) = (Vec::new(), Vec::new(), false);
    for at in first..(first + RUN * 2).min(reading.tokens.len()) {
        let Some(token) = reading.tokens.get(at) else { break };
        if taken.contains(&at) {
            break;
        }
        if token.kind == TokenKind::Quoted {
            if at == first {
                found.push(Run {
                    first,
                    end: at + 1,
                    stems: vec![token.stem.clone()],
                    words: vec![token.text.clone()],
                    quoted: true,
                    stepped: false,
                });
            }
            break;
        }
        let binds = matches!(token.lower.as_str(), "of" | "the" | "-" | "a") || hyphened(reading, at);
        if binds && at > first {
            continue;
        }
        let step = matches!(token.lower.as_str(), "each" | "every" | "per")
            && reading.chunks.iter().any(|chunk| chunk.first == at + 1 && matches!(chunk.op, Op::Grain(_)));
        if step && at > first {
            stepped = true;
            continue;
        }
        let content = matches!(token.kind, TokenKind::Word | TokenKind::Number)
            && !stems::is_function_word(&token.lower);
        if !content {
            // A value may hold function words: `Lord of the Rings`, `Pirates and Co`.
            break;
        }
        stems.push(token.stem.clone());
        words.push(token.lower.clone());
        if stems.len() > RUN {
            break;
        }
        found.push(Run {
            first,
            end: at + 1,
            stems: stems.clone(),
            words: words.clone(),
            quoted: false,
            stepped,
        });
    }
    found
}

/// The `in` of `walk-in`.
fn hyphened(reading: &Reading, at: usize) -> bool {
    let hyphen =
        |at: Option<usize>| at.and_then(|at| reading.tokens.get(at)).is_some_and(|token| token.lower == "-");
    hyphen(at.checked_sub(1))
        && reading.tokens.get(at).is_some_and(|token| stems::is_function_word(&token.lower))
}
