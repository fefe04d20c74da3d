//! How tables lead to each other: which way a key points, the cheapest way between two, and tables that only link others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use airlock_types::TableRef;

use super::words::name_parts;
use crate::joins::Join;
use crate::tables::TableView;

/// Longest way between two tables.
const HOPS: usize = 3;
/// What it costs more to go through a shared parent, in hops: students and courses of one department have nothing else in
/// common, those that an enrolment names have.
const FAN: usize = 2;
/// What a hop costs.
const HOP: usize = 1_000;
/// What it costs most to go through a table that the question says nothing of: it decides between ways of as many hops, and
/// nothing else.
const UNSAID: f32 = 300.0;
/// A key that more tables share than this connects nothing.
const SHARED: usize = 30;
/// Columns that a table may have beside its keys and still only link others.
const REST: usize = 2;

/// Which way a key points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// From the many to the one.
    Up,
    /// From the one to the many.
    Down,
    /// Nothing says.
    Level,
}

impl Way {
    const fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
            Self::Level => Self::Level,
        }
    }

    /// What two joins of the same tables say together.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (known, Self::Level) | (Self::Level, known) => known,
            (one, other) if one == other => one,
            _ => Self::Level,
        }
    }
}

/// The ways between tables, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Ways {
    near: Vec<BTreeMap<usize, Way>>,
    /// The two tables that a link table stands between.
    ends: BTreeMap<usize, Vec<usize>>,
}

impl Ways {
    pub(super) fn new(views: &[TableView], joins: &[Join]) -> Self {
        let number: HashMap<&TableRef, usize> = views
            .iter()
            .enumerate()
            .filter(|(_, view)| view.in_use)
            .map(|(at, view)| (&view.table, at))
            .collect();
        let mut ways = Self { near: vec![BTreeMap::new(); views.len()], ends: BTreeMap::new() };
        let mut verified: BTreeSet<&str> = BTreeSet::new();
        let mut keys: BTreeSet<(usize, &str)> = BTreeSet::new();
        // A guess that leads out of its schema says nothing about what belongs together.
        for join in joins.iter().filter(|join| join.verified() || join.from.schema == join.to.schema) {
            let (Some(from), Some(to)) = (number.get(&join.from), number.get(&join.to)) else { continue };
            if join.verified() {
                verified.insert(&join.from.schema);
            }
            keys.extend(join.from_columns.iter().map(|column| (*from, column.as_str())));
            ways.add(*from, *to, if join.many_to_one { Way::Up } else { Way::Level });
        }
        for (from, to, way) in shared_keys(views, &verified) {
            ways.add(from, to, way);
        }
        for (at, view) in views.iter().enumerate() {
            let key = |name: &str| keys.contains(&(at, name)) || is_key_name(name);
            let rest = view.columns.iter().filter(|column| !key(&column.name)).count();
            let all =
                |way: Way| ways.near(at).filter(move |(_, found)| *found == way).map(|(table, _)| table);
            let ends: Vec<usize> = all(Way::Up).collect();
            if ends.len() == 2 && all(Way::Down).next().is_none() && rest <= REST {
                ways.ends.insert(at, ends);
            }
        }
        ways
    }

    fn add(&mut self, from: usize, to: usize, way: Way) {
        if from == to {
            return;
        }
        for (one, other, way) in [(from, to, way), (to, from, way.back())] {
            if let Some(near) = self.near.get_mut(one) {
                near.entry(other).and_modify(|known| *known = known.and(way)).or_insert(way);
            }
        }
    }

    /// Tables one key away, in their order.
    pub(super) fn near(&self, table: usize) -> impl Iterator<Item = (usize, Way)> {
        self.near.get(table).into_iter().flatten().map(|(table, way)| (*table, *way))
    }

    /// The two tables that this one stands between, when it does nothing else.
    pub(super) fn ends(&self, table: usize) -> &[usize] {
        self.ends.get(&table).map_or(&[], Vec::as_slice)
    }

    /// The tables on the cheapest way from one to another, ends left out; of ways that are as long, the one through tables
    /// of which more is `said`, from 0 to 1.
    pub(super) fn between(&self, from: usize, to: usize, said: impl Fn(usize) -> f32) -> Vec<usize> {
        let mut done: BTreeSet<(usize, Way)> = BTreeSet::new();
        let mut open = BinaryHeap::from([Reverse((0, from, Way::Level, Vec::<usize>::new()))]);
        while let Some(Reverse((cost, at, by, way))) = open.pop() {
            if at == to {
                return way.into_iter().filter(|table| *table != to).collect();
            }
            if way.len() == HOPS || !done.insert((at, by)) {
                continue;
            }
            for (next, turn) in self.near(at).filter(|(next, _)| *next != from && !way.contains(next)) {
                let fan = if (by, turn) == (Way::Up, Way::Down) { FAN } else { 0 };
                let further = way.iter().copied().chain([next]).collect();
                let unsaid = if next == to { 0.0 } else { UNSAID * (1.0 - said(next)).clamp(0.0, 1.0) };
                open.push(Reverse((cost + HOP * (1 + fan) + unsaid as usize, next, turn, further)));
            }
        }
        Vec::new()
    }

