//! Joins along verified keys, outward only: from a table to what each of its rows points to, so that no row is
//! ever counted twice.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::stems;

use crate::logical::{Existence, Node};
use crate::refuse::Why;
use crate::schema::Schema;

/// Longest chain of keys.
const HOPS: usize = 4;

/// A step: the table it starts from and its edge.
pub type Step = (usize, usize);

/// The shortest chain of keys from one table to another. Two equally short ones need a word of the question to tell
/// them apart.
pub fn path(
    schema: &Schema,
    from: usize,
    to: usize,
    words: &BTreeSet<String>,
) -> Result<Option<Vec<Step>>, Why> {
    match shortest(schema, from, to, words, true)? {
        Some(path) => Ok(Some(path)),
        None => shortest(schema, from, to, words, false),
    }
}

fn shortest(
    schema: &Schema,
    from: usize,
    to: usize,
    words: &BTreeSet<String>,
    verified: bool,
) -> Result<Option<Vec<Step>>, Why> {
    let mut paths: Vec<(usize, Vec<Step>)> = vec![(from, Vec::new())];
    for _ in 0..=HOPS {
        let done: Vec<&Vec<Step>> = paths.iter().filter(|(at, _)| *at == to).map(|(_, path)| path).collect();
        if !done.is_empty() {
            return one(schema, &done, words).map(Some);
        }
        let mut longer = Vec::new();
        for (at, path) in &paths {
            let Some(table) = schema.table(*at) else { continue };
            for (index, edge) in table.edges.iter().enumerate() {
                let been = edge.to == from || path.iter().any(|(table, _)| *table == edge.to);
                if (edge.verified || !verified) && !been && longer.len() < 400 {
                    let mut path = path.clone();
                    path.push((*at, index));
                    longer.push((edge.to, path));
                }
            }
        }
        paths = longer;
    }
    Ok(None)
}

/// One of several equally short chains.
fn one(schema: &Schema, paths: &[&Vec<Step>], words: &BTreeSet<String>) -> Result<Vec<Step>, Why> {
    if let [only] = paths {
        return Ok((*only).clone());
    }
    let told = |path: &Vec<Step>| -> usize {
        path.iter()
            .filter_map(|(table, edge)| {
                let table = schema.table(*table)?;
                let edge = table.edges.get(*edge)?;
                let target: BTreeSet<&String> = schema.table(edge.to)?.names.iter().flatten().collect();
                Some(
                    edge.from
                        .iter()
                        .filter_map(|column| table.columns.get(*column))
                        .flat_map(|column| column.names.iter().flatten())
                        .filter(|stem| {
                            stem.as_str() != "id" && !target.contains(stem) && words.contains(*stem)
                        })
                        .count(),
                )
            })
            .sum()
    };
    let best = paths.iter().map(|path| told(path)).max().unwrap_or(0);
    let told: Vec<&&Vec<Step>> = paths.iter().filter(|path| told(path) == best).collect();
    match told.as_slice() {
        [only] => Ok((**only).clone()),
        _ => {
            let columns: Vec<String> = paths
                .iter()
                .filter_map(|path| {
                    let (table, edge) = path.first()?;
                    let table = schema.table(*table)?;
                    let column = table.columns.get(*table.edges.get(*edge)?.from.first()?)?;
                    Some(format!("{}.{}", table.reference.name, column.name))
                })
                .collect();
            Err(Why::Ambiguous(format!("the tables join in more than one way ({})", columns.join(" or "))))
        }
    }
}

/// A tree of joined tables under construction.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Its tables; the first is the root.
    pub nodes: Vec<Node>,
}

impl Tree {
    /// A tree of one table.
    pub fn new(root: usize) -> Self {
        Self { nodes: vec![Node { table: root, parent: None, left: false, up: false }] }
    }

    /// The table the others hang from.
    pub fn root(&self) -> usize {
        self.nodes.first().map_or(0, |node| node.table)
    }

    /// The node of a table, joined along the way when needed. `keep` keeps rows without a partner.
    pub fn reach(
        &mut self,
        schema: &Schema,
        table: usize,
        keep: bool,
        words: &BTreeSet<String>,
    ) -> Result<Option<usize>, Why> {
        if let Some(known) = self.nodes.iter().position(|node| node.table == table) {
            return Ok(Some(known));
        }
        let Some(path) = path(schema, self.root(), table, words)? else { return Ok(None) };
        Ok(Some(self.walk(schema, &path, keep)))
    }

