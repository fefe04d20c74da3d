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

/// Ranges of numbers and times are doubted from here on.
const RANGES: u8 = 2;

/// What may leave none of the rows that the conditions choose: HAVING, or an OFFSET beyond the last of them.
pub(super) struct Cut {
    /// As written, on one line.
    pub(super) written: String,
    /// The text without it.
    pub(super) without: String,
    /// Whether it is an OFFSET.
    is_offset: bool,
}

impl Cut {
    /// Whether it is doubted before a condition that is doubted so much.
    pub(super) fn goes_before(&self, suspicion: u8) -> bool {
        self.is_offset || suspicion >= RANGES
    }
}

fn at(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn written<'t>(node: &Node, text: &'t str) -> Option<&'t str> {
    text.get(at(node.start)..at(node.end))
}

fn above<'n>(nodes: &'n [Node], node: &Node) -> Option<&'n Node> {
    nodes.get(at(node.parent?))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a clause is of the outermost query, or of one whose rows are handed on as they are: in FROM, in WITH.
fn hands_on(nodes: &[Node], clause: &Node) -> bool {
    let mut node = above(nodes, clause);
    while let Some(here) = node {
        let join = here.kind == NodeKind::Other && here.name.as_deref() == Some("join");
        if !join
            && !matches!(here.kind, NodeKind::Select | NodeKind::Subquery | NodeKind::From | NodeKind::Cte)
        {
            return false;
        }
        node = above(nodes, here);
    }
    true
}

/// The LIMIT 0 of a text.
pub(super) fn asks_for_none(nodes: &[Node], text: &str) -> Option<String> {
    let limits = nodes.iter().filter(|node| node.kind == NodeKind::Limit && node.parent == Some(0));
    let mut none = limits.filter_map(|node| written(node, text)).filter(|number| number.trim() == "0");
    none.next().map(|_| "LIMIT 0".to_owned())
}

/// An OFFSET of the outermost query, then each HAVING whose groups are handed on.
pub(super) fn cuts(nodes: &[Node], text: &str) -> Vec<Cut> {
    let cut = |node: &Node, written: String, with: &str, is_offset: bool| {
        let (before, behind) = (text.get(..at(node.start))?, text.get(at(node.end)..)?);
        Some(Cut { written: on_one_line(&written), without: format!("{before}{with}{behind}"), is_offset })
    };
    let offset = nodes.iter().filter(|node| node.kind == NodeKind::Literal && node.parent == Some(0));
    let offset = offset.filter_map(|node| {
        let number = written(node, text).filter(|number| *number != "0")?;
        let keyword = text.get(..at(node.start))?.trim_end().to_ascii_uppercase();
        keyword.ends_with("OFFSET").then(|| cut(node, format!("OFFSET {number}"), "0", true)).flatten()
    });
    let having = nodes.iter().filter(|node| node.kind == NodeKind::Having && hands_on(nodes, node));
    let having =
        having.filter_map(|node| cut(node, format!("HAVING {}", written(node, text)?), "TRUE", false));
    offset.chain(having).collect()
}

/// The text that counts the NULLs among the values that a NOT IN is compared with, where a query gives them.
pub(super) fn not_among(nodes: &[Node], text: &str) -> Option<String> {
    let children = |of: usize| nodes.iter().filter(move |node| node.parent.map(at) == Some(of));
    let link = nodes.iter().enumerate().find(|(index, node)| {
        let under_not = above(nodes, node).is_some_and(|above| above.name.as_deref() == Some("NOT"));
        // EXISTS compares nothing.
        node.kind == NodeKind::Other && under_not && children(*index).count() > 1
    });
    let query = children(link?.0).find(|node| node.kind == NodeKind::Subquery)?;
    let query = written(query, text)?;
    Some(format!("SELECT count(*) FROM (\n{query}\n) AS among(value) WHERE value IS NULL"))
}