    #[cfg(test)]
    pub(super) fn of(tables: usize, ways: &[(usize, usize, Way)]) -> Self {
        let mut all = Self { near: vec![BTreeMap::new(); tables], ends: BTreeMap::new() };
        for (from, to, way) in ways {
            all.add(*from, *to, *way);
        }
        all
    }

    #[cfg(test)]
    pub(super) fn links(mut self, table: usize, ends: &[usize]) -> Self {
        self.ends.insert(table, ends.to_vec());
        self
    }
}

/// Words that end as the name of a key does and are none.
#[rustfmt::skip]
const NO_KEYS: [&str; 24] = [
    "acid", "aid", "amid", "android", "bid", "fluid", "grid", "hybrid", "invalid", "kid", "laid", "lid", "liquid", "maid", "mid",
    "overpaid", "paid", "prepaid", "raid", "rapid", "solid", "unpaid", "valid", "void",
];

/// Whether a column is called as keys are: its last part is `id`, or ends so with the name of a thing before it.
fn is_key_name(name: &str) -> bool {
    let last = name_parts(name).pop().map(|part| part.folded).unwrap_or_default();
    last.ends_with("id") && !NO_KEYS.contains(&last.as_str())
}

/// Tables that have a key column of the same name, in schemas that declare no joins. Where one of them is called like the key,
/// the others point at it.
fn shared_keys(views: &[TableView], verified: &BTreeSet<&str>) -> Vec<(usize, usize, Way)> {
    let mut by_name: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (number, view) in views.iter().enumerate() {
        if !view.in_use || verified.contains(view.table.schema.as_str()) {
            continue;
        }
        for column in &view.columns {
            if column.name.len() > 2 && is_key_name(&column.name) {
                by_name.entry((&view.table.schema, &column.name)).or_default().push(number);
            }
        }
    }
    let stems = |name: &str| -> Vec<String> {
        let parts = name_parts(name).into_iter().filter(|part| part.folded != "id");
        parts.map(|part| part.stem).collect()
    };
    let mut pairs = Vec::new();
    for ((_, key), tables) in by_name.iter().filter(|(_, tables)| tables.len() <= SHARED) {
        let named =
            |table: &&usize| views.get(**table).is_some_and(|view| stems(&view.table.name) == stems(key));
        match tables.iter().filter(named).collect::<Vec<_>>().as_slice() {
            [hub] => pairs.extend(tables.iter().map(|table| (*table, **hub, Way::Up))),
            _ => {
                for (at, one) in tables.iter().enumerate() {
                    pairs.extend(tables.iter().skip(at + 1).map(|other| (*one, *other, Way::Level)));
                }
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_words_that_end_as_they_do() {
        for name in ["id", "bill_id", "billId", "BillID", "billid", "Bill ID", "uuid"] {
            assert!(is_key_name(name), "{name}");
        }
        for name in [
            "paid",
            "amount_paid",
            "isValid",
            "valid",
            "grid",
            "GRID",
            "id_type",
            "identity",
            "void",
            "",
            "_",
        ] {
            assert!(!is_key_name(name), "{name}");
        }
    }

    #[test]
    fn a_shared_parent_is_the_longer_way() {
        // Students 0 and courses 2 belong to departments 1; enrolments 3 and sections 4 connect them.
        let ways = [(0, 1, Way::Up), (2, 1, Way::Up), (3, 0, Way::Up), (3, 4, Way::Up), (4, 2, Way::Up)];
        let school = Ways::of(6, &ways);
        let between = |from, to| school.between(from, to, |_| 0.0);
        assert_eq!(between(0, 2), [3, 4]);
        assert_eq!(between(2, 0), [4, 3]);
        assert!(between(0, 1).is_empty(), "they are beside each other");
        assert!(between(0, 5).is_empty(), "there is no way");
        assert_eq!(
            school.between(0, 2, |table| f32::from(table == 1)),
            [3, 4],
            "words do not make it shorter"
        );
        assert_eq!(Ways::of(3, ways.get(..2).unwrap()).between(0, 2, |_| 0.0), [1], "the only way is taken");
    }

    #[test]
    fn of_equal_ways_the_one_that_the_question_speaks_of_is_taken() {
        let ways = Ways::of(4, &[(1, 0, Way::Up), (1, 3, Way::Up), (2, 0, Way::Up), (2, 3, Way::Up)]);
        for said in [1, 2] {
            assert_eq!(ways.between(0, 3, |table| f32::from(table == said)), [said]);
        }
    }

    #[test]
    fn joins_of_the_same_tables_agree_on_a_way_or_say_nothing() {
        for (ways, want) in [
            (&[(0, 1, Way::Up), (0, 1, Way::Level)][..], Way::Up),
            (&[(0, 1, Way::Up), (1, 0, Way::Up)], Way::Level),
            (&[(1, 0, Way::Up)], Way::Down),
        ] {
            let ways = Ways::of(2, ways);
            assert_eq!(ways.near(0).collect::<Vec<_>>(), [(1, want)]);
        }
    }
}
