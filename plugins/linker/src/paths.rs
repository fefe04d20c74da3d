//! Tables that lie between the chosen ones, and the neighbours their keys lead to.

use airlock_plugin_sdk::{Host, TableRef};

use crate::score::Candidate;

/// Longest chain of joins that is followed between two chosen tables.
const HOPS: u32 = 3;

/// Chosen tables that never give way, and that are connected whatever it takes.
const SURE: usize = 3;

/// Adds the tables that connect the surest of the chosen ones; the last give way when there is no room.
pub fn connect(host: &impl Host, chosen: &mut Vec<Candidate>, width: usize) {
    let refs: Vec<TableRef> = chosen.iter().map(|candidate| candidate.detail.summary.table.clone()).collect();
    let Some(first) = refs.first() else { return };
    for other in refs.iter().take(SURE).skip(1) {
        let path = host.join_path(first, other, HOPS);
        for table in path.iter().flat_map(|join| [&join.from, &join.to]) {
            if chosen.iter().any(|candidate| candidate.detail.summary.table == *table) {
                continue;
            }
            let Some(detail) = host.describe(table).filter(|detail| detail.in_use) else { continue };
            if chosen.len() >= width {
                // A bridge is worth more than the last of a ranking.
                let last =
                    chosen.iter().rposition(|candidate| candidate.bridge.is_none() && !candidate.pinned);
                match last.filter(|at| *at >= SURE) {
                    Some(at) => drop(chosen.remove(at)),
                    None => return,
                }
            }
            let why = format!("Connects {} and {}.", first.name, other.name);
            chosen.push(Candidate::beside(detail, 0.5, why));
        }
    }
}

/// Fills the room that is left with tables one key away.
pub fn neighbours(host: &impl Host, chosen: &mut Vec<Candidate>, width: usize) {
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
                let why = format!("One key away from {}.", other.name);
                chosen.push(Candidate::beside(detail, 0.1, why));
            }
        }
    }
}
