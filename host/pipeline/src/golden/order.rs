//! Where an order is asked for: which rows of a right result may change places, since its own ORDER BY does not tell them
//! apart.

use std::ops::Range;

use airlock_database::ResultSet;
use airlock_gate::{Node, NodeKind, outline};
use airlock_types::ask::ResultColumn;

use super::cell::Cell;

/// By what a text orders its rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// Output columns among them.
    outputs: Vec<usize>,
    /// Bytes of the others.
    expressions: Vec<Range<usize>>,
    /// Where a further output column can be put in.
    insert_at: Option<usize>,
}

/// Whether a text orders the rows it gives.
pub(super) fn is_ordered(sql: &str) -> bool {
    outline(sql).is_ok_and(|nodes| nodes.iter().any(|node| is_of_query(node, NodeKind::OrderBy)))
}

/// Whether a node belongs to the outermost query, the first of an outline.
fn is_of_query(node: &Node, kind: NodeKind) -> bool {
    node.kind == kind && node.parent == Some(0)
}

/// The keys of a text with these output columns; `None` when it orders by nothing, or by what cannot be told.
pub(super) fn keys(sql: &str, columns: &[ResultColumn]) -> Option<Keys> {
    let nodes = outline(sql).ok()?;
    let mut keys = Keys { outputs: Vec::new(), expressions: Vec::new(), insert_at: None };
    // A number in ORDER BY or GROUP BY is the place of an output column, which a further column would move.
    let mut placed = false;
    for (at, node) in nodes.iter().enumerate() {
        let of_clause =
            || nodes.iter().find(|child| child.parent.is_some_and(|parent| parent as usize == at));
        if is_of_query(node, NodeKind::GroupBy) {
            placed |= of_clause().is_some_and(|child| child.kind == NodeKind::Literal);
        } else if is_of_query(node, NodeKind::Target) && keys.insert_at.is_none() {
            keys.insert_at = Some(node.start as usize);
        } else if is_of_query(node, NodeKind::OrderBy) {
            let child = of_clause()?;
            let range = node.start as usize..node.end as usize;
            let text = sql.get(range.clone())?;
            if child.kind == NodeKind::Literal {
                let place = text.parse::<usize>().ok()?.checked_sub(1)?;
                columns.get(place)?;
                keys.outputs.push(place);
                placed = true;
            } else if let Some(output) = named(child, text, columns) {
                keys.outputs.push(output);
            } else {
                keys.expressions.push(range);
            }
        }
    }
    let none = keys.outputs.is_empty() && keys.expressions.is_empty();
    let cannot = !keys.expressions.is_empty() && (placed || keys.insert_at.is_none());
    (!none && !cannot).then_some(keys)
}

/// The output column that a bare name in ORDER BY means.
fn named(node: &Node, text: &str, columns: &[ResultColumn]) -> Option<usize> {
    if node.kind != NodeKind::Column || node.name.as_deref() != Some(text) {
        return None;
    }
    let name = match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => text.to_lowercase(),
    };
    columns.iter().position(|column| column.name == name)
}

impl Keys {
    /// The text with the keys that are no output columns as its first ones; `None` when there are none.
    pub(super) fn shown(&self, sql: &str) -> Option<String> {
        let at = self.insert_at.filter(|_| !self.expressions.is_empty())?;
        let (before, after) = sql.split_at_checked(at)?;
        let shown: Option<String> =
            self.expressions.iter().map(|range| Some(format!("({}), ", sql.get(range.clone())?))).collect();
        Some(format!("{before}{}{after}", shown?))
    }

    /// Splits what the text of [`Self::shown`] gave into the text's own result and its keys.
    pub(super) fn split(&self, mut shown: ResultSet) -> (ResultSet, ResultSet) {
        let count = self.expressions.len().min(shown.columns.len());
        let own = shown.columns.split_off(count);
        let rows = shown.rows.iter_mut().map(|row| row.split_off(count.min(row.len()))).collect();
        let result = ResultSet { columns: own, rows, truncated: shown.truncated, duration: shown.duration };
        (result, shown)
    }

