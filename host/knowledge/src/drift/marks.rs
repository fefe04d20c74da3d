//! What rests on a table: its notes, the examples whose SQL reads it and the lessons that name it. When the table drifts they are marked, and
//! when it is back they are not: a mark is found anew each time and kept nowhere.

use std::collections::BTreeSet;

use airlock_gate::{Node, NodeKind};
use airlock_types::TableRef;
use serde::Serialize;

use super::Change;

/// What is marked because of one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Marked {
    /// The table.
    pub table: TableRef,
    /// Whether people wrote a note about it.
    pub note: bool,
    /// Ids of the examples whose SQL reads it.
    pub examples: Vec<String>,
    /// Ids of the lessons that name it.
    pub lessons: Vec<String>,
}

/// What a domain has that may be marked.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    /// Tables with a note.
    pub notes: BTreeSet<TableRef>,
    /// Id and SQL of each example.
    pub examples: Vec<(String, String)>,
    /// Id and text of each lesson.
    pub lessons: Vec<(String, String)>,
}

impl Marks {
    /// What is marked by these changes, table by table.
    #[must_use]
    pub fn of(&self, changes: &[Change]) -> Vec<Marked> {
        let tables: BTreeSet<&TableRef> = changes.iter().map(|change| &change.table).collect();
        let those = |items: &[(String, String)], table: &TableRef, rest: fn(&str, &TableRef) -> bool| {
            let those = items.iter().filter(|(_, text)| rest(text, table));
            those.map(|(id, _)| id.clone()).collect::<Vec<String>>()
        };
        tables
            .into_iter()
            .map(|table| Marked {
                table: table.clone(),
                note: self.notes.contains(table),
                examples: those(&self.examples, table, reads),
                lessons: those(&self.lessons, table, names),
            })
            .collect()
    }
}

/// Whether an SQL text reads a table. One that the grammar does not read is prose.
#[must_use]
pub fn reads(sql: &str, table: &TableRef) -> bool {
    // Most texts do not even hold the word, and that is seen without a parser.
    if occurrences(&sql.to_lowercase(), &table.name.to_lowercase()).is_empty() {
        return false;
    }
    let Ok(nodes) = airlock_gate::outline(sql) else { return names(sql, table) };
    let tables = nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Table);
    tables.filter_map(|(at, node)| Some((at, node.name.as_deref()?))).any(|(at, name)| {
        match name.rsplit_once('.') {
            Some((schema, relation)) => {
                relation == table.name && schema.rsplit('.').next() == Some(table.schema.as_str())
            }
            None => name == table.name && !is_of_with(sql, &nodes, at, name),
        }
    })
}

/// Whether a name without a schema means what a WITH around it defines. To what a WITH defines, what stands before it is
/// known; itself and what stands behind it only where the WITH is recursive.
fn is_of_with(sql: &str, nodes: &[Node], table: usize, name: &str) -> bool {
    let parent =
        |at: usize| nodes.get(at).and_then(|node| node.parent).and_then(|at| usize::try_from(at).ok());
    let mut inner = table;
    while let Some(query) = parent(inner) {
        let defined: Vec<usize> = (query + 1..nodes.len())
            .filter(|at| parent(*at) == Some(query))
            .filter(|at| nodes.get(*at).is_some_and(|node| node.kind == NodeKind::Cte))
            .collect();
        let recursive = || {
            let first = defined.first().and_then(|at| nodes.get(*at));
            let start = first.and_then(|node| usize::try_from(node.start).ok());
            let before = start.and_then(|start| sql.get(..start)).unwrap_or_default();
            words(before).next_back().is_some_and(|word| word.eq_ignore_ascii_case("recursive"))
        };
        let before_all = !defined.contains(&inner) || recursive();
        let known = defined.iter().filter(|at| before_all || **at < inner);
        if known.filter_map(|at| nodes.get(*at)).any(|node| node.name.as_deref() == Some(name)) {
            return true;
        }
        inner = query;
    }
    false
}

