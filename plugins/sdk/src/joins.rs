//! The shortest chain of joins between two relations, over whatever look-ups there are.

use std::collections::{BTreeSet, VecDeque};

use crate::contract::catalog::Join;
use crate::{Host, TableRef};

/// Joins that are followed at most, as the contract has it.
const HOPS: u32 = 6;

/// The shortest chain by what `host` describes, verified joins preferred; empty when there is none within `max_hops`.
pub(crate) fn shortest(host: &impl Host, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
    let key = |table: &TableRef| (table.schema.clone(), table.name.clone());
    let mut seen = BTreeSet::from([key(from)]);
    let mut queue = VecDeque::from([(from.clone(), Vec::<Join>::new())]);
    while let Some((here, path)) = queue.pop_front() {
        if here == *to {
            return path;
        }
        if path.len() >= max_hops.min(HOPS) as usize {
            continue;
        }
        let mut joins = host.describe(&here).map(|table| table.joins).unwrap_or_default();
        joins.sort_by_key(|join| !join.verified);
        for join in joins {
            let next = if join.from == here { join.to.clone() } else { join.from.clone() };
            if seen.insert(key(&next)) {
                let mut longer = path.clone();
                longer.push(join);
                queue.push_back((next, longer));
            }
        }
    }
    Vec::new()
}
