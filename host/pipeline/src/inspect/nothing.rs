//! Whether the one row of a result may come from no rows at all, and whether its number is a number of rows.

use airlock_gate::{Node, NodeKind};
use serde_json::Value;

/// Functions that give a value of no rows, by how they begin.
const AGGREGATES: [&str; 20] = [
    "any_value",
    "array_agg",
    "avg",
    "bit_",
    "bool_",
    "corr",
    "count",
    "covar_",
    "every",
    "json",
    "max",
    "min",
    "mode",
    "percentile_",
    "range_agg",
    "regr_",
    "stddev",
    "string_agg",
    "sum",
    "var",
];

/// Functions by which nothing becomes a number.
const FILLING: [&str; 3] = ["count", "coalesce", "regr_count"];

/// The last part of a name, in small letters.
fn called(node: &Node) -> String {
    let name = node.name.as_deref().unwrap_or_default();
    name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase()
}

fn children(nodes: &[Node], of: usize) -> impl Iterator<Item = (usize, &Node)> {
    let of = u32::try_from(of).ok();
    nodes.iter().enumerate().filter(move |(_, node)| node.parent.is_some() && node.parent == of)
}

/// Whether the one row of a result may be there although no row met the conditions: an aggregate over nothing, or a query in place
/// of a value. A row that was read as it is, a group, and a number that only rows give are there because rows are.
pub(super) fn may_be_of_nothing(nodes: &[Node], text: &str, row: &[Value]) -> bool {
    // Of a text that could not be taken apart nothing is known.
    if nodes.is_empty() {
        return true;
    }
    let groups = children(nodes, 0).any(|(_, node)| node.kind == NodeKind::GroupBy);
    if groups {
        return false;
    }
    let functions = || nodes.iter().filter(|node| node.kind == NodeKind::Function);
    let aggregates = functions().any(|node| AGGREGATES.iter().any(|start| called(node).starts_with(start)));
    let queries = children(nodes, 0).filter(|(_, node)| node.kind == NodeKind::Target).any(|(at, _)| {
        nodes
            .iter()
            .enumerate()
            .any(|(index, node)| node.kind == NodeKind::Subquery && is_under(nodes, index, at))
    });
    let set = children(nodes, 0).any(|(_, node)| node.kind == NodeKind::Select);
    if !(aggregates || queries || set) {
        return false;
    }
    // A sum of nothing is NULL: a zero was computed from something.
    let lower = text.to_ascii_lowercase();
    let filled = FILLING.iter().any(|name| lower.contains(name)) || lower.contains("case");
    row.iter().all(Value::is_null) || filled
}

/// Whether a node stands below another.
fn is_under(nodes: &[Node], mut index: usize, above: usize) -> bool {
    while let Some(parent) = nodes.get(index).and_then(|node| usize::try_from(node.parent?).ok()) {
        if parent == above {
            return true;
        }
        index = parent;
    }
    false
}

/// Whether the one column of a text is `count(*)`, and nothing is computed from it.
pub(super) fn counts_rows(nodes: &[Node]) -> bool {
    let targets: Vec<usize> =
        children(nodes, 0).filter(|(_, node)| node.kind == NodeKind::Target).map(|(at, _)| at).collect();
    let grouped =
        children(nodes, 0).any(|(_, node)| matches!(node.kind, NodeKind::GroupBy | NodeKind::Having));
    let [target] = targets.as_slice() else { return false };
    let computed: Vec<(usize, &Node)> = children(nodes, *target).collect();
    match computed.as_slice() {
        [(at, node)] => {
            !grouped
                && node.kind == NodeKind::Function
                && called(node) == "count"
                && children(nodes, *at).next().is_none()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_that_is_there_is_not_of_nothing() {
        for (text, row, want) in [
            ("SELECT count(*) FROM a WHERE x = 7", json!([0]), true),
            ("SELECT sum(y) FROM a WHERE x = 7", json!([null]), true),
            ("SELECT sum(y) FROM a WHERE x = 7", json!([0]), false),
            ("SELECT min(y), sum(z) FROM a WHERE x = 7", json!([0, null]), false),
            ("SELECT coalesce(sum(y), 0) FROM a WHERE x = 7", json!([0]), true),
            ("SELECT y FROM a WHERE x = 7", json!([0]), false),
            ("SELECT y FROM a WHERE x = 7", json!([null]), false),
            ("SELECT y - z FROM a WHERE x = 7", json!(["0.00"]), false),
            ("SELECT sum(y) FROM a GROUP BY x", json!([null]), false),
            ("SELECT (SELECT y FROM a WHERE x = 7)", json!([null]), true),
            ("SELECT n FROM (SELECT count(*) AS n FROM a WHERE x = 7) b", json!([0]), true),
            ("SELECT (SELECT count(*) FROM a) - (SELECT count(*) FROM b)", json!([0]), true),
        ] {
            let nodes = airlock_gate::outline(text).unwrap();
            let row: Vec<Value> = serde_json::from_value(row).unwrap();
            assert_eq!(may_be_of_nothing(&nodes, text, &row), want, "{text}");
        }
    }

    #[test]
    fn a_number_of_rows_is_known() {
        for (text, want) in [
            ("SELECT count(*) FROM a WHERE x = 7", true),
            ("SELECT count(*) AS n FROM a JOIN b ON a.i = b.i", true),
            ("SELECT count(y) FROM a", false),
            ("SELECT count(DISTINCT y) FROM a", false),
            ("SELECT count(*) FILTER (WHERE x = 7) FROM a", false),
            ("SELECT count(*) - 1 FROM a", false),
            ("SELECT (SELECT count(*) FROM a) - (SELECT count(*) FROM b)", false),
            ("SELECT count(*) FROM a GROUP BY x", false),
            ("SELECT count(*) FROM a UNION ALL SELECT count(*) FROM b", false),
        ] {
            assert_eq!(counts_rows(&airlock_gate::outline(text).unwrap()), want, "{text}");
        }
    }
}