/// Whether prose names a table and means the table: in backticks or quotes, with its schema or a column, beside the word
/// table, relation or view, or by a name that is no word. A table that is called as a common word is not named by every
/// sentence that has the word.
#[must_use]
pub fn names(text: &str, table: &TableRef) -> bool {
    let (text, name) = (text.to_lowercase(), table.name.to_lowercase());
    let is_no_word = !name.chars().all(char::is_alphabetic);
    let schema = format!("{}.", table.schema.to_lowercase());
    let ends_sentence = ['.', '!', '?', ';'];
    occurrences(&text, &name).into_iter().any(|(before, after)| {
        let quoted = ['`', '"'].iter().any(|quote| before.ends_with(*quote) && after.starts_with(*quote));
        let column = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_letter));
        let qualified = before.strip_suffix(&schema).is_some_and(|before| !before.ends_with(is_word));
        let beside = (before.rsplit(ends_sentence).next(), after.split(ends_sentence).next());
        let called = [
            beside.0.and_then(|before| words(before).next_back()),
            beside.1.and_then(|after| words(after).next()),
        ];
        let called = called.iter().flatten().any(|word| matches!(*word, "table" | "relation" | "view"));
        is_no_word || quoted || column || qualified || called
    })
}

/// What stands before and after each place where a text has a name as a word of its own. Both in lower case.
fn occurrences<'a>(text: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let found = text.match_indices(name).filter_map(|(at, _)| {
        let (before, rest) = text.split_at_checked(at)?;
        let after = rest.get(name.len()..)?;
        let alone = !before.ends_with(is_word) && !after.starts_with(is_word);
        alone.then_some((before, after))
    });
    if name.is_empty() { Vec::new() } else { found.collect() }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// The words of a text.
fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift::ChangeKind;

    #[test]
    fn what_names_a_drifted_table_is_marked() {
        let table = TableRef::new("shop", "orders");
        for (text, want) in [
            ("SELECT * FROM orders", true),
            ("SELECT * FROM shop.\"orders\" o", true),
            ("SELECT 1 FROM a JOIN (SELECT id FROM Orders) o ON o.id = a.id", true),
            ("SELECT * FROM other.orders", false),
            ("SELECT * FROM reorders", false),
            ("SELECT * FROM orders_old", false),
            ("SELECT * FROM orders_old, orders", true),
            ("SELECT count(*) AS orders FROM bills", false),
            ("SELECT 'orders' FROM bills -- orders", false),
            ("WITH orders AS (SELECT 1 FROM bills) SELECT * FROM orders", false),
            ("WITH orders AS (SELECT * FROM orders) SELECT * FROM orders", true),
            ("WITH orders AS (SELECT * FROM shop.orders) SELECT * FROM orders", true),
            ("WITH a AS (SELECT * FROM orders), orders AS (SELECT 1) SELECT * FROM orders", true),
            ("WITH orders AS (SELECT 1), a AS (SELECT * FROM orders) SELECT * FROM a", false),
            (
                "WITH RECURSIVE orders AS (SELECT 1 AS n UNION SELECT n FROM orders) SELECT * FROM orders",
                false,
            ),
            ("WITH orders AS (SELECT 1) SELECT 1 WHERE EXISTS (SELECT 1 FROM orders)", false),
            ("SELECT 1 FROM (WITH orders AS (SELECT 1) SELECT 2) x JOIN orders ON true", true),
            ("", false),
        ] {
            assert_eq!(reads(text, &table), want, "{text}");
        }
        let lines = TableRef::new("shop", "order_lines");
        for (text, table, want) in [
            ("Count orders by day.", &table, false),
            ("Orders that were sent back are not revenue.", &table, false),
            ("He orders. Then he pays.", &table, false),
            ("Count `orders` by day.", &table, true),
            ("Count \"orders\" by day.", &table, true),
            ("Revenue is orders.total.", &table, true),
            ("Revenue is in shop.orders", &table, true),
            ("Revenue is in workshop.orders", &table, false),
            ("It is a view. Orders are counted there.", &table, false),
            ("They send orders. Table two is another.", &table, false),
            ("The orders table has one row a basket.", &table, true),
            ("Use the view `Orders`.", &table, true),
            ("`reorders` and `orders_old`", &table, false),
            ("Count order_lines, not baskets.", &lines, true),
            ("Count order lines.", &lines, false),
            ("", &table, false),
        ] {
            assert_eq!(names(text, table), want, "{text}");
        }
        let marks = Marks {
            notes: [table.clone()].into(),
            examples: vec![("e1".into(), "SELECT 1 FROM orders".into()), ("e2".into(), "SELECT 2".into())],
            lessons: vec![
                ("l2".into(), "Orders are by day.".into()),
                ("l1".into(), "Sums of `orders` are by day.".into()),
            ],
        };
        let change = Change {
            table: table.clone(),
            column: None,
            kind: ChangeKind::TableGone,
            was: None,
            now: None,
            renamed: None,
        };
        let want = Marked { table, note: true, examples: vec!["e1".into()], lessons: vec!["l1".into()] };
        assert_eq!(marks.of(&[change]), [want]);
        assert!(marks.of(&[]).is_empty());
    }
}
