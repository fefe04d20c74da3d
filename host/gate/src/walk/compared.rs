//! Literals that a text compares with a column: written beside it, in an array, or in rows that are joined. Nothing is refused
//! for them; they are written down for whoever reads the result.

use airlock_types::ColumnRef;
use pg_query::NodeEnum;
use pg_query::protobuf::{AExpr, AExprKind, a_const};

use super::names::strings;
use super::{Walk, inner};
use crate::facts::{ComparedLiteral, Folding};
use crate::scope::{Trace, Value, Written};

impl Walk<'_> {
    /// Writes down the literals that an operator compares with a column.
    pub(super) fn compared(&mut self, expression: &AExpr, left: Option<&Value>, right: Option<&Value>) {
        let written = strings(&expression.name).and_then(|parts| parts.last().copied()).unwrap_or_default();
        let kind = AExprKind::try_from(expression.kind).unwrap_or(AExprKind::Undefined);
        let operator = match (kind, written) {
            (AExprKind::AexprIn, "=") => "IN",
            (AExprKind::AexprIn, _) => "NOT IN",
            (AExprKind::AexprDistinct, _) => "IS DISTINCT FROM",
            (AExprKind::AexprNotDistinct, _) => "IS NOT DISTINCT FROM",
            (AExprKind::AexprNullif, _) => "NULLIF",
            (AExprKind::AexprSimilar, name) => name,
            (_, "~~") => "LIKE",
            (_, "!~~") => "NOT LIKE",
            (_, "~~*") => "ILIKE",
            (_, "!~~*") => "NOT ILIKE",
            (_, name) => name,
        };
        let in_array = matches!(kind, AExprKind::AexprOpAny | AExprKind::AexprOpAll);
        let nothing = Value::plain(0);
        let (Some(first), Some(second)) = (inner(&expression.lexpr), inner(&expression.rexpr)) else {
            return;
        };
        let sides = [(left.unwrap_or(&nothing), second), (right.unwrap_or(&nothing), first)];
        self.compares(operator, sides, in_array);
        if let (AExprKind::AexprOp, "=", Some(left), Some(right)) = (kind, written, left, right) {
            self.joined_on("IN", left, right);
        }
    }

    /// Writes down the literals that a column is compared with: each side is a value, and what stands on the other side.
    pub(super) fn compares(&mut self, operator: &str, sides: [(&Value, &NodeEnum); 2], in_array: bool) {
        for (value, node) in sides {
            let Some((column, folding)) = value.column() else { continue };
            let mut found = Vec::new();
            self.literals(node, in_array, &mut found);
            self.compared_literals(&column, folding, operator, found);
        }
    }

    /// Writes down the literals of rows whose values are compared with a column for equality, such as those of VALUES.
    pub(super) fn joined_on(&mut self, operator: &str, one: &Value, other: &Value) {
        for (value, other) in [(one, other), (other, one)] {
            if let (Some((column, folding)), Trace::Written(written)) = (value.column(), &other.trace) {
                self.compared_literals(&column, folding, operator, written.to_vec());
            }
        }
    }

    fn compared_literals(
        &mut self,
        column: &ColumnRef,
        folded: Folding,
        operator: &str,
        found: Vec<Written>,
    ) {
        for (literal, span) in found {
            let operator = operator.to_owned();
            self.facts.literal(ComparedLiteral { column: column.clone(), operator, folded, literal, span });
        }
    }

    /// The literals a node is, or is a list of; with `in_array` those that an array in one literal has.
    pub(super) fn literals(&self, node: &NodeEnum, in_array: bool, found: &mut Vec<Written>) {
        match node {
            NodeEnum::AConst(constant) => {
                let literal = match &constant.val {
                    Some(a_const::Val::Sval(text)) => text.sval.clone(),
                    Some(a_const::Val::Ival(number)) => number.ival.to_string(),
                    Some(a_const::Val::Fval(number)) => number.fval.clone(),
                    _ => return,
                };
                let Some(token) = self.scan.at(constant.location) else { return };
                if in_array {
                    found.extend(elements(token.text(self.text), token.start).unwrap_or_default());
                } else {
                    found.push((literal, token.start..token.end));
                }
            }
            NodeEnum::TypeCast(cast) => {
                if let Some(node @ (NodeEnum::AConst(_) | NodeEnum::AArrayExpr(_))) = inner(&cast.arg) {
                    self.literals(node, in_array, found);
                }
            }
            NodeEnum::List(list) => {
                list.items
                    .iter()
                    .filter_map(|node| node.node.as_ref())
                    .for_each(|node| self.literals(node, false, found));
            }
            NodeEnum::AArrayExpr(array) => {
                let elements = array.elements.iter().filter_map(|node| node.node.as_ref());
                elements.for_each(|node| self.literals(node, false, found));
            }
            _ => {}
        }
    }
}

/// The elements of an array that one literal writes, `'{paid,"not yet"}'`, each with its bytes: quotes of its own included.
/// None for what is written otherwise, or has an array inside or characters that are escaped.
fn elements(token: &str, start: usize) -> Option<Vec<Written>> {
    let inside = token.strip_prefix("'{")?.strip_suffix("}'")?;
    if inside.contains(['\\', '\'', '{', '}']) {
        return None;
    }
    let (mut found, mut at, mut quoted) = (Vec::new(), 0, false);
    let ends = inside.char_indices().filter(|(_, c)| {
        quoted ^= *c == '"';
        *c == ',' && !quoted
    });
    let ends: Vec<usize> = ends.map(|(end, _)| end).chain([inside.len()]).collect();
    for end in ends {
        let part = inside.get(at..end)?;
        let written = part.trim();
        let from = start + 2 + at + (part.len() - part.trim_start().len());
        at = end + 1;
        let element = match written.strip_prefix('"') {
            Some(rest) => rest.strip_suffix('"')?,
            None if written.eq_ignore_ascii_case("null") || written.is_empty() => continue,
            None => written,
        };
        if element.contains('"') {
            return None;
        }
        found.push((element.to_owned(), from..from + written.len()));
    }
    Some(found)
}