    /// For each row the number of its block; rows of a block are told apart by no key.
    pub(super) fn blocks(&self, result: &ResultSet, expressions: Option<&ResultSet>) -> Vec<u32> {
        let key = |row: usize| -> Vec<Cell> {
            let cell = |of: &ResultSet, column: usize| {
                let value = of.rows.get(row)?.get(column)?;
                Some(Cell::key(value, &of.columns.get(column)?.sql_type))
            };
            let outputs = self.outputs.iter().filter_map(|column| cell(result, *column));
            let others = expressions
                .into_iter()
                .flat_map(|shown| (0..shown.columns.len()).filter_map(move |column| cell(shown, column)));
            outputs.chain(others).collect()
        };
        let (mut blocks, mut block, mut before) = (Vec::with_capacity(result.rows.len()), 0, None);
        for row in 0..result.rows.len() {
            let now = key(row);
            block += u32::from(before.as_ref().is_some_and(|before| *before != now));
            blocks.push(block);
            before = Some(now);
        }
        blocks
    }
}

/// Every row a block of its own.
pub(super) fn exact(rows: usize) -> Vec<u32> {
    (0..u32::try_from(rows).unwrap_or(u32::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn columns(names: &[&str]) -> Vec<ResultColumn> {
        let column = |name: &&str| ResultColumn { name: (*name).to_owned(), sql_type: "integer".to_owned() };
        names.iter().map(column).collect()
    }

    #[test]
    fn keys_are_output_columns_or_are_put_before_them() {
        for (sql, outputs, want) in [
            ("SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC, a", Some(vec![1, 0]), None),
            ("SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY 2 DESC", Some(vec![1]), None),
            ("SELECT a, n FROM t ORDER BY \"n\" NULLS LAST", Some(vec![1]), None),
            ("SELECT a FROM t UNION SELECT a FROM u ORDER BY a", Some(vec![0]), None),
            (
                "SELECT DISTINCT a, n FROM t ORDER BY n, t.z DESC NULLS LAST LIMIT 5",
                Some(vec![1]),
                Some("SELECT DISTINCT (t.z), a, n FROM t ORDER BY n, t.z DESC NULLS LAST LIMIT 5"),
            ),
            (
                "WITH x AS (SELECT a, n FROM t ORDER BY z) SELECT x.a FROM x GROUP BY x.a ORDER BY count(*), to_date(x.a, 'Month')",
                Some(vec![]),
                Some(
                    "WITH x AS (SELECT a, n FROM t ORDER BY z) SELECT (count(*)), (to_date(x.a, 'Month')), x.a FROM x GROUP BY x.a ORDER BY count(*), to_date(x.a, 'Month')",
                ),
            ),
            // Nothing orders the rows that come out.
            ("SELECT a, n FROM t", None, None),
            ("SELECT a, n FROM (SELECT a, n FROM t ORDER BY n) AS t", None, None),
            // A further column would move what a number means.
            ("SELECT a, count(*) FROM t GROUP BY 1 ORDER BY max(z)", None, None),
            ("SELECT a, n FROM t ORDER BY 3", None, None),
        ] {
            let keys = keys(sql, &columns(&["a", "n"]));
            assert_eq!(keys.as_ref().map(|keys| keys.outputs.clone()), outputs, "{sql}");
            assert_eq!(keys.and_then(|keys| keys.shown(sql)).as_deref(), want, "{sql}");
            assert_eq!(is_ordered(sql), sql.rfind("ORDER BY") > sql.rfind(" AS t"), "{sql}");
        }
    }

    #[test]
    fn rows_that_no_key_tells_apart_are_a_block() {
        let rows = json!([[9, "a", 3], [9, "b", 3], [8, "c", 3], [8, "d", 2], [8, "e", 2]]);
        let shown = ResultSet {
            columns: columns(&["key", "a", "n"]),
            rows: serde_json::from_value(rows).unwrap(),
            truncated: false,
            duration: Duration::ZERO,
        };
        for (sql, want) in [
            ("SELECT a, n FROM t ORDER BY n DESC", vec![0, 0, 0, 1, 1]),
            ("SELECT a, n FROM t ORDER BY n DESC, a", vec![0, 1, 2, 3, 4]),
            ("SELECT a, n FROM t ORDER BY n DESC, z DESC", vec![0, 0, 1, 2, 2]),
            ("SELECT a, n FROM t ORDER BY z DESC", vec![0, 0, 1, 1, 1]),
        ] {
            let keys = keys(sql, &columns(&["a", "n"])).unwrap();
            // As many of the first columns as keys were put there.
            let mut given = shown.clone();
            let missing = 1 - keys.expressions.len();
            given.columns.drain(..missing);
            given.rows.iter_mut().for_each(|row| drop(row.drain(..missing)));
            let (result, expressions) = keys.split(given);
            assert_eq!(result.columns.len(), 2, "{sql}");
            assert_eq!(keys.blocks(&result, Some(&expressions)), want, "{sql}");
        }
        assert_eq!(exact(3), [0, 1, 2]);
    }
}
