//! The nodes of a text as a tree: who is inside whom, and what was written there.

use airlock_plugin_sdk::contract::sql::Node;

/// Comparisons, as an outline names them.
const COMPARISONS: [&str; 12] =
    ["=", "<", "<=", ">", ">=", "<>", "~", "~*", "~~", "~~*", "BETWEEN", "BETWEEN SYMMETRIC"];

/// An outline with the text it is of.
pub struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Node>,
}

impl<'t> Tree<'t> {
    /// The tree of a text. Parents stand before their children, as the contract promises.
    #[must_use]
    pub fn new(text: &'t str, nodes: Vec<Node>) -> Self {
        Self { text, nodes }
    }

    /// Places of the nodes of one kind.
    pub fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |at| self.is(*at, kind))
    }

    /// Whether a node is of this kind.
    #[must_use]
    pub fn is(&self, at: usize, kind: &str) -> bool {
        self.nodes.get(at).is_some_and(|node| node.kind == kind)
    }

    /// The name a node carries.
    #[must_use]
    pub fn name(&self, at: usize) -> &str {
        self.nodes.get(at).and_then(|node| node.name.as_deref()).unwrap_or_default()
    }

    /// The column a node names, without its table and as the catalogue spells it.
    #[must_use]
    pub fn column(&self, at: usize) -> Option<String> {
        self.is(at, "column").then(|| last_part(self.name(at)))
    }

    /// The text of a node.
    #[must_use]
    pub fn written(&self, at: usize) -> &'t str {
        let range = self.nodes.get(at).map(|node| (node.start as usize, node.end as usize));
        range.and_then(|(start, end)| self.text.get(start..end)).unwrap_or_default()
    }

    /// The nodes around a node, the nearest first.
    pub fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent(at), |at| self.parent(*at))
    }

    /// Whether a node is a comparison.
    #[must_use]
    pub fn compares(&self, at: usize) -> bool {
        self.is(at, "operator") && COMPARISONS.contains(&self.name(at))
    }

    /// The nodes inside a node.
    pub fn inside(&self, of: usize) -> impl Iterator<Item = usize> {
        (of + 1..self.nodes.len()).filter(move |at| self.around(*at).any(|around| around == of))
    }

    /// The expression a node is a part of: calls, casts and operators around it, up to the one that gives a truth value.
    #[must_use]
    pub fn expression(&self, at: usize) -> usize {
        let joins = |at: &usize| {
            let logic = matches!(self.name(*at), "AND" | "OR" | "NOT" | "IS NULL" | "IS");
            ["function", "cast", "operator"].iter().any(|kind| self.is(*at, kind)) && !logic
        };
        self.around(at).take_while(joins).last().unwrap_or(at)
    }

    fn parent(&self, at: usize) -> Option<usize> {
        // A parent that does not stand before its child would make the walk endless.
        self.nodes.get(at)?.parent.map(|parent| parent as usize).filter(|parent| *parent < at)
    }
}

/// `o."SerialNo"` is `SerialNo`; what is not quoted is in lower case, as PostgreSQL folds it.
fn last_part(name: &str) -> String {
    let (mut part, mut quoted, mut ever) = (String::new(), false, false);
    for c in name.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                ever = true;
            }
            '.' if !quoted => {
                part.clear();
                ever = false;
            }
            c => part.push(c),
        }
    }
    if ever { part } else { part.trim().to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_catalogue_spells_them() {
        for (name, want) in [
            ("plate_text", "plate_text"),
            ("m.Plate_Text", "plate_text"),
            ("l.\"SerialNo\"", "SerialNo"),
            ("\"a.b\"", "a.b"),
        ] {
            assert_eq!(last_part(name), want);
        }
    }

    #[test]
    fn a_parent_behind_its_child_ends_the_walk() {
        let node = |parent| Node { kind: "column".into(), start: 0, end: 1, parent, name: None };
        let tree = Tree::new("x", vec![node(Some(1)), node(Some(0)), node(Some(2))]);
        assert_eq!(tree.around(0).count() + tree.around(2).count(), 0);
        assert_eq!(tree.around(1).collect::<Vec<_>>(), [0]);
    }
}
