//! What rests on a table: its notes, and the examples and lessons that name it. When the table drifts they are marked, and
//! when it is back they are not: a mark is found anew each time and kept nowhere.

use std::collections::BTreeSet;

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
    /// Ids of the examples that name it.
    pub examples: Vec<String>,
    /// Ids of the lessons that name it.
    pub lessons: Vec<String>,
}

/// What a domain has that may be marked.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    /// Tables with a note.
    pub notes: BTreeSet<TableRef>,
    /// Id and text of each example.
    pub examples: Vec<(String, String)>,
    /// Id and text of each lesson.
    pub lessons: Vec<(String, String)>,
}

impl Marks {
    /// What is marked by these changes, table by table.
    #[must_use]
    pub fn of(&self, changes: &[Change]) -> Vec<Marked> {
        let tables: BTreeSet<&TableRef> = changes.iter().map(|change| &change.table).collect();
        let named = |items: &[(String, String)], table: &TableRef| {
            let those = items.iter().filter(|(_, text)| mentions(text, table));
            those.map(|(id, _)| id.clone()).collect::<Vec<String>>()
        };
        tables
            .into_iter()
            .map(|table| Marked {
                table: table.clone(),
                note: self.notes.contains(table),
                examples: named(&self.examples, table),
                lessons: named(&self.lessons, table),
            })
            .collect()
    }
}

/// Whether a text names a table, as a word of its own.
#[must_use]
pub fn mentions(text: &str, table: &TableRef) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let name = table.name.to_lowercase();
    let text = text.to_lowercase();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(&name)) {
        let at = from + found;
        let end = at + name.len();
        let before = text.get(..at).and_then(|left| left.chars().next_back());
        let after = text.get(end..).and_then(|right| right.chars().next());
        if !before.is_some_and(is_word) && !after.is_some_and(is_word) {
            return true;
        }
        from = end;
    }
    false
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
            ("Count ORDERS by day.", true),
            ("SELECT * FROM reorders", false),
            ("SELECT * FROM orders_old", false),
            ("SELECT * FROM orders_old, orders", true),
            ("", false),
        ] {
            assert_eq!(mentions(text, &table), want, "{text}");
        }
        let marks = Marks {
            notes: [table.clone()].into(),
            examples: vec![("e1".into(), "SELECT 1 FROM orders".into()), ("e2".into(), "SELECT 2".into())],
            lessons: vec![("l1".into(), "Orders are counted by day.".into())],
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
