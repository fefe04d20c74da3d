//! Conditions of a text that found nothing: which is doubted first, which can be left out, and which is true of no row.

use std::ops::Range;

use airlock_gate::{Node, NodeKind};
use airlock_types::catalogue::TypeFamily;

/// The order in which conditions are doubted. Texts that are compared for equality were looked up before, and are there.
pub(super) fn suspicion(operator: &str, family: TypeFamily) -> u8 {
    match operator.to_ascii_uppercase().as_str() {
        "LIKE" | "ILIKE" => 0,
        "=" | "IN" if family != TypeFamily::Text => 1,
        "<" | "<=" | ">" | ">=" | "BETWEEN" => 2,
        "=" | "IN" => 3,
        _ => 4,
    }
}

/// The text without the comparison that holds these bytes; none where it is no condition of its own.
pub(super) fn left_out(nodes: &[Node], text: &str, span: &Range<usize>) -> Option<String> {
    let at = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
    let holds = |node: &&Node| at(node.start) <= span.start && span.end <= at(node.end);
    let comparison = nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Operator && holds(node))
        .min_by_key(|node| node.end - node.start)?;
    let mut parent = comparison.parent;
    loop {
        let above = nodes.get(usize::try_from(parent?).ok()?)?;
        match above.kind {
            NodeKind::Operator if above.name.as_deref() == Some("AND") => parent = above.parent,
            NodeKind::Where | NodeKind::Having => break,
            NodeKind::Other if above.name.as_deref() == Some("join") => break,
            _ => return None,
        }
    }
    let (before, behind) = (text.get(..at(comparison.start))?, text.get(at(comparison.end)..)?);
    Some(format!("{before}TRUE{behind}"))
}

/// A comparison with NULL by an operator, which is true of no row: `status = NULL`, `id NOT IN (1, NULL)`.
pub(super) fn compared_with_null(nodes: &[Node], text: &str) -> Option<String> {
    const COMPARING: [&str; 11] = ["=", "<>", "!=", "<", "<=", ">", ">=", "~~", "!~~", "~~*", "!~~*"];
    let written = |node: &Node| {
        let (start, end) = (usize::try_from(node.start).ok()?, usize::try_from(node.end).ok()?);
        text.get(start..end)
    };
    let above = |node: &Node| node.parent.and_then(|parent| nodes.get(usize::try_from(parent).ok()?));
    let never_true = |node: &Node| {
        let comparing = node.kind == NodeKind::Operator
            && node.name.as_deref().is_some_and(|name| COMPARING.contains(&name));
        let Some(whole) = written(node).filter(|_| comparing) else { return false };
        let words: Vec<String> = whole
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .map(str::to_ascii_lowercase)
            .filter(|word| !word.is_empty())
            .collect();
        let has = |word: &str| words.iter().any(|known| known == word);
        // These know NULL, and a list has other values.
        let knows = has("distinct") || words.first().is_some_and(|word| word == "nullif");
        let inside = |other: &&Node| {
            other.kind == NodeKind::Literal && node.start <= other.start && other.end <= node.end
        };
        let list = has("in") && node.name.as_deref() == Some("=") && nodes.iter().filter(inside).count() > 1;
        !knows && !list
    };
    nodes.iter().find_map(|null| {
        if null.kind != NodeKind::Literal || !written(null)?.eq_ignore_ascii_case("null") {
            return None;
        }
        let mut node = above(null)?;
        while node.kind == NodeKind::Cast {
            node = above(node)?;
        }
        let comparison = never_true(node).then_some(node)?;
        let mut clause = above(comparison);
        while let Some(node) = clause {
            if matches!(node.kind, NodeKind::Where | NodeKind::Having) {
                return written(comparison).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            clause = above(node);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_condition_of_its_own_is_left_out() {
        for (text, want) in [
            ("SELECT 1 FROM a WHERE x = 7", Some("SELECT 1 FROM a WHERE TRUE")),
            (
                "SELECT 1 FROM a WHERE y AND (x BETWEEN 7 AND 9 AND z)",
                Some("SELECT 1 FROM a WHERE y AND (TRUE AND z)"),
            ),
            ("SELECT 1 FROM a WHERE x NOT IN (7, 8)", Some("SELECT 1 FROM a WHERE TRUE")),
            ("SELECT 1 FROM a WHERE x::text LIKE '7%'", Some("SELECT 1 FROM a WHERE TRUE")),
            (
                "SELECT 1 FROM a JOIN b ON a.i = b.i AND b.x > 7",
                Some("SELECT 1 FROM a JOIN b ON a.i = b.i AND TRUE"),
            ),
            ("SELECT y FROM a GROUP BY y HAVING y > 7", Some("SELECT y FROM a GROUP BY y HAVING TRUE")),
            ("SELECT 1 FROM a WHERE NOT x = 7", None),
            ("SELECT 1 FROM a WHERE NOT (y AND x = 7)", None),
            ("SELECT 1 FROM a WHERE (x = 7) IS FALSE", None),
            ("SELECT 1 FROM a WHERE (x = 7) IS NOT TRUE", None),
            ("SELECT 1 FROM a WHERE CASE WHEN x = 7 THEN y ELSE z END", None),
            ("SELECT 1 FROM a WHERE y OR x = 7", None),
            ("SELECT 1 FROM a WHERE y AND (z OR x = 7)", None),
            ("SELECT 1 FROM a WHERE (x = 7) = y", None),
            ("SELECT 1 FROM a WHERE coalesce(x = 7, y)", None),
            ("SELECT count(*) FILTER (WHERE x = 7) FROM a", None),
            ("SELECT x = 7 FROM a", None),
        ] {
            let literal = text.find("'7%'").or_else(|| text.find('7')).unwrap();
            let length = if text.contains("'7%'") { 4 } else { 1 };
            let nodes = airlock_gate::outline(text).unwrap();
            assert_eq!(left_out(&nodes, text, &(literal..literal + length)).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn a_comparison_with_null_that_is_never_true_is_known() {
        for (text, want) in [
            ("SELECT 1 FROM a WHERE x = NULL", Some("x = NULL")),
            ("SELECT 1 FROM a WHERE y AND x <>\n null", Some("x <> null")),
            ("SELECT 1 FROM a WHERE x = NULL::text", Some("x = NULL::text")),
            ("SELECT 1 FROM a WHERE x NOT IN (1, NULL)", Some("x NOT IN (1, NULL)")),
            ("SELECT 1 FROM a WHERE x LIKE NULL", Some("x LIKE NULL")),
            ("SELECT 1 FROM a WHERE x IN (1, NULL)", None),
            ("SELECT 1 FROM a WHERE x IS NULL", None),
            ("SELECT 1 FROM a WHERE x IS NOT DISTINCT FROM NULL", None),
            ("SELECT 1 FROM a WHERE x = 'NULL'", None),
            ("SELECT x = NULL FROM a", None),
            ("SELECT 1 FROM a WHERE coalesce(x, NULL) = 1", None),
        ] {
            let nodes = airlock_gate::outline(text).unwrap();
            assert_eq!(compared_with_null(&nodes, text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn conditions_are_doubted_in_their_order() {
        let order = [
            ("LIKE", TypeFamily::Text),
            ("=", TypeFamily::Number),
            (">=", TypeFamily::Date),
            ("IN", TypeFamily::Text),
            ("NOT IN", TypeFamily::Text),
        ];
        assert!(order.map(|(operator, family)| suspicion(operator, family)).is_sorted_by(|a, b| a < b));
    }
}
