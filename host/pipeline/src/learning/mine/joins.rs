//! Which columns of two tables a text says are equal.

use std::collections::BTreeMap;

use airlock_gate::{Facts, Node, NodeKind, outline};
use airlock_types::{ColumnRef, TableRef};

/// Words that may follow a table in FROM and are no name of it.
const CLAUSES: [&str; 12] =
    ["on", "where", "join", "left", "right", "inner", "full", "cross", "group", "order", "limit", "using"];

/// Equal columns of two tables, each pair once and in one order.
pub(super) fn of(sql: &str, facts: &Facts) -> Vec<(ColumnRef, ColumnRef)> {
    let Ok(nodes) = outline(sql) else { return Vec::new() };
    let names = names(sql, &nodes, facts);
    let column = |node: &Node| {
        let name = node.name.as_deref()?.to_lowercase();
        let (table, column) = name.rsplit_once('.')?;
        let table = names.get(table.rsplit('.').next()?)?;
        facts.columns.iter().find(|known| known.table == *table && known.column == column).cloned()
    };
    let mut found = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        if node.kind != NodeKind::Operator || node.name.as_deref() != Some("=") {
            continue;
        }
        let sides: Vec<&Node> = nodes.iter().filter(|side| side.parent == u32::try_from(at).ok()).collect();
        let [one, other] = sides.as_slice() else { continue };
        if one.kind != NodeKind::Column || other.kind != NodeKind::Column {
            continue;
        }
        if let (Some(one), Some(other)) = (column(one), column(other))
            && one.table != other.table
        {
            let pair = if one.to_string() <= other.to_string() { (one, other) } else { (other, one) };
            if !found.contains(&pair) {
                found.push(pair);
            }
        }
    }
    found
}

/// What tables are called in a text.
fn names(sql: &str, nodes: &[Node], facts: &Facts) -> BTreeMap<String, TableRef> {
    let mut found = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.kind == NodeKind::Table) {
        let Some(name) = node.name.as_deref().and_then(|name| name.rsplit('.').next()) else { continue };
        let name = name.to_lowercase();
        let Some(table) = facts.tables.iter().find(|table| table.name == name) else { continue };
        found.entry(name).or_insert_with(|| table.clone());
        let rest = sql.get(node.end as usize..).unwrap_or_default();
        if rest.trim_start().starts_with([',', ')', ';']) {
            continue;
        }
        let mut words =
            rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
        let mut next = words.next().unwrap_or_default().to_lowercase();
        if next == "as" {
            next = words.next().unwrap_or_default().to_lowercase();
        }
        if !next.is_empty() && !CLAUSES.contains(&next.as_str()) {
            found.insert(next, table.clone());
        }
    }
    found
}
