//! Which runs of words are taken, and measures whose words stand apart.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::grammar::{Aggregate, Op, Reading};
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::TokenKind;

use super::{Candidate, Mention, Target};
use crate::glossary::{Glossary, Term};
use crate::schema::{Family, Schema};

/// Beside a measure, words of its own definition may say nothing more.
pub(super) fn supported(reading: &Reading, schema: &Schema, glossary: &Glossary, mentions: &mut [Mention]) {
    let Some(Target::Metric(term)) = mentions
        .iter()
        .find_map(|mention| mention.candidates.first().filter(|c| matches!(c.target, Target::Metric(_))))
        .map(|candidate| candidate.target.clone())
    else {
        return;
    };
    let Some(term) = glossary.terms.get(term) else { return };
    let mut words = stems::content_stems(&term.definition);
    words.extend(term.names.iter().flat_map(|name| &name.words).cloned());
    for mention in mentions.iter_mut() {
        let inside = (mention.first..mention.end).filter_map(|at| reading.tokens.get(at)).all(|token| {
            words.contains(&token.stem)
                || token.kind == TokenKind::Mark
                || stems::is_function_word(&token.lower)
        });
        let score = match mention.candidates.first() {
            // The verb of the measure may be that of a date: `receive` for goods received, which are `received on` a day.
            Some(Candidate { target: Target::Column(table, column), score, .. })
                if schema.column(*table, *column).is_some_and(|column| column.family == Family::Time) =>
            {
                *score
            }
            Some(Candidate { target: Target::Column(..), .. }) => 0.6,
            // The measure may mean these rows already; whether it is asked to be cut to them again is not said.
            Some(Candidate { target: Target::Value(..), score, .. }) => *score,
            _ => continue,
        };
        if inside {
            mention.candidates.push(Candidate::new(Target::Support, score));
        }
    }
}

/// The choice of runs that do not overlap with the greatest sum.
pub(super) fn cover(all: Vec<Mention>, tokens: usize) -> Vec<Mention> {
    let weight = |mention: &Mention| {
        let top = mention.candidates.first().map_or(0.0, |candidate| candidate.score);
        // Longer runs are worth more than their words one by one.
        let longer = if top >= 0.95 { 0.2 } else { 0.1 };
        top * (mention.words as f64 * (1.0 + longer) - longer)
    };
    // `best[i]` is the best choice among runs that end at or before token `i`.
    let mut best: Vec<(f64, Vec<usize>)> = vec![(0.0, Vec::new()); tokens + 1];
    for at in 1..=tokens {
        let mut choice = best.get(at - 1).cloned().unwrap_or_default();
        for (index, mention) in all.iter().enumerate().filter(|(_, mention)| mention.end == at) {
            let Some((sum, chosen)) = best.get(mention.first) else { continue };
            if sum + weight(mention) > choice.0 + 1e-9 {
                let mut chosen = chosen.clone();
                chosen.push(index);
                choice = (sum + weight(mention), chosen);
            }
        }
        if let Some(slot) = best.get_mut(at) {
            *slot = choice;
        }
    }
    let chosen = best.pop().map(|(_, chosen)| chosen).unwrap_or_default();
    all.into_iter()
        .enumerate()
        .filter(|(index, _)| chosen.contains(index))
        .map(|(_, mention)| mention)
        .collect()
}

/// A measure whose words stand apart: `sold the most units` for `units sold`.
pub(super) fn scattered(
    reading: &Reading,
    glossary: &Glossary,
    taken: &BTreeSet<usize>,
    mentions: &mut Vec<Mention>,
) {
    let known = mentions
        .iter()
        .any(|mention| mention.candidates.first().is_some_and(|c| matches!(c.target, Target::Metric(_))));
    if known {
        return;
    }
    let mut best: Option<(usize, Vec<usize>)> = None;
    // Things are counted, amounts are not: `how many payments were received`.
    let counts = reading.chunks.iter().any(|chunk| chunk.op == Op::Aggregate(Aggregate::Count));
    let fits = |term: &Term| !term.metrics.is_empty() && (!counts || term.counts());
    for (index, term) in glossary.terms.iter().enumerate().filter(|(_, term)| fits(term)) {
        for name in term.names.iter().filter(|name| name.words.len() >= 2) {
            let last = reading.tokens.iter().rev().find(|token| name.words.last() == Some(&token.stem));
            if name.averages(last.map(|token| &token.lower)) {
                continue;
            }
            let name = &name.words;
            let places: Vec<usize> = name
                .iter()
                .filter_map(|stem| {
                    (0..reading.tokens.len()).find(|at| {
                        !taken.contains(at)
                            && reading
                                .tokens
                                .get(*at)
                                .is_some_and(|token| token.kind == TokenKind::Word && token.stem == *stem)
                    })
                })
                .collect();
            let longer = best.as_ref().is_none_or(|(_, known)| known.len() < places.len());
            if places.len() == name.len() && longer {
                best = Some((index, places));
            }
        }
    }
    let Some((index, mut places)) = best else { return };
    places.sort_unstable();
    // It stands where its head stands: at the word that follows the superlative or `by`, else at the last.
    let asked = |at: &usize| {
        reading.chunks.iter().any(|chunk| {
            matches!(chunk.op, Op::Superlative { .. } | Op::By | Op::Aggregate(_))
                && chunk.end <= *at
                && at - chunk.end <= 1
        })
    };
    let Some(head) = places.iter().rev().find(|at| asked(at)).or(places.last()).copied() else { return };
    let inside = |mention: &Mention| places.iter().any(|at| (mention.first..mention.end).contains(at));
    // A longer name that only shares a word with the measure keeps its place.
    let covered = mentions.iter().filter(|mention| inside(mention)).all(|mention| {
        (mention.first..mention.end).all(|at| {
            places.contains(&at)
                || reading.tokens.get(at).is_some_and(|token| {
                    stems::is_function_word(&token.lower) || token.kind == TokenKind::Mark
                })
        })
    });
    if !covered {
        return;
    }
    mentions.retain(|mention| !inside(mention));
    let also = places.iter().copied().filter(|at| *at != head).collect();
    let candidates = vec![Candidate::new(Target::Metric(index), 1.05)];
    mentions.push(Mention { first: head, end: head + 1, words: places.len(), also, candidates });
    mentions.sort_by_key(|mention| mention.first);
}
