//! Tables that lie between the chosen ones, and the neighbours their keys lead to.

use airlock_plugin_sdk::{Host, TableRef};

use crate::score::Candidate;

/// Longest chain of joins that is followed between two chosen tables.
const HOPS: u32 = 3;

/// Adds the tables that connect the chosen ones; the weakest chosen give way when there is no room.
pub fn connect(host: &impl Host, chosen: &mut Vec<Candidate>, width: usize) {
    let refs: Vec<TableRef> = chosen.iter().map(|candidate| candidate.detail.summary.table.clone()).collect();
    let Some(first) = refs.first() else { return };
    for other in refs.iter().skip(1) {
        let path = host.join_path(first, other, HOPS);
        for table in path.iter().flat_map(|join| [&join.from, &join.to]) {
            if chosen.iter().any(|candidate| candidate.detail.summary.table == *table) {
                continue;
            }
            let Some(detail) = host.describe(table).filter(|detail| detail.in_use) else { continue };
            if chosen.len() >= width {
                // A bridge is worth more than a table that only shares a word of its notes.
                let weak =
                    chosen.iter().rposition(|candidate| candidate.score < 0.8 && candidate.bridge.is_none());
                match weak.filter(|at| *at > 0) {
                    Some(at) => drop(chosen.remove(at)),
                    None => return,
                }
            }
            let bridge = Some(format!("Connects {} and {}.", first.name, other.name));
            chosen.push(Candidate { detail, score: 0.5, matches: Default::default(), bridge });
        }
    }
}

/// Fills the room that is left: other candidates first, then tables one key away.
pub fn neighbours(
    host: &impl Host,
    chosen: &mut Vec<Candidate>,
    candidates: &mut Vec<Candidate>,
    width: usize,
) {
    while chosen.len() < width && !candidates.is_empty() {
        chosen.push(candidates.remove(0));
    }
    let joins: Vec<_> = chosen.iter().flat_map(|candidate| candidate.detail.joins.clone()).collect();
    for join in joins.iter().filter(|join| join.verified) {
        for (table, other) in [(&join.to, &join.from), (&join.from, &join.to)] {
            if chosen.len() >= width {
                return;
            }
            if chosen.iter().any(|candidate| candidate.detail.summary.table == *table) {
                continue;
            }
            if let Some(detail) = host.describe(table).filter(|detail| detail.in_use) {
                let bridge = Some(format!("One key away from {}.", other.name));
                chosen.push(Candidate { detail, score: 0.1, matches: Default::default(), bridge });
            }
        }
    }
}