/// The text without the comparison that holds these bytes; none where it is no condition of its own.
pub(super) fn left_out(nodes: &[Node], text: &str, span: &Range<usize>) -> Option<String> {
    let holds = |node: &&Node| at(node.start) <= span.start && span.end <= at(node.end);
    let comparison = nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Operator && holds(node))
        .min_by_key(|node| node.end - node.start)?;
    // What a CASE inside it compares is no condition of its own.
    let inside = |node: &&Node| comparison.start <= node.start && node.end <= comparison.end;
    if nodes.iter().filter(inside).any(|node| node.kind == NodeKind::Case && holds(&node)) {
        return None;
    }
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
    let never_true = |node: &Node| {
        let comparing = node.kind == NodeKind::Operator
            && node.name.as_deref().is_some_and(|name| COMPARING.contains(&name));
        let Some(whole) = written(node, text).filter(|_| comparing) else { return false };
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
        if null.kind != NodeKind::Literal || !written(null, text)?.eq_ignore_ascii_case("null") {
            return None;
        }
        let mut node = above(nodes, null)?;
        while node.kind == NodeKind::Cast {
            node = above(nodes, node)?;
        }
        let comparison = never_true(node).then_some(node)?;
        let mut clause = above(nodes, comparison);
        while let Some(node) = clause {
            if matches!(node.kind, NodeKind::Where | NodeKind::Having) {
                return written(comparison, text).map(on_one_line);
            }
            clause = above(nodes, node);
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
            ("SELECT 1 FROM a WHERE CASE x WHEN 7 THEN y ELSE z END = 'b'", None),
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
    fn what_leaves_none_behind_the_conditions_is_known() {
        for (text, want) in [
            (
                "SELECT x FROM a GROUP BY x HAVING count(*)\n > 9 ORDER BY x OFFSET 40 ROWS",
                &[
                    (
                        "OFFSET 40",
                        "SELECT x FROM a GROUP BY x HAVING count(*)\n > 9 ORDER BY x OFFSET 0 ROWS",
                    ),
                    (
                        "HAVING count(*) > 9",
                        "SELECT x FROM a GROUP BY x HAVING TRUE ORDER BY x OFFSET 40 ROWS",
                    ),
                ][..],
            ),
            (
                "WITH b AS (SELECT x FROM a GROUP BY x HAVING max(y) > 9) SELECT x FROM b LIMIT 5",
                &[(
                    "HAVING max(y) > 9",
                    "WITH b AS (SELECT x FROM a GROUP BY x HAVING TRUE) SELECT x FROM b LIMIT 5",
                )],
            ),
            // Not one that is asked about elsewhere.
            ("SELECT x FROM a WHERE x IN (SELECT x FROM a GROUP BY x HAVING max(y) > 9 OFFSET 3)", &[]),
            ("SELECT 7 FROM a OFFSET 0", &[]),
            ("SELECT x FROM a LIMIT 5", &[]),
        ] {
            let nodes = airlock_gate::outline(text).unwrap();
            let found = cuts(&nodes, text);
            let found: Vec<(&str, &str)> =
                found.iter().map(|cut| (cut.written.as_str(), cut.without.as_str())).collect();
            assert_eq!(found, want, "{text}");
        }
        for (text, want) in [
            ("SELECT x FROM a LIMIT 0", true),
            ("SELECT x FROM a FETCH FIRST 0 ROWS ONLY", true),
            ("SELECT x FROM a LIMIT 10 OFFSET 0", false),
            ("SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b LIMIT 0)", false),
        ] {
            let nodes = airlock_gate::outline(text).unwrap();
            assert_eq!(asks_for_none(&nodes, text).is_some(), want, "{text}");
        }
    }

    #[test]
    fn the_values_that_not_in_is_compared_with_are_found() {
        for (text, want) in [
            (
                "SELECT 1 FROM a WHERE x NOT IN (SELECT y FROM b WHERE z = ')')",
                Some("SELECT y FROM b WHERE z = ')'"),
            ),
            ("SELECT 1 FROM a WHERE NOT (x IN (SELECT y FROM b))", Some("SELECT y FROM b")),
            ("SELECT 1 FROM a WHERE NOT EXISTS (SELECT 1 FROM b)", None),
            ("SELECT 1 FROM a WHERE x NOT IN (1, 2)", None),
        ] {
            let nodes = airlock_gate::outline(text).unwrap();
            let counts = not_among(&nodes, text);
            assert_eq!(counts.is_some(), want.is_some(), "{text}");
            if let (Some(counts), Some(want)) = (counts, want) {
                assert!(counts.contains(want) && airlock_gate::outline(&counts).is_ok(), "{counts}");
            }
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
