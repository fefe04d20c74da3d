//! Tables support each other: those that together cover the words of a question, and those that lie between them, rank
//! before one that happens to share a word.
//!
//! Tables fall into groups (a schema; in a very large one, what is joined together). In each group a few tables are picked
//! greedily so that they cover the question's words. What they cover is the group's worth, which all its tables share;
//! tables that connect the picked ones, and their neighbours, come up with them, and what links two things brings both.

use std::collections::{BTreeMap, BTreeSet};

use super::ways::Ways;
use crate::joins::Join;
use crate::tables::TableView;

/// Tables a group may have before it is split by its joins.
const GROUP: usize = 60;
/// What each word adds to a group that says something to it, however common the word is: who speaks to more of a question is meant
/// more likely than who speaks louder to a part of it.
const COVERED: f32 = 2.0;
/// What must be said to a word for that.
const SAID: f32 = 1.0;
/// Tables that are picked in one group.
const PICKED: usize = 4;
/// What a further table must add to be picked, and costs.
const COST: f32 = 0.8;
/// How much the worth of its group counts beside a table's own, for a table that is picked or between two picked ones.
const SUPPORT: f32 = 2.0;
/// The same for others: the best of a second group come before what is merely there in the first.
const PRESENCE: f32 = 1.25;
/// What of the weaker of two tables one between them gets.
const BETWEEN: f32 = 0.8;
/// What of a picked table its neighbours get.
const NEIGHBOUR: f32 = 0.3;
/// What of its own evidence counts for a table that comes up with others.
const OWN: f32 = 0.3;
/// How far behind a table that only links two others these are: of a link one end alone says nothing.
const END: f32 = 0.05;
/// Picked tables whose neighbours count.
const HUBS: usize = 3;

/// What one table has to say to the words of a question: by word, how much.
pub(crate) type Evidence = BTreeMap<usize, f32>;

/// Groups and ways between tables, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Cohesion {
    groups: Vec<usize>,
    ways: Ways,
}

impl Cohesion {
    pub(crate) fn new(views: &[TableView], joins: &[Join]) -> Self {
        let ways = Ways::new(views, joins);
        Self { groups: groups(views, &ways), ways }
    }

    /// Every table that something speaks for, with how much. A table that the question names in full is as good as picked:
    /// what links two things does not stand for either.
    pub(crate) fn scores(
        &self,
        evidence: &BTreeMap<usize, Evidence>,
        named: &BTreeSet<usize>,
    ) -> BTreeMap<usize, f32> {
        let own: BTreeMap<usize, f32> =
            evidence.iter().map(|(table, words)| (*table, words.values().sum())).collect();
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for table in evidence.keys() {
            members.entry(self.groups.get(*table).copied().unwrap_or(usize::MAX)).or_default().push(*table);
        }
        let mut scores: BTreeMap<usize, f32> = BTreeMap::new();
        for tables in members.values() {
            let (picked, worth) = pick(tables, evidence);
            let of = |table: usize| own.get(&table).copied().unwrap_or(0.0);
            let mut raise = |table: usize, score: f32| {
                let known = scores.entry(table).or_insert(0.0);
                *known = known.max(score);
            };
            for table in tables {
                let support =
                    if picked.contains(table) || named.contains(table) { SUPPORT } else { PRESENCE };
                raise(*table, support * worth + of(*table));
            }
            let most = tables.iter().map(|table| of(*table)).fold(f32::MIN_POSITIVE, f32::max);
            for (at, one) in picked.iter().enumerate() {
                for other in picked.iter().skip(at + 1) {
                    for between in self.ways.between(*one, *other, |table| of(table) / most) {
                        let weaker = of(*one).min(of(*other));
                        raise(between, SUPPORT * worth + BETWEEN * weaker + OWN * of(between));
                    }
                }
            }
            let mut looked_at: BTreeSet<usize> = picked.iter().copied().collect();
            for hub in picked.iter().take(HUBS) {
                for (near, _) in self.ways.near(*hub) {
                    raise(near, PRESENCE * worth + NEIGHBOUR * of(*hub) + OWN * of(near));
                    looked_at.insert(near);
                }
            }
            for link in looked_at {
                let score = scores.get(&link).copied().unwrap_or(0.0);
                for end in self.ways.ends(link) {
                    let known = scores.entry(*end).or_insert(0.0);
                    *known = known.max(score - END);
                }
            }
        }
        scores
    }
}