    /// Joins a chain of steps that starts at the root.
    fn walk(&mut self, schema: &Schema, path: &[Step], keep: bool) -> usize {
        let mut at = 0;
        let mut left = false;
        for (table, edge) in path {
            let Some(detail) = schema.table(*table).and_then(|table| table.edges.get(*edge)) else {
                continue;
            };
            left |= keep && detail.optional;
            let parent = Some((at, *edge));
            at = match self.nodes.iter().position(|node| node.parent == parent && node.table == detail.to) {
                Some(known) => known,
                None => {
                    self.nodes.push(Node { table: detail.to, parent, left, up: false });
                    self.nodes.len() - 1
                }
            };
        }
        at
    }
}

/// The table from which all of the given ones can be reached with the fewest joins.
pub fn root(schema: &Schema, anchors: &[usize], words: &BTreeSet<String>) -> Result<usize, Why> {
    let mut best: Vec<(usize, usize)> = Vec::new();
    let mut trouble = None;
    'tables: for candidate in 0..schema.tables.len() {
        let mut tree = Tree::new(candidate);
        for anchor in anchors {
            match tree.reach(schema, *anchor, false, words) {
                Ok(Some(_)) => {}
                Ok(None) => continue 'tables,
                Err(why) => {
                    trouble.get_or_insert(why);
                    continue 'tables;
                }
            }
        }
        let spoken = |table: usize| anchors.contains(&table) || hinted(schema, table, words);
        let silent = tree.nodes.iter().filter(|node| !spoken(node.table)).count();
        // A long way over tables that nobody spoke of is a guess at what belongs together.
        if silent > if spoken(candidate) { 2 } else { 1 } {
            continue;
        }
        // A bridge that nobody named costs more than a table that was.
        let cost = tree.nodes.len() * 2 - usize::from(spoken(candidate));
        best.push((cost, candidate));
    }
    best.sort_unstable();
    match best.as_slice() {
        [] => Err(trouble.unwrap_or_else(|| {
            let names: Vec<String> = anchors
                .iter()
                .filter_map(|at| schema.table(*at))
                .map(|table| table.reference.name.clone())
                .collect();
            Why::Unconnected(names)
        })),
        [(cost, _), (other, _), ..] if cost == other => {
            let names: Vec<String> = best
                .iter()
                .filter(|(other, _)| other == cost)
                .filter_map(|(_, at)| schema.table(*at))
                .map(|table| table.reference.name.clone())
                .collect();
            Err(Why::Ambiguous(format!("it could be answered through {}", names.join(" or "))))
        }
        [(_, table), ..] => Ok(*table),
    }
}

/// True when a word of the question is of the family of a table's name: `enrolled` and `enrollments`.
fn hinted(schema: &Schema, table: usize, words: &BTreeSet<String>) -> bool {
    let Some(table) = schema.table(table) else { return false };
    table.names.iter().any(|name| {
        !name.is_empty() && name.iter().all(|stem| words.iter().any(|word| stems::kin(word, stem)))
    })
}

/// A subquery of rows that point, directly or over others, to a node of the outer query and from which `tables` can
/// be reached.
pub fn existence(
    schema: &Schema,
    outer: usize,
    outer_table: usize,
    tables: &[usize],
    words: &BTreeSet<String>,
) -> Result<Existence, Why> {
    match outward(schema, outer, outer_table, tables, words) {
        Ok(found) => Ok(found),
        Err(why) => zigzag(schema, outer, outer_table, tables).ok_or(why),
    }
}

/// The subquery whose root points to everything.
fn outward(
    schema: &Schema,
    outer: usize,
    outer_table: usize,
    tables: &[usize],
    words: &BTreeSet<String>,
) -> Result<Existence, Why> {
    let mut anchors: Vec<usize> = tables.to_vec();
    anchors.push(outer_table);
    let root = root(schema, &anchors, words)?;
    let Some(path) = path(schema, root, outer_table, words)? else {
        return Err(Why::Unconnected(Vec::new()));
    };
    let Some(((_, edge), before)) = path.split_last() else {
        return Err(Why::Unconnected(Vec::new()));
    };
    let mut tree = Tree::new(root);
    let last = tree.walk(schema, before, false);
    for table in tables {
        if tree.reach(schema, *table, false, words)?.is_none() {
            return Err(Why::Unconnected(Vec::new()));
        }
    }
    Ok(Existence { nodes: tree.nodes, last, edge: *edge, forward: false, outer, preds: Vec::new() })
}

