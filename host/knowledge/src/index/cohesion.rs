//! Tables support each other: those that together cover the words of a question, and those that lie between them, rank
//! before one that happens to share a word.
//!
//! Tables fall into groups (a schema; in a very large one, what is joined together). In each group a few tables are picked
//! greedily so that they cover the question's words. What they cover is the group's worth, which all its tables share;
//! tables that connect the picked ones, and their neighbours, come up with them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use airlock_types::TableRef;

use crate::joins::Join;
use crate::tables::TableView;

/// Tables a group may have before it is split by its joins.
const GROUP: usize = 60;
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
/// Picked tables whose neighbours count.
const HUBS: usize = 3;
/// Longest way between two picked tables.
const HOPS: usize = 3;
/// A key that more tables share than this connects nothing.
const SHARED: usize = 30;

/// What one table has to say to the words of a question: by word, how much.
pub(crate) type Evidence = BTreeMap<usize, f32>;

/// Groups and ways between tables, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Cohesion {
    groups: Vec<usize>,
    neighbours: Vec<BTreeSet<usize>>,
}

impl Cohesion {
    pub(crate) fn new(views: &[TableView], joins: &[Join]) -> Self {
        let number: HashMap<&TableRef, usize> = views
            .iter()
            .enumerate()
            .filter(|(_, view)| view.in_use)
            .map(|(at, view)| (&view.table, at))
            .collect();
        let mut neighbours: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); views.len()];
        let mut verified: BTreeSet<&str> = BTreeSet::new();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for join in joins {
            if let (Some(from), Some(to)) = (number.get(&join.from), number.get(&join.to)) {
                pairs.push((*from, *to));
                if join.verified() {
                    verified.insert(&join.from.schema);
                }
            }
        }
        pairs.extend(shared_keys(views, &verified));
        for (from, to) in pairs.into_iter().filter(|(from, to)| from != to) {
            for (one, other) in [(from, to), (to, from)] {
                if let Some(set) = neighbours.get_mut(one) {
                    set.insert(other);
                }
            }
        }
        let groups = groups(views, &neighbours);
        Self { groups, neighbours }
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
            for (at, one) in picked.iter().enumerate() {
                for other in picked.iter().skip(at + 1) {
                    for between in self.between(*one, *other) {
                        let weaker = of(*one).min(of(*other));
                        raise(between, SUPPORT * worth + BETWEEN * weaker + OWN * of(between));
                    }
                }
            }
            for hub in picked.iter().take(HUBS) {
                for near in self.neighbours.get(*hub).into_iter().flatten() {
                    raise(*near, PRESENCE * worth + NEIGHBOUR * of(*hub) + OWN * of(*near));
                }
            }
        }
        scores
    }

    /// The tables on the shortest way from one to another, ends left out.
    fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let mut came_from: BTreeMap<usize, usize> = BTreeMap::from([(from, from)]);
        let mut open: VecDeque<(usize, usize)> = VecDeque::from([(from, 0)]);
        while let Some((at, hops)) = open.pop_front() {
            if at == to {
                break;
            }
            if hops == HOPS {
                continue;
            }
            for next in self.neighbours.get(at).into_iter().flatten() {
                if !came_from.contains_key(next) {
                    came_from.insert(*next, at);
                    open.push_back((*next, hops + 1));
                }
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while let Some(before) = came_from.get(&at).copied()
            && before != from
            && before != at
        {
            way.push(before);
            at = before;
        }
        way
    }
}

/// The few tables that cover the words best, and what they cover, less what they cost.
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
    (picked, worth)
}

/// Tables that have a key column of the same name, in schemas that declare no joins.
fn shared_keys(views: &[TableView], verified: &BTreeSet<&str>) -> Vec<(usize, usize)> {
    let mut by_name: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (number, view) in views.iter().enumerate() {
        if !view.in_use || verified.contains(view.table.schema.as_str()) {
            continue;
        }
        for column in &view.columns {
            if column.name.len() > 2 && column.name.to_lowercase().ends_with("id") {
                by_name.entry((&view.table.schema, &column.name)).or_default().push(number);
            }
        }
    }
    let mut pairs = Vec::new();
    for tables in by_name.values().filter(|tables| tables.len() <= SHARED) {
        for (at, one) in tables.iter().enumerate() {
            pairs.extend(tables.iter().skip(at + 1).map(|other| (*one, *other)));
        }
    }
    pairs
}

/// The group of each table: its schema, or what it is joined with where the schema is too large to say anything.
fn groups(views: &[TableView], neighbours: &[BTreeSet<usize>]) -> Vec<usize> {
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
            open.extend(neighbours.get(at).into_iter().flatten());
        }
    }
    group.into_iter().map(|group| group.unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups: tables 0 to 2 in a chain, and table 3 alone.
    fn chain() -> Cohesion {
        let set = |tables: &[usize]| tables.iter().copied().collect();
        Cohesion { groups: vec![0, 0, 0, 3], neighbours: vec![set(&[1]), set(&[0, 2]), set(&[1]), set(&[])] }
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
            (&[], &[]),
        ] {
            assert_eq!(ranked(evidence), want, "{evidence:?}");
        }
    }

    #[test]
    fn a_way_is_found_within_its_hops() {
        assert_eq!(chain().between(0, 2), [1]);
        assert!(chain().between(0, 1).is_empty());
        assert!(chain().between(0, 3).is_empty());
    }
}