/// The few tables that cover the words best, and what they cover, less what they cost, and something for each word.
fn pick(tables: &[usize], evidence: &BTreeMap<usize, Evidence>) -> (Vec<usize>, f32) {
    let mut covered: Evidence = BTreeMap::new();
    let mut picked: Vec<usize> = Vec::new();
    let mut worth = 0.0;
    while picked.len() < PICKED {
        let gain = |table: &usize| -> f32 {
            let words = evidence.get(table).into_iter().flatten();
            words.map(|(word, weight)| (weight - covered.get(word).unwrap_or(&0.0)).max(0.0)).sum()
        };
        let best = tables
            .iter()
            .filter(|table| !picked.contains(table))
            .map(|table| (gain(table), *table))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((gain, table)) = best else { break };
        let cost = if picked.is_empty() { 0.0 } else { COST };
        if gain < cost {
            break;
        }
        for (word, weight) in evidence.get(&table).into_iter().flatten() {
            let known = covered.entry(*word).or_default();
            *known = known.max(*weight);
        }
        picked.push(table);
        worth += gain - cost;
    }
    worth += COVERED * covered.values().filter(|said| **said >= SAID).count() as f32;
    (picked, worth)
}

/// The group of each table: its schema, or what it is joined with where the schema is too large to say anything.
fn groups(views: &[TableView], ways: &Ways) -> Vec<usize> {
    let mut sizes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (number, view) in views.iter().enumerate() {
        sizes.entry(&view.table.schema).or_insert((number, 0)).1 += 1;
    }
    let mut group: Vec<Option<usize>> = views
        .iter()
        .map(|view| {
            sizes.get(view.table.schema.as_str()).filter(|(_, size)| *size <= GROUP).map(|(first, _)| *first)
        })
        .collect();
    for start in 0..views.len() {
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            let Some(slot @ None) = group.get_mut(at) else { continue };
            *slot = Some(start);
            open.extend(ways.near(at).map(|(near, _)| near));
        }
    }
    group.into_iter().map(|group| group.unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::ways::Way;
    use super::*;

    /// Two groups: tables 0 to 2 in a chain, and table 3 alone.
    fn chain() -> Cohesion {
        let ways = Ways::of(4, &[(1, 0, Way::Up), (1, 2, Way::Up)]);
        Cohesion { groups: vec![0, 0, 0, 3], ways }
    }

    fn ranked(evidence: &[(usize, &[(usize, f32)])]) -> Vec<usize> {
        let evidence = evidence
            .iter()
            .map(|(table, words)| (*table, words.iter().copied().collect::<Evidence>()))
            .collect();
        let mut scores: Vec<(usize, f32)> = chain().scores(&evidence, &BTreeSet::new()).into_iter().collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scores.into_iter().map(|(table, _)| table).collect()
    }

    #[test]
    fn what_covers_more_words_together_comes_first_with_what_lies_between() {
        for (evidence, want) in [
            // One word each: the two of one group win over the one that matches a little better, and bring their bridge.
            (&[(0, &[(0, 4.0)][..]), (2, &[(1, 4.0)]), (3, &[(0, 5.0)])][..], &[0, 2, 1, 3][..]),
            (&[(3, &[(0, 5.0)]), (0, &[(0, 2.0)])], &[3, 0, 1]),
            // Three words of which each is common are more than one that is rare.
            (&[(3, &[(0, 5.0)]), (0, &[(0, 1.5), (1, 1.5), (2, 1.5)])], &[0, 3, 1]),
            (&[], &[]),
        ] {
            assert_eq!(ranked(evidence), want, "{evidence:?}");
        }
    }

    #[test]
    fn what_links_two_things_brings_both() {
        let evidence: BTreeMap<usize, Evidence> =
            [(0, Evidence::from([(0, 4.0)])), (3, Evidence::from([(1, 0.5)]))].into();
        let place = |ways: Ways| {
            let cohesion = Cohesion { groups: vec![0; 4], ways };
            let scores = cohesion.scores(&evidence, &BTreeSet::new());
            (scores.get(&2).copied().unwrap_or(0.0), scores.get(&3).copied().unwrap_or(0.0))
        };
        let ways = || Ways::of(4, &[(1, 0, Way::Up), (1, 2, Way::Up)]);
        let (far, other) = place(ways());
        assert!(far < other, "two keys away it is not looked at");
        let (far, other) = place(ways().links(1, &[0, 2]));
        assert!(far > other, "{far} {other}");
    }
}