/// A step of a way in either direction: to which table, by which edge of which one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hop {
    to: usize,
    edge: usize,
    up: bool,
}

/// The subquery that goes from one table to the next in both directions: whether such rows are there does not depend on
/// how often they are met. None where two ways are equally short.
fn zigzag(schema: &Schema, outer: usize, outer_table: usize, tables: &[usize]) -> Option<Existence> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut entry: Option<(usize, bool)> = None;
    let mut latest = outer_table;
    for table in tables {
        if nodes.iter().any(|node| node.table == *table) {
            latest = *table;
            continue;
        }
        // From where the last thing was named, else from any table on the way.
        let mut starts: Vec<usize> = vec![latest];
        starts.extend(nodes.iter().map(|node| node.table).filter(|table| *table != latest));
        let (start, way) = starts
            .iter()
            .filter_map(|start| way(schema, *start, *table, outer_table).map(|way| (*start, way)))
            .min_by_key(|(_, way)| way.len())?;
        let mut at = nodes.iter().position(|node| node.table == start);
        for hop in way {
            match at {
                None => {
                    nodes.push(Node { table: hop.to, parent: None, left: false, up: false });
                    entry = Some((hop.edge, !hop.up));
                    at = Some(0);
                }
                Some(parent) => {
                    nodes.push(Node {
                        table: hop.to,
                        parent: Some((parent, hop.edge)),
                        left: false,
                        up: hop.up,
                    });
                    at = Some(nodes.len() - 1);
                }
            }
        }
        latest = *table;
    }
    let (edge, forward) = entry?;
    Some(Existence { nodes, last: 0, edge, forward, outer, preds: Vec::new() })
}

/// The one shortest way between two tables over keys in either direction, never back through the outer table.
fn way(schema: &Schema, from: usize, to: usize, outer: usize) -> Option<Vec<Hop>> {
    let mut ways: Vec<(usize, Vec<Hop>)> = vec![(from, Vec::new())];
    for _ in 0..3 {
        let mut longer = Vec::new();
        for (at, way) in &ways {
            for hop in hops(schema, *at) {
                let been = hop.to == from || hop.to == outer || way.iter().any(|step| step.to == hop.to);
                // Over what both only point to, two things merely share it; what hangs on it belongs to it.
                let turns = hop.up && way.last().is_some_and(|step| !step.up) && !hangs(schema, hop.to);
                if !been && !turns && longer.len() < 400 {
                    let mut way = way.clone();
                    way.push(hop);
                    longer.push((hop.to, way));
                }
            }
        }
        let done: Vec<&Vec<Hop>> = longer.iter().filter(|(at, _)| *at == to).map(|(_, way)| way).collect();
        match done.as_slice() {
            [] => {}
            [only] => return Some((*only).clone()),
            _ => return None,
        }
        ways = longer;
    }
    None
}

/// A table joined to another one that hangs on something it points to.
pub fn fan(schema: &Schema, from: usize, to: usize) -> Option<Tree> {
    let way = way(schema, from, to, from).filter(|way| way.last().is_some_and(|hop| hop.up))?;
    // Only the last step may meet a row more than once.
    let outward = way.iter().rev().skip(1).all(|hop| !hop.up);
    let mut tree = Tree::new(from);
    for hop in way.iter().filter(|_| outward) {
        let parent = tree.nodes.len() - 1;
        tree.nodes.push(Node { table: hop.to, parent: Some((parent, hop.edge)), left: false, up: hop.up });
    }
    (tree.nodes.len() > 1).then_some(tree)
}

/// True for a table that only says more of what it points to: the categories of a shop.
fn hangs(schema: &Schema, table: usize) -> bool {
    let referred = schema.tables.iter().any(|other| other.edges.iter().any(|edge| edge.to == table));
    schema.table(table).is_some_and(|table| table.edges.len() == 1 && table.columns.len() <= 4) && !referred
}

fn hops(schema: &Schema, at: usize) -> Vec<Hop> {
    let own = schema.table(at).map(|table| table.edges.as_slice()).unwrap_or_default();
    let mut found: Vec<Hop> =
        own.iter().enumerate().map(|(edge, to)| Hop { to: to.to, edge, up: false }).collect();
    for (table, detail) in schema.tables.iter().enumerate().filter(|(table, _)| *table != at) {
        for (edge, _) in detail.edges.iter().enumerate().filter(|(_, edge)| edge.to == at) {
            found.push(Hop { to: table, edge, up: true });
        }
    }
    found
}
